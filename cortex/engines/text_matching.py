"""Which documents match: all of them as a set, or the best with their scores. Between tantivy's keys and our rows."""

from __future__ import annotations

import numpy as np
import tantivy
from tantivy import Query

from cortex.engines.text_fold import Found, Places
from cortex.engines.text_schema import BIT_FIELDS, BITS
from ipc.messages import Array

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
    """Asks one searcher. Rows are named by their ordinals in a generation."""

    def __init__(self, searcher: tantivy.Searcher, places: Places) -> None:
        self._searcher = searcher
        self._places = places

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
