"""A comparison of one benchmark in this checkout and in another: medians, ratios, a verdict.

    scripts/bench/compare_checkouts.py OTHER_CHECKOUT [--runs 3] [--json] -- PROGRAM ARGUMENTS…
    scripts/bench/compare_checkouts.py ../before -- latency.py --chunks 10000

The two take turns, each with the interpreter in its own .venv, so that a machine that becomes
slower meanwhile does so for both. The verdict is over the times of the product without those of the
slowest calls (p95, p99, max); times of peers (ripgrep, grep, semble) show how much the machine
itself varied. Ends with 1 if a median is slower than allowed, with 0 otherwise.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from report import ROOT, Figures, add_json, begin, commit, print_machine, print_table, write

#: factor by which a median may be slower: the same code varies so much on a quiet machine
SLOWER_MAX = 1.03
#: keys that say nothing about speed: date, machine, versions
NOT_FIGURES = frozenset(
    "bench benchmark date commit machine versions cortex python numpy processor system cores load "
    "load_average load_before runs".split()
)
#: keys that tell the rows of a list from each other
NAMING = ("case", "repository", "process", "debounce_ms")
#: a name with milliseconds or seconds; a rate ends with per_s
TIME = re.compile(r"(?<!per)(?:^|[_ ])(?:ms|s|seconds)(?=[_ ]|$)")
TAIL = re.compile(r"p9\d|max")
PEER = re.compile(r"grep|semble")


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of both checkouts, each the median of its runs.

    `spread`: the largest of the runs of one checkout less its smallest, as a share of their median.
    `counts`: part of the verdict.
    """

    name: str
    this: float
    other: float
    spread: float
    time: bool
    counts: bool
    slower: bool

    @property
    def ratio(self) -> float | None:
        """Return this checkout's value over the other's; None if the other's is 0."""
        return round(self.this / self.other, 3) if self.other else None


def flatten(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield (names from the outermost to the innermost, number) of every measured number."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in NOT_FIGURES and name not in NAMING:
                yield from flatten(inner, (*path, name))
    elif isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                name = " ".join(str(row[key]) for key in NAMING if key in row)
                yield from flatten(row, (*path, name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def compare(this: Sequence[Figures], other: Sequence[Figures]) -> list[ComparedFigure]:
    """Return the figures that all results of both checkouts have, in their order."""
    ours, theirs = _gather(this), _gather(other)
    return [_compare(path, ours[path], theirs[path]) for path in ours if path in theirs]


def _gather(results: Sequence[Figures]) -> dict[tuple[str, ...], list[float]]:
    values_by_path: dict[tuple[str, ...], list[float]] = {}
    for result in results:
        for path, value in flatten(result):
            values_by_path.setdefault(path, []).append(value)
    return {path: values for path, values in values_by_path.items() if len(values) == len(results)}


def _compare(path: tuple[str, ...], ours: list[float], theirs: list[float]) -> ComparedFigure:
    this, other = statistics.median(ours), statistics.median(theirs)
    time = any(TIME.search(name) for name in path)
    counts = time and not any(TAIL.search(name) or PEER.search(name) for name in path)
    # In small figures the last digit alone can exceed the allowed share.
    beyond = this - other > 1.01 * min(map(_step, (*ours, *theirs)))
    spreads = [_spread(values) for values in (ours, theirs)]
    slower = counts and beyond and this > SLOWER_MAX * other
    return ComparedFigure(" / ".join(path), this, other, max(spreads), time, counts, slower)


def _step(value: float) -> float:
    """Return the smallest difference that the digits of `value` can express."""
    digits = len(repr(float(value)).partition(".")[2])
    return 1.0 if value == int(value) else 10.0**-digits


def _spread(values: list[float]) -> float:
    middle = statistics.median(values)
    return round((max(values) - min(values)) / middle, 3) if middle else 0.0


def verdict(compared: Sequence[ComparedFigure]) -> str:
    allowed = f"{SLOWER_MAX - 1:.0%}".replace("%", " %")
    slower = [f"{row.name} ({row.ratio})" for row in compared if row.slower]
    if not any(row.counts for row in compared):
        return "nothing to compare: the results have no median in common"
    if not slower:
        return f"no median slower by more than {allowed}"
    return f"slower by more than {allowed}: {', '.join(slower)}"


def run(checkout: Path, program: str, arguments: Sequence[str]) -> Figures:
    """Run a benchmark of `checkout` and return its figures.

    Its file of figures is removed, so that the checkout stays as it was.
    """
    folder = checkout / "scripts" / "bench"
    before = _read_results(folder / "results")
    command = [checkout / ".venv" / "bin" / "python", folder / program, *arguments, "--json"]
    subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
    written = [
        (path, raw) for path, raw in _read_results(folder / "results").items() if before.get(path) != raw
    ]
    if len(written) != 1:
        raise SystemExit(f"{program} of {checkout} wrote {len(written)} files of figures, not one")
    ((path, raw),) = written
    if path in before:
        path.write_bytes(before[path])
    else:
        path.unlink()
    figures: Figures = orjson.loads(raw)
    return figures


def _read_results(folder: Path) -> Mapping[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob("*.json")}


def show(compared: Sequence[ComparedFigure]) -> None:
    header = ("figure", "this", "other", "this ÷ other", "spread", "")
    times = [row for row in compared if row.time]
    others = [row for row in compared if not row.time and row.this != row.other]
    for rows in filter(None, (times, others)):
        print_table(header, [_row(row) for row in rows])
        print()


def _row(row: ComparedFigure) -> tuple[Any, ...]:
    mark = "slower" if row.slower else "" if row.counts or not row.time else "not counted"
    ratio = None if row.ratio is None else f"{row.ratio:.3f}"
    return row.name, f"{row.this:g}", f"{row.other:g}", ratio, f"{row.spread:.1%}", mark


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("--runs", type=int, default=3, help="runs of each checkout")
    parser.add_argument("command", nargs="+", metavar="PROGRAM ARGUMENTS", help="after --")
    add_json(parser)
    options = parser.parse_args()
    program, *arguments = options.command
    other = options.other.resolve()
    head = begin(f"against-{Path(program).stem}")
    results: dict[Path, list[Figures]] = {ROOT: [], other: []}
    for number in range(options.runs):
        for checkout, runs in results.items():
            print(f"run {number + 1} of {options.runs}: {checkout}", file=sys.stderr, flush=True)
            runs.append(run(checkout, program, arguments))
    compared = compare(results[ROOT], results[other])
    print_machine(head)
    print(f"this: {head['commit']}, other: {commit(other)}, {options.runs} runs of each\n")
    show(compared)
    print(verdict(compared))
    if options.json:
        settings = {"other": commit(other), "command": options.command, "runs": options.runs}
        figures = [asdict(row) | {"ratio": row.ratio} for row in compared]
        write(head | settings | {"verdict": verdict(compared), "figures": figures})
    return int(any(row.slower for row in compared))


if __name__ == "__main__":
    sys.exit(main())
