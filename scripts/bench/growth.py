"""A benchmark of growth: each process at the begin, in the middle and at the end of many queries
and generations of one project.

    scripts/bench/growth.py --sources DIR [DIR …] [--files 700] [--questions 10000]
        [--generations 200] [--most-s 300] [--json]

One file is saved for each generation, and the queries between two saves run while it is published:
words, substrings, expressions, callers and explorations in turns, by a client that does nothing
else. Ten times it measures memory (proportional), descriptors and threads of each process, disk,
and the median of the queries since the last measurement. The slope is that of the second half, for
a thousand queries: memory that is taken once is there by then. Ends after --most-s, and prints how
far it came.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import usage
from minimal_client import Server
from product import CORTEX, isolated_environment, open_project, rows_of
from report import Figures, add_json, begin, percentiles, print_machine, print_table, write
from speed import SHORT, draw, index
from trees import copy_sources

from cortex.ask.freshness import Freshness
from cortex.settings.config import Config

#: measurements, the first after a tenth of the queries
LOOKS = 10
#: seconds until a saved file must be served, between two checks of that, and for the first index
SERVED_S, LOOK_S, INDEX_S = 30.0, 0.01, 600.0
#: queries of each kind that are drawn
DRAWN = 300
#: MB for a thousand queries above which a process grows, if it has so many MB more than in the
#: middle: less is an allocator's reserve
MB_A_THOUSAND_MAX, MORE_MB_MAX = 1.5, 4.0
#: descriptors and threads that a process may have more at the end than in the middle: generations
#: that are open for a moment hold some
MORE_MAX = 12


def questions(config: Config) -> list[tuple[str, dict[str, Any]]]:
    rows = rows_of(config)
    chance = random.Random(7)
    texts = [rows.text(at) for at in chance.sample(range(len(rows)), min(2000, len(rows)))]
    drawn = draw(texts, DRAWN)
    return [
        call
        for words, piece, pattern in zip(
            *(drawn[kind][:DRAWN] for kind in ("words", "substring", "regex")), strict=True
        )
        for call in (
            ("cortex_search", SHORT | {"query": words}),
            ("cortex_exact", {"query": piece, "match_type": "substring"}),
            ("cortex_search", SHORT | {"query": f"how {words}"}),
            ("cortex_exact", {"query": pattern, "match_type": "regex"}),
            ("cortex_graph", {"operation": "callers", "target": words.split()[-1]}),
            ("cortex_explore", {"query": words}),
        )
    ]


def look(config: Config, count: int, times: Sequence[float]) -> Figures:
    """Return the figures of now, and of the times (seconds) of the queries since the last
    measurement.
    """
    resources: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, process in usage.named_processes(config.root):
        with contextlib.suppress(psutil.Error):
            resources[name][0] += process.num_fds()
            resources[name][1] += process.num_threads()
    return {
        "questions": count,
        "generation": Freshness(config).current().number,
        "p50_ms": percentiles([1000 * seconds for seconds in times])["p50"],
        "disk_mb": usage.disk_mb(config.home),
        "memory_mb": usage.memory_mb(config.root),
        "descriptors": {name: counts[0] for name, counts in resources.items()},
        "threads": {name: counts[1] for name, counts in resources.items()},
    }


def grow(config: Config, options: argparse.Namespace) -> list[Figures]:
    calls, saved, freshness = questions(config), config.root / "grown.py", Freshness(config)
    until, looks, times = time.monotonic() + options.most_s, list[Figures](), list[float]()
    asked_count, between = 0, options.questions / options.generations
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        for number in range(1, options.generations + 1):
            before = freshness.current().number
            saved.write_text(f"def grown_{number}():\n    return {number}\n")
            while asked_count < number * between:
                began = time.perf_counter()
                front.call(*calls[asked_count % len(calls)])
                times.append(time.perf_counter() - began)
                asked_count += 1
            bound = time.monotonic() + SERVED_S
            while freshness.current().number == before:
                if time.monotonic() > bound:
                    raise SystemExit(f"the {number}th file was not served in {SERVED_S:.0f} s")
                time.sleep(LOOK_S)
            late = time.monotonic() >= until
            if late or number * LOOKS // options.generations > len(looks):
                looks.append(look(config, asked_count, times))
                times.clear()
            if late:
                break
    return looks


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of a straight line through (x, y), by least squares; 0 for fewer
    than two.
    """
    if len(points) < 2:
        return 0.0
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


def compare(looks: Sequence[Figures]) -> list[Figures]:
    """Return a row for each process, the disk and the median: begin, middle, end, whether
    it grows.
    """
    first, middle, last = looks[0], looks[len(looks) // 2], looks[-1]
    half = looks[len(looks) // 2 :]
    rows: list[Figures] = []
    for name in last["memory_mb"]:
        sizes = [(snapshot["questions"] / 1000, snapshot["memory_mb"].get(name, 0.0)) for snapshot in half]
        rise = round(slope(sizes), 2)
        row: Figures = {"what": name, "slope": rise}
        row["memory_mb"] = [snapshot["memory_mb"].get(name, 0.0) for snapshot in (first, middle, last)]
        grown = rise > MB_A_THOUSAND_MAX and row["memory_mb"][2] - row["memory_mb"][1] > MORE_MB_MAX
        for resource in ("descriptors", "threads"):
            row[resource] = [snapshot[resource].get(name, 0) for snapshot in (first, middle, last)]
            grown |= row[resource][2] - row[resource][1] > MORE_MAX
        rows.append(row | {"grows": grown})
    return rows


def show(looks: Sequence[Figures], rows: Sequence[Figures]) -> None:
    last = looks[-1]
    print(f"{last['questions']} questions, generation {last['generation']}; begin → middle → end:\n")
    print_table(
        ("process", "memory MB", "MB a 1000", "descriptors", "threads", ""),
        [
            (
                row["what"],
                *(" → ".join(map(str, row["memory_mb"])), row["slope"]),
                *(" → ".join(map(str, row[resource])) for resource in ("descriptors", "threads")),
                "grows" if row["grows"] else "",
            )
            for row in rows
        ],
    )
    for name in ("disk_mb", "p50_ms"):
        print(f"{name}: {' → '.join(str(snapshot[name]) for snapshot in looks)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="folders of projects")
    parser.add_argument("--files", type=int, default=700)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--generations", type=int, default=200)
    parser.add_argument("--most-s", type=float, default=300.0, help="seconds after which it ends")
    add_json(parser)
    options = parser.parse_args()
    result = begin("growth")
    print_machine(result)
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        isolated_environment(),
        open_project(Path(folder)) as config,
    ):
        result["files"] = copy_sources(options.sources, config.root, options.files)
        result["indexed"] = index(config, INDEX_S)
        result["looks"] = grow(config, options)
        result["rows"] = compare(result["looks"])
    show(result["looks"], result["rows"])
    if options.json:
        write(result)
    sys.exit(any(row["grows"] for row in result["rows"]))


if __name__ == "__main__":
    main()
