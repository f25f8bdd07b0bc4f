"""A file's or folder's symbols with their signatures, ranked by how much the rest refers to them, within a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from cortex.engines.graph_segments import Graph
from ipc.messages import Array, GraphHits, OutlineSearch

#: bytes that an answer's frame and each file's entry take beside the symbols
FILE_BYTES = 90
#: characters of a signature
SIGNATURE_CHARS_MAX = 200


def references(graph: Graph) -> Array:
    """How many edges end at each name; ambiguous ones do not count."""
    sure = graph.edges[graph.edges[:, 7] == 0, 1]
    return np.bincount(sure, minlength=len(graph.names))


def outline(graph: Graph, counts: Array, request: OutlineSearch, generation: int) -> GraphHits:
    """Each result is one file with its chosen symbols in the order of the text; files by their references."""
    prefix = request.path.strip().strip("/").removeprefix("./")
    files: dict[str, list[int]] = {}
    names = graph.names
    for row, (number, kind, file, _, _) in enumerate(graph.nodes.tolist()):
        path = names[file]
        if graph.node_of[number] == row and _inside(path, prefix) and names[kind] != "package":
            files.setdefault(path, []).append(row)
    if not files:
        return _hits(generation, prefix, [], 0, f"The graph has no file {prefix!r} and none below it.")
    chosen, total = _choose(graph, counts, files, request.max_bytes)
    results = []
    order = sorted(chosen, key=lambda path: (-sum(_count(graph, counts, row) for row in files[path]), path))
    for path in order:
        symbols = [_symbol(graph, counts, row) for row in sorted(chosen[path], key=lambda r: _line(graph, r))]
        results.append((path, orjson.dumps({"file": path, "symbols": symbols})))
    shown = sum(map(len, chosen.values()))
    hits = _hits(generation, prefix, results, total, "")
    left = (
        f"{total - shown} symbols are left out; pass a larger max_tokens or a narrower path."
        if shown < total
        else ""
    )
    return GraphHits(
        **{name: getattr(hits, name) for name in hits.__dataclass_fields__}
        | {"truncated": shown < total, "suggestion": left, "summary": {"files": len(files), "shown": shown}}
    )


def _hits(
    generation: int, target: str, results: list[tuple[str, bytes]], total: int, suggestion: str
) -> GraphHits:
    return GraphHits(
        generation=generation,
        target=target,
        paths=tuple(path for path, _ in results),
        total_found=total,
        truncated=False,
        suggestion=suggestion,
        candidates=(),
        summary={},
        results=tuple(raw for _, raw in results),
    )


def _inside(path: str, prefix: str) -> bool:
    return not prefix or path == prefix or path.startswith(f"{prefix}/")


def _choose(
    graph: Graph, counts: Array, files: dict[str, list[int]], budget: int
) -> tuple[dict[str, list[int]], int]:
    """The most referred-to symbols that fit, by file, and how many there are in all."""
    rows = [row for own in files.values() for row in own if graph.names[graph.nodes[row, 1]] != "module"]
    rows.sort(
        key=lambda row: (-_count(graph, counts, row), _depth(graph, row), graph.names[graph.nodes[row, 0]])
    )
    chosen: dict[str, list[int]] = {}
    used = 0
    for row in rows:
        path = graph.names[graph.nodes[row, 2]]
        size = len(orjson.dumps(_symbol(graph, counts, row))) + (
            0 if path in chosen else FILE_BYTES + len(path)
        )
        if used + size > budget and chosen:
            break
        used += size
        chosen.setdefault(path, []).append(row)
    return chosen, len(rows)


def _count(graph: Graph, counts: Array, row: int) -> int:
    return int(counts[graph.nodes[row, 0]])


def _line(graph: Graph, row: int) -> int:
    return int(graph.nodes[row, 3])


def _depth(graph: Graph, row: int) -> int:
    name: str = graph.names[graph.nodes[row, 0]]
    return name.count(".")


def _symbol(graph: Graph, counts: Array, row: int) -> dict[str, Any]:
    node = graph.node_json(row)
    return {
        "name": str(node.get("name") or node["id"].rpartition(":")[2]),
        "kind": node.get("kind", ""),
        "lines": [node.get("start_line", 0), node.get("end_line", 0)],
        "signature": signature(node)[:SIGNATURE_CHARS_MAX],
        "references": _count(graph, counts, row),
    }


def signature(node: dict[str, Any]) -> str:
    """`save(self, item: Item) -> str`, `Disk(Base, Saver)`: one form for every language."""
    name = str(node.get("name") or node["id"].rpartition(":")[2]).rpartition(".")[2]
    if "parameters" in node:
        inside = ", ".join(_typed(one) for one in node["parameters"])
        returns = ", ".join(one.get("name", "") for one in node.get("returns") or ())
        return f"{name}({inside})" + (f" -> {returns}" if returns else "")
    bases = ", ".join(node.get("embedded_types") or ())
    return f"{name}({bases})" if bases else name


def _typed(parameter: dict[str, Any]) -> str:
    kind = (parameter.get("type") or {}).get("name", "")
    return f"{parameter['name']}: {kind}" if kind else str(parameter["name"])
