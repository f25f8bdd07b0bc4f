"""The floor of an answer: whether anything in the index fits a question. Pure.

BM25 and cosine put something first for every question. Three values tell a question that the
project can answer from others: the share of its words that the index holds, rare ones more; the
best BM25 of a unit as a share of the highest possible; the best cosine. docs/RANKING.md, "Units".
"""

import math
from dataclasses import dataclass

from cortex.terms import tokens
from ipc.messages import Signals, WordCounts
from ipc.messages.units import UnitHits

#: words of a question that count: those that the text worker looks up
WORDS_MAX = 64
#: highest BM25 of a word, as a multiple of its rarity: k1 + 1
BM25_MAX = 2.2
#: chunks below which rarities tell little: the project's subject is in most of them, and a synonym
#: is in none. One word that the index holds is enough there
SMALL_CHUNKS = 100


@dataclass(frozen=True, slots=True)
class Plane:
    """A weight for each value of a question, and the least sum of a question that fits."""

    known_share: float
    words: float
    cosine: float
    least: float


#: fitted in folds over 20 repositories: questions about the project (1 % are below) against those
#: about others, about everyday things and of made-up words. The cosine is of the built-in model
WITH_COSINE = Plane(known_share=8.0, words=13.0, cosine=12.0, least=9.0)
WITHOUT_COSINE = Plane(known_share=11.0, words=13.0, cosine=0.0, least=6.0)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The values of a question, 0-1 each; `cosine` is None without the built-in model."""

    known_share: float
    words: float
    cosine: float | None = None

    @property
    def margin(self) -> float:
        """How far the question is above the floor; negative below it."""
        plane = WITHOUT_COSINE if self.cosine is None else WITH_COSINE
        total = (
            plane.known_share * self.known_share
            + plane.words * self.words
            + plane.cosine * (self.cosine or 0.0)
        )
        return total - plane.least

    @property
    def fits(self) -> bool:
        """Whether the index may hold an answer."""
        return self.margin >= 0.0


def gather_evidence(
    question: str, counts: WordCounts, hits: UnitHits, vector: Signals | None = None
) -> Evidence:
    """Return the evidence of a question. `counts`: the reply to CountWords for it; `hits`: that to
    UnitSearch; `vector`: the signals of the built-in model, None for another one.
    """
    if not counts.chunks:  # an engine without counts: nothing speaks against an answer
        return Evidence(1.0, 1.0)
    chunk_counts = _count_chunks(counts)
    rarities = {word: _rarity(counts.chunks, chunk_counts.get(word, 0)) for word in _words(question)}
    total = sum(rarities.values())
    is_small = counts.chunks < SMALL_CHUNKS and any(map(chunk_counts.get, rarities))
    if not total or is_small:
        return Evidence(1.0, 1.0)
    known_share = sum(rarity for word, rarity in rarities.items() if chunk_counts.get(word)) / total
    best = 0.0
    if "body" in hits.names and len(hits.units):
        best = float(hits.values[hits.names.index("body")].max())
    cosine = None
    if vector is not None:
        cosine = float(vector.row("cosine").max()) if len(vector) else 0.0
    return Evidence(known_share, min(1.0, best / (BM25_MAX * total)), cosine)


def unknown_words(question: str, counts: WordCounts) -> list[str]:
    """Return the words of a question, as written, that the index does not hold; no stop words."""
    chunk_counts = _count_chunks(counts)
    return [
        word
        for word in dict.fromkeys(tokens.words(question))
        if word.lower() not in tokens.STOP_WORDS and not any(map(chunk_counts.get, tokens.lane_terms(word)))
    ]


def _words(question: str) -> list[str]:
    return tokens.lane_words(question)[:WORDS_MAX]


def _count_chunks(counts: WordCounts) -> dict[str, int]:
    """Return word → the most chunks that hold it in one field."""
    chunk_counts: dict[str, int] = {}
    for key, number in counts.holding.items():
        word = key.partition(" ")[2]
        chunk_counts[word] = max(number, chunk_counts.get(word, 0))
    return chunk_counts


def _rarity(chunks: int, holding: int) -> float:
    """Return the idf of a word, as tantivy computes it."""
    return math.log(1 + (max(0, chunks - holding) + 0.5) / (holding + 0.5))
