"""What can be asked of dispatch, and the bounds of it. Asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ipc.messages import Detail, Filters, MatchType

NO_FILTERS = Filters()

#: hits of one answer
LIMIT_MAX = 100
#: hits that may be skipped; the text worker orders no more
OFFSET_MAX = 60_000
#: bytes that a token stands for, and the bounds of `max_tokens`
TOKEN_BYTES, TOKENS_MIN, TOKENS_MAX = 4, 100, 1_000_000


@dataclass(frozen=True, slots=True)
class Search:
    """A question by meaning and words. `min_score` None sets no floor."""

    query: str
    limit: int = 15
    filters: Filters = NO_FILTERS
    mode: Literal["hybrid", "semantic"] = "hybrid"
    min_score: float | None = None
    detail: Detail = "full"
    max_tokens: int = 20_000
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Exact:
    """A keyword question (syntax: docs/TOOLS.md)."""

    query: str
    match_type: MatchType | None = None
    limit: int = 15
    offset: int = 0
    filters: Filters = NO_FILTERS
    detail: Detail = "full"
    max_tokens: int = 20_000


def fitting(sizes: Sequence[int], budget: int) -> int:
    """How many of the first results fit `budget` bytes; at least one, so that an answer is never empty for its size."""
    used = 0
    for at, size in enumerate(sizes):
        used += size
        if used > budget and at:
            return at
    return len(sizes)
