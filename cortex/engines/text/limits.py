"""Bounds on the work of the text engine."""

from dataclasses import dataclass

#: share of the rows from which on filters are a mask over hits. With a smaller share too many hits
#: would be fetched in vain, and the filters go into the search
MASK_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Limits:
    """`fetch`: number of matches in the first fetch; more follow when a page is not full.

    `batch_bytes`: bytes searched between two checks of the clock. They fit the processor's cache,
    and RE2 reads 30 MB/s when its automaton exceeds its memory.

    `mark_s`: seconds for marking matches. A hundred short words may be in every line of thousands
    of chunks: chunks after that are shown without marks, or as lines not at all.
    """

    fetch: int = 400
    batch_bytes: int = 1 << 18
    mark_s: float = 1.0


LIMITS = Limits()
