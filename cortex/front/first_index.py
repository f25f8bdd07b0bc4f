"""The wait for the first index of a project: a person, or a program, would rather wait than ask
again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cortex.system.errors import Unavailable

if TYPE_CHECKING:  # only for types: other commands need neither
    from cortex.ask.freshness import Freshness
    from cortex.front.link import Link
    from cortex.front.tool import Tool

#: seconds that a call waits for the first index; then it uses the part that is served
FIRST_INDEX_S = 30.0
#: seconds in which a call is repeated while workers start: on a busy machine, or a cold disk, that
#: takes longer than one call
STARTED_S = 30.0
#: seconds between two checks of the progress
LOOK_S = 0.05

#: shows the progress inside of the `with`, at each call
Show = Callable[[], contextlib.AbstractContextManager[Callable[["Freshness"], None]]]


@contextlib.contextmanager
def show_nothing() -> Iterator[Callable[[Freshness], None]]:
    yield lambda _freshness: None


async def call_with_index(
    link: Link,
    tool: Tool,
    arguments: Mapping[str, Any],
    show: Show = show_nothing,
    wait_s: float = FIRST_INDEX_S,
) -> dict[str, Any]:
    """Return the answer; if nothing was served, ask after the first index. Raises CortexError."""
    if link.freshness.serves(link.freshness.current()):
        return await link.call_patiently(tool, arguments, STARTED_S)
    answer = None
    with contextlib.suppress(Unavailable):
        answer = await link.call(tool, arguments)
    if not await wait_first_index(link, wait_s, show) and answer is not None:
        return answer
    return await link.call_patiently(tool, arguments, STARTED_S)


async def wait_first_index(link: Link, patience_s: float = FIRST_INDEX_S, show: Show = show_nothing) -> bool:
    """Wait until the whole project is served, at most `patience_s`. Return False at once where it
    is served already, or will not be.
    """
    freshness = link.freshness
    if freshness.serves_all(freshness.current()) or not _is_to_come(link):
        return False
    until = time.monotonic() + patience_s
    with show() as show_progress:
        while time.monotonic() < until and _is_to_come(link):
            if freshness.serves_all(freshness.current()):
                break
            show_progress(freshness)
            await asyncio.sleep(LOOK_S)
    return True


def _is_to_come(link: Link) -> bool:
    """Whether an indexer runs or may start, and has not reported why it does not index."""
    state = link.freshness.progress()
    ended = bool(state.message) and not state.indexing
    return link.config.server.auto_index and not link.problem and not ended
