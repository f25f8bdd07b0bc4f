"""A benchmark of an agent's cost for the lines it needs: Cortex, ripgrep and peers do the same
tasks.

    scripts/bench/agent.py --repos DIR [--work DIR] [--only NAME] [--kind KIND] [--system NAME]
        [--half open|judging] [--semble COMMAND] [--semble-model DIR] [--codegraph COMMAND]
        [--misses] [--json]
    scripts/bench/agent.py --repos DIR --make > PROPOSED    tasks from the repositories' history
    scripts/bench/agent.py --repos DIR --check              are the lines where the tasks say?

DIR of `--repos` holds mirrors with history, as DIR/<owner>+<name>/repo, DIR/<name> or
DIR/<name>.git; `--work` keeps the trees and indexes between runs. The tasks are tasks/agent.jsonl,
the revisions tasks/repositories.json; a repository that DIR lacks is left out, with a warning. A
task is a question and the lines needed to do it; each system gets the question as from an agent,
without a second query for missing lines; `explore+` makes a second query by rule.

tokens: bytes of the answers / 4. found: needed lines whose text an answer shows, with their file.
/1000: needed lines found for a thousand tokens. ms: one task, as the caller waits for it. The
difference to the first system is the mean over repositories, with its standard error. Half of the
repositories, by a hash of the name, are reserved for judging: tune with `--half open`.

`grep` is tasks/shell.py's policy; `semble` and `codegraph` (npm @colbymchenry/codegraph) are called
through their MCP servers.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from report import add_json, begin, print_machine, write
from tasks.asking import all_systems, measure
from tasks.figures import TaskResult, show, show_misses, summary, tabulate
from tasks.history import History
from tasks.records import (
    KINDS,
    Repository,
    as_line,
    faults,
    is_for_judging,
    read_repositories,
    read_tasks,
)
from tasks.trees import check_out, mirror_of


def write_figures(table: dict[str, Any], rows: Sequence[TaskResult], absent: Sequence[str]) -> None:
    """Write the file of figures: the tables, and the cost and lines of each task in each system."""
    tasks: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for row in rows:
        tasks[row.task.id][row.system] = [row.calls, row.tokens, row.lines_found, row.needed]
    write(begin("agent") | {"absent": list(absent)} | table | {"tasks": tasks})


def chosen_repositories(options: argparse.Namespace) -> tuple[list[tuple[Repository, Path]], list[str]]:
    """Return the chosen repositories with their mirrors, and the names of those that DIR lacks."""
    available, absent = [], []
    for repository in read_repositories():
        half = "judging" if is_for_judging(repository.name) else "open"
        if (options.only and repository.name not in options.only) or (options.half and options.half != half):
            continue
        mirror = mirror_of(options.repos, repository)
        if mirror:
            available.append((repository, mirror))
        else:
            absent.append(repository.name)
            print(
                f"{repository.name} is left out: no mirror of {repository.url} with its revision",
                file=sys.stderr,
            )
    return available, absent


def run(options: argparse.Namespace) -> int:
    repositories, absent = chosen_repositories(options)
    systems = all_systems(options)
    tasks = [task for task in read_tasks() if not options.kind or task.kind in options.kind]
    rows: list[TaskResult] = []
    for repository, mirror in repositories:
        repository_tasks = [task for task in tasks if task.repo == repository.name]
        for system in systems if repository_tasks else ():
            folder = check_out(mirror, repository, options.work / system.tree / repository.name)
            wrong = faults(repository_tasks, folder)
            if wrong or options.check:
                print("\n".join(wrong) or f"{repository.name}: {len(repository_tasks)} tasks", flush=True)
            if options.check:
                break
            rows += asyncio.run(measure(system, folder, repository_tasks))
            done = summary(
                [row for row in rows if row.system == system.name and row.task.repo == repository.name]
            )
            print(f"{repository.name:20}{system.name:12}{done}", file=sys.stderr, flush=True)
    if rows:
        names = [system.name for system in systems]
        table = tabulate(rows, names)
        print_machine(begin("agent"))
        show(table, names)
        if options.misses:
            show_misses(rows)
        if options.json:
            write_figures(table, rows, absent)
    return 0


def make(options: argparse.Namespace) -> int:
    for repository, mirror in chosen_repositories(options)[0]:
        for task in History(mirror, repository).propose():
            print(as_line(task), flush=True)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="folder that keeps trees and indexes; default: none")
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS, help="may be repeated")
    parser.add_argument("--system", action="append", default=[], help="may be repeated; default: all")
    parser.add_argument("--half", choices=("open", "judging"))
    parser.add_argument("--semble", default="semble", help="the command of its MCP server")
    parser.add_argument("--semble-model", default="", help="a folder or name; default: its own, downloaded")
    parser.add_argument("--codegraph", default="codegraph")
    parser.add_argument("--misses", action="store_true", help="list the needed lines that were not shown")
    parser.add_argument("--make", action="store_true", help="propose tasks from the history")
    parser.add_argument("--check", action="store_true", help="check the needed lines against the trees")
    add_json(parser)
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if options.make:
        return make(options)
    if options.work:
        options.work = options.work.resolve()
        return run(options)
    with tempfile.TemporaryDirectory(prefix="cortex-agent-") as folder:
        options.work = Path(folder)
        return run(options)


if __name__ == "__main__":
    sys.exit(main())
