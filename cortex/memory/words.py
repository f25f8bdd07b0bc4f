"""Finds notes by their words: a tantivy index, and a tail of notes that are not in it yet. Follows
the changes of the store; can be deleted at any time.

A document of tantivy takes 15 ms until it is found. So a new note goes into the tail first, which
is scored by the same formula with the same counts, and into tantivy with many others later.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tantivy
from tantivy import Occur, Query

from cortex.memory.note import Note
from cortex.memory.records import Point
from cortex.memory.text import text_words, title_words
from cortex.memory.word_index import open_index, reached
from cortex.system import files
from cortex.system.arrays import Array

#: notes of the tail from which on they go into tantivy: some 50 ms, however many they are
TAIL_NOTES = 1_000
#: bytes that the writer collects before it writes a segment
_HEAP_BYTES = 20_000_000
#: of BM25, as tantivy has them
_K1, _B = 1.2, 0.75
#: fields → what a match in them is worth
FIELDS = {"all": 1.0, "title": 0.6}
#: words of a question that are looked for one by one, the rarest: a score of tantivy is a float32,
#: which has 24 bits; notes that are told of it, those that hold the rarest words
BIT_WORDS, BIT_NOTES = 24, 1_000


@dataclass(frozen=True, slots=True)
class WordBits:
    """Which words of a question notes hold: the notes by number (int64 [n]), a bit for each word
    (uint32 [n]), what each of these words is worth, from the lowest bit on (float64 [words]).
    """

    numbers: Array
    bits: Array
    worth: Array


class _Tail:
    """Notes that are not in tantivy: the words of each, for each field; for questions, made with
    the first one, term → note → count, and the lengths.
    """

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self.words: dict[int, dict[str, list[str]]] = {}
        self._unread: set[int] = set()
        self._postings: dict[str, dict[str, dict[int, int]]] = {name: {} for name in FIELDS}
        self._lengths: dict[str, dict[int, int]] = {name: {} for name in FIELDS}
        for note in notes:
            self.add(note)

    def __len__(self) -> int:
        return len(self.words)

    def add(self, note: Note) -> None:
        self.remove(note.number)
        title = title_words(note)
        self.words[note.number] = {"all": title + text_words(note), "title": title}
        self._unread.add(note.number)

    def remove(self, number: int) -> None:
        words = self.words.pop(number, {})
        if number in self._unread:
            self._unread.remove(number)
            return
        for name, terms in words.items():
            del self._lengths[name][number]
            for term in set(terms):
                del self._postings[name][term][number]

    @property
    def _postings_by_field(self) -> dict[str, dict[str, dict[int, int]]]:
        """Field → term → note → count, of all notes."""
        for number in self._unread:
            for name, terms in self.words[number].items():
                self._lengths[name][number] = len(terms)
                for term, times in Counter(terms).items():
                    self._postings[name].setdefault(term, {})[number] = times
        self._unread.clear()
        return self._postings

    def document_frequency(self, field: str, word: str) -> int:
        return len(self._postings_by_field[field].get(word, ()))

    def score(self, words: Sequence[str], rarity: Callable[[str, str], float]) -> dict[int, float]:
        """Note → score; `rarity`: of a word in a field."""
        scores: dict[int, float] = {}
        by_field = self._postings_by_field
        for name, worth in FIELDS.items():
            lengths = self._lengths[name]
            mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
            for word in words:
                postings = by_field[name].get(word)
                rare = rarity(name, word) if postings else 0.0
                for number, times in (postings or {}).items():
                    norm = _K1 * (1 - _B + _B * lengths[number] / mean)
                    gain = worth * rare * times * (_K1 + 1) / (times + norm)
                    scores[number] = scores.get(number, 0.0) + gain
        return scores

    def word_bits(self, words: Sequence[str]) -> dict[int, int]:
        """Note → a bit for each of the words that it holds, the first the lowest."""
        bits: dict[int, int] = {}
        postings = self._postings_by_field["all"]
        for at, word in enumerate(words):
            for number in postings.get(word, ()):
                bits[number] = bits.get(number, 0) | 1 << at
        return bits


class Words:
    """`reached`: the change that everything up to is in here. Use it in one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = open_index(folder, FIELDS)
        self._searcher = self._index.searcher()
        self._tail = _Tail()
        #: notes of tantivy that were changed or deleted since
        self._masked: set[int] = set()
        self.reached = reached(self._searcher)

    def take(self, change: Point, changed: Sequence[Note], gone: Iterable[int] = ()) -> None:
        """What changed until `change`: found at once, in tantivy when enough has come together."""
        for number in gone:
            self._tail.remove(number)
            self._masked.add(number)
        for note in changed:
            self._tail.add(note)
            self._masked.add(note.number)
        self.reached = change
        # a tail that is longer than the index would be scored by other rarities than it
        if len(self._tail) >= min(TAIL_NOTES, self._searcher.num_docs or TAIL_NOTES):
            self.commit()

    def commit(self) -> None:
        """Put the tail into tantivy."""
        if not self._tail and not self._masked:
            return
        writer = self._index.writer(_HEAP_BYTES, 1)
        for number in self._masked:
            writer.delete_documents_by_term("number", number)
        for number, fields in self._tail.words.items():
            document = tantivy.Document()
            document.add_unsigned("number", number)
            document.add_unsigned("change", self.reached.number)
            document.add_unsigned("mark", self.reached.mark)
            for name, terms in fields.items():
                document.add_text(name, " ".join(terms))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._tail, self._masked = _Tail(), set()

    def delete(self) -> None:
        """Remove its files; it is of no use any more."""
        files.remove_tree(self._folder)

    def numbers(self) -> set[int]:
        """The notes that it can find."""
        hits = self._searcher.search(Query.all_query(), max(1, self._searcher.num_docs), count=False).hits
        stored = self._searcher.fast_field_values("number", [address for _, address in hits])
        return (set(np.array(stored, np.uint64).tolist()) - self._masked) | self._tail.words.keys()

    def search(
        self, words: Sequence[str], limit: int, past_notes: Mapping[int, Note] | None = None
    ) -> dict[int, float]:
        """Note → score, of the best `limit` in tantivy and all of the tail that hold a word; the
        notes of `then` by what they say there.
        """
        if not words:
            return {}
        past_notes = past_notes or {}
        query = Query.boolean_query(
            [
                (
                    Occur.Should,
                    Query.boost_query(Query.term_query(self._index.schema, name, word, "freq"), worth),
                )
                for name, worth in FIELDS.items()
                for word in words
            ]
        )
        numbers, scores = self._scores(query, limit + len(self._masked) + len(past_notes))
        scored = zip(numbers.tolist(), scores.tolist(), strict=True)
        hits = {number: score for number, score in scored if number not in self._masked}
        hits.update(self._tail.score(words, self._rarity))
        if past_notes:
            other = _Tail(past_notes.values()).score(words, self._rarity)
            hits = {number: score for number, score in hits.items() if number not in past_notes} | other
        return hits

    def word_bits(
        self, words: Sequence[str], past_notes: Mapping[int, Note] | None = None, most: int = BIT_NOTES
    ) -> WordBits:
        """Which of the words notes hold, for the `most` that hold the rarest and all of the tail;
        the notes of `then` by what they say there.
        """
        rarity = {word: self._rarity("all", word) for word in words}
        rarest = sorted(words, key=rarity.__getitem__)[-BIT_WORDS:]
        numbers, scores = self._scores(self._bit_query(rarest, most), most)
        tail = self._tail.word_bits(rarest)
        if past_notes:
            tail = {number: bits for number, bits in tail.items() if number not in past_notes}
            tail |= _Tail(past_notes.values()).word_bits(rarest)
        gone = self._masked.union(past_notes or ())
        current = ~np.isin(numbers, list(gone)) if gone else np.ones(len(numbers), bool)
        return WordBits(
            np.concatenate([numbers[current], np.fromiter(tail, np.int64, len(tail))]),
            np.concatenate(
                [scores[current].astype(np.uint32), np.fromiter(tail.values(), np.uint32, len(tail))]
            ),
            np.array([rarity[word] for word in rarest]),
        )

    def _bit_query(self, words: Sequence[str], most: int) -> Query:
        """Notes that hold the words, of which the last ones are the rarest: scores add up, so a
        word's power of two is its bit. Where enough hold one of the rarest (twice the number: some
        are counted that were deleted), these alone are read: the others come behind them.
        """
        queries = [
            Query.const_score_query(Query.term_query(self._index.schema, "all", word, "freq"), 2.0**at)
            for at, word in enumerate(words)
        ]
        counts = (self._searcher.doc_freq("all", word) for word in reversed(words))
        enough = (at for at, count in enumerate(counts, 1) if count >= 2 * most)
        rarest = len(words) - next(enough, len(words))
        first = [(Occur.Should, term_query) for term_query in queries[rarest:]]
        if not rarest:
            return Query.boolean_query(first)
        needed = queries[-1] if len(first) == 1 else Query.boolean_query(first)
        others = ((Occur.Should, term_query) for term_query in queries[:rarest])
        return Query.boolean_query([(Occur.Must, needed), *others])

    def _scores(self, query: Query, limit: int) -> tuple[Array, Array]:
        """Of the best in tantivy: notes (int64 [n]) and their scores (float64 [n])."""
        hits = self._searcher.search(query, limit, count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        return np.array(numbers, np.int64), np.array([score for score, _ in hits], np.float64)

    def ideal(self, words: Sequence[str]) -> float:
        """About the score of a note of usual length that holds each of the words once."""
        return sum(self._rarity("all", word) for word in words)

    def _rarity(self, field: str, word: str) -> float:
        count = self._searcher.num_docs + len(self._tail)
        return _rarity(
            count, self._searcher.doc_freq(field, word) + self._tail.document_frequency(field, word)
        )


def _rarity(count: int, holding: int) -> float:
    """What BM25 says that a word tells which `holding` of `count` notes hold."""
    return math.log(1 + (max(count, holding) - holding + 0.5) / (holding + 0.5))
