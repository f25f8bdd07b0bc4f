"""The right to write a project in Milvus: one indexer at a time. Milvus has no lock. For a file the
lease is a lock beside the socket; for a server it is a lock in PostgreSQL, or the user's promise.
"""

import contextlib
import hashlib
import os
import socket
import threading
from collections.abc import Callable, Iterator

from cortex.engines.milvus.place import Milvus, MilvusPlace
from cortex.settings.postgresql import CLIENT_KEEPALIVE, SERVER_KEEPALIVE
from cortex.settings.reference import read_reference
from cortex.system.errors import Misconfigured, Occupied, Unavailable
from cortex.system.installation import how_to_add, is_installed
from ipc.locks import hold

#: seconds to connect, for a statement, and for the answer of a server that ignores its timeouts
CONNECT_S, STATEMENT_S, ANSWER_S = 4, 5, 8.0
_TRY = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
_HAS_LOCK = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid() "
    "AND (classid::bigint << 32 | objid::bigint) = hashtextextended(%s, 0)"
)

#: raises Occupied when the lease is lost
Check = Callable[[], None]


@contextlib.contextmanager
def lease(place: MilvusPlace, settings: Milvus) -> Iterator[Check]:
    """Hold the lease inside the `with`. Raises Occupied when another indexer has it, Misconfigured
    when no kind of lease is configured, Unavailable.
    """
    if place.folder is not None:
        with _file_lease(place) as check:
            yield check
    elif settings.lease:
        with _postgresql_lease(place, read_reference(settings.lease, "milvus.lease")) as check:
            yield check
    elif settings.single_writer:
        yield lambda: None
    else:
        raise Misconfigured(
            f"No lease keeps a second indexer off {place.project} in Milvus at {place.label}: set milvus.lease to a "
            "PostgreSQL server, or pass --single-writer if only one job at a time indexes it."
        )


@contextlib.contextmanager
def _file_lease(place: MilvusPlace) -> Iterator[Check]:
    assert place.folder is not None
    name = hashlib.sha256(f"{place.collection}\0{place.project}".encode()).hexdigest()[:16]
    with hold(
        place.folder / f"index-{name}.lock", lambda holder: _make_occupied(place, f"process {holder}")
    ) as lock:

        def check() -> None:
            if lock.lost:
                raise _make_occupied(place, "another process")

        yield check


@contextlib.contextmanager
def _postgresql_lease(place: MilvusPlace, address: str) -> Iterator[Check]:
    if not is_installed("psycopg"):
        raise Misconfigured(
            f"milvus.lease names a PostgreSQL server, and the package psycopg is not installed: {how_to_add('postgresql')}."
        )
    import psycopg

    lock_name = f"cortex index {place.collection} {place.project}"
    # a lost machine must not keep others from the project
    server_options = {"statement_timeout": 1000 * STATEMENT_S} | SERVER_KEEPALIVE
    options = " ".join(f"-c {name}={value}" for name, value in server_options.items())
    plain = address.replace("postgresql+psycopg://", "postgresql://", 1)
    try:
        with psycopg.connect(
            plain, autocommit=True, connect_timeout=CONNECT_S, options=options, **CLIENT_KEEPALIVE
        ) as connection:

            def query_lock(question: str) -> bool:
                with _answer_deadline(connection.pgconn.socket):
                    row = connection.execute(question, (lock_name,)).fetchone()
                return bool(row and row[0])

            if not query_lock(_TRY):
                raise _make_occupied(place, "another indexer")

            def check() -> None:
                try:
                    has_lock = query_lock(_HAS_LOCK)
                except psycopg.Error as error:
                    raise _make_occupied(place, "perhaps another indexer") from error
                if not has_lock:
                    raise _make_occupied(place, "another indexer")

            yield check
    except psycopg.Error as error:
        quotes = isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None
        raise _describe_failure(error, quotes=quotes) from None


@contextlib.contextmanager
def _answer_deadline(number: int) -> Iterator[None]:
    """Shut the socket `number` down when no answer comes: PostgreSQL's timeouts run on the server,
    which may hang.
    """

    def end() -> None:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as connected:
            connected.shutdown(socket.SHUT_RDWR)

    guard = threading.Timer(ANSWER_S, end)
    guard.start()
    try:
        yield
    finally:
        guard.cancel()


def _describe_failure(error: Exception, *, quotes: bool) -> Exception:
    """An exception that describes the failure. `quotes`: the error quotes the address."""
    if quotes:
        return Misconfigured(
            "milvus.lease is no address of a PostgreSQL server: set it to postgresql://name@host/database, or to "
            "$NAME of a variable that holds one."
        )
    reason = str(error).split("\n", 1)[0]
    return Unavailable(
        f"The PostgreSQL server of milvus.lease cannot be asked ({reason}): start it, or correct the setting."
    )


def _make_occupied(place: MilvusPlace, holder: str) -> Occupied:
    return Occupied(
        f"The project {place.project} in Milvus at {place.label} is being indexed by {holder}: wait until that is done."
    )
