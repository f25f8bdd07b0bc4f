"""A trial of an agent that searches until it is sure: it sees a project only through this program,
which logs the output of each look.

    scripts/bench/trial.py tasks [--repo NAME]
    scripts/bench/trial.py look --trees DIR --log FILE SYSTEM TASK COMMAND…
    scripts/bench/trial.py score --trees DIR --log FILE [--note TEXT] [--json]

`tasks` prints id, repository and question of tasks/agent.jsonl, without the needed lines. `look`
runs a command of SYSTEM (cortex: the `cortex` beside this Python; shell: rg, grep, find, ls, sed,
cat, head, tail, wc) in DIR/<repository> (the trees that agent.py --work makes) and prints its
output. The model or person in the trial is instructed to search as thriftily as usual, until every
needed line was printed; another does the same tasks with the other system.

looks: commands that were run. tokens: bytes of their output / 4. found: needed lines whose text was
printed by a look that names their file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from report import add_json, begin, print_machine, print_table, write
from tasks.answers import TOKEN_BYTES
from tasks.records import Task, read_tasks

#: system → the programs that it may run
PROGRAMS = {
    "cortex": {"cortex"},
    "shell": {"rg", "grep", "find", "ls", "sed", "cat", "head", "tail", "wc"},
}
#: seconds for a look; the first look at a project indexes it
LOOK_S = 180


def look(options: argparse.Namespace) -> int:
    program, *arguments = options.command
    if program not in PROGRAMS[options.system]:
        sys.exit(f"{options.system} may run {', '.join(sorted(PROGRAMS[options.system]))}; not {program}")
    folder = options.trees / find_task(options.task).repo
    command = [program, *arguments]
    if program == "cortex":
        command = [str(Path(sys.executable).with_name("cortex")), "--project", str(folder), *arguments]
    done = subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True, errors="replace", timeout=LOOK_S
    )
    row = {"system": options.system, "task": options.task, "command": options.command}
    with options.log.open("a", encoding="utf-8") as log:
        log.write(json.dumps(row | {"output": done.stdout + done.stderr}) + "\n")
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def find_task(name: str) -> Task:
    return next((task for task in read_tasks() if task.id == name), None) or sys.exit(f"no task {name}")


def found_lines(task: Task, looks: Iterable[dict[str, Any]], folder: Path) -> int:
    """Return how many of the task's needed lines the looks printed, with the name of their file."""
    outputs = [(row["output"], " ".join(row["command"])) for row in looks]
    count = 0
    for name, number in task.lines:
        line = (folder / name).read_text(encoding="utf-8", errors="replace").split("\n")[number - 1].strip()
        file = Path(name).name
        count += any(line in output and (file in output or file in command) for output, command in outputs)
    return count


def score(options: argparse.Namespace) -> int:
    looks: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(json.loads, options.log.read_text(encoding="utf-8").splitlines()):
        looks[row["task"]][row["system"]].append(row)
    tasks: dict[str, dict[str, list[int]]] = {}
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, systems in looks.items():
        task = find_task(name)
        tasks[name] = {}
        for system, rows in systems.items():
            tokens = sum(len(row["output"].encode()) for row in rows) // TOKEN_BYTES
            shown_count = found_lines(task, rows, options.trees / task.repo)
            tasks[name][system] = [len(rows), tokens, shown_count, len(task.lines)]
            totals[system] = [a + b for a, b in zip(totals[system], tasks[name][system], strict=True)]
    print_machine(begin("trial"))
    rows = [
        (name, system, *figures) for name, systems in tasks.items() for system, figures in systems.items()
    ]
    rows += [("all", system, *figures) for system, figures in totals.items()]
    print_table(("task", "system", "looks", "tokens", "found", "needed"), rows)
    if options.json:
        write(begin("trial") | {"note": options.note, "all": totals, "tasks": tasks})
    return 0


def show_tasks(options: argparse.Namespace) -> int:
    for task in read_tasks():
        if not options.repo or task.repo in options.repo:
            print(json.dumps({"id": task.id, "repo": task.repo, "task": task.question}, ensure_ascii=False))
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(required=True)
    tasks = parts.add_parser("tasks")
    tasks.set_defaults(run=show_tasks)
    tasks.add_argument("--repo", action="append", default=[], help="may be repeated")
    looking = parts.add_parser("look")
    looking.set_defaults(run=look)
    scoring = parts.add_parser("score")
    scoring.set_defaults(run=score)
    for subcommand in (looking, scoring):
        subcommand.add_argument("--trees", type=Path, required=True)
        subcommand.add_argument("--log", type=Path, required=True)
    looking.add_argument("system", choices=PROGRAMS)
    looking.add_argument("task")
    looking.add_argument("command", nargs=argparse.REMAINDER)
    scoring.add_argument("--note", default="", help="model or person of the trial, and the version")
    add_json(scoring)
    return parser.parse_args()


if __name__ == "__main__":
    options = arguments()
    sys.exit(options.run(options))
