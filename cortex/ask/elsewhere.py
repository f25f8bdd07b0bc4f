"""Where the name of a definition stands, of which the graph knows no use: syntax does not resolve
every call, and nobody may take that for code that nothing needs.
"""

from __future__ import annotations

from cortex.ask.asking import Turn
from cortex.ask.questions import Graph
from cortex.terms.ids import uncopied
from ipc.messages import ExactHits, ExactSearch, GraphHits

#: operations whose empty answer would be read as "unused"
_USED = frozenset({"callers", "dependents", "impact", "type_usages"})
#: lines that are looked at, and places that are told
LINES_MAX, PLACES_MAX = 60, 6


async def elsewhere(turn: Turn, question: Graph, hits: GraphHits) -> str:
    """A sentence with other files that hold the word, or that none does; "" where that is not the
    question, or the text worker does not answer.

    Raises NotReady, unless the turn is final.
    """
    narrowed = question.scope or question.exclude_patterns
    if hits.results or not hits.target or narrowed or question.operation not in _USED:
        return ""
    stem, _, name = uncopied(hits.target).partition(":")
    word = name.rpartition(".")[2]
    if not word.isidentifier():
        return ""
    request = ExactSearch(
        word, "exact", limit=LINES_MAX, detail="location", generation=turn.generation.number, lines=LINES_MAX
    )
    found = await turn.lane("text", request, ExactHits, ours=True)
    if found is None:
        return ""
    places: dict[str, str] = {}
    for hit, lines in zip(found.hits, found.highlight_lines, strict=True):
        if hit.path != stem and not hit.path.startswith(f"{stem}."):
            line = next((line for line in lines if line), hit.start_line)
            places.setdefault(hit.path, f"{hit.path}:{line}")
    if not places:
        return f"No use of {word} is resolved, and the word occurs in no other file of the index."
    count = f"{'at least ' if found.truncated else ''}{len(places)} other file{'s' * (len(places) > 1)}"
    told = ", ".join(list(places.values())[:PLACES_MAX])
    return f"No use of {word} is resolved; the word occurs in {count}: {told}."
