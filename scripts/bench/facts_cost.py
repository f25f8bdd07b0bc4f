"""A comparison of two checkouts by the processor time of a file's facts, project by project.

    scripts/bench/facts_cost.py OTHER_CHECKOUT FOLDER… [--rounds 10] [--json]

Each checkout reads all files of a folder in a process of its own, in turns, so that a load of the
machine meets both. Printed are the median of the ratios of the rounds, the ratio of the least
times, and the bounds of the median (95 %, by drawing rounds again). Ends with 1 if an upper bound
reaches 1.05.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

from report import ROOT, add_json, begin, commit, print_table, write

#: upper bound of the ratio; draws of the rounds
RATIO_MAX, DRAWS = 1.05, 2000
_CHILD = """
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


def start(checkout: Path, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"},
    )


def read_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline()


def measure(child: subprocess.Popen[str]) -> float:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()
    return float(read_line(child))


def compare(other: Path, folder: Path, rounds: int) -> dict[str, float]:
    children = [start(other, folder), start(ROOT, folder)]
    count, _ = (int(read_line(child)) for child in children)
    for child in children:  # compiles the queries
        measure(child)
    times: list[list[float]] = [[], []]
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(measure(children[side]))
    for child in children:
        child.communicate()
    ratios = [present / earlier for earlier, present in zip(*times, strict=True)]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=rounds)) for _ in range(DRAWS))
    return {
        "files": count,
        "other_s": round(statistics.median(times[0]), 3),
        "ratio": round(statistics.median(ratios), 3),
        "least": round(min(times[1]) / min(times[0]), 3),
        "lower": round(medians[DRAWS // 40], 3),
        "upper": round(medians[-DRAWS // 40], 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=10)
    add_json(parser)
    options = parser.parse_args()
    figures = begin("facts-cost") | {"other": commit(options.other), "rounds": options.rounds}
    rows = {folder.name: compare(options.other, folder, options.rounds) for folder in options.folders}
    columns = ("files", "other_s", "ratio", "least", "lower", "upper")
    print_table(("project", *columns), [(name, *(row[key] for key in columns)) for name, row in rows.items()])
    if options.json:
        write(figures | {"projects": rows})
    return int(any(row["upper"] >= RATIO_MAX for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
