"""Server loop of a worker: bind, a handler for each message, reload check, drain, stop.

One thread, which replies in the order of arrival. The handler of long work returns slices, and
requests that arrive meanwhile are answered between two of them.
"""

import contextlib
import faulthandler
import gc
import logging
import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from socket import socket as Socket  # noqa: N812 - to tell it from ZeroMQ's sockets
from socket import socketpair
from types import FrameType
from typing import Any, Protocol

import zmq

from cortex.system import hosts
from cortex.system.errors import ANEW, EXIT_OK, CortexError, Misconfigured, Occupied
from cortex.system.hosts import allotted
from ipc import places
from ipc.codec import MESSAGE_BYTES_MAX, decode, encode, read_envelope
from ipc.events import Listener
from ipc.lifeline import watch_life_line
from ipc.locks import Lock, hold
from ipc.messages import Answers, Failure, GetStatus, Message, Several, Status

log = logging.getLogger(__name__)

#: longest time in seconds between two checks of the disk. Events announce new generations, and
#: requests name theirs: the timer is for changes without either
CHECK_S = 10.0
#: seconds in which a stopping worker still answers requests that have arrived
DRAIN_S = 1.0
#: processor seconds that every request may use, however short its deadline: the first one after a
#: start opens tables
LEAST_S = 5.0
#: requests that may wait for a worker; the sender's queue refuses more
QUEUE_MESSAGES_MAX = 1000

#: addresses that a worker may bind without keys
_WITHOUT_KEYS = ("ipc://", "tcp://127.", "tcp://localhost", "tcp://[::1]")

#: recipient of background work: none
NOBODY = b""
#: long work: yields after each slice of at most 5 ms, and returns the reply
Slices = Generator[None, None, Message]
Handler = Callable[[Any], "Message | Slices"]


class Worker(Protocol):
    """What `serve` needs: handlers by message class, a check of the disk, a status."""

    @property
    def handlers(self) -> Mapping[type, Handler]: ...

    def reload(self) -> bool:
        """Check for a newer generation and open it; return True if it did.

        Called at each event and every CHECK_S, so periodic work belongs here. An optional method
        `patience()` returns the seconds between two calls while periodic work waits. Must not raise
        for damaged files. If an optional method `is_over()` returns True, the process ends to be
        restarted. Optional methods `start()` and `close()` are called before the first request and
        at the end.
        """
        ...

    def status(self) -> Status: ...


class Identity:
    """The constant part of a worker's status."""

    def __init__(self, worker: str, version: str, config: str) -> None:
        """`config` is the hash of the worker's configuration."""
        self._worker, self._version, self._config = worker, version, config
        self._started = time.monotonic()

    def status(self, generation: int, info: dict[str, Any]) -> Status:
        return Status(
            worker=self._worker,
            pid=os.getpid(),
            version=self._version,
            config=self._config,
            generation=generation,
            uptime_s=time.monotonic() - self._started,
            info=info,
        )


def serve(
    name: str,
    worker: Worker,
    runtime_dir: Path,
    *,
    replica: int = 0,
    bind: str = "",
    least_s: float = LEAST_S,
) -> int:
    """Answer requests for `worker` until SIGTERM, SIGINT or the end of the lifeline.

    Binds `<runtime_dir>/<name>.<replica>.sock`, or `bind` (an ipc:// or loopback tcp:// address for
    load tests). Returns the exit code, or ANEW if the worker's `is_over()` ended it. A request that
    uses more processor time than its deadline allows, and more than `least_s` seconds, ends the
    process by SIGPROF: waiting clients ask its replacement.
    """
    context: zmq.Context[Any] = zmq.Context()
    with _running(worker), hold_place(runtime_dir, f"{name}.{replica}"):
        path = runtime_dir / f"{name}.{replica}.sock"
        socket, leave = _bind(context, bind or path)
        listener = Listener(context, runtime_dir)
        ending = _stop_signals()
        # imported objects stay to the end; scanning them takes some 15 ms, which a request would
        # wait for. Objects made from here on are collected, such as old snapshots
        gc.freeze()
        try:
            _Loop(worker, socket, least_s).run(listener, ending)
        finally:
            if not bind:
                path.unlink(missing_ok=True)
            socket.close()
            listener.close()
            leave()
            context.term()
    if ending[0].is_set():
        return EXIT_OK
    hosts.end_by_signals()  # our handlers no longer run
    return EXIT_OK if ending[0].is_set() else ANEW


class Serving:
    """A worker that a thread of this process serves until `close`, for a program with other tasks.
    It handles no signals, and does not limit processor time of requests.
    """

    def __init__(self, name: str, make: Callable[[], Worker], runtime_dir: Path) -> None:
        """`make` is called in the thread, after the lock was taken. Raises its errors, and Occupied
        as `hold_place` does.
        """
        self._place = hold_place(runtime_dir, f"{name}.0")
        self._make, self._folder, self._path = make, runtime_dir, runtime_dir / f"{name}.0.sock"
        self._stop = threading.Event()
        self._wake: tuple[Socket, ...] = socketpair()
        self._ready: SimpleQueue[BaseException | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"cortex-{name}", daemon=True)
        self._thread.start()
        if (error := self._ready.get()) is not None:
            self.close()
            raise error

    def close(self) -> None:
        """Answer the requests that have arrived, then end; safe to call twice."""
        self._stop.set()
        if self._wake:
            self._wake[1].send(b"x")
            self._thread.join()
            for end in self._wake:
                end.close()
            self._wake = ()
        self._place.release()

    def _run(self) -> None:
        context: zmq.Context[Any] = zmq.Context()
        try:
            worker = self._make()
            socket, leave = _bind(context, self._path)
        except BaseException as error:
            context.destroy(0)
            self._ready.put(error)
            return
        listener = Listener(context, self._folder)
        self._ready.put(None)
        with _running(worker):
            try:
                _Loop(worker, socket, 0.0).run(listener, (self._stop, self._wake[0]))
            finally:
                self._path.unlink(missing_ok=True)
                socket.close()
                listener.close()
                leave()
                context.term()


@contextlib.contextmanager
def _running(worker: Worker) -> Iterator[None]:
    if start := getattr(worker, "start", None):
        start()
    try:
        yield
    finally:
        if close := getattr(worker, "close", None):
            close()


def hold_place(runtime_dir: Path, name: str) -> Lock:
    """Hold `<name>.lock` until this process ends.

    libzmq lets a second bind take over a path silently; the lock prevents that. Raises Occupied
    with the holder's number if another process has it.
    """
    return hold(
        runtime_dir / f"{name}.lock",
        lambda holder: Occupied(
            f"Process {holder} already serves {name} in {runtime_dir}; stop it with `cortex down` first."
        ),
    )


def _bind(context: zmq.Context[Any], at: Path | str) -> tuple[zmq.Socket[bytes], Callable[[], None]]:
    """Return (socket, function to call before the context ends). `at` is a path, or an address."""
    if isinstance(at, str) and not at.startswith(_WITHOUT_KEYS):
        raise Misconfigured(f"Cannot bind {at}: without keys a worker listens on loopback only.")
    socket: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
    socket.setsockopt(zmq.LINGER, int(DRAIN_S * 1000))
    socket.setsockopt(zmq.RCVHWM, QUEUE_MESSAGES_MAX)
    socket.setsockopt(zmq.SNDHWM, QUEUE_MESSAGES_MAX)
    socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
    if isinstance(at, Path):
        return socket, places.bind(context, socket, at)
    try:
        socket.bind(at)
    except zmq.ZMQError as error:
        raise Misconfigured(f"Cannot bind {at}: {error}.") from error
    return socket, lambda: None


def _stop_signals() -> tuple[threading.Event, Socket]:
    """Return (event set when this process has to stop, socket that becomes readable then)."""
    stop = threading.Event()
    read, write = socketpair()
    write.setblocking(False)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        with contextlib.suppress(BlockingIOError, BrokenPipeError):  # broken: the loop has ended
            write.send(b"x")

    # Python calls a handler between two instructions: for a signal that comes just before the wait
    # for a request it would be after that wait. The wake-up descriptor is written at once.
    signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    if hasattr(faulthandler, "register"):  # the log gets a trace; then the process ends
        faulthandler.register(signal.SIGPROF, chain=True)
    watch_life_line(lambda: on_signal(0, None))
    return stop, read


@dataclass(slots=True)
class _Loop:
    """The loop that answers until a stop; `unfinished` long work and its recipients take turns."""

    worker: Worker
    socket: zmq.Socket[bytes]
    #: processor seconds that every request may use; 0: unlimited
    least_s: float
    unfinished: deque[tuple[bytes, int, Slices]] = field(default_factory=deque)

    def run(self, listener: Listener, ending: tuple[threading.Event, Socket]) -> None:
        stop, wake = ending
        poller = zmq.Poller()
        poller.register(self.socket, zmq.POLLIN)
        poller.register(listener.socket, zmq.POLLIN)
        poller.register(wake, zmq.POLLIN)
        patience = getattr(self.worker, "patience", lambda: CHECK_S)
        is_over = getattr(self.worker, "is_over", lambda: False)
        checked = -math.inf  # never, even if the machine has just started
        while not (stop.is_set() or is_over()):
            left_s = max(0.0, min(checked + patience() - time.monotonic(), listener.patience_s))
            ready = dict(poller.poll(0 if self.unfinished else math.ceil(1000 * left_s)))
            news = listener.socket in ready and bool(listener.drain())
            if listener.patience_s < CHECK_S:
                listener.follow()
            if news or time.monotonic() - checked >= patience():
                listener.follow()
                try:
                    self.worker.reload()
                except Exception:  # a damaged generation must not end a worker that can serve the old one
                    log.exception("reload failed; the old generation is kept")
                self._begin_background()
                checked = time.monotonic()
            if self.socket in ready:  # bounded, for a busy worker would never reach the reload check
                self._answer_waiting(checked + patience())
            if self.unfinished:
                self._go_on()
        self._answer_waiting(time.monotonic() + DRAIN_S)
        for _, _, slices in self.unfinished:
            slices.close()  # its finished part stays; the client sends it again

    def _begin_background(self) -> None:
        """Start a worker's background work, if it has any: one at a time."""
        begin = getattr(self.worker, "background", None)
        if begin is None or any(identity == NOBODY for identity, _, _ in self.unfinished):
            return
        try:
            slices = begin()
        except Exception:  # it is tried again later
            log.exception("what was to be done in the background could not begin")
        else:
            if slices is not None:
                self.unfinished.append((NOBODY, 0, slices))

    def _answer_waiting(self, until: float) -> None:
        """Answer requests that have arrived, until none is left or it is `until`."""
        while True:
            try:
                identity, *frames = self.socket.recv_multipart(zmq.NOBLOCK)
                frame = frames[0] if len(frames) == 1 else b""
            except zmq.Again:
                return
            try:
                request, deadline = read_envelope(frame)
            except CortexError as error:
                log.warning("dropped a message: %s", error)
                continue
            if not deadline or deadline > time.monotonic():  # nobody waits for a late answer
                allotted_s = max(deadline - time.monotonic(), self.least_s) if deadline else 0.0
                reply = answer(self.worker, frame, allotted_s if self.least_s else 0.0)
                if isinstance(reply, Generator):
                    self.unfinished.append((identity, request, reply))
                    return
                self._send(identity, request, reply)
            if time.monotonic() >= until:
                return

    def _go_on(self) -> None:
        """Run one slice of the long work that waits longest."""
        identity, request, slices = self.unfinished.popleft()
        try:
            with allotted(self.least_s):
                next(slices)
        except StopIteration as end:
            self._send(identity, request, end.value)
        except Exception as error:  # a bug in one handler must not end the worker
            self._send(identity, request, failure_of(error))
        else:
            self.unfinished.append((identity, request, slices))

    def _send(self, identity: bytes, request: int, reply: Message) -> None:
        if identity == NOBODY:
            return
        with contextlib.suppress(zmq.Again):
            self.socket.send_multipart([identity, reply_frame(reply, request)], zmq.NOBLOCK)


def reply_frame(reply: Message, request: int) -> bytes:
    """Return the frame of a reply; that of a Failure if the reply is too large."""
    try:
        return encode(reply, request)
    except CortexError as error:
        return encode(Failure(error.code, str(error)), request)


def answer(worker: Worker, frame: bytes, allotted_s: float = 0.0) -> Message | Slices:
    """Return the reply to one request: its handler's result, or a Failure. Never raises.

    `allotted_s`: processor seconds that the handler may use, 0 for unlimited; see `serve`.
    """
    try:
        message = decode(frame)
        if isinstance(message, GetStatus):
            return worker.status()
        if isinstance(message, Several):
            with allotted(allotted_s):
                return Answers(
                    tuple(_answer_nested(worker, request_frame) for request_frame in message.requests)
                )
        handler = worker.handlers.get(type(message))
        if handler is None:
            return Failure("bad_request", f"This worker does not answer {type(message).__name__}.")
        with allotted(allotted_s):
            return handler(message)
    except Exception as error:  # a bug in one handler must not end the worker
        return failure_of(error)


def _answer_nested(worker: Worker, frame: bytes) -> bytes:
    """Return the frame of the reply to one request of a Several; long work is refused there."""
    reply = answer(worker, frame)
    if isinstance(reply, Generator):
        reply.close()
        reply = Failure("bad_request", "Long work needs a separate message.")
    return reply_frame(reply, 0)


def failure_of(error: Exception) -> Failure:
    """Return the Failure for an error; unexpected errors are logged."""
    if isinstance(error, CortexError):
        return Failure(error.code, str(error))
    log.error("a handler failed", exc_info=error)
    return Failure("internal", f"{type(error).__name__} in the worker: {error}; see its log.")
