"""Insertion of text into files of settings, and its removal, without any other change.

Every change inserts a piece of text and never prints the file anew: comments, order and spelling
stay, and removal of the piece restores the same bytes. A syntax tree gives the position (JSON with
comments, YAML); TOML gets a table at its end.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: indentation of a level if the file shows none
INDENT = "  "

Keys = Sequence[str]


class NotUnderstoodError(ValueError):
    """The text is invalid in its form, or has no place for the entry; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to insert before the character at index `at`."""

    at: int
    text: str

    def apply_to(self, text: str) -> str:
        return text[: self.at] + self.text + text[self.at :]


# --- JSON, with comments and trailing commas ---


def json_entry(text: str, keys: Keys, value: Any) -> Piece | None:
    """Return the piece that makes `value` the member `keys` of the object in `text`; None if it
    already is.

    Raises NotUnderstoodError, also if the member has another value.
    """
    if _is_blank(text):
        return _new_document(text, _nest(keys, value))
    node, depth = _parse_json(text), 0
    while (member := _find_member(node, keys[depth])) is not None:
        if depth == len(keys) - 1:
            if _json_value(member) == value:
                return None
            raise NotUnderstoodError(f'it has another "{keys[depth]}" already')
        node, depth = _require_object(member, keys[depth]), depth + 1
    return _insert_member(text, node, depth, _nest(keys[depth:], value))


def json_items(text: str, keys: Keys, items: Sequence[Any]) -> Piece | None:
    """Return the piece that adds the missing `items` to the array `keys`; None if none is missing.

    Raises NotUnderstoodError.
    """
    if _is_blank(text):
        return _new_document(text, _nest(keys, list(items)))
    node, depth = _parse_json(text), 0
    while (member := _find_member(node, keys[depth])) is not None:
        if depth == len(keys) - 1:
            if member.type != "array":
                raise NotUnderstoodError(f'its "{keys[depth]}" is no list')
            present = [_json_value(child) for child in member.named_children if child.type != "comment"]
            missing = [item for item in items if item not in present]
            return _insert_items(text, member, missing, empty=not present) if missing else None
        node, depth = _require_object(member, keys[depth]), depth + 1
    return _insert_member(text, node, depth, _nest(keys[depth:], list(items)))


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
    newline = "\r\n" if "\r\n" in text else "\n"
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


# --- TOML ---


def toml_table(text: str, keys: Keys, value: Mapping[str, Any]) -> Piece | None:
    """Return the piece that adds the table `keys` at the end; None if it is there with `value`.

    Raises NotUnderstoodError.
    """
    node: Any = _parse_toml(text)
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    if node == dict(value):
        return None
    if node is not None:
        raise NotUnderstoodError(f'it has another "{keys[-1]}" already')
    newline = "\r\n" if "\r\n" in text else "\n"
    before = "" if not text else newline if text.endswith("\n") else newline * 2
    lines = [f"[{'.'.join(keys)}]", *_toml_lines(value)]
    piece = Piece(len(text), before + newline.join(lines) + newline)
    try:
        _parse_toml(piece.apply_to(text))
    except NotUnderstoodError as error:
        raise NotUnderstoodError(f"a table [{'.'.join(keys)}] cannot be added at its end") from error
    return piece


def remove_toml_table(text: str, keys: Keys) -> str:
    """Return `text` without the table `keys` and the tables in it. Raises NotUnderstoodError if
    it is written in another way than as tables.
    """
    document = _parse_toml(text)
    if _drop_member(document, keys) is None:
        return text
    left: list[str] = []
    cut: list[str] = []
    inside, comments = False, 0
    for line in text.splitlines(keepends=True):
        if (header := _toml_header(line)) is not None and _is_toml("".join((*left, *cut))):
            # Comments above the next table are its own.
            left += cut[len(cut) - comments :] if inside else []
            inside, cut, comments = header[: len(keys)] == [*keys], [], 0
        if inside:
            cut.append(line)
            comments = comments + 1 if line.lstrip().startswith("#") else 0
        else:
            left.append(line)
    shorter = "".join(left)
    if _parse_toml(shorter) != document:
        raise NotUnderstoodError(f"its {'.'.join(keys)} is not written as tables")
    return shorter


def _toml_header(line: str) -> list[str] | None:
    """Return the keys of a table's header, [] for an array of tables, None for other lines."""
    if not line.lstrip().startswith("["):
        return None
    try:
        node: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(node, dict) and node:
        [(name, node)] = node.items()
        names.append(name)
    return names if node == {} else []


def _drop_member(document: dict[str, Any], keys: Keys) -> Any:
    """Remove the member `keys`, and mappings that this empties; return its value, None for none."""
    below = document.get(keys[0])
    if len(keys) == 1 or below is None:
        return document.pop(keys[0], None)
    value = _drop_member(below, keys[1:]) if isinstance(below, dict) else None
    if value is not None and not below:
        del document[keys[0]]
    return value


def _toml_lines(value: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the lines of a table, nested tables as dotted keys. Strings, arrays of strings and
    booleans are the same in JSON and TOML.
    """
    for key, member in value.items():
        if isinstance(member, Mapping):
            yield from _toml_lines(member, f"{before}{key}.")
        else:
            yield f"{before}{key} = {json.dumps(member)}"


def _is_toml(text: str) -> bool:
    """Whether `text` is complete: a line after it is in no string and no array."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotUnderstoodError(str(error)) from error


# --- YAML ---


def yaml_entry(text: str, keys: Keys, value: Any) -> Piece | None:
    """Return the piece that puts `value` below the key `keys[0]` of the mapping in `text`: as the
    member `keys[1]` of a mapping, or, with one key, as the first of a list. None if it is there.

    Raises NotUnderstoodError.
    """
    import yaml

    try:
        document = yaml.safe_load(text)
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise NotUnderstoodError(f"it is no YAML ({str(error).partition(chr(10))[0]})") from error
    if document is not None and not isinstance(document, dict):
        raise NotUnderstoodError("it is no mapping")
    below = (document or {}).get(keys[0])
    if _has_entry(below, keys, value):
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    item = {keys[1]: value} if len(keys) > 1 else [value]
    if below is None:
        if keys[0] in (document or {}):
            raise NotUnderstoodError(f'its "{keys[0]}" is empty; take that line out first')
        before = newline if text and not text.endswith("\n") else ""
        return Piece(len(text), before + _dump_yaml({keys[0]: item}).replace("\n", newline))
    assert isinstance(tree, yaml.MappingNode)
    node = next(child for name, child in tree.value if name.value == keys[0])
    if getattr(node, "flow_style", True) or not node.value:
        raise NotUnderstoodError(f'its "{keys[0]}" is written on one line; write it in lines first')
    start = node.start_mark.index - node.start_mark.column
    lead = " " * node.start_mark.column
    lines = _dump_yaml(item).splitlines()
    return Piece(start, "".join(f"{lead}{line}{newline}" for line in lines))


def _has_entry(below: Any, keys: Keys, value: Any) -> bool:
    """Whether the entry is there. Raises NotUnderstoodError for another one of its name."""
    if len(keys) > 1 and isinstance(below, dict):
        existing = below.get(keys[1])
    elif len(keys) == 1 and isinstance(below, list):
        name = value["name"]
        existing = next(
            (
                candidate
                for candidate in below
                if isinstance(candidate, dict) and candidate.get("name") == name
            ),
            None,
        )
    elif below is None:
        return False
    else:
        raise NotUnderstoodError(f'its "{keys[0]}" is of another kind')
    if existing is not None and existing != value:
        raise NotUnderstoodError(f'it has another "{keys[-1] if len(keys) > 1 else value["name"]}" already')
    return existing is not None


def remove_yaml_entry(text: str, keys: Keys, name: str) -> str:
    """Return `text` without the entry of `yaml_entry`; `name` is its name in a list. A mapping or
    list that this empties goes as well. Raises NotUnderstoodError.
    """
    import yaml

    try:
        document, tree = yaml.safe_load(text), yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise NotUnderstoodError(f"it is no YAML ({str(error).partition(chr(10))[0]})") from error
    below = document.get(keys[0]) if isinstance(document, dict) else None
    if len(keys) > 1 and isinstance(below, dict) and keys[1] in below:
        index = list(below).index(keys[1])
        del below[keys[1]]
    elif len(keys) == 1 and isinstance(below, list):
        names = [item.get("name") if isinstance(item, dict) else None for item in below]
        if name not in names:
            return text
        index = names.index(name)
        del below[index]
    else:
        return text
    assert tree is not None
    pair = next(pair for pair in tree.value if pair[0].value == keys[0])
    if not below:
        del document[keys[0]]
        first, last = pair
    elif isinstance(pair[1], yaml.MappingNode):
        first, last = pair[1].value[index]
    else:
        first = last = pair[1].value[index]
    lines = text.splitlines(keepends=True)
    del lines[first.start_mark.line : _last_line(last) + 1]
    shorter = "".join(lines)
    try:
        same = (yaml.safe_load(shorter) or {}) == document
    except yaml.YAMLError:
        same = False
    if not same:
        raise NotUnderstoodError(f'its "{keys[0]}" is written in one line')
    return shorter


def _last_line(node: Any) -> int:
    """Return the last line of a YAML node; a block's end mark is behind comments that follow it."""
    if isinstance(node, tuple):
        return max(map(_last_line, node))
    if isinstance(node.value, list) and node.value and not node.flow_style:
        return max(map(_last_line, node.value))
    mark = node.end_mark
    return int(mark.line - 1 if mark.column == 0 and mark.line > node.start_mark.line else mark.line)


def _dump_yaml(value: Any) -> str:
    import yaml

    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False, allow_unicode=True)


# --- Markdown ---


def section(text: str, body: str, begin: str) -> Piece | None:
    """Return the piece that adds a section (its first line is `begin`) at the end; None if it is
    there.

    Raises NotUnderstoodError if the text has an older one.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    body = body.replace("\n", newline)
    if body in text:
        return None
    if begin in text:
        raise NotUnderstoodError("it has another section of ours already")
    before = "" if not text else newline if text.endswith("\n") else newline * 2
    return Piece(len(text), before + body)
