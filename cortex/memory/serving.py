"""The memory worker: owns the store, and runs each MemoryCall on its one library. It stays alive
while the store cannot be opened, to report the reason.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from cortex import __version__
from cortex.embedders import open_apart
from cortex.embedders.static import open_static
from cortex.memory.briefings import briefing_file
from cortex.memory.doctor import warn_of_network_folder
from cortex.memory.find.newer.newer_notes import read_waiting
from cortex.memory.library import Library
from cortex.memory.note import AGENTS, Source, Trust
from cortex.memory.operations import OPERATIONS, carry_out
from cortex.memory.store import copies
from cortex.memory.store.database import LOCK, NAME, read_key
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.store.erasure import forget_again, forgotten_in
from cortex.memory.store.sealed import driver_of
from cortex.memory.team.server_address import server_of
from cortex.memory.transcripts.formats import spool
from cortex.memory.transcripts.sessions import FollowedProjects
from cortex.memory.upkeep.run import due_upkeep
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError, Damaged, Occupied, Unavailable
from ipc.locks import hold
from ipc.messages import MemoryAnswer, MemoryCall, Message, Status
from ipc.service import CHECK_S, Identity, Slices

log = logging.getLogger(__name__)

#: seconds after the last write until new contents are written into the indexes on the disk
QUIET_S = 2.0
#: seconds for which an error of opening is repeated without a new try: requests wait during a try
PAUSE_S = 1.0
#: seconds without a call after which upkeep may begin
UPKEEP_QUIET_S = 60.0
#: seconds between two checks whether a back-up is due, and before the first
LOOK_S, FIRST_LOOK_S = 600.0, 60.0
#: the operation that restores a back-up; it needs no working store
RESTORE = "restore"
#: longest path of a caller's folder, in characters
PLACE_CHARS_MAX = 1_024
#: longest agent and session name, in characters
NAME_CHARS_MAX = 128
#: channel of the worker that reads sessions
SESSIONS = "sessions"
#: channel → trust of its notes; no argument sets it
TRUST: dict[str, Trust] = {"mcp": "agent", "cli": "user", "library": "agent", SESSIONS: "user"}


class MemoryWorker:
    """Answers MemoryCall; see `ipc.service.Worker`. Make, use and close it in one thread."""

    def __init__(self, data: DataFolder, upkeep_quiet_s: float = UPKEEP_QUIET_S) -> None:
        self._data, self._quiet_s = data, upkeep_quiet_s
        self._identity = Identity("memory", __version__, data.hash())
        self._library: Library | None = None
        self._driver = PLAIN
        self._file_id: tuple[int, int] | None = None
        self._fault: CortexError | None = None
        self._retry_at = 0.0
        self._last_write = 0.0
        self._changed = False
        self._followed_projects = FollowedProjects()
        self._to_brief: set[str] = set()
        self._last_call = time.monotonic()
        self._copying: threading.Thread | None = None
        self._look_at = time.monotonic() + FIRST_LOOK_S
        self.handlers: dict[type, Callable[[Any], Message | Slices]] = {MemoryCall: self.call}

    def ready(self) -> Library:
        """The library, opened if it is not. Raises the errors of `Library.open`; for a second after
        an error the same one, without a new try.
        """
        if self._library is not None and self._file_identity() != self._file_id:
            self._drop("the database was moved or deleted")
        if self._library is None:
            if self._fault is not None and time.monotonic() < self._retry_at:
                raise self._fault.with_traceback(None)
            try:
                self._data.make()
                self._driver = driver_of(self._data)
                driver = server_of(self._data) or self._driver
                self._library = Library.open(
                    self._data.root, home=self._data.home, driver=driver, **self._embedders()
                )
                self._library.memory.upkeep.settings = self._data.settings
            except CortexError as error:
                self._fault, self._retry_at = error, time.monotonic() + PAUSE_S
                raise
            except OSError as error:
                fault = self._cannot_write(error)
                self._fault, self._retry_at = fault, time.monotonic() + PAUSE_S
                raise fault from error
            self._fault, self._file_id = None, self._file_identity()
            if self._data.settings.sessions == "off":  # no worker reads the events of hooks
                with contextlib.suppress(OSError):
                    files.remove_tree(self._data.root / spool.FOLDER)
        return self._library

    def _embedders(self) -> dict[str, Any]:
        """The built-in embedder as configured, or the function that opens another one."""
        embedding = self._data.embedder
        if embedding.provider == "static":
            return {"embedder": open_static(dimensions=embedding.dimensions)}
        return {"model": partial(open_apart, Config(root=self._data.root, embedding=embedding))}

    def close(self) -> None:
        self._drop("")

    def call(self, request: MemoryCall) -> Message | Slices:
        if request.channel != SESSIONS:
            self._last_call = time.monotonic()
        if request.operation == RESTORE:
            return self._restore(request)
        if request.operation == "erase":
            self._end_copy()  # its copy would hold the erased notes
            self._to_brief |= briefing_file.forget(self._data.home)
        operation = OPERATIONS.get(request.operation)
        if operation is not None and operation.writes and not request.writes:
            raise BadRequest(f"The operation {operation.name} writes; send it as a write.")
        library = self.ready()
        if library.memory.model and request.channel != SESSIONS:
            library.memory.model.wake()
        with self._guard(writes=request.writes), library.memory.store.database.moment():
            if request.project and request.channel != SESSIONS:
                self._followed_projects.remember(library, request.project, request.place[:PLACE_CHARS_MAX])
            answer: Any = carry_out(
                library,
                request.operation,
                request.arguments,
                project=request.project,
                source=_source_of(request),
                operation_id=request.operation_id,
                place=request.place[:PLACE_CHARS_MAX] if request.channel != SESSIONS else "",
            )
        if request.writes or request.operation == "briefing":
            projects = library.memory.projects
            self._to_brief.update(projects.all_of(projects.home_of(request.project)))
        if isinstance(answer, Generator):
            return self._in_slices(answer, writes=request.writes)
        return MemoryAnswer(answer)

    def _restore(self, request: MemoryCall) -> Message:
        """Restore a back-up over a damaged store; over an intact one only the back-up that is
        named. It is no operation of a library, which needs a working store. Raises BadRequest, and
        the errors of `copies.put_back` and `ready`.
        """
        file = str(request.arguments.get("file") or "")
        if _source_of(request).channel == AGENTS:
            raise BadRequest("Only people may do this, with the command `cortex memory restore`.")
        if not request.writes:
            raise BadRequest("The operation restore writes; send it as a write.")
        if self._data.settings.database:
            raise BadRequest(
                "This memory is on a PostgreSQL server: restore a back-up there, with pg_restore."
            )
        with contextlib.suppress(Damaged):
            if not self.ready().memory.store.database.check() and not file:
                raise BadRequest(
                    f"The memory in {self._data.root} is intact, so nothing is restored. To restore a back-up all the "
                    "same, name it: `cortex memory restore FILE`; `cortex memory doctor` names the newest."
                )
        self._end_copy()
        self._drop("a back-up is put in its place")
        lock = hold(self._data.root / LOCK, lambda holder: Occupied(f"Process {holder} serves the memory."))
        try:
            outcome = self._put_back(file)
        except OSError as error:
            raise self._cannot_write(error) from error
        finally:
            lock.release()
        self._fault = None
        return MemoryAnswer(outcome | {"notes": self.ready().stats()["node_count"]})

    def _put_back(self, file: str) -> dict[str, Any]:
        """`copies.put_back`, without the contents that were forgotten for good since: adds
        {"forgotten": number of notes removed from the copy}, and "unread" when the list of hashes
        is incomplete.
        """
        database, forgotten = self._data.root / NAME, list[int]()
        hashes, is_complete = forgotten_in(database, self._driver)
        key = read_key(self._data.root)
        outcome = copies.put_back(
            database,
            file,
            lambda copy: forgotten.append(forget_again(copy, key, hashes, self._driver)),
            self._driver,
        )
        return outcome | {"forgotten": forgotten[0]} | ({} if is_complete else {"unread": True})

    def _copy_when_due(self) -> None:
        """Begin a back-up in a thread, if the last one is a day old and something changed."""
        library, now = self._library, time.monotonic()
        if library is None or now < self._look_at or library.memory.store.database.shared:
            return
        self._end_copy()
        self._look_at = now + LOOK_S
        if copies.is_due(self._data.root / NAME, library.memory.store.reached, self._driver):
            self._copying = threading.Thread(
                target=_copy, args=(self._data.root / NAME, self._driver), daemon=True
            )
            self._copying.start()

    def _end_copy(self) -> None:
        if self._copying is not None:
            self._copying.join()
            self._copying = None

    def _in_slices(self, slices: Generator[None, None, Any], *, writes: bool) -> Slices:
        library = self._library
        while True:
            if self._library is not library:
                slices.close()
                raise Unavailable(f"The memory in {self._data.root} was closed meanwhile; try again.")
            try:
                with self._guard(writes=writes):
                    next(slices)
            except StopIteration as end:
                return MemoryAnswer(end.value)
            yield

    def reload(self) -> bool:
        """Called by the clock: close a database that is gone; some time after the last write, save
        the indexes and render briefings.
        """
        if self._library is not None and self._file_identity() != self._file_id:
            self._drop("the database was moved or deleted")
        if self._library is not None and self._changed and time.monotonic() - self._last_write >= QUIET_S:
            with self._guard(writes=False), self._tolerate_outage():
                self._library.settle()
                self._changed = False
        if self._library is not None:
            with self._guard(writes=False), self._tolerate_outage():
                self._library.memory.exchange_index.catch_up()
                if self._to_brief and time.monotonic() - self._last_write >= QUIET_S:
                    remotes, project = self._data.settings.remotes, self._to_brief.pop()
                    place = self._followed_projects.folder_of(project)
                    briefing_file.render(self._library, self._data.home, project, remotes, place)
                self._library.memory.replacements.rest()
                if model := self._library.memory.model:
                    model.rest()
        self._copy_when_due()
        return False

    def patience(self) -> float:
        """Seconds between two calls of `reload`: one second while there is something to save."""
        if self._library is None:
            return CHECK_S
        has_work = False
        with self._tolerate_outage():
            memory = self._library.memory
            has_work = (
                memory.exchange_index.has_work
                or memory.has_to_embed
                or bool(memory.replacements.waiting)
                or memory.holds_erased
            )
        return PAUSE_S if self._changed or self._to_brief or has_work else CHECK_S

    def background(self) -> Slices | None:
        """The erasure of what another machine erased and the embedding of notes, between calls;
        else the reading of notes that wait, or upkeep that is due, after a while without calls: the
        next call ends it, and it goes on later.
        """
        if self._library and self._library.memory.holds_erased:
            self._to_brief |= briefing_file.forget(self._data.home)
            return self._in_slices(self._library.memory.forget(), writes=False)
        if self._library and self._library.memory.has_to_embed:
            return self._in_slices(self._library.memory.embed(), writes=False)
        quiet_s = time.monotonic() - self._last_call
        if self._library and self._library.memory.replacements.waiting and quiet_s >= PAUSE_S:
            return self._until_call("reading notes", read_waiting(self._library.memory), writes=False)
        if self._library is None or quiet_s < self._quiet_s:
            return None
        slices = None
        with self._guard(writes=False), self._tolerate_outage():
            slices = due_upkeep(self._library.memory)
        return None if slices is None else self._until_call("upkeep", slices, writes=True)

    def _until_call(self, what: str, slices: Generator[None, None, Any], *, writes: bool) -> Slices:
        began, last_call = time.monotonic(), self._last_call
        steps = self._in_slices(slices, writes=writes)
        with contextlib.closing(slices):
            while self._last_call == last_call and next(steps, steps) is None:
                yield
        log.info("%s took %.1f s", what, time.monotonic() - began)
        return MemoryAnswer({})

    def status(self) -> Status:
        info: dict[str, Any] = {"folder": str(self._data.root), "open": self._library is not None}
        if self._library is not None and self._library.memory.store.database.shared:
            info["database"] = self._library.memory.store.database.label
        memory = self._library.memory if self._library is not None else None
        if memory is not None and memory.model:
            info["embedder"] = memory.model.status(memory.reached, memory.catalog.live())
        if warning := warn_of_network_folder(self._data.root):
            info["warnings"] = [warning]
        return self._identity.status(0, info | ({"fault": str(self._fault)} if self._fault else {}))

    @contextlib.contextmanager
    def _tolerate_outage(self) -> Iterator[None]:
        """Postpone the clock's work while a memory server is away; callers get the error."""
        try:
            yield
        except Unavailable as error:
            log.info("postponed: %s", error)

    @contextlib.contextmanager
    def _guard(self, *, writes: bool) -> Iterator[None]:
        """Check after a write that the file is still in place. Drop the library after an unexpected
        error or damage, so that the next call opens it again.
        """
        try:
            yield
        except Damaged:
            self._drop("it is damaged")
            raise
        except (CortexError, StopIteration):
            raise
        except OSError as error:
            self._drop(str(error))
            raise self._cannot_write(error) from error
        except Exception as error:
            self._drop(repr(error))
            raise
        if writes:
            self._last_write, self._changed = time.monotonic(), True
            if self._file_identity() != self._file_id:
                self._drop("the database was moved or deleted")
                raise Unavailable(
                    f"The memory in {self._data.root} was moved or deleted while it was written; try again."
                )

    def _file_identity(self) -> tuple[int, int] | None:
        """(device, inode) of the database's file; None if there is none."""
        if self._data.settings.database:
            return None
        try:
            info = os.stat(self._data.root / NAME)
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def _drop(self, why: str) -> None:
        library, self._library = self._library, None
        if library is None:
            return
        if why:
            log.warning("closing the memory in %s: %s", self._data.root, why)
        try:
            library.close()
        except Exception:  # its indexes are rebuilt on demand; the store itself is intact
            log.exception("closing the memory failed")

    def _cannot_write(self, error: OSError) -> Unavailable:
        return Unavailable(
            f"The memory in {self._data.root} cannot be written: {error.strerror or error}; free some space, or make "
            "the folder writable."
        )


def _copy(database: Path, driver: Driver) -> None:
    try:
        copies.make(database, driver)
    except (CortexError, OSError) as error:
        log.warning("no back-up was made: %s", error)


def open_worker(data: DataFolder) -> MemoryWorker:
    """A worker with an open store. Raises the errors of `MemoryWorker.ready`."""
    worker = MemoryWorker(data)
    worker.ready()
    return worker


def _source_of(request: MemoryCall) -> Source:
    trust = TRUST.get(request.channel)
    if trust is None:
        raise BadRequest(f"There is no channel {request.channel[:80]!r}; there are: {', '.join(TRUST)}.")
    return Source(request.agent[:NAME_CHARS_MAX], request.session[:NAME_CHARS_MAX], request.channel, trust)
