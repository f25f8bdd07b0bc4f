"""Make the runs of fresh agents: a folder and a prompt for every four tasks of an arm.

    scripts/bench/agents/prompt.py --work DIR [--arm ARM …] [--task ID …] [--repetition NUMBER]

DIR is prepare.py's. Each run is DIR/runs/<arm>-<number>-<group>: `prompt.txt` for an agent that
knows nothing else, `look`, the only program that it may run, `log.jsonl` after its first look.
`--repetition` numbers the repetition (1, 2, …). The groups mix the kinds and are the same in each
arm. The prompt holds the texts of the arm's server for an agent (its instructions, its list of
tools) and the rules that its installation wrote; their tokens are in run.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from arms import ARMS, call, catalogue, count_tokens, prompt_map, server_of, tree_of  # noqa: E402 - scripts are no package
from gold import check_seal  # noqa: E402
from records import KINDS, Task, read_tasks  # noqa: E402

#: tasks of one agent
GROUP = 4
PROGRAMS = {
    "rg": "    {look} TASK rg ARGUMENTS…          ripgrep below the task's repository",
    "sed": "    {look} TASK sed -n 10,40p FILE     lines of a file",
}
TEXT = """\
You find places in code. Below are {count} tasks, each about one repository at one revision. The only
program that you may run is {look}, one command a call, from any folder:

{programs}
    {look} TASK answer PLACE…          your answer: places as path:12 or path:12-30

TASK is the task's id; paths are relative to its repository. Read nothing in any other way: no other
program, no other file, no network, no memory of the repository's later versions. Work as thriftily
as you usually do, and answer when you are as sure as you would be before editing. Answer each task
once, in the order below. Name every place that the task asks for, and no other: wrong places count
against you. A place is a function, or at most 80 lines of a long one; where a task asks for calls,
it is the line of the call.

* fix: the functions or lines that the fix has to change, in shipped sources, not in tests.
* how: the functions that one has to read to understand how it works, in shipped sources.
* breaks: the lines of the calls.

{server}# Tasks

{tasks}
"""


def groups(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the tasks in groups of four, the kinds mixed, in an order that never changes."""
    by_kind = [
        sorted((task for task in tasks if task.kind == kind), key=lambda task: task.id) for kind in KINDS
    ]
    longest = max(map(len, by_kind), default=0)
    mixed = [column[at] for at in range(longest) for column in by_kind if at < len(column)]
    return [mixed[at : at + GROUP] for at in range(0, len(mixed), GROUP)]


def maps_of(arm: str, work: Path, tasks: Sequence[Task]) -> list[str]:
    """Return what the hook of prompts adds to each task, "" for nothing."""
    if not ARMS[arm].maps:
        return [""] * len(tasks)
    maps = []
    for task in tasks:
        tree = tree_of(work, arm, task.repo, task.revision)
        asyncio.run(call(arm, work, tree, "cortex_exact", {"query": task.repo}))  # its workers run now
        maps.append(prompt_map(work, tree, task.question))
    return maps


def text_of(arm: str, tasks: Sequence[Task], look: str, listed: str, maps: Sequence[str]) -> str:
    programs = [PROGRAMS[tool].format(look=look) for tool in ARMS[arm].tools if tool in PROGRAMS]
    if server_of(arm):
        programs.append(
            f"    {look} TASK TOOL '{{\"key\": …}}'    a tool of the list below, with JSON arguments"
        )
    server = f"# Tools, and their instructions\n\n{listed}\n\n" if listed else ""
    rows = [
        "\n".join(filter(None, (f"{task.id} ({task.kind}; {task.repo}): {task.question}", shown)))
        for task, shown in zip(tasks, maps, strict=True)
    ]
    return TEXT.format(
        count=len(tasks), look=look, programs="\n".join(programs), server=server, tasks="\n\n".join(rows)
    )


def make_run(work: Path, arm: str, repetition: int, number: int, tasks: Sequence[Task]) -> Path:
    name = f"{arm}-{repetition}-{number}"
    folder = work.resolve() / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    look = folder / "look"
    program = f"{shlex.quote(sys.executable)} {shlex.quote(str(BENCH / 'agents' / 'arm.py'))}"
    path = f"PYTHONPATH={shlex.quote(os.environ['PYTHONPATH'])} " if "PYTHONPATH" in os.environ else ""
    look.write_text(f'#!/bin/sh\n{path}exec {program} {shlex.quote(str(folder))} "$@"\n')
    look.chmod(0o755)
    listed = ""
    if server_of(arm):
        first = tasks[0]
        tree = tree_of(work, arm, first.repo, first.revision)
        listed = asyncio.run(catalogue(arm, work.resolve(), tree))
    maps = maps_of(arm, work.resolve(), tasks)
    text = text_of(arm, tasks, str(look), listed, maps)
    list_tokens, prompt_tokens = count_tokens(["\n".join([listed, *filter(None, maps)]), text])
    (folder / "prompt.txt").write_text(text)
    (folder / "run.json").write_text(
        json.dumps(
            {
                "arm": arm,
                "run": name,
                "work": str(work.resolve()),
                "tasks": [task.id for task in tasks],
                "list_tokens": list_tokens,
                "prompt_tokens": prompt_tokens - list_tokens,
            },
            indent=1,
        )
    )
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--arm", action="append", default=[], choices=ARMS, help="may be repeated")
    parser.add_argument("--task", action="append", default=[], help="may be repeated; default: all")
    parser.add_argument("--repetition", type=int, default=1, help="the repetition's number (default: 1)")
    options = parser.parse_args()
    check_seal()
    tasks = [task for task in read_tasks() if not options.task or task.id in options.task]
    for arm in options.arm or ARMS:
        for number, group in enumerate(groups(tasks), 1):
            print(make_run(options.work, arm, options.repetition, number, group) / "prompt.txt", flush=True)


if __name__ == "__main__":
    main()
