"""The ranking lanes of a free-text question: the best chunks of each field, aligned. The ranking itself is elsewhere."""

from __future__ import annotations

import re

import numpy as np
import tantivy
from tantivy import Occur, Query

from cortex.engines import text_schema as schema_of
from cortex.engines import text_tokens as tokens
from cortex.engines.query_compile import filtered
from ipc.messages import Array

#: names of the lanes, in the order of the values
LANES = ("body", "path", "defs", "comments", "defx")
#: words of a question that are looked up; a longer one is a pasted text, and its first words tell enough
_WORDS_MAX = 64
#: value of defx for a type, a function, and the factor where only the folded name matches (retrieval figures)
_TYPE, _FUNCTION, _FOLDED = 1.0, 0.5, 0.7

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->|/)[^\W\d]\w*)*(?:\(\))?")


def find_lanes(
    index: tantivy.Index, searcher: tantivy.Searcher, question: str, limit: int, kept: Query | None
) -> tuple[Array, Array]:
    """(u64 [m] row keys, float32 [lanes, m] values): the best `limit` chunks of each lane, 0 where a lane has none."""
    schema = index.schema
    words = tokens.lane_words(question)[:_WORDS_MAX]
    queries = {lane: _lane_query(schema, name, words) for lane, name in schema_of.LANE_FIELDS.items()}
    queries["defx"] = _defined(schema, question)
    columns: dict[int, int] = {}
    entries: list[tuple[int, int, float]] = []
    for row, lane in enumerate(LANES):
        query = queries[lane]
        if query is None:
            continue
        hits = searcher.search(filtered(query, kept), limit, count=False).hits
        keys = searcher.fast_field_values("key", [address for _, address in hits])
        for (score, _), key in zip(hits, keys, strict=True):
            assert isinstance(key, int)
            entries.append((row, columns.setdefault(key, len(columns)), score))
    values = np.zeros((len(LANES), len(columns)), np.float32)
    for row, column, score in entries:
        values[row, column] = score
    return np.array(list(columns), np.uint64), values


def _lane_query(schema: tantivy.Schema, name: str, words: list[str]) -> Query | None:
    if not words:
        return None
    return Query.boolean_query(
        [(Occur.Should, Query.term_query(schema, name, word, "freq")) for word in words]
    )


def _defined(schema: tantivy.Schema, question: str) -> Query | None:
    """What defines the last name of a question that is one identifier: types before functions, exact before folded."""
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
