"""The commits that last changed the definitions in an answer, told beside them. No answer waits
for git: what it has not said by then is told with a later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from cortex.ask.functions import Bodies, Function
from cortex.ask.query_context import QueryContext

#: definitions of an answer whose commits are told, the first of it
PLACES_MAX = 4
#: the share of an answer that they may have
SHARE = 0.1
#: bytes of the name of each in JSON
KEY_BYTES = 14

#: (file, symbol) → what is told of it
Changes = dict[tuple[str, str], str]


def start_blame(context: QueryContext, paths: Sequence[str]) -> None:
    """Have git look at the files at `paths`, the first of the answer first. Returns at once."""
    if context.commits is not None:
        context.commits.begin(paths)


def describe_changes(
    context: QueryContext, functions: Iterable[Function], bodies: Bodies, max_bytes: int
) -> Changes:
    """What is known by now of the first of `functions`, within their share of `max_bytes`."""
    changes: Changes = {}
    if context.commits is None:
        return changes
    left = SHARE * max_bytes
    for function in [*functions][:PLACES_MAX]:
        text = context.commits.tell(function.file, bodies.get(function.id, {}))
        left -= bytes_of(text)
        if text and left >= 0:
            changes[function.file, function.name] = text
    return changes


def bytes_of(text: str) -> int:
    """What it takes of an answer; nothing where nothing is told."""
    return len(orjson.dumps(text)) + KEY_BYTES if text else 0


def with_changes(entries: Iterable[dict[str, Any]], changes: Mapping[tuple[str, str], str]) -> None:
    """Put what is told into the entries of an answer, once for each definition."""
    left = dict(changes)
    for entry in entries:
        if text := left.pop((entry["file"], entry["symbol"]), ""):
            entry["changed"] = text
