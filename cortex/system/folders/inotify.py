"""Changes of a few files and folders, reported by inotify through a descriptor that a loop waits
for: no thread and no timer.

watchdog's observers would take a thread for each folder, and report reads as well. Where inotify is
missing or exhausted, the caller polls instead.
"""

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
#: asks for a watch of a folder only; set in events of a folder
ONLY_FOLDER, IS_FOLDER = 0x1000000, 0x40000000
#: events of the watched file or folder itself: moved, removed, changed number of links
ITSELF = ATTRIBUTES | DELETED_SELF | MOVED_SELF
#: events of a folder's content and of the folder itself
INSIDE = ITSELF | MODIFIED | WRITTEN | MOVED_FROM | MOVED_TO | CREATED | DELETED
#: watch, bits, cookie, bytes of the name
_HEAD = struct.Struct("iIII")
#: bytes that are read at once: some thousand events
_BLOCK_BYTES = 1 << 16
#: most bytes of one event; a block with this much room left holds all events
_EVENT_BYTES_MAX = _HEAD.size + 256


@dataclass(frozen=True, slots=True)
class Notice:
    """An event. `path`: the watched path, "" if events were lost and anything may have changed.
    `name`: the entry of the watched folder, "" for the path itself. `gone`: the path is no longer
    watched. `bits`: the kind of event.
    """

    path: str
    name: str = ""
    gone: bool = False
    bits: int = 0


class Notices:
    """An inotify instance. Several threads take turns by a lock."""

    def __init__(self) -> None:
        """Raises OSError if the system has no inotify, or no more instances."""
        self._descriptor = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self._paths: dict[int, str] = {}
        self._watches: dict[str, int] = {}

    def fileno(self) -> int:
        """The descriptor for a selector: readable when `take` has something to return."""
        return self._descriptor

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self._paths.values())

    def watch(self, path: str | os.PathLike[str], bits: int) -> None:
        """Report events of `path`, which may be watched already. Raises OSError if it does not
        exist, is a link, or the system has no more watches.
        """
        name = os.fspath(path)
        watch = _call("inotify_add_watch", self._descriptor, os.fsencode(name), bits | _DO_NOT_FOLLOW)
        self._paths[watch], self._watches[name] = name, watch

    def unwatch(self, path: str | os.PathLike[str]) -> None:
        """Report `path` no more."""
        watch = self._watches.pop(os.fspath(path), None)
        if watch is not None and self._paths.get(watch) == os.fspath(path):  # else it was moved
            del self._paths[watch]
            _call("inotify_rm_watch", self._descriptor, watch, fails=False)  # the system may have done it

    def take(self) -> list[Notice]:
        """Return all events since the last call; does not wait."""
        notices: list[Notice] = []
        is_full = True
        while is_full and (data := self._read()):
            is_full, at = len(data) > _BLOCK_BYTES - _EVENT_BYTES_MAX, 0
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
        if gone and path is not None and self._watches.get(path) == watch:
            del self._watches[path]
        return [] if path is None else [Notice(path, name, gone, bits)]

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
    """Return the result of an inotify function. Raises OSError, unless `fails` is False."""
    answer = _function(name)(*arguments)
    if answer < 0 and fails:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
