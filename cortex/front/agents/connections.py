"""Entries for Cortex in the files of agents, and a trial start of their commands."""

import asyncio
import contextlib
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from cortex.front.agents import record
from cortex.front.agents.edits import json_files
from cortex.front.agents.plan import BYTES_MAX, is_outdated, locate, places_of
from cortex.front.agents.table import AGENTS, Agent, ServerEntry
from cortex.system import files
from cortex.system.errors import Misconfigured, Unavailable
from cortex.system.git import search_path

#: the program that `cortex install` enters, and its arguments, for a project or any
PROGRAM, SERVES = "cortex", (("mcp",), ("mcp", "--for", "agent"), ("mcp", "--for", "program"))
#: placeholders for the open folder that editors replace
WORKSPACES = ("${workspaceFolder}", "${workspaceRoot}", "$PWD")
#: the requested version of MCP; a server answers with one that it supports
PROTOCOL = "2025-06-18"
#: maximum of seconds until the server has answered one call
ANSWER_S = 30.0
#: maximum of bytes of one line of its answer
LINE_BYTES_MAX = 4 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent's entry: the file, and the command as the agent would run it for the project.
    `of_project`: the file is the project's, which may have come with a clone.
    """

    agent: Agent
    path: Path
    command: tuple[str, ...]
    of_project: bool


def entries(root: Path) -> Iterator[Entry]:
    """Yield all agents' entries in the user's and the project's files; none of unreadable ones."""
    for agent in AGENTS:
        for scope in (agent.user, agent.project):
            if scope is None:
                continue
            path = locate(scope.server.path, root)
            with contextlib.suppress(OSError, ValueError):
                text = files.read_plain(path, BYTES_MAX).decode()
                if command := _entry_command(_entry_value(text, scope.server)):
                    words = tuple(_expand_workspace(word, root) for word in command)
                    yield Entry(agent, path, words, scope is agent.project)


def outdated(root: Path) -> str:
    """Return sentences about the files with texts of an older version, "" for none: entries without
    an audience, and rules or lists that name tools that agents are not offered. Entries that a
    person wrote do not count.
    """
    recorded: list[record.Entry] = []
    with contextlib.suppress(Misconfigured):
        recorded = record.read()
    older = {entry.path for entry in entries(root) if "--for" not in entry.command}
    older &= {Path(piece.path) for piece in recorded}
    for path in {Path(piece.path) for piece in recorded if is_outdated(piece.piece)}:
        with contextlib.suppress(OSError, ValueError):
            if is_outdated(files.read_plain(path, BYTES_MAX).decode()):
                older.add(path)
    sentences = []
    for scope, option in (("user", ""), ("project", " --project")):
        places = {place for agent in AGENTS for place in places_of(getattr(agent, scope), root)}
        if names := ", ".join(sorted(map(str, older & places))):
            sentences.append(f"An older version wrote {names}; `cortex install{option}` renews them.")
    return " ".join(sentences)


def _entry_value(text: str, server: ServerEntry) -> Any:
    """Return the value of an agent's entry, None for none. Raises ValueError."""
    if server.form == "json":
        return json_files.json_value(text, server.keys)
    if server.form == "toml":
        node: Any = tomllib.loads(text)
    else:
        import yaml

        try:
            node = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from error
    for key in server.keys:
        node = node.get(key) if isinstance(node, dict) else None
    if isinstance(node, list):
        server_name = server.shape(["", ""], ())["name"]
        node = next(
            (item for item in node if isinstance(item, dict) and item.get("name") == server_name), None
        )
    return node


def _entry_command(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return []
    first = value.get("command", value.get("cmd", ""))
    words = [*(first if isinstance(first, list) else [first]), *value.get("args", [])]
    return words if words[0] and all(isinstance(word, str) for word in words) else []


def _expand_workspace(word: str, root: Path) -> str:
    for name in WORKSPACES:
        word = word.replace(name, str(root))
    return word


def trial_command(entry: Entry, root: Path) -> tuple[str, ...]:
    """Return the command with which an entry is tried out; () for one in a project's file that is
    not as `cortex install` writes it: a clone can name any program, and any server.
    """
    if not entry.of_project:
        return entry.command
    program, *arguments = entry.command
    outside = search_path(root)
    programs = (shutil.which(PROGRAM, path=path) for path in (outside, os.path.dirname(sys.executable)))
    ours = {os.path.realpath(path): path for path in programs if path}
    named = shutil.which(program, path=outside) if program == PROGRAM else program
    our_program = ours.get(os.path.realpath(named or ""))
    is_installed = any(
        (*serve, *rest) == tuple(arguments) for serve in SERVES for rest in ((), ("--project", str(root)))
    )
    return (our_program, *arguments) if our_program and is_installed else ()


def try_out(command: Sequence[str], root: Path) -> str:
    """Run an agent's command in `root`, make a call; return the version. Raises Unavailable."""
    try:
        return asyncio.run(asyncio.wait_for(_ask(command, root), ANSWER_S))
    except TimeoutError as error:
        raise Unavailable(f"it gave no answer within {ANSWER_S:.0f} s") from error
    except OSError as error:
        raise Unavailable(f"it cannot be started: {error.strerror or error}") from error


async def _ask(command: Sequence[str], root: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=root,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LINE_BYTES_MAX,
        env=dict(os.environ),
    )
    assert process.stdin is not None
    try:
        params = {"protocolVersion": PROTOCOL, "capabilities": {}}
        params |= {"clientInfo": {"name": "cortex doctor", "version": "1"}}
        reply = await _call(process, 1, "initialize", params)
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        question = {"query": "main", "limit": 1, "detail": "location"}
        await _call(process, 2, "tools/call", {"name": "cortex_search", "arguments": question})
        return str(reply["serverInfo"]["version"])
    finally:
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            try:
                await asyncio.wait_for(process.wait(), 5)
            except TimeoutError:
                process.kill()


async def _call(process: asyncio.subprocess.Process, number: int, method: str, params: Any) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(orjson.dumps(message) + b"\n")
    while line := await process.stdout.readline():
        with contextlib.suppress(orjson.JSONDecodeError):
            reply = orjson.loads(line)
            if reply.get("id") != number:
                continue
            if "error" in reply:
                raise Unavailable(f"it answers: {reply['error'].get('message', reply['error'])}")
            result = reply["result"]
            if result.get("isError"):
                raise Unavailable(f"it answers: {result['content'][0].get('text', '')[:200]}")
            return result
    assert process.stderr is not None
    error_lines = (await process.stderr.read()).decode(errors="replace").strip().splitlines()
    raise Unavailable(f"it ended: {error_lines[-1][:200] if error_lines else 'without a word'}")
