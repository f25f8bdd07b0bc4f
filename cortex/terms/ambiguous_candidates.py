"""The candidates of ambiguous calls in an answer about structure: listed once, and found again by
those who show each result. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson


def fold(results: Iterable[bytes]) -> tuple[bytes, ...]:
    """Results as JSON, where one with the candidates of an earlier one has, instead of them,
    `candidates_of`: the place of that in the list, from 0.
    """
    first: dict[tuple[str, ...], int] = {}
    folded = []
    for place, raw in enumerate(results):
        if b'"candidates":' not in raw:
            folded.append(raw)
            continue
        result = orjson.loads(raw)
        first_place = first.setdefault(tuple(result.get("candidates", ())), place)
        if first_place != place:
            result.pop("candidates", None)
            result.pop("more_candidates", None)
            result["candidates_of"] = first_place
        folded.append(orjson.dumps(result))
    return tuple(folded)


def candidates_of(result: dict[str, Any], results: Sequence[dict[str, Any]]) -> list[str]:
    """What the call of a result may mean, wherever in the answer it is listed; none for a sure
    one.
    """
    listing = results[result["candidates_of"]] if "candidates_of" in result else result
    names: list[str] = listing.get("candidates", [])
    return names
