"""The folder in which hooks write events down until they are taken in. How much waits there is
counted in a file, so that no hook has to list it. Imports the standard library and files alone.
"""

from __future__ import annotations

import os
import stat

from cortex.system import files

#: its name in the folder of memory
FOLDER = "spool"
#: bytes of all that waits, at most
BYTES_MAX = 50 << 20
#: bytes that the smallest file takes on a disk: what waits is counted in these
BLOCK_BYTES = 4_096
#: the file that has one byte for each block, and the moment of the last event
COUNT = "count"
#: the file, beside this folder, by which events of a sealed memory are sealed, and its bytes
PUBLIC, PUBLIC_BYTES = ("sealed", "BOX"), 32
#: what the file of an event ends with
ENDING = ".json"


def add(folder: str, raw: bytes) -> None:
    """Write an event down, under a number that is higher than those before. Raises OSError, also
    when too much waits already.
    """
    files.make_private(folder)
    raw = _in_box(os.path.dirname(folder), raw)
    number = files.count_up(os.path.join(folder, COUNT), b"." * _blocks(len(raw)), BYTES_MAX // BLOCK_BYTES)
    files.replace(os.path.join(folder, f"{number:020d}-{os.getpid()}{ENDING}"), raw)


def _in_box(root: str, raw: bytes) -> bytes:
    """An event of a sealed memory as only that can read it. Raises OSError."""
    try:
        public = files.read_ours(os.path.join(root, *PUBLIC), PUBLIC_BYTES)
    except FileNotFoundError:
        return raw
    from cortex.sealing import boxes

    return boxes.seal_box(public, raw)


def count(folder: str) -> None:
    """Count anew what waits, once something was taken. Raises OSError."""
    waiting = (
        info.st_size
        for name, info in files.entries(folder).items()
        if name.endswith(ENDING) and stat.S_ISREG(info.st_mode)
    )
    files.count_anew(os.path.join(folder, COUNT), sum(map(_blocks, waiting)))


def _blocks(size: int) -> int:
    return max(1, -(-size // BLOCK_BYTES))
