"""Sockets of this user's processes, found by path: Unix sockets, or loopback TCP on Windows and if
a variable asks for it.

Over TCP, a file in the runtime folder holds the port and a secret that the caller has to send; a
caller that cannot read the file gets no answer. `ipc.places` does the same for ZeroMQ's ipc://.
Never run on Windows; LOOPBACK makes all processes use TCP as they would there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Any

from cortex.system import hosts

# Some imports are local to functions: hooks of agents' programs and supervisors import this module
# and have to be quick and small.
if TYPE_CHECKING:
    import asyncio
    import socket

#: environment variable: processes that start with it use loopback TCP, as on Windows
LOOPBACK = "CORTEX_LOOPBACK"
#: address of TCP sockets: this machine alone
LOOPBACK_HOST = "127.0.0.1"
#: characters of each half of a socket's secret: the caller's, and the answer to it
_WORD_CHARS = 32
#: largest port file, in bytes
_NOTE_BYTES_MAX = 4096


def by_loopback() -> bool:
    """Whether this process listens on loopback TCP, not on Unix sockets."""
    return hosts.WINDOWS or bool(os.environ.get(LOOPBACK))


def listen(path: str, backlog: int = 64) -> tuple[socket.socket, str]:
    """Return (a socket that listens at `path`, the secret that a caller has to send first).

    The secret is "" if the file system admits this user alone. Connections that do not send it must
    be closed. The caller has removed any older socket at `path`. Raises OSError.
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
    """Return the answer to a caller's first line; None if the line is not the secret."""
    import hmac

    is_known = hmac.compare_digest(line, words[:_WORD_CHARS].encode())
    return words[_WORD_CHARS:].encode() + b"\n" if is_known else None


def open_socket(path: str, timeout_s: float) -> socket.socket:
    """Return a connection to the process that listens at `path`.

    Raises OSError, ValueError for a port file that cannot be read, and PermissionError if another
    program has the port by now.
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
    """As `open_socket`, for an event loop; has no deadline of its own."""
    import asyncio

    if is_socket(path):
        return await asyncio.open_unix_connection(path, limit=limit)
    connection = await asyncio.to_thread(open_socket, path, 1.0)
    return await asyncio.open_connection(sock=connection, limit=limit)


def is_socket(path: hosts.Name) -> bool:
    """Whether `path` is a Unix socket, not a port file. Raises OSError if nothing is there."""
    return stat.S_ISSOCK(os.lstat(path).st_mode)


def write_note(path: hosts.Name, content: dict[str, Any]) -> None:
    """Write the address of a socket to the port file `path`, in a folder of this user alone."""
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
    """Read a port file of `write_note`. Raises OSError, ValueError for another user's."""
    import json

    descriptor = os.open(path, os.O_RDONLY | hosts.flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != hosts.user_id():
            raise ValueError(f"{os.fspath(path)} is not a port file of this user")
        content = json.loads(file.read(_NOTE_BYTES_MAX))
    if not isinstance(content, dict):
        raise ValueError(f"{os.fspath(path)} is not a port file")  # noqa: TRY004 - the same error as for invalid JSON
    return content
