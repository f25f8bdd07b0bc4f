"""Where the name of a definition stands, of which the graph knows no use: syntax does not resolve
every call, and nobody may take that for code that nothing needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from cortex.ask.query_context import Turn
from cortex.ask.questions import Graph
from cortex.terms.ids import strip_overload
from ipc.messages import ExactHits, ExactSearch, GraphHits

#: operations whose empty answer would be read as "unused"
_USED = frozenset({"callers", "dependents", "impact", "type_usages"})
#: lines that are looked at, and places that are told
LINES_MAX, PLACES_MAX = 120, 6
#: characters of a shown line: a longer one may hold the word behind them
LINE_CHARS = 200


async def describe_mentions(turn: Turn, question: Graph, hits: GraphHits) -> str:
    """A sentence with other files that hold the word, or that none does, and with the lines of its
    own file; "" where that is not the question, or the text worker does not answer.

    Raises NotReady, unless the turn is final.
    """
    narrowed = question.scope or question.exclude_patterns
    if hits.total_found or not hits.target or narrowed or question.operation not in _USED:
        return ""
    stem, _, name = strip_overload(hits.target).partition(":")
    word = name.rpartition(".")[2].removesuffix("=")  # Ruby's setters are called without it
    plain = word.strip("!?$")
    if not plain.isidentifier():
        return ""
    request = ExactSearch(
        plain, "exact", limit=LINES_MAX, detail="location", generation=turn.generation.number, lines=LINES_MAX
    )
    exact_hits = await turn.lane("text", request, ExactHits, ours=True)
    if exact_hits is None:
        return ""
    places: dict[str, str] = {}
    own_lines: set[int] = set()
    for path, line in _lines_with(word, exact_hits):
        if path == stem or path.startswith(f"{stem}."):
            own_lines.add(line)
        else:
            places.setdefault(path, f"{path}:{line}")
    what = "call" if question.operation == "callers" else "use"
    return f"No {what} of {word} is resolved{_describe_places(places, own_lines, more=exact_hits.truncated)}"


def _lines_with(word: str, exact_hits: ExactHits) -> Iterator[tuple[str, int]]:
    """(path, line) of those that hold the word itself: the lane also finds lines that say the same
    in other words (`deref_mut`, `deref mut`, `derefMut`).
    """
    word_pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for hit, raw in zip(exact_hits.hits, exact_hits.chunks, strict=True):
        for text in orjson.loads(raw)["text"].split("\n"):
            number = text.partition(": ")[0]
            if len(text) >= LINE_CHARS or word_pattern.search(text):
                yield hit.path, int(number) if number.isdecimal() else hit.start_line


def _describe_places(places: dict[str, str], own_lines: set[int], *, more: bool) -> str:
    """What follows in the sentence; `more`: there are lines that nobody looked at."""
    inside = sorted(own_lines)[:PLACES_MAX]
    also = f" In its own file it stands on lines {', '.join(map(str, inside))}." if len(inside) > 1 else ""
    if places:
        count = f"{'at least ' if more else ''}{len(places)} other file{'s' * (len(places) > 1)}"
        return f"; the word occurs in {count}: {', '.join(list(places.values())[:PLACES_MAX])}.{also}"
    if more:
        return f"; ask cortex_exact where the word occurs, not all lines were looked at.{also}"
    return f", and the word occurs in no other file of the index.{also}"
