"""Pure ranking: signals of the lanes in, ranked chunks out. No file, no clock, no socket."""

from cortex.ranking.evidence import tell_speaking
from cortex.ranking.fusion import rank, rank_by_cosine
from cortex.ranking.names import prepare
from cortex.ranking.pasted_text import Reading, cite, define, read
from cortex.ranking.ranked_hits import Ranked, Term
from cortex.ranking.weights import Weights, weigh

__all__ = [
    "Ranked",
    "Reading",
    "Term",
    "Weights",
    "cite",
    "define",
    "prepare",
    "rank",
    "rank_by_cosine",
    "read",
    "tell_speaking",
    "weigh",
]
