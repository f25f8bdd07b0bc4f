"""Progress of a call, for a client that asked for it with a token."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from cortex.ask.freshness import Freshness, say_progress

#: seconds between two looks at how far indexing is
LOOK_S = 0.1
#: seconds after which a client that heard nothing is told that its call is still being worked on
QUIET_S = 0.5

Tell = Callable[[float, float | None, str], Awaitable[None]]


@contextlib.asynccontextmanager
async def reporting_progress(freshness: Freshness, tell: Tell | None) -> AsyncIterator[None]:
    """Meanwhile tell the client how far its call is, by `tell`; None: it did not ask for that."""
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
    """Report (files done, files to do, sentence) while the project is being indexed, and otherwise
    every QUIET_S a little more than before, without an end; never a smaller number.
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
