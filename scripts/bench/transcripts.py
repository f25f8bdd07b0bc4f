#!/usr/bin/env python3
"""A benchmark of reading sessions: generated files in Claude Code's format are parsed alone, and
then read by memory's set while queries run.

    scripts/bench/transcripts.py [--megabytes 1000] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import report
from memory import Words

from cortex.front.programs.library import Cortex
from cortex.memory.transcripts.formats import claude
from cortex.memory.transcripts.formats.reader import Position, read_portion
from cortex.processes import attach
from cortex.settings.config import load_data

#: bytes of a session's file; of a tool's output, which is most of a file; exchanges
SESSION_BYTES = 4_000_000
PRINTED_WORDS = (200, 1_500)
#: words of a question to the agent and of its reply, and turns with a tool in an exchange
ASKED_WORDS, SAID_WORDS, TURNS = 30, 60, 8
#: seconds after which the run gives up, and between two queries
GIVE_UP_S, PAUSE_S = 900.0, 0.05
#: a word that is in the last line only
LAST = "zyzzyvaquagga"


def lines(words: Words, session: str, folder: Path, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the lines of a session without an end."""
    base = {
        "isSidechain": False,
        "userType": "external",
        "cwd": str(folder),
        "sessionId": session,
        "version": "2.1.63",
        "gitBranch": "main",
    }
    at = 1_770_000_000
    while True:
        at += 60
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))

        def line(kind: str, content: Any, stamp: str = stamp) -> dict[str, Any]:
            fields = {"type": kind, "timestamp": stamp, "uuid": f"{rng.getrandbits(128):032x}"}
            return base | fields | {"message": {"role": kind, "content": content}}

        yield line("user", words(ASKED_WORDS))
        for turn in range(TURNS):
            name = f"toolu_{at}_{turn}"
            path = f"{folder}/src/{words(1)}.py"
            yield line("assistant", [{"type": "text", "text": words(SAID_WORDS)}])
            yield line(
                "assistant", [{"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": path}}]
            )
            printed = words(rng.randint(*PRINTED_WORDS))
            yield line("user", [{"type": "tool_result", "tool_use_id": name, "content": printed}])


def make(folder: Path, project: Path, megabytes: int) -> list[Path]:
    """Write files of that size in all; the last has the last word."""
    words, rng, paths, left = Words(), random.Random(7), [], megabytes * 1_000_000
    place = folder / "projects" / "-shop"
    place.mkdir(parents=True)
    while left > 0:
        session = f"{rng.getrandbits(128):032x}"
        path, written = place / f"{session}.jsonl", 0
        with path.open("wb") as file:
            for line in lines(words, session, project, rng):
                written += file.write(json.dumps(line).encode() + b"\n")
                if written >= min(left, SESSION_BYTES):
                    break
        left -= written
        paths.append(path)
    paths.sort()
    with paths[-1].open("ab") as file:
        line = next(lines(words, paths[-1].stem, project, rng))
        line["message"]["content"] = f"remember {LAST}"
        file.write(json.dumps(line).encode() + b"\n")
    return paths


def parse(paths: list[Path]) -> tuple[float, int]:
    """Return (megabytes a second, exchanges) of parsing alone."""
    began, size, exchanges = time.perf_counter(), 0, 0
    for path in paths:
        place = Position()
        while portion := read_portion(path, claude, place):
            exchanges += sum(exchange["begins"] for exchange in portion.parts)
            place = portion.place
            if not portion.more:
                break
        size += place.offset
    return size / 1e6 / (time.perf_counter() - began), exchanges


def serve(data: Path, project: Path) -> tuple[float, list[float]]:
    """Return (seconds until the last word is found, seconds of each query meanwhile)."""
    words, took = Words(3), []
    with Cortex.open(data, project=project) as memory:
        for at in range(50):
            memory.store(words(9), words(40), kind="decision" if at % 3 else "fact")
        began = time.perf_counter()
        while time.perf_counter() - began < GIVE_UP_S:
            for name, query in (("recall", words(6)), ("search_sessions", words(6))):
                asked_at = time.perf_counter()
                memory.call(name, {"query": query}, writes=False)
                took.append(time.perf_counter() - asked_at)
            if memory.call("search_sessions", {"query": LAST}, writes=False)["results"]:
                return time.perf_counter() - began, took
            time.sleep(PAUSE_S)
    raise SystemExit(f"the last line was not found in {GIVE_UP_S:g} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=100)
    report.add_json(parser)
    options = parser.parse_args()
    figures = report.begin("transcripts")
    report.print_machine(figures)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        project = folder / "shop"
        project.mkdir()
        os.environ["CLAUDE_CONFIG_DIR"], os.environ["CODEX_HOME"] = str(folder), str(folder / "none")
        paths = make(folder, project, options.megabytes)
        speed, exchanges = parse(paths)
        data = folder / "memory"
        try:
            until_s, took = serve(data, project)
        finally:
            attach.stop(load_data({"memory": {"data_dir": str(data)}}))
        figures |= {
            "megabytes": options.megabytes,
            "sessions": len(paths),
            "exchanges": exchanges,
            "parsed_mb_s": round(speed, 1),
            "searchable_s": round(until_s, 1),
            "questions": report.summarise("questions meanwhile", took),
        }
    printed_figures = {name: value for name, value in figures.items() if name not in ("machine", "questions")}
    report.print_figures(
        printed_figures | {"question p50 / p95 / p99 ms": list(figures["questions"].values())[2:]}
    )
    if options.json:
        report.write(figures)


if __name__ == "__main__":
    main()
