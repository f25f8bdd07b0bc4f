"""Several projects of one place, searched as one: one read finds their current generations, their
small files are downloaded, and one search for each lane covers the rows of all.

Runs in a worker of one of the projects. The number of searches and of processes does not grow with
the projects; downloads do, once for each generation of a project.
"""

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from cortex.engines.chunks.handlers import chunk_handlers
from cortex.engines.milvus.engine import open_handlers
from cortex.engines.milvus.joined_rows import join_rows
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.rows import Fetched, RemoteRows, make_remote_rows
from cortex.engines.milvus.scope import ProjectScope
from cortex.engines.milvus.searches import RowSearcher
from cortex.engines.milvus.storage.collection import ASK_S, Collection
from cortex.engines.milvus.storage.documents import (
    Document,
    Ref,
    bring_files,
    fetch_bodies,
    read_documents,
    rows_files,
)
from cortex.engines.milvus.text_searches import ExactSnapshot
from cortex.engines.protocol import Handlers
from cortex.generation.current import Generation, prune_folder
from cortex.generation.read import Rows, open_rows
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.errors import CortexError, NotFound, NotReady
from cortex.system.process import allocator
from ipc.codec import decode, encode
from ipc.messages import Among, Answers, Apart, Bring, Brought, Message, Show

log = logging.getLogger(__name__)

#: seconds between two checks for a project's current generation, as for a single project
LOOK_S = 2.0
#: projects that are downloaded at once; the deadline is checked between two portions
PORTION = 32
#: share of a call's time for downloads of generations that the other worker reported: all other
#: calls wait meanwhile
OPEN_SHARE = 0.25
#: sets of projects that stay joined, and further projects in the cache
JOINED_MAX, KEPT_MAX = 2, 2_000
#: projects for `apart` that stay open: the texts of their files are in memory
APART_MAX = 24
#: generations of a project in the cache: a client of the last but one has just learned of it
GENERATIONS = 2
#: seconds after which the downloads of an unused project are removed
UNASKED_S = 30 * 86_400.0
#: a file written when a project is used: it sets the time of the project's folder
_STAMP_FILE = "asked"
#: reason not to search a project with an empty generation
_EMPTY = "Its index in Milvus holds no text."
#: characters of the name of a project's folder
_FOLDER_CHARS = 16


@dataclass
class _ProjectState:
    """The local state of a project. `rows`: the latest generations, by number."""

    document: Document | None = None
    why: str = ""
    rows: dict[int, Rows] = field(default_factory=dict)
    #: file names of each of them
    files: dict[int, frozenset[str]] = field(default_factory=dict)
    looked_at: float = 0.0

    @property
    def generation(self) -> int:
        """The newest local generation; 0 for none."""
        return max(self.rows, default=0)

    @property
    def askable(self) -> int:
        """The newest local generation if its rows are surely in Milvus: it is the current one or
        the previous one; else 0.
        """
        published = self.document.published if self.document is not None else {}
        return self.generation if self.generation in sorted(published)[-2:] else 0

    @property
    def is_behind(self) -> bool:
        return self.document is not None and self.document.generation not in self.rows


class MultiProjectHandler:
    """Answers Bring, Among and Apart. For one thread; opens nothing before the first request."""

    def __init__(self, config: Config, prepare: Callable[[Any], Any] = lambda message: message) -> None:
        """`prepare`: turns a request into one that the engine answers."""
        self._config, self._prepare = config, prepare
        self._folder = config.index_dir / "others"
        self._takes_unnamed = config.embedding.provider != "static"
        self._states: dict[str, _ProjectState] = {}
        self._joined: OrderedDict[tuple[tuple[str, int], ...], Handlers] = OrderedDict()
        self._apart: OrderedDict[tuple[str, int], tuple[RemoteRows, Handlers]] = OrderedDict()
        self._collection: Collection | None = None
        self._fetched: Fetched | None = None
        allocator.may_forget(self)

    def forget(self) -> None:
        """Drop joined tables; they are made again from rows, which stay mapped."""
        self._joined.clear()
        self._apart.clear()

    @property
    def handlers(self) -> dict[type, Callable[[Any], Message]]:
        return {Bring: self.bring, Among: self.among, Apart: self.apart}

    def bring(self, request: Bring) -> Brought:
        """The searchable generation of each project, 0 for none with the reason. Raises Unavailable
        when Milvus is away, Misconfigured.
        """
        self._bring(request.projects, LOOK_S, request.within_s)
        states = [self._states[name] for name in request.projects]
        return Brought(
            generations=tuple(state.askable for state in states),
            rows=tuple(state.rows[state.askable].live_count if state.askable else 0 for state in states),
            why=tuple("" if state.askable else state.why or _EMPTY for state in states),
        )

    def among(self, request: Among) -> Message:
        """Answer one request over all projects. Raises NotReady for an unopened generation."""
        opened = self._open_joined(tuple(zip(request.projects, request.generations, strict=True)))
        message: Any = self._prepare(decode(request.request[0]))
        return opened[type(message)](message)

    def apart(self, request: Apart) -> Answers:
        """Answer each request from its project; all texts of Show are one read."""
        opened = [
            self._open_one(*target) for target in zip(request.projects, request.generations, strict=True)
        ]
        messages: list[Any] = [decode(frame) for frame in request.requests]
        shown_keys = [
            key
            for (rows, _), message in zip(opened, messages, strict=True)
            for key in _shown_keys(rows, message)
        ]
        self._connect()[1].texts(shown_keys)  # one read for all of them
        return Answers(
            tuple(
                encode(handlers[type(message)](message))
                for (_, handlers), message in zip(opened, messages, strict=True)
            )
        )

    def close(self) -> None:
        if self._collection is not None:
            self._collection.close()

    def _connect(self) -> tuple[Collection, Fetched]:
        if self._collection is None or self._fetched is None:
            patience_s = max(ASK_S, self._config.server.deadline_s / 2)
            self._collection = Collection(milvus_place(self._config), patience_s)
            prune_folder(self._folder, (), UNASKED_S)
            self._fetched = Fetched(self._collection)
        return self._collection, self._fetched

    def _rows_of(self, name: str, number: int) -> Rows:
        state = self._states.get(name)
        if state is None or number not in state.rows:
            self._bring((name,))  # the other worker of this set may have found a newer one
            state = self._states[name]
        if number not in state.rows:
            raise NotReady(f"The index of {name} in Milvus has moved on; ask again in a second.")
        return state.rows[number]

    def _open_joined(self, members: tuple[tuple[str, int], ...]) -> Handlers:
        handlers = self._joined.pop(members, None)
        if handlers is None:
            missing = [name for name, number in members if not self._has_generation(name, number)]
            # Mostly the other worker of this set has them on the disk; a request does not wait for
            # all.
            self._bring(missing, within_s=OPEN_SHARE * self._config.server.deadline_s)
            if late := [name for name in missing if self._states[name].is_behind]:
                raise NotReady(self._states[late[0]].why)
            parts = [self._rows_of(name, number) for name, number in members]
            collection, fetched = self._connect()
            numbers = [number for _, number in members]
            scope = ProjectScope(tuple(name for name, _ in members), min(numbers), max(numbers))
            rows = join_rows(parts, scope, fetched)
            searcher = RowSearcher(collection, rows, is_current=True)
            handlers = open_handlers(searcher, ExactSnapshot(searcher), takes_unnamed=self._takes_unnamed)
        self._joined[members] = handlers
        while len(self._joined) > JOINED_MAX:
            self._joined.popitem(last=False)
        return handlers

    def _open_one(self, name: str, number: int) -> tuple[RemoteRows, Handlers]:
        opened = self._apart.pop((name, number), None)
        if opened is None:
            rows = make_remote_rows(self._rows_of(name, number), self._connect()[1], name)
            opened = rows, chunk_handlers(rows)
        self._apart[name, number] = opened
        while len(self._apart) > APART_MAX:
            self._apart.popitem(last=False)
        return opened

    def _has_generation(self, name: str, number: int) -> bool:
        return name in self._states and number in self._states[name].rows

    def _bring(self, names: Sequence[str], seen_s: float = 0.0, within_s: float = 0.0) -> None:
        """Check for current generations of `names` that were not checked for `seen_s` seconds, and
        download them. After `within_s` seconds the rest is left to a later request; 0: no bound.
        """
        began = time.monotonic()
        collection, _ = self._connect()
        due = [
            name
            for name in dict.fromkeys(names)
            if name not in self._states or began - self._states[name].looked_at >= seen_s
        ]
        if due:
            self._look_up(collection, due, began)
            self._evict(set(names))
        behind = [name for name in dict.fromkeys(names) if self._states[name].is_behind]
        for at in range(0, len(behind), PORTION):
            if at and within_s and time.monotonic() - began >= within_s:
                for name in behind[at:]:
                    self._states[name].why = "It is being downloaded from Milvus; ask again in a few seconds."
                return
            self._fetch_generations(collection, behind[at : at + PORTION])

    def _look_up(self, collection: Collection, names: Sequence[str], now: float) -> None:
        documents = read_documents(collection, names)
        for name in names:
            state = self._states.setdefault(name, _ProjectState())
            document = documents.get(name)
            before, state.looked_at = state.document, now
            state.document = document if isinstance(document, Document) else None
            state.why = str(document) if isinstance(document, CortexError) else ""
            is_recreated = state.document and before and _is_recreated(state.document, before)
            if state.rows and (document is None or is_recreated):
                self._reset_project(state)
            if document is None:
                state.why = f"Milvus has no data of a project {name}: run `cortex index --to milvus` where its files are."

    def _reset_project(self, state: _ProjectState) -> None:
        """Forget the local state of a deleted project: a new project of that name may reuse numbers
        of generations and keys of rows.
        """
        state.rows.clear()
        state.files.clear()
        self.forget()
        self._fetched = Fetched(self._connect()[0])

    def _evict(self, names: set[str]) -> None:
        """Keep KEPT_MAX of the projects other than `names`: those checked last."""
        others = self._states.keys() - names
        oldest = sorted(others, key=lambda name: self._states[name].looked_at)
        for name in oldest[: max(0, len(others) - KEPT_MAX)]:
            del self._states[name]

    def _fetch_generations(self, collection: Collection, names: Sequence[str]) -> None:
        """Download and open the current generations of these projects. Failures are noted; a
        project that changes meanwhile is checked again.
        """
        wanted = [(name, self._states[name].document) for name in names]
        bodies = fetch_bodies(collection, [(name, document.body) for name, document in wanted if document])
        by_name: dict[str, tuple[Generation, dict[str, Ref]]] = {}
        for name, body in zip(names, bodies, strict=True):
            try:
                if isinstance(body, CortexError):
                    raise body
                generation = msgspec.convert(body.current, Generation)
                by_name[name] = generation, rows_files(body, generation)
                files.make_folder(self._folder_of(name))
                files.replace(self._folder_of(name) / _STAMP_FILE, b"")
            except (CortexError, OSError, msgspec.ValidationError) as error:
                by_name.pop(name, None)
                self._note_failure(name, error)
        places = [
            (name, self._folder_of(name) / "segments" / file_name, ref)
            for name, (_, refs) in by_name.items()
            for file_name, ref in refs.items()
        ]
        gone = bring_files(collection, places)
        for name, (generation, refs) in by_name.items():
            try:
                if name in gone:
                    raise gone[name]
                self._open_generation(name, generation, frozenset(refs))
            except (CortexError, OSError) as error:
                self._note_failure(name, error)

    def _open_generation(self, name: str, generation: Generation, file_names: frozenset[str]) -> None:
        """Open the generation, after its files were downloaded. Raises NotFound, Damaged."""
        state, folder = self._states[name], self._folder_of(name)
        state.rows[generation.number] = open_rows(generation, folder, state.rows.get(state.generation))
        state.files[generation.number] = file_names
        for number in sorted(state.rows)[:-GENERATIONS]:
            del state.rows[number], state.files[number]
        # Young files stay: the other worker of this set may have downloaded them for a generation
        # that this one does not know yet.
        prune_folder(folder / "segments", frozenset().union(*state.files.values()))

    def _folder_of(self, name: str) -> Path:
        return self._folder / hashlib.sha256(name.encode()).hexdigest()[:_FOLDER_CHARS]

    def _note_failure(self, name: str, error: Exception) -> None:
        """Note a failed download: the next request checks again."""
        state = self._states[name]
        state.looked_at, state.why = 0.0, str(error)
        if not isinstance(error, NotFound):
            log.warning("%s in Milvus: %s", name, error)


def _is_recreated(document: Document, before: Document) -> bool:
    """Whether the project was removed and published again since `before`."""
    if document.generation == before.generation:
        return document.body != before.body
    return document.generation < before.generation


def _shown_keys(rows: Any, message: Any) -> list[str]:
    """The primary keys of rows to read for an answer: all lines of files with a hit."""
    if not isinstance(message, Show):
        return []
    ordinals = rows.locate(np.array(message.keys, "<u8"))
    ordinals = ordinals[ordinals >= 0]
    file_rows = [rows.lines_of(at) for at in np.unique(rows.columns["path"][ordinals]).tolist()]
    every = np.unique(np.concatenate([ordinals, *file_rows]))
    primary_keys: list[str] = rows.scope.primary_keys(rows.keys[every].tolist())
    return primary_keys
