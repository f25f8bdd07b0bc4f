"""Candidates of ambiguous calls in answers about structure: a repeated list is sent once, and
looked up again for display. Pure.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson


def fold(results: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return results as JSON, where a list of candidates that repeats an earlier one is replaced by
    `candidates_of`: the index of that result, from 0.
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
    """Return the candidates of a result's call, listed anywhere in the answer; [] if certain."""
    listing = results[result["candidates_of"]] if "candidates_of" in result else result
    names: list[str] = listing.get("candidates", [])
    return names
