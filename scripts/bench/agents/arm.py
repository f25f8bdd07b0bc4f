"""One look of an agent: run a command of its arm, print the output, and log both.

    scripts/bench/agents/arm.py RUN TASK COMMAND…

RUN is a folder that prompt.py made; the agent knows only its `look`. COMMAND is one of the arm's:

    rg ARGUMENTS          ripgrep below the task's repository
    sed -n A,Bp FILE      lines of a file
    TOOL '{"key": …}'     a tool of the arm's server, with its arguments as JSON
    answer PLACE…         the places, as path:12 or path:12-30; it ends the task

Anything else is refused, and so are paths outside the repository and the folders of git and of an
index. A line of the log: task, command, output (cut as an agent's shell cuts it), its tokens, the
lines that it shows, seconds, exit. The log is the result.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from arms import ARMS, call, count_tokens, server_of, tree_of  # noqa: E402 - scripts are no package
from records import find_task, parse_place  # noqa: E402
from shown import shown_lines  # noqa: E402

#: characters of an output; an agent's shell leaves out the rest
OUTPUT_CHARS_MAX = 30_000
#: seconds for rg and sed
SHELL_S = 60
#: folders that no arm sees
HIDDEN = (".git", ".cortex", ".codegraph")
#: options of rg that run a program or read a file of options, or leave the tree
REFUSED_OPTIONS = re.compile(
    r"^(--pre|--pre-glob|--hostname-bin|--search-zip|--ignore-file|--follow)(=|$)|^-[A-Za-z]*[zL]"
)
#: the only scripts of sed: print lines
SED_SCRIPT = re.compile(r"^(\d+(,(\d+|\$|\+\d+))?p;?\s*)+$")


class RefusedError(Exception):
    """A command that the arm may not run; the agent reads the sentence."""


def check_path(text: str, tree: Path) -> None:
    """Raise RefusedError for a path outside the tree or in a hidden folder."""
    place = (tree / text).resolve()
    if not place.is_relative_to(tree.resolve()):
        raise RefusedError(f"{text} is outside the repository.")
    if place != tree.resolve() and place.relative_to(tree.resolve()).parts[0] in HIDDEN:
        raise RefusedError(f"{text} is no part of the repository's sources.")


def shell_command(command: Sequence[str], tree: Path) -> list[str]:
    """Return the command as it is run; raise RefusedError for one that the arms may not run."""
    program, *arguments = command
    if program == "sed":
        if len(arguments) < 3 or arguments[0] != "-n" or not SED_SCRIPT.match(arguments[1]):
            raise RefusedError("sed is run as: sed -n 10,40p FILE")
        for name in arguments[2:]:
            check_path(name, tree)
        return [program, *arguments[:2], "--", *arguments[2:]]
    options = True
    for argument in arguments:
        options = options and argument != "--"
        if options and REFUSED_OPTIONS.search(argument):
            raise RefusedError(f"rg may not be run with {argument}.")
        if argument.startswith(("/", "~")) or ".." in Path(argument).parts or (tree / argument).exists():
            check_path(argument, tree)
    hidden = [option for name in HIDDEN for option in ("--glob", f"!{name}")]
    return [program, "--no-config", "--color=never", *hidden, *arguments]


def run_shell(command: Sequence[str], tree: Path) -> tuple[str, int]:
    done = subprocess.run(
        shell_command(command, tree),
        check=False,
        cwd=tree,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=SHELL_S,
    )
    return (done.stdout + done.stderr).decode("utf-8", "replace"), done.returncode


def run_tool(arm: str, work: Path, tree: Path, command: Sequence[str]) -> tuple[str, int]:
    tool, *rest = command
    try:
        arguments: Any = json.loads(rest[0]) if rest else {}
    except json.JSONDecodeError as error:
        raise RefusedError(f"The arguments of {tool} are no JSON: {error}.") from error
    if len(rest) > 1 or not isinstance(arguments, dict):
        raise RefusedError(f"{tool} takes one JSON object.")
    text, failed = asyncio.run(call(arm, work, tree, tool, arguments))
    return text, int(failed)


def look(run: dict[str, Any], log: Path, task_id: str, command: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Return (the line of the log, the output)."""
    arm, work = run["arm"], Path(run["work"])
    if task_id not in run["tasks"]:
        raise RefusedError(f"{task_id} is none of {', '.join(run['tasks'])}.")
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if any(row["task"] == task_id and row["command"][0] == "answer" for row in rows):
        raise RefusedError(f"{task_id} has been answered.")
    task = find_task(task_id)
    tree = tree_of(work, arm, task.repo, task.revision)
    started = time.perf_counter()
    if command[0] == "answer":
        wrong = [text for text in command[1:] if parse_place(text) is None]
        if wrong or not command[1:]:
            raise RefusedError(f"A place is path:12 or path:12-30, not {wrong[0] if wrong else 'nothing'}.")
        output, code = "Answered.\n", 0
    elif command[0] in ("rg", "sed"):
        if command[0] not in ARMS[arm].tools:
            raise RefusedError(f"There is no {command[0]}.")
        try:
            output, code = run_shell(command, tree)
        except subprocess.TimeoutExpired:
            output, code = f"Stopped after {SHELL_S} seconds.\n", 124
    elif server_of(arm):
        output, code = run_tool(arm, work, tree, command)
    else:
        raise RefusedError(f"There is no {command[0]}.")
    if len(output) > OUTPUT_CHARS_MAX:
        output = output[:OUTPUT_CHARS_MAX] + "\n[the rest is left out]\n"
    row = {
        "arm": arm,
        "run": run["run"],
        "task": task_id,
        "command": list(command),
        "seconds": round(time.perf_counter() - started, 2),
        "exit": code,
        "shown": [] if command[0] == "answer" else shown_lines(output, command, tree),
    }
    return row, output


def write_row(log: Path, row: dict[str, Any], output: str) -> None:
    """Append the line, with the tokens of the command and of its output."""
    command_tokens, output_tokens = count_tokens([" ".join(row["command"]), output])
    row |= {
        "command_tokens": command_tokens,
        "tokens": output_tokens,
        "sha256": hashlib.sha256(output.encode()).hexdigest(),
        "output": output,
    }
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> int:
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    folder, task_id, command = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    run, log = json.loads((folder / "run.json").read_text()), folder / "log.jsonl"
    try:
        row, output = look(run, log, task_id, command)
    except RefusedError as error:
        output = f"{error}\n"
        row = {
            "arm": run["arm"],
            "run": run["run"],
            "task": task_id,
            "command": ["refused", *command],
            "seconds": 0.0,
            "exit": 2,
            "shown": [],
        }
    write_row(log, row, output)
    sys.stdout.write(output)
    return int(row["exit"])


if __name__ == "__main__":
    sys.exit(main())
