"""The view of the project: what is known of it, how much, how fresh, and what was left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from cortex.front.http.page import sources
from cortex.front.http.page import tiles as mapping
from cortex.front.http.page.frame import Part, View, Visit
from cortex.front.http.page.sources import Source
from cortex.front.http.routes.calls import index_status
from cortex.generation.manifest import Entry, Listing
from cortex.system.errors import CortexError

#: languages, and files, that are listed
LISTED = 12
#: tokens of the outline that says how much refers to what: the most referred-to come first
OUTLINE_TOKENS = 60_000


async def show(visit: Visit) -> dict[str, Any]:
    return await now(visit, {})


async def now(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Everything as it is at the moment."""
    found = await sources.sources(visit.hosted.config)
    listed = await asyncio.to_thread(sources.listing, visit.hosted.config)
    return {
        "state": index_status(visit.hosted),
        "lines": sum(one.lines for one in found),
        "languages": _languages(found),
        "largest": sorted(found, key=lambda one: -one.lines)[:LISTED],
        "left_out": _left_out(listed),
        "remarks": _remarks(listed),
    }


def _languages(found: list[Source]) -> list[dict[str, Any]]:
    files, lines = Counter[str](), Counter[str]()
    for one in found:
        files[one.language] += 1
        lines[one.language] += one.lines
    whole = max(1, lines.total())
    return [
        {"name": name, "files": files[name], "lines": count, "share": count / whole}
        for name, count in lines.most_common(LISTED)
    ]


def _left_out(listed: Listing[Entry]) -> list[tuple[str, int]]:
    """(reason, files), as `cortex status` counts them."""
    reasons = Counter(listed.left_out)
    unsearched = (one for one in listed.files.values() if not one.chunks)
    reasons.update(one.skipped.partition(":")[0] or "without text" for one in unsearched)
    return reasons.most_common()


def _remarks(listed: Listing[Entry]) -> list[tuple[str, int]]:
    return Counter(
        remark.partition(":")[0] for one in listed.files.values() for remark in one.remarks
    ).most_common()


async def tiles(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """The map: area is lines, colour how much refers to what is defined there."""
    found, (references, names) = await asyncio.gather(
        sources.sources(visit.hosted.config), _references(visit)
    )
    made, folders = await asyncio.to_thread(mapping.tiles, found, references)
    return {
        "tiles": made,
        "folders": folders,
        "width": mapping.WIDTH,
        "height": mapping.HEIGHT,
        "heats": range(mapping.HEATS),
        "names": names,
        "graph": bool(references),
    }


async def _references(visit: Visit) -> tuple[Mapping[str, int], list[dict[str, Any]]]:
    """(path → references to what is defined there, the most referred-to names); nothing where the
    graph does not answer.
    """
    try:
        answer = await visit.call("cortex_outline", {"max_tokens": OUTLINE_TOKENS})
    except CortexError:
        return {}, []
    counted = {
        one["file"]: sum(symbol["references"] for symbol in one["symbols"]) for one in answer["results"]
    }
    symbols = (one | {"file": row["file"]} for row in answer["results"] for one in row["symbols"])
    return counted, sorted(symbols, key=lambda one: -one["references"])[:LISTED]


VIEW = View(
    "project",
    "Project",
    show,
    {"now": Part(now, "project_now.html"), "tiles": Part(tiles, "project_tiles.html")},
)
