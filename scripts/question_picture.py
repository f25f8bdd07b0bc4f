"""A program that makes docs/question.svg: an agent's question, answered by ripgrep and by Cortex.

    python scripts/question_picture.py

Draws two runs of a "how does it work" task from the logs of scripts/bench/agents: the pair whose
tokens with Cortex, relative to ripgrep, are the nearest to the median of these tasks.
"""

from __future__ import annotations

import gzip
import json
import shlex
import statistics
import textwrap
from typing import Any

from picture import COLUMNS, ROOT, draw

RESULTS, TASKS = ROOT / "scripts" / "bench" / "results", ROOT / "scripts" / "bench" / "agents" / "tasks.jsonl"
NAME, KIND = "2026-11-28-8add6ea8-agents", "how"
#: arm → its tools
ARMS = {"rg": "ripgrep and sed", "cortex": "Cortex and sed"}


def main() -> None:
    tasks = {task["id"]: task for task in map(json.loads, TASKS.read_text().splitlines())}
    arms = json.loads((RESULTS / f"{NAME}.json").read_text())["tasks"]
    ratios = {
        name: row["cortex"]["tokens"] / row["rg"]["tokens"]
        for name, row in arms.items()
        if tasks[name]["kind"] == KIND
    }
    median = statistics.median(ratios.values())
    with gzip.open(RESULTS / f"{NAME}-logs.jsonl.gz") as file:
        runs = [json.loads(line) for line in file]
    pairs = {
        (name, repetition): [_looks(runs, arm, name, repetition) for arm in ARMS]
        for name in ratios
        for repetition in "12"
    }
    name, repetition = min(pairs, key=lambda pair: abs(_ratio(*pairs[pair]) - median))
    lines = textwrap.wrap(tasks[name]["question"], COLUMNS - 2)
    recorded = [(lines[0], lines[1:])]
    for (arm, tools), looks in zip(ARMS.items(), pairs[name, repetition], strict=True):
        places = f"{arms[name][arm]['found_count']:g} of {arms[name][arm]['gold']} places found"
        end = f"\x1b[1m{len(looks)} looks, {_tokens(looks):,} tokens; {places}\x1b[0m"
        recorded.append((f"with {tools}", [*map(_line, looks), end]))
    label = f"{tasks[name]['question']} Answered with ripgrep, then with Cortex"
    drawn = draw(recorded, label=label, prompt="?")
    (ROOT / "docs" / "question.svg").write_text(drawn)
    print(f"{name}: {_ratio(*pairs[name, repetition]):.2f} of ripgrep's tokens, median of tasks {median:.2f}")


def _looks(runs: list[dict[str, Any]], arm: str, name: str, repetition: str) -> list[dict[str, Any]]:
    """Return the commands for one task in one of its two runs, without the answer."""
    return [
        row
        for run in runs
        if run["run"]["run"].startswith(f"{arm}-{repetition}-")
        for row in run["log"]
        if row["task"] == name and row["command"][0] != "answer"
    ]


def _tokens(looks: list[dict[str, Any]]) -> int:
    return sum(look["tokens"] for look in looks)


def _ratio(usual: list[dict[str, Any]], cortex: list[dict[str, Any]]) -> float:
    return _tokens(cortex) / _tokens(usual)


def _line(look: dict[str, Any]) -> str:
    program, *words = look["command"]
    text = f"{program} {' '.join(words) if program.startswith('cortex_') else shlex.join(words)}"
    room = COLUMNS - 16
    cut = text if len(text) <= room else f"{text[: room - 1]}…"
    return f"{cut:<{room}}\x1b[2m{look['tokens']:>6,} tokens\x1b[0m"


if __name__ == "__main__":
    main()
