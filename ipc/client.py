"""Client of workers: many requests in flight, a deadline on each, replicas by round robin. asyncio
only.
"""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import zmq
from zmq.utils.monitor import parse_monitor_message

from cortex.system.errors import BY_CODE, CortexError, Unavailable
from ipc.codec import MESSAGE_BYTES_MAX, decode, encode, read_envelope
from ipc.messages import Failure, Message
from ipc.places import address_of, connect

log = logging.getLogger(__name__)

#: seconds after which a worker without connection counts as absent (the supervisor replaces a dead
#: one within 2)
CONNECT_S = 2.5
#: seconds between two scans of the folder of sockets
REGISTRY_S = 0.25
#: requests that may wait for one replica before `ask` refuses
QUEUE_MESSAGES_MAX = 1000
_RECONNECT_MS = 50
#: ZeroMQ's getter, called several times for each reply: pyzmq's own methods wrap results in
#: enumerations, which takes longer than the system call
_events = cast("Callable[[zmq.Socket[bytes], int], int]", zmq.backend.Socket.get)
_READABLE = int(zmq.POLLIN)


class _ReplicaGone(Exception):  # noqa: N818
    """The replica disconnected before it answered; `sent`: it may have received the request."""

    def __init__(self, *, sent: bool) -> None:
        self.sent = sent


class Silent(Unavailable):
    """No worker answered. `sent`: one may have received the message; `absent`: there is none."""

    def __init__(self, sentence: str, *, sent: bool = False, absent: bool = False) -> None:
        super().__init__(sentence)
        self.sent, self.absent = sent, absent


class _Replica:
    """A socket to one worker process, with its waiting requests.

    Sockets are read in callbacks of the loop: zmq.asyncio takes 0.1 ms more for a round trip, in
    tasks that only wake others.
    """

    def __init__(self, context: zmq.Context[Any], worker: str, path: Path) -> None:
        self.worker, self.path = worker, path
        self.connected = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._socket = context.socket(zmq.DEALER)
        # Without IMMEDIATE a message to a dead peer waits in its pipe for ever.
        self._socket.setsockopt(zmq.IMMEDIATE, 1)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE_MESSAGES_MAX)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE_MESSAGES_MAX)
        self._socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
        self._socket.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_MS)
        self._monitor = self._socket.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        )
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket.FD, self._read)
        self._loop.add_reader(self._monitor.FD, self._follow)
        self.address = connect(self._socket, path)
        self._follow()

    async def ask(self, message: Message, request: int, deadline: float) -> Message:
        """Send and wait. Raises _ReplicaGone, TimeoutError, or the worker's error."""
        future: asyncio.Future[Message] = self._loop.create_future()
        self._waiting[request] = future
        # `asyncio.timeout` takes a tenth of the client's time for a round trip.
        timer = self._loop.call_later(deadline - time.monotonic(), _end_wait, future)
        try:
            self._socket.send(encode(message, request, deadline), zmq.NOBLOCK)
            self._read()
            return await future
        except zmq.Again:
            self.connected.clear()  # the pipe is gone, and the monitor's event will follow
            raise _ReplicaGone(sent=False) from None
        finally:
            timer.cancel()
            self._waiting.pop(request, None)

    def _read(self) -> None:
        """Read all replies, also after sending: the descriptor reports each change only once."""
        for frame, *_ in _receive_all(self._socket):
            try:
                request, _ = read_envelope(frame)
            except CortexError as error:
                log.warning("dropped a message from %s: %s", self.address, error)
                continue
            future = self._waiting.get(request)
            if future is None or future.done():
                continue  # the caller has given up
            try:
                future.set_result(decode(frame))
            except CortexError as error:
                future.set_exception(error)

    def _follow(self) -> None:
        for frames in _receive_all(self._monitor):
            event = parse_monitor_message(frames)
            if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self.connected.set()
            elif event["event"] == zmq.EVENT_DISCONNECTED:
                self.connected.clear()
                self._give_up()

    def _give_up(self) -> None:
        """End the wait of every request: no reply will come from this connection."""
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(_ReplicaGone(sent=True))

    def close(self) -> None:
        # A failed send clears `connected` before the event of the end is read, which never is now.
        self._give_up()
        for socket in (self._socket, self._monitor):
            self._loop.remove_reader(socket.FD)
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close(0)


def _end_wait(future: asyncio.Future[Message]) -> None:
    if not future.done():
        future.set_exception(TimeoutError())


def _receive_all(socket: zmq.Socket[bytes]) -> Iterator[list[bytes]]:
    while not socket.closed and _events(socket, zmq.EVENTS) & _READABLE:
        yield socket.recv_multipart(zmq.NOBLOCK)


class Client:
    """Client of the workers with sockets in `runtime_dir`, for one event loop."""

    def __init__(self, runtime_dir: Path) -> None:
        self._folder = runtime_dir
        self._context: zmq.Context[Any] = zmq.Context()
        self._replicas: dict[str, _Replica] = {}
        self._turns: dict[str, Iterator[int]] = {}
        self._requests = itertools.count(1)
        self._looked_at = 0.0

    async def ask(self, worker: str, message: Message, deadline_s: float) -> Message:
        """Send one request and return its reply. A repeatable request is sent once more if its
        replica dies.

        Raises the worker's error; Silent if no replica answers within `deadline_s`, or if one
        received a message that is not repeatable and did not report its result.
        """
        deadline = time.monotonic() + deadline_s
        tries = 2 if message.repeatable else 1
        sent = False
        while tries and time.monotonic() < deadline:
            replica = await self._choose(worker, min(deadline, time.monotonic() + CONNECT_S), sent=sent)
            try:
                reply = await replica.ask(message, next(self._requests), deadline)
            except _ReplicaGone as gone:
                tries -= gone.sent
                sent |= gone.sent
                continue
            except TimeoutError:
                sent = True
                break
            if isinstance(reply, Failure):
                raise BY_CODE.get(reply.code, CortexError)(reply.message)
            return reply
        if sent and not message.repeatable:
            raise Silent(
                f"The {worker} worker received the {type(message).__name__} and did not answer: its result is "
                "unknown, so it was not sent again; see `cortex status`.",
                sent=sent,
            )
        raise Silent(
            f"The {worker} worker did not answer within {deadline_s:.1f} s; see `cortex status`.", sent=sent
        )

    async def _choose(self, worker: str, until: float, *, sent: bool) -> _Replica:
        """Return the next connected replica, waiting for one until then. Raises Silent."""
        while True:
            replicas = self._registered(worker)
            if ready := [replica for replica in replicas if replica.connected.is_set()]:
                return ready[next(self._turns.setdefault(worker, itertools.count())) % len(ready)]
            left = until - time.monotonic()
            if left <= 0:
                raise Silent(
                    f"The {worker} worker is not running; see `cortex status`.", sent=sent, absent=True
                )
            await _wait_first([replica.connected.wait() for replica in replicas], min(left, REGISTRY_S))

    def _registered(self, worker: str) -> list[_Replica]:
        now = time.monotonic()
        replicas = [replica for replica in self._replicas.values() if replica.worker == worker]
        if now - self._looked_at < REGISTRY_S and any(replica.connected.is_set() for replica in replicas):
            return replicas
        self._looked_at = now
        present = {address_of(path): path for path in sorted(self._folder.glob("*.sock"))}
        for address in [address for address in self._replicas if address not in present]:
            if not self._replicas[address].connected.is_set():
                self._replicas.pop(address).close()
        for address, path in present.items():
            parts = path.name.split(".")
            if address and parts[0] == worker and len(parts) == 3 and address not in self._replicas:
                self._replicas[address] = _Replica(self._context, worker, path)
        return [replica for replica in self._replicas.values() if replica.worker == worker]

    async def close(self) -> None:
        for replica in self._replicas.values():
            replica.close()
        self._replicas.clear()
        self._context.destroy(0)


async def _wait_first(waits: list[Any], timeout_s: float) -> None:
    """Return when one of `waits` is done, or after `timeout_s`."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    if not tasks:
        await asyncio.sleep(timeout_s)
        return
    _, pending = await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(*pending, return_exceptions=True)
