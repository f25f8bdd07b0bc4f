"""A benchmark of memory's worker: the time of a durable write, and the cost of an idle set.

    python scripts/bench/memory_set.py [--notes 1000] [--idle 30] [--json]

Notes are stored and recalled through the worker, by a program that is attached to it. Beside each
is the commit alone: a row of the same size in a database with the same settings.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from product import isolated_environment, processes_of_set
from report import Figures, add_json, begin, print_figures, print_machine, print_table, summarise, write
from sqlalchemy import text

from cortex.memory import Cortex
from cortex.memory.store.database import connect
from cortex.processes import attach
from cortex.settings.config import load_data

#: notes that are stored before measuring
WARM = 50
BODY = "Fixed delays made all clients come back at once, so each waits a random part of its interval. " * 3


def time_calls(count: int, call: Callable[[int], Any]) -> list[float]:
    took = []
    for number in range(count):
        began = time.perf_counter()
        call(number)
        took.append(time.perf_counter() - began)
    return took[WARM:]


def commits(folder: Path, count: int) -> list[float]:
    engine = connect(folder / "bare.sqlite3")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE note (number INTEGER PRIMARY KEY, body TEXT)"))

    def commit(number: int) -> None:
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO note (body) VALUES (:body)"), {"body": f"{number}{BODY}"})

    took = time_calls(count, commit)
    engine.dispose()
    return took


def measure_rest(idle_s: float) -> Figures:
    """Measure the set while its program is idle: memory of each process, processor time of both."""
    processes = processes_of_set(load_data())
    time.sleep(5.0)  # the words of the last notes go to the disk
    before = {name: sum(process.cpu_times()[:2]) for name, process in processes.items()}
    time.sleep(idle_s)
    used = {name: sum(process.cpu_times()[:2]) - before[name] for name, process in processes.items()}
    memory = {f"{name}_pss_mb": process.memory_full_info().pss / 1e6 for name, process in processes.items()}
    return {name: round(value, 1) for name, value in memory.items()} | {
        f"{name}_percent_of_a_core": round(100 * value / idle_s, 2) for name, value in used.items()
    }


def measure(folder: Path, notes: int, idle_s: float) -> tuple[list[Figures], Figures]:
    with Cortex.open(folder / "data", project="bench") as memory:
        began = time.perf_counter()
        memory.stats()
        first_s = time.perf_counter() - began
        rows = [
            summarise(
                "store", time_calls(notes, lambda n: memory.store(f"Retries of the client number {n}", BODY))
            ),
            summarise("the commit alone", commits(folder, notes)),
            summarise("recall", time_calls(notes, lambda n: memory.recall(f"how does client {n} retry"))),
            summarise("a question that finds by id", time_calls(notes, lambda n: memory.node(1 + n % notes))),
        ]
        idle_figures = measure_rest(idle_s)
    return rows, {"first_call_of_a_new_folder_s": round(first_s, 2)} | idle_figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--idle", type=float, default=30.0, metavar="SECONDS")
    add_json(parser)
    options = parser.parse_args()
    figures = begin("memory_set") | {"notes": options.notes}
    with isolated_environment(), tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        os.environ["CORTEX_MEMORY_DATA_DIR"] = str(Path(folder) / "data")
        try:
            rows, idle_figures = measure(Path(folder), options.notes, options.idle)
        finally:
            attach.stop(load_data())
            os.environ.pop("CORTEX_MEMORY_DATA_DIR")
    figures |= {"rows": rows, "rest": idle_figures}
    print_machine(figures)
    print_table(("case", "runs", "p50 ms", "p95 ms", "p99 ms"), [list(row.values()) for row in rows])
    print_figures(idle_figures)
    if options.json:
        write(figures)


if __name__ == "__main__":
    main()
