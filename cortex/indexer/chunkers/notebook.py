"""Jupyter notebooks: one document for each text cell, one code file for each code cell; outputs are
left out.

A cell has only covering kinds of chunks: an overview of three lines adds nothing to them. Line
numbers are those of the cells' source in the notebook's JSON, as an editor without a notebook view
shows it. A notebook that cannot be read as one is cut as plain text.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import orjson
from tree_sitter import Node

from cortex.indexer.syntax.parse import syntax_tree
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import Language, language_of
from cortex.terms.records import Chunk

#: names of kernels' languages that differ from suffixes
_SUFFIXES = {
    "python": ".py", "r": ".r", "julia": ".jl", "scala": ".scala", "javascript": ".js",
    "rust": ".rs",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """`numbers[i]` is the line in the notebook's file of line i of the cell."""

    source: Source
    language: Language
    numbers: tuple[int, ...]


def cells(source: Source) -> list[Cell]:
    """Return the cells that are not blank, [] when the file is no notebook."""
    raw, tree = syntax_tree(source, language_of("a.json"))
    root = _members(tree.root_node.named_children[0] if tree.root_node.named_children else None, raw)
    cell_array = root.get("cells")
    if cell_array is None or cell_array.type != "array":
        return []
    code = _code_language(root.get("metadata"), raw)
    notebook_cells: list[Cell] = []
    for node in cell_array.named_children:
        members = _members(node, raw)
        kind = _json_value(members.get("cell_type"), raw)
        lines = list(_lines(members.get("source"), raw))
        if not any(text.strip() for text, _ in lines):
            continue
        language = {"code": code, "markdown": language_of("a.md")}.get(str(kind), language_of("a.txt"))
        texts, numbers = zip(*lines, strict=True)
        notebook_cells.append(Cell(Source(source.path, texts), language, numbers))
    return notebook_cells


def to_notebook_chunk(chunk: Chunk, cell: Cell, number: int) -> Chunk:
    """Return a covering chunk of a cell as a chunk of the notebook."""
    stem = "doc-" if chunk.chunk_type == "documentation" else "code-"
    suffix = chunk.id.removeprefix(stem + cell.source.path)
    metadata = chunk.metadata | {
        "start_line": _file_line(cell, chunk.metadata["start_line"]),
        "end_line": _file_line(cell, chunk.metadata["end_line"]),
        "cell": number,
    }
    if "definitions" in metadata:
        metadata["definitions"] = [
            _shift_definition(cell, definition) for definition in metadata["definitions"]
        ]
    return dataclasses.replace(chunk, id=f"{stem}{cell.source.path}#cell{number}{suffix}", metadata=metadata)


def _shift_definition(cell: Cell, definition: dict[str, Any]) -> dict[str, Any]:
    shifted = definition | {name: _file_line(cell, definition[name]) for name in ("start_line", "end_line")}
    if "blocks" in definition:
        shifted["blocks"] = [
            [_file_line(cell, first), _file_line(cell, last), depth]
            for first, last, depth in definition["blocks"]
        ]
    return shifted


def _file_line(cell: Cell, line: int) -> int:
    return cell.numbers[min(line, len(cell.numbers)) - 1]


def _members(node: Node | None, raw: bytes) -> dict[str, Node]:
    if node is None or node.type != "object":
        return {}
    members: dict[str, Node] = {}
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            members[str(_json_value(key, raw))] = value
    return members


def _json_value(node: Node | None, raw: bytes) -> Any:
    try:
        return None if node is None else orjson.loads(raw[node.start_byte : node.end_byte])
    except orjson.JSONDecodeError:
        return None


def _lines(node: Node | None, raw: bytes) -> Iterator[tuple[str, int]]:
    """Yield (text, line of the file) of a cell's lines: its source is a string or a list."""
    if node is None:
        return
    string_nodes = node.named_children if node.type == "array" else [node]
    open_line = ""
    number = node.start_point[0] + 1
    for string_node in string_nodes:
        number = string_node.start_point[0] + 1
        text = _json_value(string_node, raw)
        *complete_lines, open_line = (open_line + (text if isinstance(text, str) else "")).split("\n")
        yield from ((line, number) for line in complete_lines)
    if open_line:
        yield open_line, number


def _code_language(node: Node | None, raw: bytes) -> Language:
    metadata = _json_value(node, raw)
    language_info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = str(language_info.get("name", "python") if isinstance(language_info, dict) else "python").lower()
    return language_of("a" + _SUFFIXES.get(name, f".{name}"))
