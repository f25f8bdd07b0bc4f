"""How rare words are in all projects of one question: each tells its own counts, before any of them
scores.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from cortex.ask.multi_project.fan_out import FanOut, ask_each, limit_wait
from cortex.ask.multi_project.joint import JointTurn
from cortex.ask.query_context import Turn
from cortex.system.errors import CortexError, NotReady
from ipc.messages import NO_COUNTS, CountWords, WordCounts

#: what the counts of words get of the time that a call has left: a project that does not tell them
#: in time counts with nothing, and may still answer
COUNTS_SHARE = 0.2


async def count_words(fan_out: FanOut, message: CountWords) -> WordCounts:
    """What all projects tell, added up; nothing where one is asked alone, or several as one. Raises
    NotReady.
    """
    if len(fan_out.turns) < 2:
        return NO_COUNTS

    async def ask(_name: str, turn: Turn) -> WordCounts:
        if isinstance(turn, JointTurn) and not message.keywords:  # Milvus counts for itself
            return NO_COUNTS
        until = time.monotonic() + COUNTS_SHARE * turn.context.left_s()
        try:
            request = replace(message, generation=turn.generation.number)
            return await limit_wait(turn, until).ask("text", request, WordCounts)
        except NotReady:
            raise
        except CortexError:  # its answer says so; another engine may not know this question
            return NO_COUNTS

    return add_counts(list((await ask_each(fan_out, ask)).values()))


def add_counts(counts: Sequence[WordCounts]) -> WordCounts:
    """How rare words are in all projects."""
    holding: dict[str, int] = {}
    for project_counts in counts:
        for word, number in project_counts.holding.items():
            holding[word] = holding.get(word, 0) + number
    return WordCounts(chunks=sum(project_counts.chunks for project_counts in counts), holding=holding)
