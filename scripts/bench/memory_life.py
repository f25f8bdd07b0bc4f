#!/usr/bin/env python3
"""How long each tool of observations takes after the life of a project, made up from a seed as in
tests/life.py, and whether lists and counts are what is known of that life.

    scripts/bench/memory_life.py [--days 90] [--sessions 40] [--observations 2000] [--json]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import report

from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.terms.observations import PREFIX, REQUIRED, ROWS

sys.path.insert(0, str(report.ROOT))
from tests.life import TYPES, Life, live

#: calls of each tool that are measured
CALLS = 20
#: what is asked of tools that need it
ASKED = {
    "query": "what did we decide on for the database",
    "concepts": "network,storage",
    "files": "src/net",
    "type": "bugfix,feature",
    "tag": "testing",
}


def tell(library: Library, life: Life) -> dict[str, int]:
    """Store all that was told, each at its moment: title → number."""
    numbers: dict[str, int] = {}
    for one in life.told:
        moment = one["at"]
        library.memory.now = library.memory.store._now = lambda at=moment: at  # type: ignore[misc]
        whose = library.of(project=one["project"], source=Source("claude", one["session"], "mcp", "agent"))
        made = whose.store(**one["note"], supersedes=[numbers[title] for title in one.get("supersedes", ())])
        numbers.setdefault(one["note"]["title"], made["number"])
    return numbers


def ask(library: Library, name: str, **given: Any) -> dict[str, Any]:
    answer = carry_out(library, f"{PREFIX}{name}", given, project="shop")
    return answer if isinstance(answer, dict) else finish(answer)


def measure(library: Library, numbers: dict[str, int]) -> list[report.Figures]:
    """A row for each tool that only reads."""
    some, rows = list(numbers.values()), []
    for name, row in ROWS.items():
        if row.writes:
            continue
        took = []
        for at in range(CALLS):
            given = dict(ASKED) | {"id": str(some[at * len(some) // CALLS])}
            given["anchor_id"] = given["id"]
            needed = {
                argument: given[argument] for argument, value in row.arguments.items() if value is REQUIRED
            }
            began = time.perf_counter()
            ask(library, name, **needed)
            took.append(time.perf_counter() - began)
        rows.append(report.summarise(name, took))
    return rows


def differences(library: Library, life: Life) -> int:
    """How many lists are not what is known."""
    active = [note for note in life.notes.values() if note["state"] == "active"]
    wanted = {obs_type: sum(note["obs_type"] == obs_type for note in active) for obs_type in TYPES}
    told = {obs_type: ask(library, "find_by_type", type=obs_type)["total_count"] for obs_type in TYPES}
    trends = ask(library, "get_temporal_trends", days=min(365, life.days + 1))
    wrong = sum(told[name] != wanted[name] for name in wanted)
    return wrong + (trends["summary"]["total_observations"] != len(life.notes))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--observations", type=int, default=2_000)
    report.add_json(parser)
    options = parser.parse_args()
    figures = report.begin("memory-life")
    report.print_machine(figures)
    life = live(options.days, options.sessions, options.observations)
    with tempfile.TemporaryDirectory() as made, Library.open(Path(made) / "memory") as library:
        began = time.perf_counter()
        numbers = tell(library, life)
        figures["stored_s"] = round(time.perf_counter() - began, 2)
        library.memory.now = library.memory.store._now = lambda: life.end  # type: ignore[misc]
        figures |= {"notes": len(life.notes), "replaced": len(life.replaced), "told_twice": len(life.doubled)}
        figures["differences"] = differences(library, life)
        figures["tools"] = measure(library, numbers)
    report.print_figures(
        {name: figures[name] for name in ("notes", "replaced", "told_twice", "stored_s", "differences")}
    )
    report.print_table(
        ("tool", "calls", "p50 ms", "p95 ms", "p99 ms"), [tuple(row.values()) for row in figures["tools"]]
    )
    if options.json:
        report.write(figures)


if __name__ == "__main__":
    main()
