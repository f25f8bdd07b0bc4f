"""The arms: the programs of each, its trees, its servers, and the tokens of a text."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Any

from environments import lines_of, node_with
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation

FOLDER = Path(__file__).parent
#: Node for the counter of tokens and codegraph's shim
NODE = "22.23.3"
#: the client's name, by which a server may choose the tools that it lists
CLIENT = Implementation(name="claude-code", version="2.0.0")
#: seconds for one call of a server; the first call may build an index
CALL_S = 300


@dataclass(frozen=True)
class Arm:
    """`tools`: the programs and servers that it may use; `tree`: the folder of its trees; `maps`:
    whether the hook of prompts adds its map to each task.
    """

    tools: tuple[str, ...]
    tree: str
    maps: bool = False


ARMS = {
    "rg": Arm(("rg", "sed"), "plain"),
    "rg_cortex": Arm(("rg", "sed", "cortex"), "cortex"),
    "cortex": Arm(("cortex", "sed"), "cortex"),
    "cortex_hook": Arm(("cortex", "sed"), "cortex", maps=True),
    "codegraph": Arm(("codegraph", "sed"), "codegraph"),
}
SERVERS = ("cortex", "codegraph")


def tree_of(work: Path, arm: str, repo: str, revision: str) -> Path:
    return work.resolve() / "trees" / ARMS[arm].tree / f"{repo.replace('/', '+')}-{revision[:9]}"


def server_of(arm: str) -> str:
    """Return the arm's server; "" for none."""
    return next((tool for tool in ARMS[arm].tools if tool in SERVERS), "")


def node_modules() -> tuple[Path, Path]:
    return node_with("agents", lines_of(FOLDER / "agents.lock"), NODE)


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the tokens of each text, by o200k_base."""
    node, modules = node_modules()
    done = run(
        [node, FOLDER / "tokens.cjs", modules],
        input=json.dumps(list(texts)),
        check=True,
        capture_output=True,
        text=True,
    )
    counts: list[int] = json.loads(done.stdout)
    return counts


def codegraph_command() -> tuple[list[str], dict[str, str]]:
    """Return (codegraph's command, its variables): no daemon, nothing sent."""
    node, modules = node_modules()
    command = [str(node), str(modules / "@colbymchenry" / "codegraph" / "npm-shim.js")]
    return command, {"DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0", "CODEGRAPH_NO_DAEMON": "1"}


def cortex_environment(work: Path) -> dict[str, str]:
    """Return the variables of an isolated Cortex: a home, a cache and short paths of sockets."""
    home = work.resolve() / "home"
    runtime = Path("/tmp", f"cxa{hashlib.sha256(str(home).encode()).hexdigest()[:8]}")
    runtime.mkdir(mode=0o700, exist_ok=True)
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    variables = {
        "HOME": str(home),
        "CORTEX_HOME": str(home / "cortex"),
        "XDG_RUNTIME_DIR": str(runtime),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    inherited = {name: os.environ[name] for name in ("PYTHONPATH", "LANG") if name in os.environ}
    return variables | inherited


def prompt_map(work: Path, tree: Path, prompt: str) -> str:
    """Return what the hook of prompts prints for a prompt; its workers must be running."""
    done = run(
        [Path(sys.executable).parent / "cortex-hook", "prompt", "--map"],
        input=json.dumps({"prompt": prompt, "cwd": str(tree), "session_id": "bench"}),
        env=cortex_environment(work),
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
        timeout=CALL_S,
    )
    return done.stdout.strip()


def installed_rules(work: Path) -> str:
    """Return the rules that `cortex install` wrote for the agent; "" for none."""
    file = work / "home" / ".claude" / "CLAUDE.md"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def server_parameters(arm: str, work: Path, tree: Path) -> StdioServerParameters:
    """Return how the arm's server is started: Cortex by the entry that its `install` wrote."""
    if server_of(arm) == "codegraph":
        command, variables = codegraph_command()
        return StdioServerParameters(
            command=command[0],
            args=[*command[1:], "serve", "--mcp"],
            cwd=tree,
            env=dict(os.environ) | variables,
        )
    settings = json.loads((work / "home" / ".claude.json").read_text(encoding="utf-8"))
    entry = settings["mcpServers"]["cortex"]
    environment = cortex_environment(work) | entry.get("env", {})
    return StdioServerParameters(command=entry["command"], args=entry["args"], cwd=tree, env=environment)


@asynccontextmanager
async def connect(arm: str, work: Path, tree: Path) -> AsyncIterator[tuple[ClientSession, Any]]:
    """Yield (a session with the arm's server, the answer to its initialisation)."""
    with Path(os.devnull).open("w") as nowhere:  # noqa: ASYNC230 - nothing else runs yet
        async with (
            stdio_client(server_parameters(arm, work, tree), errlog=nowhere) as (read, write),
            ClientSession(read, write, client_info=CLIENT) as session,
        ):
            yield session, await asyncio.wait_for(session.initialize(), CALL_S)


async def call(arm: str, work: Path, tree: Path, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """Return (the text of a tool's answer, whether it is an error)."""
    async with connect(arm, work, tree) as (session, _):
        try:
            reply = await asyncio.wait_for(session.call_tool(tool, arguments), CALL_S)
        except (MCPError, TimeoutError) as error:  # the agent reads its sentence
            return f"{type(error).__name__}: {error}", True
        text = "\n".join(getattr(block, "text", "") for block in reply.content)
        return text, bool(reply.is_error)


async def catalogue(arm: str, work: Path, tree: Path) -> str:
    """Return the text that an agent reads before its first question: instructions, tools, rules."""
    async with connect(arm, work, tree) as (session, start):
        listed = await asyncio.wait_for(session.list_tools(), CALL_S)
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in listed.tools
    ]
    rules = installed_rules(work) if server_of(arm) == "cortex" else ""
    lines = [start.instructions or "", *(json.dumps(tool, ensure_ascii=False) for tool in tools), rules]
    return "\n".join(line for line in lines if line)
