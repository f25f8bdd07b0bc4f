"""Outlines: symbols of a file or folder with their signatures, ranked by references to them, within
a budget. And completion of paths and symbols from the beginning of a name.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import orjson

from cortex.engines.graph.arrays import Graph
from cortex.generation.graph import EDGE_TYPES
from cortex.generation.segments.segment import join_column
from cortex.system.arrays import Array
from cortex.terms.bounds import clamp
from cortex.terms.budget import Budget
from cortex.terms.kinds import ROUTE_KINDS, WHOLE_KINDS
from ipc.messages import GraphHits, NameSearch, OutlineSearch

#: names of one answer
NAMES_MAX = 100
#: most symbols, by references: their names are decoded at once
SYMBOLS_MAX = 50_000

#: bytes of each file's entry, and of the answer's frame, without symbols
FILE_BYTES = 90
#: nodes per read: an answer may end before all of them are needed
READ = 128
_OF_ROUTES = [EDGE_TYPES.index(kind) for kind in ("routes_to", "requests")]
#: characters of a signature
SIGNATURE_CHARS_MAX = 200


def count_users(graph: Graph) -> Array:
    """The number of other definitions that refer to each name, without definitions inside it and
    without unsure calls.
    """
    counted = (graph.edges[:, 7] == 0) & ~np.isin(graph.edges[:, 2], _OF_ROUTES)
    edges = graph.edges[counted, :2].astype("<i8")
    outer = graph.names.numbers(join_column(graph.names.segments, "above_keys", "<u8"))
    # The last element answers index -1: nothing encloses it.
    up = np.full(len(graph.names) + 1, -1, "<i8")
    up[graph.nodes[::-1, 0]] = outer[::-1]
    at, inside = edges[:, 0], np.zeros(len(edges), dtype=bool)
    for _ in range(int(graph.nodes[:, 5].max(initial=0)) + 1):
        inside |= at == edges[:, 1]
        at = up[at]
    pairs = np.unique(edges[~inside, 0] * len(graph.names) + edges[~inside, 1])
    return np.bincount(pairs % max(1, len(graph.names)), minlength=len(graph.names))


def outline(graph: Graph, users: Array, request: OutlineSearch, generation: int) -> GraphHits:
    """The outline of `request.path`: each result is one file with its chosen symbols in the order
    of the text; files by references.
    """
    prefix = request.path.strip().strip("/").removeprefix("./")
    names = graph.names
    rows = _rows_below(graph, prefix)
    file_numbers = np.unique(graph.nodes[rows, 2]).tolist()
    files = {n: names[n] for n in file_numbers if _is_below(names[n], prefix)}
    if not files:
        suggestion = f"The graph has no file {prefix!r} and none below it."
        return GraphHits(generation, prefix, suggestion=suggestion)
    if len(files) < len(file_numbers):
        rows = rows[np.isin(graph.nodes[rows, 2], list(files))]
    weight = np.bincount(graph.nodes[rows, 2], weights=users[graph.nodes[rows, 0]], minlength=len(names))
    rows = rows[graph.nodes[rows, 1] != graph.kinds.get("module", -1)]
    symbols_by_file = _choose_symbols(graph, users, rows, request.max_bytes)
    results = [
        (
            files[file],
            orjson.dumps(
                {
                    "file": files[file],
                    "symbols": [fragment for _, fragment in sorted(symbols, key=itemgetter(0))],
                }
            ),
        )
        for file, symbols in sorted(
            symbols_by_file.items(), key=lambda item: (-weight[item[0]], files[item[0]])
        )
    ]
    shown_count = sum(map(len, symbols_by_file.values()))
    left = len(rows) - shown_count
    return GraphHits(
        generation=generation,
        target=prefix,
        paths=tuple(path for path, _ in results),
        total_found=len(rows),
        truncated=left > 0,
        suggestion=f"{left} symbols are left out; pass a larger max_tokens or a narrower path."
        if left
        else "",
        summary={"files": len(files), "shown": shown_count},
        results=tuple(raw for _, raw in results),
    )


def _rows_below(graph: Graph, prefix: str) -> Array:
    """The rows of nodes in the file `prefix`; without such a file, all rows."""
    file = graph.names.number(prefix)
    rows = graph.by_file.of(np.array([file])) if file >= 0 else np.zeros(0, np.int64)
    if not len(rows):
        rows = np.arange(len(graph.nodes))
    rows = rows[graph.node_of[graph.nodes[rows, 0]] == rows]
    hidden = [graph.kinds[kind] for kind in ("package", *ROUTE_KINDS) if kind in graph.kinds]
    visible: Array = rows[~np.isin(graph.nodes[rows, 1], hidden)]
    return visible


def _is_below(path: str, prefix: str) -> bool:
    return not prefix or path == prefix or path.startswith(f"{prefix}/")


def _choose_symbols(
    graph: Graph, users: Array, rows: Array, budget: int
) -> dict[int, list[tuple[int, orjson.Fragment]]]:
    """The most referenced symbols that fit: file → (first line, symbol)."""
    nodes = graph.nodes[rows]
    counts = users[nodes[:, 0]]
    order = np.lexsort((nodes[:, 3], graph.file_ranks[nodes[:, 2]], nodes[:, 5], -counts))
    symbols: dict[int, list[tuple[int, orjson.Fragment]]] = {}
    left = Budget(budget)
    for at, node in zip(order.tolist(), _read_nodes(graph, rows[order].tolist()), strict=True):
        file = int(nodes[at, 2])
        raw = orjson.dumps(_symbol(node, int(counts[at])))
        size = len(raw) + (0 if file in symbols else FILE_BYTES + len(graph.names[file]))
        if not left.take(size, sure=not symbols):
            break
        symbols.setdefault(file, []).append((int(nodes[at, 3]), orjson.Fragment(raw)))
    return symbols


def _read_nodes(graph: Graph, rows: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the nodes of the rows, read READ at a time."""
    for begin in range(0, len(rows), READ):
        yield from graph.nodes_json(rows[begin : begin + READ])


def _symbol(node: dict[str, Any], count: int) -> dict[str, Any]:
    return {
        "name": str(node.get("name") or node["id"].rpartition(":")[2]),
        "kind": node.get("kind", ""),
        "lines": [node.get("start_line", 0), node.get("end_line", 0)],
        "signature": signature(node)[:SIGNATURE_CHARS_MAX],
        "references": count,
    }


def signature(node: dict[str, Any]) -> str:
    """The signature in one form for all: `save(self, item: Item) -> str`, `Disk(Base, Saver)`."""
    name = str(node.get("name") or node["id"].rpartition(":")[2]).rpartition(".")[2]
    if "parameters" in node:
        inside = ", ".join(_format_parameter(parameter) for parameter in node["parameters"])
        returns = ", ".join(returned.get("name", "") for returned in node.get("returns") or ())
        return f"{name}({inside})" + (f" -> {returns}" if returns else "")
    bases = ", ".join(node.get("embedded_types") or ())
    return f"{name}({bases})" if bases else name


def _format_parameter(parameter: dict[str, Any]) -> str:
    kind = (parameter.get("type") or {}).get("name", "")
    return f"{parameter['name']}: {kind}" if kind else str(parameter["name"])


def list_symbols(graph: Graph, users: Array) -> list[str]:
    """The distinct names of definitions (`Store.save`), most referenced first."""
    wholes = [graph.kinds[kind] for kind in WHOLE_KINDS | ROUTE_KINDS if kind in graph.kinds]
    numbers = np.unique(graph.nodes[~np.isin(graph.nodes[:, 1], wholes), 0])
    numbers = numbers[np.argsort(-users[numbers], kind="stable")][:SYMBOLS_MAX]
    names = (graph.names[number].rpartition(":")[2] for number in numbers.tolist())
    return list(dict.fromkeys(names))


def complete(names: Iterable[str], request: NameSearch, generation: int) -> GraphHits:
    """The `candidates`: first names with the prefix, then names with a later part that has it."""
    if request.within and request.kind == "path":
        inside = f"{request.within}/"
        names = [name.removeprefix(inside) for name in names if name.startswith(inside)]
    typed = request.prefix.strip().lower()
    mark = "/" if request.kind == "path" else "."
    first, later = [], []
    for name in names:
        lower = name.lower()
        if lower.startswith(typed):
            first.append(name)
        elif f"{mark}{typed}" in lower:
            later.append(name)
    matches = [*first, *later]
    page = matches[: clamp(request.limit, 1, NAMES_MAX)]
    return GraphHits(
        generation, total_found=len(matches), truncated=len(page) < len(matches), candidates=tuple(page)
    )
