"""The owners of TCP ports and connections, as far as the system shows them to this user."""

import contextlib
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: tables of sockets, and the folder of processes (Linux; unknown elsewhere)
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
PROCESSES = Path("/proc")
#: state of a listening socket in those tables
LISTENS = "0A"
#: process, user and group of the other end of a Unix socket (Linux)
_CREDENTIALS = struct.Struct("i2I")
#: maximum of looks for a connection
LOOKS = 3


def holder_of(port: int) -> str:
    """Return the process that listens, like `process 42 (cortex serve)`; the user if the process is
    hidden, like `a process of user bob`; "" if unknown.
    """
    rows = [row for row in _rows() if row[3] == LISTENS and int(row[1].rpartition(":")[2], 16) == port]
    wanted = {f"socket:[{row[9]}]" for row in rows}
    if not wanted:
        return ""
    with contextlib.suppress(OSError):
        for number in filter(str.isdecimal, os.listdir(PROCESSES)):
            if _holds(PROCESSES / number / "fd", wanted):
                return f"process {number}{_command(PROCESSES / number / 'cmdline')}"
    return f"a process of {user_name(int(rows[0][7]))}"


def peer_uid(ours: Any, theirs: Any) -> int | None:
    """Return the user of the other end of a TCP connection within this machine, None if unknown.

    `ours`, `theirs`: socket addresses of the two ends. A connection that its process has not
    accepted, or has closed, has no user yet.
    """
    ends = [(ipaddress.ip_address(address[0].partition("%")[0]), address[1]) for address in (theirs, ours)]
    for _ in range(LOOKS):  # a row can be missed while others change
        for row in _rows():
            if [_end(row[1]), _end(row[2])] == ends and row[9] != "0":
                return int(row[7])
    return None


def socket_uid(line: socket.socket) -> int | None:
    """Return the user of the other end of a Unix socket, None if unknown."""
    if (option := getattr(socket, "SO_PEERCRED", None)) is None:
        return None
    return int(_CREDENTIALS.unpack(line.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))[1])


def user_name(uid: int) -> str:
    """Return `user NAME`, or `user UID` for a user without a name."""
    with contextlib.suppress(ImportError, KeyError):
        import pwd

        return f"user {pwd.getpwuid(uid).pw_name}"
    return f"user {uid}"


def _rows() -> Iterator[list[str]]:
    for table in map(Path, TABLES):
        with contextlib.suppress(OSError):
            yield from map(str.split, table.read_text(encoding="ascii").splitlines()[1:])


def _end(field: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """Return the address and port of one end; the table has an address as words of this machine."""
    words, _, port = field.partition(":")
    raw = bytes.fromhex(words)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(raw)
    return getattr(address, "ipv4_mapped", None) or address, int(port, 16)


def _holds(folder: Path, wanted: set[str]) -> bool:
    try:
        return any(os.readlink(folder / name) in wanted for name in os.listdir(folder))
    except OSError:  # another user's, or gone
        return False


def _command(place: Path) -> str:
    try:
        words = place.read_bytes().decode("utf-8", "replace").replace("\0", " ").split()
    except OSError:
        return ""
    return f" ({' '.join(words)[:120]})" if words else ""
