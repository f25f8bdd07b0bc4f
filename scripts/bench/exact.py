"""A benchmark of keyword search: calls through the MCP client, lexical indexing, ripgrep.

    scripts/bench/exact.py --sources DIR [--repositories DIR ...] [--json]

Three parts, each of which `--only` runs alone:

* speed: a tree of --files files is copied from the folders in --sources and indexed by the
  product. Then queries of each kind, drawn from its text, through the official MCP client;
  expressions also by ripgrep over the same files.
* indexing: the chunks of that tree are written as text index, trigrams and words again, in
  process: MB/s and size.
* equality: each of --repositories is indexed by the product, and generated substrings and
  expressions are searched by it and by ripgrep: the sets of matching lines must be equal in every
  indexed file. Time per query of both, warm.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import ripgrep
import trees
from product import (
    QUIET_S,
    Front,
    connect,
    covering_rows,
    isolated_environment,
    open_project,
    rows_of,
    wait_until_indexed,
)
from queries import draw
from report import (
    Figures,
    begin,
    make_parser,
    print_figures,
    print_machine,
    print_table,
    summarise,
    write,
)
from ripgrep import WARM_UP, time_ripgrep

from cortex.engines.text.index.writer import TextWriter
from cortex.generation.read import Rows
from cortex.generation.segments import trigrams, words
from cortex.settings.config import Config

#: queries of a kind that ripgrep runs, and the kinds
PEER_QUERIES, PEER_KINDS = 40, ("substring", "regex", "regex, any chunk")
PARTS = ("speed", "indexing", "equality")

# --- speed ---


async def measure_speed(config: Config, queries: dict[str, list[dict[str, Any]]]) -> list[Figures]:
    async with connect(config.root) as front:
        table = [await measure_kind(front, kind, requests) for kind, requests in queries.items()]
    for row in table:
        if row["case"] in PEER_KINDS:
            peer = [time_ripgrep(config.root, query) for query in queries[row["case"]][:PEER_QUERIES]]
            row["ripgrep"] = {k: v for k, v in summarise("ripgrep", peer).items() if k.startswith("p")}
    return table


async def measure_kind(front: Front, kind: str, requests: list[dict[str, Any]]) -> Figures:
    for arguments in requests[:WARM_UP]:
        await front.call("cortex_exact", **arguments)
    seconds, totals = [], []
    for arguments in requests:
        started = time.perf_counter()
        answer = await front.call("cortex_exact", **arguments)
        seconds.append(time.perf_counter() - started)
        totals.append(answer["total_found"])
    slowest = sorted(zip(seconds, requests, strict=True), key=lambda pair: -pair[0])[:3]
    return summarise(kind, seconds) | {
        "found_median": statistics.median(totals),
        "found_max": max(totals),
        "slowest": [f"{arguments['query']}  {1000 * took:.1f} ms" for took, arguments in slowest],
    }


# --- indexing ---


def measure_indexing(rows: Rows) -> dict[str, Any]:
    """Measure the text index and the tables of trigrams and words of all chunks of `rows`.

    They are made again side by side, as by the builder.
    """
    chunks = [(int(rows.keys[at]), orjson.loads(rows.chunk(at))) for at in np.flatnonzero(rows.live).tolist()]
    cover = {int(rows.keys[at]) for at in covering_rows(rows)}
    megabytes = sum(len(chunk["text"].encode()) for _, chunk in chunks) / 1e6
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # merges may still write
        writer = TextWriter(Path(name) / "text", "")
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as pool:
            pending = pool.submit(
                lambda: (
                    trigrams.make_sections(
                        [chunk["text"].encode() if key in cover else None for key, chunk in chunks]
                    )
                    | words.make_sections(chunk["text"] for _, chunk in chunks)
                )
            )
            writer.build(1, iter(chunks), [])
            text_s = time.perf_counter() - started
            sections = pending.result()
        seconds = time.perf_counter() - started
        size = sum(file.stat().st_size for file in (Path(name) / "text" / "1").iterdir()) / 1e6
        commits = []
        chance = random.Random(1)
        for number in range(2, 12):
            at = chance.randrange(max(1, len(chunks) - 100))
            some = chunks[at : at + 100]
            started = time.perf_counter()
            writer.build(
                number, [((number << 32) + key, chunk) for key, chunk in some], [key for key, _ in some]
            )
            commits.append(time.perf_counter() - started)
        writer.close()
    tables = {
        prefix: sum(section.nbytes for name, section in sections.items() if name.startswith(prefix)) / 1e6
        for prefix in ("gram", "word")
    }
    return {
        "chunks": len(chunks),
        "text_mb": round(megabytes, 1),
        "text_index_s": round(text_s, 2),
        "all_s": round(seconds, 2),
        "mb_per_s": round(megabytes / seconds, 1),
        "text_index_mb": round(size, 1),
        "trigrams_mb": round(tables["gram"], 1),
        "words_mb": round(tables["word"], 1),
        "index_to_text": round((size + sum(tables.values())) / megabytes, 2),
        "commit_of_100_chunks": summarise("commit", commits),
    }


# --- the program ---


def run(options: argparse.Namespace) -> Figures:
    parts = options.only.split(",") if options.only else PARTS
    version = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True)
    result: Figures = begin("exact") | {"ripgrep": version.stdout.splitlines()[0]}
    with contextlib.ExitStack() as stack:
        stack.enter_context(isolated_environment())
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exact-"))).resolve()
        if "speed" in parts or "indexing" in parts:
            result |= measure_tree(options, parts)
        if "equality" in parts:
            result["equality"] = [
                measure_equality(repository, home, options.compared) for repository in options.repositories
            ]
    return result


def measure_tree(options: argparse.Namespace, parts: Sequence[str]) -> Figures:
    """Measure speed and indexing, of the given tree or of one that is made."""
    result: Figures = {}
    tree = open_project(options.tree.resolve()) if options.tree else None
    with tree or trees.temporary_tree([options.sources], options.files) as config:
        started = time.perf_counter()
        asyncio.run(wait_until_indexed(config.root))
        seconds = round(time.perf_counter() - started - QUIET_S, 1)
        rows = rows_of(config)
        result["tree"] = {"files": len(rows.path_names), "chunks": rows.live_count, "indexed_in_s": seconds}
        if "speed" in parts:
            texts = [rows.text(at) for at in covering_rows(rows)]
            result["speed"] = asyncio.run(measure_speed(config, draw(texts, options.queries)))
    if "indexing" in parts:
        result["indexing"] = measure_indexing(rows)
    return result


def measure_equality(repository: Path, home: Path, count: int) -> Figures:
    """Compare with ripgrep in a copy of the repository, and print the result at once."""
    copy = home / repository.name
    shutil.copytree(repository, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cortex"))
    with open_project(copy) as config:
        asyncio.run(wait_until_indexed(copy))
        comparison = asyncio.run(ripgrep.compare(config, count))
    shutil.rmtree(copy)
    ripgrep.show(comparison)
    return comparison


def show(result: Figures) -> None:
    print_machine(result)
    print(f"{result['ripgrep']}; tree: {result.get('tree')}\n")
    if "speed" in result:
        header = ("through the MCP client", "p50", "p95", "p99 ms", "found", "ripgrep p50", "p95 ms")
        rows = []
        for row in result["speed"]:
            peer = row.get("ripgrep", {})
            times = (row["p50_ms"], row["p95_ms"], row["p99_ms"])
            rows.append(
                (row["case"], *times, int(row["found_median"]), peer.get("p50_ms"), peer.get("p95_ms"))
            )
        print_table(header, rows)
    if "indexing" in result:
        print("\nindexing")
        print_figures(result["indexing"])


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--sources", type=Path, help="folder of repositories that the tree is made of")
    parser.add_argument("--tree", type=Path, help="measure this tree instead of one made of --sources")
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--repositories", type=Path, nargs="*", default=[], help="compared with ripgrep")
    parser.add_argument("--queries", type=int, default=200, help="queries of each kind")
    parser.add_argument("--compared", type=int, default=60, help="queries compared in each repository")
    parser.add_argument("--only", help="speed, indexing, equality; or some, divided by commas")
    options = parser.parse_args()
    if not shutil.which("rg"):
        parser.error("ripgrep (rg) is not installed; Debian and Homebrew call it ripgrep")
    if not (options.sources or options.tree) and (options.only or "speed") != "equality":
        parser.error("--sources or --tree is needed to measure speed and indexing")
    result = run(options)
    show(result)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
