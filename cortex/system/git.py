"""What git knows of a folder, asked of git itself; nothing where there is no git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

#: seconds that git has to answer
ANSWER_S = 10.0


def tracked(root: Path, paths: Collection[str]) -> frozenset[str]:
    """Those of `paths`, relative to `root` and with `/`, that git tracks; none when git cannot say.

    Nothing of the project's is run: listing the index starts no hook, and no file system monitor.
    """
    folders = sorted({os.path.dirname(path) or "." for path in paths})
    if not folders:
        return frozenset()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    options = ["-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "-z", "--"]
    try:
        done = subprocess.run(
            ["git", "-C", os.fspath(root), *options, *folders],
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(os.fsdecode(done.stdout).split("\0")) & frozenset(paths)
