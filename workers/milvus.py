"""The only process that opens the file of a milvus-lite: it serves the file to all others on a Unix
socket in the runtime folder. milvus-lite itself would listen on TCP, without a token.

Several projects may share a file, and each set of workers has this process: one of them holds the
file's lock, the others wait for it.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cortex import __version__
from cortex.engines.milvus.place import MilvusPlace, milvus_place, say_held
from cortex.settings.config import Config
from cortex.settings.folders.home import private_dir, runtime_base
from cortex.system import files
from cortex.system.errors import Misconfigured
from cortex.system.installation import how_to_add, is_installed
from ipc.locks import Lock, clear_place, try_lock
from ipc.messages import Message, Status
from ipc.service import Identity

log = logging.getLogger(__name__)

#: requests that are answered at the same time
THREADS = 4
#: largest message, in bytes, as in milvus-lite's own server
MESSAGE_BYTES_MAX = 256 << 20
#: seconds between two tries to lock the file, and seconds for requests in progress at the end
AGAIN_S, GRACE_S = 0.5, 2.0
#: seconds that a request waits for its turn: as long as a writer waits for its reply
TURN_S = 60.0
#: methods that may run together, and methods that run alone
READS, WRITES = ("Query", "Search"), ("Insert", "Upsert", "Delete", "Flush")
#: output field of a count, and the number of its type
COUNT, INT64 = "count(*)", 5
WAITS = "another process has the file, this one waits"


class MilvusWorker:
    """The worker. A thread serves the file; the serving thread answers GetStatus meanwhile."""

    handlers: dict[type, Callable[[Any], Message]]

    def __init__(self, config: Config, place: MilvusPlace) -> None:
        self._identity = Identity("milvus", __version__, config.hash())
        self._place = place
        self.handlers = {}
        self._stop = threading.Event()
        self._state, self._fault = WAITS, ""
        self._thread = threading.Thread(target=self._work, name="milvus")

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:  # None before `start`
            self._thread.join()

    def reload(self) -> bool:
        return False

    def status(self) -> Status:
        return self._identity.status(
            0, {"file": self._place.label, "state": self._state, "fault": self._fault}
        )

    def _work(self) -> None:
        assert self._place.folder is not None
        folder = self._place.folder
        private_dir(runtime_base())
        private_dir(folder)
        while not self._stop.is_set():
            lock = try_lock(folder / "s.lock")
            if lock is None:
                self._stop.wait(AGAIN_S)
                continue
            try:
                self._serve(lock)
            except Exception as error:  # reported by status; callers get no connection
                fault = say_held(self._place) or f"{self._place.label} cannot be served: {error}"
                if fault != self._fault:  # and not twice a second
                    log.exception("%s", fault)
                self._fault = fault
                self._stop.wait(AGAIN_S)
            finally:
                lock.release()

    def _serve(self, lock: Lock) -> None:
        for quiet in ("faiss", "milvus_lite"):  # details about processors and builds
            logging.getLogger(quiet).setLevel(logging.WARNING)
        import grpc
        from milvus_lite.db import MilvusLite
        from pymilvus.grpc_gen import milvus_pb2_grpc

        logging.getLogger("grpc._server").setLevel(logging.CRITICAL)  # calls that it does not implement

        assert self._place.file is not None
        files.make_folder(self._place.file.parent, anywhere=True)
        database = MilvusLite(str(self._place.file))
        options = [(f"grpc.max_{way}_message_length", MESSAGE_BYTES_MAX) for way in ("receive", "send")]
        # pymilvus pings every ten seconds, for which gRPC would close the connection
        options.append(("grpc.http2.max_ping_strikes", 0))
        server = grpc.server(ThreadPoolExecutor(THREADS, thread_name_prefix="milvus"), options=options)
        try:
            milvus_pb2_grpc.add_MilvusServiceServicer_to_server(_servicer(database), server)
            clear_place(self._place.address.removeprefix("unix:"))
            server.add_insecure_port(self._place.address)
            server.start()
            self._state, self._fault = "serves the file", ""
            while not self._stop.wait(AGAIN_S) and not lock.lost:
                pass
        finally:
            server.stop(GRACE_S).wait()
            database.close()
            self._state = WAITS


class Turns:
    """A lock for readers and writers: a writer runs alone, and does not wait for readers that come
    after it. Nobody waits longer than `wait_s`: by then the caller has given up. Raises
    TimeoutError.
    """

    def __init__(self, wait_s: float = TURN_S) -> None:
        self._wait_s = wait_s
        self._door, self._left, self._reading = threading.Lock(), threading.Condition(), 0

    @contextlib.contextmanager
    def read(self) -> Iterator[None]:
        with self._entering(), self._left:
            self._reading += 1
        try:
            yield
        finally:
            with self._left:
                self._reading -= 1
                self._left.notify_all()

    @contextlib.contextmanager
    def write(self) -> Iterator[None]:
        with self._entering(), self._left:
            if not self._left.wait_for(lambda: not self._reading, self._wait_s):
                raise TimeoutError(f"The file is being read for {self._wait_s:g} s and longer; ask again.")
            yield

    @contextlib.contextmanager
    def _entering(self) -> Iterator[None]:
        if not self._door.acquire(timeout=self._wait_s):
            raise TimeoutError(f"The file is being written for {self._wait_s:g} s and longer; ask again.")
        try:
            yield
        finally:
            self._door.release()


def _servicer(database: Any) -> Any:
    """Return a gRPC servicer for `database` with locks. milvus-lite counts and appends to its log
    without a lock, and a read during a flush of its memory table misses those rows.
    """
    from milvus_lite.adapter.grpc.servicer import MilvusServicer

    servicer, turns = MilvusServicer(database), Turns()
    servicer.Query = _with_counts(servicer.Query, database)
    for name in (*READS, *WRITES):
        turn = turns.read if name in READS else turns.write
        setattr(servicer, name, _take_turns(getattr(servicer, name), turn))
    return servicer


def _with_counts(answer: Callable[..., Any], database: Any) -> Callable[..., Any]:
    """Wrap `answer` so that a count builds no rows: milvus-lite would build each row that a filter
    finds, with all its texts, to count them.
    """
    from pymilvus.grpc_gen import milvus_pb2

    def handle(request: Any, context: Any) -> Any:
        if list(request.output_fields) != [COUNT] or not request.expr or request.partition_names:
            return answer(request, context)
        try:
            count = count_rows(database.get_collection(request.collection_name), request.expr)
        except Exception:  # another version of milvus-lite, or an invalid filter, which `answer` reports
            log.debug("rows are counted one by one", exc_info=True)
            return answer(request, context)
        result = milvus_pb2.QueryResults(collection_name=request.collection_name, output_fields=[COUNT])
        result.status.SetInParent()
        column = result.fields_data.add(field_name=COUNT, type=INT64)
        column.scalars.long_data.data.append(count)
        return result

    return handle


def count_rows(collection: Any, wanted: str) -> int:
    """Count the rows that a filter finds in milvus-lite, without building them."""
    from milvus_lite.search.assembler import assemble_candidates
    from milvus_lite.search.bitmap import build_valid_mask

    compiled = collection._compile_filter(wanted)  # noqa: SLF001 - no public method counts
    segments, deleted = collection._read_snapshot()  # noqa: SLF001
    fresh = collection._memtable  # noqa: SLF001
    keys, numbers, _, _, mask = assemble_candidates(
        segments=segments,
        memtable=fresh,
        vector_field=collection._vector_name,  # noqa: SLF001
        partition_names=None,
        filter_compiled=compiled,
        indexed_filter_plan=collection._indexed_filter_plan(compiled),  # noqa: SLF001
    )
    if not keys:
        return 0
    return int(build_valid_mask(keys, numbers, deleted, filter_mask=mask, memtable=fresh).sum())


def _take_turns(answer: Callable[..., Any], turn: Callable[[], Any]) -> Callable[..., Any]:
    def handle(request: Any, context: Any) -> Any:
        with turn():
            return answer(request, context)

    return handle


def make(config: Config) -> MilvusWorker:
    if not is_installed("milvus_lite"):
        raise Misconfigured(
            f"milvus.uri names a file of milvus-lite, which is not installed: {how_to_add('milvus')}."
        )
    return MilvusWorker(config, milvus_place(config))
