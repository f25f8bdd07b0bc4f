"""Rows of a generation that hold a word: `generation.segments.words` over all segments."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from cortex.generation.read import Rows
from cortex.generation.segments.segment import Segment
from cortex.generation.segments.words import WordTable
from cortex.system.arrays import Array

#: words in the cache of neighbours: a query needs them to search and to mark
_NEAR_MAX = 16

Near = list[tuple[Array, Array]]


class Words:
    """Looks words up in the live rows. Frozen; caches hold derived values only."""

    def __init__(self, rows: Rows, reuse: Words | None = None) -> None:
        """`reuse`: another generation's, whose tables of common segments are shared."""
        shared_tables = dict(zip(map(id, reuse.segments), reuse.tables, strict=True)) if reuse else {}
        self.segments: tuple[Segment, ...] = rows.segments
        self.tables: list[WordTable] = [
            shared_tables.get(id(segment)) or WordTable(segment.arrays) for segment in rows.segments
        ]
        self._live = rows.live
        self._starts = rows.starts.tolist()
        self._near: dict[tuple[str, int], Near] = {}

    def holding(self, terms: Iterable[str], *, words_only: bool = False) -> Array:
        """Bool [all rows]: rows that hold one of `terms`; `words_only`: as a whole word."""
        wanted = set(terms)
        return self._mask(table.codes_of(wanted, words_only=words_only) for table in self.tables)

    def starting(self, start: str) -> Array:
        """Bool [all rows]: rows that hold a term that begins with `start`."""
        codes = [table.codes_from(start) for table in self.tables]
        return self._mask(derived for derived, _ in codes) | self._mask(words for _, words in codes)

    @cached_property
    def size(self) -> int:
        """Bytes of all words, which `around` scans."""
        return sum(table.size for table in self.tables)

    @cached_property
    def odd(self) -> Array:
        """Bool [all rows]: rows with words that are not ASCII, or too long for the index."""
        return self._rows_of(table.odd_rows() for table in self.tables)

    def around(self, text: str, *, begins: bool, ends: bool) -> Array:
        """The fit of the best word of each row that holds `text` (ASCII, in lower case), i8 [all
        rows]; -1 without one.

        2: the word is `text`; 1: it begins or ends with it; 0: `text` is inside. With `begins` or
        `ends` only words that do so count. Not valid for `odd` rows.
        """
        matches = [table.around(text, begins=begins, ends=ends) for table in self.tables]
        out = np.full(len(self._live), -1, np.int8)
        for count in range(3):
            out[self._mask(codes[edges == count] for codes, edges in matches)] = count
        return out

    def has(self, term: str) -> bool:
        """Whether `term` is a word, a part or a joined form in any row."""
        return any(len(table.codes_of([term])) for table in self.tables)

    def rows_near(self, word: str, distance: int, most: int) -> Array:
        """Bool [all rows]: rows that hold a term at most `most` edits away from `word`. Neighbours
        are looked up once, up to `distance` edits; `most` is at most `distance`.
        """
        return self._mask(codes[edits <= most] for codes, edits in self._neighbours(word, distance))

    def near(self, word: str, distance: int) -> dict[str, int]:
        """The terms at most `distance` edits away from `word` → their number of edits."""
        return {
            term: edit
            for table, (codes, edits) in zip(self.tables, self._neighbours(word, distance), strict=True)
            for term, edit in zip(table.terms(codes), edits.tolist(), strict=True)
        }

    def _neighbours(self, word: str, distance: int) -> Near:
        neighbours = self._near.get((word, distance))
        if neighbours is None:
            if len(self._near) >= _NEAR_MAX:
                self._near.clear()
            neighbours = self._near[word, distance] = [table.near(word, distance) for table in self.tables]
        return neighbours

    def _mask(self, codes: Iterable[Array]) -> Array:
        tables = zip(self.tables, codes, strict=True)
        return self._rows_of(table.rows(some) if len(some) else some for table, some in tables)

    def _rows_of(self, rows: Iterable[Array]) -> Array:
        out = np.zeros(len(self._live), bool)
        for start, some in zip(self._starts, rows, strict=False):
            if len(some):
                out[some + start] = True
        out &= self._live
        return out
