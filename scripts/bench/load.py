"""A benchmark of `cortex serve` under load, by Locust in a separate environment.

    scripts/bench/load.py [--files 5000 | --corpus DIR] [--clients 1 8 …] [--seconds 10] [--json]
    scripts/bench/load.py --plot RESULT.json [RESULT.json …]

One to many clients call at once; each calls again when it has its answer. `day` are the calls of
three agents in a day, over /mcp, /v1/tools and /v1/search, memory included; `search` is /v1/search
alone. Prints calls a second, p50, p95 and p99, refusals (429) and errors, the processor time of a
call, processor time and memory of every process. --plot: docs/load.svg from saved
results. The clients run on the same cores as the server.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from environments import lines_of, plot, python_with
from product import (
    START_S,
    RunningServer,
    isolated_environment,
    run_server,
    scratch_project,
    wait_until_indexed,
)
from report import (
    Figures,
    begin,
    make_parser,
    percentiles,
    print_figures,
    print_machine,
    print_table,
    write,
)
from samples import Samples
from synthetic import write_project
from trees import plant
from workday import MIXES, Names, draw, read_names

from cortex.processes import attach
from cortex.settings.config import load, load_data

FOLDER = Path(__file__).parent
CLIENTS = (1, 8, 32, 128)
#: chunks of a synthetic file: four functions, some ninety lines
CHUNKS_PER_FILE = 7
#: first seconds that do not count: sessions are made, files are read
WARM_S = 2.0
#: seconds for a first index, for each file and in addition
INDEX_S, INDEX_FILE_S = 300.0, 0.2
#: calls that are drawn; each client begins at a different call
CALLS = 20_000
#: errors that are printed
SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Target:
    """The measured server: its project, the calls of each mix, the clients."""

    server: RunningServer
    root: Path
    names: Names
    locust: Path
    folder: Path

    def run(self, mix: str, clients: int, seconds: float) -> Figures:
        """Return a row of the table."""
        calls, times = self.folder / "calls.json", self.folder / "times.json"
        calls.write_bytes(orjson.dumps(draw(self.names, mix, CALLS)))
        owners = (load(str(self.root)), load_data())
        with Samples(self.server.pid, owners) as samples:
            self._load(clients, seconds + WARM_S, calls, times)
        return _row(mix, clients, json.loads(times.read_bytes()), samples)

    def _load(self, clients: int, seconds: float, calls: Path, times: Path) -> None:
        command = [self.locust.parent / "locust", "--headless", "--only-summary", "--loglevel", "ERROR"]
        command += ["-f", FOLDER / "peers" / "load_user.py", "--host", self.server.url]
        command += f"-u {clients} -r {clients} -t {seconds:.0f}s --exit-code-on-error 0".split()
        variables = {"LOAD_CALLS": str(calls), "LOAD_TIMES": str(times), "CORTEX_TOKEN": self.server.token}
        done = subprocess.run(
            command, env=os.environ | variables, capture_output=True, text=True, check=False
        )
        if done.returncode or not times.exists():
            raise SystemExit(f"Locust failed: {done.stderr[-2000:]}")
        if not json.loads(times.read_bytes()):
            raise SystemExit(f"No call was answered in {seconds:.0f} s; give --seconds more.")


def _row(mix: str, clients: int, times: list[list[Any]], samples: Samples) -> Figures:
    ends = [row[2] + row[3] / 1000 for row in times]
    first, last = min(row[2] for row in times) + WARM_S, max(ends)
    counted = [row for row, end in zip(times, ends, strict=True) if end >= first]
    answered = [row for row in counted if row[4] == "ok"]
    wrong = Counter(row[4] for row in counted if row[4] not in ("ok", "refused"))
    used = samples.used(first, last)
    row: Figures = {
        "mix": mix,
        "clients": clients,
        "calls_s": round(len(answered) / max(WARM_S, last - first), 1),
    }
    row |= {
        f"{name}_ms": value for name, value in percentiles([call[3] for call in answered] or [0.0]).items()
    }
    row |= {"calls": len(counted), "refused": sum(call[4] == "refused" for call in counted)}
    row |= {
        "errors": sum(wrong.values()),
        "cpu_ms_call": round(1000 * sum(used.values()) / max(1, len(counted)), 2),
    }
    tools = sorted({call[1] for call in answered})
    row["tools"] = {
        tool: percentiles([call[3] for call in answered if call[1] == tool])
        | {"calls": sum(call[1] == tool for call in answered)}
        for tool in tools
    }
    row |= {"wrong": dict(wrong.most_common(SHOWN_MAX)), "cpu_s": used, "pss_mb": samples.memory}
    return row | {"load": round(os.getloadavg()[0], 1)}


@contextlib.contextmanager
def target(files: int, corpus: Path | None) -> Iterator[tuple[Target, int]]:
    """Start a server of a project and index it; yield (the target, how many files)."""
    locust = python_with("load", lines_of(FOLDER / "load.lock"))
    with tempfile.TemporaryDirectory(prefix="cortex-load-") as place:
        folder = Path(place)
        with isolated_environment(memory_data_dir=folder / "data"), scratch_project() as root:
            try:
                filled = fill(root, files, corpus)
                with run_server(root) as server:
                    bound_s = INDEX_S + filled * INDEX_FILE_S
                    began = time.monotonic()
                    asyncio.run(wait_until_indexed(root, bound_s=bound_s))
                    print(f"{filled} files are served after {time.monotonic() - began:.0f} s")
                    names = read_names(root)
                    for call in {call["tool"]: call for call in draw(names, "day", CALLS)}.values():
                        warm(server, call)
                    yield Target(server, root, names, locust, folder), filled
            finally:
                attach.stop(load_data())


def warm(server: RunningServer, call: dict[str, Any]) -> None:
    """Call until it is answered, so that memory's set runs and every tool is imported."""
    path = "/v1/search" if call["way"] == "search" else f"/v1/tools/{call['tool']}"
    until = time.monotonic() + START_S
    while True:
        try:
            server.ask(path, call["arguments"])
        except urllib.error.HTTPError as error:
            if error.code != 503 or time.monotonic() > until:
                raise SystemExit(f"{path} is answered {error.code}: {error.read().decode()}") from error
            time.sleep(float(error.headers["Retry-After"]))
        else:
            return


def fill(root: Path, files: int, corpus: Path | None) -> int:
    """Write synthetic files to a project, or copy a folder's; return how many."""
    if corpus is not None:
        plant([corpus], root, files)
        return files
    write_project(root, files * CHUNKS_PER_FILE, CHUNKS_PER_FILE)
    return files


def measure(aim: Target, options: argparse.Namespace) -> list[Figures]:
    rows = []
    for mix in options.mixes:
        for clients in options.clients:
            row = aim.run(mix, clients, options.seconds)
            rows.append(row)
            _print_rows(rows[-1:], header=len(rows) == 1)
    return rows


COLUMNS = ("calls_s", "p50_ms", "p95_ms", "p99_ms", "calls", "refused", "errors", "cpu_ms_call", "load")


def _print_rows(rows: Sequence[Figures], *, header: bool) -> None:
    widths = [max(8, len(name) + 1) for name in COLUMNS]
    if header:
        print(
            f"{'mix':<8}{'clients':>8}"
            + "".join(f"{name:>{width}}" for name, width in zip(COLUMNS, widths, strict=True))
        )
    for row in rows:
        cells = "".join(f"{row[name]:>{width}}" for name, width in zip(COLUMNS, widths, strict=True))
        print(f"{row['mix']:<8}{row['clients']:>8}{cells}", flush=True)
        for message, times in row["wrong"].items():
            print(f"    {times} × {message}")


def _print_more(rows: Sequence[Figures]) -> None:
    """Print tools and processes of each mix's busiest row."""
    busiest = {row["mix"]: row for row in rows}
    tools = [row for row in rows if row["mix"] == "day" and row["clients"] == min(8, rows[-1]["clients"])]
    for row in tools:
        print(f"\nof a day, {row['clients']} clients:")
        print_table(
            ("tool", "calls", "p50 ms", "p95 ms", "p99 ms"),
            [
                (name, *(figures[key] for key in ("calls", "p50", "p95", "p99")))
                for name, figures in row["tools"].items()
            ],
        )
    for mix, row in busiest.items():
        print(f"\nprocesses, {mix}, {row['clients']} clients:")
        print_table(
            ("process", "processor s", "memory MB (PSS)"),
            [(name, row["cpu_s"].get(name, 0.0), size) for name, size in row["pss_mb"].items()],
        )


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--corpus", type=Path, help="copy the files from this folder; default: made ones")
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each number of clients")
    parser.add_argument("--mixes", nargs="+", choices=MIXES, default=MIXES)
    parser.add_argument("--plot", type=Path, nargs="+", metavar="RESULT")
    options = parser.parse_args()
    if options.plot:
        plot("load", options.plot)
        return
    figures = begin("load")
    print_machine(figures)
    with target(options.files, options.corpus) as (aim, filled):
        figures |= {
            "files": filled,
            "corpus": options.corpus.name if options.corpus else "made",
            "seconds": options.seconds,
        }
        print_figures({"files": filled, "clients' processor": "the same cores"})
        rows = measure(aim, options)
    _print_more(rows)
    if options.json:
        plot("load", [write(figures | {"rows": rows})])
    sys.exit(any(row["errors"] for row in rows))


if __name__ == "__main__":
    main()
