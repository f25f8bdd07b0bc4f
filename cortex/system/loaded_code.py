"""Whether the files of Cortex's own modules in this process are still those that it loaded.

An upgrade replaces the files of an installation while processes run. What such a process imports or
forks from then on mixes two versions, so the long-lived ones ask here and begin anew.
"""

from __future__ import annotations

import functools
import os
import sys

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
