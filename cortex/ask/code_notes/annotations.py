"""The notes about places in an answer about code: their number, and the best of them.

Memory is asked only where it already runs, and no answer waits for it longer than a glance.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from cortex.ask.query_context import QueryContext
from cortex.terms.ids import stem_of

#: places of an answer that get notes, in the order of the answer
PLACES_MAX = 8
#: decisions listed for a change
DECISIONS_MAX = 10

Answer = dict[str, Any]


async def with_notes(context: QueryContext, answer: Answer, paths: Sequence[str]) -> Answer:
    """Return the answer with `notes`, if any: path → {"count", "best": ["#12 decision: …"]}."""
    places = await _fetch_places(context, list(dict.fromkeys(paths)), {})
    notes = {
        path: {
            "count": place["count"],
            "best": [f"#{note['number']} {note['kind']}: {note['title']}" for note in place["best"]],
        }
        for path, place in list(places.items())[:PLACES_MAX]
    }
    return answer | {"notes": notes} if notes else answer


async def with_decisions(
    context: QueryContext, answer: Answer, paths: Sequence[str], touched: AbstractSet[str]
) -> Answer:
    """Return the answer with `decisions`: current ones about the changed code. `touched`: ids of
    the graph; a decision about symbols is listed only if one of them is touched.
    """
    filters = {"kinds": ["decision"], "limit": DECISIONS_MAX}
    places = await _fetch_places(context, list(dict.fromkeys(paths)), filters)
    decisions: dict[int, Answer] = {}
    for path, place in places.items():
        for note in place["best"]:
            if not note["anchors"] or not touched.isdisjoint(note["anchors"]):
                decision = decisions.setdefault(
                    note["number"], {"number": note["number"], "title": note["title"]}
                )
                decision.setdefault("files", []).append(path)
    return answer | {"decisions": list(decisions.values())[:DECISIONS_MAX]} if decisions else answer


def files_of(context: QueryContext, name: str) -> list[str]:
    """Return the files that an id of the graph, or a path, may belong to."""
    prefix = name.partition(":")[0]
    if not prefix:
        return []
    return [path for path in context.freshness.listed() if prefix in (path, stem_of(path))]


async def _fetch_places(
    context: QueryContext, paths: Sequence[str], arguments: dict[str, Any]
) -> dict[str, Answer]:
    """Return path → memory's notes about it, also by earlier names; in the order of `paths`."""
    if not paths:
        return {}
    before = context.renames.before(paths) if context.renames else {}
    names = [*paths, *before]
    answer = await context.glance("beside", arguments | {"paths": names[:500]})
    places: dict[str, Answer] = {}
    by_name: dict[str, Answer] = answer["places"] if answer else {}
    for name in (name for name in names if name in by_name):
        path = before.get(name, name)
        if path in places:  # under both names
            by_name[name] = {
                "count": places[path]["count"] + by_name[name]["count"],
                "best": [*places[path]["best"], *by_name[name]["best"]],
            }
        places[path] = by_name[name]
    return {path: places[path] for path in paths if path in places}
