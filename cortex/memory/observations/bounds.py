"""An answer that is no page of rows within its tokens: long texts lose their ends and long lists
their last items, all by one measure, and what was left out is named. Pure.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import orjson

from cortex.memory.observations.rows import TOKEN_BYTES

Answer = dict[str, Any]

#: bytes kept free for the fences of its texts
_FENCES = 64
#: bytes of a text that stay in any case: ids and moments are no longer
_TEXT_MIN = 40
#: mappings whose keys are data: they lose entries as lists do
_TABLES = frozenset(("distribution", "file_mtimes", "metadata", "concept_weights"))


def within(answer: Answer, max_tokens: int) -> Answer:
    """The answer, or as much of it as has room, with `left_out`: {where: how many items, or bytes
    of a text}. Items are left out of a list from its end.
    """
    room = max_tokens * TOKEN_BYTES - _FENCES
    if len(orjson.dumps(answer)) <= room:
        return answer
    least, most = 0, room
    while least < most:
        share = (least + most + 1) // 2
        if len(orjson.dumps(_cut(answer, share))) <= room:
            least = share
        else:
            most = share - 1
    return _cut(answer, least)


def within_when_done(steps: Generator[None, None, Answer], max_tokens: int) -> Generator[None, None, Answer]:
    """The same of long work in slices."""
    return within((yield from steps), max_tokens)


def _cut(answer: Answer, share: int) -> Answer:
    """The answer when no text, list or table has more than `share` bytes."""
    left: dict[str, int] = {}
    cut = {name: _shortened(value, share, name, left) for name, value in answer.items()}
    return cut | {"left_out": left}


def _shortened(value: Any, share: int, where: str, left: dict[str, int]) -> Any:
    """`where`: the names on the way to it; the places of items count as one."""
    if isinstance(value, str):
        raw = value.encode()
        if len(raw) <= max(share, _TEXT_MIN):
            return value
        kept = raw[: max(share, _TEXT_MIN)].decode(errors="ignore")
        left[where] = left.get(where, 0) + len(raw) - len(kept.encode())
        return kept
    if isinstance(value, Mapping):
        if where.rpartition(".")[2] in _TABLES:
            return dict(_first(list(value.items()), share, where, left))
        return {name: _shortened(one, share, f"{where}.{name}", left) for name, one in value.items()}
    if isinstance(value, list):
        return _first(value, share, where, left)
    return value


def _first(items: list[Any], share: int, where: str, left: dict[str, int]) -> list[Any]:
    """The first items that have room, each cut to the same share."""
    kept, used = [], 0
    for at, item in enumerate(items):
        inside: dict[str, int] = {}
        cut = _shortened(item, share, where, inside)
        used += len(orjson.dumps(cut)) + 1
        if used > share:
            left[where] = left.get(where, 0) + len(items) - at
            break
        kept.append(cut)
        for name, count in inside.items():
            left[name] = left.get(name, 0) + count
    return kept
