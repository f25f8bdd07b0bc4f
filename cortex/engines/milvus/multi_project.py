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
from cortex.engines.milvus.rows import FarRows, Fetched, far
from cortex.engines.milvus.scope import Scope
from cortex.engines.milvus.searches import Asking
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
_ASKED = "asked"
#: why a project is not asked of which an empty generation is published
_EMPTY = "What Milvus has of it holds no text."
#: characters of the name of a project's folder
_FOLDER_CHARS = 16


@dataclass
class _Known:
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
    def asked(self) -> int:
        """The newest that is here, while its rows are surely in Milvus: it is the current one or
        the one before; else 0.
        """
        published = self.document.published if self.document is not None else {}
        return self.generation if self.generation in sorted(published)[-2:] else 0

    @property
    def is_behind(self) -> bool:
        return self.document is not None and self.document.generation not in self.rows


class Many:
    """Answers Bring, Among and Apart. Used by one thread; opens nothing before it is asked."""

    def __init__(self, config: Config, prepare: Callable[[Any], Any] = lambda message: message) -> None:
        """`prepare`: makes of a question one that the engine answers."""
        self._config, self._prepare = config, prepare
        self._folder = config.index_dir / "others"
        self._takes_unnamed = config.embedding.provider != "static"
        self._known: dict[str, _Known] = {}
        self._joined: OrderedDict[tuple[tuple[str, int], ...], Handlers] = OrderedDict()
        self._apart: OrderedDict[tuple[str, int], tuple[FarRows, Handlers]] = OrderedDict()
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
        known = [self._known[name] for name in request.projects]
        return Brought(
            generations=tuple(one.asked for one in known),
            rows=tuple(one.rows[one.asked].live_count if one.asked else 0 for one in known),
            why=tuple("" if one.asked else one.why or _EMPTY for one in known),
        )

    def among(self, request: Among) -> Message:
        """What is answered of all as of one. Raises NotReady for a generation that is not here."""
        opened = self._open(tuple(zip(request.projects, request.generations, strict=True)))
        message: Any = self._prepare(decode(request.request[0]))
        return opened[type(message)](message)

    def apart(self, request: Apart) -> Answers:
        """What each project answers to the one that is for it; what all of them show is read at
        once.
        """
        opened = [self._open_one(*one) for one in zip(request.projects, request.generations, strict=True)]
        asked: list[Any] = [decode(frame) for frame in request.requests]
        shown = [key for (rows, _), one in zip(opened, asked, strict=True) for key in _shown(rows, one)]
        self._place()[1].bring(shown)
        return Answers(
            tuple(encode(handlers[type(one)](one)) for (_, handlers), one in zip(opened, asked, strict=True))
        )

    def close(self) -> None:
        if self._collection is not None:
            self._collection.close()

    def _place(self) -> tuple[Collection, Fetched]:
        if self._collection is None or self._fetched is None:
            patience_s = max(ASK_S, self._config.server.deadline_s / 2)
            self._collection = Collection(milvus_place(self._config), patience_s)
            prune_folder(self._folder, (), UNASKED_S)
            self._fetched = Fetched(self._collection)
        return self._collection, self._fetched

    def _rows(self, name: str, number: int) -> Rows:
        known = self._known.get(name)
        if known is None or number not in known.rows:
            self._bring((name,))  # the other worker of this set may have looked since
            known = self._known[name]
        if number not in known.rows:
            raise NotReady(f"The index of {name} in Milvus has moved on; ask again in a second.")
        return known.rows[number]

    def _open(self, asked: tuple[tuple[str, int], ...]) -> Handlers:
        handlers = self._joined.pop(asked, None)
        if handlers is None:
            missing = [name for name, number in asked if not self._has(name, number)]
            # The other worker of this set has them on the disk, mostly; no question waits for all.
            self._bring(missing, within_s=OPEN_SHARE * self._config.server.deadline_s)
            if late := [name for name in missing if self._known[name].is_behind]:
                raise NotReady(self._known[late[0]].why)
            parts = [self._rows(name, number) for name, number in asked]
            collection, fetched = self._place()
            numbers = [number for _, number in asked]
            scope = Scope(tuple(name for name, _ in asked), min(numbers), max(numbers))
            rows = join_rows(parts, scope, fetched)
            asking = _Together(collection, rows)
            handlers = open_handlers(asking, ExactSnapshot(asking), takes_unnamed=self._takes_unnamed)
        self._joined[asked] = handlers
        while len(self._joined) > JOINED_MAX:
            self._joined.popitem(last=False)
        return handlers

    def _open_one(self, name: str, number: int) -> tuple[FarRows, Handlers]:
        opened = self._apart.pop((name, number), None)
        if opened is None:
            rows = far(self._rows(name, number), self._place()[1], name)
            opened = rows, chunk_handlers(rows)
        self._apart[name, number] = opened
        while len(self._apart) > APART_MAX:
            self._apart.popitem(last=False)
        return opened

    def _has(self, name: str, number: int) -> bool:
        return name in self._known and number in self._known[name].rows

    def _bring(self, names: Sequence[str], seen_s: float = 0.0, within_s: float = 0.0) -> None:
        """Look at what is current of those of `names` that were not looked at for `seen_s` seconds,
        and bring it; what is not here after `within_s` seconds is brought by a later question. 0
        seconds: all of it.
        """
        began = time.monotonic()
        collection, _ = self._place()
        due = [
            name
            for name in dict.fromkeys(names)
            if name not in self._known or began - self._known[name].looked_at >= seen_s
        ]
        if due:
            self._look(collection, due, began)
            self._let_go(set(names))
        behind = [name for name in dict.fromkeys(names) if self._known[name].is_behind]
        for at in range(0, len(behind), PORTION):
            if at and within_s and time.monotonic() - began >= within_s:
                for name in behind[at:]:
                    self._known[name].why = "It is being brought from Milvus; ask again in a few seconds."
                return
            self._take(collection, behind[at : at + PORTION])

    def _look(self, collection: Collection, names: Sequence[str], now: float) -> None:
        documents = read_documents(collection, names)
        for name in names:
            known = self._known.setdefault(name, _Known())
            found = documents.get(name)
            before, known.looked_at = known.document, now
            known.document = found if isinstance(found, Document) else None
            known.why = str(found) if isinstance(found, CortexError) else ""
            anew = known.document and before and _is_anew(known.document, before)
            if known.rows and (found is None or anew):
                self._begin_anew(known)
            if found is None:
                known.why = f"Milvus has nothing of a project {name}: run `cortex index --to milvus` where its files are."

    def _begin_anew(self, known: _Known) -> None:
        """Forget what is here of a project that is gone: numbers of generations and keys of rows
        may be given a second time.
        """
        known.rows.clear()
        known.files.clear()
        self.forget()
        self._fetched = Fetched(self._place()[0])

    def _let_go(self, names: set[str]) -> None:
        """Of those beside `names`, that are being asked, keep KEPT_MAX: the last looked at."""
        others = self._known.keys() - names
        oldest = sorted(others, key=lambda name: self._known[name].looked_at)
        for name in oldest[: max(0, len(others) - KEPT_MAX)]:
            del self._known[name]

    def _take(self, collection: Collection, names: Sequence[str]) -> None:
        """Bring what is current of these projects, and open it. Of one that cannot be read it is
        noted why; one that goes on meanwhile is looked at again.
        """
        wanted = [(name, self._known[name].document) for name in names]
        bodies = fetch_bodies(collection, [(name, document.body) for name, document in wanted if document])
        named: dict[str, tuple[Generation, dict[str, Ref]]] = {}
        for name, body in zip(names, bodies, strict=True):
            try:
                if isinstance(body, CortexError):
                    raise body
                generation = msgspec.convert(body.current, Generation)
                named[name] = generation, rows_files(body, generation)
                files.make_folder(self._folder_of(name))
                files.replace(self._folder_of(name) / _ASKED, b"")
            except (CortexError, OSError, msgspec.ValidationError) as error:
                named.pop(name, None)
                self._forget(name, error)
        places = [
            (name, self._folder_of(name) / "segments" / one, ref)
            for name, (_, refs) in named.items()
            for one, ref in refs.items()
        ]
        gone = bring_files(collection, places)
        for name, (generation, refs) in named.items():
            try:
                if name in gone:
                    raise gone[name]
                self._keep(name, generation, frozenset(refs))
            except (CortexError, OSError) as error:
                self._forget(name, error)

    def _keep(self, name: str, generation: Generation, of: frozenset[str]) -> None:
        """Open the generation, whose files `of` are here. Raises NotFound, Damaged."""
        known, folder = self._known[name], self._folder_of(name)
        known.rows[generation.number] = open_rows(generation, folder, known.rows.get(known.generation))
        known.files[generation.number] = of
        for number in sorted(known.rows)[:-GENERATIONS]:
            del known.rows[number], known.files[number]
        # Young ones stay: the other worker of this set may have brought them for a generation that
        # this one knows nothing of yet.
        prune_folder(folder / "segments", frozenset().union(*known.files.values()))

    def _folder_of(self, name: str) -> Path:
        return self._folder / hashlib.sha256(name.encode()).hexdigest()[:_FOLDER_CHARS]

    def _forget(self, name: str, error: Exception) -> None:
        """It cannot be brought now: another look is due with the next question."""
        known = self._known[name]
        known.looked_at, known.why = 0.0, str(error)
        if not isinstance(error, NotFound):
            log.warning("%s in Milvus: %s", name, error)


class _Together(Asking):
    """As `Asking`; which generations are current is looked at before each question."""

    def look(self) -> None:
        """Nothing: see `Many._bring`."""


def _is_anew(document: Document, before: Document) -> bool:
    """Whether the project was removed and published once more since `before`."""
    if document.generation == before.generation:
        return document.body != before.body
    return document.generation < before.generation


def _shown(rows: Any, message: Any) -> list[str]:
    """The primary keys of what is read for an answer: the lines of all files that have a hit."""
    if not isinstance(message, Show):
        return []
    ordinals = rows.locate(np.array(message.keys, "<u8"))
    ordinals = ordinals[ordinals >= 0]
    own = [rows.lines_of(at) for at in np.unique(rows.columns["path"][ordinals]).tolist()]
    every = np.unique(np.concatenate([ordinals, *own]))
    found: list[str] = rows.scope.primary_keys(rows.keys[every].tolist())
    return found
