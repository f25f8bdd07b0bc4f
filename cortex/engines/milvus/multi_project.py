"""Several projects of one place asked as one: what is current of each is read at once, its small
files are brought here, and their rows are searched together, by one search for each lane.

Made by a worker whose own project is one of them. Numbers of searches and of processes do not grow
with the projects; what is brought of a project does, once for each of its generations.
"""

from __future__ import annotations

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
from cortex.engines.milvus.collection import ASK_S, Collection
from cortex.engines.milvus.documents import Document, Ref, fetch_bodies, read_documents
from cortex.engines.milvus.downloads import bring_files, rows_files
from cortex.engines.milvus.engine import open_handlers
from cortex.engines.milvus.exact import ExactSnapshot
from cortex.engines.milvus.joined_rows import join_rows
from cortex.engines.milvus.rows import Fetched, RemoteRows, make_remote_rows
from cortex.engines.milvus.scope import ProjectScope
from cortex.engines.milvus.searches import RowSearcher
from cortex.engines.protocol import Handlers
from cortex.generation.current import Generation, prune_folder
from cortex.generation.read import Rows, open_rows
from cortex.settings.config import Config
from cortex.settings.milvus import milvus_place
from cortex.system import allocator, files
from cortex.system.errors import CortexError, NotFound, NotReady
from ipc.codec import decode, encode
from ipc.messages import Among, Answers, Apart, Bring, Brought, Message, Show

log = logging.getLogger(__name__)

#: seconds between two looks at what is current of a project, as for one that is asked alone
LOOK_S = 2.0
#: projects whose files are brought at once: between two portions it is looked at the time
PORTION = 32
#: what bringing what another worker has told of gets of a call's time: all others wait meanwhile
OPEN_SHARE = 0.25
#: sets of projects that are kept as one, and projects that are kept beside those
JOINED_MAX, KEPT_MAX = 2, 2_000
#: projects whose lines are shown that are kept open: their files' texts are in there
APART_MAX = 24
#: generations of a project that are kept: who asks for the last but one has just been told of it
GENERATIONS = 2
#: seconds after which what was brought of a project is removed that nobody has asked since
UNASKED_S = 30 * 86_400.0
#: what says in a project's folder when it was asked: that is the folder's time then
_STAMP_FILE = "asked"
#: why a project is not asked of which an empty generation is published
_EMPTY = "What Milvus has of it holds no text."
#: characters of the name of a project's folder
_FOLDER_CHARS = 16


@dataclass
class _ProjectState:
    """What is here of a project. `rows`: the last generations, by their numbers."""

    document: Document | None = None
    why: str = ""
    rows: dict[int, Rows] = field(default_factory=dict)
    #: what lies here of each of them
    files: dict[int, frozenset[str]] = field(default_factory=dict)
    looked_at: float = 0.0

    @property
    def generation(self) -> int:
        """The newest that is here; 0 for none."""
        return max(self.rows, default=0)

    @property
    def askable(self) -> int:
        """The newest that is here, while its rows are surely in Milvus: it is the current one or
        the one before; else 0.
        """
        published = self.document.published if self.document is not None else {}
        return self.generation if self.generation in sorted(published)[-2:] else 0

    @property
    def is_behind(self) -> bool:
        return self.document is not None and self.document.generation not in self.rows


class MultiProjectHandler:
    """Answers Bring, Among and Apart. Used by one thread; opens nothing before it is asked."""

    def __init__(self, config: Config, prepare: Callable[[Any], Any] = lambda message: message) -> None:
        """`prepare`: makes of a question one that the engine answers."""
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
        """The tables of all as of one are made again when somebody asks; what they are made of
        stays, mapped from files.
        """
        self._joined.clear()
        self._apart.clear()

    @property
    def handlers(self) -> dict[type, Callable[[Any], Message]]:
        return {Bring: self.bring, Among: self.among, Apart: self.apart}

    def bring(self, request: Bring) -> Brought:
        """The generation of each project that can be asked now, 0 where there is none, and then
        why. Raises Unavailable where Milvus is away, Misconfigured.
        """
        self._bring(request.projects, LOOK_S, request.within_s)
        states = [self._states[name] for name in request.projects]
        return Brought(
            generations=tuple(state.askable for state in states),
            rows=tuple(state.rows[state.askable].live_count if state.askable else 0 for state in states),
            why=tuple("" if state.askable else state.why or _EMPTY for state in states),
        )

    def among(self, request: Among) -> Message:
        """What is answered of all as of one. Raises NotReady for a generation that is not here."""
        opened = self._open_joined(tuple(zip(request.projects, request.generations, strict=True)))
        message: Any = self._prepare(decode(request.request[0]))
        return opened[type(message)](message)

    def apart(self, request: Apart) -> Answers:
        """What each project answers to the one that is for it; what all of them show is read at
        once.
        """
        opened = [
            self._open_one(*target) for target in zip(request.projects, request.generations, strict=True)
        ]
        messages: list[Any] = [decode(frame) for frame in request.requests]
        shown_keys = [
            key
            for (rows, _), message in zip(opened, messages, strict=True)
            for key in _shown_keys(rows, message)
        ]
        self._connect()[1].bring(shown_keys)
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
            self._bring((name,))  # the other worker of this set may have looked since
            state = self._states[name]
        if number not in state.rows:
            raise NotReady(f"The index of {name} in Milvus has moved on; ask again in a second.")
        return state.rows[number]

    def _open_joined(self, members: tuple[tuple[str, int], ...]) -> Handlers:
        handlers = self._joined.pop(members, None)
        if handlers is None:
            missing = [name for name, number in members if not self._has_generation(name, number)]
            # The other worker of this set has them on the disk, mostly; no question waits for all.
            self._bring(missing, within_s=OPEN_SHARE * self._config.server.deadline_s)
            if late := [name for name in missing if self._states[name].is_behind]:
                raise NotReady(self._states[late[0]].why)
            parts = [self._rows_of(name, number) for name, number in members]
            collection, fetched = self._connect()
            numbers = [number for _, number in members]
            scope = ProjectScope(tuple(name for name, _ in members), min(numbers), max(numbers))
            rows = join_rows(parts, scope, fetched)
            searcher = _MultiProjectSearcher(collection, rows)
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
        """Look at what is current of those of `names` that were not looked at for `seen_s` seconds,
        and bring it; what is not here after `within_s` seconds is brought by a later question. 0
        seconds: all of it.
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
                    self._states[name].why = "It is being brought from Milvus; ask again in a few seconds."
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
        """Forget what is here of a project that is gone: numbers of generations and keys of rows
        may be given a second time.
        """
        state.rows.clear()
        state.files.clear()
        self.forget()
        self._fetched = Fetched(self._connect()[0])

    def _evict(self, names: set[str]) -> None:
        """Of those beside `names`, that are being asked, keep KEPT_MAX: the last looked at."""
        others = self._states.keys() - names
        oldest = sorted(others, key=lambda name: self._states[name].looked_at)
        for name in oldest[: max(0, len(others) - KEPT_MAX)]:
            del self._states[name]

    def _fetch_generations(self, collection: Collection, names: Sequence[str]) -> None:
        """Bring what is current of these projects, and open it. Of one that cannot be read it is
        noted why; one that goes on meanwhile is looked at again.
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
        """Open the generation, whose files `of` are here. Raises NotFound, Damaged."""
        state, folder = self._states[name], self._folder_of(name)
        state.rows[generation.number] = open_rows(generation, folder, state.rows.get(state.generation))
        state.files[generation.number] = file_names
        for number in sorted(state.rows)[:-GENERATIONS]:
            del state.rows[number], state.files[number]
        # Young ones stay: the other worker of this set may have brought them for a generation that
        # this one knows nothing of yet.
        prune_folder(folder / "segments", frozenset().union(*state.files.values()))

    def _folder_of(self, name: str) -> Path:
        return self._folder / hashlib.sha256(name.encode()).hexdigest()[:_FOLDER_CHARS]

    def _note_failure(self, name: str, error: Exception) -> None:
        """It cannot be brought now: another look is due with the next question."""
        state = self._states[name]
        state.looked_at, state.why = 0.0, str(error)
        if not isinstance(error, NotFound):
            log.warning("%s in Milvus: %s", name, error)


class _MultiProjectSearcher(RowSearcher):
    """As `QueryContext`; which generations are current is looked at before each question."""

    def look(self) -> None:
        """Nothing: see `Many._bring`."""


def _is_recreated(document: Document, before: Document) -> bool:
    """Whether the project was removed and published once more since `before`."""
    if document.generation == before.generation:
        return document.body != before.body
    return document.generation < before.generation


def _shown_keys(rows: Any, message: Any) -> list[str]:
    """The primary keys of what is read for an answer: the lines of all files that have a hit."""
    if not isinstance(message, Show):
        return []
    ordinals = rows.locate(np.array(message.keys, "<u8"))
    ordinals = ordinals[ordinals >= 0]
    file_rows = [rows.lines_of(at) for at in np.unique(rows.columns["path"][ordinals]).tolist()]
    every = np.unique(np.concatenate([ordinals, *file_rows]))
    primary_keys: list[str] = rows.scope.primary_keys(rows.keys[every].tolist())
    return primary_keys
