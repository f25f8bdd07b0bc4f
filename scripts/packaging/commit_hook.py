"""A hook of the build: writes the commit into the package, for `cortex --version`.

A wheel or source archive that is built in a clone gets `cortex/_commit.py`; the clone itself stays
clean. Without git, or outside of a clone, the package has no such file, and its version ends with
`+unknown`. A source archive hands its file on to the wheel.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_TARGET = "cortex/_commit.py"


class CommitHook(BuildHookInterface):  # type: ignore[type-arg, misc]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to the archive. An editable installation asks git itself."""
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory()
        commit = "" if version == "editable" or (root / _TARGET).exists() else _commit_of(root)
        if commit:
            written = Path(self._folder.name, "_commit.py")
            written.write_text(f'COMMIT = "{commit}"\n', encoding="utf-8")
            build_data["force_include"][str(written)] = _TARGET

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        self._folder.cleanup()


def _commit_of(root: Path) -> str:
    """Return the first 12 characters of the commit, "" outside of a clone.

    A repository around an unpacked archive is somebody else's: only `.git` in `root` counts, and
    the variables of a git hook that runs the build name another repository.
    """
    if not (root / ".git").exists():
        return ""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, check=True, timeout=30
        ).stdout.strip()
    return ""
