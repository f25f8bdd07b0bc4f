"""The folder in which hooks store events until they are read. The size of the waiting events is in
a file, so that no hook has to list the folder. Imports only the standard library and files.
"""

import os
import stat

from cortex.system import files

#: its name in the memory folder
FOLDER = "spool"
#: most bytes of all waiting events
BYTES_MAX = 50 << 20
#: the least space of a file on a disk: sizes are counted in such blocks
BLOCK_BYTES = 4_096
#: the file with one byte for each block; its mtime is the moment of the last event
COUNT = "count"
#: the file, beside this folder, with the public key that seals the events of a sealed memory; its
#: length
PUBLIC, PUBLIC_BYTES = ("sealed", "BOX"), 32
#: suffix of an event's file
ENDING = ".json"


def add(folder: str, raw: bytes) -> None:
    """Store an event, under a higher number than those before. Raises OSError, also when too much
    is waiting already.
    """
    files.make_private(folder)
    raw = _in_box(os.path.dirname(folder), raw)
    number = files.count_up(os.path.join(folder, COUNT), b"." * _blocks(len(raw)), BYTES_MAX // BLOCK_BYTES)
    files.replace(os.path.join(folder, f"{number:020d}-{os.getpid()}{ENDING}"), raw)


def _in_box(root: str, raw: bytes) -> bytes:
    """The event, sealed if the memory is. Raises OSError."""
    try:
        public = files.read_ours(os.path.join(root, *PUBLIC), PUBLIC_BYTES)
    except FileNotFoundError:
        return raw
    from cortex.sealing import boxes

    return boxes.seal_box(public, raw)


def count(folder: str) -> None:
    """Update the size of the waiting events after some were removed. Raises OSError."""
    waiting = (
        info.st_size
        for name, info in files.entries(folder).items()
        if name.endswith(ENDING) and stat.S_ISREG(info.st_mode)
    )
    files.count_anew(os.path.join(folder, COUNT), sum(map(_blocks, waiting)))


def _blocks(size: int) -> int:
    return max(1, -(-size // BLOCK_BYTES))
