"""The commit that this code was built from, and whether the files of Cortex's own modules in this
process are still those that it loaded.

An upgrade replaces the files of an installation while processes run. What such a process imports or
forks from then on mixes two versions, so the long-lived ones ask here and begin anew.
"""

import functools
import importlib
import os
import sys
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


#: the packages of this distribution
PACKAGES = ("cortex", "ipc", "workers")

#: the answer of a front that an upgrade has overtaken
RESTART = "Cortex was upgraded while this process ran: restart it (in an agent: reconnect the MCP server)."

#: (mtime in ns, bytes, inode) of a file; None when it is gone
_Signature = tuple[int, int, int] | None


class LoadedCode:
    """The module files of this process, as they were when this object was made."""

    def __init__(self) -> None:
        files = {
            module.__file__
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] in PACKAGES and getattr(module, "__file__", None)
        }
        self._paths = tuple(sorted(path for path in files if path))
        self._original = self.signatures()

    def signatures(self) -> tuple[_Signature, ...]:
        """Signatures of the files now, one `stat` each."""
        return tuple(_signature(path) for path in self._paths)

    def is_replaced(self) -> bool:
        """Whether any of the files was changed, replaced or removed."""
        return self.signatures() != self._original


@functools.cache
def code_of_process() -> LoadedCode:
    """Return the code that this process had loaded at the first call."""
    return LoadedCode()


def _signature(path: str) -> _Signature:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
