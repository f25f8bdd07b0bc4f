"""Sockets at which processes of this user listen, by path: Unix sockets, or loopback TCP where the
system has none (Windows) or a variable says so. It knows nothing of what is said there.

Over TCP a file in the runtime folder names the port and what a caller has to know; who cannot read
that file gets no word out of the other end. `ipc.places` does the same for ZeroMQ's ipc://. Never
run on Windows; LOOPBACK makes a set talk as it does there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Any

from cortex.system import hosts

# What only some calls need is imported by them: hooks of agents' programs and supervisors import
# this module, and are to be quick and small.
if TYPE_CHECKING:
    import asyncio
    import socket

#: a variable: processes that are started with it talk over loopback TCP, as on Windows
LOOPBACK = "CORTEX_LOOPBACK"
#: where sockets of the network are bound: this machine alone
LOOPBACK_HOST = "127.0.0.1"
#: characters of each of the two words of a socket: the caller's, and the answer to it
_WORD_CHARS = 32
#: bytes of a file that names a port
_NOTE_BYTES_MAX = 4096


def by_loopback() -> bool:
    """Whether what this process binds is reached over loopback TCP, not by a Unix socket."""
    return hosts.WINDOWS or bool(os.environ.get(LOOPBACK))


def listen(path: str, backlog: int = 64) -> tuple[socket.socket, str]:
    """(a socket that listens at `path`, what a caller has to say first). What it says is "" where
    the file system lets nobody else in; a stranger's connection is to be closed.

    The caller has made place. Raises OSError.
    """
    import socket

    if not by_loopback():
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen(backlog)
        return listener, ""
    listener = socket.socket(socket.AF_INET)
    listener.bind((LOOPBACK_HOST, 0))
    listener.listen(backlog)
    words = os.urandom(_WORD_CHARS).hex()
    write_note(path, {"port": listener.getsockname()[1], "words": words})
    return listener, words


def greeting_reply(words: str, line: bytes) -> bytes | None:
    """The answer to a caller's first line; None for a stranger."""
    import hmac

    is_known = hmac.compare_digest(line, words[:_WORD_CHARS].encode())
    return words[_WORD_CHARS:].encode() + b"\n" if is_known else None


def open_socket(path: str, timeout_s: float) -> socket.socket:
    """A connection to who listens at `path`. Raises OSError, and ValueError for a note that cannot
    be read; PermissionError when another has the port by now.
    """
    import socket

    if is_socket(path):
        connection = socket.socket(socket.AF_UNIX)
        address: Any = path
        words = ""
    else:
        port_note = read_note(path)
        connection = socket.socket(socket.AF_INET)
        address, words = (LOOPBACK_HOST, int(port_note["port"])), str(port_note["words"])
    try:
        connection.settimeout(timeout_s)
        connection.connect(address)
        if words:
            _introduce(connection, words, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _introduce(connection: socket.socket, words: str, path: str) -> None:
    import hmac

    connection.sendall(words[:_WORD_CHARS].encode() + b"\n")
    answer = b""
    while len(answer) <= _WORD_CHARS and (block := connection.recv(_WORD_CHARS + 1 - len(answer))):
        answer += block
    if not hmac.compare_digest(answer, words[_WORD_CHARS:].encode() + b"\n"):
        raise PermissionError(errno.EPERM, "Another program has the port of this socket", path)


async def open_stream(path: str, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """As `open_socket`, for a loop; wait for it with a bound."""
    import asyncio

    if is_socket(path):
        return await asyncio.open_unix_connection(path, limit=limit)
    connection = await asyncio.to_thread(open_socket, path, 1.0)
    return await asyncio.open_connection(sock=connection, limit=limit)


def is_socket(path: hosts.Name) -> bool:
    """Whether a Unix socket is at `path`, not a note of a port. Raises OSError for nothing."""
    return stat.S_ISSOCK(os.lstat(path).st_mode)


def write_note(path: hosts.Name, content: dict[str, Any]) -> None:
    """Leave word at `path`, in a folder that is this user's alone, of where a socket is."""
    import json

    temporary = f"{os.fspath(path)}.{os.urandom(8).hex()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | hosts.flags("O_CLOEXEC"), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(content).encode())
        hosts.replace(temporary, os.fspath(path))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read_note(path: hosts.Name) -> dict[str, Any]:
    """What `note` left. Raises OSError; ValueError for what is no note of this user's."""
    import json

    descriptor = os.open(path, os.O_RDONLY | hosts.flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != hosts.user_id():
            raise ValueError(f"{os.fspath(path)} is no note of this user's")
        content = json.loads(file.read(_NOTE_BYTES_MAX))
    if not isinstance(content, dict):
        raise ValueError(f"{os.fspath(path)} names no port")  # noqa: TRY004 - as for what is no JSON
    return content
