"""The systems of agent.py, the call that an agent would make with each, and the runs: through MCP,
or with ripgrep.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from systems import CORTEX
from tasks.answers import Piece, Reader, count_shown, parts_of, read_codegraph, read_cortex, read_semble
from tasks.figures import TaskResult
from tasks.records import Task
from tasks.shell import search

#: seconds for the index of a repository, for one call
INDEX_S, CALL_S = 1200, 120

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class System:
    """A system to run. `serve` is its MCP server, `index` the command to run before.

    Both run in the project's folder. `calls` gives the calls of a task. Systems of one `tree` share
    a copy of the repository. Without `serve`: ripgrep.
    """

    name: str
    tree: str
    serve: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    calls: Callable[[Task, Path], list[Call]] | None = None
    read: Reader | None = None
    warm_up: Call | None = None
    environment: dict[str, str] = field(default_factory=dict)


def ask_cortex(task: Task, _folder: Path, **more: Any) -> list[Call]:
    """Return the call that the server's instructions lead to; `more` are arguments for every tool
    that takes them.
    """
    detail = {key: value for key, value in more.items() if key in ("detail", "limit", "max_tokens")}
    file, _, line = task.path.partition(":")
    match task.kind:
        case "rename":
            return [("cortex_exact", {"query": task.target} | detail)]
        case "callers":
            return [("cortex_graph", {"operation": "callers", "target": task.target})]
        case "pattern":
            return [("cortex_pattern", {"pattern": task.pattern, "language": task.language})]
        case "module":
            return [("cortex_outline", {"path": task.path})]
        case "tests":
            return [("find_related", {"file": file, "line": int(line or 0)} | detail)]
        case _:
            return [("cortex_search", {"query": task.question} | detail)]


def ask_snippets(task: Task, folder: Path) -> list[Call]:
    return ask_cortex(task, folder, detail="snippet", limit=8)


def ask_explore(task: Task, _folder: Path) -> list[Call]:
    """Return one call for every kind: with the task's path if it has one, else the question."""
    at_hand = task.path if task.kind in ("module", "tests") else ""
    return [("cortex_explore", {"query": at_hand or task.question})]


def ask_twice(task: Task, folder: Path) -> list[Call]:
    """Return explore and cortex_search with the same question, as an agent that was not content and
    has learnt nothing.
    """
    return [*ask_explore(task, folder), ("cortex_search", {"query": task.question})]


def ask_full(task: Task, folder: Path) -> list[Call]:
    return ask_cortex(task, folder, detail="full")


def ask_semble(task: Task, folder: Path) -> list[Call]:
    return [("search", {"query": task.question, "repo": str(folder)})]


def ask_codegraph(task: Task, _folder: Path) -> list[Call]:
    return [("codegraph_explore", {"query": task.question})]


def all_systems(options: argparse.Namespace) -> list[System]:
    """Return every system that can run here, in the order of the table. A new system is a line
    here.
    """
    cortex = System(
        "cortex",
        "cortex",
        serve=(*CORTEX, "mcp", "--project", "."),
        index=(*CORTEX, "index", "--project", "."),
        stop=(*CORTEX, "down", "--project", "."),
        calls=ask_cortex,
        read=read_cortex,
    )
    home = str(options.work / "home")
    semble = System(
        "semble",
        "plain",
        serve=tuple(shlex.split(options.semble)),
        calls=ask_semble,
        read=read_semble,
        warm_up=("search", {"query": "warm up", "repo": "."}),
        environment={"HOME": home, "XDG_CACHE_HOME": home}
        | (
            {"SEMBLE_MODEL_NAME": options.semble_model, "HF_HUB_OFFLINE": "1"} if options.semble_model else {}
        ),
    )
    codegraph = System(
        "codegraph",
        "codegraph",
        serve=(*shlex.split(options.codegraph), "serve", "--mcp"),
        index=(*shlex.split(options.codegraph), "init", "."),
        calls=ask_codegraph,
        read=read_codegraph,
        warm_up=("codegraph_explore", {"query": "warm up"}),
        environment={"DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0", "CODEGRAPH_NO_DAEMON": "1"},
    )
    snippets = System(
        "snippet", "cortex", cortex.serve, cortex.index, cortex.stop, calls=ask_snippets, read=read_cortex
    )
    explore = System(
        "explore", "cortex", cortex.serve, cortex.index, cortex.stop, calls=ask_explore, read=read_cortex
    )
    twice = System(
        "explore+", "cortex", cortex.serve, cortex.index, cortex.stop, calls=ask_twice, read=read_cortex
    )
    full = System("full", "cortex", cortex.serve, cortex.index, cortex.stop, calls=ask_full, read=read_cortex)
    systems = [System("grep", "plain"), cortex, full, snippets, explore, twice, semble, codegraph]
    selected = [system for system in systems if not options.system or system.name in options.system]
    return [system for system in selected if _is_installed(system)]


def _is_installed(system: System) -> bool:
    program = system.serve[0] if system.serve else "rg"
    if shutil.which(program):
        return True
    print(f"{system.name} is left out: there is no {program}", file=sys.stderr)
    return False


async def measure(system: System, folder: Path, tasks: Sequence[Task]) -> list[TaskResult]:
    """Run all tasks of one repository in one system."""
    if not system.serve:
        return [_ask_shell(system, folder, task) for task in tasks]
    if system.index:
        _run(system, system.index, folder, INDEX_S)
    parameters = StdioServerParameters(
        command=system.serve[0],
        args=list(system.serve[1:]),
        cwd=folder,
        env=dict(os.environ) | system.environment,
    )
    try:
        async with (
            stdio_client(parameters, errlog=_silence()) as (read, write),
            ClientSession(read, write) as session,
        ):
            await asyncio.wait_for(session.initialize(), CALL_S)
            await _wait_until_served(system, session, folder)
            return [await _ask(system, session, folder, task) for task in tasks]
    finally:
        if system.stop:
            _run(system, system.stop, folder, CALL_S)


def _run(system: System, command: Sequence[str], folder: Path, seconds: float) -> None:
    """Run a program in the project's folder, which becomes a project of its own."""
    if system.tree == "cortex":
        (folder / ".cortex").mkdir(exist_ok=True)
        (folder / ".cortex" / "config.yml").touch()
    subprocess.run(
        command,
        cwd=folder,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        env=dict(os.environ) | system.environment,
    )


def _silence() -> Any:
    return Path(os.devnull).open("w")


async def _wait_until_served(system: System, session: ClientSession, folder: Path) -> None:
    """Wait until the index is served.

    The first call may build an index; Cortex's answers say when it is complete.
    """
    if system.warm_up:
        tool, arguments = system.warm_up
        arguments = {key: str(folder) if value == "." else value for key, value in arguments.items()}
        await asyncio.wait_for(session.call_tool(tool, arguments), INDEX_S)
        return
    deadline = time.monotonic() + INDEX_S
    while time.monotonic() < deadline:
        arguments = {"query": "warm up", "limit": 1, "detail": "location"}
        reply = await asyncio.wait_for(session.call_tool("cortex_search", arguments), CALL_S)
        index = json.loads(reply.content[0].text).get("index", {})
        busy = (
            index.get("pending_count")
            or index.get("degraded")
            or "indexing" in index
            or "publishing" in index
        )
        if index.get("generation") and not busy:
            return
        await asyncio.sleep(0.5)
    raise SystemExit(f"{folder}: the index was not served in time")


@dataclass
class _Answer:
    """The replies for one task."""

    calls: int = 0
    bytes: int = 0
    ms: float = 0.0
    pieces: list[Piece] = field(default_factory=list)
    parts: Counter[str] = field(default_factory=Counter)
    error: str = ""


async def _ask(system: System, session: ClientSession, folder: Path, task: Task) -> TaskResult:
    assert system.calls is not None
    assert system.read is not None
    answer, texts = _Answer(), []
    started = time.perf_counter()
    for tool, arguments in task.calls.get(system.name) or system.calls(task, folder):
        answer.calls += 1
        try:
            reply = await asyncio.wait_for(session.call_tool(tool, arguments), CALL_S)
            texts.append("\n".join(getattr(block, "text", "") for block in reply.content))
            answer.error = texts[-1] if reply.is_error else answer.error
        except (MCPError, TimeoutError) as error:  # the agent reads its sentence
            answer.error = f"{type(error).__name__}: {error}"
            texts.append(answer.error)
    answer.ms = 1000 * (time.perf_counter() - started)
    for text in texts:
        answer.bytes += len(text.encode())
        answer.pieces += system.read(text)
        answer.parts += parts_of(text) if system.tree == "cortex" else Counter()
    return _score(system, folder, task, answer)


def _ask_shell(system: System, folder: Path, task: Task) -> TaskResult:
    started = time.perf_counter()
    shell = search(task, folder)
    ms = 1000 * (time.perf_counter() - started)
    return _score(system, folder, task, _Answer(shell.calls, shell.bytes, ms, shell.pieces))


def _score(system: System, folder: Path, task: Task, answer: _Answer) -> TaskResult:
    lines = {
        file: (folder / file).read_text(encoding="utf-8", errors="replace").split("\n")
        for file, _ in task.lines
    }
    needed = {(file, number): lines[file][number - 1] for file, number in task.lines}
    missing = tuple(
        f"{line[0]}:{line[1]}" for line in needed if not count_shown([line], needed, answer.pieces)
    )
    return TaskResult(
        system=system.name,
        task=task,
        calls=answer.calls,
        bytes=answer.bytes,
        lines_found=len(needed) - len(missing),
        ms=answer.ms,
        missing=missing,
        parts=answer.parts,
        error=answer.error,
    )
