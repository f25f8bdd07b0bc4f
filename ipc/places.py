"""Addresses of ZeroMQ sockets by path: a Unix socket at the path, or loopback TCP with keys, which
a port file at the path holds. A process that cannot read the folder can connect to neither.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from cortex.system.errors import Misconfigured
from cortex.system.process import sockets
from ipc.locks import clear_place


class _SingleKey:
    """Authentication of clients by a single key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def callback(self, _domain: str, key: bytes) -> bool:
        return key == self._key


def bind(context: zmq.Context[Any], socket: zmq.Socket[bytes], path: Path) -> Callable[[], None]:
    """Bind `socket` at `path`; return a function to call before the context ends. At most one
    socket of a context. Raises Misconfigured and OSError.
    """
    clear_place(path)
    if not sockets.by_loopback():
        _bind(socket, f"ipc://{path}")
        path.chmod(0o600)
        return lambda: None
    from zmq.auth.thread import ThreadAuthenticator  # 10 ms, needed here only

    server, server_secret = zmq.curve_keypair()
    client, client_secret = zmq.curve_keypair()
    gate = ThreadAuthenticator(context)
    gate.start()
    try:
        gate.configure_curve_callback("*", _SingleKey(client))
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_SECRETKEY, server_secret)
        _bind(socket, f"tcp://{sockets.LOOPBACK_HOST}:*")
        keys = {"server": server, "client": client, "secret": client_secret}
        address = socket.getsockopt_string(zmq.LAST_ENDPOINT)
        sockets.write_note(path, {"address": address} | {name: key.decode() for name, key in keys.items()})
    except BaseException:
        gate.stop()  # a context with open sockets never ends
        raise
    return gate.stop


def _bind(socket: zmq.Socket[bytes], address: str) -> None:
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        raise Misconfigured(f"Cannot bind {address}: {error}.") from error


def address_of(path: Path) -> str:
    """Return the address bound at `path`, "" if none. A port differs after each start."""
    try:
        return f"ipc://{path}" if sockets.is_socket(path) else str(sockets.read_note(path)["address"])
    except (OSError, ValueError, KeyError):
        return ""


def connect(socket: zmq.Socket[bytes], path: Path) -> str:
    """Connect `socket` to the one bound at `path`; return the address, "" if there is none yet."""
    address = address_of(path)
    if address.startswith("ipc://"):
        socket.connect(address)
    elif address:
        try:
            keys = {name: str(value).encode() for name, value in sockets.read_note(path).items()}
            address = keys["address"].decode()
            socket.setsockopt(zmq.CURVE_SERVERKEY, keys["server"])
            socket.setsockopt(zmq.CURVE_PUBLICKEY, keys["client"])
            socket.setsockopt(zmq.CURVE_SECRETKEY, keys["secret"])
            socket.connect(address)
        except (OSError, ValueError, KeyError, zmq.ZMQError):
            return ""
    return address
