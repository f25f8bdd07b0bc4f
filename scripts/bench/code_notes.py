#!/usr/bin/env python3
"""A benchmark of the order of code and notes in one list, for each rule of merging.

    scripts/bench/code_notes.py [--json]

Code: the questions of tests/golden/quality whose files are in this repository. Notes: the newest
commits, stored without their first lines; the question is that line, which the note does not hold.
The figure is the mean of 1 / rank of the right result among ten of the merged list.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import report

from cortex.ask.code_notes.merged_order import STRONG, merge_order
from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Search
from cortex.ask.search import find
from cortex.engines import LOCAL
from cortex.engines.serving import EngineWorker
from cortex.indexer.run import index
from cortex.memory.library import Library
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from ipc.codec import decode, encode
from workers import vector

#: parts of this repository that are searched
SOURCES = ("cortex", "ipc", "workers", "docs", "README.md")
QUERIES = report.ROOT / "tests" / "golden" / "quality" / "queries.json"
#: notes, how many of them have a question, least words of a question
NOTES, NOTE_QUERIES, WORDS_MIN = 600, 80, 8
#: results of each source, and of the merged list
LIMIT, DEPTH = 10, 10
#: scores of the best note from which it ranks as high as the best code; 0: always
STRONGS = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2)

Rule = Callable[[Sequence[float], Sequence[float]], list[tuple[bool, int]]]


class Workers:
    """The project's workers, in this process."""

    def __init__(self, config: Config) -> None:
        self.workers: dict[str, Any] = {name: EngineWorker(name, config) for name in LOCAL}
        self.workers["vector"] = vector.make(config)
        for worker in self.workers.values():
            worker.reload()

    async def ask(self, worker: str, message: Any, _deadline_s: float) -> Any:
        request: Any = decode(encode(message, 1))
        reply = self.workers[worker].handlers[type(request)](request)
        return decode(encode(reply, 1))


def weave(code: Sequence[float], notes: Sequence[float]) -> list[tuple[bool, int]]:
    """Take one of each in turn."""
    places = [(False, at) for at in range(len(code))] + [(True, at) for at in range(len(notes))]
    return sorted(places, key=lambda place: (place[1], place[0]))


def rules() -> dict[str, Rule]:
    rules_by_name: dict[str, Rule] = {"in turn": weave}
    for strong in STRONGS:
        rules_by_name[f"shares, strong {strong:g}"] = functools.partial(merge_order, strong=strong)
    return rules_by_name


def commits() -> list[tuple[str, str]]:
    """Return (first line, other lines) of the newest commits that have more than a line."""
    command = ["git", "log", f"-{NOTES}", "--no-merges", "--format=%s%x1f%b%x1e"]
    log = subprocess.run(command, cwd=report.ROOT, capture_output=True, text=True, check=True).stdout
    records = []
    for record in log.split("\x1e"):
        title, _, body = record.strip().partition("\x1f")
        log = " ".join(body.split())[:256]
        if len(log.split()) >= WORDS_MIN:
            records.append((title, log))
    return records


def rank_of(places: Sequence[tuple[bool, int]], right: Callable[[bool, int], bool]) -> float:
    """Return 1 / rank of the first right result, 0 if none of DEPTH is right."""
    ranks = [rank for rank, place in enumerate(places[:DEPTH], 1) if right(*place)]
    return 1.0 / ranks[0] if ranks else 0.0


def ask(
    context: QueryContext, library: Library, query: str
) -> tuple[list[tuple[str, float]], list[dict[str, Any]]]:
    """Return ((path, score) of code, rows of notes), the best first."""
    _, page = asyncio.run(find(context, Search(query=query, limit=LIMIT, detail="location")))
    assert page is not None
    return [(scored.hit.path, scored.score) for scored in page.hits], library.search(query, limit=LIMIT)


def measure(context: QueryContext, library: Library, note_records: list[tuple[str, str]]) -> report.Figures:
    code_queries = [
        annotated
        for annotated in orjson.loads(QUERIES.read_bytes())["queries"]
        if any(path.startswith(SOURCES) and (report.ROOT / path).exists() for path in annotated["relevant"])
    ]
    questions: list[tuple[str, str, set[str]]] = [
        ("code", annotated["query"], set(annotated["relevant"])) for annotated in code_queries
    ]
    questions += [("notes", title, {body}) for title, body in note_records[:NOTE_QUERIES]]
    scores: dict[str, dict[str, list[float]]] = {name: {"code": [], "notes": []} for name in rules()}
    for kind, query, wanted in questions:
        code, notes = ask(context, library, query)

        def right(is_note: bool, at: int) -> bool:
            return (notes[at]["title"] if is_note else code[at][0]) in wanted  # noqa: B023

        for name, rule in rules().items():
            places = rule([score for _, score in code], [row["score"] for row in notes])
            scores[name][kind].append(rank_of(places, right))
    return {
        name: {kind: round(sum(ranks) / max(1, len(ranks)), 3) for kind, ranks in by_kind.items()}
        | {"questions": [len(by_kind["code"]), len(by_kind["notes"])]}
        for name, by_kind in scores.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    report.add_json(parser)
    arguments = parser.parse_args()
    figures, began = report.begin("meeting"), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        ignored = shutil.ignore_patterns("__pycache__", "*.npy", "vocab*", "cortex_static_*")
        for name in SOURCES:
            source = report.ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            root.mkdir(exist_ok=True)
            copy(source, root / name, **({"ignore": ignored} if source.is_dir() else {}))
        config = Config(root=root)
        index(config)
        with closing(Builder(config)) as builder:
            while builder.refresh() is not None:
                pass
        context = QueryContext(config, Workers(config), Freshness(config), time.monotonic() + 3_600.0)
        note_records = commits()
        with Library.open(Path(folder) / "data", project="here") as library:
            library.import_records([{"note": {"title": title, "kind": "event"}} for _, title in note_records])
            figures["rules"] = measure(context, library, note_records)
    figures["seconds"] = round(time.perf_counter() - began, 1)
    figures["chosen"] = STRONG
    for name, figures_of_rule in figures["rules"].items():
        mean = (figures_of_rule["code"] + figures_of_rule["notes"]) / 2
        sys.stdout.write(
            f"{name:20}  code {figures_of_rule['code']:.3f}  notes {figures_of_rule['notes']:.3f}  mean {mean:.3f}\n"
        )
    if arguments.json:
        report.write(figures)


if __name__ == "__main__":
    main()
