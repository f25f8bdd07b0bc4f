"""Memory of this process: how to return it to the system, which caches to drop when idle, and how
to pause the garbage collector during bulk work.
"""

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

#: the system's list of memory mappings of this process
MAPS = Path("/proc/self/maps")
#: bytes from which on `put_aside` uses a file
ASIDE_BYTES = 256 << 10


class Forgetful(Protocol):
    """An object that holds a cache which it can rebuild, or tables which it can set aside."""

    def forget(self) -> None: ...


#: holders that `forget` tells, while other code refers to them
_FORGETFUL: weakref.WeakSet[Forgetful] = weakref.WeakSet()


def may_forget(holder: Forgetful) -> None:
    """Have `forget` tell `holder` when this process has been idle for a while."""
    _FORGETFUL.add(holder)


def forget() -> None:
    """Tell all of `may_forget`, return the memory; call it in the thread that answers."""
    for holder in _FORGETFUL:
        holder.forget()
    trim()


def trim() -> None:
    """Return freed memory to the system: glibc would keep the hundred megabytes of bulk work."""
    with contextlib.suppress(OSError, AttributeError):
        c_library().malloc_trim(0)


def release_mapped_files(folder: Path) -> None:
    """Drop pages of mapped files in `folder` from the memory of this process, whichever library
    mapped them. They stay in the system's cache and return in microseconds.

    Only mappings that this process cannot write to; does nothing if the system does not list
    mappings.
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
    """Return `raw` as a mapped file in `folder` that has no name and ends with this process, so
    that `release_mapped_files` can drop it. Returns `raw` itself if it is small or no such file can
    be made.
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
    except (OSError, ValueError):  # a full disk, a read-only folder
        return raw


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Run the `with` without the cycle collector, which walks over millions of live objects again
    and again while they are made.

    Only for work that makes few cycles: they stay until the end.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
