"""The ranking lanes of a question: the best chunks of each field. Ranking is elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import tantivy
from tantivy import Occur, Query

from cortex.engines.text import schema as schema_of
from cortex.engines.text.compile import filtered
from cortex.engines.text.limits import MASK_SHARE
from cortex.generation.read import Rows
from cortex.terms import tokens
from cortex.terms.records import covers
from ipc.arrays import Array
from ipc.messages import Filters

#: names of the lanes, in the order of the values
LANES = ("body", "path", "defs", "comments", "defx")
#: words of a question that are looked up; a longer one is a pasted text, and they tell enough
_WORDS_MAX = 64
#: value of defx for a type, a function, and the factor where only the folded name matches
#: (retrieval figures)
_TYPE, _FUNCTION, _FOLDED = 1.0, 0.5, 0.7

#: fields of every kind of chunk: they stand in for the lanes where no covering chunk is searched
_VIEW_FIELDS = {"body": "parts", "path": "file_path", "defs": "symbols"}

_NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.float32))

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->|/)[^\W\d]\w*)*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class Sieve:
    """How a lane is filtered: by `query` inside the search, or (when most rows pass) by `mask` over
    `rows` after it.

    A list of some thousand paths inside a query takes 7 ms for each lane, the mask next to nothing.
    """

    rows: Rows
    mask: Array
    query: Query | None

    @property
    def share(self) -> float:
        """The share of the rows that pass."""
        return float(self.mask.mean()) if len(self.mask) else 1.0


def make_sieve(rows: Rows, filters: Filters, query: Callable[[], Query | None]) -> Sieve:
    by_mask = Sieve(rows, rows.mask(filters), None)
    if filters == Filters() or by_mask.share >= MASK_SHARE:
        return by_mask
    return replace(by_mask, query=query())


def find_lanes(
    index: tantivy.Index, searcher: tantivy.Searcher, question: str, limit: int, sieves: tuple[Sieve, Array]
) -> tuple[Array, Array]:
    """(i64 [m] ordinals, float32 [lanes, m] values): the best `limit` chunks of each lane, 0 where
    a lane has none. `sieves`: the question's, and bool [all rows], the views that stand for their
    files.
    """
    schema = index.schema
    sieve, alone = sieves
    by_lanes = _has_lanes(sieve)
    found = [_NOTHING] * len(LANES)
    if by_lanes:
        words = tokens.lane_words(question)[:_WORDS_MAX]
        queries = {lane: _lane_query(schema, name, words) for lane, name in schema_of.LANE_FIELDS.items()}
        queries["defx"] = _defined(schema, question)
        found = [
            _best(searcher, query, limit, sieve) if (query := queries.get(lane)) else _NOTHING
            for lane in LANES
        ]
    views = replace(sieve, mask=sieve.mask & alone) if by_lanes else sieve
    if views.mask.any():
        words = tokens.part_words(question)[:_WORDS_MAX]
        for at, lane in enumerate(LANES):
            if (name := _VIEW_FIELDS.get(lane)) and (query := _lane_query(schema, name, words)):
                found[at] = _both(found[at], _best(searcher, query, limit, views))
    ordinals = np.unique(np.concatenate([ordinals for ordinals, _ in found]))
    values = np.zeros((len(LANES), len(ordinals)), np.float32)
    for row, (mine, scores) in enumerate(found):
        values[row, np.searchsorted(ordinals, mine)] = scores
    return ordinals, values


def _both(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))


def _has_lanes(sieve: Sieve) -> bool:
    """Whether a covering chunk passes the sieve: only those have lanes. A filter may ask for views
    alone, and chunk files of another program may hold nothing else.
    """
    names = sieve.rows.names["type"]
    covering = [at for at, name in enumerate(names) if covers(name)]
    return bool((np.isin(sieve.rows.columns["type"], covering) & sieve.mask).any())


def _best(searcher: tantivy.Searcher, query: Query, limit: int, sieve: Sieve) -> tuple[Array, Array]:
    """The best `limit` rows that pass the sieve: hits are fetched until there are enough."""
    fetch = limit if sieve.query is not None else int(limit / max(sieve.share, MASK_SHARE)) + 1
    while True:
        hits = searcher.search(filtered(query, sieve.query), fetch, count=False).hits
        keys = searcher.fast_field_values("key", [address for _, address in hits])
        ordinals = sieve.rows.locate(np.array(keys, np.uint64))
        kept = sieve.mask[ordinals] & (ordinals >= 0)
        if kept.sum() >= limit or len(hits) < fetch:
            scores = np.array([score for score, _ in hits], np.float32)
            return ordinals[kept][:limit], scores[kept][:limit]
        fetch *= 4


def _lane_query(schema: tantivy.Schema, name: str, words: list[str]) -> Query | None:
    if not words:
        return None
    return Query.boolean_query(
        [(Occur.Should, Query.term_query(schema, name, word, "freq")) for word in words]
    )


def _defined(schema: tantivy.Schema, question: str) -> Query | None:
    """What defines the last name of a question that is one identifier: types before functions,
    exact before folded.
    """
    if not _IDENTIFIER.fullmatch(question.strip()):
        return None
    name = tokens.words(question)[-1]
    ways = (
        (schema_of.DEFINED_TYPE + name, _TYPE),
        (schema_of.DEFINED_FUNCTION + name, _FUNCTION),
        (schema_of.FOLDED_TYPE + schema_of.fold_name(name), _TYPE * _FOLDED),
        (schema_of.FOLDED_FUNCTION + schema_of.fold_name(name), _FUNCTION * _FOLDED),
    )
    return Query.disjunction_max_query(
        [
            Query.const_score_query(Query.term_query(schema, "defx", term, "basic"), value)
            for term, value in ways
        ]
    )
