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
    ordered = sorted(units, key=lambda scored: -scored.score)
    tests = [scored for scored in ordered if scored.is_test]
    sections = [scored for scored in ordered if is_aside(scored) and not scored.is_test]
    aside = [*sections[:1], *([] if with_tests else tests[:1])]
    aside_ids = {id(scored) for scored in ordered[:ASIDE_PLACES]} & set(map(id, aside))
    mapped = [scored for scored in ordered if not is_aside(scored) or id(scored) in aside_ids]
    return mapped or sections or tests, tests if with_tests else []


def is_aside(scored: ScoredUnit) -> bool:
    """Whether a unit is a test or a section of a document."""
    return scored.is_test or scored.unit.get("kind", "section") == "section"


def make_map(units: Iterable[ScoredUnit], most: int = MAP_LINES, max_bytes: int = MAP_BYTES) -> list[Entry]:
    """Return the first entries of the map: as many as `most` and `max_bytes` allow."""
    lines: list[Entry] = []
    left = max_bytes
    for scored in units:
        line = map_line(scored)
        left -= bytes_of_line(line)
        if left < 0 or len(lines) == most:
            break
        lines.append(line)
    return lines


def map_line(scored: ScoredUnit) -> Entry:
    """Return the entry of a unit: its place and its name."""
    unit = scored.unit
    return {
        "file": unit["path"],
        "start": unit["start"],
        "end": unit["end"],
        "name": unit.get("symbol") or unit.get("title", ""),
    }


def bytes_of_line(line: Entry) -> int:
    """Return the size of an entry as a line of text."""
    return len(f"{line['file']}:{line['start']}-{line['end']}  {line['name']}\n".encode())
