"""Code names in a question, and the lines of files that contain them."""

from __future__ import annotations

import re

from cortex.ask.query_context import Turn
from cortex.ask.questions import NO_FILTERS
from cortex.ranking import read_question
from cortex.terms.paths import is_built, is_test
from ipc.messages import ExactHits, ExactSearch, Locate, Located

#: names that are searched, chunks that may hold them, and cited places that are looked up
NAMES_MAX, HITS_MAX, PLACES_MAX = 4, 24, 8

#: snake case, camel case, several capitals before small letters, and words in backquotes
_NAME = re.compile(
    r"(?<![\w.])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+)(?!\w)"
    r"|`([A-Za-z_]\w{2,})`"
)


def names_in(query: str) -> list[str]:
    """Return the first NAMES_MAX different names in a query."""
    matches = (match[1] or match[0] for match in _NAME.finditer(query))
    return list(dict.fromkeys(matches))[:NAMES_MAX]


async def find_lines(turn: Turn, names: list[str], *, with_tests: bool) -> dict[str, list[int]]:
    """Return code file → its lines that hold a name, best files first. Raises NotReady."""
    if not names:
        return {}
    request = ExactSearch(
        query=" OR ".join(f'"{name}"' for name in names),
        limit=HITS_MAX,
        filters=turn.context.scope_filters(NO_FILTERS),
        detail="location",
        generation=turn.generation.number,
        bare=True,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    lines: dict[str, list[int]] = {}
    for hit, numbers in zip(hits.hits, hits.highlight_lines, strict=True) if hits is not None else ():
        is_aside = is_built(hit.path) or (is_test(hit.path) and not with_tests)
        if hit.chunk_type == "code" and not is_aside:
            lines.setdefault(hit.path, []).extend(numbers)
    return lines


async def find_cited(turn: Turn, query: str) -> dict[str, list[int]]:
    """Return file → its lines that a pasted trace names, in the trace's order. Raises NotReady."""
    places = tuple(place for place in read_question(query).places if place.line)[:PLACES_MAX]
    if not places:
        return {}
    request = Locate(places, generation=turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    lines: dict[str, list[int]] = {}
    for spot in located.spots if located is not None else ():
        if spot.whole:
            lines.setdefault(spot.hit.path, []).append(places[spot.place].line)
    return lines
