"""The background lookup of places for notes that were stored before the index held their files."""

import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cortex.ask.code_notes.places import Places, find_places
from cortex.ask.query_context import QueryContext
from cortex.system.errors import CortexError

#: seconds between two checks for such notes
LOOK_S = 30.0
#: seconds for one run
WORK_S = 60.0
#: notes in one write
SLICE = 16
_NS_OF_MS = 1_000_000


class PlaceBackfill:
    """The background task of one front. Use it in one event loop."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._looked = float("-inf")
        self._generation = 0

    def look(self, context: QueryContext) -> None:
        """Start a lookup for a new generation, unless one runs or the last was just now."""
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
    with contextlib.suppress(CortexError):  # the next generation is checked again
        await catch_up(context)


async def catch_up(context: QueryContext) -> int:
    """Look up the places of notes without any; return the number of completed notes. A note is left
    as it is when one of its files was saved after it: the code that it described is gone. Raises
    memory's errors.
    """
    notes = (await context.remember("unplaced"))["notes"]
    placed, done = list[dict[str, Any]](), 0
    for note in notes:
        places = await find_places(context, note["files"], note["anchors"])
        if places.spoken and _are_older(context, (*places.files, *places.anchored), note["at"]):
            placed.append(_place_row(note, places))
        if len(placed) == SLICE:
            done += (await context.remember("place", {"notes": placed}))["notes"]
            placed.clear()
    if placed:
        done += (await context.remember("place", {"notes": placed}))["notes"]
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
    """Whether the index holds these files in a state saved before `moment`, in milliseconds."""
    freshness = context.freshness
    listed_paths = [path for path in dict.fromkeys(paths) if path in freshness.listed()]
    saved = max((freshness.saved_ns(path) for path in listed_paths), default=0)
    return saved <= (moment + 1) * _NS_OF_MS and not freshness.stale(listed_paths, freshness.current())
