"""Events over PUB/SUB: announcer and listener.

Delivery is not guaranteed: an event is a hint, a file is the truth.
"""

import math
from pathlib import Path
from typing import Any

import zmq

from cortex.system.errors import CortexError
from cortex.system.process import sockets
from ipc.codec import decode, encode
from ipc.messages import Message
from ipc.places import address_of, bind, connect

#: messages in a queue; an announcer never waits for a slow listener, the oldest events are dropped
QUEUE_MESSAGES_MAX = 100
NAME = "events.sock"
#: milliseconds between two tries to connect: the first, and the maximum; it doubles in between, so
#: an announcer that was away for a moment is connected again after about as long
RECONNECT_MS, RECONNECT_MAX_MS = 100, 10_000


class Announcer:
    """The PUB side; binds `events.sock`. The caller holds the lock that makes it the only one."""

    def __init__(self, context: zmq.Context[Any], runtime_dir: Path) -> None:
        self._socket = context.socket(zmq.PUB)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE_MESSAGES_MAX)
        self._leave = bind(context, self._socket, runtime_dir / NAME)

    def announce(self, message: Message) -> None:
        self._socket.send(encode(message), zmq.NOBLOCK)

    def close(self) -> None:
        self._socket.close()
        self._leave()


class Listener:
    """The SUB side; connects to `events.sock`, now or whenever it appears."""

    def __init__(self, context: zmq.Context[Any], runtime_dir: Path) -> None:
        self.socket = context.socket(zmq.SUB)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVHWM, QUEUE_MESSAGES_MAX)
        self.socket.setsockopt(zmq.SUBSCRIBE, b"")
        self.socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MS)
        self.socket.setsockopt(zmq.RECONNECT_IVL_MAX, RECONNECT_MAX_MS)
        self._place, self._address = runtime_dir / NAME, ""
        self.follow()

    @property
    def patience_s(self) -> float:
        """Seconds until `follow` has to be called again: infinite once connected."""
        return math.inf if self._address else RECONNECT_MS / 1000

    def follow(self) -> None:
        """Connect to the present announcer, if its address changed: a port changes with each start,
        while ZeroMQ reconnects to a Unix socket by itself.
        """
        unix = f"ipc://{self._place}"
        if self._address == unix:
            return
        address = address_of(self._place) or ("" if sockets.by_loopback() else unix)
        if address in ("", self._address):
            return
        if self._address:
            self.socket.disconnect(self._address)
        if address == unix:
            self.socket.connect(unix)  # ZeroMQ waits until the socket exists
            self._address = unix
        else:
            self._address = connect(self.socket, self._place)

    def drain(self) -> list[Message]:
        """Return every event that has arrived; malformed ones are dropped."""
        out: list[Message] = []
        while True:
            try:
                out.append(decode(self.socket.recv(zmq.NOBLOCK)))
            except zmq.Again:
                return out
            except CortexError:
                continue

    def close(self) -> None:
        self.socket.close()
