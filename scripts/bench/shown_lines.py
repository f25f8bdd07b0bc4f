"""A benchmark of the lines that answers show: the wanted function, not its file alone.

    scripts/bench/shown_lines.py --repos OUT/repos --queries OUT [--only NAME] [--sample N]
        [--minutes M] [--work DIR] [--json]

OUT is the output of second_set.py. Each question runs as from an agent (`cortex_search` as it is)
for 1, 3 and 5 results and for 600, 1 200 and 2 400 tokens. A wanted function is shown when a line
of it is: of a question from a commit, which may want several, one is enough. The share is the mean
over repositories, with the tokens of an answer (bytes / 4). `--sample`: at most so many questions
of each kind and repository, always the same ones. `--minutes`: after so many no further repository
is begun; the remaining ones are named. `--work` keeps the copies and their indexes between runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from report import add_json, begin, print_machine, write
from systems import indexed, session_of, sparse_copy

#: sizes of the answers
SIZES: tuple[dict[str, int], ...] = (
    {"limit": 1},
    {"limit": 3},
    {"limit": 5},
    {"max_tokens": 600},
    {"max_tokens": 1200},
    {"max_tokens": 2400},
)
TOKEN_BYTES = 4
#: text of an entry that gives the line of the file where it goes on
_GOES_ON = re.compile(r"… line (\d+)$")


@dataclass(frozen=True, slots=True)
class Visibility:
    """One question at one size."""

    repo: str
    category: str
    size: str
    visible: bool
    tokens: int


def lines_of(result: dict[str, Any]) -> set[tuple[str, int]]:
    """Return (path, number) of the lines that an entry shows."""
    chunk = result["chunk"]
    path, number = chunk["metadata"]["file_path"], chunk["metadata"]["start_line"]
    visible_lines = set()
    for line in chunk["text"].split("\n"):
        if goes_on := _GOES_ON.fullmatch(line):
            number = int(goes_on[1])
        else:
            visible_lines.add((path, number))
            number += 1
    return visible_lines


def is_shown(results: Iterable[dict[str, Any]], functions: Sequence[dict[str, Any]]) -> bool:
    lines = set().union(*map(lines_of, results))
    return any(
        (function["path"], number) in lines
        for function in functions
        for number in range(function["start_line"], function["end_line"] + 1)
    )


def sample(queries: Iterable[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return at most so many questions of each kind, of those that want a function.

    The choice is even and always the same; all of them for 0.
    """
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for query in sorted(queries, key=lambda query: sha256(query["query"].encode()).digest()):
        if query.get("functions"):
            kinds[query["category"]].append(query)
    return [query for kind in sorted(kinds) for query in kinds[kind][: most or None]]


async def ask_all(project: Path, repo: str, queries: Sequence[dict[str, Any]]) -> list[Visibility]:
    outcomes = []
    async with session_of(project) as session:
        for query in queries:
            for size in SIZES:
                reply = await session.call_tool("cortex_search", {"query": query["query"], **size})
                text = reply.content[0].text
                name = " ".join(f"{value} {key}" for key, value in size.items())
                visible = is_shown(json.loads(text)["results"], query["functions"])
                outcomes.append(
                    Visibility(repo, query["category"], name, visible, len(text.encode()) // TOKEN_BYTES)
                )
    return outcomes


def tabulate(outcomes: Iterable[Visibility]) -> dict[str, dict[str, dict[str, float]]]:
    """Return category → size → the share shown, over repositories and over questions, and
    tokens.
    """
    groups: dict[tuple[str, str], dict[str, list[Visibility]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        groups[outcome.category, outcome.size][outcome.repo].append(outcome)
    table: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for (category, size), repositories in sorted(groups.items()):
        rows = [row for some in repositories.values() for row in some]
        means = [statistics.mean(row.visible for row in some) for some in repositories.values()]
        table[category][size] = {
            "shown": round(statistics.mean(means), 4),
            "questions": len(rows),
            "of_questions": round(statistics.mean(row.visible for row in rows), 4),
            "tokens": round(statistics.mean(row.tokens for row in rows)),
        }
    return table


def show(table: dict[str, dict[str, dict[str, float]]]) -> None:
    print(f"{'':10}{'asked for':18}{'shown':>8}{'of all':>8}{'tokens':>8}{'questions':>10}")
    for category, sizes in table.items():
        for size in (
            " ".join(f"{value} {key}" for key, value in size_arguments.items()) for size_arguments in SIZES
        ):
            row = sizes[size]
            print(
                f"{category:10}{size:18}{row['shown']:8.3f}{row['of_questions']:8.3f}{row['tokens']:8.0f}"
                f"{row['questions']:10.0f}"
            )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument("--sample", type=int, default=0, help="questions of each kind and repository")
    parser.add_argument("--minutes", type=float, default=math.inf, help="until no repository is begun")
    parser.add_argument("--work", type=Path, help="folder that keeps copies and their indexes; default: none")
    add_json(parser)
    return parser.parse_args()


def main() -> None:
    options, head = arguments(), begin("shown")
    until = time.monotonic() + 60 * options.minutes
    outcomes: list[Visibility] = []
    left: list[str] = []
    for repo in json.loads((options.queries / "repos.json").read_text()):
        name = repo["name"]
        if options.only and name not in options.only:
            continue
        if time.monotonic() > until:
            left.append(name)
            continue
        questions = json.loads((options.queries / "annotations" / f"{name}.json").read_text())
        wanted = sample(questions, options.sample)
        copy_folder = options.work and options.work / name
        with (
            sparse_copy(options.repos / name, "", keep_in=copy_folder) as project,
            indexed(project, keep_index=bool(copy_folder)),
        ):
            outcomes += asyncio.run(ask_all(project, name, wanted))
        print(f"{name:20} {len(wanted)} questions", file=sys.stderr, flush=True)
    if left:
        print(f"not asked within {options.minutes:g} minutes: {', '.join(left)}")
    if not outcomes:
        raise SystemExit("no question wants a function: make them with second_set.py")
    table = tabulate(outcomes)
    print_machine(head)
    show(table)
    if options.json:
        write(head | {"sample": options.sample, "left_out": left, "sizes": table})


if __name__ == "__main__":
    main()
