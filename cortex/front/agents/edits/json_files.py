"""Entries in files of JSON with comments and trailing commas."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cortex.front.agents.edits.pieces import Keys, NotUnderstoodError, Piece, newline_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: indentation of a level if the file shows none
INDENT = "  "


def json_entry(text: str, keys: Keys, value: Any) -> Piece | None:
    """Return the piece that makes `value` the member `keys` of the object in `text`; None if it
    already is.

    Raises NotUnderstoodError, also if the member has another value.
    """
    member, piece = _member_or_piece(text, keys, value)
    if member is not None and _json_value(member) != value:
        raise NotUnderstoodError(f'it has another "{keys[-1]}" already')
    return piece


def json_items(text: str, keys: Keys, items: Sequence[Any]) -> Piece | None:
    """Return the piece that adds the missing `items` to the array `keys`; None if none is missing.

    Raises NotUnderstoodError.
    """
    member, piece = _member_or_piece(text, keys, list(items))
    if member is None:
        return piece
    if member.type != "array":
        raise NotUnderstoodError(f'its "{keys[-1]}" is no list')
    present = [_json_value(child) for child in member.named_children if child.type != "comment"]
    missing = [item for item in items if item not in present]
    return _insert_items(text, member, missing, empty=not present) if missing else None


def _member_or_piece(text: str, keys: Keys, value: Any) -> tuple[Node | None, Piece | None]:
    """Return the value of the member `keys` of the object in `text`, or the piece that adds a
    missing one. Raises NotUnderstoodError.
    """
    if _is_blank(text):
        return None, _new_document(text, _nest(keys, value))
    node, depth = _parse_json(text), 0
    while (member := _find_member(node, keys[depth])) is not None:
        if depth == len(keys) - 1:
            return member, None
        node, depth = _require_object(member, keys[depth]), depth + 1
    return None, _insert_member(text, node, depth, _nest(keys[depth:], value))


def remove_json_entry(text: str, keys: Keys) -> str:
    """Return `text` without the member `keys` and its comma. Raises NotUnderstoodError."""
    node = _parse_json(text)
    for key in keys[:-1]:
        member = _find_member(node, key)
        if member is None:
            return text
        node = _require_object(member, key)
    value = _find_member(node, keys[-1])
    if value is None:
        return text
    assert value.parent is not None
    return _cut_child(text, value.parent)


def remove_json_items(text: str, keys: Keys, is_unwanted: Callable[[Any], bool]) -> str:
    """Return `text` without the unwanted items of the array `keys`. Raises NotUnderstoodError."""
    while True:
        node: Node | None = None if _is_blank(text) else _parse_json(text)
        for key in keys:
            node = _find_member(node, key) if node is not None else None
        items = [] if node is None or node.type != "array" else node.named_children
        unwanted = (item for item in items if item.type != "comment" and is_unwanted(_json_value(item)))
        item = next(unwanted, None)
        if item is None:
            return text
        text = _cut_child(text, item)


def remove_empty_json(text: str, keys: Keys, piece: str) -> str:
    """Return `text` without the empty objects and arrays at `keys` and above it that came with
    `piece`. Raises NotUnderstoodError.
    """
    for end in range(len(keys), 0, -1):
        came = f"{json.dumps(keys[end - 1], ensure_ascii=False)}: " in piece
        if came and json_value(text, keys[:end]) in ({}, []):
            text = remove_json_entry(text, keys[:end])
    return text


def is_hollow(text: str) -> bool:
    """Whether a file has no text, or JSON of empty objects and arrays alone."""
    try:
        return not text.strip() or _has_no_value(json.loads(text))
    except ValueError:
        return False


def _has_no_value(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_has_no_value, value.values()))
    return isinstance(value, list) and not value


def _cut_child(text: str, node: Node) -> str:
    """Return `text` without a member or an item, its comma and its line's indentation."""
    raw, start, end = text.encode(), node.start_byte, node.end_byte
    if node.next_sibling is not None and node.next_sibling.type == ",":
        end = node.next_sibling.end_byte
    elif node.prev_sibling is not None and node.prev_sibling.type == ",":
        start = node.prev_sibling.start_byte
    while raw[start - 1 : start] in (b" ", b"\t"):
        start -= 1
    if raw[start - 2 : start] == b"\r\n":
        start -= 2
    elif raw[start - 1 : start] == b"\n":
        start -= 1
    return (raw[:start] + raw[end:]).decode()


def _is_blank(text: str) -> bool:
    """Whether the text has no value: it is empty, or has only comments."""
    return all(child.type == "comment" for child in _parser().parse(text.encode()).root_node.children)


def _new_document(text: str, member: tuple[str, Any]) -> Piece:
    before = "" if not text or text.endswith("\n") else "\n"
    return Piece(
        len(text), before + json.dumps(dict([member]), indent=len(INDENT), ensure_ascii=False) + "\n"
    )


def _insert_member(text: str, node: Node, depth: int, member: tuple[str, Any]) -> Piece:
    """Return the piece that inserts a member first into the object `node`, in the file's style."""
    newline = newline_of(text)
    pairs = [child for child in node.named_children if child.type == "pair"]
    inner, outer = _indents(text, node, pairs, depth)
    key, value = member
    written = f"{json.dumps(key, ensure_ascii=False)}: {_format_value(value, inner, outer)}"
    piece = f"{newline}{inner}{written.replace(chr(10), newline)}" + ("," if pairs else newline + outer)
    at = _character_offset(text, node.start_byte) + 1
    if pairs and not _is_on_one_line(text, node, pairs[0]):
        return Piece(at, piece)
    return Piece(at, piece + (newline + inner if pairs else ""))


def _insert_items(text: str, node: Node, items: Sequence[Any], *, empty: bool) -> Piece:
    written = ", ".join(json.dumps(item, ensure_ascii=False) for item in items)
    return Piece(_character_offset(text, node.start_byte) + 1, written + ("" if empty else ", "))


def _indents(text: str, node: Node, pairs: list[Node], depth: int) -> tuple[str, str]:
    """Return the indentations of (a member, the closing brace): the file's, or two spaces each."""
    if pairs and not _is_on_one_line(text, node, pairs[0]):
        line = text.encode()[: pairs[0].start_byte].decode().rpartition("\n")[2]
        if not line.strip():
            unit = line[: len(line) // (depth + 1)] or INDENT
            return line, line[: len(line) - len(unit)]
    return INDENT * (depth + 1), INDENT * depth


def _is_on_one_line(text: str, node: Node, pair: Node) -> bool:
    return b"\n" not in text.encode()[node.start_byte : pair.start_byte]


def _format_value(value: Any, inner: str, outer: str) -> str:
    unit = inner[len(outer) :] or INDENT
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + inner)


def _nest(keys: Keys, value: Any) -> tuple[str, Any]:
    for key in reversed(keys[1:]):
        value = {key: value}
    return keys[0], value


@functools.cache
def _parser() -> Parser:
    import tree_sitter_json
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_json.language()))


def json_value(text: str, keys: Keys) -> Any:
    """Return the member `keys` of the object in `text`, else None. Raises NotUnderstoodError."""
    node = None if _is_blank(text) else _parse_json(text)
    for key in keys:
        node = _find_member(node, key) if node is not None and node.type == "object" else None
    return None if node is None else _json_value(node)


def _parse_json(text: str) -> Node:
    """Return the node of the object in `text`. Raises NotUnderstoodError."""
    root = _parser().parse(text.encode()).root_node
    nodes = [child for child in root.named_children if child.type != "comment"]
    if len(nodes) != 1 or nodes[0].type != "object" or not _is_sound(nodes[0]):
        raise NotUnderstoodError("it is no JSON object")
    return nodes[0]


def _is_sound(node: Node) -> bool:
    """Whether trailing commas, also before comments, are the only errors."""
    if node.type == "ERROR" or node.is_missing:
        following = node.next_sibling
        while following is not None and following.type == "comment":
            following = following.next_sibling
        return node.text in (b",", b"") and following is not None and following.type in "}]"
    return not node.has_error or all(map(_is_sound, node.children))


def _find_member(node: Node, key: str) -> Node | None:
    for pair in node.named_children:
        name = pair.child_by_field_name("key") if pair.type == "pair" else None
        if name is not None and name.text is not None and json.loads(name.text) == key:
            return pair.child_by_field_name("value")
    return None


def _require_object(node: Node, key: str) -> Node:
    if node.type != "object":
        raise NotUnderstoodError(f'its "{key}" is no object')
    return node


def _json_value(node: Node) -> Any:
    if node.type == "object":
        members = {}
        for pair in node.named_children:
            name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if name is not None and value is not None:
                members[json.loads(name.text or b"")] = _json_value(value)
        return members
    if node.type == "array":
        return [
            _json_value(child)
            for child in node.named_children
            if child.type != "comment" and not child.is_missing
        ]
    return json.loads(node.text or b"")


def _character_offset(text: str, byte: int) -> int:
    return len(text.encode()[:byte].decode())
