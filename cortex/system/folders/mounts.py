"""The kind of file system that holds a path, and the kinds on which locks cannot be relied on."""

import functools
import re
from pathlib import Path

#: file systems on which locks, mapped files or events cannot be relied on
FOREIGN = frozenset(("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "drvfs", "vboxsf", "afs", "smbfs"))
#: file systems that may give an unchanged file another inode, besides FOREIGN and all of FUSE
PASSING_INODES = frozenset(("vfat", "msdos", "exfat"))
#: the table of this process: number, parent, device, root, place, options, …, "-", kind, …
TABLE = Path("/proc/self/mountinfo")


def file_system(path: Path, table: Path = TABLE) -> str:
    """Return the kind of the file system that holds `path`, "" if the system does not tell."""
    best, kind = -1, ""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    for line in lines:
        before, _, after = line.partition(" - ")
        parts, fields = before.split(" "), after.split(" ")
        if len(parts) < 5 or not fields[0]:
            continue
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), parts[4])
        if (
            path.is_relative_to(place) and len(place) >= best
        ):  # a later mount at the same place hides the earlier ones
            best, kind = len(place), fields[0]
    return kind


@functools.lru_cache(maxsize=64)
def has_lasting_inodes(path: Path) -> bool:
    """Return whether an unchanged file below `path` keeps its inode."""
    kind = file_system(path)
    return not (kind in FOREIGN or kind in PASSING_INODES or kind.startswith("fuse"))
