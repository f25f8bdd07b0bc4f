"""Progress notifications of a call, for a client that sent a progress token."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from cortex.ask.freshness import Freshness, say_progress

#: seconds between two reads of the indexing progress
LOOK_S = 0.1
#: seconds without a notification after which the client gets one about the elapsed time
QUIET_S = 0.5

Tell = Callable[[float, float | None, str], Awaitable[None]]


@contextlib.asynccontextmanager
async def reporting_progress(freshness: Freshness, tell: Tell | None) -> AsyncIterator[None]:
    """Send progress by `tell` during the block; None sends nothing."""
    if tell is None:
        yield
        return
    task = asyncio.create_task(report_progress(freshness, tell))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def report_progress(freshness: Freshness, tell: Tell) -> None:
    """Send (files done, total, sentence) while the project is being indexed, otherwise every
    QUIET_S a slightly larger number without a total. The number never decreases.
    """
    reported, began = -1.0, time.monotonic()
    reported_at = began
    while True:
        progress, now = freshness.progress(), time.monotonic()
        if progress.indexing and progress.total and progress.done > reported:
            reported, reported_at = float(progress.done), now
            await tell(reported, float(progress.total), say_progress(progress))
        elif now - reported_at >= QUIET_S:
            reported, reported_at = max(0.0, reported) + QUIET_S, now
            sentence = say_progress(progress) if progress.indexing else f"{now - began:.1f} s so far."
            await tell(reported, None, sentence)
        await asyncio.sleep(LOOK_S)
