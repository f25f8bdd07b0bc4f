"""Tables in files of TOML."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from cortex.front.agents.edits.pieces import Keys, NotUnderstoodError, Piece, paragraph


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
    piece = paragraph(text, "\n".join([f"[{'.'.join(keys)}]", *_toml_lines(value), ""]))
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
