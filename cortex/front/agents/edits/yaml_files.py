"""Entries in files of YAML."""

import contextlib
from typing import Any

from cortex.front.agents.edits.pieces import Keys, NotUnderstoodError, Piece, newline_of


def yaml_entry(text: str, keys: Keys, value: Any) -> Piece | None:
    """Return the piece that puts `value` below the key `keys[0]` of the mapping in `text`: as the
    member `keys[1]` of a mapping, or, with one key, as the first of a list. None if it is there.

    Raises NotUnderstoodError.
    """
    document, tree = _parse_yaml(text)
    if document is not None and not isinstance(document, dict):
        raise NotUnderstoodError("it is no mapping")
    below = (document or {}).get(keys[0])
    if _has_entry(below, keys, value):
        return None
    newline = newline_of(text)
    item = {keys[1]: value} if len(keys) > 1 else [value]
    if below is None:
        if keys[0] in (document or {}):
            raise NotUnderstoodError(f'its "{keys[0]}" is empty; take that line out first')
        before = newline if text and not text.endswith("\n") else ""
        return Piece(len(text), before + _dump_yaml({keys[0]: item}).replace("\n", newline))
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
        items = (item for item in below if isinstance(item, dict) and item.get("name") == name)
        existing = next(items, None)
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
    document, tree = _parse_yaml(text)
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
    pair = next(pair for pair in tree.value if pair[0].value == keys[0])
    if not below:
        del document[keys[0]]
        first, last = pair
    elif isinstance(below, dict):
        first, last = pair[1].value[index]
    else:
        first = last = pair[1].value[index]
    lines = text.splitlines(keepends=True)
    del lines[first.start_mark.line : _last_line(last) + 1]
    shorter = "".join(lines)
    with contextlib.suppress(NotUnderstoodError):
        if (_parse_yaml(shorter)[0] or {}) == document:
            return shorter
    raise NotUnderstoodError(f'its "{keys[0]}" is written in one line')


def _last_line(node: Any) -> int:
    """Return the last line of a YAML node; a block's end mark is behind comments that follow it."""
    if isinstance(node, tuple):
        return max(map(_last_line, node))
    if isinstance(node.value, list) and node.value and not node.flow_style:
        return max(map(_last_line, node.value))
    mark = node.end_mark
    return int(mark.line - 1 if mark.column == 0 and mark.line > node.start_mark.line else mark.line)


def _parse_yaml(text: str) -> tuple[Any, Any]:
    """Return the document and its nodes. Raises NotUnderstoodError."""
    import yaml

    try:
        return yaml.safe_load(text), yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise NotUnderstoodError(f"it is no YAML ({str(error).partition(chr(10))[0]})") from error


def _dump_yaml(value: Any) -> str:
    import yaml

    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False, allow_unicode=True)
