#!/usr/bin/env python3
"""A benchmark of each observation tool after the life of a project, and a check of its answers.

    scripts/bench/memory_life.py [--days 90] [--sessions 40] [--observations 2000] [--json]

The life is generated from a seed as in tests/generated_life.py, the expected answers are
tests/expected_observations.py.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import report

from cortex.memory.library import Library, finish
from cortex.memory.operations import carry_out
from cortex.terms.observations import REQUIRED, ROWS

sys.path.insert(0, str(report.ROOT))
from tests.conftest import open_project
from tests.expected_observations import CHECKS, Expectations, is_stale
from tests.front.conftest import Window
from tests.front.test_code_notes import Desk
from tests.generated_life import generate_life, plant, store_life, write_project

#: measured calls of each tool
CALLS = 20
#: arguments of the tools that need some
ARGUMENTS = {
    "query": "what did we decide on for the database",
    "concepts": "network,storage",
    "files": "src/net",
    "type": "bugfix,feature",
    "tag": "testing",
}


def measure(expected: Expectations) -> list[report.Figures]:
    """Return a row for each tool that only reads."""
    numbers = expected.numbers
    some, rows = list(numbers.values()), []
    for name, row in ROWS.items():
        if row.writes:
            continue
        took = []
        for at in range(CALLS):
            arguments = dict(ARGUMENTS) | {"id": str(some[at * len(some) // CALLS])}
            arguments["anchor_id"] = arguments["id"]
            needed = {
                argument: arguments[argument]
                for argument, value in row.arguments.items()
                if value is REQUIRED
            }
            began = time.perf_counter()
            expected.ask(name, **needed)
            took.append(time.perf_counter() - began)
        rows.append(report.summarise(name, took))
    return rows


def differences(expected: Expectations) -> list[str]:
    """Return the tools whose answers differ from the expected ones."""
    wrong = []
    for name in ROWS:
        try:
            CHECKS[name](expected)
        except AssertionError as error:
            wrong.append(name)
            print(f"{name}: {str(error).partition(chr(10))[0][:300]}", file=sys.stderr)
    return wrong


def look_after(library: Library) -> report.Figures:
    """Run upkeep until nothing is left to do; return its time and its changes."""
    began, edges = time.perf_counter(), 0
    while True:
        report_of_run = finish(carry_out(library, "run_consolidation", {}, project="shop"))
        edges += report_of_run["steps"]["relations"].get("edges", 0)
        if not report_of_run["remaining"]:
            break
    took = round(time.perf_counter() - began, 2)
    return {"upkeep_s": took, "edges": edges}


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
    life = generate_life(options.days, options.sessions, options.observations)
    planted = plant(life)
    with tempfile.TemporaryDirectory() as folder, Library.open(Path(folder) / "memory") as library:
        root = Path(folder) / "project"
        write_project(root)
        began = time.perf_counter()
        numbers = store_life(library, life)
        figures["stored_s"] = round(time.perf_counter() - began, 2)
        figures |= {"notes": len(life.notes), "replaced": len(life.replaced), "told_twice": len(life.doubled)}
        figures |= {"stale": sum(map(is_stale, life.notes.values())), **look_after(library)}
        desk = Desk(open_project(root), Window(library, root, project="shop").memory)
        expected = Expectations(desk.ask, life, planted, numbers)
        figures["checked"] = len(CHECKS)
        figures["differences"] = differences(expected)
        figures["tools"] = measure(expected)
    names = "notes replaced told_twice stale stored_s upkeep_s edges checked differences".split()
    report.print_figures({name: figures[name] for name in names})
    report.print_table(
        ("tool", "calls", "p50 ms", "p95 ms", "p99 ms"), [tuple(row.values()) for row in figures["tools"]]
    )
    if options.json:
        report.write(figures)


if __name__ == "__main__":
    main()
