"""Detection of damage to an index: the errors that mean it, the state of sound files, and the marks
by which a reader informs the writer. Repairs nothing.

The writer checks every file of the current generation at intervals, so it sees by itself truncated,
overwritten, replaced and removed files. Damage that only reading reveals reaches it by marks.
"""

import contextlib
import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cortex.system import files
from cortex.system.errors import Damaged, NotFound

#: errors of the system for a file that is missing, of another kind, closed to us or on a bad
#: sector. All other errors (no descriptor, no memory, no space) prove nothing about the file
_ERRNOS = frozenset((
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.EIO,
    errno.EINVAL, errno.ENXIO, errno.ENODEV,
))  # fmt: skip

#: errors of msgspec for bytes that do not match the written form; text that is not UTF-8 raises an
#: error of its own
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)

#: names of marks in the folder of the project's processes
MARK = re.compile(r"damaged-[^/]+\.json")
#: largest mark, in bytes: a sentence with a path
_MARK_BYTES_MAX = 65_536

#: device, inode, bytes, time of change in ns, mode
Seal = tuple[int, int, int, int, int]


class Mark(msgspec.Struct, frozen=True):
    """A reader's report that it cannot read an engine's files of a generation."""

    generation: int
    why: str


def is_damage(error: BaseException) -> bool:
    """Return whether `error`, raised while reading an index's file, means a damaged file."""
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    return isinstance(error, Damaged | NotFound | ValueError)


def is_panic(error: BaseException) -> bool:
    """Return whether `error` is a panic of a library in Rust: it is no Exception, and its class is
    in no module that could be imported.
    """
    return type(error).__name__ == "PanicException"


def seal(info: os.stat_result) -> Seal:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_mode


def read_seals(paths: Iterable[Path]) -> dict[Path, Seal | None]:
    """Return the state of each of `paths` now; None for a missing file. Files of an index are
    written once, so a different result later means that another program changed the file.
    """
    seals: dict[Path, Seal | None] = {}
    for path in paths:
        try:
            seals[path] = seal(os.lstat(path))  # takes a third of the time of Path.lstat
        except OSError:
            seals[path] = None
    return seals


def write_mark(run_dir: Path, engine: str, generation: int, why: str) -> None:
    """Report damage to the writer. A mark that cannot be written is written at the next failure."""
    path = _mark_path(run_dir, engine)
    with contextlib.suppress(OSError):
        if not path.exists():
            files.replace(path, msgspec.json.encode(Mark(generation, why)))


def take_marks(run_dir: Path, engines: Iterable[str]) -> dict[str, Mark]:
    """Return the mark of each engine, and remove it."""
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
