"""Graph files → immutable segments of arrays. cortex/engines/graph/arrays.py joins the segments of
a generation.

A segment holds one graph file: `strings` (UTF-8, packed, names of files first) and `string_keys`;
nodes as string numbers of id, kind and file, their lines and depth, their JSON, packed, and the
keys of the names by which a node is found; edges as string numbers, with lines. An ambiguous edge
has one row for each candidate, in consecutive rows. Unresolved uses are found by the key of their
name. A reader reads nodes and edges once, when it
opens a generation: so each table is packed as one section.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from cortex.generation.damage import UNREADABLE
from cortex.generation.segments import packing
from cortex.generation.segments.segment import Packed, Segment, write_segment
from cortex.system.arrays import Array
from cortex.system.errors import Damaged
from cortex.terms.ids import depth, enclosing_id, key_of, keys_of, split_id, split_short

#: types of edges, in the order of their numbers in segments: new types come last. A type of a
#: foreign file that is missing here counts as "other"
EDGE_TYPES = tuple(
    "calls implements extends embeds imports uses_type other references routes_to requests".split()
)
CONFIDENCES = ("exact", "import", "receiver", "name")
_TYPES = {name: number for number, name in enumerate(EDGE_TYPES)}
_OTHER = _TYPES["other"]
_CONFIDENCES = {name: number for number, name in enumerate(CONFIDENCES)}
#: columns of the tables of nodes and edges
NODE_COLUMNS, EDGE_COLUMNS = 6, 8
#: strings, nodes' JSON, and names of unresolved uses, per frame: a frame takes a fifth of their
#: size, half of the space of frames with one string each
_STRINGS, _NODES, _UNRESOLVED = 16, 8, 16
LINE_MAX = 2**31 - 1


class _Location(msgspec.Struct, gc=False):
    file: str = ""
    line: int = 0
    column: int = 0


class _Edge(msgspec.Struct, rename={"source": "from", "target": "to"}):
    source: str
    target: str = ""
    type: str = "other"
    location: _Location = msgspec.field(default_factory=_Location)
    confidence: str = "exact"
    candidates: tuple[str, ...] = ()


class _Node(msgspec.Struct):
    id: str
    kind: str = ""
    file: str = ""
    start_line: int = 1
    end_line: int = 1


class _Unresolved(msgspec.Struct):
    """Uses of a name in a file that are not resolved. No `lines`: only their number is known."""

    file: str
    name: str
    count: int = 0
    lines: tuple[int, ...] = ()


class _File(msgspec.Struct):
    nodes: list[msgspec.Raw]
    edges: list[_Edge]
    unresolved_uses: list[_Unresolved] = []


@dataclass(slots=True)
class _Strings:
    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        numbers = self.numbers
        return numbers.setdefault(text, len(numbers))

    def sections(self) -> dict[str, Array]:
        raw = [text.encode("utf-8", "replace") for text in self.numbers]
        return _pack_sections("string", raw, _STRINGS) | {"string_keys": keys_of(self.numbers)}


def write_graph(path: Path, raw: bytes) -> None:
    """Write the segment of one graph file. Raises Damaged when `raw` is no graph file, OSError."""
    try:
        data = msgspec.json.decode(raw, type=_File)
        nodes = [msgspec.json.decode(node, type=_Node) for node in data.nodes]
    except UNREADABLE as error:
        raise Damaged(f"not a graph file: {error}") from error
    strings = _Strings()
    for file in dict.fromkeys(node.file for node in nodes):  # first, and together: readers sort them
        strings.of(file)
    heads = [
        (
            *(strings.of(text) for text in (node.id, node.kind, node.file)),
            _line(node.start_line),
            _line(node.end_line),
            depth(node.id),
        )
        for node in nodes
    ]
    edges = _edge_rows(data.edges, strings)
    unresolved = _unresolved_sections(data.unresolved_uses, strings)
    sections: dict[str, Array | Packed] = {
        "nodes": Packed(np.array(heads, "<i4").reshape(len(heads), NODE_COLUMNS)),
        "edges": Packed(edges),
        **_pack_sections("node", [bytes(node) for node in data.nodes], _NODES),
        **_name_keys(nodes),
        **unresolved,
        **strings.sections(),
    }
    write_segment(path, sections, {"nodes": len(heads), "edges": len(edges)})


def _pack_sections(what: str, parts: Sequence[bytes], size: int) -> dict[str, Array]:
    names = (f"{what}_frames", f"{what}_frame_ends", f"{what}_ends")
    return dict(zip(names, packing.pack_frames(parts, size), strict=True))


def text_of(segment: Segment, number: int) -> str:
    """Return a string of a segment. Raises Damaged."""
    return _frames(segment, "string", _STRINGS).read_row(number).decode()


def texts_of(segment: Segment, numbers: Array) -> list[str]:
    """Return the strings with these numbers (i64 [m]) of a segment, in order. Raises Damaged."""
    return [raw.decode() for raw in _frames(segment, "string", _STRINGS).read_rows(numbers)]


def nodes_of(segment: Segment, rows: Array) -> list[bytes]:
    """Return the JSON of the nodes at these rows (i64 [m]), in their order. Raises Damaged."""
    return _frames(segment, "node", _NODES).read_rows(rows)


def unresolved_of(segment: Segment, name: str) -> list[tuple[str, int, int]]:
    """Return (file, line, count) of the unresolved uses of `name` in a segment; line 0 where only
    the number in the file is known. Raises Damaged.
    """
    keys, key = segment.arrays["unresolved_keys"], np.uint64(key_of(name))
    at = int(np.searchsorted(keys, key))
    if at == len(keys) or keys[at] != key:
        return []
    rows = np.frombuffer(_frames(segment, "unresolved", _UNRESOLVED).read_row(at), "<i4").reshape(-1, 3)
    files, places = np.unique(rows[:, 0], return_inverse=True)
    paths = texts_of(segment, files.astype("<i8"))
    return [
        (paths[place], line, count)
        for place, (line, count) in zip(places.tolist(), rows[:, 1:].tolist(), strict=True)
    ]


def _unresolved_sections(uses: list[_Unresolved], strings: _Strings) -> dict[str, Array]:
    """Return the sections of unresolved uses: the keys of the names (u64, ascending), and for each
    its rows: file, line, count.
    """
    by_key: dict[int, list[tuple[int, int, int]]] = {}
    for use in uses:
        file, rows = strings.of(use.file), by_key.setdefault(key_of(use.name), [])
        rows += [(file, _line(line), 1) for line in use.lines] or [(file, 0, _line(use.count))]
    keys = sorted(by_key)
    parts = [np.array(by_key[key], "<i4").tobytes() for key in keys]
    return {"unresolved_keys": np.array(keys, "<u8"), **_pack_sections("unresolved", parts, _UNRESOLVED)}


def _frames(segment: Segment, what: str, size: int) -> packing.Frames:
    arrays = segment.arrays
    data = segment.bytes_of(f"{what}_frames")
    return packing.Frames(segment.path, data, arrays[f"{what}_frame_ends"], arrays[f"{what}_ends"], size)


def _edge_rows(edges: list[_Edge], strings: _Strings) -> Array:
    """Return i32 [m, 8]: from, to, type, confidence, file, line, column; the last is 0, or a number
    that candidates share.
    """
    of, rows = strings.of, []
    for group, edge in enumerate(edges, start=1):
        kind, confidence = _TYPES.get(edge.type, _OTHER), _CONFIDENCES.get(edge.confidence, 0)
        at = edge.location
        file = of(at.file)
        if edge.target:
            rows.append((of(edge.source), of(edge.target), kind, confidence, file, at.line, at.column, 0))
        else:
            source = of(edge.source) if edge.candidates else 0
            rows += [
                (source, of(target), kind, confidence, file, at.line, at.column, group)
                for target in edge.candidates
            ]
    table = np.array(rows, "<f8").reshape(len(rows), EDGE_COLUMNS)  # exact up to more than LINE_MAX
    return table.clip(0, LINE_MAX).astype("<i4")


def _line(number: int) -> int:
    """Clip a line to the range of a column: files of other programs may contain any number."""
    return min(max(number, 0), LINE_MAX)


def _name_keys(nodes: list[_Node]) -> dict[str, Array]:
    """Return for each node the keys of its last name, of the name before it (twice: with and
    without the names of its file), and of the enclosing node. Packages have no enclosing node.
    """
    parts = [split_id(node.id) for node in nodes]
    short = [split_short(node.id) for node in nodes]
    return {
        "last_keys": keys_of("".join(name_parts[-1:]) for name_parts in parts),
        "second_keys": keys_of("".join(name_parts[-2:-1]) for name_parts in parts),
        "short_keys": keys_of("".join(name_parts[-2:-1]) for name_parts in short),
        "above_keys": keys_of("" if node.kind == "package" else enclosing_id(node.id) for node in nodes),
    }
