"""The compact form of graph results: each place once, with its line of code. Pure."""

import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

#: operations that follow the edges forwards: each result is the end of a reference
_FORWARD = frozenset({"callees", "dependencies", "path"})
#: keys that are copied unchanged
_COPIED_KEYS = tuple(
    "of more_sites via given step edge confidence impact_type severity alternatives handlers computed mounted "
    "requests test".split()
)
_CANDIDATES = ("candidates", "more_candidates", "candidates_of")
#: characters of a line of code; longer ones are cut
LINE_CHARS_MAX = 160

Row = dict[str, Any]


def compact(results: Iterable[bytes], operation: str) -> tuple[tuple[bytes, ...], str]:
    """Return (results as JSON, the file of the bare line numbers in `from`; "" where none is used).

    `at` is the place to open. For references to the target it is the reference; for definitions
    that the target leads to, or that implement it, it is the definition, and `from` is the
    reference: a bare number is a line of the target's file; in the answer of `path`, a line of the
    file of the step before.
    """
    rows = [orjson.loads(raw) for raw in results]
    file = next((row["location"]["file"] for row in rows if "location" in row), "")
    base_file = file if operation in _FORWARD and operation != "path" else ""
    encoded_rows = []
    for row in rows:
        encoded_rows.append(orjson.dumps(_row(row, operation, base_file)))
        if operation == "path":
            base_file = row["node"].get("file", "")
    return tuple(encoded_rows), file if operation in _FORWARD and operation != "path" else ""


def drop_text(row: Row) -> Row:
    """Return a compact result without its lines of code."""
    return {name: value for name, value in row.items() if name != "text"}


def _row(result: Row, operation: str, base_file: str) -> Row:
    node: Row = result["node"]
    place: Row | None = result.get("location")
    defined: Row | None = {"file": node["file"], "line": node["start_line"]} if node.get("file") else None
    forward = operation in _FORWARD
    is_implementation = operation == "implementations" and "given" not in result
    by_definition = is_implementation or result.get("impact_type") == "override"
    at = place if place and not forward and not by_definition else defined
    row: Row = {"name": name} if (name := _short_name(node)) else {}
    row["kind"] = node["kind"]
    if at:
        row["at"] = _format_place(at)
    if defined and place and at == place and defined["file"] != place["file"]:
        row["defined"] = _format_place(defined)
    if forward and place:
        row["from"] = place["line"] if place["file"] == base_file else _format_place(place)
    if sites := result.get("sites"):
        base = at["file"] if at else ""
        row["sites"] = [site["line"] if site["file"] == base else _format_place(site) for site in sites]
    if operation != "path" and result["depth"] > 1:
        row["depth"] = result["depth"]
    row |= {name: result[name] for name in _COPIED_KEYS if name in result}
    if lines := result.get("context"):
        context_place = place if place and not by_definition else defined
        row["text"] = _render_lines(lines, node, context_place or {})
    return row | {name: result[name] for name in _CANDIDATES if name in result}


def _short_name(node: Mapping[str, Any]) -> str:
    """Return the name inside its file, a target together with the file's path; "" for a file."""
    if node["kind"] == "module" and node.get("file"):
        return ""
    if node.get("route"):
        return str(node["route"])
    return str(node["id"]).rpartition(":")[2] or str(node["id"])


def _format_place(place: Mapping[str, Any]) -> str:
    return f"{place['file']}:{place['line']}"


def _render_lines(lines: Sequence[Row], node: Mapping[str, Any], context_place: Mapping[str, Any]) -> str:
    """Return one line as it is; several with their numbers and without their common indentation.
    For a definition around `context_place`, only its own lines.
    """
    first, last = node.get("start_line", 0), node.get("end_line", 0)
    if context_place.get("file") != node.get("file") or not first <= context_place["line"] <= last:
        first, last = 0, sys.maxsize
    inside = [line for line in lines if first <= line["line"] <= last and line["text"].strip()]
    texts = textwrap.dedent("\n".join(line["text"].rstrip() for line in inside)).split("\n")
    texts = [text if len(text) <= LINE_CHARS_MAX else f"{text[:LINE_CHARS_MAX]}…" for text in texts]
    if len(lines) == 1:
        return texts[0]
    return "\n".join(f"{line['line']}: {text}" for line, text in zip(inside, texts, strict=False))
