"""An answer within its tokens, by one measure for all tools: a page loses its last rows, which the
next page has; what is no page loses the ends of long texts and the last items of lists, and names
what was left out. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import orjson

from cortex.terms.observations import ROWS, TOKEN_BYTES, TOKENS

Answer = dict[str, Any]
#: bytes of a row, or of a whole answer, as who asked gets it
Size = Callable[[Mapping[str, Any]], int]

#: where an answer has its rows
LISTS = ("results", "observations", "relations", "patterns", "groups")
#: bytes kept free for where the next page begins, and how many there are on each side
_NEXT = 48
#: bytes of a text that stay in any case: ids and moments are no longer
_TEXT_MIN = 64
#: share of a page that the repeated question may take
_QUERY_SHARE = 8
#: mappings whose keys are data: they lose entries as lists do
_TABLES = frozenset(("distribution", "file_mtimes", "metadata", "concept_weights"))
#: what a row keeps, however little room there is
_ALWAYS_FIELDS = frozenset(("id", "title", "truncated", "anchor", "stale"))


def size_of(answer: Mapping[str, Any]) -> int:
    return len(orjson.dumps(answer))


def bound_answer(name: str, answer: Answer, arguments: Mapping[str, Any], size: Size = size_of) -> Answer:
    """The answer of a tool within its `max_tokens`; `asked`: its arguments within their bounds."""
    if name == "export_observations":  # which has pages of its own
        return answer
    room = TOKEN_BYTES * arguments.get("max_tokens", TOKENS)
    if {"offset", "before"} & ROWS[name].arguments.keys():
        return page_within(answer, room, arguments.get("offset", 0), size)
    return cut_to_fit(answer, room, size)


def bound_when_done(
    name: str, steps: Generator[None, None, Answer], arguments: Mapping[str, Any]
) -> Generator[None, None, Answer]:
    """The same of long work in slices."""
    return bound_answer(name, (yield from steps), arguments)


def page_within(answer: Answer, room: int, offset: int, size: Size = size_of) -> Answer:
    """The answer with as many of its rows as have room, those about its anchor if there is one.
    `next_offset` says where the others begin; of a timeline `earlier` and `later` count them. The
    first row is there in any case, if need be without the ends of its texts.
    """
    name = next((key for key in LISTS if isinstance(answer.get(key), list | tuple)), "")
    rows: Sequence[Any] = answer[name] if name else ()
    if not rows:
        return _with_query(answer, room, size)
    head = _with_query(answer | {name: []}, room, size)
    left = room - size(head) - _NEXT * ("next_offset" not in head)
    fitting = dict[int, Any]()
    for at in _order(rows):
        taken = size(rows[at]) + 1
        if taken > left:
            break
        left -= taken
        fitting[at] = rows[at]
    if not fitting:
        at = _order(rows)[0]
        fitting[at] = _squeeze(rows[at], left, size)
    if len(fitting) == len(rows):
        return head | {name: [fitting[at] for at in sorted(fitting)]}
    return _with_counts(
        head | {name: [fitting[at] for at in sorted(fitting)]}, name, fitting, len(rows), offset
    )


def _with_counts(answer: Answer, name: str, fitting: Mapping[int, Any], count: int, offset: int) -> Answer:
    """What the answer says of its rows, when it lost some."""
    counts = {"count": len(fitting)} if "count" in answer else {}
    if "earlier" not in answer:
        return answer | counts | {"next_offset": offset + len(fitting)}
    sides = {"earlier": answer["earlier"] + min(fitting), "later": answer["later"] + count - 1 - max(fitting)}
    return answer | counts | sides | {"total_count": len(answer[name])}


def _order(rows: Sequence[Any]) -> list[int]:
    """The places of rows, those first that stay longest."""
    middle = next((at for at, row in enumerate(rows) if row.get("anchor")), 0)
    return sorted(range(len(rows)), key=lambda at: (abs(at - middle), at))


def _with_query(answer: Answer, room: int, size: Size) -> Answer:
    """A question that is long is repeated by its beginning."""
    query = answer.get("query")
    if not isinstance(query, str) or size(answer | {"query": ""}) + len(orjson.dumps(query)) <= room // 4:
        return answer
    most = max(_TEXT_MIN, room // _QUERY_SHARE)
    while len(orjson.dumps(query)) > most:
        query = query[: len(query) * most // (len(orjson.dumps(query)) + 1)]
    return answer if query == answer["query"] else answer | {"query": f"{query}…"}


def _squeeze(row: Mapping[str, Any], room: int, size: Size) -> Answer:
    """The row without the ends of its texts and lists, and at last without its largest fields."""
    if size(row) <= room:
        return dict(row)

    def cut(share: int) -> Answer:
        return _cut(row, share) | {"truncated": True}

    shortened = cut(_largest(room, lambda share: size(cut(share)) <= room))
    fields = sorted(
        shortened.keys() - _ALWAYS_FIELDS, key=lambda name: (-len(orjson.dumps(shortened[name])), name)
    )
    for name in ("left_out", *fields):
        if size(shortened) <= room:
            break
        shortened.pop(name, None)
    return shortened


def cut_to_fit(answer: Answer, room: int, size: Size = size_of) -> Answer:
    """The answer, or as much of it as has room, with `left_out`: {where: how many items, or bytes
    of a text}. Items are left out of a list from its end.
    """
    if size(answer) <= room:
        return answer
    return _cut(answer, _largest(room, lambda share: size(_cut(answer, share)) <= room))


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits; 0 when none does."""
    least = 0
    while least < most:
        share = (least + most + 1) // 2
        if fits(share):
            least = share
        else:
            most = share - 1
    return least


def _cut(answer: Mapping[str, Any], share: int) -> Answer:
    """An answer or a row of which no text, list or table has more than `share` bytes."""
    left = dict[str, int](answer.get("left_out", {}))
    cut = {name: _shorten(value, share, name, left) for name, value in answer.items() if name != "left_out"}
    return cut | {"left_out": left}


def _shorten(value: Any, share: int, where: str, left: dict[str, int]) -> Any:
    """`where`: the names on the way to it; the places of items count as one."""
    if isinstance(value, str):
        raw = value.encode()
        if len(raw) <= max(share, _TEXT_MIN):
            return value
        beginning = raw[: max(share, _TEXT_MIN)].decode(errors="ignore")
        left[where] = left.get(where, 0) + len(raw) - len(beginning.encode())
        return beginning
    if isinstance(value, Mapping):
        if where.rpartition(".")[2] in _TABLES:
            return dict(_first_items(list(value.items()), share, where, left))
        return {name: _shorten(entry, share, f"{where}.{name}", left) for name, entry in value.items()}
    if isinstance(value, list):
        return _first_items(value, share, where, left)
    return value


def _first_items(items: Sequence[Any], share: int, where: str, left: dict[str, int]) -> list[Any]:
    """The first items that have room, each cut to the same share."""
    cut_items, used = [], 0
    for at, item in enumerate(items):
        inside: dict[str, int] = {}
        cut = _shorten(item, share, where, inside)
        used += len(orjson.dumps(cut)) + 1
        if used > share:
            left[where] = left.get(where, 0) + len(items) - at
            break
        cut_items.append(cut)
        for name, count in inside.items():
            left[name] = left.get(name, 0) + count
    return cut_items
