"""A pool of processes that build shards of chunks and of the graph. Each child is a fresh
interpreter that reads tasks from its standard input.

No multiprocessing: spawn would import the caller's main module again, and executor children outlive
a killed parent. Here standard input is the lifeline: a thread of the child reads it, and EOF ends
the child at once.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import logging
import os
import queue
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec

from cortex.embedders import Embedder, open_embedder
from cortex.indexer.store.graph_tasks import GraphBuilder, GraphTask
from cortex.indexer.store.limits import LIMITS, Limits
from cortex.indexer.store.shards import Built, Settings, Task, build
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system import hosts
from cortex.system.errors import BY_CODE, CortexError, Unavailable
from cortex.system.process import allocator
from cortex.system.process.cores import count_cores

log = logging.getLogger(__name__)

#: most children: each takes about 100 MB
WORKERS_MAX = 8
#: tasks after which a child collects garbage and releases memory
COLLECT_TASKS = 8
#: niceness of a child, below the processes that answer and that publish: the user waits for those
NICE = 5
#: seconds that a child has to end after its standard input was closed
STOP_S = 2.0
#: seconds of a child's processor time for one file; the first one in Swift takes 5, because its
#: queries are compiled
FILE_S = 30
#: memory limit of a child in bytes: a parser can take hundreds of times the size of a file
CHILD_BYTES_MAX = 4 << 30
#: exit codes that do not incriminate a file the first time: the system, or a person, ended the
#: child
_FROM_OUTSIDE = hosts.ENDED_FROM_OUTSIDE
#: ends of children during one task without a file to blame, at most
_ENDS_MAX = 2
#: variables with the libraries' number of threads: the children are the parallelism
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

#: the command line of a child
COMMAND = (sys.executable, "-P", "-c", "from cortex.indexer.pool import serve; serve()")

_LENGTH = struct.Struct("<I")


class Setup(msgspec.Struct):
    """The first frame to a child."""

    settings: Settings
    embedding: dict[str, Any]


class Answer(msgspec.Struct):
    """A child's reply to a task: its result (for the graph the count of written files), or an
    error's code and sentence. Before that, the file that it is about to read.
    """

    reading: str | None = None
    built: Built | int | None = None
    code: str = ""
    message: str = ""


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


class Pool:
    """`run` yields results as they come. A child that ends is replaced, and its current file is cut
    without a parser, the likely cause; if that ends a child too, the file is left out. All other
    files of the task are unaffected.

    Children live until `close`: their imports, compiled queries and caches serve the next tasks.
    """

    def __init__(
        self, settings: Settings, config: Config, count: int, command: Sequence[str] = COMMAND
    ) -> None:
        self._command = command
        fields = {name: getattr(config.embedding, name) for name in Embedding.__dataclass_fields__}
        self._setup = msgspec.msgpack.encode(Setup(settings, fields))
        #: most children
        self.count = count
        self._children: list[subprocess.Popen[bytes]] = []
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[Task]) -> Iterator[Built]:
        for result in self._run(tasks):
            assert isinstance(result, Built)
            yield result

    def resolve(self, tasks: Sequence[GraphTask]) -> int:
        """Return the count of written graph files."""
        return sum(result for result in self._run(tasks) if isinstance(result, int))

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
        with self._lock:
            self._closed = True
            children, self._children = self._children, []
        for child in children:
            child.kill()
            child.wait(STOP_S)
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def _work(
        self,
        waiting: queue.SimpleQueue[Task | GraphTask],
        results: queue.SimpleQueue[Built | int | BaseException],
    ) -> None:
        try:
            child = self._take()
            while True:
                try:
                    task = waiting.get_nowait()
                except queue.Empty:
                    self._idle.put(child)
                    return
                ends: Counter[str] = Counter()
                while isinstance(outcome := self._ask(child, task), _ChildEnd):
                    ends[outcome.path] += 1
                    task = _task_after_end(task, outcome, ends[outcome.path])
                    child = self._start()
                results.put(outcome)
        except BaseException as error:  # of any class: the run must raise it
            results.put(error)

    def _take(self) -> subprocess.Popen[bytes]:
        """Return an idle child, or a new one. An idle child that was killed meanwhile shows at its
        first task.
        """
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise Unavailable("The indexing run was ended.")
            child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | dict.fromkeys(THREADS, str(max(1, count_cores() // self.count))),
            )
            self._children.append(child)
        self._send(child, self._setup)  # the first task notices a child that is already dead
        return child

    def _ask(self, child: subprocess.Popen[bytes], task: Task | GraphTask) -> Built | int | _ChildEnd:
        """Return the result, or the child's end. Raises the error that the child reported."""
        assert child.stdout is not None
        path = ""
        sent = self._send(child, msgspec.msgpack.encode(task))
        while sent:
            try:
                raw = _receive(child.stdout)
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

    def _send(self, child: subprocess.Popen[bytes], frame: bytes) -> bool:
        assert child.stdin is not None
        try:
            child.stdin.write(_LENGTH.pack(len(frame)) + frame)
            child.stdin.flush()
        except (OSError, ValueError):
            return False
        return True


def _task_after_end(task: Task | GraphTask, child_end: _ChildEnd, times: int) -> Task | GraphTask:
    """Return the task for the next child. Raises Unavailable when no file is to blame."""
    if not isinstance(task, Task) or not child_end.path or child_end.path in task.refused:
        if times > _ENDS_MAX:
            raise Unavailable("The indexing processes die; look for a message of the system (memory?).")
        return task
    if times == 1 and child_end.code in _FROM_OUTSIDE:
        return task
    log.warning("%s ended the process that read it (%d)", child_end.path, child_end.code)
    if child_end.path not in task.plain:
        return msgspec.structs.replace(task, plain=(*task.plain, child_end.path))
    return msgspec.structs.replace(task, refused=(*task.refused, child_end.path))


def _receive(pipe: IO[bytes]) -> bytes | None:
    """Read one frame; None at the end of the pipe."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    frame = pipe.read(length)
    return frame if len(frame) == length else None


class _ChildTools:
    """A child's tools, each created on first use."""

    def __init__(self, setup: Setup) -> None:
        self._settings = setup.settings
        self._config = Config(root=Path(setup.settings.root), embedding=Embedding(**setup.embedding))
        self._embedder: Embedder | None = None
        self._graph = GraphBuilder()

    def run_task(self, task: Task | GraphTask, reading: Callable[[str], None]) -> Built | int:
        if not isinstance(task, Task):
            return self._graph.build(task)
        if self._embedder is None:
            self._embedder = open_embedder(self._config)
        return build(task, self._settings, self._embedder, reading)


def serve() -> None:
    """Run a child: answer tasks until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write between the frames
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(frames,), daemon=True).start()
    setup = msgspec.msgpack.decode(frames.get(), type=Setup)
    work = _ChildTools(setup)
    decoder = msgspec.msgpack.Decoder(Task | GraphTask)

    def send(answer: Answer) -> None:
        raw = msgspec.msgpack.encode(answer)
        answers.write(_LENGTH.pack(len(raw)) + raw)
        answers.flush()

    def reading(path: str) -> None:
        send(Answer(reading=path))
        # Only the end of its process stops a parser.
        hosts.allot(FILE_S if path else 0)

    hosts.give_way(NICE)
    hosts.bound_memory(CHILD_BYTES_MAX)
    gc.disable()  # collecting between tasks is enough
    gc.freeze()
    for count in itertools.count(1):
        task = decoder.decode(frames.get())
        try:
            answer = Answer(built=work.run_task(task, reading))
        except CortexError as error:
            answer = Answer(code=error.code, message=str(error))
        except MemoryError:
            os._exit(1)  # the parent knows the file that used it up
        except OSError as error:
            answer = Answer(code="misconfigured", message=f"Cannot write chunk files: {error}.")
        except Exception as error:
            answer = Answer(code="internal", message=f"Indexing failed: {type(error).__name__}: {error}")
        send(answer)
        if count % COLLECT_TASKS == 0:
            gc.collect()
            gc.freeze()  # modules, queries and, for a graph, the whole project live to the end
            allocator.trim()


def _listen(frames: queue.SimpleQueue[bytes]) -> None:
    while True:
        frame = _receive(sys.stdin.buffer)
        if frame is None:
            os._exit(0)
        frames.put(frame)
