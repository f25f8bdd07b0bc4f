"""Answers within a limit of tokens, by one measure for all tools. A page loses its last rows, which
the next page has; other answers lose the ends of long texts and the last items of lists, and count
the loss. Pure.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import orjson

from cortex.terms.budget import TOKEN_BYTES, Budget, first_fitting
from cortex.terms.observations import ROWS, TOKENS

Answer = dict[str, Any]
#: bytes of a row or of an answer, in the form that the caller receives
Size = Callable[[Mapping[str, Any]], int]

#: possible keys of an answer's rows
LISTS = ("results", "observations", "relations", "patterns", "groups")
#: bytes reserved for `next_offset`, and for the counts of rows on each side
_NEXT = 48
#: shortest length in bytes to which a text is cut: ids and moments are no longer
_TEXT_MIN = 64
#: a repeated query may take this fraction of a page: one in …
_QUERY_SHARE = 8
#: mappings with keys that are data: they lose entries, as lists do
_TABLES = frozenset(("distribution", "file_mtimes", "metadata", "concept_weights"))
#: fields of a row that are always kept
_ALWAYS_FIELDS = frozenset(("id", "title", "truncated", "anchor", "stale"))


def size_of(answer: Mapping[str, Any]) -> int:
    return len(orjson.dumps(answer))


def bound_answer(name: str, answer: Answer, arguments: Mapping[str, Any], size: Size = size_of) -> Answer:
    """Return an answer within its `max_tokens`; `arguments` are checked."""
    if name == "export_observations":  # it makes pages by itself
        return answer
    room = TOKEN_BYTES * arguments.get("max_tokens", TOKENS)
    if {"offset", "before"} & ROWS[name].arguments.keys():
        return page_within(answer, room, arguments.get("offset", 0), size)
    return cut_to_fit(answer, room, size)


def bound_when_done(
    name: str, steps: Generator[None, None, Answer], arguments: Mapping[str, Any]
) -> Generator[None, None, Answer]:
    """As `bound_answer`, for long work in slices."""
    return bound_answer(name, (yield from steps), arguments)


def page_within(answer: Answer, room: int, offset: int, size: Size = size_of) -> Answer:
    """Return the answer with as many of its rows as fit, those around its anchor if there is one.
    `next_offset` is the offset of the next page; in a timeline `earlier` and `later` count the rows
    left out. At least one row stays, if need be with shortened texts.
    """
    name = next((key for key in LISTS if isinstance(answer.get(key), list | tuple)), "")
    rows: Sequence[Any] = answer[name] if name else ()
    if not rows:
        return _with_query(answer, room, size)
    head = _with_query(answer | {name: []}, room, size)
    left = room - size(head) - _NEXT * ("next_offset" not in head)
    fitting = {at: rows[at] for at in first_fitting(_order(rows), lambda at: size(rows[at]) + 1, left)}
    if not fitting:
        at = _order(rows)[0]
        fitting[at] = _squeeze(rows[at], left, size)
    if len(fitting) == len(rows):
        return head | {name: [fitting[at] for at in sorted(fitting)]}
    return _with_counts(
        head | {name: [fitting[at] for at in sorted(fitting)]}, name, fitting, len(rows), offset
    )


def _with_counts(answer: Answer, name: str, fitting: Mapping[int, Any], count: int, offset: int) -> Answer:
    """The answer with corrected counts after rows were left out."""
    counts = {"count": len(fitting)} if "count" in answer else {}
    if "earlier" not in answer:
        return answer | counts | {"next_offset": offset + len(fitting)}
    sides = {"earlier": answer["earlier"] + min(fitting), "later": answer["later"] + count - 1 - max(fitting)}
    return answer | counts | sides | {"total_count": len(answer[name])}


def _order(rows: Sequence[Any]) -> list[int]:
    """The indices of rows, in the order in which they are kept."""
    middle = next((at for at, row in enumerate(rows) if row.get("anchor")), 0)
    return sorted(range(len(rows)), key=lambda at: (abs(at - middle), at))


def _with_query(answer: Answer, room: int, size: Size) -> Answer:
    """The answer with the beginning of a long query."""
    query = answer.get("query")
    if not isinstance(query, str) or size(answer | {"query": ""}) + len(orjson.dumps(query)) <= room // 4:
        return answer
    most = max(_TEXT_MIN, room // _QUERY_SHARE)
    while len(orjson.dumps(query)) > most:
        query = query[: len(query) * most // (len(orjson.dumps(query)) + 1)]
    return answer if query == answer["query"] else answer | {"query": f"{query}…"}


def _squeeze(row: Mapping[str, Any], room: int, size: Size) -> Answer:
    """The row with shortened texts and lists, and at last without its largest fields."""
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
    """Return the answer, cut if it does not fit; then `left_out` holds {field: number of items, or
    bytes of a text, that were cut}. A list loses its last items.
    """
    if size(answer) <= room:
        return answer
    return _cut(answer, _largest(room, lambda share: size(_cut(answer, share)) <= room))


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits; 0 if none does."""
    least = 0
    while least < most:
        share = (least + most + 1) // 2
        if fits(share):
            least = share
        else:
            most = share - 1
    return least


def _cut(answer: Mapping[str, Any], share: int) -> Answer:
    """The answer or row with no text, list or table above `share` bytes."""
    left = dict[str, int](answer.get("left_out", {}))
    cut = {name: _shorten(value, share, name, left) for name, value in answer.items() if name != "left_out"}
    return cut | {"left_out": left}


def _shorten(value: Any, share: int, where: str, left: dict[str, int]) -> Any:
    """`where`: the dotted names on the way to the value; list indices are left out."""
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
    """The first items that fit in `share` bytes, each cut to the same share."""
    cut_items, budget = [], Budget(share)
    for at, item in enumerate(items):
        inside: dict[str, int] = {}
        cut = _shorten(item, share, where, inside)
        if not budget.take(len(orjson.dumps(cut)) + 1):
            left[where] = left.get(where, 0) + len(items) - at
            break
        cut_items.append(cut)
        for name, count in inside.items():
            left[name] = left.get(name, 0) + count
    return cut_items
