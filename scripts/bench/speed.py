"""What a user waits for and what it takes of the machine, at several sizes, beside semble and
ripgrep in one run.

    scripts/bench/speed.py --sources DIR [--files 400 2000 …] [--questions 300] [--rest-s 60]
        [--semble-model DIR] [--growth QUESTIONS] [--json]
    scripts/bench/speed.py --plot RESULT.json

Of each size a tree is put together from the folders in --sources. Indexing counts from the start
of the first front: until the last chunk file is written, until the last file is searchable, and
until nothing is done any more. Questions are asked by a client that does nothing else, as are
those of the peer's own server. `hop` rows ask one worker over ZeroMQ. The exponent of a row is
that of its median over the chunks: 0 costs nothing for size, 1 as much as size grows.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import usage
from environments import lines_of, python_with
from exact import compose
from plain import Server
from product import CORTEX, rows_of, served, surroundings
from queries import expression, piece
from report import Figures, add_json, begin, print_machine, print_table, summarise, write

from cortex.ask.freshness import Freshness
from cortex.processes import attach
from cortex.settings.config import Config
from ipc.client import Client
from ipc.messages import Fetch, GetStatus, MeaningSearch, Signals, TextSignals

HERE = Path(__file__).parent
PLOT = HERE.parents[1] / "docs" / "speed.svg"
PEER = "semble==0.7.0"
#: calls before anything counts
WARM_UP = 30
#: seconds without a new generation and with less than QUIET_SHARE of a core after which nothing is
#: done any more
QUIET_S, QUIET_SHARE = 3.0, 0.05
#: seconds in which a front has imported all that it will
START_S = 10.0
#: seconds until a tree must be searchable
INDEX_S = 1800.0
LOOK_S = 0.05
#: searches of a kind that ripgrep is asked
GREPS = 40
#: what an agent asks for most: few hits, with the lines that say why
SHORT = {"limit": 5, "detail": "snippet"}
#: seconds for one round trip
HOP_S = 10.0


# --- from nothing to everything ---


def index(config: Config) -> Figures:
    """Until the chunk files are written, until all is searchable, until nothing is done; memory."""
    freshness, root = Freshness(config), config.root
    with usage.Highest(root) as highest, Server([CORTEX, "mcp", "--project", str(root)]) as front:
        began, seen, written, searchable = front.started, False, 0.0, 0.0
        while not searchable:
            now = time.perf_counter() - began
            if now > INDEX_S:
                raise SystemExit(f"{root} was not searchable in {INDEX_S:.0f} s")
            progress = freshness.progress()
            seen = seen or progress.indexing
            over = progress.all_read or (seen and not progress.indexing)
            written = written or (now if over else 0.0)
            searchable = now if freshness.serves_all(freshness.current()) else 0.0
            time.sleep(LOOK_S)
        settled = _settle(freshness, root) - began
    return {
        "written_s": round(written, 1),
        "searchable_s": round(searchable, 1),
        "settled_s": round(settled, 1),
        "highest_mb": highest.all,
        "highest_of_one_mb": max(highest.each.items(), key=lambda each: each[1]),
    }


def _settle(freshness: Freshness, root: Path) -> float:
    """When the last work was done, by time.perf_counter."""
    last, generation = time.perf_counter(), freshness.current().number
    spent = sum(usage.processor_s(root).values())
    while time.perf_counter() - last < QUIET_S:
        before = time.perf_counter()
        time.sleep(0.5)
        now = sum(usage.processor_s(root).values())
        share = (now - spent) / (time.perf_counter() - before)
        if freshness.current().number != generation or share > QUIET_SHARE:
            last, generation = time.perf_counter(), freshness.current().number
        spent = now
    return last


def disk(config: Config) -> Figures:
    return {
        "disk_mb": usage.disk_mb(config.home),
        "chunk_files_mb": usage.disk_mb(config.chunks_dir),
        "index_mb": usage.disk_mb(config.index_dir),
        "graph_mb": usage.disk_mb(config.graph_dir),
    }


# --- questions ---


def draw(texts: Sequence[str], count: int) -> dict[str, list[str]]:
    """Questions by kind, made of what is searched: words of one line, pieces, expressions."""
    chance = random.Random(7)
    found: dict[str, list[str]] = {"words": [], "substring": [], "regex": []}
    while len(found["words"]) < count:
        line = chance.choice(chance.choice(texts).split("\n"))
        words = re.findall(r"[A-Za-z]{3,}", line)[:5]
        if len(words) > 2:
            found["words"].append(f"where is {' '.join(words)}".lower())
    for _ in range(count):
        found["substring"].append(piece(list(texts), chance))
        found["regex"].append(expression(list(texts), chance))
    return found


def timed(count: int, call: Callable[[int], Any]) -> list[float]:
    """Seconds of each of `count` calls, after the warm-up."""
    took = []
    for at in range(WARM_UP + count):
        began = time.perf_counter()
        call(at)
        took.append(time.perf_counter() - began)
    return took[WARM_UP:]


def ask(config: Config, drawn: dict[str, list[str]], count: int) -> list[Figures]:
    """A row for each kind of question: times, and processor time of each process."""
    cases = [
        ("search, 5 snippets", "cortex_search", SHORT, drawn["words"]),
        ("search", "cortex_search", {}, drawn["words"]),
        ("explore", "cortex_explore", {}, drawn["words"]),
        ("substring", "cortex_exact", {"match_type": "substring"}, drawn["substring"]),
        ("regex", "cortex_exact", {"match_type": "regex"}, drawn["regex"]),
    ]
    rows = []
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        for case, tool, arguments, questions in cases:
            for question in questions[:WARM_UP]:
                front.call(tool, arguments | {"query": question})
            before = usage.processor_s(config.root)
            took = timed(
                count,
                lambda at, tool=tool, arguments=arguments, questions=questions: front.call(
                    tool, arguments | {"query": questions[at % len(questions)]}
                ),
            )
            after = usage.processor_s(config.root)
            calls = count + WARM_UP
            spent = {name: round(1000 * (after[name] - before.get(name, 0.0)) / calls, 2) for name in after}
            rows.append(summarise(case, took) | {"cpu_ms": round(sum(spent.values()), 2), "cpu": spent})
    return rows


async def hops(config: Config, questions: Sequence[str], count: int) -> list[Figures]:
    """The workers of a search one by one, over ZeroMQ, and a round trip that does nothing."""
    client, rows, number = Client(config.runtime_dir), [], Freshness(config).current().number
    taken: dict[str, list[float]] = {name: [] for name in ("status", "text", "vector", "fetch")}

    async def one(name: str, worker: str, message: Any) -> Any:
        began = time.perf_counter()
        reply = await client.ask(worker, message, HOP_S)
        taken[name].append(time.perf_counter() - began)
        return reply

    try:
        for at in range(WARM_UP + count):
            question = questions[at % len(questions)]
            await one("status", "vector", GetStatus())
            words = await one("text", "text", TextSignals(question, 90, generation=number))
            found = await one("vector", "vector", MeaningSearch(question, 45, generation=number))
            assert isinstance(words, Signals)
            assert isinstance(found, Signals)
            keys = tuple(hit.key for hit in (*words.hits, *found.hits))[:5]
            await one("fetch", "text", Fetch(keys, "snippet", 0, question, number))
    finally:
        await client.close()
    for name, took in taken.items():
        rows.append(summarise(f"hop: {name}", took[WARM_UP:]))
    return rows


def starts(config: Config, question: str, count: int = 3) -> float:
    """Seconds from a front's start to its first answer, of an index whose processes had ended."""
    took = []
    for _ in range(count):
        attach.stop(config)
        with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
            front.call("cortex_search", SHORT | {"query": question})
            took.append(time.perf_counter() - front.started)
    return round(sorted(took)[count // 2], 2)


# --- peers ---


def ripgrep(root: Path, drawn: dict[str, list[str]]) -> list[Figures]:
    program = shutil.which("rg")
    if program is None:
        return []
    rows = []
    for case, flags, questions in (
        ("ripgrep: substring", ["-F"], drawn["substring"]),
        ("ripgrep: regex", [], drawn["regex"]),
    ):
        took = []
        for question in questions[:GREPS]:
            began = time.perf_counter()
            subprocess.run(
                [program, "-n", *flags, "-e", question, str(root)], stdout=subprocess.DEVNULL, check=False
            )
            took.append(time.perf_counter() - began)
        rows.append(summarise(case, took))
    return rows


def semble(root: Path, model: str, questions: Sequence[str], count: int) -> tuple[Figures, list[Figures]]:
    """The peer's own server, by the same client: its first answer, questions, memory."""
    python = python_with("semble", [PEER, "semble[mcp]"])
    with tempfile.TemporaryDirectory(prefix="cortex-semble-") as cache:
        environment = dict(os.environ) | {
            "SEMBLE_MODEL_NAME": model,
            "HF_HUB_OFFLINE": "1",
            "XDG_CACHE_HOME": cache,
            "HOME": cache,
        }
        with Server([str(python.parent / "semble")], environment) as server:
            asked = {"repo": str(root), "top_k": 5, "content": "all"}
            server.call("search", asked | {"query": questions[0]})
            first = time.perf_counter() - server.started
            took = timed(
                count, lambda at: server.call("search", asked | {"query": questions[at % len(questions)]})
            )
            memory = usage.psutil.Process(server.pid).memory_full_info().pss / 1e6
        about = {
            "searchable_s": round(first, 1),
            "memory_mb": round(memory, 1),
            "disk_mb": usage.disk_mb(Path(cache)),
        }
    return about, [summarise("semble: search, 5 snippets", took)]


# --- one size ---


@contextmanager
def tree(options: argparse.Namespace, files: int) -> Iterator[Config]:
    with (
        surroundings(),
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
    ):
        root = Path(folder).resolve() / "tree"
        root.mkdir()
        compose(Path(options.sources), root, files)
        with served(root) as config:
            yield config


def measure(options: argparse.Namespace, files: int) -> Figures:
    with tree(options, files) as config:
        figures = {"files": files} | index(config) | disk(config)
        rows = rows_of(config)
        texts = [rows.text(at) for at in random.Random(7).sample(range(len(rows)), min(2000, len(rows)))]
        drawn = draw(texts, options.questions)
        figures["chunks"] = rows.live_count
        figures["warm_start_s"] = starts(config, drawn["words"][0])
        asked = ask(config, drawn, options.questions)
        asked += asyncio.run(hops(config, drawn["words"], options.questions))
        with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
            front.call("cortex_search", SHORT | {"query": drawn["words"][0]})
            time.sleep(START_S)
            figures["rest"] = usage.rest(config.root, options.rest_s)
            figures["rest_mb"] = usage.memory_mb(config.root)
        if options.growth:
            figures["growth"] = grow(config, drawn["words"], options.growth)
        attach.stop(config)
        asked += ripgrep(config.root, drawn)
        if options.semble_model:
            figures["semble"], theirs = semble(
                config.root, options.semble_model, drawn["words"], options.questions
            )
            asked += theirs
    return figures | {"questions": asked}


def grow(config: Config, questions: Sequence[str], count: int) -> Figures:
    """Memory of each process after a tenth and after all of `count` questions, one file saved for
    each fifty of them.
    """
    saved = config.root / "grown.py"
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        for at in range(count):
            front.call("cortex_search", SHORT | {"query": questions[at % len(questions)]})
            if at % 50 == 0:
                saved.write_text(f"def grown_{at}():\n    return {at}\n")
            if at == count // 10:
                early = usage.memory_mb(config.root)
        late = usage.memory_mb(config.root)
    return {
        "questions": count,
        "early_mb": early,
        "late_mb": late,
        "generation": Freshness(config).current().number,
    }


def exponents(sizes: Sequence[Figures]) -> dict[str, float]:
    """The slope of each row's median over the chunks, both as logarithms, by least squares."""
    found: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        for row in size["questions"]:
            found.setdefault(row["case"], []).append((math.log(size["chunks"]), math.log(row["p50_ms"])))
        found.setdefault("searchable", []).append((math.log(size["chunks"]), math.log(size["searchable_s"])))
    return {name: _slope(points) for name, points in found.items() if len(points) > 1}


def _slope(points: Sequence[tuple[float, float]]) -> float:
    x, y = (sum(each) / len(points) for each in zip(*points, strict=True))
    spread = sum((a - x) ** 2 for a, _ in points)
    return round(sum((a - x) * (b - y) for a, b in points) / spread, 2) if spread else 0.0


def show(size: Figures) -> None:
    """What one size takes."""
    one, largest = size["highest_of_one_mb"]
    print(f"\n{size['files']} files, {size['chunks']} chunks")
    print(
        f"searchable after {size['searchable_s']} s (chunk files {size['written_s']}, nothing done after "
        f"{size['settled_s']}); memory meanwhile {size['highest_mb']} MB, of one process {largest} ({one}); "
        f"disk {size['disk_mb']} MB (chunk files {size['chunk_files_mb']}, index {size['index_mb']}, graph "
        f"{size['graph_mb']}); warm start {size['warm_start_s']} s"
    )
    if "semble" in size:
        print("semble: " + ", ".join(f"{name} {value}" for name, value in size["semble"].items()))
    keys = ("case", "runs", "p50_ms", "p95_ms", "p99_ms", "cpu_ms")
    rows = [tuple(map(row.get, keys)) for row in size["questions"]]
    print_table(("question", "runs", "p50", "p95", "p99 ms", "cpu ms"), rows)
    memory = size["rest_mb"] | {"all": round(sum(size["rest_mb"].values()), 1)}
    rest = [(name, memory.get(name), row["percent"], row["wakes"]) for name, row in size["rest"].items()]
    print_table(("at rest", "MB", "% of a core", "wakes a minute"), rest)
    if "growth" in size:
        print(f"growth: {size['growth']}")


def plot(result: Path) -> None:
    """docs/speed.svg of a kept result."""
    python = python_with("load", lines_of(HERE / "load.lock"))
    subprocess.run([python, HERE / "peers" / "plot_speed.py", PLOT, result], check=True)
    print(f"written to {PLOT}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", help="a folder of projects")
    parser.add_argument("--files", type=int, nargs="+", default=[400, 2000], help="files of each tree")
    parser.add_argument("--questions", type=int, default=300, help="questions of each kind")
    parser.add_argument("--rest-s", type=float, default=60.0)
    parser.add_argument("--growth", type=int, default=0, metavar="QUESTIONS")
    parser.add_argument("--semble-model", default="", metavar="DIR")
    parser.add_argument("--plot", type=Path, metavar="RESULT", help="draw docs/speed.svg of it, and end")
    add_json(parser)
    options = parser.parse_args()
    if options.plot:
        plot(options.plot)
        return
    if not options.sources:
        parser.error("--sources names a folder of projects to put trees together from")
    result = begin("speed") | {"sizes": []}
    print_machine(result)
    for files in options.files:
        result["sizes"].append(measure(options, files))
        show(result["sizes"][-1])
        if options.json:  # what is measured is kept, whatever becomes of the next size
            write(result)
    result["exponents"] = exponents(result["sizes"])
    told = ", ".join(f"{name} {value}" for name, value in result["exponents"].items())
    print(f"\nexponents: {told or 'of one size there is none'}")
    if options.json:
        plot(write(result))


if __name__ == "__main__":
    main()
