"""Files of this machine: how one is replaced while others read it, and how one is opened without
following a link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path, *, sync: bool = False) -> Iterator[Path]:
    """A temporary name beside `path`, renamed over it at the end of the `with`: readers see the old
    or the new file.

    `sync` has the system write the file to the disk first, so that a power cut leaves no empty one.
    When the body or the rename fails, the temporary file is removed, `path` stays as it was, and
    what was raised goes on.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        if sync:
            _sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def replace(path: Path, raw: bytes, *, sync: bool = False) -> None:
    """Make `raw` the content of `path` by one rename, as `replacing` does. Raises OSError."""
    with replacing(path, sync=sync) as temporary:
        temporary.write_bytes(raw)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading: never through a link in its last part, never waiting for a
    pipe's writer.

    Raises OSError, also for everything that is not a regular file. A link among the folders above
    is followed.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))


def read_plain(path: str | os.PathLike[str], bytes_max: int) -> bytes:
    """The first `bytes_max` bytes at most of a file that is opened as by `open_plain`. Raises
    OSError as it does.

    Who has to tell a file that is too large from one that fits asks for one byte more than fits.
    """
    with open_plain(path) as file:
        return file.read(bytes_max)
