"""A benchmark of the workers alone, as standalone processes, with 1, 2 and 4 replicas of each.

    scripts/bench/load_workers.py [--files 5000 | --corpus DIR] [--replicas 1 2 4]
                                  [--clients 1 8 32 128] [--seconds 8] [--json]

Runs the code queries of load.py's day once as the server does and records their messages; then so
many clients send these over ZeroMQ in their order, one query after the other. It leaves out front,
ranking, HTTP, and memory, whose worker owns a store and has no replicas. Prints queries a second,
p50, p95, p99, errors, and processor time and memory of every process. The clients share the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from load import CLIENTS, fill
from product import scratch_project, wait_until_indexed
from report import Figures, add_json, begin, print_machine, print_table, summarise, write
from workday import Words, draw

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.front.http.routes.calls import SEARCH
from cortex.front.tools import TOOLS
from cortex.processes import attach
from cortex.processes.names import PROJECT
from cortex.settings.config import Config, load
from cortex.system.errors import CortexError
from ipc.client import Client
from ipc.messages import Message

#: workers that answer a query about code
WORKERS = ("text", "vector", "graph")
REPLICAS = (1, 2, 4)
#: different queries
QUESTIONS = 300
#: seconds for one message; and until every worker has its socket
DEADLINE_S, START_S = 30.0, 60.0
#: seconds for a first index
INDEX_S = 1800.0
#: seconds between two checks of the sockets
LOOK_S = 0.05

Messages = list[tuple[str, Message]]


@dataclass
class RecordingClient:
    """A client that records the messages to send."""

    client: Client
    messages: Messages = field(default_factory=list)

    async def ask(self, worker: str, message: Message, deadline_s: float) -> Message:
        self.messages.append((worker, message))
        return await self.client.ask(worker, message, deadline_s)


@contextlib.contextmanager
def standalone_workers(config: Config, replicas: int) -> Iterator[dict[str, psutil.Process]]:
    """Start `cortex-worker NAME --replica N` for each worker; yield them by name and number once
    all answer.
    """
    processes: dict[str, subprocess.Popen[bytes]] = {}
    lines = {program.name: PROJECT.command_line(program, str(config.root)) for program in PROJECT.processes}
    try:
        for name, number in itertools.product(WORKERS, range(replicas)):
            # A worker ends with its standard input.
            processes[f"{name}.{number}"] = subprocess.Popen(
                [*lines[name], "--replica", str(number)], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        until = time.monotonic() + START_S
        while missing := [name for name in processes if not (config.runtime_dir / f"{name}.sock").exists()]:
            if time.monotonic() > until or any(process.poll() is not None for process in processes.values()):
                raise SystemExit(f"these workers do not answer: {', '.join(missing)}")
            time.sleep(LOOK_S)
        yield {name: psutil.Process(process.pid) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.communicate()


async def record_messages(config: Config, words: Words) -> list[Messages]:
    """Return the messages of each query, as the server sends them."""
    client = Client(config.runtime_dir)
    recorded: list[Messages] = []
    try:
        calls = (call for call in draw(words, "day", 4 * QUESTIONS) if asks_code(call["tool"]))
        for call in itertools.islice(calls, QUESTIONS):
            noting, until = RecordingClient(client), time.monotonic() + DEADLINE_S
            tool = SEARCH if call["way"] == "search" else TOOLS[call["tool"]]
            context = QueryContext(config, noting, Freshness(config), until, until)
            with contextlib.suppress(CortexError):  # the messages count, whatever the answer
                await tool.call(context, tool.check(call["arguments"]))
            if noting.messages:
                recorded.append(noting.messages)
    finally:
        await client.close()
    return recorded


def asks_code(name: str) -> bool:
    return name == "search" or TOOLS[name].asks({}) == "code"


async def drive(config: Config, questions: Sequence[Messages], clients: int, seconds: float) -> Figures:
    """Let so many clients run one query after another; return seconds of each, and errors."""
    client = Client(config.runtime_dir)
    took: list[float] = []
    wrong: Counter[str] = Counter()
    end = time.monotonic() + seconds

    async def ask(first: int) -> None:
        for at in itertools.count(first):
            began = time.perf_counter()
            try:
                for worker, message in questions[at % len(questions)]:
                    await client.ask(worker, message, DEADLINE_S)
            except CortexError as error:
                wrong[str(error)[:200]] += 1
            else:
                took.append(time.perf_counter() - began)
            if time.monotonic() >= end:
                return

    began = time.perf_counter()
    try:
        await asyncio.gather(*(ask(at * len(questions) // clients) for at in range(clients)))
    finally:
        await client.close()
    spent = time.perf_counter() - began
    row: Figures = {"questions_s": round(len(took) / spent, 1)} | summarise("", took or [0.0])
    return row | {"errors": sum(wrong.values()), "wrong": dict(wrong)}


def measure(config: Config, options: argparse.Namespace) -> list[Figures]:
    with standalone_workers(config, 1):
        questions = asyncio.run(record_messages(config, Words.of(config.root)))
    rows = []
    for replicas in options.replicas:
        with standalone_workers(config, replicas) as processes:
            everyone = processes | {"clients": psutil.Process()}
            asyncio.run(drive(config, questions, 2 * replicas, 1.0))  # every replica has read its files
            for clients in options.clients:
                before = {name: sum(process.cpu_times()[:2]) for name, process in everyone.items()}
                row = {"replicas": replicas, "clients": clients}
                row |= asyncio.run(drive(config, questions, clients, options.seconds))
                used = {
                    name: sum(process.cpu_times()[:2]) - before[name] for name, process in everyone.items()
                }
                row["cpu_s"] = {name: round(value, 2) for name, value in used.items()}
                row["pss_mb"] = {
                    name: round(process.memory_full_info().pss / 1e6, 1) for name, process in everyone.items()
                }
                rows.append(row | {"load": round(os.getloadavg()[0], 1)})
    return rows


def print_rows(rows: Sequence[Figures]) -> None:
    keys = ("questions_s", "p50_ms", "p95_ms", "p99_ms", "errors", "load")
    print_table(
        ("replicas × clients", "questions/s", "p50 ms", "p95 ms", "p99 ms", "errors", "load"),
        [(f"{row['replicas']} × {row['clients']}", *(row[key] for key in keys)) for row in rows],
    )
    for row in rows:
        for message, times in row["wrong"].items():
            print(f"{row['replicas']} × {row['clients']}: {times} × {message}")
    for row in {row["replicas"]: row for row in rows}.values():
        print(f"\nprocesses, {row['replicas']} replicas, {row['clients']} clients:")
        print_table(
            ("process", "processor s", "memory MB (PSS)"),
            [(name, row["cpu_s"][name], size) for name, size in row["pss_mb"].items()],
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--corpus", type=Path, help="copy the files from this folder; default: made ones")
    parser.add_argument("--replicas", type=int, nargs="+", default=REPLICAS)
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=8.0, help="for each number of clients")
    add_json(parser)
    options = parser.parse_args()
    figures = begin("load-workers")
    print_machine(figures)
    with scratch_project() as root:
        filled = fill(root, options.files, options.corpus)
        asyncio.run(wait_until_indexed(root, bound_s=INDEX_S))
        config = load(str(root))
        attach.stop(config)
        rows = measure(config, options)
    figures |= {"files": filled, "corpus": options.corpus.name if options.corpus else "made", "rows": rows}
    print_rows(rows)
    if options.json:
        write(figures)
    sys.exit(any(row["errors"] for row in rows))


if __name__ == "__main__":
    main()
