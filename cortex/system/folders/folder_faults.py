"""Why a private folder cannot be used, and the way out."""

import errno
import os
from pathlib import Path

from cortex.system import hosts

#: errors of a folder above that cannot be written, or of a full disk
_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT)


def explain_folder(path: Path, error: OSError) -> str:
    """Return why `path` is no private folder of this user, as a sentence with advice."""
    if is_of_another(path):
        return (
            f"{path} belongs to another user, and only that user can move it away: set XDG_RUNTIME_DIR (for sockets) "
            "or CORTEX_HOME (for the cache) to a folder of yours (`mkdir -m 700`)."
        )
    why = error.strerror or str(error)
    if error.errno in _NOT_WRITABLE:
        return f"Cannot make {path}: {why}; make the folder above it writable, or free some space."
    return f"{path} must be a real folder owned by you ({why}); move away what is there."


def is_of_another(path: Path) -> bool:
    """Whether another user has made what is at `path`. False on Windows."""
    try:
        return not hosts.WINDOWS and os.lstat(path).st_uid != hosts.user_id()
    except OSError:
        return False
