"""The view of the project: counts, languages, freshness, omitted files, and a map."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.front.http.page.frame import Action, View, Visit
from cortex.front.http.page.parts import sources
from cortex.front.http.page.parts.sources import SourceFile
from cortex.front.http.routes.calls import index_status
from cortex.generation.manifest import Entry, Listing
from cortex.system.errors import CortexError

#: size of the map, in its own units
WIDTH, HEIGHT = 1600.0, 640.0
#: maximum of files with their own tile; smaller ones share a tile in their folder
TILES_MAX = 1_500
#: height of a folder's name above its tiles, and minimum height of a folder with a name
NAME_HEIGHT, NAMED_FROM = 16.0, 48.0
#: depth of folders with names
NAMED_DEPTH = 2
#: width of a character of a name
CHARACTER = 8.0
#: steps of heat, the first for no references
HEATS = 6


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Tile:
    """Tile of one file, or (`files` > 1) of the small files of a folder. `heat`: 0 to HEATS - 1."""

    box: Box
    path: str
    lines: int
    references: int
    heat: int
    files: int = 1


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a folder, above its tiles."""

    box: Box
    text: str


@dataclass(slots=True)
class _Node:
    """A folder with its children, or a file."""

    path: str
    weight: int = 0
    children: dict[str, "_Node"] = field(default_factory=dict)
    files: int = 0


def tile_files(sources: Sequence[SourceFile], references: Mapping[str, int]) -> tuple[list[Tile], list[Name]]:
    """Return the tiles and names of the map: area by size, heat by references. `references`: path →
    references to its definitions.

    A squarified treemap (Bruls, Huizing, van Wijk, 2000): rows along the shorter side; a row takes
    further tiles as long as that makes them squarer.
    """
    most = max(references.values(), default=0)
    placed: list[Tile] = []
    names: list[Name] = []
    for item in _place_nodes(_tree(sources), Box(0.0, 0.0, WIDTH, HEIGHT), 0):
        if isinstance(item, Name):
            names.append(item)
            continue
        node, box = item
        count = references.get(node.path, 0)
        placed.append(Tile(box, node.path, node.weight, count, _heat(count, most), max(1, node.files)))
    return placed, names


def _heat(count: int, most: int) -> int:
    """Return the step of heat, logarithmic: a few names have most of all references."""
    if count <= 0 or most <= 0:
        return 0
    return min(HEATS - 1, 1 + int((HEATS - 1) * math.log1p(count) / math.log1p(most + 1)))


def _tree(sources: Sequence[SourceFile]) -> _Node:
    root = _Node("")
    order = sorted(sources, key=lambda source: -source.lines)
    for at, source in enumerate(order):
        node = root
        folders = source.path.split("/")[:-1]
        node.weight += source.lines
        for depth in range(len(folders)):
            node = node.children.setdefault(f"{folders[depth]}/", _Node("/".join(folders[: depth + 1])))
            node.weight += source.lines
        if at < TILES_MAX:
            node.children[source.path] = _Node(source.path, source.lines)
        else:
            remainder = node.children.setdefault("", _Node(f"{node.path or '.'}/…"))
            remainder.weight += source.lines
            remainder.files += 1
    return root


def _place_nodes(node: _Node, box: Box, depth: int) -> Iterator[tuple[_Node, Box] | Name]:
    """Yield each file with its box, and each folder's name."""
    if not node.children:
        if node.weight:
            yield node, box
        return
    inner = box
    text = node.path.rpartition("/")[2]
    if 1 <= depth <= NAMED_DEPTH and box.height >= NAMED_FROM and box.width >= CHARACTER * (len(text) + 2):
        yield Name(Box(box.x, box.y, box.width, NAME_HEIGHT), text)
        inner = Box(box.x, box.y + NAME_HEIGHT, box.width, box.height - NAME_HEIGHT)
    children = sorted(node.children.values(), key=lambda child: -child.weight)
    for child_node, place in zip(
        children, squarify([child.weight for child in children], inner), strict=True
    ):
        yield from _place_nodes(child_node, place, depth + 1)


def squarify(weights: Sequence[int], box: Box) -> list[Box]:
    """Return a box for each of `weights` (descending); together they fill `box`."""
    total = sum(weights)
    if total <= 0:
        return [Box(box.x, box.y, 0.0, 0.0) for _ in weights]
    scale = box.width * box.height / total
    areas = [weight * scale for weight in weights]
    boxes: list[Box] = []
    at = 0
    while at < len(areas):
        side = min(box.width, box.height)
        end = at + 1
        while end < len(areas) and _worst(areas[at : end + 1], side) <= _worst(areas[at:end], side):
            end += 1
        row, box = _row(areas[at:end], box)
        boxes += row
        at = end
    return boxes


def _worst(areas: Sequence[float], side: float) -> float:
    """Return the largest aspect ratio in a row along `side`."""
    total = sum(areas)
    if total <= 0 or side <= 0:
        return math.inf
    least, most = areas[-1], areas[0]
    return max(side * side * most / (total * total), total * total / (side * side * max(least, 1e-9)))


def _row(areas: Sequence[float], box: Box) -> tuple[list[Box], Box]:
    """Return the boxes of one row along the shorter side, and the remainder of `box`."""
    total = sum(areas)
    upright = box.width >= box.height
    thick = total / max(box.height if upright else box.width, 1e-9)
    boxes: list[Box] = []
    at = box.y if upright else box.x
    for area in areas:
        long = area / max(thick, 1e-9)
        boxes.append(Box(box.x, at, thick, long) if upright else Box(at, box.y, long, thick))
        at += long
    if upright:
        return boxes, Box(box.x + thick, box.y, max(0.0, box.width - thick), box.height)
    return boxes, Box(box.x, box.y + thick, box.width, max(0.0, box.height - thick))


#: maximum of listed languages, files and names
LISTED = 12
#: tokens of the outline that counts references: the most referenced symbols come first
OUTLINE_TOKENS = 60_000


async def show(visit: Visit) -> dict[str, Any]:
    return await current_state(visit, {})


async def current_state(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    source_files = await sources.sources(visit.hosted.config)
    listed = await asyncio.to_thread(sources.listing, visit.hosted.config)
    remarks = (remark.partition(":")[0] for entry in listed.files.values() for remark in entry.remarks)
    return {
        "state": index_status(visit.hosted),
        "lines": sum(source.lines for source in source_files),
        "languages": _languages(source_files),
        "largest": sorted(source_files, key=lambda source: -source.lines)[:LISTED],
        "left_out": _left_out(listed),
        "remarks": Counter(remarks).most_common(),
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


async def tiles(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Return the values for the map: area is lines, colour is references to definitions."""
    source_files, (references, names) = await asyncio.gather(
        sources.sources(visit.hosted.config), _references(visit)
    )
    file_tiles, folders = await asyncio.to_thread(tile_files, source_files, references)
    return {
        "tiles": file_tiles,
        "folders": folders,
        "width": WIDTH,
        "height": HEIGHT,
        "heats": range(HEATS),
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
