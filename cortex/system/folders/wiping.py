"""Removal of files with secret content: their bytes are overwritten first. Copies in a journal, a
snapshot or a flash disk's spare blocks are out of reach.
"""

import contextlib
import os
import stat

from cortex.system import files
from cortex.system.files import Name

#: zeros that are written at once
ZEROS = bytes(64 * 1024)


def wipe(path: Name) -> None:
    """Overwrite a file and remove it. A file with further names, or an entry that is no regular
    file, loses this name only. Raises OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        info = os.stat(path, follow_symlinks=False)
        if stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
            _write_over(path)
        files.remove(path)


def wipe_tree(path: Name) -> None:
    """As `wipe`, for a folder with its content, or for a file. Raises OSError."""
    try:
        listed = files.entries(path)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        wipe(path)
        return
    for name, info in listed.items():
        (wipe_tree if stat.S_ISDIR(info.st_mode) else wipe)(os.path.join(path, name))
    files.remove_tree(path)


def _write_over(path: Name) -> None:
    descriptor = files.overwrite(path)
    try:
        left = os.fstat(descriptor).st_size
        while left > 0:
            left -= os.write(descriptor, ZEROS[: min(left, len(ZEROS))])
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
