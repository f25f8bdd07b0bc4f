"""The last commits of the definitions in an answer. No answer waits for git: a late result is shown
in a later answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from cortex.ask.exploring.functions import Bodies, Function
from cortex.ask.query_context import QueryContext
from cortex.terms.budget import first_fitting

#: definitions of an answer with a commit, in the order of the answer
PLACES_MAX = 4
#: largest share of an answer for the commits
SHARE = 0.1
#: bytes of each key in JSON
KEY_BYTES = 14

#: (file, symbol) → its commit
Changes = dict[tuple[str, str], str]


def start_blame(context: QueryContext, paths: Sequence[str]) -> None:
    """Start git's blame of the files, in this order. Returns at once."""
    if context.commits is not None:
        context.commits.begin(paths)


def describe_changes(
    context: QueryContext, functions: Iterable[Function], bodies: Bodies, max_bytes: int
) -> Changes:
    """Return the commits that are known by now, within their share of `max_bytes`."""
    if context.commits is None:
        return {}
    texts = [
        ((function.file, function.name), context.commits.tell(function.file, bodies.get(function.id, {})))
        for function in [*functions][:PLACES_MAX]
    ]
    fitting = first_fitting(texts, lambda change: bytes_of(change[1]), int(SHARE * max_bytes))
    return {place: text for place, text in fitting if text}


def bytes_of(text: str) -> int:
    """Return the bytes of a commit in an answer; 0 for ""."""
    return len(orjson.dumps(text)) + KEY_BYTES if text else 0


def with_changes(entries: Iterable[dict[str, Any]], changes: Mapping[tuple[str, str], str]) -> None:
    """Add the commits to the entries of an answer, once for each definition."""
    left = dict(changes)
    for entry in entries:
        if text := left.pop((entry["file"], entry["symbol"]), ""):
            entry["changed"] = text
