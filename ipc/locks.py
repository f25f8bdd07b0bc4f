"""Locks between processes: a locked file each, with its holder's process number. Imports neither
ZeroMQ nor numpy.

The lock belongs to the system: it ends with its process in any case, and the file stays.
"""

import errno
import functools
import os
import stat
import time
from collections.abc import Callable
from typing import Self

from cortex.system import hosts

#: seconds between two tries at a lock that another holds
POLL_S = 0.05


class Lock:
    """A lock that this process holds until `release`, the end of a `with`, or its own end."""

    def __init__(self, path: str | os.PathLike[str], descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    @property
    def lost(self) -> bool:
        """Whether the file was deleted or replaced: then another process can lock the same path."""
        try:
            return not os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except OSError:
            return True

    def release(self) -> None:
        """Release the lock; safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def try_lock(path: str | os.PathLike[str]) -> Lock | None:
    """Lock the file `path` and write our process number into it; None if another process has the
    lock.

    Raises OSError if the file cannot be made.
    """
    while True:
        try:
            descriptor = _open(path, os.O_RDWR | os.O_CREAT)
        except OSError:
            if not _is_in_the_way(path):
                raise
            clear_place(path)
            continue
        lock = Lock(path, descriptor)
        try:
            hosts.lock(descriptor)
        except OSError:
            lock.release()
            return None
        if not lock.lost:
            break
        lock.release()  # the file was replaced between open and flock
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, b"%d %d" % (os.getpid(), namespace()))
    return lock


def share(path: str | os.PathLike[str]) -> Lock:
    """Take a shared lock of the file `path`, which excludes an exclusive one.

    Raises BlockingIOError if a process has it exclusively, OSError if the file cannot be made.
    """
    lock = Lock(path, descriptor := _open(path, os.O_RDWR | os.O_CREAT))
    try:
        hosts.lock(descriptor, shared=True)
    except OSError:
        lock.release()
        raise
    return lock


def clear_place(path: str | os.PathLike[str]) -> None:
    """Remove whatever is in the place of a socket or lock: a killed process's socket, a link, a
    pipe. A folder is renamed and keeps its content. Raises OSError.
    """
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):  # macOS raises the second for a folder
        os.rename(path, f"{os.fspath(path)}.{time.time_ns()}.aside")


def _is_in_the_way(path: str | os.PathLike[str]) -> bool:
    """Whether the path is something of this user's that can never be a lock."""
    try:
        info = os.lstat(path)
    except OSError:
        return False
    return info.st_uid == hosts.user_id() and not stat.S_ISREG(info.st_mode)


def hold(path: str | os.PathLike[str], refusal: Callable[[str], Exception], *, wait_s: float = 0.0) -> Lock:
    """Lock the file `path`, waiting at most `wait_s` seconds.

    Raises `refusal(holder)` if another process has it for longer; `holder` is its number, or
    "unknown". Raises OSError if the file cannot be made.
    """
    deadline = time.monotonic() + wait_s
    while True:
        if lock := try_lock(path):
            return lock
        if time.monotonic() >= deadline:
            raise refusal(str(holder_of(path) or "unknown"))
        time.sleep(POLL_S)  # a blocking lock has no deadline


def holder_of(path: str | os.PathLike[str]) -> int | None:
    """Return the number of the process that holds the lock of `path` (0 if unknown or in another
    namespace), or None if no process does.
    """
    try:
        descriptor = _open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        # Shared, lest two callers take each other for a holder.
        hosts.lock(descriptor, shared=True)
    except OSError:
        return _holder_number(descriptor)
    finally:
        os.close(descriptor)
    return None


def _open(path: str | os.PathLike[str], flags: int) -> int:
    """Return a descriptor of a lock file: a regular file of this user, with one name.

    Raises OSError for another user's file, a link, a pipe, or a file with further hard links: a
    process number is written into it.
    """
    descriptor = os.open(
        path, flags | hosts.flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"), 0o600
    )
    info = os.fstat(descriptor)
    if stat.S_ISREG(info.st_mode) and info.st_uid == hosts.user_id() and info.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "Is no lock of ours", os.fspath(path))


def _holder_number(descriptor: int) -> int:
    """Return the holder's number; 0 if unknown, and for a process in a sandbox seen from outside:
    its number there may be that of any other process here.
    """
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, 64).split()
    if not text or not all(word.isdigit() for word in text):
        return 0
    return int(text[0]) if len(text) == 1 or int(text[1]) == namespace() else 0


@functools.cache
def namespace() -> int:
    """Return the number of this process's PID namespace; 0 if the system has none."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0
