"""What happens to some files and folders, told by the system (inotify) through a descriptor that a
loop waits for: no thread, and no clock. Decides nothing about it.

watchdog's way takes three threads for two folders, each with a clock of its own, and is told of
each reading as well. Where the system has no inotify, or no more of it to give, whoever uses this
looks by the clock, and says so.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cortex.system.hosts import c_library

#: bits of inotify(7): what a watch asks for, and what is told
MODIFIED, ATTRIBUTES, WRITTEN = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATED, DELETED = 0x40, 0x80, 0x100, 0x200
DELETED_SELF, MOVED_SELF = 0x400, 0x800
_UNMOUNTED, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_DO_NOT_FOLLOW = 0x2000000
#: what a file or folder can be told of itself: moved, removed, another number of names
ITSELF = ATTRIBUTES | DELETED_SELF | MOVED_SELF
#: all that changes what is in a folder
INSIDE = ITSELF | MODIFIED | WRITTEN | MOVED_FROM | MOVED_TO | CREATED | DELETED
#: watch, bits, cookie, bytes of the name
_HEAD = struct.Struct("iIII")
#: bytes that are read at once: some thousand notices
_BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Notice:
    """`path`: what is watched, "" when notices were lost and anything may have happened. `name`: of
    what it happened to inside of it, "" for itself. `gone`: it is not watched any more.
    """

    path: str
    name: str = ""
    gone: bool = False


class Notices:
    """Use it in one thread."""

    def __init__(self) -> None:
        """Raises OSError where the system has none, or gives no more of them."""
        self._descriptor = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self._paths: dict[int, str] = {}

    def fileno(self) -> int:
        """For a selector: can be read when there is something to take."""
        return self._descriptor

    @property
    def paths(self) -> frozenset[str]:
        """What is watched."""
        return frozenset(self._paths.values())

    def watch(self, path: str | os.PathLike[str], bits: int) -> None:
        """Tell of `path`, which may be watched already. Raises OSError: not there, no more watches,
        or a link.
        """
        name = os.fspath(path)
        watch = _call("inotify_add_watch", self._descriptor, os.fsencode(name), bits | _DO_NOT_FOLLOW)
        self._paths[watch] = name

    def unwatch(self, path: str | os.PathLike[str]) -> None:
        """Tell of `path` no more."""
        for watch in [watch for watch, watched in self._paths.items() if watched == os.fspath(path)]:
            del self._paths[watch]
            _call("inotify_rm_watch", self._descriptor, watch, fails=False)  # the system may have done it

    def take(self) -> list[Notice]:
        """All that was told since the last call; waits for nothing."""
        notices = []
        while data := self._read():
            at = 0
            while at < len(data):
                watch, bits, _, length = _HEAD.unpack_from(data, at)
                name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
                at += _HEAD.size + length
                notices += self._make_notices(watch, bits, os.fsdecode(name))
        return notices

    def _make_notices(self, watch: int, bits: int, name: str) -> list[Notice]:
        if bits & _OVERFLOW:
            return [Notice("")]
        gone = bool(bits & (_IGNORED | _UNMOUNTED))
        path = self._paths.pop(watch, None) if gone else self._paths.get(watch)
        return [] if path is None else [Notice(path, name, gone)]

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _BLOCK_BYTES)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """Safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@functools.cache
def _function(name: str) -> Callable[..., int]:
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, "This system has no inotify")
    library = c_library(use_errno=True)
    function: Callable[..., int] = getattr(library, name)
    return function


def _call(name: str, *arguments: Any, fails: bool = True) -> int:
    """What a function of inotify answers. Raises OSError, unless it does not matter."""
    answer = _function(name)(*arguments)
    if answer < 0 and fails:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
