"""Suggestions for empty answers: the filter that excluded all hits, and their number without it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from cortex.system.errors import CortexError

#: arguments that only exclude hits
FILTERS = ("paths", "exclude_paths", "tags", "chunk_types", "lang", "scope", "exclude_patterns", "min_score")
#: seconds that a call must have left to be repeated
LEFT_S = 2.0
#: maximum of shown characters of a filter's value
SHOWN_CHARS_MAX = 80

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


async def name_filter(
    ask: Ask, arguments: Mapping[str, Any], answer: dict[str, Any], left_s: Callable[[], float]
) -> dict[str, Any]:
    """Return the answer; an empty one with a "suggestion" that names the filter responsible.

    `ask` repeats the call with other arguments: without each filter alone, then without all.
    """
    filters = [name for name in FILTERS if arguments.get(name) not in (None, "", (), 0)]
    if not filters or count_of(answer) != 0 or not is_served(answer):
        return answer
    singles = [[name] for name in filters]
    for names in [*singles, filters] if len(filters) > 1 else singles:
        if left_s() < LEFT_S:
            break
        left_out: dict[str, Any] = {
            name: () if isinstance(arguments[name], tuple) else None for name in names
        }
        left_out |= {name: "" for name in names if isinstance(arguments[name], str)}
        try:
            count = count_of(await ask({**arguments, **left_out}))
        except CortexError:
            break
        if count:
            return answer | {
                "suggestion": _sentence(names, arguments, count, str(answer.get("suggestion", "")))
            }
    return answer


def is_served(answer: Mapping[str, Any]) -> bool:
    """Whether a generation is served, so that a filter can exclude anything."""
    index = answer.get("index", {})
    return bool(index.get("generation") or index.get("generations"))


def count_of(answer: Mapping[str, Any]) -> int:
    """Return the number of hits in an answer; -1 for an answer that is no list of hits."""
    hits = next((answer[name] for name in ("results", "hits", "map") if name in answer), None)
    if not isinstance(hits, list):
        return -1
    return len(hits) and max(len(hits), int(answer.get("total_found", 0)))


def _sentence(names: list[str], arguments: Mapping[str, Any], count: int, suggestion: str) -> str:
    conditions = " and ".join(f"{name}={_shorten(arguments[name])}" for name in names)
    them = "it" if len(names) == 1 else "them"
    sentence = f"Nothing matches with {conditions}; without {them} there would be {count}."
    return f"{sentence} {suggestion}" if "ead as " in suggestion else sentence


def _shorten(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}…"
