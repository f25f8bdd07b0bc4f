"""The graph of a generation, assembled from the segments of its graph files as arrays. walks.py
answers queries over it.

Names are numbers: equal keys from any segment have one number. Texts of names stay in the mapped
segments and are decoded on demand, so that a large graph opens in a fraction of a second and takes
no more memory than its arrays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from cortex.generation.graph import (
    CONFIDENCES,
    EDGE_COLUMNS,
    EDGE_TYPES,
    NODE_COLUMNS,
    nodes_of,
    text_of,
    texts_of,
    unresolved_of,
)
from cortex.generation.references import find_places
from cortex.generation.segments.segment import Segment, join_column, open_segment
from cortex.graph.frameworks.match import match_requests
from cortex.system.arrays import Array, set_aside
from cortex.system.process import allocator
from cortex.terms.ids import key_of, strip_overload
from cortex.terms.kinds import ROUTE_KINDS

#: most candidates of an ambiguous edge: graph files of foreign programs may list thousands, and
#: each result with such an edge lists them
CANDIDATES_MAX = 64
#: texts in the cache of names, some 120 bytes each
KNOWN_MAX = 4096
_REQUESTS = EDGE_TYPES.index("requests")


@dataclass(frozen=True, slots=True)
class Names:
    """The texts of all segments, by number.

    `keys` (u64, ascending); `parts` and `rows`: segment of a text and its row there.
    """

    segments: tuple[Segment, ...]
    keys: Array
    parts: Array
    rows: Array
    #: number → text, of the latest: an answer repeats a few names
    cached_texts: dict[int, str] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, number: int) -> str:
        text = self.cached_texts.get(number)
        if text is None:
            if len(self.cached_texts) >= KNOWN_MAX:
                self.cached_texts.clear()
            text = self.cached_texts[int(number)] = self._read_text(number)
        return text

    def _read_text(self, number: int) -> str:
        return text_of(self.segments[self.parts[number]], int(self.rows[number]))

    def texts(self, numbers: Array) -> list[str]:
        """The texts of `numbers` (i64 [m]), in order; one read for each segment."""
        out = [""] * len(numbers)
        for segment_number, positions in _group_by_part(self.parts[numbers]):
            some = texts_of(self.segments[segment_number], self.rows[numbers[positions]])
            for at, text in zip(positions.tolist(), some, strict=True):
                out[at] = text
        return out

    def number(self, text: str) -> int:
        """The number of `text`, -1 when no segment has it."""
        number = int(self.numbers(np.array([key_of(text)], "<u8"))[0])
        return number if number >= 0 and self[number] == text else -1

    def numbers(self, keys: Array) -> Array:
        """The numbers (i64 [m]) of keys (u64 [m]); -1 for a key that no segment has."""
        return find_places(self.keys, keys)


@dataclass(frozen=True, slots=True)
class Lists:
    """Rows grouped by one end: the rows of `n` are `rows[starts[n]:starts[n + 1]]`."""

    starts: Array
    rows: Array

    def of(self, numbers: Array) -> Array:
        """The rows of all `numbers`, in their order."""
        return self.pairs(numbers)[1]

    def pairs(self, numbers: Array) -> tuple[Array, Array]:
        """(positions in `numbers`, rows): each number's rows, in the order of the numbers."""
        begin = self.starts[numbers]
        counts = self.starts[numbers + 1] - begin
        return np.repeat(np.arange(len(counts)), counts), self.rows[expand_ranges(begin, counts)]


@dataclass(frozen=True, slots=True)
class Keyed:
    """Node rows sorted by a key."""

    keys: Array
    rows: Array

    def of(self, key: int) -> Array:
        return self.of_all(np.array([key], "<u8"))

    def of_all(self, keys: Array) -> Array:
        """The rows of all `keys` (u64), in their order."""
        return self.pairs(keys)[1]

    def pairs(self, keys: Array) -> tuple[Array, Array]:
        """(positions in `keys`, rows): the rows of each key, in the order of the keys."""
        begin = np.searchsorted(self.keys, keys)
        counts = np.searchsorted(self.keys, keys, "right") - begin
        return np.repeat(np.arange(len(counts)), counts), self.rows[expand_ranges(begin, counts)]


def _group_by_part(parts: Array) -> Iterator[tuple[int, Array]]:
    """Yield (value, indices with that value) of each distinct value in `parts`."""
    order = np.argsort(parts, kind="stable")
    cuts = np.flatnonzero(np.diff(parts[order])) + 1
    for positions in np.split(order, cuts) if len(parts) else ():
        yield int(parts[positions[0]]), positions


def expand_ranges(begin: Array, counts: Array) -> Array:
    """The concatenated ranges `begin[i]` … `begin[i] + counts[i] - 1`."""
    ends = np.cumsum(counts)
    return np.repeat(begin - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)


@dataclass(frozen=True, slots=True)
class Graph:
    """A generation's graph. Names (of nodes and of other ends of edges) have numbers;
    `node_of[number]` is the row of the name's node, -1 without a node.
    """

    names: Names
    node_of: Array
    #: i32, for each node row: number, kind, file, first line, last line, depth
    nodes: Array
    #: i32, for each edge row: from, to, type, confidence, file, line, column, group
    edges: Array
    outgoing: Lists
    incoming: Lists
    #: node rows by the number of their file's path
    by_file: Lists
    #: for each node row: its segment, and its row there
    places: Array
    #: for each number of a file: its rank among the paths
    file_ranks: Array
    #: kind → its number
    kinds: Mapping[str, int]
    #: nodes by their last name, and by the enclosing id; of two nodes with one id only the first
    by_last: Keyed
    by_above: Keyed
    #: u64, for each node row: keys of the second last name, with and without the file's name
    seconds: Array
    shorts: Array

    def nodes_json(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """The JSON of node rows, in order."""
        return _read_nodes(self.names.segments, self.places[list(rows)])

    def kind(self, number: int) -> str:
        """The kind of the node `number`; "" for numbers without a node, as -1."""
        row = int(self.node_of[number]) if number >= 0 else -1
        return self.names[int(self.nodes[row, 1])] if row >= 0 else ""

    def file_of(self, number: int) -> str:
        """The path of the file with the node `number`."""
        return self.names[int(self.nodes[int(self.node_of[number]), 2])]

    def is_unsure(self, edge: int) -> bool:
        """Whether the edge is ambiguous between names that are not just overloads of one, or
        perhaps means none: it has one candidate.
        """
        if not self.edges[edge, 7]:
            return False
        names = [strip_overload(self.names[number]) for number in self._group_numbers(edge)]
        return len(names) == 1 or any(name != names[0] for name in names)

    def candidates(self, edge: int) -> list[str]:
        """The possible ends of the ambiguous edge in row `edge`, at most CANDIDATES_MAX."""
        return [self.names[number] for number in self._group_numbers(edge)]

    def unresolved(self, name: str) -> list[tuple[str, int, int]]:
        """(file, line, count) of the unresolved uses of a name, by file and line; line 0 where only
        the number in the file is known.
        """
        return sorted(row for segment in self.names.segments for row in unresolved_of(segment, name))

    def _group_numbers(self, edge: int) -> list[int]:
        """The numbers at which the edges of a group end; the rows of a group are adjacent."""
        groups = self.edges[:, 7]
        first = last = edge
        while first > max(0, edge - CANDIDATES_MAX + 1) and groups[first - 1] == groups[edge]:
            first -= 1
        while last + 1 < min(len(groups), first + CANDIDATES_MAX) and groups[last + 1] == groups[edge]:
            last += 1
        numbers: list[int] = self.edges[first : last + 1, 1].tolist()
        return numbers


def assemble(segments: tuple[Segment, ...]) -> Graph:
    """Assemble one graph of all segments. Of two nodes with one id the first counts."""
    names, tables = _number_names(segments)
    all_nodes, all_edges, places = _assemble_rows(segments, tables)
    kinds = {names[number]: number for number in np.unique(all_nodes[:, 1]).tolist()}
    if "request" in kinds:  # before the lists over the edges are made: those of a large graph are many
        routes = [kinds[kind] for kind in ROUTE_KINDS if kind in kinds]
        ends = _read_nodes(segments, places[np.isin(all_nodes[:, 1], routes)])
        all_edges = _link_requests(names, all_edges, ends)
    node_of = np.full(len(names), -1, "<i4")
    node_of[all_nodes[::-1, 0]] = np.arange(len(all_nodes), dtype="<i4")[::-1]
    counted = np.flatnonzero(node_of[all_nodes[:, 0]] == np.arange(len(all_nodes)))
    return Graph(
        names=names,
        node_of=node_of,
        nodes=all_nodes,
        edges=all_edges,
        outgoing=make_lists(all_edges[:, 0], len(names)),
        incoming=make_lists(all_edges[:, 1], len(names)),
        by_file=make_lists(all_nodes[:, 2], len(names)),
        places=places,
        file_ranks=_file_ranks(names, np.concatenate((all_nodes[:, 2], all_edges[:, 4]))),
        kinds=kinds,
        by_last=make_keyed(join_column(segments, "last_keys", "<u8"), counted),
        by_above=make_keyed(join_column(segments, "above_keys", "<u8"), counted),
        seconds=join_column(segments, "second_keys", "<u8"),
        shorts=join_column(segments, "short_keys", "<u8"),
    )


def _read_nodes(segments: Sequence[Segment], places: Array) -> list[dict[str, Any]]:
    """The JSON of the nodes at `places`, in order; one read for each segment."""
    nodes = [dict[str, Any]()] * len(places)
    for number, positions in _group_by_part(places[:, 0]):
        raws = nodes_of(segments[number], places[positions, 1])
        for at, raw in zip(positions.tolist(), raws, strict=True):
            nodes[at] = orjson.loads(raw)
    return nodes


def _link_requests(names: Names, edges: Array, ends: Sequence[dict[str, Any]]) -> Array:
    """`edges` with edges from requests' functions to routes, in place of those to requests; one
    without a route has no edge. `ends` are the nodes of routes and of requests.
    """
    routes = {names.number(request): match for request, match in match_requests(ends).items()}
    are_requests = edges[:, 2] == _REQUESTS
    rows, group = [], int(edges[:, 7].max(initial=0))
    for edge in edges[are_requests].tolist():
        match = routes.get(edge[1])
        if match is None:
            continue
        several = len(match.routes) > 1
        group += several
        confidence = CONFIDENCES.index("exact" if match.is_sure else "name")
        rows += [
            (edge[0], names.number(route), edge[2], confidence, *edge[4:7], group if several else 0)
            for route in match.routes
        ]
    first = len(edges) - int(are_requests.sum())  # behind the other edges
    linked = np.empty((first + len(rows), EDGE_COLUMNS), "<i4")
    np.compress(~are_requests, edges, axis=0, out=linked[:first])
    linked[first:] = np.array(rows, "<i4").reshape(len(rows), EDGE_COLUMNS)
    return linked


def _assemble_rows(segments: tuple[Segment, ...], tables: list[Array]) -> tuple[Array, Array, Array]:
    """(nodes, edges, places) of all segments, numbered by `tables` and written in place."""
    counts = [(source.meta["nodes"], source.meta["edges"]) for source in segments]
    nodes = np.empty((sum(count for count, _ in counts), NODE_COLUMNS), "<i4")
    edges = np.empty((sum(count for _, count in counts), EDGE_COLUMNS), "<i4")
    places = np.empty((len(nodes), 2), "<i4")
    node = edge = groups = 0
    for at, (segment, table) in enumerate(zip(segments, tables, strict=True)):
        count, width = counts[at]
        own_nodes, rows = nodes[node : node + count], edges[edge : edge + width]
        own_nodes[:], rows[:] = segment.unpacked("nodes"), segment.unpacked("edges")
        own_nodes[:, :3] = table[own_nodes[:, :3]]
        rows[:, (0, 1, 4)] = table[rows[:, (0, 1, 4)]]
        most = int(rows[:, 7].max(initial=0))
        rows[:, 7] += np.where(rows[:, 7] > 0, groups, 0).astype("<i4")
        places[node : node + count, 0] = at
        places[node : node + count, 1] = np.arange(count)
        node, edge, groups = node + count, edge + width, groups + most
    return nodes, edges, places


def _number_names(segments: tuple[Segment, ...]) -> tuple[Names, list[Array]]:
    """The names of all segments, and for each segment the numbers of its strings."""
    counts = [len(segment.arrays["string_keys"]) for segment in segments]
    keys, first, numbers = np.unique(
        join_column(segments, "string_keys", "<u8"), return_index=True, return_inverse=True
    )
    starts = np.cumsum([0, *counts])
    parts = np.searchsorted(starts, first, side="right") - 1
    names = Names(segments, keys, parts.astype("<i4"), (first - starts[parts]).astype("<i4"))
    return names, np.split(numbers.astype("<i4").ravel(), starts[1:-1]) if segments else []


def make_keyed(keys: Array, rows: Array) -> Keyed:
    order = np.argsort(keys[rows], kind="stable")
    return Keyed(keys[rows][order], rows[order].astype("<i4"))


def _file_ranks(names: Names, files: Array) -> Array:
    ranks = np.zeros(len(names), "<i4")
    numbers = np.unique(files)
    texts = names.texts(numbers)
    ranks[numbers[sorted(range(len(texts)), key=texts.__getitem__)]] = np.arange(len(texts))
    return ranks


def make_lists(ends: Array, count: int) -> Lists:
    rows = np.argsort(ends, kind="stable").astype("<i4")
    starts = np.zeros(count + 1, "<i4")
    np.cumsum(np.bincount(ends, minlength=count), out=starts[1:])
    return Lists(starts, rows)


class GraphOpener:
    """Opens generations; segments common to two of them are read once, while their files exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segments: dict[str, Segment] = {}
        #: of the last opened generation
        self.graph = assemble(())
        allocator.may_forget(self)

    def open(self, names: Mapping[str, str]) -> Graph:
        """The graph of a generation. `names`: graph file → segment. Raises NotFound or Damaged."""
        wanted = [name for _, name in sorted(names.items())]
        reusable = {name: segment for name, segment in self._segments.items() if segment.is_there()}
        if wanted == list(reusable) and len(reusable) == len(self._segments):
            return self.graph
        opened = {name: reusable.get(name) or open_segment(self._folder / name) for name in wanted}
        self.graph = assemble(tuple(opened.values()))
        self._segments = opened
        allocator.trim()
        return self.graph

    def forget(self) -> None:
        """Set the tables of the graph aside, now that it is idle. Not when it is opened: that would
        write all of them for each saved file.
        """
        _set_tables_aside(self._folder, self.graph)


def _set_tables_aside(folder: Path, table: Any) -> None:
    for name in table.__slots__:
        value = getattr(table, name)
        if isinstance(value, Names | Lists | Keyed):
            _set_tables_aside(folder, value)
        elif isinstance(value, np.ndarray) and value.flags.owndata and value.size:
            object.__setattr__(table, name, set_aside(folder, value))  # an equal one
