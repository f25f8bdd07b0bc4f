"""The map of a question: the places and names of its best units, by file. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from cortex.ranking.units import SIGNALS, ScoredUnit
from cortex.terms.paths import asks_for_documents_alone, asks_for_records, is_record, is_unasked_copy
from cortex.terms.units import SECTION

#: lines of a map, and their bytes: 220 tokens
MAP_LINES, MAP_BYTES = 16, 880
#: definitions before which a document or a test stands in the map
ASIDE_PLACES = 3
#: functions of one name in a map, unless the question has the name: many types have a `Provide`
SAME_NAME_MAX = 3

#: the signals of a unit whose symbol or line the question names
_NAMED = (SIGNALS.index("named"), SIGNALS.index("line"))
_LINE = _NAMED[1]

#: one line of a map: `file`, `start`, `end`, `name`
Entry = dict[str, Any]


def choose_mapped(
    units: Sequence[ScoredUnit], question: str, *, with_tests: bool
) -> tuple[list[ScoredUnit], list[ScoredUnit]]:
    """Return (the units of the map, best first; the best tests, where `with_tests`).

    One document, one piece without a definition (configuration, a style) and one test stand in the
    map, if fewer than ASIDE_PLACES definitions precede them. Built
    copies and declarations of types follow all others, unless the question names them. Sections
    precede all others, if it asks for documents alone.
    """
    ordered = sorted(units, key=lambda scored: (_is_copy(scored, question), -scored.score))
    tests = [scored for scored in ordered if scored.is_test]
    sections = [scored for scored in ordered if is_aside(scored) and not scored.is_test]
    if not asks_for_records(question):
        sections.sort(key=lambda scored: is_record(scored.unit["path"]))
    if pages := sections_asked_for(ordered, question):
        code = [scored for scored in ordered if not is_aside(scored)]
        return [*pages, *code], tests if with_tests else []
    loose = [scored for scored in sections if scored.unit.get("kind") != SECTION]
    documents = [scored for scored in sections if scored.unit.get("kind") == SECTION]
    aside = [*documents[:1], *loose[:1], *([] if with_tests else tests[:1])]
    code_before = list(accumulate((not is_aside(scored) for scored in ordered), initial=0))
    places = zip(ordered, code_before, strict=False)
    aside_ids = {id(scored) for scored, count in places if count < ASIDE_PLACES} & set(map(id, aside))
    mapped = [scored for scored in ordered if not is_aside(scored) or id(scored) in aside_ids]
    mapped = _drop_namesakes(mapped, question)
    return mapped or sections or tests, tests if with_tests else []


def _drop_namesakes(units: Iterable[ScoredUnit], question: str) -> list[ScoredUnit]:
    """Return the units without those after SAME_NAME_MAX of one name that the question lacks."""
    words = set(re.findall(r"\w+", question.lower()))
    counts: Counter[str] = Counter()
    remaining = []
    for scored in units:
        name = scored.unit.get("symbol", "").rpartition(".")[2].partition("~")[0]
        counts[name] += 1
        if counts[name] <= SAME_NAME_MAX or not name or name.lower() in words or is_named(scored, question):
            remaining.append(scored)
    return remaining


def sections_asked_for(units: Iterable[ScoredUnit], question: str) -> list[ScoredUnit]:
    """Return the sections of documents, none for a question that does not ask for them alone."""
    if not asks_for_documents_alone(question):
        return []
    return [scored for scored in units if scored.unit.get("kind") == SECTION and not scored.is_test]


def is_named(scored: ScoredUnit, question: str) -> bool:
    """Whether the question names a unit: its symbol, a line, or a capitalised name as a word."""
    if any(scored.values[at] > 0 for at in _NAMED if at < len(scored.values)):
        return True
    name = scored.unit.get("symbol", "").rpartition(".")[2]
    # Few names are in the question: for the others no expression is compiled.
    return (
        name[:1].isupper() and name in question and re.search(rf"\b{re.escape(name)}\b", question) is not None
    )


def _is_copy(scored: ScoredUnit, question: str) -> bool:
    """Whether a unit is of a built copy, or declares types alone, and the question does not ask for
    its file.
    """
    path = scored.unit["path"]
    is_cited = len(scored.values) > _LINE and scored.values[_LINE] > 0
    return is_unasked_copy(path, question) and not is_cited


def is_aside(scored: ScoredUnit) -> bool:
    """Whether a unit is a test or a section of a document."""
    return scored.is_test or scored.unit.get("kind", "section") == "section"


def make_map(units: Iterable[ScoredUnit], most: int = MAP_LINES, max_bytes: int = MAP_BYTES) -> list[Entry]:
    """Return the first entries of the map: as many as `most` and `max_bytes` allow."""
    lines: list[Entry] = []
    for scored in units:
        if len(lines) == most or bytes_of_map([*lines, map_line(scored)]) > max_bytes:
            break
        lines.append(map_line(scored))
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


def bytes_of_map(entries: Sequence[Entry]) -> int:
    """Return the size of a map as text, which has each path once."""
    paths = sum(len(path.encode()) + 1 for path in {entry["file"] for entry in entries})
    return paths + sum(len(f"  {row['start']}-{row['end']}  {row['name']}\n".encode()) for row in entries)
