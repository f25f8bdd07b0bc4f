"""Matching documents: all as a set, or the best with their scores. Translates between tantivy's
keys and ordinals of rows.

Sets of words come from the word table. Sets that only tantivy computes (phrases, other fields) are
cached: the next page needs them again.
"""

import numpy as np
import tantivy
from tantivy import Query

from cortex.engines.text.index.schema import BIT_FIELDS, BITS
from cortex.engines.text.matches.compile import Target, compile_query
from cortex.engines.text.matches.overlaps import KeyIndex, ScoredRows
from cortex.engines.text.words import TableQuery, Words, combine_leaves
from cortex.generation.read import Rows
from cortex.query.tree import Leaf, Node, leaves
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest

#: bytes of the cached sets, one byte for each row and set, and the least number of sets
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
    """The number of matching documents; tantivy's stubs lack the attribute."""
    return int(result.count or 0)  # type: ignore[attr-defined]


class Matching:
    """Queries one searcher. Rows are ordinals of a generation. Frozen; caches hold derived values
    only.
    """

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, rows: Rows, words: Words) -> None:
        self._schema, self._searcher, self._words = schema, searcher, words
        self.key_index = KeyIndex(rows)
        self._live = rows.live
        self._sets: dict[Node, Array] = {}
        self._sets_max = max(_SETS_BYTES // (len(rows) + 1), _SETS_MIN)

    def best(self, query: Query, limit: int) -> tuple[ScoredRows, int]:
        """(the best `limit` matches, best first, without deleted ones; the number of matching
        documents)

        Raises ValueError for a query that tantivy gives up on.
        """
        result = self._searcher.search(query, limit, count=True)
        count = count_of(result)
        keys = self._searcher.fast_field_values("key", [address for _, address in result.hits])
        scores = np.array([score for score, _ in result.hits], np.float32)
        ordinals = self.key_index.locate(np.array(keys, np.uint64))
        live = ordinals >= 0
        return ScoredRows(ordinals[live], scores[live]), count

    def best_and_all(
        self, node: Node, query: Query, wanted: int, fetch: int
    ) -> tuple[ScoredRows, int, Array]:
        """(the best matches, as `best`; the number of matching documents; all matches, bool [all
        rows]). `node`: the query as a tree; `fetch`: the least matches of a fetch that may show
        them all. Raises as `best`.
        """
        matching = self._words.rows_of(node)
        limit = 4 * wanted if matching is not None else max(2 * wanted, fetch)
        best, count = self.best(query, limit)
        if matching is None and count <= limit:
            matching = np.zeros(len(self._live), bool)
            matching[best.ordinals] = True
        return best, count, self.matching_rows(node) if matching is None else matching

    def matching_rows(self, node: Node) -> Array:
        """Bool [all rows]: all live rows that match. Raises ValueError as `best` does, BadRequest
        as `compile_query`.
        """
        new = {
            leaf
            for leaf in leaves(node, excluded=True)
            if leaf not in self._sets and not self._words.suffices(leaf)
        }
        # A missing set costs as much as the whole query.
        combined = combine_leaves(node, self._leaf_rows, self._live) if len(new) <= 1 else None
        return self._cached_rows(node) if combined is None else combined

    def _cached_rows(self, node: Node) -> Array:
        rows = self._sets.pop(node, None)
        if rows is None:
            rows = self.rows_of_query(compile_query(node, Target(self._schema)))
            if len(self._sets) >= self._sets_max:
                del self._sets[next(iter(self._sets))]
        self._sets[node] = rows  # the most recently used one goes last
        return rows

    def _leaf_rows(self, leaf: Leaf) -> Array | None:
        """The rows of a leaf; None for one that no row can lack: punctuation only."""
        if self._words.suffices(leaf):
            return self._words.rows_of_leaf(leaf)
        try:
            return self._cached_rows(leaf)
        except BadRequest:
            return None

    def rows_of_query(self, query: Query | TableQuery) -> Array:
        """Bool [all rows]: all live rows that match. Raises ValueError as `best` does."""
        if isinstance(query, TableQuery):
            return self._words.matching(query)
        slots = self._searcher.aggregate(query, _SETS)["slots"]
        if slots["sum_other_doc_count"]:  # keys so far apart that there are more slots than buckets
            hits = self._searcher.search(query, max(self._searcher.num_docs, 1), count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
            return self.key_index.mask(np.array(keys, np.uint64))
        buckets = slots["buckets"]
        numbers = np.array([bucket["key"] for bucket in buckets], np.uint64)
        bits = []
        for name in BIT_FIELDS:
            sums = np.array([bucket[name]["value"] for bucket in buckets], np.float64).astype("<u8")
            bits.append(
                np.unpackbits(sums.view(np.uint8).reshape(-1, 8), axis=1, count=BITS, bitorder="little")
            )
        return self.key_index.mask_of_bits(numbers, np.concatenate(bits, axis=1))
