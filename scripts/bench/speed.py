"""A benchmark of waiting times and the use of the machine, at several sizes, beside semble,
codegraph and ripgrep in one run.

    scripts/bench/speed.py --sources DIR [DIR …] [--files 400 2000 …] [--questions 300]
        [--rest-s 60] [--semble-model DIR [--semble-s 600]] [--codegraph] [--index-s 1800]
        [--kept DIR] [--json]
    scripts/bench/speed.py --merge RESULT.json RESULT.json … [--json]
    scripts/bench/speed.py --plot RESULT.json

For each size a tree is copied from the folders in --sources; if they hold too few files, from
copies of them, which differ by their paths only. 400, 2 000, 7 000, 36 700 and 105 000 files are
some 10 000, 23 000, 83 000, 345 000 and a million chunks. A large size takes many minutes, so a run
may do one of them: --json adds it to the file of its commit and day, which keeps its other sizes,
and --merge prints one table of several files (of one machine; the newest of a size counts). --kept
keeps tree and index in a folder (of one size), and reuses them if they are there already.

Indexing counts from the start of the first front: until the last chunk file is written, until a
search finds the last file, until its names are resolved, too, and until all work is done. A minimal
client runs the queries, on the peer's own server too. `hop` rows query one worker over ZeroMQ. The
exponent of a row is that of its median over the chunks: 0 is independent of the size, 1 is
proportional to it. The work of a starting set (a check of every file, and of the served index) is
done before queries are timed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import numpy as np
import orjson
import trees
import usage
from environments import plot, python_with
from minimal_client import Server
from product import CORTEX, rows_of
from queries import expression, piece
from report import Figures, begin, make_parser, print_machine, summarise, time_calls
from speed_table import merge, read_results, save, show, show_all, with_exponents

from cortex.ask.freshness import Freshness
from cortex.ask.lanes import TEXT_CANDIDATES, VECTOR_CANDIDATES
from cortex.generation.read import Rows
from cortex.processes import attach
from cortex.settings.config import Config
from ipc.client import Client
from ipc.messages import Fetch, GetStatus, MeaningSearch, Signals, TextSignals

PEER = "semble==0.7.0"
#: calls before measuring
WARM_UP = 30
#: seconds without a new generation and with less than QUIET_SHARE of a core after which all work is
#: done
QUIET_S, QUIET_SHARE = 3.0, 0.05
#: seconds in which a front has done all its imports, and a set is idle: generations out of use are
#: removed a minute after the last publish, or after a start
START_S = 80.0
#: file in --kept with the figures of indexing
BUILT = "built.json"
#: seconds between two samples, at least this many times the duration of a sample: a sample takes
#: part of a core from the measured processes
LOOK_S, LOOK_TIMES = 0.05, 30
#: searches of a kind that ripgrep runs
GREPS = 40
#: the most frequent arguments of agents: few hits, with the lines that matched
SHORT = {"limit": 5, "detail": "snippet"}
#: seconds for one round trip
HOP_S = 10.0


# --- from nothing to everything ---


def index(config: Config, bound_s: float) -> Figures:
    """Measure until the chunk files are written, searches find every file, all names are resolved,
    and all work is done; and memory.

    Ends the program after `bound_s` seconds.
    """
    freshness, root = Freshness(config), config.root
    with usage.Highest(root) as highest, Server([CORTEX, "mcp", "--project", str(root)]) as front:
        began, has_indexed = front.started, False
        written, files_served, searchable = 0.0, 0.0, 0.0
        while not searchable:
            now = time.perf_counter() - began
            if now > bound_s:
                raise SystemExit(f"{root} was not searchable in {bound_s:.0f} s")
            progress = freshness.progress()
            has_indexed = has_indexed or progress.indexing
            over = progress.all_read or (has_indexed and not progress.indexing)
            written = written or (now if over else 0.0)
            generation = freshness.current()
            holds_all = written and freshness.share(generation).is_complete and not generation.backlog
            files_served = files_served or (now if holds_all else 0.0)
            searchable = now if freshness.serves_all(generation) else 0.0
            time.sleep(max(LOOK_S, LOOK_TIMES * (time.perf_counter() - began - now)))
        settled = settle(freshness, root) - began
    return {
        "written_s": round(written, 1),
        "files_served_s": round(files_served, 1),
        "searchable_s": round(searchable, 1),
        "settled_s": round(settled, 1),
        "highest_mb": highest.all,
        "highest_of_one_mb": max(highest.by_process.items(), key=lambda entry: entry[1]),
        "highest_then_mb": highest.at_peak,
    }


def settle(freshness: Freshness, root: Path) -> float:
    """Return when the last work was done, by time.perf_counter."""
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


def some_texts(rows: Rows) -> list[str]:
    """Return some texts, the same of the same tree, in whatever order its rows were published."""
    live = np.flatnonzero(rows.live)
    by_id = live[np.argsort(rows.ids(live))]
    sample = random.Random(7).sample(range(len(by_id)), min(2000, len(by_id)))
    return [rows.text(int(by_id[at])) for at in sample]


def draw(texts: Sequence[str], count: int) -> dict[str, list[str]]:
    """Return queries by kind, made from the searched text: words of a line, pieces, expressions."""
    chance = random.Random(7)
    questions: dict[str, list[str]] = {"words": [], "substring": [], "regex": []}
    while len(questions["words"]) < count:
        line = chance.choice(chance.choice(texts).split("\n"))
        words = re.findall(r"[A-Za-z]{3,}", line)[:5]
        if len(words) > 2:
            questions["words"].append(f"where is {' '.join(words)}".lower())
    for _ in range(count):
        questions["substring"].append(piece(list(texts), chance))
        questions["regex"].append(expression(list(texts), chance))
    return questions


def ask(config: Config, drawn: dict[str, list[str]], count: int) -> list[Figures]:
    """Return a row for each kind of query: times, and processor time of each process."""
    cases = [
        ("search, 5 snippets", "cortex_search", SHORT, drawn["words"]),
        ("search", "cortex_search", {}, drawn["words"]),
        ("explore", "cortex_explore", {}, drawn["words"]),
        ("substring", "cortex_exact", {"match_type": "substring"}, drawn["substring"]),
        ("regex", "cortex_exact", {"match_type": "regex"}, drawn["regex"]),
    ]
    rows = []
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        front.call("cortex_search", SHORT | {"query": drawn["words"][0]})
        settle(Freshness(config), config.root)  # the work of a start takes a core or more
        for case, tool, arguments, questions in cases:
            for question in questions[:WARM_UP]:
                front.call(tool, arguments | {"query": question})
            before = usage.processor_s(config.root)
            took = time_calls(
                count,
                lambda at, tool=tool, arguments=arguments, questions=questions: front.call(
                    tool, arguments | {"query": questions[at % len(questions)]}
                ),
                0,
            )
            after = usage.processor_s(config.root)
            spent = {name: round(1000 * (after[name] - before.get(name, 0.0)) / count, 2) for name in after}
            rows.append(summarise(case, took) | {"cpu_ms": round(sum(spent.values()), 2), "cpu": spent})
    return rows


async def measure_hops(config: Config, questions: Sequence[str], count: int) -> list[Figures]:
    """Measure the workers of a search, and a round trip that does nothing, over ZeroMQ."""
    client, rows, number = Client(config.runtime_dir), [], Freshness(config).current().number
    taken: dict[str, list[float]] = {name: [] for name in ("status", "text", "vector", "fetch")}

    async def time_hop(name: str, worker: str, message: Any) -> Any:
        began = time.perf_counter()
        reply = await client.ask(worker, message, HOP_S)
        taken[name].append(time.perf_counter() - began)
        return reply

    try:
        for at in range(WARM_UP + count):
            question = questions[at % len(questions)]
            await time_hop("status", "vector", GetStatus())
            words = await time_hop("text", "text", TextSignals(question, TEXT_CANDIDATES, generation=number))
            meanings = await time_hop(
                "vector", "vector", MeaningSearch(question, VECTOR_CANDIDATES, generation=number)
            )
            assert isinstance(words, Signals)
            assert isinstance(meanings, Signals)
            keys = tuple(hit.key for hit in (*words.hits, *meanings.hits))[:5]
            await time_hop("fetch", "text", Fetch(keys, "snippet", 0, question, number))
    finally:
        await client.close()
    for name, took in taken.items():
        rows.append(summarise(f"hop: {name}", took[WARM_UP:]))
    return rows


def measure_warm_start(config: Config, question: str, count: int = 3) -> float:
    """Return seconds from a front's start to its first answer, for an index without processes."""
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
        commands = [[program, "-n", *flags, "-e", question, str(root)] for question in questions[:GREPS]]
        took = time_calls(len(commands), lambda at, run=commands: subprocess.call(run[at], stdout=DEVNULL), 0)
        rows.append(summarise(case, took))
    return rows


def semble(
    root: Path, options: argparse.Namespace, questions: Sequence[str]
) -> tuple[Figures, list[Figures]]:
    """Measure the peer's own server, by the same client: its first answer, queries, memory.

    The figures say so if it had no answer within --semble-s.
    """
    count = options.questions
    python = python_with("semble", [PEER, "semble[mcp]"])
    with tempfile.TemporaryDirectory(prefix="cortex-semble-") as cache:
        environment = dict(os.environ) | {
            "SEMBLE_MODEL_NAME": options.semble_model,
            "HF_HUB_OFFLINE": "1",
            "XDG_CACHE_HOME": cache,
            "HOME": cache,
        }
        with Server([str(python.parent / "semble")], environment) as server:
            arguments = {"repo": str(root), "top_k": 5, "content": "all"}
            try:
                server.call("search", arguments | {"query": questions[0]}, options.semble_s)
            except TimeoutError:
                server.kill()
                return {"no_answer_within_s": options.semble_s}, []
            first = time.perf_counter() - server.started
            took = time_calls(
                count,
                lambda at: server.call("search", arguments | {"query": questions[at % len(questions)]}),
                WARM_UP,
            )
            memory = usage.psutil.Process(server.pid).memory_full_info().pss / 1e6
        figures = {
            "searchable_s": round(first, 1),
            "memory_mb": round(memory, 1),
            "disk_mb": usage.disk_mb(Path(cache)),
        }
    return figures, [summarise("semble: search, 5 snippets", took)]


def codegraph(root: Path, bound_s: float) -> Figures:
    """Measure the peer's first index of a copy, of names alone: seconds, and of processor time."""
    with tempfile.TemporaryDirectory(prefix="cortex-codegraph-") as folder:
        shutil.copytree(root, copy := Path(folder) / "tree", symlinks=True)
        before, began = os.times(), time.perf_counter()
        subprocess.run(
            ["codegraph", "init", str(copy)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=bound_s,
        )
        took, after = time.perf_counter() - began, os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        return {
            "searchable_s": round(took, 1),
            "processor_s": round(spent, 1),
            "disk_mb": usage.disk_mb(copy / ".codegraph"),
        }


# --- one size ---


def index_figures(options: argparse.Namespace, config: Config) -> Figures:
    """Return the figures of indexing, measured now or when --kept was made."""
    figures_file = options.kept / BUILT if options.kept else None
    if figures_file and figures_file.exists():
        figures: Figures = orjson.loads(figures_file.read_bytes())
        return figures
    figures = index(config, options.index_s)
    if figures_file:
        figures_file.write_bytes(orjson.dumps(figures))
    return figures


def measure(options: argparse.Namespace, files: int) -> Figures:
    kept_tree = trees.keep_tree(options.sources, files, options.kept) if options.kept else None
    with kept_tree or trees.temporary_tree(options.sources, files) as config:
        figures = {"files": files} | index_figures(options, config)
        rows = rows_of(config)
        drawn = draw(some_texts(rows), options.questions)
        figures["chunks"] = rows.live_count
        figures["warm_start_s"] = measure_warm_start(config, drawn["words"][0])
        question_rows = ask(config, drawn, options.questions)
        question_rows += asyncio.run(measure_hops(config, drawn["words"], options.questions))
        with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
            front.call("cortex_search", SHORT | {"query": drawn["words"][0]})
            time.sleep(START_S)
            figures["rest"] = usage.measure_rest(config.root, options.rest_s)
            figures["rest_mb"] = usage.memory_mb(config.root)
            figures |= disk(config)
        attach.stop(config)
        question_rows += ripgrep(config.root, drawn)
        if options.semble_model:
            figures["semble"], theirs = semble(config.root, options, drawn["words"])
            question_rows += theirs
        if options.codegraph:
            figures["codegraph"] = codegraph(config.root, options.index_s)
    return figures | {"questions": question_rows}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--sources", type=Path, nargs="+", help="folders of projects")
    parser.add_argument("--files", type=int, nargs="+", default=[400, 2000], help="files of each tree")
    parser.add_argument("--questions", type=int, default=300, help="questions of each kind")
    parser.add_argument("--rest-s", type=float, default=60.0)
    parser.add_argument("--semble-model", default="", metavar="DIR")
    parser.add_argument("--semble-s", type=float, default=600.0, help="seconds for its first answer")
    parser.add_argument("--codegraph", action="store_true", help="its first index, too; npm has it")
    parser.add_argument("--index-s", type=float, default=1800.0, help="seconds until all is searchable")
    parser.add_argument("--kept", type=Path, metavar="DIR", help="keep tree and index, and ask them again")
    parser.add_argument(
        "--merge", type=Path, nargs="+", metavar="RESULT", help="print one table of several runs"
    )
    parser.add_argument("--plot", type=Path, metavar="RESULT", help="draw docs/speed.svg of it, and end")
    options = parser.parse_args()
    if options.plot:
        plot("speed", [options.plot])
        return
    if options.kept and len(options.files) > 1:
        parser.error("--kept keeps one size; say --files once")
    if not (options.sources or options.merge):
        parser.error("--sources names folders of projects to put trees together from")
    result = merge(read_results(options.merge)) if options.merge else with_exponents(run(options))
    show_all(result["sizes"], result["exponents"])
    if options.json:
        plot("speed", [save(result)])


def run(options: argparse.Namespace) -> Figures:
    """Measure each size, and print it."""
    result = begin("speed") | {"sizes": []}
    print_machine(result)
    for files in options.files:
        result["sizes"].append(measure(options, files))
        show(result["sizes"][-1])
        if options.json:  # a measured size is saved, whatever becomes of the next
            save(result)
    return result


if __name__ == "__main__":
    main()
