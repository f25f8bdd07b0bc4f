"""The tasks of agent.py, the lines that they need, and the half of the repositories for judging.
Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
#: every kind of task; `tests/scripts/test_bench_agent.py` holds the list to it
KINDS = (
    "commit",
    "trace",
    "rename",
    "stack",
    "error",
    "pattern",
    "option",
    "module",
    "callers",
    "list",
    "tests",
    "config",
    "cross",
)


@dataclass(frozen=True)
class Place:
    """Lines `start` to `end` of a file, 1-based and inclusive.

    `has` is a word in them: it shows that the tree is the one for which the task was made.
    """

    file: str
    start: int
    end: int
    has: str = ""

    def lines(self) -> Iterator[tuple[str, int]]:
        return ((self.file, number) for number in range(self.start, self.end + 1))


@dataclass(frozen=True)
class Task:
    """A task. `question` is all that the agent knows, with the `target`, `path` or `pattern` in it.

    `target` is a symbol; `path` a file or folder, or `file:line`; `pattern` is of cortex_pattern,
    in `language`. `grep` are patterns in place of generated ones; `calls` replaces the calls of a
    system, by its name. `doubt`: why other lines might be needed.
    """

    id: str
    repo: str
    kind: str
    question: str
    needed: tuple[Place, ...]
    target: str = ""
    path: str = ""
    pattern: str = ""
    language: str = ""
    grep: tuple[str, ...] = ()
    calls: dict[str, list[Any]] = field(default_factory=dict)
    commit: str = ""
    doubt: str = ""

    @property
    def lines(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys(line for place in self.needed for line in place.lines()))


@dataclass(frozen=True)
class Repository:
    """A repository. `revision` is indexed; `note` is why it differs from the ranking
    benchmark's.
    """

    name: str
    language: str
    url: str
    revision: str
    note: str = ""

    @property
    def owner_name(self) -> str:
        return self.url.removesuffix(".git").split("github.com/")[1]


def read_tasks(file: Path = FOLDER / "agent.jsonl") -> list[Task]:
    tasks = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        needed = tuple(Place(**place) for place in row.pop("needed"))
        tasks.append(Task(**row | {"needed": needed, "grep": tuple(row.get("grep", ()))}))
    return tasks


def read_repositories(file: Path = FOLDER / "repositories.json") -> list[Repository]:
    rows = json.loads(file.read_text(encoding="utf-8"))
    return [Repository(**row) for row in rows]


def as_line(task: Task) -> str:
    """Return the task as a line of agent.jsonl, without empty fields."""
    row = {key: value for key, value in asdict(task).items() if value}
    row["needed"] = [{key: value for key, value in place.items() if value} for place in row["needed"]]
    return json.dumps(row, ensure_ascii=False)


def is_for_judging(repo: str) -> bool:
    """Return whether the repository is in the half for judging, which nobody tunes on.

    The name alone decides, so that it stays there.
    """
    return hashlib.sha256(repo.encode()).digest()[0] % 2 == 1


def faults(tasks: Iterable[Task], folder: Path) -> list[str]:
    """Return faults of tasks: places that do not exist in the tree `folder`, or have changed."""
    messages = []
    for task in tasks:
        for place in task.needed:
            file = folder / place.file
            lines = file.read_text(encoding="utf-8", errors="replace").split("\n") if file.is_file() else []
            text = lines[place.start - 1 : place.end]
            if len(text) != place.end - place.start + 1 or place.start < 1:
                messages.append(f"{task.id}: {place.file} has no lines {place.start} to {place.end}")
            elif place.has not in "\n".join(text):
                messages.append(f"{task.id}: {place.file}:{place.start} does not hold {place.has!r}")
    return messages
