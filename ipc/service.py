"""Answering: bind, one handler for each message, reload check, drain, stop.

One thread; replies in the order of arrival, but for long work: its handler returns slices, and what
arrives meanwhile is answered between two of them.
"""

from __future__ import annotations

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
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from socket import socket as Socket  # noqa: N812 - beside those of ZeroMQ
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

#: seconds between two looks at the disk by the clock, at most. What is published is told by an
#: event, and a question names its generation: the clock is for what neither has told
CHECK_S = 10.0
#: seconds that a stopping worker goes on answering what has already arrived
DRAIN_S = 1.0
#: seconds of processor time that every question may use, however soon its asker gives up: the first
#: one after a start opens tables
LEAST_S = 5.0
#: requests that may wait in front of a worker; more are refused by the sender's queue
QUEUE_MESSAGES_MAX = 1000

#: what a worker binds without keys
_WITHOUT_KEYS = ("ipc://", "tcp://127.", "tcp://localhost", "tcp://[::1]")

#: who waits for work in the background
NOBODY = b""
#: long work: it yields after each slice of at most 5 ms, and returns the reply
Slices = Generator[None, None, Message]
Handler = Callable[[Any], "Message | Slices"]


class Worker(Protocol):
    """What `serve` needs: handlers by message class, a look at the disk, and how it is."""

    @property
    def handlers(self) -> Mapping[type, Handler]: ...

    def reload(self) -> bool:
        """Look at what is published and swap if it is newer; True when swapped. Called at each
        event and every CHECK_S, so what is to be done by the clock is done here. One that has
        `patience()` says how many seconds may pass between two calls while something waits for the
        next.

        Bad files never raise. One that has `is_over()` ends, to begin anew, when that says so.
        """
        ...

    def status(self) -> Status: ...


class Identity:
    """Who a worker is, as every one of them says it in its status."""

    def __init__(self, worker: str, version: str, config: str) -> None:
        """`config`: the hash of its configuration."""
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
    """Answer requests for `worker` until SIGTERM, SIGINT or the end of the life line.

    Binds `<runtime_dir>/<name>.<replica>.sock`, or `bind` (an ipc:// or loopback tcp:// address for
    load tests). Returns the exit code, or ANEW when the worker says that it is over. A question
    that uses more processor time than its asker waits for it, and more than `least_s` seconds, ends
    the process by SIGPROF: whoever waits behind it asks the one that is started in its place.
    """
    context: zmq.Context[Any] = zmq.Context()
    with hold_place(runtime_dir, f"{name}.{replica}"):
        path = runtime_dir / f"{name}.{replica}.sock"
        socket, leave = _bind(context, bind or path)
        listener = Listener(context, runtime_dir)
        ending = _stop_signals()
        # what was imported stays to the end; to look through it takes some 15 ms, which a question
        # would wait for. What is opened from here on is collected: a snapshot goes again
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
    hosts.end_by_signals()  # nobody would hear one any more
    return EXIT_OK if ending[0].is_set() else ANEW


class Serving:
    """A worker that a thread of this process serves until `close`: for a program that is more than
    a worker. It takes no signals, and ends no question that uses too much processor time.
    """

    def __init__(self, name: str, make: Callable[[], Worker], runtime_dir: Path) -> None:
        """`make` is called in the thread, once the place is held. Raises what it raises, and
        Misconfigured as `serve` does.
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
        """Answer what has arrived, then end; safe to call twice."""
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
        try:
            _Loop(worker, socket, 0.0).run(listener, (self._stop, self._wake[0]))
        finally:
            self._path.unlink(missing_ok=True)
            socket.close()
            listener.close()
            leave()
            context.term()
            if close := getattr(worker, "close", None):
                close()


def hold_place(runtime_dir: Path, name: str) -> Lock:
    """Hold `<name>.lock` for life.

    libzmq lets a second bind steal a path in silence; this is what prevents it. Raises
    Occupied naming the holder when somebody has it.
    """
    return hold(
        runtime_dir / f"{name}.lock",
        lambda holder: Occupied(
            f"Process {holder} already serves {name} in {runtime_dir}; stop it with `cortex down` first."
        ),
    )


def _bind(context: zmq.Context[Any], at: Path | str) -> tuple[zmq.Socket[bytes], Callable[[], None]]:
    """(the socket, what is to be called before the context ends). `at`: a place, or an address."""
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
    """(set when this process has to stop, a socket that becomes readable then)"""
    stop = threading.Event()
    read, write = socketpair()
    write.setblocking(False)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        with contextlib.suppress(BlockingIOError):
            write.send(b"x")

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    if hasattr(faulthandler, "register"):  # the log says where it was; then the process ends
        faulthandler.register(signal.SIGPROF, chain=True)
    watch_life_line(lambda: on_signal(0, None))
    return stop, read


@dataclass(slots=True)
class _Loop:
    """Answers until it is told to stop. `unfinished`: who waits for long work, in turns."""

    worker: Worker
    socket: zmq.Socket[bytes]
    #: seconds of processor time that every question may use; 0: any
    least_s: float
    unfinished: deque[tuple[bytes, int, Slices]] = field(default_factory=deque)

    def run(self, listener: Listener, ending: tuple[threading.Event, Socket]) -> None:
        stop, wake = ending
        poller = zmq.Poller()
        poller.register(self.socket, zmq.POLLIN)
        poller.register(listener.socket, zmq.POLLIN)
        poller.register(wake, zmq.POLLIN)
        patience = getattr(self.worker, "patience", _usual_patience)
        is_over = getattr(self.worker, "is_over", _never)
        checked = -math.inf  # not yet, however short a time the machine has been running
        while not (stop.is_set() or is_over()):
            left_s = max(0.0, min(checked + patience() - time.monotonic(), listener.patience_s))
            ready = dict(poller.poll(0 if self.unfinished else math.ceil(1000 * left_s)))
            news = listener.socket in ready and bool(listener.drain())
            if listener.patience_s < CHECK_S:
                listener.follow()
            if news or time.monotonic() - checked >= patience():
                listener.follow()
                _reload(self.worker)
                self._begin_background()
                checked = time.monotonic()
            if self.socket in ready:  # a busy worker would never come to a look that waits for idleness
                self._answer_waiting(checked + patience())
            if self.unfinished:
                self._go_on()
        self._answer_waiting(time.monotonic() + DRAIN_S)
        for _, _, slices in self.unfinished:
            slices.close()  # what is done of it is done; its asker asks again

    def _begin_background(self) -> None:
        """Long work that nobody waits for, of a worker that has some: one at a time."""
        begin = getattr(self.worker, "background", None)
        if begin is None or any(identity == NOBODY for identity, _, _ in self.unfinished):
            return
        try:
            slices = begin()
        except Exception:  # it is tried again another time
            log.exception("what was to be done in the background could not begin")
        else:
            if slices is not None:
                self.unfinished.append((NOBODY, 0, slices))

    def _answer_waiting(self, until: float) -> None:
        """Answer what has arrived, until the queue is empty or the clock says `until`."""
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
        """One slice of the long work that waits longest."""
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


def _usual_patience() -> float:
    return CHECK_S


def _never() -> bool:
    return False


def _reload(worker: Worker) -> None:
    try:
        worker.reload()
    except Exception:  # a bad generation must not end a worker that can still serve the old one
        log.exception("reload failed; the old generation is kept")


def reply_frame(reply: Message, request: int) -> bytes:
    """The frame of a reply; a Failure in its place when it is too large to travel."""
    try:
        return encode(reply, request)
    except CortexError as error:
        return encode(Failure(error.code, str(error)), request)


def answer(worker: Worker, frame: bytes, allotted_s: float = 0.0) -> Message | Slices:
    """The reply to one request: what its handler returned, or a Failure. Never raises.

    `allotted_s`: seconds of processor time that its handler may use, 0 for any; see `serve`.
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
    """The frame of the reply to one of several requests; long work is none of them."""
    reply = answer(worker, frame)
    if isinstance(reply, Generator):
        reply.close()
        reply = Failure("bad_request", "Long work is asked for by a message of its own.")
    return reply_frame(reply, 0)


def failure_of(error: Exception) -> Failure:
    """The reply in place of one that could not be made; what nobody foresaw is logged."""
    if isinstance(error, CortexError):
        return Failure(error.code, str(error))
    log.error("a handler failed", exc_info=error)
    return Failure("internal", f"{type(error).__name__} in the worker: {error}; see its log.")
