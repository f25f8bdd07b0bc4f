"""Pure ranking: signals of the lanes in, ranked chunks out. No file, no clock, no socket.

`candidates` holds the chunks of all lanes as columns, `evidence` computes the signals of a file,
`weights` their weights, `fusion` the sum and the order, `ranked_hits` a hit with its explanation.
`names` compares a question with file names, `pasted_text` and `traces` read stack traces, `lines`
scores lines of a function, `related` finds tests and mentions by names, `multi_project` joins the
candidates of several projects. docs/RANKING.md.
"""

from cortex.ranking.evidence import score_candidates, share_names
from cortex.ranking.fusion import rank, rank_by_cosine
from cortex.ranking.names import prepare
from cortex.ranking.pasted_text import Reading, cite, define, literal_texts, read_question
from cortex.ranking.ranked_hits import Ranked, Term
from cortex.ranking.weights import Weights, weigh

__all__ = [
    "Ranked", "Reading", "Term", "Weights", "cite", "define", "literal_texts", "prepare", "rank",
    "rank_by_cosine", "read_question", "score_candidates", "share_names", "weigh",
]  # fmt: skip
