"""Text put into a file of settings, and taken out again, without touching anything else in it.

Every change is a piece of text that is inserted, never a file that is printed anew: comments, order
and spelling stay, and taking the piece out gives back the very bytes. Where it belongs is read off
a syntax tree (JSON with comments, YAML); TOML takes a table at its end.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: spaces of a level where a file does not show its own
INDENT = "  "

Keys = Sequence[str]


class NotUnderstoodError(ValueError):
    """The text is not what its form says, or has no place for the entry; says why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` is inserted before the character `at`."""

    at: int
    text: str

    def into(self, text: str) -> str:
        return text[: self.at] + self.text + text[self.at :]


# --- JSON, with comments and trailing commas ---


def json_entry(text: str, keys: Keys, value: Any) -> Piece | None:
    """What makes `value` the member `keys` of the object in `text`; None when it is that already.

    Raises NotUnderstoodError, also where another value is there.
    """
    if _blank(text):
        return _whole(text, _nested(keys, value))
    node, depth = _json(text), 0
    while (found := _member(node, keys[depth])) is not None:
        if depth == len(keys) - 1:
            if _json_value(found) == value:
                return None
            raise NotUnderstoodError(f'it has another "{keys[depth]}" already')
        node, depth = _object(found, keys[depth]), depth + 1
    return _inserted(text, node, depth, _nested(keys[depth:], value))


def json_items(text: str, keys: Keys, items: Sequence[Any]) -> Piece | None:
    """What puts those of `items` that are not there yet into the array `keys`; None when all are.

    Raises NotUnderstoodError.
    """
    if _blank(text):
        return _whole(text, _nested(keys, list(items)))
    node, depth = _json(text), 0
    while (found := _member(node, keys[depth])) is not None:
        if depth == len(keys) - 1:
            if found.type != "array":
                raise NotUnderstoodError(f'its "{keys[depth]}" is no list')
            there = [_json_value(each) for each in found.named_children if each.type != "comment"]
            missing = [item for item in items if item not in there]
            return _first_items(text, found, missing, empty=not there) if missing else None
        node, depth = _object(found, keys[depth]), depth + 1
    return _inserted(text, node, depth, _nested(keys[depth:], list(items)))


def without_json_entry(text: str, keys: Keys) -> str:
    """`text` without the member `keys` and one comma beside it. Raises NotUnderstoodError."""
    node = _json(text)
    for key in keys[:-1]:
        found = _member(node, key)
        if found is None:
            return text
        node = _object(found, key)
    value = _member(node, keys[-1])
    if value is None:
        return text
    pair = value.parent
    assert pair is not None
    raw, start, end = text.encode(), pair.start_byte, pair.end_byte
    if pair.next_sibling is not None and pair.next_sibling.type == ",":
        end = pair.next_sibling.end_byte
    elif pair.prev_sibling is not None and pair.prev_sibling.type == ",":
        start = pair.prev_sibling.start_byte
    while raw[start - 1 : start] in (b" ", b"\t"):
        start -= 1
    if raw[start - 2 : start] == b"\r\n":
        start -= 2
    elif raw[start - 1 : start] == b"\n":
        start -= 1
    return (raw[:start] + raw[end:]).decode()


def _blank(text: str) -> bool:
    """Whether there is no value yet: nothing, or comments alone."""
    return all(each.type == "comment" for each in _parser().parse(text.encode()).root_node.children)


def _whole(text: str, member: tuple[str, Any]) -> Piece:
    before = "" if not text or text.endswith("\n") else "\n"
    return Piece(
        len(text), before + json.dumps(dict([member]), indent=len(INDENT), ensure_ascii=False) + "\n"
    )


def _inserted(text: str, node: Node, depth: int, member: tuple[str, Any]) -> Piece:
    """The member as the first of the object `node`, in the file's own style."""
    newline = "\r\n" if "\r\n" in text else "\n"
    pairs = [each for each in node.named_children if each.type == "pair"]
    inner, outer = _indents(text, node, pairs, depth)
    key, value = member
    written = f"{json.dumps(key, ensure_ascii=False)}: {_printed(value, inner, outer)}"
    piece = f"{newline}{inner}{written.replace(chr(10), newline)}" + ("," if pairs else newline + outer)
    at = _characters(text, node.start_byte) + 1
    if pairs and not _on_one_line(text, node, pairs[0]):
        return Piece(at, piece)
    return Piece(at, piece + (newline + inner if pairs else ""))


def _first_items(text: str, node: Node, items: Sequence[Any], *, empty: bool) -> Piece:
    told = ", ".join(json.dumps(item, ensure_ascii=False) for item in items)
    return Piece(_characters(text, node.start_byte) + 1, told + ("" if empty else ", "))


def _indents(text: str, node: Node, pairs: list[Node], depth: int) -> tuple[str, str]:
    """(of a member of `node`, of its closing brace), as the file has them, else two spaces."""
    if pairs and not _on_one_line(text, node, pairs[0]):
        line = text.encode()[: pairs[0].start_byte].decode().rpartition("\n")[2]
        if not line.strip():
            unit = line[: len(line) // (depth + 1)] or INDENT
            return line, line[: len(line) - len(unit)]
    return INDENT * (depth + 1), INDENT * depth


def _on_one_line(text: str, node: Node, pair: Node) -> bool:
    return b"\n" not in text.encode()[node.start_byte : pair.start_byte]


def _printed(value: Any, inner: str, outer: str) -> str:
    unit = inner[len(outer) :] or INDENT
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + inner)


def _nested(keys: Keys, value: Any) -> tuple[str, Any]:
    for key in reversed(keys[1:]):
        value = {key: value}
    return keys[0], value


@functools.cache
def _parser() -> Parser:
    import tree_sitter_json
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_json.language()))


def json_value(text: str, keys: Keys) -> Any:
    """The member `keys` of the object in `text`, None where there is none. Raises
    NotUnderstoodError.
    """
    node = None if _blank(text) else _json(text)
    for key in keys:
        node = _member(node, key) if node is not None and node.type == "object" else None
    return None if node is None else _json_value(node)


def _json(text: str) -> Node:
    """The object that the text is. Raises NotUnderstoodError."""
    root = _parser().parse(text.encode()).root_node
    told = [each for each in root.named_children if each.type != "comment"]
    if len(told) != 1 or told[0].type != "object" or not _sound(told[0]):
        raise NotUnderstoodError("it is no JSON object")
    return told[0]


def _sound(node: Node) -> bool:
    """Whether nothing is wrong but commas after the last of something."""
    if node.type == "ERROR" or node.is_missing:
        return node.text in (b",", b"") and node.next_sibling is not None and node.next_sibling.type in "}]"
    return not node.has_error or all(map(_sound, node.children))


def _member(node: Node, key: str) -> Node | None:
    for pair in node.named_children:
        name = pair.child_by_field_name("key") if pair.type == "pair" else None
        if name is not None and name.text is not None and json.loads(name.text) == key:
            return pair.child_by_field_name("value")
    return None


def _object(node: Node, key: str) -> Node:
    if node.type != "object":
        raise NotUnderstoodError(f'its "{key}" is no object')
    return node


def _json_value(node: Node) -> Any:
    if node.type == "object":
        told = {}
        for pair in node.named_children:
            name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if name is not None and value is not None:
                told[json.loads(name.text or b"")] = _json_value(value)
        return told
    if node.type == "array":
        return [
            _json_value(each)
            for each in node.named_children
            if each.type != "comment" and not each.is_missing
        ]
    return json.loads(node.text or b"")


def _characters(text: str, byte: int) -> int:
    return len(text.encode()[:byte].decode())


# --- TOML ---


def toml_table(text: str, keys: Keys, value: Mapping[str, Any]) -> Piece | None:
    """What adds the table `keys` at the end; None when it is there as it should be.

    Raises NotUnderstoodError.
    """
    node: Any = _toml(text)
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
        _toml(piece.into(text))
    except NotUnderstoodError as error:
        raise NotUnderstoodError(f"a table [{'.'.join(keys)}] cannot stand at its end") from error
    return piece


def _toml_lines(value: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """A string of JSON, an array of them and a boolean are written alike in TOML; what is inside of
    another is named by both.
    """
    for key, each in value.items():
        if isinstance(each, Mapping):
            yield from _toml_lines(each, f"{before}{key}.")
        else:
            yield f"{before}{key} = {json.dumps(each)}"


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotUnderstoodError(str(error)) from error


# --- YAML ---


def yaml_entry(text: str, keys: Keys, value: Any) -> Piece | None:
    """What puts `value` below the key `keys[0]` of the mapping in `text`: as the member `keys[1]`
    of a mapping, or, with one key, as the first of a list. None when it is there.

    Raises NotUnderstoodError.
    """
    import yaml

    try:
        there = yaml.safe_load(text)
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise NotUnderstoodError(f"it is no YAML ({str(error).partition(chr(10))[0]})") from error
    if there is not None and not isinstance(there, dict):
        raise NotUnderstoodError("it is no mapping")
    below = (there or {}).get(keys[0])
    if _holds(below, keys, value):
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    item = {keys[1]: value} if len(keys) > 1 else [value]
    if below is None:
        if keys[0] in (there or {}):
            raise NotUnderstoodError(f'its "{keys[0]}" is empty; take that line out first')
        before = newline if text and not text.endswith("\n") else ""
        return Piece(len(text), before + _yaml({keys[0]: item}).replace("\n", newline))
    assert isinstance(tree, yaml.MappingNode)
    node = next(each for name, each in tree.value if name.value == keys[0])
    if getattr(node, "flow_style", True) or not node.value:
        raise NotUnderstoodError(f'its "{keys[0]}" is written on one line; write it in lines first')
    start = node.start_mark.index - node.start_mark.column
    lead = " " * node.start_mark.column
    told = _yaml(item).splitlines()
    return Piece(start, "".join(f"{lead}{line}{newline}" for line in told))


def _holds(below: Any, keys: Keys, value: Any) -> bool:
    """Whether it is there. Raises NotUnderstoodError where another of its name is."""
    if len(keys) > 1 and isinstance(below, dict):
        there = below.get(keys[1])
    elif len(keys) == 1 and isinstance(below, list):
        name = value["name"]
        there = next((each for each in below if isinstance(each, dict) and each.get("name") == name), None)
    elif below is None:
        return False
    else:
        raise NotUnderstoodError(f'its "{keys[0]}" is of another kind')
    if there is not None and there != value:
        raise NotUnderstoodError(f'it has another "{keys[-1] if len(keys) > 1 else value["name"]}" already')
    return there is not None


def _yaml(value: Any) -> str:
    import yaml

    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False, allow_unicode=True)


# --- Markdown ---


def section(text: str, body: str, begin: str) -> Piece | None:
    """What adds the section at the end, whose first line is `begin`; None when it is there.

    Raises NotUnderstoodError where an older one is.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    body = body.replace("\n", newline)
    if body in text:
        return None
    if begin in text:
        raise NotUnderstoodError("it has another section of ours already")
    before = "" if not text else newline if text.endswith("\n") else newline * 2
    return Piece(len(text), before + body)
