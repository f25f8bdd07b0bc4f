"""The commit that this code was built from, for people: one release number serves many commits."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from cortex import __version__

#: characters of a commit, as in `scripts/packaging/commit_hook.py`
_CHARS = 12
#: the folder around the packages: the clone where Cortex runs from one
SOURCE = Path(__file__).parents[2]


def _built_commit() -> str:
    try:
        return str(importlib.import_module("cortex._commit").COMMIT)
    except (ImportError, AttributeError):
        return ""


#: the commit that the build wrote, "" in a clone and for a build outside of git. It is read at
#: import: an upgrade replaces the file under a running process.
BUILT = _built_commit()


def full_version() -> str:
    """Return the version with the commit: `0.1.0+g1a2b3c4d5e6f`, or `0.1.0+unknown`. Asks git in
    a clone (10 ms), so only messages for people show it.
    """
    commit = BUILT
    if not commit and (SOURCE / ".git").exists():
        from cortex.system import git  # not in the supervisor

        # the user's PATH may lead into the project that is asked about, which is not this clone
        command = ("rev-parse", f"--short={_CHARS}", "HEAD")
        commit = git.ask(SOURCE, command, path=f"/usr/local/bin{os.pathsep}{os.defpath}").decode().strip()
    return f"{__version__}+{f'g{commit}' if commit else 'unknown'}"
