"""What a damaged index is: which errors mean it, how files were while they were sound, and the mark
by which a reader tells the writer. Mends nothing.

The writer looks at every file of the current generation by the clock, and needs no reader for what
that shows (truncated, overwritten, replaced, removed). What only reading shows, it learns by marks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cortex.system import files
from cortex.system.errors import Damaged, NotFound

#: what the system says of a file that is missing, of another kind, closed to us or on a bad sector.
#: Everything else (no descriptor, no memory, no space) says nothing about the file
_ERRNOS = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EACCES,
        errno.EPERM,
        errno.ELOOP,
        errno.EIO,
        errno.EINVAL,
        errno.ENXIO,
        errno.ENODEV,
    }
)

#: what msgspec raises about bytes that are not what was written; of a text that is no UTF-8 it is
#: an error of its own
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)

#: names of marks in the folder of the project's processes
MARK = re.compile(r"damaged-[^/]+\.json")
#: bytes of a mark: a sentence with a path
_MARK_BYTES_MAX = 65_536

#: device, inode, bytes, time of change in ns, mode
Seal = tuple[int, int, int, int, int]


class Mark(msgspec.Struct, frozen=True):
    """A reader's word that it cannot read what an engine built for a generation."""

    generation: int
    why: str


def is_damage(error: BaseException) -> bool:
    """Whether `error`, raised while a file of an index was read, means that the file is damaged."""
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    return isinstance(error, Damaged | NotFound | ValueError)


def is_panic(error: BaseException) -> bool:
    """Whether it is a panic of a library in Rust, which is no Exception and of a class that has no
    module to import it from.
    """
    return type(error).__name__ == "PanicException"


def seal(info: os.stat_result) -> Seal:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_mode


def read_seals(paths: Iterable[Path]) -> dict[Path, Seal | None]:
    """What each of `paths` is now; None for what is not there. Files of an index are written once,
    so another answer later means that somebody else was at it.
    """
    seals: dict[Path, Seal | None] = {}
    for path in paths:
        try:
            seals[path] = seal(os.lstat(path))  # a third of what the method of the path takes
        except OSError:
            seals[path] = None
    return seals


def write_mark(run_dir: Path, engine: str, generation: int, why: str) -> None:
    """Tell the writer. One that cannot be written is told with the next failure."""
    path = _mark_path(run_dir, engine)
    with contextlib.suppress(OSError):
        if not path.exists():
            files.replace(path, msgspec.json.encode(Mark(generation, why)))


def take_marks(run_dir: Path, engines: Iterable[str]) -> dict[str, Mark]:
    """The marks of each engine, which are gone with that."""
    marks: dict[str, Mark] = {}
    for engine in engines:
        path = _mark_path(run_dir, engine)
        with contextlib.suppress(OSError, *UNREADABLE):
            raw = files.read_ours(path, _MARK_BYTES_MAX)
            files.remove(path)
            marks[engine] = msgspec.json.decode(raw, type=Mark)
    return marks


def _mark_path(run_dir: Path, engine: str) -> Path:
    return run_dir / f"damaged-{engine}.json"
