"""The word index of notes: tantivy, and a tail of notes that are not in it yet. Follows the changes
of the store; can be deleted at any time.

A document in tantivy takes 15 ms until it can be found. So a new note goes into the tail first,
which is scored by the same formula and counts, and later into tantivy with many others.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tantivy
from tantivy import Occur, Query

from cortex.memory.find.word_index import holds_erased, mark_erased, open_index, reached
from cortex.memory.note import Note
from cortex.memory.store.records import Point
from cortex.memory.text import text_words, title_words
from cortex.system import files
from cortex.system.arrays import Array

#: notes in the tail from which on they go into tantivy: some 50 ms, for any number
TAIL_NOTES = 1_000
#: words whose rarity is kept: some 10 MB
SHARES_MAX = 100_000
#: notes from which on the rarity of a word tells something
FEWEST = 200
#: bytes that the writer collects before it writes a segment
_HEAP_BYTES = 20_000_000
#: parameters of BM25, as in tantivy
_K1, _B = 1.2, 0.75
#: field → weight of a match
FIELDS = {"all": 1.0, "title": 0.6}
#: words of a query with a bit, the rarest: tantivy's scores are float32, with 24 bits; notes with
#: bits, those with the rarest words
BIT_WORDS, BIT_NOTES = 24, 1_000


@dataclass(frozen=True, slots=True)
class WordBits:
    """The query words that notes contain: the notes by number (int64 [n]), a bit for each word
    (uint32 [n]), the weight of each word, from the lowest bit on (float64 [words]).
    """

    numbers: Array
    bits: Array
    worth: Array


class _Tail:
    """Notes that are not in tantivy: the words of each, for each field; built at the first query:
    {term: {note: count}} and lengths.
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
        """{field: {term: {note: count}}} of all notes."""
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
        """{note: score}; `rarity`: of a word in a field."""
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
        """{note: a bit for each word that it contains}, the first word the lowest."""
        bits: dict[int, int] = {}
        postings = self._postings_by_field["all"]
        for at, word in enumerate(words):
            for number in postings.get(word, ()):
                bits[number] = bits.get(number, 0) | 1 << at
        return bits


class _Shares(dict[str, float]):
    """{word: its share}, computed at the first look; bounded by SHARES_MAX."""

    def __init__(self, compute: Callable[[str], float]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, word: str) -> float:
        if len(self) >= SHARES_MAX:
            self.clear()
        self[word] = share = self._compute(word)
        return share


class Words:
    """`reached`: the last change that is included. Use it in one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = open_index(folder, FIELDS)
        self._searcher = self._index.searcher()
        self._tail = _Tail()
        #: notes in tantivy that were changed or deleted since
        self._masked: set[int] = set()
        #: word → its rarity among the present notes
        self._shares = _Shares(self._share)
        #: the weight of a word, 1 for the rarest possible: the lookup itself, for hundreds a query
        self.rarity_share: Callable[[str], float] = self._shares.__getitem__
        self.reached = reached(self._searcher)

    def take(self, change: Point, changed: Sequence[Note], gone: Iterable[int] = ()) -> None:
        """Take the changes up to `change`: they are searchable at once, and go into tantivy in
        batches.
        """
        for number in gone:
            self._tail.remove(number)
            self._masked.add(number)
        for note in changed:
            self._tail.add(note)
            self._masked.add(note.number)
        self.reached = change
        self._shares.clear()
        # a tail longer than the index would have other rarities of words
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
        self._shares.clear()  # deleted notes count until now

    def delete(self) -> None:
        """Remove its files; the object must not be used afterwards."""
        files.remove_tree(self._folder)

    def mark_erased(self) -> None:
        mark_erased(self._folder)

    @property
    def holds_erased(self) -> bool:
        """Whether its files hold words of erased notes."""
        return holds_erased(self._folder)

    def numbers(self) -> set[int]:
        """The searchable notes."""
        hits = self._searcher.search(Query.all_query(), max(1, self._searcher.num_docs), count=False).hits
        stored = self._searcher.fast_field_values("number", [address for _, address in hits])
        return (set(np.array(stored, np.uint64).tolist()) - self._masked) | self._tail.words.keys()

    def search(
        self, words: Sequence[str], limit: int, past_notes: Mapping[int, Note] | None = None
    ) -> dict[int, float]:
        """{note: score} of the best `limit` in tantivy and all of the tail that contain a word;
        notes in `past_notes` count with their text there.
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
        """The query words that notes contain, for the `most` with the rarest words and all of the
        tail; notes in `past_notes` count with their text there.
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
        """A query for notes with the words, sorted by rarity, the rarest last: scores add up, so a
        word's power of two is its bit. If enough notes contain one of the rarest (twice `most`, for
        deleted ones are counted too), only those are read: others would rank behind them.
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
        """The best notes in tantivy (int64 [n]) and their scores (float64 [n])."""
        hits = self._searcher.search(query, limit, count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        return np.array(numbers, np.int64), np.array([score for score, _ in hits], np.float64)

    def ideal(self, words: Sequence[str]) -> float:
        """The approximate score of a note of usual length with each word once."""
        return sum(self._rarity("all", word) for word in words)

    def known_share(self, words: Sequence[str]) -> float:
        """The share of the words' weight that any note contains."""
        rarity = {word: self._rarity("all", word) for word in words}
        in_notes = sum(weight for word, weight in rarity.items() if self._holding("all", word))
        return in_notes / (sum(rarity.values()) or 1.0)

    def _share(self, word: str) -> float:
        """The weight of a word, as `rarity_share`. Fewer notes than FEWEST count as so many: of two
        notes on one subject every word is common.
        """
        count = max(FEWEST, self._searcher.num_docs + len(self._tail))
        return _rarity(count, self._holding("all", word)) / math.log(2 + count)

    def _rarity(self, field: str, word: str) -> float:
        return _rarity(self._searcher.num_docs + len(self._tail), self._holding(field, word))

    def document_count(self, word: str) -> int:
        """The number of notes that contain the word, as `question_words` writes it."""
        return self._holding("all", word)

    def _holding(self, field: str, word: str) -> int:
        """The number of notes that contain the word."""
        return self._searcher.doc_freq(field, word) + self._tail.document_frequency(field, word)


def _rarity(count: int, holding: int) -> float:
    """The weight of a word in BM25 that `holding` of `count` notes contain."""
    return math.log(1 + (max(count, holding) - holding + 0.5) / (holding + 0.5))
