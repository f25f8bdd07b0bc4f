"""The units of one generation: the best ones for a question, and those at a place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import tantivy
from tantivy import Occur, Query

from cortex.engines.text.index.checksums import raising_damaged
from cortex.engines.text.index.unit_index import ASIDE, CODE, make_unit_schema
from cortex.engines.text.index.writer import open_to_read
from cortex.engines.text.limits import MASK_SHARE
from cortex.engines.text.signals import read_lane_words
from cortex.generation.filters import MASKS_MAX
from cortex.generation.read import Rows
from cortex.query.check import check_query
from cortex.system.arrays import Array
from cortex.terms.ids import keys_of
from ipc.messages import UNIT_SIGNALS, Filters, UnitHits, UnitsAt, UnitSearch

#: the weight of each field in the order of units
WEIGHTS = dict(zip(UNIT_SIGNALS, (1.0, 2.0, 0.5, 1.0), strict=True))
#: most units of one answer
LIMIT_MAX = 1_000
#: units of one file that `at` reads
FILE_UNITS_MAX = 20_000
#: units that each field is searched for, as a multiple of the units of the answer
_FIELD_FETCH = 5

#: a document: its tantivy segment and its number there
_Place = tuple[int, int]


def open_units(folder: Path, rows: Rows) -> UnitSnapshot:
    """Open a generation folder of UnitWriter. Raises NotFound or Damaged."""
    index = open_to_read(folder, may_be_empty=not len(rows), schema=make_unit_schema)
    with raising_damaged(folder):
        return UnitSnapshot(index, rows)


class UnitSnapshot:
    """One generation of the index of units with its rows. Frozen; caches hold derived values."""

    def __init__(self, index: tantivy.Index, rows: Rows) -> None:
        self._schema = index.schema
        self._searcher = index.searcher()
        self._rows = rows
        #: filters → the keys of the files that pass, sorted, and a query for them
        self._files: dict[Filters, tuple[Array, Query | None]] = {}

    def search(self, request: UnitSearch) -> UnitHits:
        """Answer with the units that have the best weighted sum of BM25. Raises BadQuery for an
        empty query, BadRequest for a malformed filter.
        """
        check_query(request.query)
        words = read_lane_words(request.query)
        queries = {
            name: Query.boolean_query(
                [(Occur.Should, Query.term_query(self._schema, name, word, "freq")) for word in words]
            )
            for name in UNIT_SIGNALS
        }
        addresses: list[tantivy.DocAddress] = []
        values: list[Array] = [np.zeros((len(UNIT_SIGNALS), 0), np.float32)]
        for kind, count in ((CODE, request.limit), (ASIDE, request.aside)):
            limit = min(count, LIMIT_MAX)
            if limit < 1:
                continue
            only = self._only(kind)
            hits = self._find_best(queries, limit, request.filters, only)
            values.append(self._score_fields(queries, hits, limit, only))
            addresses += [address for _, address in hits]
        return self._answer(addresses, np.concatenate(values, axis=1), UNIT_SIGNALS)

    def _only(self, kind: str) -> tuple[Occur, Query]:
        """Return the clause of a query that admits units of the class `kind`."""
        return Occur.Must, Query.const_score_query(
            Query.term_query(self._schema, "class", kind, "basic"), 0.0
        )

    def at(self, request: UnitsAt) -> UnitHits:
        """Answer with the units at the places."""
        units: list[bytes] = []
        for place in request.places:
            query = Query.term_query(self._schema, "source", place.path, "basic")
            hits = self._searcher.search(query, FILE_UNITS_MAX, count=False).hits
            blobs = [self._read(address) for _, address in hits]
            spans = [orjson.loads(blob) for blob in blobs]
            order = sorted(range(len(blobs)), key=lambda at: (spans[at]["start"], -spans[at]["end"]))
            if place.line:
                order = _choose_at(place.line, spans, order)
            units += [blobs[at] for at in order]
        return UnitHits(self._rows.generation, (), np.zeros((0, len(units)), np.float32), tuple(units))

    def _answer(
        self, addresses: Sequence[tantivy.DocAddress], values: Array, names: tuple[str, ...]
    ) -> UnitHits:
        return UnitHits(self._rows.generation, names, values, tuple(map(self._read, addresses)))

    def _read(self, address: tantivy.DocAddress) -> bytes:
        return bytes(self._searcher.doc(address).get_first("json") or b"")

    def _find_best(
        self, queries: dict[str, Query], limit: int, filters: Filters, clause: tuple[Occur, Query]
    ) -> list[tuple[float, tantivy.DocAddress]]:
        query = Query.boolean_query(
            [(Occur.Should, Query.boost_query(query, WEIGHTS[name])) for name, query in queries.items()]
        )
        query = Query.boolean_query([(Occur.Must, query), clause])
        if filters == Filters():
            return self._searcher.search(query, limit, count=False).hits
        files, only = self._passing_files(filters)
        if not len(files):
            return []
        if only is not None:
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, only)])
            return self._searcher.search(query, limit, count=False).hits
        fetch = int(limit / MASK_SHARE) + 1
        while True:
            hits = self._searcher.search(query, fetch, count=False).hits
            keys = np.array(
                self._searcher.fast_field_values("file", [address for _, address in hits]), np.uint64
            )
            passing = np.flatnonzero(np.isin(keys, files)).tolist()
            if len(hits) < fetch or len(passing) >= limit:
                return [hits[at] for at in passing[:limit]]
            fetch *= 4

    def _passing_files(self, filters: Filters) -> tuple[Array, Query | None]:
        """Return the keys of the files with a chunk that passes the filters, and a query for their
        units; None if most files pass: their paths in a query take longer than a mask over hits.
        """
        if filters not in self._files:
            if len(self._files) >= MASKS_MAX:
                self._files.clear()
            names = self._rows.path_names
            numbers = np.unique(self._rows.columns["path"][self._rows.mask(filters)]).tolist()
            paths = [names[number] for number in numbers]
            only = None
            if len(paths) < MASK_SHARE * len(names):
                only = Query.const_score_query(Query.term_set_query(self._schema, "source", paths), 0.0)
            self._files[filters] = np.sort(keys_of(paths)), only
        return self._files[filters]

    def _score_fields(
        self,
        queries: dict[str, Query],
        hits: Sequence[tuple[float, tantivy.DocAddress]],
        limit: int,
        clause: tuple[Occur, Query],
    ) -> Array:
        """Return float32 [fields, hits]: BM25 of each field.

        A unit among the best of a field has its score there, and one of the others is 0 if the
        field has no more. The sum of a hit is known, so a single missing score is the rest; several
        share the rest by the least score that each field's search returned.
        """
        places: dict[_Place, int] = {(a.segment_ord, a.doc): at for at, (_, a) in enumerate(hits)}
        values = np.zeros((len(queries), len(hits)))
        bounds = np.zeros_like(values)
        weights = np.array([[WEIGHTS[name]] for name in queries])
        fetch = limit * _FIELD_FETCH
        for row, field_query in enumerate(queries.values()):
            query = Query.boolean_query([(Occur.Must, field_query), clause])
            best = self._searcher.search(query, fetch, count=False).hits if hits else []
            if len(best) == fetch:
                bounds[row] = best[-1][0]
            for score, address in best:
                at = places.get((address.segment_ord, address.doc))
                if at is not None:
                    values[row, at] = score
                    bounds[row, at] = 0.0
        sums = np.array([score for score, _ in hits])
        rest = np.maximum(0.0, sums - (weights * values).sum(axis=0))
        shares = weights * bounds
        shares /= np.maximum(shares.sum(axis=0), 1e-9)
        values += np.minimum(shares * rest / weights, bounds)
        return values.astype(np.float32)


def _choose_at(line: int, spans: Sequence[dict[str, Any]], order: Sequence[int]) -> list[int]:
    """Return the unit with `line`, else the innermost around it (a blank line), else none."""
    around: list[int] = []
    for at in order:
        if any(first <= line <= last for first, last in spans[at]["ranges"]):
            return [at]
        if spans[at]["start"] <= line <= spans[at]["end"]:
            around = [at]
    return around
