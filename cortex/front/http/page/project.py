"""The view of the project: counts, languages, freshness, omitted files, and a map."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from cortex.front.http.page.frame import Action, View, Visit
from cortex.front.http.page.parts import sources
from cortex.front.http.page.parts import tiles as mapping
from cortex.front.http.page.parts.sources import SourceFile
from cortex.front.http.routes.calls import index_status
from cortex.generation.manifest import Entry, Listing
from cortex.system.errors import CortexError

#: maximum of listed languages, files and names
LISTED = 12
#: tokens of the outline that counts references: the most referenced symbols come first
OUTLINE_TOKENS = 60_000


async def show(visit: Visit) -> dict[str, Any]:
    return await current_state(visit, {})


async def current_state(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    source_files = await sources.sources(visit.hosted.config)
    listed = await asyncio.to_thread(sources.listing, visit.hosted.config)
    return {
        "state": index_status(visit.hosted),
        "lines": sum(source.lines for source in source_files),
        "languages": _languages(source_files),
        "largest": sorted(source_files, key=lambda source: -source.lines)[:LISTED],
        "left_out": _left_out(listed),
        "remarks": _remarks(listed),
    }


def _languages(source_files: list[SourceFile]) -> list[dict[str, Any]]:
    files, lines = Counter[str](), Counter[str]()
    for source in source_files:
        files[source.language] += 1
        lines[source.language] += source.lines
    total_lines = max(1, lines.total())
    return [
        {"name": name, "files": files[name], "lines": count, "share": count / total_lines}
        for name, count in lines.most_common(LISTED)
    ]


def _left_out(listed: Listing[Entry]) -> list[tuple[str, int]]:
    """Return (reason, number of files), as `cortex status` counts them."""
    reasons = Counter(listed.left_out)
    unsearched = (entry for entry in listed.files.values() if not entry.chunks)
    reasons.update(entry.skipped.partition(":")[0] or "without text" for entry in unsearched)
    return reasons.most_common()


def _remarks(listed: Listing[Entry]) -> list[tuple[str, int]]:
    return Counter(
        remark.partition(":")[0] for entry in listed.files.values() for remark in entry.remarks
    ).most_common()


async def tiles(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Return the values for the map: area is lines, colour is references to definitions."""
    source_files, (references, names) = await asyncio.gather(
        sources.sources(visit.hosted.config), _references(visit)
    )
    file_tiles, folders = await asyncio.to_thread(mapping.tiles, source_files, references)
    return {
        "tiles": file_tiles,
        "folders": folders,
        "width": mapping.WIDTH,
        "height": mapping.HEIGHT,
        "heats": range(mapping.HEATS),
        "names": names,
        "graph": bool(references),
    }


async def _references(visit: Visit) -> tuple[Mapping[str, int], list[dict[str, Any]]]:
    """Return (path → references to definitions, top symbols); both empty without the graph."""
    try:
        answer = await visit.call("cortex_outline", {"max_tokens": OUTLINE_TOKENS})
    except CortexError:
        return {}, []
    counted = {
        row["file"]: sum(symbol["references"] for symbol in row["symbols"]) for row in answer["results"]
    }
    symbols = (symbol | {"file": row["file"]} for row in answer["results"] for symbol in row["symbols"])
    return counted, sorted(symbols, key=lambda symbol: -symbol["references"])[:LISTED]


VIEW = View(
    "project",
    "Project",
    show,
    {"now": Action(current_state, "project_now.html"), "tiles": Action(tiles, "project_tiles.html")},
)
