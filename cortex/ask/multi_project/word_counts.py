"""Word frequencies over all projects of one question: each project reports its counts before any of
them scores.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from cortex.ask.multi_project.fan_out import FanOut, add_up, ask_each
from cortex.ask.query_context import Turn
from cortex.system.errors import CortexError, NotReady
from ipc.messages import NO_COUNTS, CountWords, WordCounts

#: share of a call's remaining time for the counts: a project that is late counts with nothing, and
#: may still answer
COUNTS_SHARE = 0.2


async def count_words(fan_out: FanOut, message: CountWords) -> WordCounts:
    """Return the summed counts of all projects; none for a single turn. Raises NotReady."""
    if len(fan_out.turns) < 2:
        return NO_COUNTS

    async def ask(_name: str, turn: Turn) -> WordCounts:
        if not turn.takes_counts and not message.keywords:
            return NO_COUNTS
        until = time.monotonic() + COUNTS_SHARE * turn.context.left_s()
        try:
            request = replace(message, generation=turn.generation.number)
            return await fan_out.limit_wait(turn, until).ask("text", request, WordCounts)
        except NotReady:
            raise
        except CortexError:  # its answer reports the fault; another engine may not know this message
            return NO_COUNTS

    return add_counts(list((await ask_each(fan_out, ask)).values()))


def add_counts(counts: Sequence[WordCounts]) -> WordCounts:
    """Return the sum of the counts."""
    holding = add_up(project_counts.holding for project_counts in counts)
    return WordCounts(chunks=sum(project_counts.chunks for project_counts in counts), holding=holding)
