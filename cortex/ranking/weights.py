"""Weights of the signals, with and without vectors, and their scaling by `fusion.bm25_weight`."""

import dataclasses
import functools
from dataclasses import dataclass

#: value of `fusion.bm25_weight` for which the tables below hold unchanged
BM25_WEIGHT = 0.45


@dataclass(frozen=True, slots=True)
class Weights:
    """One weight for each signal of a file; docs/RANKING.md describes the signals."""

    ctop3: float
    path: float
    sshare: float
    folders: float
    defs: float
    comments: float
    defx: float
    smax: float
    refs: float
    test: float
    example: float
    document: float
    foreign: float
    superseded: float
    cited: float
    asked: float


#: fitted on 21 repositories and 423 questions (NDCG@10); each may change by half at a cost of at
#: most .006. `foreign` is not fitted: hardly a question finds such a file, so it has the penalty of
#: a test
WITH_VECTORS = Weights(
    ctop3=2.0,
    path=0.75,
    sshare=1.5,
    folders=1.0,
    defs=1.0,
    comments=1.0,
    defx=1.5,
    smax=2.75,
    refs=1.0,
    test=-2.0,
    example=-0.5,
    document=-0.5,
    foreign=-2.0,
    superseded=-2.5,
    cited=6.0,
    asked=2.0,
)
#: the same, fitted without the cosine
WITHOUT_VECTORS = dataclasses.replace(
    WITH_VECTORS,
    ctop3=3.0,
    path=1.0,
    sshare=2.0,
    folders=1.5,
    defs=1.25,
    comments=2.0,
    defx=2.0,
    smax=0.0,
    refs=1.5,
)

_LEXICAL = ("ctop3", "path", "sshare", "folders", "defs", "comments", "defx")


@functools.lru_cache(4)  # constant for a project
def weigh(*, vectors: bool, bm25_weight: float = BM25_WEIGHT) -> Weights:
    """Return the weights for a question with an answer of the vector lane, or without.

    `bm25_weight` b (0-1) multiplies the lexical weights by b / 0.45 and the cosine's by (1 - b) /
    0.55: 0.45 changes nothing, 1 leaves the cosine out, 0 leaves the words out. Without vectors it
    has no effect. The penalties stay.
    """
    if not vectors:
        return WITHOUT_VECTORS
    table = WITH_VECTORS
    words, meaning = bm25_weight / BM25_WEIGHT, (1 - bm25_weight) / (1 - BM25_WEIGHT)
    scaled = {name: getattr(table, name) * words for name in _LEXICAL}
    return dataclasses.replace(table, **scaled, smax=table.smax * meaning)
