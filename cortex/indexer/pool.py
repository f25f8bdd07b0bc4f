"""A pool of processes that build shards of chunks and of the graph. Each child reads tasks from its
standard input.

On Linux one process, the nursery, forks the children. It has imported the modules, compiled the
queries of the languages and, for the graph, read the facts of the project: its children share that
work and its memory. It has one thread. Elsewhere each child is a fresh interpreter.

No multiprocessing: spawn would import the caller's main module again, and executor children outlive
a killed parent. Here standard input is the lifeline: a thread of the child reads it, and EOF ends
the child at once.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import select
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from cortex.indexer.children import REPLY, Answer, Request, Setup, receive_exactly
from cortex.indexer.store.graph_tasks import GraphTask, ResolveTask
from cortex.indexer.store.limits import LIMITS, Limits
from cortex.indexer.store.shards import Built, Settings, Task
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system import hosts
from cortex.system.errors import BY_CODE, CortexError, Unavailable
from cortex.system.process.cores import count_cores
from cortex.terms.languages import language_of
from ipc.frames import LENGTH, pack, receive

log = logging.getLogger(__name__)

#: most children: each takes about 100 MB
WORKERS_MAX = 8
#: seconds that a child has to end after its standard input was closed
STOP_S = 2.0
#: exit codes that do not incriminate a file the first time: the system, or a person, ended the
#: child
_FROM_OUTSIDE = hosts.ENDED_FROM_OUTSIDE
#: ends of children during one task without a file to blame, at most
_ENDS_MAX = 2
#: files whose names a forked child resolves: its caches grow with each, by some 30 kB
RESOLVED_MAX = 250
#: variables with the libraries' number of threads: the children are the parallelism
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

#: the command line of the nursery, or of a child
COMMAND = (sys.executable, "-P", "-c", "from cortex.indexer.children import serve; serve()")

_DYING = "The indexing processes die; look for a message of the system (memory?)."


def count_run_children(tasks: Sequence[Task], files: int, size: int, limits: Limits = LIMITS) -> int:
    """Return how many children a run of this size needs. 0: build in this process, but never with a
    file of `alone_bytes` or more, which gets a child because it could end or block this process.
    """
    if any(stat[0] >= limits.alone_bytes for task in tasks for stat in task.fresh.values()):
        return max(1, count_children(len(tasks), limits))
    if files < limits.pool_files and size < limits.pool_bytes:
        return 0
    return count_children(len(tasks), limits)


def count_children(tasks: int, limits: Limits = LIMITS) -> int:
    """Return how many children can share this many tasks; 0: this process alone is as fast."""
    count = min(limits.children or min(count_cores(), WORKERS_MAX), tasks)
    return count if count > 1 else 0


@dataclass(frozen=True, slots=True)
class _ChildEnd:
    """The end of a child during a task: the file that it was reading ("" for none), and its exit
    code, which is negative for a signal.
    """

    path: str
    code: int


class _Forked:
    """A child of a nursery, with the interface of Popen."""

    def __init__(self, nursery: _Nursery, request: Request) -> None:
        """Raises OSError or EOFError if the nursery has ended."""
        theirs, ours = os.pipe()
        answers, written = os.pipe()
        try:
            self._nursery = nursery
            self.stdin, self.stdout = os.fdopen(ours, "wb"), os.fdopen(answers, "rb")
            self.pid = nursery.ask(request, [theirs, written])
        except BaseException:
            self.stdin.close()
            self.stdout.close()
            raise
        finally:
            os.close(theirs)
            os.close(written)
        self.returncode: int | None = None

    def kill(self) -> None:
        """Cut the life line; `wait` kills."""
        with contextlib.suppress(OSError):
            self.stdin.close()

    def wait(self, timeout: float) -> int:
        if self.returncode is None:
            self.returncode = 0
            try:
                self.returncode = self._nursery.ask(Request(ended=self.pid))
            except (OSError, EOFError):  # an orphan ends with its life line, and so its output
                with contextlib.suppress(OSError, ValueError):
                    while select.select([self.stdout], [], [], timeout)[0] and os.read(
                        self.stdout.fileno(), 1 << 16
                    ):
                        pass
        return self.returncode


class _Nursery:
    """The process that forks children."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._link, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, env=environment
            )
        self._lock = threading.Lock()

    def ask(self, request: Request, descriptors: Sequence[int] = ()) -> int:
        """Return the reply. Raises OSError or EOFError if the process has ended."""
        raw = msgspec.msgpack.encode(request)
        with self._lock:
            socket.send_fds(self._link, [LENGTH.pack(len(raw))], descriptors)
            self._link.sendall(raw)
            return int(REPLY.unpack(receive_exactly(self._link, REPLY.size))[0])

    def close(self) -> None:
        """End it; its children are ended before."""
        self._link.close()
        self.process.kill()
        self.process.wait(STOP_S)


_Child = subprocess.Popen[bytes] | _Forked


class Pool:
    """`run` yields results as they come. A child that ends is replaced, and its current file is cut
    without a parser, the likely cause; if that ends a child too, the file is left out. All other
    files of the task are unaffected.

    Children live until `close` or `resolve`: their caches serve the next tasks.
    """

    def __init__(
        self, settings: Settings, config: Config, count: int, command: Sequence[str] = COMMAND
    ) -> None:
        self._command = command
        fields = {name: getattr(config.embedding, name) for name in Embedding.__dataclass_fields__}
        self._setup = msgspec.msgpack.encode(Setup(settings, fields))
        #: most children
        self.count = count
        #: what the children need
        self._request = Request()
        self._nursery: _Nursery | None = None
        self._children: list[_Child] = []
        self._idle: queue.SimpleQueue[_Child] = queue.SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[Task]) -> Iterator[Built]:
        if not self._request.paths:
            names = {language_of(path).name: path for task in tasks for path in task.fresh}
            self._request = Request(paths=tuple(names.values()))
        for result in self._run(tasks):
            assert isinstance(result, Built)
            yield result

    def resolve(self, rounds: Sequence[Sequence[GraphTask]]) -> int:
        """Do the tasks in new children for each round, because parsers and their remains take some
        100 MB of each old one. Return the count of written graph files.
        """
        self._request = Request(task=next((task for tasks in rounds for task in tasks), None))
        written = 0
        for tasks in rounds:
            self.end_children()
            written += sum(result for result in self._run(tasks) if isinstance(result, int))
        return written

    def _run(self, tasks: Sequence[Task | GraphTask]) -> Iterator[Built | int]:
        waiting: queue.SimpleQueue[Task | GraphTask] = queue.SimpleQueue()
        results: queue.SimpleQueue[Built | int | BaseException] = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)
        threads = [
            threading.Thread(target=self._work, args=(waiting, results), daemon=True)
            for _ in range(min(self.count, len(tasks)))
        ]
        for thread in threads:
            thread.start()
        for _ in tasks:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result
        for thread in threads:
            thread.join(STOP_S)

    def close(self) -> None:
        """Kill the children at once."""
        self._closed = True
        if not self._lock.acquire(timeout=STOP_S):
            if (nursery := self._nursery) is not None:
                nursery.process.kill()  # it reads the facts of a large project
            self._lock.acquire()
        try:
            self._end_children()
            if self._nursery is not None:
                self._nursery.close()
        finally:
            self._lock.release()

    def end_children(self) -> None:
        """Free the memory of the children between tasks; the next ones get new children."""
        with self._lock:
            self._end_children()

    def _end_children(self) -> None:
        self._idle = queue.SimpleQueue()
        children, self._children = self._children, []
        for child in children:
            _end(child)

    def _work(
        self,
        waiting: queue.SimpleQueue[Task | GraphTask],
        results: queue.SimpleQueue[Built | int | BaseException],
    ) -> None:
        try:
            child, resolved = self._take(), 0
            while True:
                try:
                    task = waiting.get_nowait()
                except queue.Empty:
                    self._idle.put(child)
                    return
                if resolved >= RESOLVED_MAX and isinstance(child, _Forked):
                    child, resolved = self._replace(child), 0
                resolved += len(task.paths) if isinstance(task, ResolveTask) else 0
                ends: Counter[str] = Counter()
                while isinstance(outcome := self._ask(child, task), _ChildEnd):
                    ends[outcome.path] += 1
                    task = _task_after_end(task, outcome, ends[outcome.path])
                    child = self._start()
                results.put(outcome)
        except BaseException as error:  # of any class: the run must raise it
            results.put(error)

    def _take(self) -> _Child:
        """Return an idle child, or a new one; a killed one shows at its next task."""
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._start()

    def _replace(self, child: _Child) -> _Child:
        with self._lock:
            if child in self._children:
                self._children.remove(child)
        _end(child)
        return self._start()

    def _start(self) -> _Child:
        with self._lock:
            child = self._new_child()
            self._children.append(child)
        self._send(child, self._setup)  # the first task notices a child that is already dead
        return child

    def _new_child(self) -> _Child:
        environment = os.environ | dict.fromkeys(THREADS, str(max(1, count_cores() // self.count)))
        for _ in range(1 + _ENDS_MAX):
            if self._closed:
                raise Unavailable("The indexing run was ended.")
            if sys.platform != "linux":
                pipe = subprocess.PIPE
                return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, env=environment)
            self._nursery = self._nursery or _Nursery(self._command, environment)
            try:
                return _Forked(self._nursery, self._request)
            except (OSError, EOFError):
                self._nursery.close()
                self._nursery = None
        raise Unavailable(_DYING)

    def _ask(self, child: _Child, task: Task | GraphTask) -> Built | int | _ChildEnd:
        """Return the result, or the child's end. Raises the error that the child reported."""
        assert child.stdout is not None
        path = ""
        sent = self._send(child, msgspec.msgpack.encode(task))
        while sent:
            try:
                raw = receive(child.stdout)
            except (OSError, ValueError):  # closed by `close`
                break
            if raw is None:
                break
            answer = msgspec.msgpack.decode(raw, type=Answer)
            if answer.reading is not None:
                path = answer.reading
            elif answer.built is None:
                raise BY_CODE.get(answer.code, CortexError)(answer.message)
            else:
                return answer.built
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(STOP_S)
        return _ChildEnd(path, child.returncode or 0)

    def _send(self, child: _Child, frame: bytes) -> bool:
        assert child.stdin is not None
        try:
            child.stdin.write(pack(frame))
            child.stdin.flush()
        except (OSError, ValueError):
            return False
        return True


def _end(child: _Child) -> None:
    child.kill()
    child.wait(STOP_S)
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _task_after_end(task: Task | GraphTask, child_end: _ChildEnd, times: int) -> Task | GraphTask:
    """Return the task for the next child. Raises Unavailable when no file is to blame."""
    if not isinstance(task, Task) or not child_end.path or child_end.path in task.refused:
        if times > _ENDS_MAX:
            raise Unavailable(_DYING)
        return task
    if times == 1 and child_end.code in _FROM_OUTSIDE:
        return task
    log.warning("%s ended the process that read it (%d)", child_end.path, child_end.code)
    if child_end.path not in task.plain:
        return msgspec.structs.replace(task, plain=(*task.plain, child_end.path))
    return msgspec.structs.replace(task, refused=(*task.refused, child_end.path))
