"""What was noted of the places in an answer about code: how many notes, and the best of them.

Memory is asked only where it runs already, and no answer waits for it longer than a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from cortex.ask.query_context import Asking
from cortex.terms.ids import stem_of

#: places of an answer beside which notes are told, the first of its places
PLACES_MAX = 8
#: decisions that a change is told to touch
DECISIONS_MAX = 10

Answer = dict[str, Any]


async def with_notes(asking: Asking, answer: Answer, paths: Sequence[str]) -> Answer:
    """The answer with `notes`: path → {"count", "best": ["#12 decision: Retries …"]}; as it is
    where nothing was noted.
    """
    places = await _beside(asking, list(dict.fromkeys(paths)), {})
    told = {
        path: {"count": place["count"], "best": [_line(one) for one in place["best"]]}
        for path, place in list(places.items())[:PLACES_MAX]
    }
    return answer | {"notes": told} if told else answer


async def with_decisions(
    asking: Asking, answer: Answer, paths: Sequence[str], touched: AbstractSet[str]
) -> Answer:
    """The answer with `decisions`: those that hold and are about what a change touches; `touched`:
    ids of the graph. One that names symbols is told when one of them is touched.
    """
    asked = {"kinds": ["decision"], "limit": DECISIONS_MAX}
    places = await _beside(asking, list(dict.fromkeys(paths)), asked)
    found: dict[int, Answer] = {}
    for path, place in places.items():
        for one in place["best"]:
            if not one["anchors"] or not touched.isdisjoint(one["anchors"]):
                made = found.setdefault(one["number"], {"number": one["number"], "title": one["title"]})
                made.setdefault("files", []).append(path)
    return answer | {"decisions": list(found.values())[:DECISIONS_MAX]} if found else answer


def files_of(asking: Asking, name: str) -> list[str]:
    """The files that an id of the graph, or a path, may stand in."""
    own = name.partition(":")[0]
    if not own:
        return []
    return [path for path in asking.freshness.listed() if own in (path, stem_of(path))]


async def _beside(asking: Asking, paths: Sequence[str], asked: dict[str, Any]) -> dict[str, Answer]:
    """Path → what memory tells of it, under this name or an earlier one; in their order."""
    if not paths:
        return {}
    before = asking.renames.before(paths) if asking.renames else {}
    names = [*paths, *before]
    told = await asking.glance("beside", asked | {"paths": names[:500]})
    found: dict[str, Answer] = {}
    known: dict[str, Answer] = told["places"] if told else {}
    for name in (name for name in names if name in known):
        path = before.get(name, name)
        if path in found:  # under both names
            known[name] = {
                "count": found[path]["count"] + known[name]["count"],
                "best": [*found[path]["best"], *known[name]["best"]],
            }
        found[path] = known[name]
    return {path: found[path] for path in paths if path in found}


def _line(one: Answer) -> str:
    return f"#{one['number']} {one['kind']}: {one['title']}"
