"""A benchmark of an agent's first minute in a project without an index.

Searches a copy of sources once a second, through the official client, from the start of its front
until the project is served in full. No answer may take longer than three seconds, each gives the
searchable share of the project, and that share never falls; a violation ends the program with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from product import connect, scratch_project
from report import Figures, add_json, begin, print_machine, print_table, summarise, write

#: seconds between two searches
EVERY_S = 1.0
#: seconds until the project must be served in full
BOUND_S = 420.0
#: files of the project
FILES = 4_000
#: seconds that no answer may take
ANSWER_S = 3.0
QUESTION = "how is a request handled"
#: folders that belong to no project's sources
NO_SOURCES = frozenset((".git", ".cortex", "node_modules", "__pycache__", ".venv"))


def copy_sources(folders: list[Path], root: Path, files: int) -> int:
    """Copy `files` files of `folders`, each below its own name; return how many there were."""
    copied = 0
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if copied >= files:
                return copied
            inner = path.relative_to(folder)
            if path.is_symlink() or not path.is_file() or NO_SOURCES.intersection(inner.parts):
                continue
            target = root / folder.name / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            copied += 1
    return copied


async def follow(root: Path) -> list[Figures]:
    """Return a row for each search until the project is served in full, or BOUND_S.

    Times are from the start of the front.
    """
    rows: list[Figures] = []
    async with connect(root) as front:
        while time.perf_counter() - front.started < BOUND_S:
            asked_at = time.perf_counter()
            answer = await front.call("cortex_search", query=QUESTION, limit=5)
            rows.append(row(asked_at - front.started, time.perf_counter() - asked_at, answer))
            if rows[-1]["whole"]:
                break
            await asyncio.sleep(max(0.0, asked_at + EVERY_S - time.perf_counter()))
    return rows


def row(second: float, seconds: float, answer: dict[str, Any]) -> Figures:
    index = answer["index"]
    busy = {"searchable", "publishing", "indexing"} & index.keys()
    share = index.get("searchable", {})
    return {
        "second": round(second, 1),
        "answer_ms": round(1000 * seconds, 1),
        "searchable": share.get("done"),
        "of": share.get("total"),
        "generation": index["generation"],
        "results": len(answer["results"]),
        "whole": bool(index["generation"]) and not busy,
        "said": index.get("message") or answer.get("suggestion") or "",
    }


def faults(rows: list[Figures]) -> list[str]:
    """Return the violations of this program's promises, each with its second."""
    messages = [] if rows[-1]["whole"] else [f"the project was not served in {BOUND_S:.0f} s"]
    most = 0.0
    for row in rows:
        at = f"second {row['second']}"
        if row["answer_ms"] > 1000 * ANSWER_S:
            messages.append(f"{at}: the answer took {row['answer_ms']} ms")
        if not row["generation"]:
            continue
        done = math.inf if row["searchable"] is None else row["searchable"]  # no number: all of it
        if done < most:
            messages.append(f"{at}: searchable fell from {most} to {done}")
        if row["of"] and f"{100 * done // row['of']} % searchable" not in row["said"]:
            messages.append(f"{at}: the message does not say how much is searchable")
        most = max(most, done)
    return messages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="folders to copy files from")
    parser.add_argument("--files", type=int, default=FILES)
    add_json(parser)
    options = parser.parse_args()
    figures = begin("first_minute")
    with scratch_project(server_idle_exit_s=2) as root:
        copied = copy_sources(options.sources, root, options.files)
        rows = asyncio.run(follow(root))
    figures |= {"files": copied, "sources": [folder.name for folder in options.sources]}
    first = next((row["second"] + row["answer_ms"] / 1000 for row in rows if row["results"]), None)
    figures |= {"first_result_s": first, "whole_s": rows[-1]["second"]}
    print_machine(figures)
    keys = ("second", "answer_ms", "searchable", "of", "generation", "results")
    print_table(("second", "answer ms", "searchable", "of", "generation", "results"), table(rows, keys))
    answers = summarise("answers", [row["answer_ms"] / 1000 for row in rows])
    print(f"\nfirst results after {first} s, all of {copied} files after {rows[-1]['second']} s; {answers}")
    broken = faults(rows)
    print("\n".join(broken) or "no answer was late, each said how much is searchable, the share never fell")
    if options.json:
        write(figures | {"answers": answers, "rows": rows, "faults": broken})
    return 1 if broken else 0


def table(rows: list[Figures], keys: tuple[str, ...]) -> list[list[object]]:
    return [[str(row[keys[0]]), *(row[key] for key in keys[1:])] for row in rows]


if __name__ == "__main__":
    sys.exit(main())
