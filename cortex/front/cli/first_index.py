"""The wait of a command for the first index of its project: a person would rather wait than ask
again.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from cortex.front.cli.render import Progress

if TYPE_CHECKING:  # only for types: other commands need neither
    from cortex.ask.freshness import Freshness
    from cortex.front.link import Link

#: seconds that a command waits; then it uses the part that is served
FIRST_INDEX_S = 30.0
#: seconds between two checks of the progress
LOOK_S = 0.05


async def wait_first_index(link: Link, patience_s: float = FIRST_INDEX_S) -> bool:
    """Wait until the whole project is served, at most `patience_s`, with progress on standard
    error. Return False at once where it is served already, or will not be.
    """
    freshness = link.freshness
    if freshness.serves_all(freshness.current()) or not _is_to_come(link):
        return False
    until = time.monotonic() + patience_s
    with Progress() as progress:
        while time.monotonic() < until and _is_to_come(link):
            if freshness.serves_all(freshness.current()):
                break
            _show_progress(progress, freshness)
            await asyncio.sleep(LOOK_S)
    return True


def _is_to_come(link: Link) -> bool:
    """Whether an indexer runs or is about to: workers may start, and no indexer has reported why it
    does not index.
    """
    state = link.freshness.progress()
    ended = bool(state.message) and not state.indexing
    return link.config.server.auto_index and not link.problem and not ended


def _show_progress(progress: Progress, freshness: Freshness) -> None:
    state, share = freshness.progress(), freshness.share(freshness.current())
    if total := max(state.total, share.total):
        progress.follow(state.done if state.indexing else total, share.done, total)
