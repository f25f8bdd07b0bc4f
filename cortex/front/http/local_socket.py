"""The Unix socket of a server, besides its port. Clients on this machine use it first: in a folder
of this user alone no other user can listen.
"""

import contextlib
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from socket import socket

from cortex.settings.folders.home import private_dir, runtime_base
from cortex.system import files
from cortex.system.errors import CortexError
from cortex.system.process import sockets
from ipc.locks import clear_place, try_lock

#: the folder of the sockets, in the runtime folder
FOLDER = "http"
#: hosts of URLs that lead to the server of a socket. Another server can have the same port of ::1
HOSTS = frozenset(("127.0.0.1", "localhost"))


@contextlib.contextmanager
def listening(port: int, backlog: int) -> Iterator[list[socket]]:
    """Listen at the socket of `port` in the block; yield none on Windows and for a taken one."""
    with contextlib.ExitStack() as stack:
        listeners: list[socket] = []
        with contextlib.suppress(CortexError, OSError):
            path = _socket_path(port)
            if not sockets.by_loopback() and (lock := try_lock(path.with_suffix(".lock"))):
                stack.enter_context(lock)
                clear_place(path)  # of a killed server
                listener, _ = sockets.listen(str(path), backlog)
                stack.callback(files.remove, path)
                stack.enter_context(contextlib.closing(listener))
                listener.setblocking(False)
                listeners.append(listener)
        yield listeners


def find_socket(url: str) -> str:
    """Return the path of the socket of the server at `url`, "" if there is none."""
    parts = urllib.parse.urlsplit(url)
    with contextlib.suppress(CortexError, OSError):
        if parts.scheme == "http" and parts.hostname in HOSTS:
            path = str(_socket_path(parts.port or 80))
            return path if sockets.is_socket(path) else ""
    return ""


def port_of(path: str) -> int:
    """Return the port of the server with the socket `path`."""
    return int(Path(path).stem)


def _socket_path(port: int) -> Path:
    return private_dir(private_dir(runtime_base()) / FOLDER) / f"{port}.sock"
