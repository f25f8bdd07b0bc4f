#!/usr/bin/env python3
"""A benchmark of a team's memory on a PostgreSQL server beside one in a folder, on one machine:

    scripts/bench/scale.py --database postgresql://user@host/database [--notes 1000 10000] [--json]

For each number of notes: seconds of
`migrate`; of storing a note and of a query in both places; the time until another machine finds a
stored note (both machines are in this process, which leaves out a second process's share); and
notes that two machines store together in a second. The teams it makes (schemas cortex_bench_…) are
removed at the end.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import memory
import report
from sqlalchemy import text

from cortex.memory.library import Library
from cortex.memory.team.postgresql import Server, connect, read_address
from cortex.memory.team.relocation import migrate
from cortex.settings.reference import read_reference

#: notes that each of two machines stores at once
TOGETHER = 100


def main() -> None:
    parser = report.make_parser(__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    options = parser.parse_args()
    figures = report.begin("scale")
    report.print_machine(figures)
    figures |= measure_memory(options)
    report.print_table(
        ("case", "p50 ms", "p95 ms"),
        [(row["case"], row["p50_ms"], row["p95_ms"]) for row in figures["cases"]],
    )
    report.print_figures({name: value for name, value in figures.items() if name not in {"machine", "cases"}})
    if options.json:
        report.write(figures)


def measure_memory(options: argparse.Namespace) -> report.Figures:
    address, figures, rows = read_reference(options.database), report.Figures(), list[report.Figures]()
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        for count in options.notes:
            server = Server(address, f"cortex_bench_{os.getpid()}_{count}")
            try:
                count_figures, cases = measure_notes(count, Path(folder) / str(count), server)
            finally:
                remove(server)
            figures |= count_figures
            rows += cases
    return figures | {"cases": rows}


def measure_notes(count: int, folder: Path, server: Server) -> tuple[report.Figures, list[report.Figures]]:
    """Return figures, and rows of times, of so many notes."""
    with Library.open(folder / "here", project="bench") as local:
        for batch in memory.records(count):
            local.import_records(batch)
        cases = time_library(local, f"{count} notes, folder")
        started = time.perf_counter()
        for _ in migrate(local, to=server.address, team=server.team):
            pass
        figures = {f"migrated_{count}_s": round(time.perf_counter() - started, 2)}
    with Library.open(folder / "one", project="bench", driver=server) as remote:
        started = time.perf_counter()
        remote.recall("what comes first?")
        figures[f"first_answer_{count}_s"] = round(time.perf_counter() - started, 2)
        cases += time_library(remote, f"{count} notes, server")
        with Library.open(folder / "other", project="bench", driver=server) as other:
            cases.append(
                report.summarise(
                    f"{count} notes, stored here and found there", time_visibility(remote, other)
                )
            )
    return figures | {f"together_{count}_notes_per_s": store_concurrently(folder, server)}, cases


def time_library(library: Library, name: str) -> list[report.Figures]:
    words, title, body = memory.Words(11), memory.TITLE_WORDS, memory.BODY_WORDS
    storing = report.time_calls(memory.CALLS, lambda _: library.store(words(title), words(body)))
    context = report.time_calls(memory.CALLS, lambda _: library.recall(words(5)))
    return [report.summarise(f"{name}: store", storing), report.summarise(f"{name}: recall", context)]


def time_visibility(library: Library, other: Library) -> list[float]:
    """Return seconds from before a library stores a note until the other has it."""
    words, took = memory.Words(13), []
    for _ in range(memory.CALLS // 4):
        title = words(memory.TITLE_WORDS)
        started = time.perf_counter()
        number = library.memory.store.need(library.store(title)["id"]).number
        other.recall(title)
        if number not in set(other.memory.catalog.live()):
            raise RuntimeError(f"Note {number} was not found by the other machine.")
        took.append(time.perf_counter() - started)
    return took


def store_concurrently(folder: Path, server: Server) -> float:
    """Return the notes a second that two machines store at once."""

    def write(name: str) -> None:
        with Library.open(folder / name, project="bench", driver=server) as library:
            ready.wait()
            for at in range(TOGETHER):
                library.store(f"Fact {at} of machine {name}")
            done.wait()

    ready, done = threading.Barrier(3), threading.Barrier(3)
    writers = [threading.Thread(target=write, args=(f"writer-{at}",)) for at in range(2)]
    for writer in writers:
        writer.start()
    ready.wait()
    started = time.perf_counter()
    done.wait()
    took = time.perf_counter() - started
    for writer in writers:
        writer.join()
    return round(2 * TOGETHER / took, 1)


def remove(server: Server) -> None:
    engine = connect(read_address(server.address), server.team)
    with engine.begin() as connection:
        connection.execute(text(f'DROP SCHEMA IF EXISTS "{server.team}" CASCADE'))
    engine.dispose()


if __name__ == "__main__":
    main()
