"""Notes that were stored before the index held what they are about: their places are looked up when
it does, in the background.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cortex.ask.code_notes.places import Places, find_places
from cortex.ask.query_context import QueryContext
from cortex.system.errors import CortexError

#: seconds between two looks whether there are such notes
LOOK_S = 30.0
#: seconds that one look has
WORK_S = 60.0
#: notes that are handed over at once
SLICE = 16
_NS_OF_MS = 1_000_000


class PlaceBackfill:
    """Of one front. Use it in one event loop."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._looked = float("-inf")
        self._generation = 0

    def look(self, context: QueryContext) -> None:
        """Begin to catch up where the index has another generation than when it was looked last,
        unless that is being done, or was just now.
        """
        now, generation = time.monotonic(), context.freshness.current().number
        if generation in (0, self._generation) or now - self._looked < LOOK_S:
            return
        if self._task is None or self._task.done():
            self._looked, self._generation = now, generation
            self._task = asyncio.create_task(_catch_up_quietly(replace(context, until=now + WORK_S)))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def _catch_up_quietly(context: QueryContext) -> None:
    with contextlib.suppress(CortexError):  # the next generation is looked at again
        await catch_up(context)


async def catch_up(context: QueryContext) -> int:
    """Look up the places of the notes of which nothing is known yet; how many were found. A note
    is left as it is when a file that it is about was saved after it: what it spoke of is not there
    any more. Raises what memory raises.
    """
    notes = (await context.remember("unplaced"))["notes"]
    placed, done = list[dict[str, Any]](), 0
    for note in notes:
        places = await find_places(context, note["files"], note["anchors"])
        if places.spoken and _are_older(context, (*places.files, *places.anchored), note["at"]):
            placed.append(_place_row(note, places))
        if len(placed) == SLICE:
            done += (await context.remember("place", {"notes": placed}, writes=True))["notes"]
            placed.clear()
    if placed:
        done += (await context.remember("place", {"notes": placed}, writes=True))["notes"]
    return done


def _place_row(note: Mapping[str, Any], places: Places) -> dict[str, Any]:
    return {
        "number": note["number"],
        "at": note["at"],
        "files": places.files,
        "anchors": places.anchors,
        "anchored": places.anchored,
        "spoken": places.spoken,
    }


def _are_older(context: QueryContext, paths: Iterable[str], moment: int) -> bool:
    """Whether the index holds these files as they were saved before the moment, in milliseconds."""
    freshness = context.freshness
    listed_paths = [path for path in dict.fromkeys(paths) if path in freshness.listed()]
    saved = max((freshness.saved_ns(path) for path in listed_paths), default=0)
    return saved <= (moment + 1) * _NS_OF_MS and not freshness.stale(listed_paths, freshness.current())
