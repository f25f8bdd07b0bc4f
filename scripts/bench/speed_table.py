"""Tables of speed.py's figures: a size, several sizes in one table, several runs as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Any

import orjson
from report import RESULTS, Figures, print_table, results_path, write


def exponents(sizes: Sequence[Figures]) -> dict[str, float]:
    """Return the slope of each row's median over the chunks, both as logarithms, by least
    squares.
    """
    samples: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        for row in size["questions"]:
            samples.setdefault(row["case"], []).append((math.log(size["chunks"]), math.log(row["p50_ms"])))
        samples.setdefault("searchable", []).append(
            (math.log(size["chunks"]), math.log(size["searchable_s"]))
        )
    return {
        name: round(linear_regression(*zip(*points, strict=True)).slope, 2)
        for name, points in samples.items()
        if len({x for x, _ in points}) > 1
    }


def show(size: Figures) -> None:
    """Print the figures of one size."""
    largest_process, largest = size["highest_of_one_mb"]
    print(f"\n{size['files']} files, {size['chunks']} chunks")
    print(
        f"searchable after {size['searchable_s']} s (chunk files {size['written_s']}, every file found "
        f"{size.get('files_served_s')}, nothing done after {size['settled_s']}); memory meanwhile "
        f"{size['highest_mb']} MB, of one process {largest} ({largest_process}); "
        f"disk {size['disk_mb']} MB (chunk files {size['chunk_files_mb']}, index {size['index_mb']}, graph "
        f"{size['graph_mb']}); warm start {size['warm_start_s']} s"
    )
    for peer in ("semble", "codegraph"):
        if peer in size:
            print(f"{peer}: " + ", ".join(f"{name} {value}" for name, value in size[peer].items()))
    keys = ("case", "runs", "p50_ms", "p95_ms", "p99_ms", "cpu_ms")
    rows = [tuple(map(row.get, keys)) for row in size["questions"]]
    print_table(("question", "runs", "p50", "p95", "p99 ms", "cpu ms"), rows)
    memory = size["rest_mb"] | {"all": round(sum(size["rest_mb"].values()), 1)}
    resting_rows = [
        (name, memory.get(name), row["percent"], row["wakes"]) for name, row in size["rest"].items()
    ]
    print_table(("at rest", "MB", "% of a core", "wakes a minute"), resting_rows)


def show_all(sizes: Sequence[Figures], slopes: dict[str, float]) -> None:
    """Print one table: a row for each figure, a column for each size."""
    taken: list[tuple[str, Callable[[Figures], Any]]] = [
        ("files", lambda size: size["files"]),
        ("searchable, s", lambda size: size["searchable_s"]),
        ("every file found, s", lambda size: size.get("files_served_s")),
        ("most memory meanwhile, MB", lambda size: size["highest_mb"]),
        ("of one process, MB", lambda size: size["highest_of_one_mb"][1]),
        ("disk, MB", lambda size: size["disk_mb"]),
        ("warm start, s", lambda size: size["warm_start_s"]),
        ("memory at rest, MB", lambda size: round(sum(size["rest_mb"].values()), 1)),
        ("at rest, % of a core", lambda size: size["rest"]["all"]["percent"]),
        ("wakes a minute", lambda size: size["rest"]["all"]["wakes"]),
        ("semble: first answer, s", lambda size: size.get("semble", {}).get("searchable_s")),
        ("codegraph: indexed, s", lambda size: size.get("codegraph", {}).get("searchable_s")),
    ]
    rows: list[Sequence[object]] = [(name, *map(of, sizes), slopes.get(name)) for name, of in taken]
    rows[1] = (*rows[1][:-1], slopes.get("searchable"))
    cases = dict.fromkeys(row["case"] for size in sizes for row in size["questions"])
    for case in cases:
        size_rows = [next((row for row in size["questions"] if row["case"] == case), None) for size in sizes]
        cells = [f"{row['p50_ms']:.1f} / {row['p95_ms']:.1f}" if row else None for row in size_rows]
        rows.append((f"{case}, ms", *cells, slopes.get(case)))
    print()
    print_table(("p50 / p95", *(f"{size['chunks']} chunks" for size in sizes), "exponent"), rows)


def merge(results: Sequence[Figures]) -> Figures:
    """Return one result of several runs: the last measurement of each size, with its commit."""
    ordered = sorted(results, key=lambda result: result["date"])  # results of one day stay in their order
    sizes = {
        size["files"]: {"commit": result["commit"]} | size for result in ordered for size in result["sizes"]
    }
    return with_exponents(ordered[-1] | {"sizes": [sizes[files] for files in sorted(sizes)]})


def with_exponents(result: Figures) -> Figures:
    """Return `result` with the exponents of its rows."""
    return result | {"exponents": exponents(result["sizes"])}


def save(result: Figures, folder: Path = RESULTS) -> Path:
    """Write `result` to the file of its day and commit, and return the file.

    Sizes that an earlier run measured and this one did not stay in it.
    """
    path = results_path(result, folder)
    return write(merge([*read_results([path] if path.exists() else []), result]), folder)


def read_results(paths: Sequence[Path]) -> list[Figures]:
    return [orjson.loads(path.read_bytes()) for path in paths]
