"""A small project with real processes around it: fronts through the official MCP client, and checks
for processes that are left running.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.system.errors import Unavailable
from tests import forked_commands
from tests.left_processes import processes_of, wait_for_end
from tests.wait_until import BOUND_S, until

#: seconds after which a call counts as hanging: the default deadline, and room for a loaded machine
CALL_S = 20.0

BIN = Path(sys.executable).parent

SOURCES = {
    "auth/login.py": '''"""Signing users in."""

MAX_ATTEMPTS = 5


def check_password(name: str, password: str) -> bool:
    """Compare the password with the stored hash in constant time."""
    return len(password) > MAX_ATTEMPTS and name != ""
''',
    "store/ledger.go": """package store

// Ledger keeps the balance of every account.
type Ledger struct{ balance map[string]int }

// TransferFunds moves money between two accounts.
func (l *Ledger) TransferFunds(from, to string, amount int) error { return nil }
""",
    "docs/guide.md": "# Guide\n\n## Retry policy\n\nRequests are repeated with exponential backoff and jitter.\n",
}
#: a keyword that is in one file only → that file
FACTS = {
    "check_password": "auth/login.py",
    "TransferFunds": "store/ledger.go",
    "jitter": "docs/guide.md",
}


class Front:
    """A `cortex mcp` process with the official client."""

    def __init__(self, session: ClientSession, pid: int) -> None:
        self.session = session
        self.pid = pid

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        async with asyncio.timeout(CALL_S):
            result = await self.session.call_tool(tool, arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = orjson.loads(result.content[0].text)
        return answer

    async def files(self, tool: str, query: str) -> list[str]:
        answer = await self.call(tool, query=query)
        return [hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]]

    async def until_complete(self) -> None:
        """Return when the index is complete and every lane answers."""
        async with asyncio.timeout(BOUND_S):
            while True:
                with contextlib.suppress(Exception):
                    if await self._answers_all():
                        return
                await asyncio.sleep(0.05)

    async def _answers_all(self) -> bool:
        """Whether each question has a complete answer; the first without one is the last asked, as
        questions take time from the indexing that is waited for.
        """
        for word, path in FACTS.items():
            for tool in ("cortex_search", "cortex_exact"):
                if not _complete(await self.call(tool, query=word), path):
                    return False
        return True

    async def until_found(self, word: str, path: str) -> None:
        """Return when the keyword `word` is found in `path`."""
        async with asyncio.timeout(BOUND_S):
            while True:
                with contextlib.suppress(Exception):
                    if path in await self.files("cortex_exact", word):
                        return
                await asyncio.sleep(0.05)


def _complete(answer: dict[str, Any], path: str) -> bool:
    index = answer["index"]
    paths = [hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]]
    return path in paths and not index["degraded"] and not index.get("pending_count")


@dataclass
class Project:
    root: Path
    environment: dict[str, str]

    @property
    def config(self) -> configuration.Config:
        return configuration.load(self.root)

    @contextlib.asynccontextmanager
    async def front(self, *options: str, before: Sequence[str] = ()) -> AsyncIterator[Front]:
        """Open a front; `before`: a command that starts it."""
        earlier_children = {child.pid for child in psutil.Process().children()}
        command = [*before, str(BIN / "cortex"), "mcp", *options, "--project", str(self.root)]
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=self.environment)
        with (self.root.parent / "front.log").open("a") as log:
            async with stdio_client(parameters, errlog=log) as (read, write):
                pid = next(
                    child.pid for child in psutil.Process().children() if child.pid not in earlier_children
                )
                async with ClientSession(read, write) as session:
                    await session.initialize()
                    yield Front(session, pid)

    def spawn(self, *arguments: str, program: str = "cortex", **options: Any) -> subprocess.Popen[bytes]:
        """Start a process that keeps running; the fixture ends it if the test does not."""
        command = [str(BIN / program), *arguments]
        return subprocess.Popen(command, env=os.environ | self.environment, cwd=self.root, **options)

    def run(self, *arguments: str, forked: bool = True) -> subprocess.CompletedProcess[str]:
        return forked_commands.run(
            [*arguments, "--project", str(self.root)],
            cwd=self.root,
            env=os.environ | self.environment,
            timeout=BOUND_S,
            forked=forked,
        )

    def status(self) -> dict[str, Any]:
        return attach.set_status(self.config)

    def members(self) -> dict[str, dict[str, Any]]:
        return {process["name"]: process for process in self.status()["processes"]}

    def member(self, name: str) -> dict[str, Any]:
        """Return the named process once it is running."""
        running: dict[str, Any] = until(
            lambda: (entry := self.members().get(name, {})).get("state") == "running" and entry,
            f"{name} running",
        )
        return running

    def processes(self) -> list[psutil.Process]:
        """Return every process that names this project or its memory in its command line, or works
        in it, except this one.
        """
        return processes_of(*self._places())

    def _places(self) -> list[Path]:
        memory = self.environment.get("CORTEX_MEMORY_DATA_DIR")
        return [self.root, *([Path(memory)] if memory else [])]

    def describe(self) -> str:
        lines = []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                lines.append(f"{process.pid} {' '.join(process.cmdline())[:200]}")
        return "\n".join(lines)

    def nothing_left(self) -> None:
        try:
            wait_for_end(*self._places())
        except AssertionError as error:
            raise AssertionError(f"left running:\n{self.describe()}") from error


@pytest.fixture
def project(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    with make_project(tmp_path, cache, monkeypatch) as new_project:
        yield new_project


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Project]:
    """A project for all tests of a module, which only read: its set starts once and stays between
    them.
    """
    with (
        pytest.MonkeyPatch.context() as patch,
        make_project(tmp_path_factory.mktemp("shared"), cache, patch, idle_exit_s=60) as new_project,
    ):
        yield new_project


@contextlib.contextmanager
def make_project(
    folder: Path, cache: Path, patch: pytest.MonkeyPatch, *, idle_exit_s: int = 1
) -> Iterator[Project]:
    """Make a project in `folder`; on leaving, its processes must end."""
    short = tempfile.mkdtemp(prefix="cx", dir="/tmp")
    environment = {
        "XDG_RUNTIME_DIR": short,
        "XDG_CONFIG_HOME": str(folder / "config"),
        "CORTEX_HOME": str(cache),
        "CORTEX_MEMORY_DATA_DIR": str(folder / "memory"),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "CORTEX_SERVER_IDLE_EXIT_S": str(idle_exit_s),
        "CORTEX_SERVER_DEBOUNCE_MS": "50",
        "CORTEX_INDEXING_DEBOUNCE_MS": "50",
    }
    for name, value in environment.items():
        patch.setenv(name, value)
    root = folder / "project"
    for name, text in SOURCES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / ".git").mkdir()
    new_project = Project(root.resolve(), environment)
    try:
        yield new_project
        with contextlib.suppress(Unavailable):
            attach.stop(new_project.config)
            attach.stop(new_project.config.data)
        new_project.nothing_left()
    finally:
        for process in new_project.processes():
            with contextlib.suppress(psutil.Error):
                process.kill()
        shutil.rmtree(short, ignore_errors=True)  # a process that ends removes its socket meanwhile


@pytest.fixture
def facts() -> dict[str, str]:
    """A keyword that is in one file of the project only → that file."""
    return FACTS
