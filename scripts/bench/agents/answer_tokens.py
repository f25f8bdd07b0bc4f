"""Tokens of the same answers as JSON and as text, by o200k_base.

    scripts/bench/agents/answer_tokens.py [--project DIR] [--question TEXT …] [--json]

Asks the project's workers by `cortex … --json` (this repository by default) and renders each
answer as an agent gets it. Without --question: ten questions about this repository, in the shapes
that agents ask.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents"), str(BENCH.parents[1])]

from arms import count_tokens  # noqa: E402 - scripts are no package
from report import add_json, begin, print_machine, print_table, write  # noqa: E402

from cortex.front.text import render  # noqa: E402

#: (tool, words of its command)
CALLS = (
    ("cortex_search", "search", "how are suggestions for empty answers made"),
    ("cortex_search", "search", "where is a late worker's lane left out of an answer"),
    ("cortex_search", "search", "how does the watcher make a new generation current"),
    ("cortex_search", "search", "why is a note's body put into a fence"),
    ("cortex_explore", "explore", "how does a saved file reach the text index"),
    ("cortex_read", "read", "Tool.call"),
    ("cortex_exact", "exact", "escape_controls"),
    ("cortex_uses", "uses", "escape_controls"),
    ("cortex_graph", "graph", "impact", "name_filter", "--depth", "2"),
    ("cortex_outline", "outline", "cortex/front"),
)


def ask(project: Path, words: Sequence[str]) -> bytes:
    command = [sys.executable, "-P", "-m", "cortex", *words, "--json", "--project", str(project)]
    return subprocess.run(command, check=True, capture_output=True, cwd=BENCH.parents[1]).stdout.rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project", type=Path, default=BENCH.parents[1])
    parser.add_argument(
        "--question", action="append", help="a question for cortex_search, in place of the ten"
    )
    add_json(parser)
    options = parser.parse_args()
    calls = [("cortex_search", "search", text) for text in options.question or ()] or CALLS
    texts: list[str] = []
    for tool, *words in calls:
        raw = ask(options.project, words)
        texts += [raw.decode(), render(tool, json.loads(raw))]
    counts = count_tokens(texts)
    rows = [
        (" ".join(call[1:]), before, after, f"{100 * (after / before - 1):+.0f} %")
        for call, before, after in zip(calls, counts[::2], counts[1::2], strict=True)
    ]
    before, after = sum(counts[::2]), sum(counts[1::2])
    rows.append(("all", before, after, f"{100 * (after / before - 1):+.0f} %"))
    figures = begin("answer_tokens") | {
        "calls": [dict(zip(("call", "json", "text"), row[:3], strict=True)) for row in rows]
    }
    if options.json:
        print(write(figures))
        return
    print_machine(figures)
    print_table(("call", "JSON", "text", ""), rows)


if __name__ == "__main__":
    main()
