"""The tasks of the agents' benchmark, their gold, and its seal. Pure but for reading the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TASKS, SEAL = FOLDER / "tasks.jsonl", FOLDER / "gold.sha256"
KINDS = ("fix", "how", "breaks")
#: lines that an answer may be off: a call over several lines has several numbers
SLACK = {"fix": 0, "how": 0, "breaks": 1}
#: lines of a named range; a longer one names no place, unless the place itself is as long
NAMED_LINES_MAX = {"fix": 80, "how": 80, "breaks": 12}
#: lines of a comment or a decorator that a name may take in besides the place
LOOSE = 12


@dataclass(frozen=True)
class Gold:
    """A place that an answer must name: lines `start` to `end` of a file, 1-based and inclusive.

    The range is the acceptable one: a function, or the surroundings of a change in a long function.
    `has` is a word in its first line, `name` its symbol.
    """

    file: str
    start: int
    end: int
    has: str = ""
    name: str = ""


@dataclass(frozen=True)
class Task:
    """A task. `question` is all that the agent reads.

    `source`: the issue and the fix, the checker of the sites, or the readers of the places.
    """

    id: str
    kind: str
    repo: str
    revision: str
    question: str
    gold: tuple[Gold, ...]
    source: str = ""


@dataclass(frozen=True)
class Named:
    """A place that an answer names."""

    file: str
    start: int
    end: int


def read_tasks(file: Path = TASKS) -> list[Task]:
    tasks = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tasks.append(Task(**row | {"gold": tuple(Gold(**place) for place in row["gold"])}))
    return tasks


def find_task(name: str) -> Task:
    task = next((entry for entry in read_tasks() if entry.id == name), None)
    if task is None:
        raise SystemExit(f"no task is named {name}")
    return task


def as_line(task: Task) -> str:
    """Return the task as a line of tasks.jsonl, without empty fields."""
    row = {key: value for key, value in asdict(task).items() if value}
    row["gold"] = [{key: value for key, value in place.items() if value} for place in row["gold"]]
    return json.dumps(row, ensure_ascii=False)


def seal_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def parse_place(text: str) -> Named | None:
    """Return the place of `path:12` or `path:12-30`; None if it is none."""
    path, mark, lines = text.strip().strip("`,;").removeprefix("./").rpartition(":")
    first, _, last = lines.partition("-")
    if not mark or not path or not first.isdigit() or (last and not last.isdigit()):
        return None
    return Named(path, int(first), int(last or first))


def is_hit(kind: str, gold: Gold, named: Named) -> bool:
    slack = SLACK[kind]
    return (
        named.file == gold.file
        and named.end - named.start < max(NAMED_LINES_MAX[kind], gold.end - gold.start + 1 + LOOSE)
        and named.start <= gold.end + slack
        and named.end >= gold.start - slack
    )


def hits(task: Task, answer: Iterable[Named]) -> tuple[int, int, int]:
    """Return (gold places found, named places that are right, named places)."""
    named = list(dict.fromkeys(answer))
    found_count = sum(any(is_hit(task.kind, gold, place) for place in named) for gold in task.gold)
    right = sum(any(is_hit(task.kind, gold, place) for gold in task.gold) for place in named)
    return found_count, right, len(named)


def faults(tasks: Iterable[Task], folder: Path) -> list[str]:
    """Return faults of tasks of one repository: places that its tree does not hold."""
    messages = []
    for task in tasks:
        for gold in task.gold:
            file = folder / gold.file
            lines = file.read_text(encoding="utf-8", errors="replace").split("\n") if file.is_file() else []
            if not 1 <= gold.start <= gold.end <= len(lines):
                messages.append(f"{task.id}: {gold.file} has no lines {gold.start} to {gold.end}")
            elif gold.has not in lines[gold.start - 1]:
                messages.append(f"{task.id}: {gold.file}:{gold.start} does not hold {gold.has!r}")
    return messages


def form_faults(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return faults of tasks that need no tree: a wrong kind, a name given twice, no gold."""
    messages, seen = [], set[str]()
    for row in rows:
        name = row["id"]
        if row["kind"] not in KINDS:
            messages.append(f"{name}: the kind {row['kind']!r} is none of {', '.join(KINDS)}")
        if name in seen:
            messages.append(f"{name}: two tasks have this name")
        if not row["gold"]:
            messages.append(f"{name}: it has no gold")
        if len(row["revision"]) != 40:
            messages.append(f"{name}: the revision is no whole hash")
        seen.add(name)
    return messages
