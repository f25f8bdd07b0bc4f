"""Grade the logs of the agents: tables by arm, paired by task, with intervals.

    scripts/bench/agents/grade.py --work DIR [--base rg] [--keep FILE] [--json]
    scripts/bench/agents/grade.py --logs FILE …

Of a task in an arm the mean over its runs counts. found: gold places that the answer names. right:
share of the named places that are gold. looks: commands before the answer. tokens: of their
outputs, by o200k_base. list: tokens of the tools' list and instructions, once a run, spread over
its tasks. rereads: looks that mostly repeat lines of earlier looks at the task. resident:
tokens that a run's agent holds in the end (prompt, list, commands, outputs). Ratios and differences
are to `--base` over the tasks that both did; the interval is a bootstrap over tasks, 95 %.

`--keep` writes the logs without the outputs (third-party code), with their hashes; `--logs` grades
such files.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from gold import check_seal  # noqa: E402 - scripts are no package
from records import KINDS, Task, hits, parse_place, read_tasks  # noqa: E402
from report import begin, make_parser, print_machine, print_table, write  # noqa: E402
from shown import lines_of  # noqa: E402

#: share of a look's lines that an earlier look had shown, from which it is a second reading
REREAD_SHARE = 0.5
#: draws of the bootstrap, its seed, and the share that the interval holds
DRAWS, SEED, INTERVAL = 2000, 1, 0.95

Row = dict[str, Any]


@dataclass(frozen=True)
class Score:
    """One task in one arm, as the mean of its runs."""

    task: str
    kind: str
    arm: str
    gold: int
    runs: float
    found_count: float
    right_count: float
    named_count: float
    looks: float
    tokens: float
    listed: float
    rereads: float


def read_runs(work: Path) -> list[tuple[Row, list[Row]]]:
    """Return (run.json, its log's rows) of the runs that have a log."""
    runs = []
    for file in sorted(work.glob("runs/*/log.jsonl")):
        run = json.loads((file.parent / "run.json").read_text())
        runs.append((run, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]))
    return runs


def read_kept(files: Iterable[Path]) -> list[tuple[Row, list[Row]]]:
    runs = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            runs.append((row["run"], row["log"]))
    return runs


def without_outputs(run: Row, log: Iterable[Row]) -> Row:
    """Return a run without the outputs of its looks and without paths of the machine."""
    rows = [{key: value for key, value in row.items() if key != "output"} for row in log]
    return {"run": {key: value for key, value in run.items() if key != "work"}, "log": rows}


def rereads(looks: Sequence[Row]) -> int:
    """Return the number of looks that mostly repeat lines of earlier ones."""
    seen: set[tuple[str, int]] = set()
    count = 0
    for row in looks:
        lines = lines_of(row["shown"])
        count += bool(lines) and len(lines & seen) > REREAD_SHARE * len(lines)
        seen |= lines
    return count


def grade_task(task: Task, run: Row, log: Sequence[Row]) -> Score | None:
    """Return the score of one run; None for a task that it did not answer."""
    rows = [row for row in log if row["task"] == task.id]
    answers = [row for row in rows if row["command"][0] == "answer"]
    if not answers:
        return None
    looks = [row for row in rows if row["command"][0] != "answer"]
    named = [place for text in answers[0]["command"][1:] if (place := parse_place(text))]
    found_count, right_count, named_count = hits(task, named)
    return Score(
        task.id,
        task.kind,
        run["arm"],
        len(task.gold),
        1,
        found_count,
        right_count,
        named_count,
        len(looks),
        sum(row["tokens"] for row in looks),
        run["list_tokens"] / len(run["tasks"]),
        rereads(looks),
    )


def scores(runs: Iterable[tuple[Row, list[Row]]], tasks: Iterable[Task]) -> tuple[list[Score], list[str]]:
    """Return (scores by task and arm, unanswered tasks as `run: task`)."""
    by_id = {task.id: task for task in tasks}
    groups: dict[tuple[str, str], list[Score]] = defaultdict(list)
    missing = []
    for run, log in runs:
        for name in run["tasks"]:
            if name not in by_id:
                continue
            score = grade_task(by_id[name], run, log)
            if score is None:
                missing.append(f"{run['run']}: {name}")
            else:
                groups[name, run["arm"]].append(score)
    return [mean_of(rows) for rows in groups.values()], missing


def mean_of(rows: Sequence[Score]) -> Score:
    first = rows[0]
    numbers = ("found_count", "right_count", "named_count", "looks", "tokens", "listed", "rereads")
    means = {name: mean(getattr(row, name) for row in rows) for name in numbers}
    return Score(task=first.task, kind=first.kind, arm=first.arm, gold=first.gold, runs=len(rows), **means)


def summary(rows: Sequence[Score]) -> Row:
    named = sum(row.named_count for row in rows)
    count = len(rows) or 1
    return {
        "tasks": len(rows),
        "runs": sum(row.runs for row in rows),
        "gold": sum(row.gold for row in rows),
        "found": round(sum(row.found_count for row in rows), 2),
        "right": round(sum(row.right_count for row in rows) / named, 3) if named else 0.0,
        "looks": round(sum(row.looks for row in rows), 1),
        "tokens": round(sum(row.tokens for row in rows)),
        "list": round(sum(row.listed for row in rows)),
        "rereads_a_task": round(sum(row.rereads for row in rows) / count, 2),
    }


Pair = tuple[Score, Score]
MEASURES: dict[str, Callable[[Sequence[Pair]], float | None]] = {
    "found": lambda pairs: _ratio(pairs, lambda row: row.found_count),
    "right": lambda pairs: _right(pairs, 0) - _right(pairs, 1),
    "looks": lambda pairs: _ratio(pairs, lambda row: row.looks),
    "tokens": lambda pairs: _ratio(pairs, lambda row: row.tokens),
    "tokens_and_list": lambda pairs: _ratio(pairs, lambda row: row.tokens + row.listed),
}


def _ratio(pairs: Sequence[Pair], value: Callable[[Score], float]) -> float | None:
    below = sum(value(base) for _, base in pairs)
    return sum(value(score) for score, _ in pairs) / below if below else None


def _right(pairs: Sequence[Pair], side: int) -> float:
    named = sum(pair[side].named_count for pair in pairs)
    return sum(pair[side].right_count for pair in pairs) / named if named else 0.0


def paired(rows: Iterable[Score], arm: str, base: str) -> list[Pair]:
    cells = {(row.task, row.arm): row for row in rows}
    return [
        (row, cells[name, base])
        for (name, other), row in sorted(cells.items())
        if other == arm and (name, base) in cells
    ]


def interval(pairs: Sequence[Pair], measure: Callable[[Sequence[Pair]], float | None]) -> Row:
    """Return the value and its bootstrap interval over tasks; `low` and `high` None for none."""
    value = measure(pairs) if pairs else None
    draw = random.Random(SEED)
    drawn = [measure([draw.choice(pairs) for _ in pairs]) for _ in range(DRAWS)] if len(pairs) > 1 else []
    values = sorted(drawn_value for drawn_value in drawn if drawn_value is not None)
    if value is None or not values:
        return {"value": value and round(value, 3), "low": None, "high": None}
    edge = (1 - INTERVAL) / 2
    low, high = values[int(edge * len(values))], values[min(int((1 - edge) * len(values)), len(values) - 1)]
    return {"value": round(value, 3), "low": round(low, 3), "high": round(high, 3)}


def resident(runs: Iterable[tuple[Row, list[Row]]]) -> dict[str, int]:
    """Return arm → mean of the tokens that a run's agent holds in the end."""
    totals: dict[str, list[int]] = defaultdict(list)
    for run, log in runs:
        log_tokens = sum(row["command_tokens"] + row["tokens"] for row in log)
        totals[run["arm"]].append(run["list_tokens"] + run["prompt_tokens"] + log_tokens)
    return {arm: round(mean(values)) for arm, values in totals.items()}


def tabulate(rows: Sequence[Score], base: str) -> Row:
    arms = sorted({row.arm for row in rows}, key=lambda arm: (arm != base, arm))
    table: Row = {}
    for kind in ("all", *KINDS):
        chosen = [row for row in rows if kind in ("all", row.kind)]
        table[kind] = {
            arm: {
                "sums": summary([row for row in chosen if row.arm == arm]),
                "paired": {
                    name: interval(paired(chosen, arm, base), measure) for name, measure in MEASURES.items()
                }
                if arm != base
                else {},
            }
            for arm in arms
        }
    return table


def show(table: Mapping[str, Any], resident_tokens: Mapping[str, int], base: str) -> None:
    for kind, arms in table.items():
        keys = list(summary([]))
        print_table(
            [kind, *keys], [[arm, *(cells["sums"][key] for key in keys)] for arm, cells in arms.items()]
        )
        rows = [
            [f"{arm} to {base}", *map(_shown, cells["paired"].values())]
            for arm, cells in arms.items()
            if arm != base
        ]
        print_table(["", *MEASURES], rows)
        print()
    print_table(["arm", "resident"], resident_tokens.items())


def _shown(cell: Mapping[str, Any]) -> str:
    if cell["value"] is None:
        return "-"
    return f"{cell['value']:.2f}" + (
        f" [{cell['low']:.2f}, {cell['high']:.2f}]" if cell["low"] is not None else ""
    )


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--work", type=Path, help="the folder that prompt.py filled")
    parser.add_argument("--logs", type=Path, nargs="+", default=[], help="kept logs")
    parser.add_argument("--base", default="rg", help="the arm that others are compared with (default: rg)")
    parser.add_argument("--keep", type=Path, help="write the logs without outputs")
    options = parser.parse_args()
    check_seal()
    runs = (read_runs(options.work) if options.work else []) + read_kept(options.logs)
    if options.keep:
        options.keep.write_text(
            "".join(json.dumps(without_outputs(*run), ensure_ascii=False) + "\n" for run in runs)
        )
    rows, missing = scores(runs, read_tasks())
    table, resident_tokens = tabulate(rows, options.base), resident(runs)
    figures = begin("agents")
    print_machine(figures)
    show(table, resident_tokens, options.base)
    for line in missing:
        print(f"not answered: {line}")
    if options.json:
        tasks: dict[str, Row] = defaultdict(dict)
        for row in rows:
            cells = "gold looks tokens rereads runs found_count right_count named_count".split()
            tasks[row.task][row.arm] = {name: getattr(row, name) for name in cells}
        write(
            figures
            | {"base": options.base, "resident": resident_tokens, "missing": missing, "tasks": tasks}
            | table
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
