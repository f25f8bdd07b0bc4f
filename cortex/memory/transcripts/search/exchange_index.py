"""The index of exchanges: a tantivy index that follows the store by the number of the last change.
It can be deleted at any time.

New exchanges are searchable after the next commit, which a thread makes: it may take a second, and
no query waits for it.
"""

import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from sqlalchemy import Row, select
from tantivy import Occur, Query

from cortex.memory.find.word_index import holds_erased, mark_erased, open_index, reached
from cortex.memory.store.note_store import Store
from cortex.memory.store.records import Point
from cortex.memory.store.tables import CHANGE, EXCHANGE, SESSION
from cortex.memory.transcripts.intake import EXCHANGES
from cortex.system import files
from cortex.terms import tokens

log = logging.getLogger(__name__)

#: exchanges indexed in one step: some milliseconds
SLICE = 5
#: seconds of indexing at each tick of the clock: a query may wait for it
CATCH_UP_S = 0.02
#: seconds between two commits while sessions are read
COMMIT_S = 2.0
#: characters of an exchange that are indexed
CHARS_MAX = 200_000
#: uses of files, by whose names an exchange is found
_USES = ("read", "modified", "commits")
#: bytes that the writer collects before it writes a segment
_HEAP_BYTES = 30_000_000
#: field → weight of a match: the prompt best describes the subject
FIELDS = {"asked": 1.5, "all": 1.0}


@dataclass(frozen=True, slots=True)
class Hit:
    number: int
    score: float


class ExchangeIndex:
    """Searches exchanges by their words. Use it in one thread."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._index = open_index(folder, FIELDS, exact_fields=("project",))
        self._searcher = self._index.searcher()
        self._writer: tantivy.IndexWriter | None = None
        self._committing: threading.Thread | None = None
        self._committed = 0.0
        #: the last change that is indexed, or handed to the writer
        self.reached = reached(self._searcher)

    def _make_anew(self) -> None:
        self._writer = None
        files.remove_tree(self._folder)
        self._index = open_index(self._folder, FIELDS, exact_fields=("project",))
        self._searcher, self.reached = self._index.searcher(), Point()

    def close(self) -> None:
        self.commit(wait=True)

    @property
    def is_behind(self) -> bool:
        return self.reached != self._store.newest

    @property
    def has_work(self) -> bool:
        """Whether `catch_up` has changes to index or to commit."""
        return self.is_behind or self._writer is not None or self._committing is not None

    def follow(self) -> Iterator[None]:
        """Index the changes of the store, in slices; not while a thread commits."""
        self._end_commit(wait=False)
        if (
            self.is_behind
            and self._committing is None
            and self._store.point_at(self.reached.number) != self.reached
        ):
            self._make_anew()  # the store was restored
        while self.is_behind and self._committing is None:
            reached = self._store.newest
            with self._store.database.read() as connection:
                query = select(CHANGE.c.number, CHANGE.c.mark, CHANGE.c.of).where(
                    CHANGE.c.number > self.reached.number, CHANGE.c.what == EXCHANGES
                )
                changes = list(connection.execute(query.order_by(CHANGE.c.number).limit(SLICE)))
                numbers = {change.of: Point(change.number, change.mark) for change in changes}
                rows = list(
                    connection.execute(
                        select(EXCHANGE, SESSION.c.project)
                        .join(SESSION, SESSION.c.number == EXCHANGE.c.session)
                        .where(EXCHANGE.c.number.in_(numbers))
                    )
                )
            for row in rows:
                self._write(row, numbers[row.number])
            self._delete(sorted(numbers.keys() - {row.number for row in rows}))
            self.reached = Point(changes[-1].number, changes[-1].mark) if len(changes) == SLICE else reached
            yield

    def catch_up(self) -> None:
        """Called by the clock: index and commit a little of what is new, if anything."""
        until = time.monotonic() + CATCH_UP_S
        for _ in self.follow():
            if time.monotonic() >= until:
                break
        if self._writer is not None and time.monotonic() - self._committed >= COMMIT_S:
            self.commit()

    def make_anew(self) -> Iterator[None]:
        """Rebuild the index in slices, so that it holds no deleted exchange."""
        self._end_commit(wait=True)
        self._make_anew()
        yield from self.follow()
        self.commit()

    def mark_erased(self) -> None:
        mark_erased(self._folder)

    @property
    def holds_erased(self) -> bool:
        """Whether its files hold words of erased exchanges."""
        return holds_erased(self._folder)

    def _delete(self, numbers: Sequence[int]) -> None:
        erased = Query.term_set_query(self._index.schema, "number", numbers)
        if numbers and self._searcher.search(erased, 1).hits:
            self.mark_erased()
        for number in numbers if self._searcher.num_docs or self._writer else ():
            self._writer = self._writer or self._index.writer(_HEAP_BYTES, 1)
            self._writer.delete_documents_by_term("number", number)

    def _write(self, row: Row[Any], change: Point) -> None:
        if self._writer is None:
            self._writer = self._index.writer(_HEAP_BYTES, 1)
        names = (path.rpartition("/")[2] for use in _USES for path in row.files.get(use, ()))
        prompt, reply = row.user_text[:CHARS_MAX], row.assistant_text[:CHARS_MAX]
        self._writer.delete_documents_by_term("number", row.number)
        document = tantivy.Document()
        document.add_unsigned("number", row.number)
        document.add_unsigned("change", change.number)
        document.add_unsigned("mark", change.mark)
        document.add_text("project", row.project)
        document.add_text("asked", tokens.lane_text(tokens.words(prompt)))
        document.add_text("all", tokens.lane_text(tokens.words(" ".join((prompt, reply, *names)))))
        self._writer.add_document(document)

    def commit(self, *, wait: bool = False) -> None:
        """Make the indexed exchanges searchable, in a thread; `wait`: until it is done."""
        self._end_commit(wait=wait)
        if self._writer is None or self._committing is not None:
            return
        self._committing = threading.Thread(target=_commit, args=(self._writer,), daemon=True)
        self._writer = None
        self._committing.start()
        self._committed = time.monotonic()
        self._end_commit(wait=wait)

    def _end_commit(self, *, wait: bool) -> None:
        if self._committing is None or (self._committing.is_alive() and not wait):
            return
        self._committing.join()
        self._committing = None
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, words: Sequence[str], limit: int, *projects: str) -> list[Hit]:
        """The best exchanges that contain one of the words, in these projects; "" means all."""
        self._end_commit(wait=False)
        if not words:
            return []
        schema = self._index.schema
        clauses = [
            (Occur.Should, Query.boost_query(Query.term_query(schema, name, word, "freq"), worth))
            for name, worth in FIELDS.items()
            for word in words
        ]
        query = Query.boolean_query(clauses)
        if wanted := [project for project in projects if project]:
            in_projects = Query.const_score_query(Query.term_set_query(schema, "project", wanted), 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, in_projects)])
        try:
            hits = self._searcher.search(query, limit, count=False).hits
            numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        except (OSError, ValueError) as error:  # its files are damaged or gone
            log.warning("rebuilding the index of sessions: %s", error)
            self._make_anew()
            return []
        pairs = zip(np.array(numbers, np.int64).tolist(), hits, strict=True)
        return [Hit(number, float(score)) for number, (score, _) in pairs]

    def rarity(self, word: str) -> float:
        """The weight of the word by BM25's inverse document frequency."""
        count, holding = self._searcher.num_docs, self._searcher.doc_freq("all", word)
        return math.log(1 + (max(count, holding) - holding + 0.5) / (holding + 0.5))


def _commit(writer: tantivy.IndexWriter) -> None:
    try:
        writer.commit()
        writer.wait_merging_threads()
    except (OSError, ValueError):  # it is read again from the store at the next start
        log.exception("new exchanges could not be indexed")
