"""The engine over Milvus: the rows of a project in a collection of all projects. Each row has the
generations in which it was born and died. The token holds the generation of the last change of
rows, and their number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cortex.engines.chunks.handlers import ANSWERS, chunk_handlers
from cortex.engines.milvus.entries import continuation_entries, make_entry
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.rows import Fetched, make_remote_rows
from cortex.engines.milvus.scope import primary_key
from cortex.engines.milvus.searches import RowSearcher
from cortex.engines.milvus.storage.collection import FOREVER, WRITE_S, Collection
from cortex.engines.milvus.storage.removal import drop_rows
from cortex.engines.milvus.text_searches import ExactSnapshot, LaneSnapshot
from cortex.engines.protocol import Change, Engine, Feature, Handlers
from cortex.engines.vector.quantized import QuantizedVectors
from cortex.engines.vector.usearch import FilteredRows, VectorSnapshot
from cortex.generation.current import Generation
from cortex.generation.read import Published
from cortex.settings.config import Config
from cortex.system.arrays import Array
from cortex.system.errors import Damaged, NotReady
from ipc.messages import CountWords, ExactSearch, Filters, TextSignals, VectorSearch

_TOKEN = re.compile(r"([0-9]+)-([0-9]+)")


#: rows in the sample for the mean and deviation of all cosines: all rows, or always the same ones.
#: The mean of so many is off by a forty-fifth of the deviation
SAMPLE_ROWS = 2048
#: spreads row keys, which are consecutive: 2^64 / golden ratio
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Nearest(VectorSnapshot):
    """See `VectorSnapshot`; Milvus searches and scores."""

    searcher: RowSearcher | None = None

    def _compute_filtered(self, filters: Filters, model: str) -> FilteredRows:
        usable = self._usable_rows(model)
        mask = self.rows.mask(filters) & usable
        ordinals = np.flatnonzero(mask)
        spread = self.rows.keys[ordinals] * _SPREAD
        sample = self.rows.vectors(ordinals[np.argsort(spread, kind="stable")[:SAMPLE_ROWS]])
        return FilteredRows(int(np.count_nonzero(usable)), mask, ordinals, ordinals[:0], sample)

    def _uses_index(self, matching: int) -> bool:
        return matching > 0

    def _search_index(
        self, query: Array, filtered: FilteredRows, wanted: int
    ) -> tuple[Array, Array, dict[str, float]] | None:
        assert self.searcher is not None
        ordinals, scores = self.searcher.best("vector", query, filtered.mask, wanted, vectors=True)
        cosines = filtered.sample.astype(np.float32) @ query
        stats = {"cosine_mean": float(cosines.mean()), "cosine_std": float(cosines.std())}
        return ordinals, scores, stats


class MilvusEngine(Engine):
    """See `protocol.Engine`. Lacks expressions, which need trigrams of texts; Milvus has none. Rows
    are removed by the document's clock, see `cortex/engines/milvus/publishing/publisher`.
    """

    answers = (ExactSearch, TextSignals, CountWords, VectorSearch, *ANSWERS)
    lacks: frozenset[Feature] = frozenset({"expression"})

    def __init__(self, config: Config) -> None:
        self._config = config
        self._takes_unnamed = config.embedding.provider != "static"
        self._token = ""
        #: whether the next change replaces all rows
        self._anew = False
        self._cached_collection: Collection | None = None
        self._fetched: Fetched | None = None
        self._exact: ExactSnapshot | None = None

    @property
    def _collection(self) -> Collection:
        if self._cached_collection is None:
            self._cached_collection = Collection(
                milvus_place(self._config), WRITE_S if self._config.writes else 0.0
            )
        return self._cached_collection

    def resume(self, token: str) -> None:
        collection = self._collection
        collection.create_collections()
        self._token, self._anew = token, not token
        if not token:
            return
        number, rows = _parse_token(token)
        drop_rows(collection, f"born > {number}")
        undead = collection.keys(f"{collection.project} and died > {number} and died < {FOREVER}")
        collection.change(undead, FOREVER)
        if fault := _describe_missing(collection, number, rows):
            raise Damaged(fault)

    def build(self, change: Change) -> str:
        if change.added or change.deleted:
            collection, project = self._collection, self._collection.place.project
            if self._anew:
                old = f"{collection.project} and died == {FOREVER} and born < {change.number}"
                collection.change(collection.keys(old), change.number)
                self._anew = False
            gone = self._live_keys(change.deleted)
            collection.change(gone, change.number)
            collection.insert_parts(
                piece for row in change.added for piece in continuation_entries(project, row)
            )
            dimensions = collection.place.dimensions
            collection.insert(make_entry(project, row, change.number, dimensions) for row in change.added)
            # Counted here: milvus-lite reads all rows for a count. The publisher compares.
            before = _parse_token(self._token)[1] if self._token else 0
            self._token = f"{change.number}-{before + len(change.added) - len(gone)}"
        return self._token

    def _live_keys(self, keys: Sequence[int]) -> list[str]:
        """The primary keys of the live rows among those with these keys: only they can die."""
        collection = self._collection
        primary_keys = [primary_key(collection.place.project, key) for key in keys]
        return [row["pk"] for row in collection.get(primary_keys, ["pk", "died"]) if row["died"] == FOREVER]

    def upkeep(self, published: Published) -> str:  # noqa: ARG002
        return self._token

    def open(self, token: str, published: Published) -> Handlers:
        self._fetched = self._fetched or Fetched(self._collection)
        rows = make_remote_rows(published.rows, self._fetched, self._collection.place.project)
        if token and (fault := _describe_missing(self._collection, *_parse_token(token))):
            raise NotReady(fault)  # a reader has no files to build from
        searcher = RowSearcher(self._collection, rows)
        self._exact = ExactSnapshot(searcher, self._exact)
        return open_handlers(searcher, self._exact, takes_unnamed=self._takes_unnamed)

    def status(self, token: str, generation: Generation) -> dict[str, Any]:  # noqa: ARG002
        return {"rows": generation.rows, "model": generation.model, "milvus": self._config.plug_settings.uri}

    def close(self) -> None:
        if self._cached_collection is not None:
            self._cached_collection.close()


def open_handlers(searcher: RowSearcher, exact: ExactSnapshot, *, takes_unnamed: bool) -> Handlers:
    """Handlers that answer from the rows of `searcher`."""
    rows, lanes = searcher.rows, LaneSnapshot(searcher)
    near = Nearest(
        rows=rows,
        has_vector=rows.column("has_vector").astype(bool),
        hnsw=None,
        quantized=QuantizedVectors(()),
        watermark=0,
        takes_unnamed=takes_unnamed,
        searcher=searcher,
    )
    return {
        ExactSearch: exact.search,
        TextSignals: lanes.signals,
        CountWords: exact.count_words,
        VectorSearch: near.search,
        **chunk_handlers(rows),
    }


def _parse_token(token: str) -> tuple[int, int]:
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise Damaged(f"{token!r} names nothing in Milvus.")
    return int(match[1]), int(match[2])


def _describe_missing(collection: Collection, number: int, rows: int) -> str:
    """The sentence of the fault when rows of a generation are missing, else ""."""
    count, place = collection.count(collection.at(number)), collection.place
    if count == rows:
        return ""
    return (
        f"Milvus at {place.label} has {count} rows of generation {number} of {place.project}, and {rows} were written: "
        "run `cortex index --to milvus` where its files are, or correct milvus.project."
    )
