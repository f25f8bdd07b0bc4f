"""The word table of a segment: words, parts of words and joined forms → rows; building and
querying.

The terms are those of the tantivy fields text (with underscores as they are), parts and joined
(cortex/terms/tokens.py) in one vocabulary; derived terms have a mark. tantivy computes the scores.
Reading the matching rows here takes a fraction of the time that fetching a set from tantivy takes,
and terms near a word need no automaton over tantivy's dictionaries.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np

from cortex.generation.segments.postings import BLOCK, ROW_BITS, Block, MergeSource, blocks_of, merge, pack
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.text.edits import edits, edits_of

#: terms whose letters are computed at a time: each byte of a term takes eight in memory
_SHAPED = 1 << 15
#: rows whose terms are listed at a time: some hundred terms each, of 8 bytes, several times over
_ROWS = 1 << 10
#: byte → its bit in a set of letters; marks have none
_LETTERS = np.where(
    np.arange(256) < ord(" "), np.uint64(0), np.uint64(1) << (np.arange(256) & 63).astype(np.uint64)
)


class _Numbers(dict[str, int]):
    """A number for each word, in the order of first use."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def make_sections(texts: Iterable[str]) -> dict[str, Array]:
    """Return the sections of a segment whose row i has the text `texts[i]`."""
    numbers, blocks = _Numbers(), list[tuple[Array, Array]]()
    number = numbers.__getitem__
    rows = iter(texts)
    while some := list(islice(rows, BLOCK)):
        word_numbers, ends = list[int](), [0]
        for text in some:
            word_numbers += map(number, set(tokens.words(text)))
            ends.append(len(word_numbers))
        blocks.append((np.array(word_numbers, np.uint32), np.array(ends)))
    terms, of_words, edges = _Numbers(), list[int](), [0]
    term = terms.__getitem__
    for word in numbers:
        of_words += map(term, tokens.terms_of(word))
        edges.append(len(of_words))
    names = sorted(terms)
    codes = np.zeros(len(names), np.uint64)
    codes[[terms[name] for name in names]] = np.arange(len(names), dtype=np.uint64)
    term_codes, starts = codes[np.array(of_words, np.int64)], np.array(edges)
    return _vocabulary(names) | pack("word", ([_pairs(*block, term_codes, starts)] for block in blocks))


def merge_sections(sources: Sequence[tuple[Mapping[str, Array], Array]], count: int) -> dict[str, Array]:
    """Return the sections of a segment with `count` rows, merged from other segments.

    Row i of a source becomes `rows[i]` (i64; -1: left out).
    """
    vocabularies = []
    for sections, rows in sources:
        table = WordTable(sections)
        every = table.names(np.arange(len(sections["word_offsets"]) - 1))
        used = np.zeros(len(every), bool)
        for block in blocks_of("word", sections):
            codes, places = block.pairs()
            used[codes[rows[places + block.first_row] >= 0]] = True
        vocabularies.append((every, used))
    names = sorted({every[at] for every, used in vocabularies for at in np.flatnonzero(used).tolist()})
    numbers = {name: at for at, name in enumerate(names)}
    merged = [
        MergeSource(sections, rows, np.array([numbers.get(term, 0) for term in every], np.uint64))
        for (sections, rows), (every, _) in zip(sources, vocabularies, strict=True)
    ]
    return _vocabulary(names) | merge("word", merged, count)


def _vocabulary(names: Sequence[str]) -> dict[str, Array]:
    """Return the sections of the terms, sorted as UTF-8: the order of code points."""
    encoded = [name.encode() for name in names]
    offsets = np.zeros(len(names) + 1, "<u4")
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return {"word_offsets": offsets, "word_bytes": np.frombuffer(b"".join(encoded), "|u1")}


def _pairs(word_numbers: Array, ends: Array, codes: Array, edges: Array) -> Array:
    """Return u64 [p], ascending: term << ROW_BITS | row, distinct pairs.

    Row i has the words `word_numbers[ends[i]:ends[i + 1]]`, word j the terms
    `codes[edges[j]:edges[j + 1]]`.
    """
    counts, parts = np.diff(edges), [np.zeros(0, np.uint64)]
    for first in range(0, len(ends) - 1, _ROWS):
        bounds = ends[first : first + _ROWS + 1]
        numbers = word_numbers[bounds[0] : bounds[-1]]
        sizes = counts[numbers]
        rows = np.repeat(np.repeat(np.arange(first, first + len(bounds) - 1), np.diff(bounds)), sizes)
        at = np.repeat(edges[numbers] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(rows))
        parts.append(codes[at] << np.uint64(ROW_BITS) | rows.astype(np.uint64))
    pairs = np.concatenate(parts)
    pairs.sort()
    return pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs


class WordTable:
    """The table of one segment. Frozen; caches hold derived values only."""

    def __init__(self, sections: Mapping[str, Array]) -> None:
        self._offsets = sections["word_offsets"]
        self._bytes = sections["word_bytes"]
        self._data = self._bytes.data if len(self._bytes) else memoryview(b"")
        self._ends: memoryview = self._offsets.data  # a number of it takes a tenth of the time
        self._blocks: tuple[Block, ...] = tuple(blocks_of("word", sections))
        self._cached: tuple[Array, Array, Array] | None = None

    @property
    def size(self) -> int:
        """Bytes of the terms."""
        return len(self._bytes)

    def rows(self, codes: Array) -> Array:
        """Return i64: the rows that hold one of the terms `codes` (ascending); rows may repeat."""
        parts = [block.rows_of(block.places(codes)) + block.first_row for block in self._blocks]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def codes_of(self, terms: Iterable[str], *, words_only: bool = False) -> Array:
        """Return i64, ascending: the codes of those of `terms` that occur, as words, parts or
        joined forms; `words_only`: as words.
        """
        marks = ("",) if words_only else ("", tokens.DERIVED)
        wanted = [(mark + term).encode() for term in terms for mark in marks]
        places = [(self._place(term), term) for term in wanted]
        count = len(self._offsets) - 1
        return np.array(sorted(at for at, term in places if at < count and self._term(at) == term), np.int64)

    def codes_from(self, start: str) -> tuple[Array, Array]:
        """Return two i64, ascending: the codes of the parts and joined forms that begin with
        `start`, and the codes of the words that do.
        """
        derived, words = (
            np.arange(self._place(begin), self._place(begin + b"\xff"), dtype=np.int64)
            for begin in ((tokens.DERIVED + start).encode(), start.encode())
        )
        return derived, words

    def odd_rows(self) -> Array:
        """Return i64: the rows with words that are not ASCII, or too long for the index."""
        at = self._place(tokens.ODD.encode())
        is_there = at < len(self._offsets) - 1 and self._term(at) == tokens.ODD.encode()
        return self.rows(np.array([at] if is_there else [], np.int64))

    def around(self, text: str, *, begins: bool, ends: bool) -> tuple[Array, Array]:
        """Return (i64, ascending: the codes of the words, not parts, that contain `text`; u8: match
        quality).

        `text` is ASCII in lower case. Quality: 2 for the word itself, 1 where the word begins or
        ends with `text`, else 0; the best of several places in a word counts. `begins`, `ends`:
        accept only words that begin or end with `text`.
        """
        raw, offsets = text.encode(), self._offsets
        base = int(offsets[self._place((tokens.ODD + "\x7f").encode())])
        places = [match.start() + base for match in re.finditer(re.escape(raw), self._data[base:])]
        at = self._add_overlapping(np.array(places, np.int64), raw)
        codes = np.searchsorted(offsets, at, side="right") - 1
        end = at + len(raw)
        first, last = at == offsets[codes], end == offsets[codes + 1]
        fits = (end <= offsets[codes + 1]) & (first | (not begins)) & (last | (not ends))
        codes, edges = codes[fits], (first.astype(np.uint8) + last)[fits]
        new = np.flatnonzero(np.diff(codes, prepend=-1))  # a word may contain the text twice
        return codes[new], np.maximum.reduceat(edges, new) if len(new) else edges

    def _add_overlapping(self, at: Array, raw: bytes) -> Array:
        """Add to `at`, the successive places of `raw`, the places that begin inside a match across
        two words, and sort them: after `tex`, a match that begins in it hides the start of the word
        `text`.
        """
        ends = self._offsets[np.searchsorted(self._offsets, at, side="right")]
        hidden = [
            place
            for begin in at[at + len(raw) > ends].tolist()
            for place in range(begin + 1, begin + len(raw))
            if self._data[place : place + len(raw)] == raw
        ]
        return np.unique(np.concatenate([at, np.array(hidden, np.int64)])) if hidden else at

    def near(self, word: str, distance: int) -> tuple[Array, Array]:
        """Return (i64, ascending: the codes of the terms at most `distance` edits from `word`; i64:
        edits).

        A swap of neighbours is one edit.
        """
        sizes, letters, wide = self._term_shapes()
        codes = np.flatnonzero((sizes >= max(len(word) - distance, 1)) & (sizes <= len(word) + distance))
        # An edit of one-byte letters removes at most one kind of letter, and adds one.
        if word.isascii():
            mine, theirs = _letters_of(word.encode()), letters[codes]
            less, more = np.bitwise_count(mine & ~theirs), np.bitwise_count(theirs & ~mine)
            codes = codes[(np.maximum(less, more) <= distance) | wide[codes]]
        distances = np.empty(len(codes), np.int64)
        some = wide[codes]
        distances[some] = edits(word, self.terms(codes[some]))
        distances[~some] = self._edits_of_ascii(word, codes[~some])
        is_near = distances <= distance
        return codes[is_near], distances[is_near]

    def _edits_of_ascii(self, word: str, codes: Array) -> Array:
        """Return the result of `edits` for ASCII terms, without a string for each."""
        if not len(codes):
            return np.zeros(0, np.int64)
        begins, ends = (self._offsets[codes + after].astype(np.int64) for after in (0, 1))
        begins += self._bytes[begins] < ord(" ")
        sizes = ends - begins
        at = begins[:, None] + np.arange(sizes.max())
        return edits_of(word, self._bytes[np.minimum(at, len(self._bytes) - 1)], sizes)

    def terms(self, codes: Array) -> list[str]:
        """Return the terms of `codes`, without the mark of derived terms."""
        return [term.removeprefix(tokens.DERIVED) for term in self.names(codes)]

    def names(self, codes: Array) -> list[str]:
        """Return the terms of `codes` as the table stores them."""
        if not len(codes):
            return []
        begins = self._offsets[codes].astype(np.int64)
        sizes = self._offsets[codes + 1] - begins + 1  # with a line feed after each
        ends = np.cumsum(sizes)
        at = np.repeat(begins - (ends - sizes), sizes) + np.arange(int(ends[-1]))
        data = self._bytes[np.minimum(at, len(self._bytes) - 1)]
        data[ends - 1] = ord("\n")
        return data.tobytes().decode().split("\n")[:-1]

    def _term_shapes(self) -> tuple[Array, Array, Array]:
        """Return for each term without its mark: u16 characters (0 for odd words, which match no
        fuzzy term), u64 its letters as a set, bool whether it is not ASCII.
        """
        if self._cached is None:
            count = len(self._offsets) - 1
            sizes, letters = np.zeros(count, np.uint16), np.zeros(count, np.uint64)
            wide = np.zeros(count, bool)
            for first in range(0, count, _SHAPED):
                last = min(first + _SHAPED, count)
                edges = self._offsets[first : last + 1].astype(np.int64)
                data, starts = self._bytes[edges[0] : edges[-1]], edges[:-1] - edges[0]
                letters[first:last] = np.bitwise_or.reduceat(_LETTERS[data], starts)
                has_wide = np.maximum.reduceat(data, starts) >= 128
                wide[first:last] = has_wide
                lengths = np.diff(edges) - (data[starts] < ord(" "))
                if has_wide.any():
                    lengths -= np.add.reduceat((data & 0xC0) == 0x80, starts, dtype=np.int64)
                sizes[first:last] = lengths
            self._cached = sizes, letters, wide
        return self._cached

    def _place(self, term: bytes) -> int:
        return bisect_left(range(len(self._offsets) - 1), term, key=self._term)

    def _term(self, at: int) -> bytes:
        return bytes(self._data[self._ends[at] : self._ends[at + 1]])


def _letters_of(word: bytes) -> np.uint64:
    out = 0
    for letter in word:
        out |= 1 << (letter & 63)
    return np.uint64(out)
