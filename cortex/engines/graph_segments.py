"""Graph files → segments of arrays, and the arrays of a generation put together. What is asked of them: graph_walks.py.

A segment holds one graph file: `strings` (UTF-8, one after the other) with `string_ends`; nodes as string numbers of id,
kind and file, their lines, and their JSON; edges as string numbers, with lines. An ambiguous edge is in as many rows as
it has candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import orjson

from ipc.errors import Damaged
from ipc.messages import Array
from ipc.segment import Segment, open_segment, write_segment

#: types of edges, in the order of their numbers; another one of a foreign file counts as the last
EDGE_TYPES = ("calls", "implements", "extends", "embeds", "imports", "uses_type", "other")
CONFIDENCES = ("exact", "import", "receiver", "name")
#: bytes of one graph file
FILE_BYTES_MAX = 512 * 1024 * 1024

_CALLS = EDGE_TYPES.index("calls")


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


class _File(msgspec.Struct):
    nodes: list[msgspec.Raw]
    edges: list[_Edge]


@dataclass(slots=True)
class _Strings:
    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def sections(self) -> dict[str, Array]:
        raw = [text.encode("utf-8", "replace") for text in self.numbers]
        return {
            "strings": np.frombuffer(b"".join(raw), np.uint8),
            "string_ends": np.cumsum([0, *map(len, raw)])[1:].astype("<u4"),
        }


def write_graph(path: Path, raw: bytes) -> None:
    """Write the segment of one graph file. Raises Damaged when `raw` is none, OSError."""
    try:
        data = msgspec.json.decode(raw, type=_File)
        nodes = [msgspec.json.decode(node, type=_Node) for node in data.nodes]
    except msgspec.DecodeError as error:
        raise Damaged(f"not a graph file: {error}") from error
    strings = _Strings()
    heads = [
        (strings.of(n.id), strings.of(n.kind), strings.of(n.file), n.start_line, n.end_line) for n in nodes
    ]
    rows = []
    for group, edge in enumerate(data.edges):
        kind = EDGE_TYPES.index(edge.type) if edge.type in EDGE_TYPES else len(EDGE_TYPES) - 1
        confidence = CONFIDENCES.index(edge.confidence) if edge.confidence in CONFIDENCES else 0
        place = (strings.of(edge.location.file), max(0, edge.location.line), max(0, edge.location.column))
        for target in (edge.target,) if edge.target else edge.candidates:
            ambiguous = 0 if edge.target else group + 1
            rows.append((strings.of(edge.source), strings.of(target), kind, confidence, *place, ambiguous))
    bodies = [bytes(node) for node in data.nodes]
    sections = {
        "nodes": np.array(heads, "<u4").reshape(len(heads), 5),
        "node_json": np.frombuffer(b"".join(bodies), np.uint8),
        "node_ends": np.cumsum([0, *map(len, bodies)])[1:].astype("<u4"),
        "edges": np.array(rows, "<u4").reshape(len(rows), 8),
        **strings.sections(),
    }
    write_segment(path, sections, {"nodes": len(heads), "edges": len(rows)})


@dataclass(frozen=True, slots=True)
class Part:
    """One opened segment with its strings as Python's."""

    segment: Segment
    strings: tuple[str, ...]


def open_part(path: Path) -> Part:
    """Raises NotFound or Damaged."""
    segment = open_segment(path)
    raw = bytes(segment.bytes_of("strings"))
    ends = segment.arrays["string_ends"].tolist()
    starts = [0, *ends[:-1]]
    return Part(segment, tuple(raw[start:end].decode() for start, end in zip(starts, ends, strict=True)))


@dataclass(frozen=True, slots=True)
class Lists:
    """Edges by one of their ends: those of `n` are `rows[starts[n]:starts[n + 1]]`."""

    starts: Array
    rows: Array

    def of(self, numbers: Array) -> Array:
        """The edge rows of all `numbers`, in their order."""
        begin, end = self.starts[numbers], self.starts[numbers + 1]
        counts = end - begin
        total = int(counts.sum())
        if not total:
            return self.rows[:0]
        offsets = np.repeat(begin - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        return self.rows[offsets + np.arange(total)]


@dataclass(frozen=True, slots=True)
class Graph:
    """A generation's graph. Names (of nodes and whatever else an edge ends at) have numbers; `node_of[number]` is the row
    of the name's node, -1 when it has none. `edges` columns: from, to, type, confidence, file, line, column, group.
    """

    names: tuple[str, ...]
    numbers: Mapping[str, int]
    node_of: Array
    #: for each node row: number, kind, file, first line, last line
    nodes: Array
    edges: Array
    outgoing: Lists
    incoming: Lists
    parts: tuple[Part, ...]
    #: for each node row: its part, and its row there
    places: Array
    #: for each number that is a file: where it stands among the files' names
    file_ranks: Array

    def node_json(self, row: int) -> dict[str, Any]:
        part, inner = self.places[row].tolist()
        arrays = self.parts[part].segment.arrays
        begin = int(arrays["node_ends"][inner - 1]) if inner else 0
        found: dict[str, Any] = orjson.loads(
            arrays["node_json"][begin : int(arrays["node_ends"][inner])].tobytes()
        )
        return found


def assemble(parts: tuple[Part, ...]) -> Graph:
    """One graph of all parts. Of two nodes with one id the first counts."""
    numbers: dict[str, int] = {}
    maps = [
        np.array([numbers.setdefault(text, len(numbers)) for text in part.strings], "<u4") for part in parts
    ]
    nodes, edges, places = [], [], []
    groups = 0
    for at, (part, table) in enumerate(zip(parts, maps, strict=True)):
        own = part.segment.arrays["nodes"].astype("<i8")
        if len(own):
            own[:, :3] = table[own[:, :3]]
            nodes.append(own)
            places.append(np.column_stack((np.full(len(own), at), np.arange(len(own)))))
        rows = part.segment.arrays["edges"].astype("<i8")
        if len(rows):
            rows[:, (0, 1, 4)] = table[rows[:, (0, 1, 4)]]
            rows[:, 7] = np.where(rows[:, 7] > 0, rows[:, 7] + groups, 0)
            groups += len(rows) + 1
            edges.append(rows)
    all_nodes = np.concatenate(nodes) if nodes else np.zeros((0, 5), "<i8")
    all_edges = np.concatenate(edges) if edges else np.zeros((0, 8), "<i8")
    node_of = np.full(len(numbers), -1, "<i8")
    node_of[all_nodes[::-1, 0]] = np.arange(len(all_nodes))[::-1]
    names = tuple(numbers)
    return Graph(
        names=names,
        numbers=numbers,
        node_of=node_of,
        nodes=all_nodes,
        edges=all_edges,
        outgoing=_lists(all_edges[:, 0], len(numbers)),
        incoming=_lists(all_edges[:, 1], len(numbers)),
        parts=parts,
        places=np.concatenate(places) if places else np.zeros((0, 2), "<i8"),
        file_ranks=_file_ranks(names, np.concatenate((all_nodes[:, 2], all_edges[:, 4]))),
    )


def _file_ranks(names: tuple[str, ...], files: Array) -> Array:
    ranks = np.zeros(len(names), "<i8")
    ordered = sorted(np.unique(files).tolist(), key=names.__getitem__)
    ranks[ordered] = np.arange(len(ordered))
    return ranks


def _lists(ends: Array, count: int) -> Lists:
    rows = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[rows], np.arange(count + 1))
    return Lists(starts, rows)


class GraphOpener:
    """Opens generations; a segment that two of them share is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: dict[str, Part] = {}
        self._graph = assemble(())

    def open(self, names: Mapping[str, str]) -> Graph:
        """The graph of a generation. `names`: graph file → segment. Raises NotFound or Damaged."""
        wanted = [name for _, name in sorted(names.items())]
        if wanted == list(self._parts):
            return self._graph
        parts = {name: self._parts.get(name) or open_part(self._folder / name) for name in wanted}
        self._graph = assemble(tuple(parts.values()))
        self._parts = parts
        return self._graph
