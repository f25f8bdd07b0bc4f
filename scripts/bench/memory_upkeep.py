#!/usr/bin/env python3
"""A benchmark of queries while upkeep runs over many notes, and of the length of its slices.

    scripts/bench/memory_upkeep.py [--notes 2000] [--json]

The notes are those of memory.py. One worker answers queries, through its socket, before upkeep and
during it; the second run of upkeep must change nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import report
from memory import TITLE_WORDS, Words, records

from cortex.memory.library import Library
from cortex.memory.operations import carry_out
from cortex.memory.serving import MemoryWorker
from cortex.settings.data import DataFolder
from cortex.settings.table import Memory
from ipc.client import Client
from ipc.messages import MemoryCall
from ipc.service import Serving

#: a run of upkeep takes 500 notes
NOTES = 2_000
#: queries before upkeep, and seconds that an answer may take
QUESTIONS, BOUND_S = 300, 60.0
#: seconds between two queries
PAUSE_S = 0.02


def fill(folder: Path, count: int) -> None:
    with Library.open(folder) as memory:
        for some in records(count):
            memory.import_records(some)


async def ask(client: Client, operation: str, **arguments: Any) -> dict[str, Any]:
    writes = operation == "run_consolidation"
    reply = await client.ask("memory", MemoryCall(operation, arguments, writes), BOUND_S)
    answer: dict[str, Any] = reply.answer
    return answer


async def question(client: Client, words: Words) -> float:
    begun = time.perf_counter()
    await ask(client, "recall", query=words(TITLE_WORDS))
    return time.perf_counter() - begun


async def measure_questions(runtime: Path) -> tuple[list[report.Figures], report.Figures]:
    """Measure queries before and during upkeep; return the changes of upkeep too."""
    client, words = Client(runtime), Words(11)
    try:
        resting = [await question(client, words) for _ in range(QUESTIONS)][QUESTIONS // 10 :]
        during: list[float] = []
        done: report.Figures = {"runs": 0, "edges": 0, "upkeep_s": 0.0}
        while True:
            upkeep = asyncio.create_task(ask(client, "run_consolidation"))
            while not upkeep.done():
                during.append(await question(client, words))
                await asyncio.sleep(PAUSE_S)
            summary = await upkeep
            done["runs"] += 1
            done["edges"] += summary["steps"]["relations"].get("edges", 0)
            done["upkeep_s"] = round(done["upkeep_s"] + summary["duration_ms"] / 1000, 1)
            if not summary["remaining"]:
                break
        second_run = await ask(client, "run_consolidation")
        done["changed_by_a_second_run"] = second_run["changes"]
    finally:
        await client.close()
    return [
        report.summarise("question at rest", resting),
        report.summarise("question during upkeep", during),
    ], done


def slices(folder: Path) -> report.Figures:
    """Measure each slice of a dry run over the whole store, without queries."""
    with Library.open(folder) as memory:
        steps = carry_out(memory, "run_consolidation", {"dry_run": True})
        seconds: list[float] = []
        begun = time.perf_counter()
        for _ in steps:
            seconds.append(time.perf_counter() - begun)
            begun = time.perf_counter()
    return report.summarise("slice of a dry run", seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=NOTES)
    report.add_json(parser)
    arguments = parser.parse_args()
    figures = report.begin("memory_upkeep")
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as name:
        folder, runtime = Path(name, "data"), Path(name, "run")
        runtime.mkdir(0o700)
        fill(folder, arguments.notes)
        cut = slices(folder)
        data = DataFolder(folder, Memory(upkeep_hours=0))
        serving = Serving("memory", lambda: MemoryWorker(data), runtime)
        try:
            cases, done = asyncio.run(measure_questions(runtime))
        finally:
            serving.close()
    cases.append(cut)
    report.print_machine(figures)
    report.print_figures({"notes": arguments.notes, **done})
    report.print_table(list(cases[0]), [list(case.values()) for case in cases])
    if arguments.json:
        report.write(figures | {"notes": arguments.notes, **done, "cases": cases})


if __name__ == "__main__":
    main()
