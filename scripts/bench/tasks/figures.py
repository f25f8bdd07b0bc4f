"""The figures of agent.py: tables of calls and costs by system, kind, repository and half."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from report import percentiles, print_table
from tasks.answers import TOKEN_BYTES
from tasks.records import Task, is_for_judging

#: characters of a question in the list of missed lines
QUESTION_CHARS = 70


@dataclass(frozen=True)
class TaskResult:
    """The cost and the lines of one task in one system."""

    system: str
    task: Task
    calls: int
    bytes: int
    lines_found: int
    ms: float
    missing: tuple[str, ...] = ()
    parts: Counter[str] = field(default_factory=Counter)
    error: str = ""

    @property
    def needed(self) -> int:
        return len(self.task.lines)

    @property
    def tokens(self) -> int:
        return self.bytes // TOKEN_BYTES


def summary(rows: Sequence[TaskResult]) -> dict[str, Any]:
    """Return counts of some tasks in one system."""
    times = percentiles([row.ms for row in rows], (50, 95)) if rows else {}
    tokens, got = sum(row.tokens for row in rows), sum(row.lines_found for row in rows)
    return {
        "tasks": len(rows),
        "calls": sum(row.calls for row in rows),
        "tokens": tokens,
        "needed": sum(row.needed for row in rows),
        "found": got,
        "missing": sum(row.needed - row.lines_found for row in rows),
        "whole": sum(row.lines_found == row.needed for row in rows),
        "nothing": sum(row.lines_found == 0 for row in rows),
        "per_1000": round(1000 * got / tokens, 2) if tokens else 0.0,
        "errors": sum(bool(row.error) for row in rows),
    } | {f"ms_{name}": value for name, value in times.items()}


def paired_differences(rows: Sequence[TaskResult], system: str, base: str) -> dict[str, float]:
    """Return the difference to `base` in the share of needed lines found and in the tokens of a
    task.

    Means over the repositories of the tasks' differences, and their standard errors (of tokens as
    the logarithm to base 2).
    """
    cells = {(row.system, row.task.id): row for row in rows}
    shares, tokens = defaultdict(list), defaultdict(list)
    for (name, task), row in cells.items():
        if name == system and (other := cells.get((base, task))):
            shares[row.task.repo].append((row.lines_found - other.lines_found) / row.needed)
            tokens[row.task.repo].append(math.log2(max(row.tokens, 1) / max(other.tokens, 1)))
    figures = {}
    for key, groups in (("found", shares), ("log2_tokens", tokens)):
        means = [statistics.mean(values) for values in groups.values()]
        figures[key] = round(statistics.mean(means), 4) if means else 0.0
        figures[f"{key}_se"] = (
            round(statistics.stdev(means) / math.sqrt(len(means)), 4) if len(means) > 1 else 0.0
        )
    return figures


def tabulate(rows: Sequence[TaskResult], names: Sequence[str]) -> dict[str, Any]:
    """Return all figures: in all, by kind, by repository, by half, without the doubtful tasks;
    parts of Cortex's answers.
    """

    def summarise_systems(selected: Sequence[TaskResult]) -> dict[str, Any]:
        return {name: summary([row for row in selected if row.system == name]) for name in names}

    def by(key: Callable[[TaskResult], str]) -> dict[str, Any]:
        groups = defaultdict(list)
        for row in rows:
            groups[key(row)].append(row)
        return {name: summarise_systems(group) for name, group in sorted(groups.items())}

    parts: dict[str, dict[str, int]] = {}
    for name in names:
        total: Counter[str] = sum((row.parts for row in rows if row.system == name), Counter())
        if total:
            parts[name] = {section: count // TOKEN_BYTES for section, count in total.most_common()}
    return {
        "all": summarise_systems(rows),
        "without_doubtful": summarise_systems([row for row in rows if not row.task.doubt]),
        "paired": {name: paired_differences(rows, name, names[0]) for name in names[1:]},
        "half": by(lambda row: "judging" if is_for_judging(row.task.repo) else "open"),
        "kind": by(lambda row: row.task.kind),
        "repository": by(lambda row: row.task.repo),
        "parts": parts,
    }


def show(table: dict[str, Any], names: Sequence[str]) -> None:
    figures = table["all"]
    print_table(["", *names], [[key, *(figures[name][key] for name in names)] for key in figures[names[0]]])
    for key, label in (("found", "share found"), ("log2_tokens", "log2 of tokens")):
        pairs = {name: table["paired"][name] for name in names[1:]}
        comparisons = [f"{name} {pair[key]:+.2f} ± {pair[key + '_se']:.2f}" for name, pair in pairs.items()]
        print(f"{label} against {names[0]}: {', '.join(comparisons)}")
    for group in ("half", "kind", "repository"):
        print()
        header = [
            f"by {group}: found, tokens",
            "needed",
            *(column for name in names for column in (name, "tokens")),
        ]
        rows = [
            [
                key,
                row[names[0]]["needed"],
                *(row[name][cell] for name in names for cell in ("found", "tokens")),
            ]
            for key, row in table[group].items()
        ]
        print_table(header, rows)
    for name, parts in table["parts"].items():
        print()
        total = sum(parts.values()) or 1
        rows = [[section, tokens, f"{100 * tokens / total:.1f} %"] for section, tokens in parts.items()]
        print_table([f"tokens of {name} by part", "tokens", "share"], rows)


def show_misses(rows: Sequence[TaskResult]) -> None:
    for row in rows:
        if row.missing or row.error:
            question = row.task.question.replace("\n", " ")[:QUESTION_CHARS]
            print(
                f"{row.system:10}{row.task.id:40}{row.lines_found}/{row.needed} {row.tokens:>6}  {question}  {row.error}"
            )
            print(f"{'':10}{' '.join(row.missing)}")
