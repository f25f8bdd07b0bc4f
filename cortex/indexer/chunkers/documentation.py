"""`documentation` chunks: every line of a document exactly once, cut at headings, then at
paragraphs.
"""

import dataclasses
import re
from collections import Counter
from typing import Any

import yaml

from cortex.indexer.chunkers.frame import Frame
from cortex.indexer.chunkers.tiles import layout_costs, syntax_costs, tile
from cortex.indexer.syntax.headings import headings
from cortex.terms.records import Chunk

#: largest number of tags of one document
TAGS_MAX = 32

_HASHTAG = re.compile(r"(?<![\w&/#])#([A-Za-z][\w-]*(?:/[\w-]+)*)(?![\w#;])")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|\]\([^)]*\)|<[^>]*>|https?://\S+")


def documentation_chunks(frame: Frame) -> list[Chunk]:
    lines = frame.source.lines
    costs = syntax_costs(lines, frame.outline) if frame.language.grammar else layout_costs(lines)
    for fence in frame.outline.fences:
        for line in range(fence.start, min(fence.end, len(lines))):
            costs[line] += 1
    tokens = [frame.count_tokens(line) for line in lines]
    front_tags, front_end = front_matter(lines)
    chunks: list[Chunk] = []
    heads: dict[tuple[str, ...], str] = {}  # section → its first chunk
    for number, (low, high, trail) in enumerate(_sections(frame, front_end)):
        tiles = [(low + a, low + b) for a, b in tile(tokens[low:high], costs[low:high], frame.budget)]
        for tile_index, (start, end) in enumerate(tiles):
            stem = f"doc-{frame.path}-s{number}" + (f"-c{tile_index}" if len(tiles) > 1 else "")
            metadata = _metadata(frame, start + 1, end, trail) | {
                "section_index": number,
                "chunk_index": tile_index,
            }
            title = " › ".join([frame.path, *trail])
            tags = (*front_tags, *hashtags(frame, start + 1, end))
            pieces = frame.chunks(stem, "documentation", title, frame.source.text(start + 1, end), metadata)
            if tile_index == 0:
                heads[trail] = pieces[0].id
            parent = heads[trail] if tile_index else heads.get(trail[:-1], "") if trail else ""
            if parent:
                metadata["parent"] = parent
            for chunk in pieces:
                all_tags = tuple(dict.fromkeys((*chunk.tags, *tags[:TAGS_MAX])))
                chunks.append(dataclasses.replace(chunk, tags=all_tags))
    return chunks


def _metadata(frame: Frame, start: int, end: int, trail: tuple[str, ...]) -> dict[str, Any]:
    return {
        "source": "markdown" if frame.language.name == "markdown" else "document",
        "file_path": frame.path,
        "language": frame.language.name,
        "start_line": start,
        "end_line": end,
        "scope": " › ".join(trail),
        "headings": list(trail),
        "is_test": False,
        **frame.origin_metadata(),
    }


def _sections(frame: Frame, front_end: int) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return (low, high, headings above and of it) of each section: half-open 0-based line ranges.
    A section with only a heading is joined with the next.
    """
    lines = frame.source.lines
    heads = [head for head in headings(frame.language.name, lines, frame.outline) if head.start > front_end]
    trail: list[tuple[int, str]] = []
    starts: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    pending = -1  # first line of a heading that has no text yet
    for at, head in enumerate(heads):
        while trail and trail[-1][0] >= head.level:
            trail.pop()
        trail.append((head.level, head.title))
        first = pending if pending >= 0 else head.start - 1
        end = heads[at + 1].start - 1 if at + 1 < len(heads) else len(lines)
        if at + 1 < len(heads) and not any(text.strip() for text in lines[head.body : end]):
            pending = first
            continue
        pending = -1
        starts.append((first, tuple(text for _, text in trail)))
    bounds = [start for start, _ in starts[1:]] + [len(lines)]
    sections = [
        (start, end, names) for (start, names), end in zip(starts, bounds, strict=True) if start < end
    ]
    if len(sections) > 1 and not any(line.strip() for line in lines[: sections[0][1]]):
        sections[1] = (0, sections[1][1], sections[1][2])  # blank lines before the first heading
        del sections[0]
    return sections


def front_matter(lines: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Return (`tags` of the YAML front matter, its last line or 0)."""
    if not lines or lines[0].rstrip() != "---":
        return (), 0
    end = next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return (), 0
    text = "\n".join(lines[1 : end - 1])
    if "tags" not in text and "\\" not in text:
        return (), end
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return (), end
    tags = data.get("tags") if isinstance(data, dict) else None
    if isinstance(tags, str):
        tags = re.split(r"[,\s]+", tags)
    return tuple(str(tag).lstrip("#") for tag in tags if str(tag).strip()) if isinstance(
        tags, list
    ) else (), end


def hashtags(frame: Frame, start: int, end: int) -> tuple[str, ...]:
    """Return the #hashtags in lines `start` to `end`, outside headings, colours and code."""
    if frame.language.name != "markdown":
        return ()
    code = {line for fence in frame.outline.fences for line in range(fence.start, fence.end + 1)}
    tags: Counter[str] = Counter()
    for number in range(start, end + 1):
        line = frame.source.lines[number - 1]
        if "#" in line and number not in code and not line.startswith(("    ", "\t")):
            tags.update(tag for tag in _HASHTAG.findall(_CODE.sub(" ", line)) if not _COLOUR.match(tag))
    return tuple(tags)
