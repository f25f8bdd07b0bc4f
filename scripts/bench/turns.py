"""A comparison of the speed of two checkouts, query by query in turns.

    scripts/bench/turns.py OTHER_CHECKOUT [--chunks 10000] [--runs 400] [--pairs 24] [--json]
    scripts/bench/turns.py OTHER_CHECKOUT --facts FOLDER… [--pairs 24] [--json]

Both checkouts (each with its own .venv) index the same synthetic project, each in a separate copy,
and hold a front. Both run every query, in alternating order: a load of the machine meets both.
Prints the medians and the median of the ratios, pair by pair; then the ratio of the processor time
of blocks of queries. Ends with 1 if the upper bound of that ratio reaches 1.03: medians vary more.

--facts compares the processor time of reading the facts of all files of a folder instead: each
checkout reads them in a process of its own, in turns, project by project.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import usage
from product import CORTEX, connect, isolated_environment, wait_until_indexed
from report import ROOT, Figures, begin, commit, make_parser, print_table, write
from synthetic import NOUNS, TOPICS, VERBS, write_project

#: factor by which a median may be slower
SLOWER_MAX = 1.03
#: calls before measuring
WARM_UP = 20
#: queries of each case in a block whose processor time is measured
BLOCK_QUERIES = 4
#: kinds of keyword queries, made of pairs of KEYWORDS
KINDS = {
    "and": "{0} AND {1}",
    "boolean": "({0} OR {1}) AND NOT zero",
    "phrase": '"{0} limit"',
    "prefix": "{0:.4}*",
    "fuzzy": "{0}~1",
    "regex": "/{0}[a-z_]*\\(/",
}
QUESTIONS = [
    f"how does the {topic} code {verb} a {noun}"
    for topic, verb, noun in zip(TOPICS * 3, VERBS * 2, NOUNS, strict=False)
]
KEYWORDS = [f"{verb}_{noun}" for verb, noun in zip(VERBS * 2, NOUNS, strict=False)] + [
    f"{a} AND {b}" for a, b in pairwise(NOUNS)
]
#: (name of the row, tool, arguments, queries)
CASES: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("cortex_explore", "cortex_explore", {}, QUESTIONS),
    ("cortex_search", "cortex_search", {}, QUESTIONS),
    ("cortex_search, limit 5, snippets", "cortex_search", {"limit": 5, "detail": "snippet"}, QUESTIONS),
    ("cortex_search, semantic", "cortex_search", {"mode": "semantic"}, QUESTIONS),
    ("cortex_exact", "cortex_exact", {}, KEYWORDS),
    ("code_context", "code_context", {}, QUESTIONS),
    *(
        (f"cortex_exact, {kind}", "cortex_exact", {}, [form.format(*pair) for pair in pairwise(KEYWORDS)])
        for kind, form in KINDS.items()
    ),
    ("cortex_exact, substring", "cortex_exact", {"match_type": "substring"}, KEYWORDS),
    ("cortex_outline", "cortex_outline", {"max_tokens": 2000}, [""]),
]
#: program that reads the facts of a folder's files, again for each line of its input, and prints
#: the number of files, then the seconds of processor time
FACTS = """
import os, subprocess, sys
from pathlib import Path
from cortex.graph.languages.table import LANGUAGES
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source, decode, digest
from cortex.terms.languages import language_of
root, files = Path(sys.argv[1]), []
listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
for path in listed.stdout.split(chr(0)):
    if path and language_of(path).name in LANGUAGES and (root / path).is_file():
        raw = (root / path).read_bytes()
        if isinstance(source := decode(path, raw), Source):
            files.append((source, digest(raw)))
print(len(files), flush=True)
for _ in sys.stdin:
    begin = os.times()
    for source, sha256 in files:
        facts_of(source, sha256)
    end = os.times()
    print(end.user + end.system - begin.user - begin.system, flush=True)
"""


@contextlib.contextmanager
def project(program: str, chunks: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cortex-turns-") as folder:
        root = Path(folder).resolve()
        (root / ".git").mkdir()
        write_project(root, chunks)
        try:
            asyncio.run(wait_until_indexed(root, program))
            yield root
        finally:
            subprocess.run([program, "down", "--project", root], check=False, capture_output=True, timeout=60)


async def measure(roots: tuple[Path, Path], programs: tuple[str, str], runs: int) -> list[Figures]:
    rows = []
    async with connect(roots[0], programs[0]) as this, connect(roots[1], programs[1]) as other:
        for case, tool, arguments, queries in CASES:
            name = "path" if tool == "cortex_outline" else "query"
            seconds = np.zeros((runs, 2))
            for at in range(-WARM_UP, runs):
                call_arguments = arguments | {name: queries[at % len(queries)]}
                order = ((0, this), (1, other)) if at % 2 else ((1, other), (0, this))
                for which, front in order:
                    started = time.perf_counter()
                    await front.call(tool, **call_arguments)
                    seconds[at, which] = time.perf_counter() - started
            rows.append(row(case, seconds))
    return rows


async def compare_processor_time(roots: tuple[Path, Path], programs: tuple[str, str], pairs: int) -> Figures:
    """Compare the processor time of blocks of all queries, pair by pair."""
    ratios = []
    async with connect(roots[0], programs[0]) as this, connect(roots[1], programs[1]) as other:
        for at in range(-1, pairs):  # the first pair warms up
            spent = [0.0, 0.0]
            for which, front in ((0, this), (1, other)) if at % 2 else ((1, other), (0, this)):
                before = sum(usage.processor_s(roots[which]).values())
                for _, tool, arguments, queries in CASES:
                    name = "path" if tool == "cortex_outline" else "query"
                    for query in queries[:BLOCK_QUERIES]:
                        await front.call(tool, **arguments | {name: query})
                spent[which] = sum(usage.processor_s(roots[which]).values()) - before
            if at >= 0:
                ratios.append(spent[0] / spent[1])
    return summarise_ratios(ratios)


def summarise_ratios(ratios: Sequence[float]) -> Figures:
    """Return the mean of ratios of this checkout to the other, and the upper bound of its 95 %
    interval.
    """
    mean, deviation = statistics.mean(ratios), statistics.stdev(ratios) / len(ratios) ** 0.5
    return {"pairs": len(ratios), "mean_ratio": round(mean, 4), "upper_95": round(mean + 1.96 * deviation, 4)}


def compare_facts(other: Path, folder: Path, pairs: int) -> Figures:
    """Compare the processor time of the facts of a folder's files, pair by pair."""
    children = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", FACTS, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"},
        )
        for checkout in (ROOT, other)
    ]
    files, _ = [int(read_line(child)) for child in children]
    ratios = []
    for at in range(-1, pairs):  # the first pair compiles the queries
        spent = [0.0, 0.0]
        for which in (0, 1) if at % 2 else (1, 0):
            print(file=children[which].stdin, flush=True)
            spent[which] = float(read_line(children[which]))
        if at >= 0:
            ratios.append(spent[0] / spent[1])
    for child in children:
        child.communicate()
    return {"project": folder.name, "files": files} | summarise_ratios(ratios)


def read_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline()


def row(case: str, seconds: np.ndarray) -> Figures:
    """Return a row for float64 [runs, 2]: this, other."""
    this, other = (round(1000 * float(np.median(seconds[:, at])), 2) for at in (0, 1))
    ratio = float(np.median(seconds[:, 0] / seconds[:, 1]))
    return {
        "case": case,
        "this_p50_ms": this,
        "other_p50_ms": other,
        "ratio_of_medians": round(float(this / other), 3),
        "median_ratio": round(ratio, 3),
    }


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=24, help="of blocks, for the processor time")
    parser.add_argument("--facts", type=Path, nargs="+", default=[], metavar="FOLDER")
    options = parser.parse_args()
    figures = begin("facts-cost" if options.facts else "turns") | {"other_commit": commit(options.other)}
    if options.facts:
        spent = [compare_facts(options.other, folder, options.pairs) for folder in options.facts]
        figures["projects"] = spent
        print_table(list(spent[0]), [list(project.values()) for project in spent])
    else:
        figures |= {"chunks": options.chunks} | compare_queries(options)
        spent = [figures["processor"]]
    if options.json:
        write(figures)
    return int(any(ratio["upper_95"] >= SLOWER_MAX for ratio in spent))


def compare_queries(options: argparse.Namespace) -> Figures:
    """Compare all queries on a project, and print the ratios."""
    programs = (CORTEX, str(options.other.resolve() / ".venv" / "bin" / "cortex"))
    with contextlib.ExitStack() as stack:
        stack.enter_context(isolated_environment())
        roots = tuple(stack.enter_context(project(program, options.chunks)) for program in programs)
        cases = asyncio.run(measure(roots, programs, options.runs))
        spent = asyncio.run(compare_processor_time(roots, programs, options.pairs))
    print_table(list(cases[0]), [list(case.values()) for case in cases])
    print(f"\nprocessor time: {spent['mean_ratio']} of the other's, at most {spent['upper_95']} (95 %)")
    slower = [case["case"] for case in cases if case["median_ratio"] > SLOWER_MAX]
    print(f"slower by more than 3 %: {', '.join(slower) or 'none'}")
    return {"cases": cases, "processor": spent}


if __name__ == "__main__":
    sys.exit(main())
