"""A process of the indexer's pool: a child, which does tasks, or the nursery, which forks children;
and the messages between them and the pool.
"""

import contextlib
import gc
import itertools
import os
import queue
import signal
import socket
import stat
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from cortex.embedders import Embedder, open_embedder
from cortex.indexer.store.graph_facts import compile_queries
from cortex.indexer.store.graph_tasks import GraphBuilder, GraphTask
from cortex.indexer.store.shards import Built, Settings, Task, build
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system import hosts
from cortex.system.errors import CortexError
from cortex.system.process import allocator
from ipc.frames import LENGTH, pack, receive

#: tasks after which a child collects garbage and releases memory
COLLECT_TASKS = 8
#: niceness of a child, below the processes that answer and that publish: the user waits for those
NICE = 5
#: seconds of a child's processor time for one file; the first one in Swift takes 5, because its
#: queries are compiled
FILE_S = 30
#: memory limit of a child in bytes: a parser can take hundreds of times the size of a file
CHILD_BYTES_MAX = 4 << 30

#: the nursery's reply
REPLY = struct.Struct("<i")


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


class Request(msgspec.Struct):
    """A frame to the nursery: fork a child, and reply its number; or, with the number of a child,
    end that one, and reply its exit code.
    """

    ended: int = 0
    #: a file of each language whose queries the child needs
    paths: tuple[str, ...] = ()
    #: a task of the graph, whose facts the child needs
    task: GraphTask | None = None


def receive_exactly(link: socket.socket, size: int) -> bytes:
    """Raises EOFError at the end of the connection."""
    raw = link.recv(size, socket.MSG_WAITALL)
    if len(raw) < size:
        raise EOFError
    return raw


class _ChildTools:
    """A child's tools, each created on first use."""

    def __init__(self, setup: Setup, graph: GraphBuilder) -> None:
        self._settings = setup.settings
        self._config = Config(root=Path(setup.settings.root), embedding=Embedding(**setup.embedding))
        self._embedder: Embedder | None = None
        self._graph = graph

    def run_task(self, task: Task | GraphTask, reading: Callable[[str], None]) -> Built | int:
        if not isinstance(task, Task):
            return self._graph.build(task)
        if self._embedder is None:
            self._embedder = open_embedder(self._config)
        return build(task, self._settings, self._embedder, reading)


def serve() -> None:
    """Run a child: answer tasks until input ends; the nursery instead if the input is a socket."""
    hosts.give_way(NICE)
    hosts.bound_memory(CHILD_BYTES_MAX)
    gc.disable()  # collecting between tasks is enough
    graph = GraphBuilder()
    if stat.S_ISSOCK(os.fstat(0).st_mode):
        _fork_children(graph)
    gc.freeze()
    _answer(graph)


def _fork_children(graph: GraphBuilder) -> None:
    """Run the nursery until the pool hangs up; return in each child with its own streams."""
    link = socket.socket(fileno=os.dup(0))
    while True:
        head, descriptors, _, _ = socket.recv_fds(link, LENGTH.size, 2)
        try:
            raw = receive_exactly(link, *LENGTH.unpack(head)) if head else b""
        except EOFError:
            raw = b""
        if not raw:
            os._exit(0)
        request = msgspec.msgpack.decode(raw, type=Request)
        if request.ended:
            link.sendall(REPLY.pack(_end(request.ended)))
            continue
        with contextlib.suppress(Exception):  # the child meets it again, and reports it
            compile_queries(request.paths)
            if request.task is not None:
                graph.load(request.task)
        allocator.trim()
        gc.freeze()
        number = os.fork()
        if not number:
            link.close()
            for place, descriptor in enumerate(descriptors):
                os.dup2(descriptor, place)
                os.close(descriptor)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        link.sendall(REPLY.pack(number))


def _end(child: int) -> int:
    """End a child; return its exit code, as subprocess does."""
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 0


def _answer(graph: GraphBuilder) -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write between the frames
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(frames,), daemon=True).start()
    setup = msgspec.msgpack.decode(frames.get(), type=Setup)
    work = _ChildTools(setup, graph)
    decoder = msgspec.msgpack.Decoder(Task | GraphTask)

    def send(answer: Answer) -> None:
        raw = msgspec.msgpack.encode(answer)
        answers.write(pack(raw))
        answers.flush()

    def reading(path: str) -> None:
        send(Answer(reading=path))
        # Only the end of its process stops a parser.
        hosts.allot(FILE_S if path else 0)

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
        frame = receive(sys.stdin.buffer)
        if frame is None:
            os._exit(0)
        frames.put(frame)
