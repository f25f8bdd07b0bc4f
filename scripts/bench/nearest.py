"""A benchmark of the vector worker: usearch's exact search beside the scan that answers with a
filter.

    scripts/bench/nearest.py --project DIR [DIR …] [--questions 2000] [--json]

For each indexed project: the processor time of a question in both ways (medians of this thread, in
alternation), how many answers differ in an id or in the order, the greatest differences of mean and
deviation (in millionths), and the time to make the tables. Then the memory and the time that
usearch takes to load.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import psutil
from product import rows_of
from report import Figures, add_json, begin, print_machine, print_table, write
from speed import draw, some_texts

from cortex.ask.lanes import VECTOR_CANDIDATES
from cortex.ask.questions import NO_FILTERS
from cortex.embedders import open_embedder
from cortex.engines.vector.quantized import exact_search
from cortex.engines.vector.usearch import open_vectors
from cortex.settings.config import load

NUMBERS = ("cosine_mean", "cosine_std")


def measure(project: Path, count: int) -> Figures:
    """Return the figures of one project."""
    config = load(str(project))
    rows, embedder = rows_of(config), open_embedder(config)
    queries = embedder.embed(draw(some_texts(rows), count)["words"][:count], "query")
    began = time.thread_time()
    snapshot = open_vectors(rows, config.index_dir / "vector")
    opened = time.thread_time() - began
    filtered = snapshot._filter_rows(NO_FILTERS, embedder.identity)
    assert filtered.moments is not None
    ways = {
        "exact": lambda query: snapshot._search_all(query, filtered, VECTOR_CANDIDATES, filtered.moments),
        "scan": lambda query: snapshot._scan(query, filtered.ordinals, filtered.scan_plan, VECTOR_CANDIDATES),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    different, off = 0, dict.fromkeys(NUMBERS, 0.0)
    for query in queries:
        answers = {}
        for way, search in ways.items():
            began = time.thread_time()
            answers[way] = search(query)
            taken[way].append(time.thread_time() - began)
        ordered = [
            ordinals[snapshot._order_by_score(ordinals, scores)].tolist()
            for ordinals, scores, _ in answers.values()
        ]
        different += ordered[0] != ordered[1]
        for name in NUMBERS:
            off[name] = max(off[name], abs(answers["exact"][2][name] - answers["scan"][2][name]))
    medians = {f"{way}_ms": 1000 * statistics.median(seconds) for way, seconds in taken.items()}
    figures = {"rows": rows.live_count, "segments": len(rows.segments)} | medians
    millionths = {f"{name}_off": 1e6 * value for name, value in off.items()}
    return figures | {"different": different} | millionths | {"open_ms": 1000 * opened}


def measure_loading() -> Figures:
    """Return the memory and the processor time of the first use of usearch."""
    process, began = psutil.Process(), time.process_time()
    before = process.memory_full_info().pss
    exact_search()
    taken = time.process_time() - began
    return {"loading_mb": (process.memory_full_info().pss - before) / 1e6, "loading_ms": 1000 * taken}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project", type=Path, nargs="+", required=True, help="indexed projects")
    parser.add_argument("--questions", type=int, default=2000)
    add_json(parser)
    options = parser.parse_args()
    result = begin("nearest")
    print_machine(result)
    result |= measure_loading()
    result["projects"] = [measure(project, options.questions) for project in options.project]
    keys = tuple(result["projects"][0])
    print_table(keys, [tuple(project.values()) for project in result["projects"]])
    print_table(("loading_mb", "loading_ms"), [(result["loading_mb"], result["loading_ms"])])
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
