"""Which documents match: all of them as a set, or the best with their scores. Between tantivy's keys and our rows.

Sets are remembered: the next page needs the same one, and queries for frequent words share theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

import numpy as np
import tantivy
from tantivy import Query

from cortex.engines.query_compile import compile_query
from cortex.engines.query_tree import All, Any, Boost, Node, Not, Term
from cortex.engines.text_fold import Found, Places
from cortex.engines.text_schema import BIT_FIELDS, BITS
from cortex.rows import Rows
from ipc.errors import BadRequest
from ipc.messages import Array

#: bytes of the sets that are remembered, one for each row and set, and the least number of sets
_SETS_BYTES, _SETS_MIN = 16 << 20, 16
#: slots of one answer; tantivy refuses more buckets
_SLOTS_MAX = 65_000
_SETS = {
    "slots": {
        "terms": {"field": "slot", "size": _SLOTS_MAX},
        "aggs": {name: {"sum": {"field": name}} for name in BIT_FIELDS},
    }
}


def count_of(result: tantivy.SearchResult) -> int:
    """How many documents matched; tantivy's stubs lack the attribute."""
    return int(result.count or 0)  # type: ignore[attr-defined]


class Matching:
    """Asks one searcher. Rows are named by their ordinals in a generation. Frozen; caches hold derived values only."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, rows: Rows) -> None:
        self._schema = schema
        self._searcher = searcher
        self._places = Places(rows)
        self._live = rows.live
        self._sets: dict[Node, Array] = {}
        self._sets_max = max(_SETS_BYTES // (len(rows) + 1), _SETS_MIN)

    def best(self, query: Query, limit: int) -> tuple[Found, int]:
        """(the best `limit` matches, best first, without those that are deleted; how many documents match)

        Raises ValueError for a query that tantivy gives up on.
        """
        result = self._searcher.search(query, limit, count=True)
        keys = self._searcher.fast_field_values("key", [address for _, address in result.hits])
        scores = np.array([score for score, _ in result.hits], np.float32)
        ordinals = self._places.locate(np.array(keys, np.uint64))
        live = ordinals >= 0
        return Found(ordinals[live], scores[live]), count_of(result)

    def every_of(self, node: Node) -> Array:
        """Bool [all rows]: all live rows that match. Raises ValueError as `best` does, BadRequest as `compile_query`."""
        terms = _terms_of(node)
        # What is not remembered costs as much as the whole query.
        if terms and sum(term not in self._sets for term in terms) <= 1:
            found = self._combined(node)
            if found is not None:
                return found
        return self._remembered(node, compile_query(node, self._schema))

    def _remembered(self, node: Node, query: Query) -> Array:
        found = self._sets.pop(node, None)
        if found is None:
            found = self.every(query)
            if len(self._sets) >= self._sets_max:
                del self._sets[next(iter(self._sets))]
        self._sets[node] = found  # the last one used goes last
        return found

    def _combined(self, node: Node) -> Array | None:
        """The set of a query of terms, from the sets of the terms: as compile_query joins them. None: no condition."""
        match node:
            case Boost(child=child):
                return self._combined(child)
            case Not(child=child):
                inner = self._combined(child)
                return None if inner is None else self._live & ~inner
            case All(children=children):
                return _joined(np.logical_and, map(self._combined, children))
            case Any(children=children, required=required, excluded=excluded):
                wanted = _joined(np.logical_and, map(self._combined, required))
                if wanted is None:
                    wanted = _joined(np.logical_or, map(self._combined, children))
                unwanted = _joined(np.logical_or, map(self._combined, excluded))
                if unwanted is None:
                    return wanted
                return (self._live if wanted is None else wanted) & ~unwanted
            case Term():
                leaf = replace(node, position=0)
                try:
                    return self._remembered(leaf, compile_query(leaf, self._schema))
                except BadRequest:  # punctuation only
                    return None
        return None

    def every(self, query: Query) -> Array:
        """Bool [all rows]: all live rows that match. Raises ValueError as `best` does."""
        slots = self._searcher.aggregate(query, _SETS)["slots"]
        if slots["sum_other_doc_count"]:  # keys so far apart that there are more slots than buckets
            hits = self._searcher.search(query, max(self._searcher.num_docs, 1), count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
            return self._places.mask(np.array(keys, np.uint64))
        buckets = slots["buckets"]
        numbers = np.array([bucket["key"] for bucket in buckets], np.uint64)
        bits = []
        for name in BIT_FIELDS:
            sums = np.array([bucket[name]["value"] for bucket in buckets], np.float64).astype("<u8")
            bits.append(
                np.unpackbits(sums.view(np.uint8).reshape(-1, 8), axis=1, count=BITS, bitorder="little")
            )
        return self._places.mask_of_bits(numbers, np.concatenate(bits, axis=1))


def _terms_of(node: Node) -> set[Term] | None:
    """The terms, without their positions, that a query consists of; None when it has anything else."""
    match node:
        case Boost(child=child) | Not(child=child):
            return _terms_of(child)
        case All(children=children):
            parts = [_terms_of(child) for child in children]
        case Any(children=children, required=required, excluded=excluded):
            parts = [_terms_of(child) for child in (*children, *required, *excluded)]
        case Term():
            return {replace(node, position=0)}
        case _:
            return None
    return set().union(*(part for part in parts if part)) if None not in parts else None


def _joined(how: Callable[[Array, Array], Array], sets: Iterable[Array | None]) -> Array | None:
    kept = [one for one in sets if one is not None]
    return reduce(how, kept) if kept else None
