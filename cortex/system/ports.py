"""The process that listens on a TCP port, as far as the system tells this user."""

from __future__ import annotations

import os
from pathlib import Path

#: tables of sockets, and the folder of processes (Linux; unknown elsewhere)
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
PROCESSES = Path("/proc")
#: state of a listening socket in those tables
LISTENS = "0A"


def holder_of(port: int) -> str:
    """Return the process that listens, like `process 42 (cortex serve)`; "" if unknown."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(port)}
    if not wanted:
        return ""
    try:
        numbers = [name for name in os.listdir(PROCESSES) if name.isdecimal()]
    except OSError:
        return ""
    for number in numbers:
        if _holds(PROCESSES / number / "fd", wanted):
            return f"process {number}{_command(PROCESSES / number / 'cmdline')}"
    return ""


def _inodes(port: int) -> set[str]:
    inodes = set()
    for table in map(Path, TABLES):
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            parts = line.split()
            if parts[3] == LISTENS and int(parts[1].rpartition(":")[2], 16) == port:
                inodes.add(parts[9])
    return inodes


def _holds(folder: Path, wanted: set[str]) -> bool:
    try:
        return any(os.readlink(folder / name) in wanted for name in os.listdir(folder))
    except OSError:  # another user's, or gone
        return False


def _command(place: Path) -> str:
    try:
        words = place.read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    return f" ({' '.join(words).strip()[:120]})" if words else ""
