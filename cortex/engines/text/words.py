"""Rows of a generation that hold a word: `generation.segments.words` over all segments; and the
terms of a query that this table answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial, reduce

import numpy as np

from cortex.generation.read import Rows
from cortex.generation.segments.segment import Segment
from cortex.generation.segments.words import WordTable
from cortex.query.tree import And, Anything, Boost, Fuzzy, Leaf, Node, Not, Or, Phrase, Term, Wildcard, leaves
from cortex.system.arrays import Array
from cortex.terms import tokens

#: stand-ins for wildcards while a term is split into words: private-use characters
STAR, _SINGLE = "\ue000", "\ue001"
_PATTERN_WORD = re.compile(rf"(?:[^\W_]|[{STAR}{_SINGLE}])+")
#: words in the cache of neighbours: a query needs them to search and to mark
_NEAR_MAX = 16

Near = list[tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class AnyTerm:
    """Rows whose text holds one of `terms`."""

    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrefixTerm:
    """Rows whose text holds a term that begins with one of `starts`."""

    starts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearTerm:
    """Rows whose text holds a term at most `most` edits away from `word`. The table looks up
    neighbours up to `distance` once, for several values of `most`.
    """

    word: str
    distance: int
    most: int


TableQuery = AnyTerm | PrefixTerm | NearTerm


def find_table_query(leaf: Node) -> TableQuery | None:
    """The query of the word table equivalent to `leaf`; None when there is none."""
    match leaf:
        case Term(field="text", text=text) | Phrase(field="text", text=text):
            words, parts = tokens.whole_words(text), tokens.part_words(text)
            if len(words) == 1 and len(parts) < 2:
                return AnyTerm((with_underscores(words[0]), words[0].replace(tokens.UNDERSCORE, ""), *parts))
        case Wildcard(field="text", pieces=pieces) if leaf.is_prefix:
            words, parts = tokens.whole_words(pieces[0]), tokens.part_words(pieces[0])
            if len(words) == 1 and len(parts) < 2 and pattern_words(pieces) == [words[0] + STAR]:
                starts = (with_underscores(words[0]), words[0].replace(tokens.UNDERSCORE, ""), *parts)
                return PrefixTerm(tuple(dict.fromkeys(filter(None, starts))))
        case Fuzzy(field="text", text=text, distance=distance):
            words, parts = tokens.whole_words(text), tokens.part_words(text)
            if len(words) == 1 and len(parts) < 2:
                return NearTerm(with_underscores(words[0]), distance, distance)
    return None


def with_underscores(word: str) -> str:
    """An indexed word, with underscores in place of their stand-ins."""
    return word.replace(tokens.UNDERSCORE, "_")


def pattern_words(pieces: tuple[str, ...]) -> list[str]:
    """The words of a wildcard term as indexed, with stand-ins for the wildcards."""
    text = "".join({"*": STAR, "?": _SINGLE}.get(piece) or tokens.spaced(piece).lower() for piece in pieces)
    return _PATTERN_WORD.findall(text)


def pattern_source(word: str) -> str:
    """The expression for a word of `pattern_words`; the same to Python and to tantivy."""
    return word.replace(STAR, ".*").replace(_SINGLE, ".")


def combine_sets(how: Callable[[Array, Array], Array], sets: Iterable[Array | None]) -> Array | None:
    masks = [mask for mask in sets if mask is not None]
    return reduce(how, masks) if masks else None


def combine_leaves(node: Node, rows_of: Callable[[Leaf], Array | None], live: Array) -> Array | None:
    """Combine the sets of a query's leaves, as compile_query joins them. None: all rows."""
    combine = partial(combine_leaves, rows_of=rows_of, live=live)
    match node:
        case Boost(child=child):
            return combine(child)
        case Not(child=child):
            inner = combine(child)
            return None if inner is None else live & ~inner
        case And(children=children):
            return combine_sets(np.logical_and, map(combine, children))
        case Or(children=children, required=required, excluded=excluded):
            wanted = combine_sets(np.logical_and, map(combine, required))
            if wanted is None:
                wanted = combine_sets(np.logical_or, map(combine, children))
            unwanted = combine_sets(np.logical_or, map(combine, excluded))
            if unwanted is None:
                return wanted
            return (live if wanted is None else wanted) & ~unwanted
        case Anything():
            return live
    return rows_of(node)


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

    def matching(self, query: TableQuery) -> Array:
        """Bool [all rows]: rows that match `query`."""
        match query:
            case AnyTerm(terms=terms):
                return self.holding(terms)
            case PrefixTerm(starts=starts):
                return reduce(np.logical_or, map(self.starting, starts))
            case NearTerm(word=word, distance=distance, most=most):
                return self._mask(codes[edits <= most] for codes, edits in self._neighbours(word, distance))

    def rows_of(self, node: Node) -> Array | None:
        """Bool [all rows]: all live rows that match, if this table suffices; else None."""
        if not all(map(self.suffices, leaves(node, excluded=True))):
            return None
        return combine_leaves(node, self.rows_of_leaf, self._live)

    def suffices(self, leaf: Leaf) -> bool:
        return find_table_query(leaf) is not None or self._lacks(leaf)

    def rows_of_leaf(self, leaf: Leaf) -> Array:
        """Bool [all rows]: the rows of a leaf for which this table suffices."""
        query = find_table_query(leaf)
        return np.zeros(len(self._live), bool) if query is None else self.matching(query)

    def _lacks(self, leaf: Leaf) -> bool:
        """Whether no row holds a leaf of several words, because one of them is in no row: a letter
        with its mark apart is two words.
        """
        words: list[str] = []
        match leaf:
            case Term(field="text", text=text) | Phrase(field="text", text=text):
                words = tokens.whole_words(text)
                words = words if len(words) > 1 else []
            case Wildcard(field="text", pieces=pieces) if leaf.is_prefix:
                words = pattern_words(pieces)[:-1]  # the last one has the star
        return not all(map(self.has, map(with_underscores, words)))

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
