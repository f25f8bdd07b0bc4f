"""The view of the graph: callers and callees of a symbol, the impact of a change as a tree, the
shortest path between two names. All data come from cortex_graph.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from cortex.front.http.page.frame import Action, View, Visit, form_address, number_in, text_of
from cortex.system.errors import BadRequest
from cortex.terms.code.ambiguous_candidates import candidates_of

Row = dict[str, Any]

#: maximum of shown callers of one symbol, and of callees
AROUND_MAX = 60
#: levels of a tree: maximum and default; maximum of its results, for more are no picture any more
LEVELS_MAX, LEVELS, TREE_MAX = 6, 3, 200
#: confidence of a resolved reference → its meaning, the most certain first
CONFIDENCES = {
    "exact": "same scope, file or package",
    "import": "through an import",
    "receiver": "by the receiver's type",
    "name": "the only method of that name",
    "dispatch": "through an implemented or overridden method",
    "unsure": "may mean several definitions",
}
#: words of sentences for agents: tools, arguments, and how to ask for more
_AGENTS_WORDS = re.compile(
    r"cortex_|`|max_\w+|\boffset\b|ask again|include_context|Shown: |type_usages|raise it|loosen"
)
#: name of a query type → its title
WAYS = {"around": "Callers and callees", "impact": "Impact", "path": "Path"}


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """Parameters of the view's URL: `of` a symbol or a file, the query type `way`."""

    of: str = ""
    way: str = "around"
    to: str = ""
    depth: int = LEVELS


async def show(visit: Visit) -> dict[str, Any]:
    question = _read_query(visit.query)
    answer = _NOTHING | (await _WAY_FUNCTIONS[question.way](visit, question) if question.of else {})
    fault = ""
    if question.of and question.way == "path" and not question.to:
        fault = "Enter the end of the path."
    picture = answer["picture"]
    return {
        "asked": question,
        "root": str(visit.hosted.config.root) if visit.is_local else "",
        "ways": WAYS,
        "levels": range(1, LEVELS_MAX + 1),
        "confidences": CONFIDENCES,
        "found": answer,
        "fault": fault,
        "picture": orjson.dumps(picture).decode() if picture and picture["nodes"] else "",
    }


def _read_query(query: Mapping[str, str]) -> GraphQuery:
    way = query.get("way", "around")
    return GraphQuery(
        query.get("of", "").strip(),
        way if way in WAYS else "around",
        query.get("to", "").strip(),
        min(max(number_in(query.get("depth", ""), LEVELS), 1), LEVELS_MAX),
    )


async def _around(visit: Visit, question: GraphQuery) -> dict[str, Any]:
    """Return {"center", "callers", "callees": rows, "said", "candidates", "more", "picture"}."""
    itself, callers, callees = await asyncio.gather(
        _graph(visit, "path", question.of, to=question.of),
        _graph(visit, "callers", question.of, max_results=AROUND_MAX, max_per_level=AROUND_MAX),
        _graph(visit, "callees", question.of, max_results=AROUND_MAX, max_per_level=AROUND_MAX),
    )
    if not itself["results"]:
        return _empty_answer(itself)
    center = _center(callers["target"], itself["results"])
    before = [_row(result, callers["results"]) for result in callers["results"]]
    after = [_row(result, callees["results"]) for result in callees["results"]]
    edges = [_edge(row, row["node"]["id"], center["id"]) for row in before]
    edges += [_edge(row, center["id"], row["node"]["id"]) for row in after]
    return {
        "center": center,
        "callers": before,
        "callees": after,
        "said": [_for_people(answer["suggestion"]) for answer in (callers, callees) if not answer["results"]],
        "candidates": itself.get("candidates", []),
        "more": {"callers": _hidden_count(callers), "callees": _hidden_count(callees)},
        "picture": _picture("around", center, [center, *(row["node"] for row in (*before, *after))], edges),
    }


async def _impact(visit: Visit, question: GraphQuery) -> dict[str, Any]:
    """Return {"center", "tree": rows with "children", "summary", "decisions", "said", "candidates",
    "more", "picture"}.
    """
    itself, impact = await asyncio.gather(
        _graph(visit, "path", question.of, to=question.of),
        _graph(
            visit,
            "impact",
            question.of,
            depth=question.depth,
            max_results=TREE_MAX,
            max_per_level=TREE_MAX // 2,
        ),
    )
    if not itself["results"]:
        return _empty_answer(itself)
    center = _center(impact["target"], itself["results"])
    rows = [
        _row(result, impact["results"]) | {"via": result.get("via", ""), "children": []}
        for result in impact["results"]
    ]
    by_id = {row["node"]["id"]: row for row in rows}
    tree: list[Row] = []
    for row in rows:
        above = by_id.get(row["via"])
        (tree if above is None else above["children"]).append(row)
    edges = [
        _edge(row, row["node"]["id"], row["via"] if row["via"] in by_id else center["id"]) for row in rows
    ]
    return {
        "center": center,
        "tree": tree,
        "summary": impact.get("summary", {}),
        "decisions": impact.get("decisions", []),
        "said": [_for_people(impact["suggestion"])],
        "candidates": itself.get("candidates", []),
        "more": _hidden_count(impact),
        "picture": _picture("tree", center, [center, *(row["node"] for row in rows)], edges),
    }


async def _path(visit: Visit, question: GraphQuery) -> dict[str, Any]:
    """Return {"steps": rows, "said", "candidates", "unclear": "of" or "to", the end that the
    candidates are for, "picture"}.
    """
    if not question.to:
        return {}
    itself, path = await asyncio.gather(
        _graph(visit, "path", question.of, to=question.of), _graph(visit, "path", question.of, to=question.to)
    )
    if not path["results"]:
        return _empty_answer(path) | {"unclear": "to" if itself["results"] else "of"}
    steps = [_row(step, path["results"]) for step in path["results"]]
    nodes = [row["node"] for row in steps]
    edges = [
        _edge(row, before["id"], row["node"]["id"]) for before, row in zip(nodes, steps[1:], strict=False)
    ]
    return {
        "steps": steps,
        "said": [_for_people(path["suggestion"])],
        "candidates": path.get("candidates", []),
        "picture": _picture("path", nodes[0], nodes, edges),
    }


#: fields of every answer
_NOTHING: dict[str, Any] = {"said": [], "candidates": [], "unclear": "of", "picture": None}
_WAY_FUNCTIONS = {"around": _around, "impact": _impact, "path": _path}


async def grow(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return the picture around one more symbol, `body["of"]`. Raises BadRequest."""
    of = text_of(body, "of").strip()
    if not of:
        raise BadRequest("`of` is empty; it must be a symbol.")
    answer = await _around(visit, GraphQuery(of))
    if "picture" not in answer:
        raise BadRequest(" ".join(answer["said"]) or f"There is no {of!r} in the graph.")
    picture: dict[str, Any] = answer["picture"]
    for node in picture["nodes"]:
        node["address"] = visit.address("graph", project=visit.hosted.name, of=node["id"])
    return picture | {"more": answer["more"]}


async def _graph(visit: Visit, operation: str, target: str, **more: Any) -> dict[str, Any]:
    arguments = {"operation": operation, "target": target, "include_context": False, "detail": "full", **more}
    return await visit.call("cortex_graph", arguments)


def _empty_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"said": [_for_people(answer["suggestion"])], "candidates": answer.get("candidates", [])}


def _for_people(sentence: str) -> str:
    """Return the sentences that name no agents' tool or argument: the page has its own controls."""
    sentences = re.split(r"(?<=[.;]) ", sentence)
    plain = " ".join(clause for clause in sentences if not _AGENTS_WORDS.search(clause)).strip()
    return re.sub(r";$", ".", plain)


def _hidden_count(answer: Mapping[str, Any]) -> int:
    return max(0, int(answer["total_found"]) - int(answer["total_returned"]))


def _center(target: str, itself: Sequence[Mapping[str, Any]]) -> Row:
    """Return the row of the symbol; for a type or a file the path to itself may name a member."""
    node = itself[0]["node"]
    return _node(node if node["id"] == target else {"id": target, "kind": "", "file": node.get("file", "")})


def _node(node: Mapping[str, Any]) -> Row:
    name = str(node["id"])
    return {
        "id": name,
        "name": name.rpartition(":")[2] or name,
        "kind": node.get("kind", ""),
        "file": node.get("file", ""),
        "line": node.get("start_line", 0),
        "signature": node.get("signature", ""),
    }


def _row(result: dict[str, Any], results: Sequence[dict[str, Any]]) -> Row:
    """Return the row of one result: its node, confidence, and the place of the call or use."""
    place = result.get("location", {})
    candidates = candidates_of(result, results)
    return {
        "node": _node(result["node"]),
        "depth": result["depth"],
        "edge": result.get("edge", ""),
        "confidence": "unsure" if candidates else result.get("confidence", ""),
        "candidates": candidates,
        "file": place.get("file", ""),
        "line": place.get("line", 0),
        "stale": bool(result.get("stale")),
        "impact": result.get("impact_type", ""),
        "severity": result.get("severity", ""),
    }


def _edge(row: Row, source: str, target: str) -> Row:
    place = f"{row['file']}:{row['line']}" if row["file"] else ""
    return {
        "from": source,
        "to": target,
        "type": row["edge"],
        "confidence": row["confidence"],
        "place": place,
        "severity": row["severity"],
    }


def _picture(layout: str, center: Row, nodes: Iterable[Row], edges: Sequence[Row]) -> dict[str, Any]:
    """Return the graph for the module to draw, each node once."""
    once = {node["id"]: node for node in nodes}
    return {"layout": layout, "center": center["id"], "nodes": list(once.values()), "edges": edges}


VIEW = View(
    "graph", "Graph", show, {"grow": Action(grow), "address": form_address("graph")}, styles=("graph.css",)
)
