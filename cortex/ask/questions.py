"""What can be asked of dispatch, and the bounds of it. Asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ipc.errors import BadRequest
from ipc.messages import Detail, Filters, MatchType

NO_FILTERS = Filters()

#: hits of one answer
LIMIT_MAX = 100
#: hits that may be skipped; the text worker orders no more
OFFSET_MAX = 60_000
#: bytes of a query
QUERY_BYTES_MAX = 64 * 1024
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


def check_query(query: str) -> None:
    """Raises BadRequest for a query that nothing can be made of."""
    if not query.strip():
        raise BadRequest("The query is empty; pass words to look for.")
    if "\0" in query:
        raise BadRequest(
            f"The query holds a NUL character at position {query.index(chr(0)) + 1}; leave it out."
        )
    try:
        size = len(query.encode())
    except UnicodeEncodeError as error:
        raise BadRequest("The query is not valid Unicode (it holds a lone surrogate).") from error
    if size > QUERY_BYTES_MAX:
        raise BadRequest(f"The query is {size} bytes long; at most {QUERY_BYTES_MAX} are allowed.")


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def fitting(sizes: Sequence[int], budget: int) -> int:
    """How many of the first results fit `budget` bytes; at least one, so that an answer is never empty for its size."""
    used = 0
    for at, size in enumerate(sizes):
        used += size
        if used > budget and at:
            return at
    return len(sizes)
