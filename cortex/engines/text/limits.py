"""How much the text engine takes in one go."""

from __future__ import annotations

from dataclasses import dataclass

#: share of the rows from which filters are a mask over what was found; of a smaller one too many
#: hits would be fetched for nothing, and the filters go into the search
MASK_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Limits:
    """`fetch`: matches fetched at first, before more are when they are not enough for a page.

    `batch_bytes`: bytes searched between two looks at the clock. They fit the processor's cache,
    and RE2 reads 30 MB/s where its automaton does not fit the memory.

    `mark_s`: seconds for marking what the chosen chunks hold. A hundred short words may be in every
    line of thousands of them: chunks after that are shown without marks, of lines not at all.
    """

    fetch: int = 400
    batch_bytes: int = 1 << 18
    mark_s: float = 1.0


LIMITS = Limits()
