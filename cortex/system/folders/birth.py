"""The identity of a folder that survives a rename: device, inode, and the moment of its birth, for
inodes are used again at once.
"""

import ctypes
import os
import sys
from pathlib import Path

#: statx(2): relative to the working folder, without following links, birth time only
_AT_FDCWD, _AT_SYMLINK_NOFOLLOW, _STATX_BTIME = -100, 0x100, 0x800
#: bytes of its result; offsets of the mask of filled fields, of seconds and nanoseconds of birth
_RESULT_BYTES, _MASK, _SECONDS, _NANOSECONDS = 256, 0, 80, 88


def folder_mark(path: Path) -> str:
    """Return `device:inode:birth in ns`; "" for no folder and no known birth."""
    try:
        info = os.lstat(path)
        born = _birth_ns(path, info)
    except (OSError, AttributeError):
        return ""
    return f"{info.st_dev}:{info.st_ino}:{born}" if born and path.is_dir() else ""


def _birth_ns(path: Path, info: os.stat_result) -> int:
    """The birth in nanoseconds; 0 if it is unknown."""
    if sys.platform != "linux":
        return int(getattr(info, "st_birthtime", 0) * 1_000_000_000)
    buffer = (ctypes.c_char * _RESULT_BYTES)()
    statx = ctypes.CDLL(None, use_errno=True).statx
    flags, name = ctypes.c_int(_AT_SYMLINK_NOFOLLOW), os.fsencode(path)
    if statx(ctypes.c_int(_AT_FDCWD), name, flags, ctypes.c_uint(_STATX_BTIME), buffer):
        return 0
    raw = bytes(buffer)
    if not int.from_bytes(raw[_MASK : _MASK + 4], sys.byteorder) & _STATX_BTIME:
        return 0
    seconds = int.from_bytes(raw[_SECONDS : _SECONDS + 8], sys.byteorder, signed=True)
    return seconds * 1_000_000_000 + int.from_bytes(raw[_NANOSECONDS : _NANOSECONDS + 4], sys.byteorder)
