#!/usr/bin/env python3
"""A benchmark of memory: a note stored through MCP beside a bare commit, queries and briefings over
many notes, imports, and the cost of its set.

    scripts/bench/memory.py [--notes 1000 10000] [--only store recall set] [--folder DIR]
                            [--model MODEL] [--json]

Notes in the folder from an earlier run are not imported again. MODEL is `static`, or the folder
of an ONNX model that embeds notes, measured beside the default one.
"""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import minimal_client
import product
import psutil
import report
from mcp import MCPError

from cortex.embedders import Embedder
from cortex.front.cli.status import memory_state
from cortex.memory.library import Library
from cortex.processes import attach
from cortex.settings.config import load_data
from cortex.settings.data import MODEL

#: measured calls of each kind, and calls before measuring
CALLS, WARM = 200, 10
#: seconds of watching the set idle
IDLE_S = 20.0
#: words of a title and of a body
TITLE_WORDS, BODY_WORDS = 9, 40
#: records of a slice of an import
SLICE = 200
#: queries: their ten nearest are compared with the proposals
PROPOSALS = 200
#: seconds in which memory must answer for the first time
AWAKE_S = 60.0
#: seconds in which a model must embed all notes of the set
EMBEDDED_S = 1_800.0
PARTS = ("store", "recall", "set")


class Words:
    """Sentences with the words of our documents, the frequent ones often; the same each time."""

    def __init__(self, seed: int = 7) -> None:
        text = " ".join(path.read_text() for path in sorted((report.ROOT / "docs").glob("*.md")))
        self._words = sorted(set(re.findall(r"[a-z]{4,}", text.lower())))
        self._random = random.Random(seed)
        self._random.shuffle(self._words)
        self._weights = list(accumulate(1 / (at + 5) for at in range(len(self._words))))

    def __call__(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))


def records(count: int) -> Iterator[list[dict[str, Any]]]:
    words = Words()
    kinds = ("fact", "decision", "event", "pattern", "preference", "goal", "observation")
    for first in range(0, count, SLICE):
        yield [
            {
                "note": {
                    "title": f"{words(TITLE_WORDS)} {at}",
                    "body": words(BODY_WORDS),
                    "kind": kinds[at % len(kinds)],
                    "labels": [words(1)],
                    "importance": (at % 10) / 10,
                    "source": {"agent": "bench", "session": f"s{at // 20}"},
                }
            }
            for at in range(first, min(count, first + SLICE))
        ]


def summarise_calls(
    case: str, call: Callable[[], object], count: int, child: psutil.Process | None = None
) -> list[report.Figures]:
    """Return the time of calls, and their processor time with that of a child, which is meaningful
    on a busy machine too.
    """
    used: list[float] = []

    def processor_time() -> float:
        return time.process_time() + (sum(child.cpu_times()[:2]) if child else 0.0)

    def metered(_at: int) -> None:
        begun = processor_time()
        call()
        used.append(processor_time() - begun)

    waited = report.time_calls(count, metered)
    return [
        report.summarise(case, waited),
        report.summarise(f"{case}, processor time", used[WARM:]),
    ]


def import_notes(count: int, folder: Path) -> report.Figures:
    """Import notes until the folder has so many; no time is given if they were there."""
    with Library.open(folder, model=report.models(None)["sentences"]) as memory:  # its vectors stay
        if memory.stats()["node_count"] == count:
            return {}
        taken = 0.0
        for some in records(count):  # drawing them takes as long as storing them
            begun = time.perf_counter()
            memory.import_records(some)
            taken += time.perf_counter() - begun
    return {f"import of {count}, notes a second": round(count / taken)}


def measure_notes(
    count: int, folder: Path, name: str, model: Callable[[], Embedder] | None
) -> tuple[report.Figures, list[report.Figures]]:
    """Measure the embedding of so many notes by a model, queries and briefings."""
    words = Words(11)
    questions = [words(5) for _ in range(CALLS + WARM)]
    remaining = iter(questions)
    begun = time.perf_counter()
    with Library.open(folder, model=model) as memory:
        figures = {f"opening {count}, {name}, s": round(time.perf_counter() - begun, 2)}
        has_to_embed, begun = memory.memory.has_to_embed, time.perf_counter()
        report.embed(memory.memory)
        if has_to_embed:
            each_s = (time.perf_counter() - begun) / count
            figures[f"embedding of {count} by {name}, notes a second"] = round(1 / each_s)
        child = next(iter(psutil.Process().children()), None)
        case = f"over {count}, {name}"
        rows = summarise_calls(f"recall {case}", lambda: memory.recall(next(remaining)), CALLS, child)
        rows += summarise_calls(f"briefing {case}", memory.briefing, 30)
        vectors = memory.memory.meaning
        same = [
            len({*vectors.nearest(text, 10, exact=True)} & {*vectors.nearest(text, 10, exact=False)})
            for text in questions[:PROPOSALS]
        ]
    return figures | {
        f"recall@10 of what is proposed, {count}, {name}": round(statistics.mean(same) / 10, 4)
    }, rows


def bare_commits(folder: Path) -> list[float]:
    """Time a row of the same size into an empty SQLite database, with the same durability."""
    connection = sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE note (title TEXT, body TEXT)")
    words = Words(13)

    def commit(_at: int) -> None:
        connection.execute("INSERT INTO note VALUES (?, ?)", (words(TITLE_WORDS), words(BODY_WORDS)))

    seconds = report.time_calls(CALLS, commit)
    connection.close()
    return seconds


async def wait_for_memory(front: product.Front) -> None:
    """Wait until memory answers: the first call makes its tables."""
    until = time.monotonic() + AWAKE_S
    while True:
        try:
            await front.call("cortex_briefing")
        except MCPError:
            if time.monotonic() > until:
                raise
        else:
            return


def measure_stores(root: Path) -> list[float]:
    """Time `cortex_store` through MCP, by a minimal client."""
    words, until = Words(17), time.monotonic() + AWAKE_S
    with minimal_client.Server([product.CORTEX, "mcp", "--project", str(root)]) as front:
        while b'"result"' not in front.call("cortex_briefing", {}):  # the first call makes its tables
            if time.monotonic() > until:
                raise SystemExit("memory did not answer")

        def store(at: int) -> None:
            note = {"title": f"{words(TITLE_WORDS)} {at}", "body": words(BODY_WORDS)}
            answer = front.call("cortex_store", note)
            if b"Stored:" not in answer:
                raise SystemExit(f"cortex_store answered {answer!r}")

        return report.time_calls(CALLS, store)


async def measure_set_with_model(root: Path, data: Path, notes: int) -> report.Figures:
    """Measure the processes of the set with an installed model, while it is used."""
    until = time.monotonic() + EMBEDDED_S
    async with product.connect(root) as front:
        await wait_for_memory(front)
        while not (await memory_state(load_data()))["embedder"].get("answers"):
            if time.monotonic() > until:
                raise SystemExit("the model did not embed all notes")
            await asyncio.sleep(1)
        await front.call("cortex_recall", query="what was decided about the index")
        owned = product.processes_of(data)
        children = {child for process in owned for child in process.children()} - {*owned}
        used, by_model = (
            sum(process.memory_full_info().pss for process in group) / 1e6 for group in (owned, children)
        )
        return {
            f"set with the model at {notes} notes, without the model's process, MB": round(used, 1),
            "model's process, MB": round(by_model, 1),
        }


async def measure_rest(root: Path, data: Path, notes: int) -> report.Figures:
    """Measure the processes of the set, with a front that made one call."""
    async with product.connect(root) as front:
        await wait_for_memory(front)
        await front.call("cortex_recall", query="what was decided about the index")
        owned = product.processes_of(data)
        before = sum(sum(process.cpu_times()[:2]) for process in owned)
        await asyncio.sleep(IDLE_S)
        used = sum(sum(process.cpu_times()[:2]) for process in owned) - before
        memory = sum(process.memory_full_info().pss for process in owned)
        return {
            f"set at {notes} notes, MB": round(memory / 1e6, 1),
            "set at rest, % of a core": round(100 * used / IDLE_S, 3),
            "processes of the set": len(owned),
        }


def measure_mcp(
    parts: list[str], model: Path | None, notes: int
) -> tuple[report.Figures, list[report.Figures]]:
    """Measure writes and the set, which need the whole product."""
    figures: report.Figures = {}
    rows: list[report.Figures] = []
    with tempfile.TemporaryDirectory(prefix="cortex-memory-") as place:
        data = Path(place).resolve() / "data"
        with product.scratch_project(memory_data_dir=data) as root:
            if "store" in parts:
                rows.append(report.summarise("bare commit", bare_commits(Path(place))))
                rows.append(report.summarise("cortex_store through MCP", measure_stores(root)))
                attach.stop(load_data())
            if "set" in parts:
                with Library.open(data) as memory:
                    for some in records(notes):
                        memory.import_records(some)
                figures |= asyncio.run(measure_rest(root, data, notes))
                attach.stop(load_data())
                if model:
                    shutil.copytree(model, data / MODEL)
                    figures |= asyncio.run(measure_set_with_model(root, data, notes))
                    attach.stop(load_data())
    return figures, rows


def main() -> None:
    parser = report.make_parser(__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--set-notes", type=int, default=10_000, help="notes of the set whose memory is measured"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folder", type=Path, help="where the notes stay; else nothing stays")
    parser.add_argument("--model", type=Path, help="static, or the folder of an ONNX model that embeds notes")
    options = parser.parse_args()
    figures = report.begin("memory")
    rows: list[report.Figures] = []
    if {"store", "set"} & {*options.only}:
        measured_figures, some = measure_mcp(options.only, options.model, options.set_notes)
        figures |= measured_figures
        rows += some
    for count in options.notes if "recall" in options.only else ():
        with tempfile.TemporaryDirectory(prefix="cortex-memory-") as place:
            folder = (options.folder or Path(place)).resolve() / f"notes-{count}"
            figures |= import_notes(count, folder)
            for name, model in report.models(options.model).items():
                measured_figures, some = measure_notes(count, folder, name, model)
                figures |= measured_figures
                rows += some
    report.print_machine(figures)
    if rows:
        report.print_table(list(rows[0]), [list(row.values()) for row in rows])
    report.print_figures({name: value for name, value in figures.items() if name != "machine"})
    if options.json:
        report.write(figures | {"times": rows})


if __name__ == "__main__":
    main()
