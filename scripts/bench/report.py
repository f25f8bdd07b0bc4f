"""Reports of all benchmarks: machine, commit, percentiles, tables, the file of figures."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import psutil

from cortex import __version__
from cortex.embedders import Embedder, open_apart
from cortex.memory.find.recall import Memory
from cortex.settings.config import Config
from cortex.settings.table import Embedding, NoteEmbedding

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "scripts" / "bench" / "results"
#: packages whose versions matter for the figures
PACKAGES = ("mcp", "numpy", "pyzmq", "tantivy", "usearch")
#: percentiles over the times of a case
POINTS = (50, 95, 99)

Figures = dict[str, Any]


def begin(benchmark: str) -> Figures:
    """Return the head of a benchmark's figures: its name, the day, the commit, the machine."""
    return {
        "benchmark": benchmark,
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": machine(),
    }


def commit(checkout: Path = ROOT) -> str:
    """Return the short name of the commit that is checked out; "" outside a repository."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False).stdout.strip()


def machine() -> Figures:
    """Return the machine, with the same keys in all results; `load` is the present one."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gib": psutil.virtual_memory().total >> 30,
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "versions": {"cortex": __version__} | {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def processor() -> str:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


def models(folder: Path | None) -> dict[str, Callable[[], Embedder] | None]:
    """Return {name: opener of a model that embeds notes}: of the default one, and of the ONNX model
    in `folder`; with Path("static") also None, for the static one alone.
    """
    openers: dict[str, Callable[[], Embedder] | None] = {
        "sentences": partial(open_apart, Config(root=ROOT, embedding=NoteEmbedding()))
    }
    if folder == Path("static"):
        openers["static"] = None
    elif folder:
        embedding = Embedding(provider="onnx", model_path=str(folder.absolute()))
        openers[folder.name] = partial(open_apart, Config(root=ROOT, embedding=embedding))
    return openers


def embed(memory: Memory) -> None:
    """Let the model of a memory embed all notes, so that it answers."""
    if memory.model:
        memory.follow()
        for _ in memory.model.steps():
            pass
        memory.follow()
        if memory.meaning is memory.vectors:
            raise SystemExit(f"The model does not answer: {memory.model.fault}")


def time_calls(count: int, call: Callable[[int], object], warm_up: int = 10) -> list[float]:
    """Return seconds of each of `count` calls after the warm-up; the call takes its number."""
    seconds = []
    for at in range(warm_up + count):
        started = time.perf_counter()
        call(at)
        seconds.append(time.perf_counter() - started)
    return seconds[warm_up:]


def percentiles(values: Sequence[float], points: Sequence[int] = POINTS) -> dict[str, float]:
    """Return {"p50": …}, in the unit of `values`; interpolated between two values."""
    return {f"p{at}": round(float(np.percentile(values, at)), 2) for at in points}


def summarise(case: str, seconds: Sequence[float], points: Sequence[int] = POINTS) -> Figures:
    """Return a row of a table: the case, the number of runs, and percentiles in ms."""
    points_ms = percentiles([1000 * second for second in seconds], points)
    return {"case": case, "runs": len(seconds)} | {f"{name}_ms": value for name, value in points_ms.items()}


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print the first column to the left, the others to the right; numbers with two digits
    at most.
    """
    lines = [header, *([_cell(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *others in lines:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join([f"{first:<{widths[0]}}", *cells]).rstrip())


def _cell(cell: object) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else "" if cell is None else str(cell)


def print_figures(figures: Figures) -> None:
    """Print the figures, one a line."""
    width = max(map(len, figures)) + 2
    for name, value in figures.items():
        print(f"{name:<{width}}{value}")


def print_machine(figures: Figures) -> None:
    details = figures["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in details["versions"].items())
    print(
        f"{details['processor']}, {details['cores']} cores, {details['memory_gib']} GiB, load {details['load']}, "
        f"{details['system']}, Python {details['python']}, {versions}; commit {figures['commit']}"
    )


def make_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with --json whose help is the description, line by line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--json", action="store_true", help="write scripts/bench/results/<date>-<commit>-<name>.json"
    )
    return parser


def results_path(figures: Figures, folder: Path = RESULTS) -> Path:
    """Return the file for figures that began with `begin`."""
    return folder / f"{figures['date']}-{figures['commit']}-{figures['benchmark']}.json"


def write(figures: Figures, folder: Path = RESULTS) -> Path:
    """Write figures that began with `begin`; return the file."""
    path = results_path(figures, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")
    print(f"\nwritten to {path}")
    return path
