"""A benchmark of the budgets of the source specifications that no other program measures, and the
page of all budgets in docs/BENCHMARKS.md.

    scripts/bench/budgets.py --sources DIR [DIR …] [--files 5000] [--questions 200] [--json]
    scripts/bench/budgets.py --page

For a tree of --files files from the folders in --sources: one chunk's vector by the built-in model,
and the merge of the 512 best of a lexical and a vector query. Both are processor time, which other
programs of the machine change less. --page writes the page from the results that `BUDGETS` names; a
test compares the two.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import trees
from product import rows_of, wait_until_indexed
from report import RESULTS, Figures, begin, make_parser, print_machine, summarise, write

from cortex.ask.freshness import Freshness
from cortex.embedders.static import open_static
from cortex.generation.read import Rows
from cortex.ranking.fusion import rank
from cortex.ranking.weights import weigh
from cortex.settings.config import Config
from cortex.system.errors import NotReady
from cortex.terms.passages import embed_text
from ipc.client import Client
from ipc.messages import MeaningSearch, Signals, TextSignals

PAGE = Path(__file__).parents[2] / "docs" / "BENCHMARKS.md"
BEGIN, END = "## Budgets\n", "\n## Ranking\n"
#: candidates of each lane that are merged; calls before measuring; seconds for one call
MERGED, WARM_UP, CALL_S = 512, 10, 10.0
#: texts of one embedding, as the indexer embeds them
BATCH = 256


async def measure_merge(config: Config, questions: list[str]) -> Figures:
    """Measure the merge of the MERGED best of both lanes."""
    client, freshness = Client(config.runtime_dir), Freshness(config)
    took = []
    weights = weigh(vectors=True)

    try:
        for question in (*questions[:WARM_UP], *questions):
            number = freshness.current().number
            try:
                words = await client.ask("text", TextSignals(question, MERGED, generation=number), CALL_S)
                meanings = await client.ask(
                    "vector", MeaningSearch(question, MERGED, generation=number), CALL_S
                )
            except NotReady:  # upkeep has published the next generation
                continue
            assert isinstance(words, Signals)
            assert isinstance(meanings, Signals)
            began = time.thread_time()
            rank(question, words, meanings, weights, MERGED)
            took.append(time.thread_time() - began)
    finally:
        await client.close()
    return summarise("merge", took[WARM_UP:])


def measure_embedding(rows: Rows) -> Figures:
    """Measure the time of one chunk's vector by the built-in model, in batches of the indexer."""
    chunks = [orjson.loads(rows.chunk(at)) for at in range(min(rows.live_count, 40 * BATCH))]
    texts = [embed_text(chunk.get("metadata") or {}, chunk["text"]) for chunk in chunks]
    model, took = open_static(), []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        began = time.thread_time()
        model.embed(batch)
        took.append((time.thread_time() - began) / len(batch))
    return summarise("one vector", took) | {"dimensions": model.dimensions}


def questions_of(rows: Rows, count: int) -> list[str]:
    """Return questions of the words of drawn chunks."""
    chance = random.Random(1)
    texts = (orjson.loads(rows.chunk(chance.randrange(rows.live_count)))["text"] for _ in range(count))
    return [" ".join(chance.choices(text.split() or ["none"], k=4)) for text in texts]


def measure(options: argparse.Namespace) -> Figures:
    result: Figures = begin("budgets")
    print_machine(result)
    with trees.temporary_tree(options.sources, options.files) as config:
        asyncio.run(wait_until_indexed(config.root))
        rows = rows_of(config)
        questions = questions_of(rows, options.questions)
        cases = [asyncio.run(measure_merge(config, questions)), measure_embedding(rows)]
        result |= {"files": options.files, "chunks": rows.live_count, "cases": cases}
    for case in cases:
        print(f"{case['case']}: p50 {case['p50_ms']} ms, p95 {case['p95_ms']} ms")
    return result


# --- the page ---


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget of a specification: at most `bound` `unit` (with `least` at least), and the place of
    its figure: `path` in `result`.
    """

    specification: str
    what: str
    bound: float
    unit: str
    result: str
    #: keys to the figure; a text selects the entry of a list whose case, files or chunks it names
    path: tuple[str, ...]
    #: the size and conditions of the measurement
    at: str
    least: bool = False


def figure(value: Any, path: tuple[str, ...]) -> float:
    """Return the figure at `path`: the sum of an object's values at its end."""
    for key in path:
        if isinstance(value, list):
            names = ("case", "files", "chunks")
            value = next(entry for entry in value if key in [str(entry.get(name)) for name in names])
        else:
            value = value[key]
    return float(sum(value.values()) if isinstance(value, dict) else value)


def _format(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def page() -> str:
    """Return the lines of the page below its heading."""
    lines = ["Made by `scripts/bench/budgets.py --page`.", "", "| budget | measured | at |", "|---|---|---|"]
    for budget in BUDGETS:
        value = figure(orjson.loads((RESULTS / budget.result).read_bytes()), budget.path)
        met = value >= budget.bound if budget.least else value <= budget.bound
        bound = f"{'≥' if budget.least else '≤'}{budget.bound:g} {budget.unit}"
        lines.append(
            f"| {budget.specification}: {budget.what}, {bound} | {_format(value)}, {'met' if met else '**missed**'} | "
            f"{budget.at} |"
        )
    results = ", ".join(f"`{name}`" for name in dict.fromkeys(budget.result for budget in BUDGETS))
    return "\n".join([*lines, "", f"Results: {results}."])


SPEED, LARGE = "2026-11-28-edaf437d-speed.json", "2026-11-29-a5c46a43-speed.json"
EXACT = "2026-11-21-d268b1c-exact.json"
FRESH, FRESH_LARGE = "2026-11-22-6a14b26-freshness.json", "2026-11-22-4809824-freshness.json"
LANES = "2026-11-28-e9261949-budgets.json"
_SMALL, _LARGE = ("sizes", "700"), ("sizes", "29000")
_AT_SMALL, _AT_LARGE = "11 022 chunks", "29 000 files"
_AT_5K, _AT_10K, _AT_LOADED = "5 000 files", "10 000 chunks", "processor time, loaded"
BUDGETS: tuple[Budget, ...] = (
    Budget("000", "memory, 10 000 chunks", 60, "MB", SPEED, (*_SMALL, "rest_mb"), _AT_SMALL),
    Budget("000", "p50 of a query, 10 000 chunks", 70, "ms",
           SPEED, (*_SMALL, "questions", "search", "p50_ms"), _AT_SMALL),
    Budget("003", "memory, 50 000 files", 1000, "MB", LARGE, (*_LARGE, "rest_mb"), _AT_LARGE),
    Budget("003", "disk, 50 000 files", 1200, "MB", LARGE, (*_LARGE, "disk_mb"), _AT_LARGE),
    Budget("003", "cold index, 50 000 files", 240, "s", LARGE, (*_LARGE, "searchable_s"), _AT_LARGE),
    Budget("003", "p95 of a query, 50 000 files", 95, "ms",
           LARGE, (*_LARGE, "questions", "search", "p95_ms"), _AT_LARGE),
    Budget("003", "p95 of a vector query", 20, "ms",
           LARGE, (*_LARGE, "questions", "hop: vector", "p95_ms"), _AT_LARGE),
    Budget("003", "p95 of a lexical query", 15, "ms",
           LARGE, (*_LARGE, "questions", "hop: text", "p95_ms"), _AT_LARGE),
    Budget("003", "p95 of an expression", 15, "ms",
           LARGE, (*_LARGE, "questions", "regex", "p95_ms"), _AT_LARGE),
    Budget("003", "cold index, 5 000 files", 30, "s", EXACT, ("tree", "indexed_in_s"), _AT_5K),
    *(
        Budget("001", f"p50 of cortex_exact, {case}", bound, "ms", EXACT, ("speed", case, "p50_ms"), _AT_5K)
        for case, bound in {"term": 5, "fuzzy ~2": 20}.items()
    ),
    Budget("001", "reload, 1 of 10 000 chunks", 45, "ms",
           FRESH, ("rows", "1 of 10000 chunks in 1 file → served", "after_ms"), _AT_10K),
    Budget("001", "reload, 1 000 of 100 000 chunks", 500, "ms",
           FRESH_LARGE, ("rows", "1000 of 100000 chunks in 20 files → served", "after_ms"), "100 000 chunks"),
    Budget("003", "lexical index", 10.5, "MB/s", EXACT, ("indexing", "mb_per_s"), _AT_5K, least=True),
    Budget("003", "p95 of merging 512", 5, "ms", LANES, ("cases", "merge", "p95_ms"), _AT_LOADED),
    Budget("003", "vector of 384 dimensions", 8, "ms",
           LANES, ("cases", "one vector", "p50_ms"), _AT_LOADED),
)  # fmt: skip


def write_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{page()}\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--sources", type=Path, nargs="+", help="folders of projects")
    parser.add_argument("--files", type=int, default=5_000, help="files of the tree")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--page", action="store_true", help="write the page of budgets, and end")
    options = parser.parse_args()
    if options.page:
        write_page()
        return
    if not options.sources:
        parser.error("--sources names folders of projects to put a tree together from")
    result = measure(options)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
