"""The map of a question: the places and names of its best units, one a line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cortex.ranking.units import ScoredUnit

#: lines of a map, and their bytes: 220 tokens
MAP_LINES, MAP_BYTES = 10, 880
#: first places from which a document or a test stands in the map
ASIDE_PLACES = 3

#: one line of a map: `file`, `start`, `end`, `name`
Entry = dict[str, Any]


def choose_mapped(
    units: Sequence[ScoredUnit], *, with_tests: bool
) -> tuple[list[ScoredUnit], list[ScoredUnit]]:
    """Return (the units of the map, best first; the best tests, where `with_tests`).

    One document and one test stand in the map, if they are among the first ASIDE_PLACES.
    """
    ordered = sorted(units, key=lambda one: -one.score)
    tests = [one for one in ordered if one.is_test]
    sections = [one for one in ordered if is_aside(one) and not one.is_test]
    aside = [*sections[:1], *([] if with_tests else tests[:1])]
    kept = {id(one) for one in ordered[:ASIDE_PLACES]} & set(map(id, aside))
    mapped = [one for one in ordered if not is_aside(one) or id(one) in kept]
    return mapped or sections or tests, tests if with_tests else []


def is_aside(one: ScoredUnit) -> bool:
    """Whether a unit is a test or a section of a document."""
    return one.is_test or one.unit.get("kind", "section") == "section"


def make_map(units: Iterable[ScoredUnit], most: int = MAP_LINES, max_bytes: int = MAP_BYTES) -> list[Entry]:
    """Return the first entries of the map: as many as `most` and `max_bytes` allow."""
    lines: list[Entry] = []
    left = max_bytes
    for one in units:
        line = map_line(one)
        left -= bytes_of_line(line)
        if left < 0 or len(lines) == most:
            break
        lines.append(line)
    return lines


def map_line(one: ScoredUnit) -> Entry:
    """Return the entry of a unit: its place and its name."""
    unit = one.unit
    return {
        "file": unit["path"],
        "start": unit["start"],
        "end": unit["end"],
        "name": unit.get("symbol") or unit.get("title", ""),
    }


def bytes_of_line(line: Entry) -> int:
    """Return the size of an entry as a line of text."""
    return len(f"{line['file']}:{line['start']}-{line['end']}  {line['name']}\n".encode())
