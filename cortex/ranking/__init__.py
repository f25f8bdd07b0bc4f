"""Pure ranking: signals of the lanes in, ranked chunks out. Nothing here reads a file, a clock or a socket."""

from cortex.ranking.fusion import Ranked, Term, rank, rank_by_cosine
from cortex.ranking.pasted import Reading, cite, define, read
from cortex.ranking.weights import Weights, weigh

__all__ = [
    "Ranked",
    "Reading",
    "Term",
    "Weights",
    "cite",
    "define",
    "rank",
    "rank_by_cosine",
    "read",
    "weigh",
]
