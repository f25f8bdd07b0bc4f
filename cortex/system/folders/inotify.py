"""Changes of a few files and folders, reported by inotify through a descriptor that a loop waits
for: no thread and no timer.

watchdog would take three threads with a timer each for two folders, and reports reads as well.
Where inotify is missing or exhausted, the caller polls instead.
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

#: bits of inotify(7): events of a watch
MODIFIED, ATTRIBUTES, WRITTEN = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATED, DELETED = 0x40, 0x80, 0x100, 0x200
DELETED_SELF, MOVED_SELF = 0x400, 0x800
_UNMOUNTED, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_DO_NOT_FOLLOW = 0x2000000
#: events of the watched file or folder itself: moved, removed, changed number of links
ITSELF = ATTRIBUTES | DELETED_SELF | MOVED_SELF
#: events of a folder's content and of the folder itself
INSIDE = ITSELF | MODIFIED | WRITTEN | MOVED_FROM | MOVED_TO | CREATED | DELETED
#: watch, bits, cookie, bytes of the name
_HEAD = struct.Struct("iIII")
#: bytes that are read at once: some thousand events
_BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Notice:
    """An event. `path`: the watched path, "" if events were lost and anything may have changed.
    `name`: the entry of the watched folder, "" for the path itself. `gone`: the path is no longer
    watched.
    """

    path: str
    name: str = ""
    gone: bool = False


class Notices:
    """An inotify instance, for one thread."""

    def __init__(self) -> None:
        """Raises OSError if the system has no inotify, or no more instances."""
        self._descriptor = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self._paths: dict[int, str] = {}

    def fileno(self) -> int:
        """The descriptor for a selector: readable when `take` has something to return."""
        return self._descriptor

    @property
    def paths(self) -> frozenset[str]:
        """The watched paths."""
        return frozenset(self._paths.values())

    def watch(self, path: str | os.PathLike[str], bits: int) -> None:
        """Report events of `path`, which may be watched already. Raises OSError if it does not
        exist, is a link, or the system has no more watches.
        """
        name = os.fspath(path)
        watch = _call("inotify_add_watch", self._descriptor, os.fsencode(name), bits | _DO_NOT_FOLLOW)
        self._paths[watch] = name

    def unwatch(self, path: str | os.PathLike[str]) -> None:
        """Report `path` no more."""
        for watch in [watch for watch, watched in self._paths.items() if watched == os.fspath(path)]:
            del self._paths[watch]
            _call("inotify_rm_watch", self._descriptor, watch, fails=False)  # the system may have done it

    def take(self) -> list[Notice]:
        """Return all events since the last call; does not wait."""
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
        """Close the descriptor; safe to call twice."""
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
    """Return the result of a function of inotify. Raises OSError on failure, unless `fails` is
    False.
    """
    answer = _function(name)(*arguments)
    if answer < 0 and fails:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
