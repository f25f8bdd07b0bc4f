"""Memory of this process: how to give it back to the system, what is forgotten where nobody asks,
and how not to look for garbage during bulk work.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from cortex.system import files
from cortex.system.hosts import c_library

#: what the system says of the memory that this process has mapped
MAPS = Path("/proc/self/maps")
#: bytes from which on something is put aside in a file
ASIDE_BYTES = 256 << 10


class Forgetful(Protocol):
    """Holds what was worked out, and can be worked out again."""

    def forget(self) -> None: ...


#: what `forget` asks, for as long as somebody else needs it
_FORGETFUL: weakref.WeakSet[Forgetful] = weakref.WeakSet()


def may_forget(holder: Forgetful) -> None:
    """Have `one` forget when nobody has asked this process for a while."""
    _FORGETFUL.add(holder)


def forget() -> None:
    """Let go of what those hold that said they may forget, and give it back. For the thread that
    answers.
    """
    for holder in _FORGETFUL:
        holder.forget()
    trim()


def trim() -> None:
    """Give freed memory back to the system: glibc keeps the hundred megabytes of bulk work for
    itself otherwise.
    """
    with contextlib.suppress(OSError, AttributeError):
        c_library().malloc_trim(0)


def release_mapped_files(folder: Path) -> None:
    """Have what was read of the mapped files in `folder` count as memory of this process no more,
    whichever library has mapped them: it stays in the system's cache, and what is needed of it is
    there again in microseconds. Only what this process cannot write to; nothing where the system
    does not say what is mapped.
    """
    begin = f"{folder.resolve()}/"
    with contextlib.suppress(OSError, AttributeError):
        library, advice = c_library(), mmap.MADV_DONTNEED
        for line in MAPS.read_text(errors="surrogateescape").splitlines():
            addresses, rights, *_, path = line.split(maxsplit=5) if line.count("/") else ("", "", "")
            if path.startswith(begin) and rights.startswith("r-"):
                first, after = (int(address, 16) for address in addresses.split("-"))
                library.madvise(ctypes.c_void_p(first), ctypes.c_size_t(after - first), advice)


def put_aside(folder: Path, raw: memoryview) -> mmap.mmap | memoryview:
    """`raw` as a mapped file in `folder`, which has no name any more and ends with this process: so
    `let_go` lets go of it as well. `raw` itself where it is little, or such a file cannot be.
    """
    if raw.nbytes < ASIDE_BYTES or not hasattr(mmap, "MADV_DONTNEED"):
        return raw
    try:
        path = files.write_new(folder, "aside", raw)
        try:
            with files.open_ours(path) as file:
                return mmap.mmap(file.fileno(), raw.nbytes, access=mmap.ACCESS_READ)
        finally:
            files.remove(path)
    except (OSError, ValueError):  # a full disk, a folder that may only be read
        return raw


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Without the cycle collector, which walks over millions of live objects again and again while
    they are made.

    Only around work that makes no cycles to speak of: they stay until the end.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
