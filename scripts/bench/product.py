"""The product as an agent uses it, for benchmarks: a project, a front, the official MCP client."""

from __future__ import annotations

import asyncio
import compileall
import contextlib
import math
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson
import psutil
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from report import ROOT

from cortex.ask.freshness import Freshness
from cortex.generation.read import Rows, open_rows
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.data import DataFolder
from cortex.terms.records import covers

CORTEX = str(Path(sys.executable).parent / "cortex")
#: seconds without any change after which an index counts as complete
QUIET_S = 5.0
#: seconds until an index must be complete
INDEX_S = 600.0
#: seconds until a server must listen
START_S = 60.0
NOWHERE = Path(os.devnull)


def compile_modules() -> None:
    """Compile Cortex' modules, as pip does for a package that it installs.

    Where PYTHONDONTWRITEBYTECODE is set, each process of a checkout would compile its imports.
    """
    for name in ("cortex", "ipc", "workers"):
        if not compileall.compile_dir(ROOT / name, quiet=1):
            raise SystemExit(f"the modules of {ROOT / name} cannot be compiled")


@contextlib.contextmanager
def isolated_environment(home: Path | None = None, **settings: object) -> Iterator[None]:
    """Give all processes started meanwhile a separate runtime folder and cache, and `settings`.

    `home`: a cache that remains.
    """
    compile_modules()
    runtime = tempfile.mkdtemp(prefix="cx", dir="/tmp")  # short, for paths of sockets
    names = {f"CORTEX_{name}".upper(): str(value) for name, value in settings.items()}
    names |= {"XDG_RUNTIME_DIR": runtime, "CORTEX_HOME": str(home or f"{runtime}/cache")}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        shutil.rmtree(runtime, ignore_errors=True)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@contextlib.contextmanager
def scratch_project(**settings: object) -> Iterator[Path]:
    """Make an empty project in an isolated environment; stop its processes and remove it in the
    end.
    """
    with (
        isolated_environment(**settings),
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        open_project(Path(folder)) as config,
    ):
        yield config.root


@contextlib.contextmanager
def open_project(root: Path) -> Iterator[configuration.Config]:
    """Yield the settings of the project in `root`; stop its processes in the end."""
    (root / ".git").mkdir(exist_ok=True)
    config = configuration.load(str(root.resolve()))
    try:
        yield config
    finally:
        attach.stop(config)


class Front:
    """A `cortex mcp` process; `started` is its start by time.perf_counter."""

    def __init__(self, session: ClientSession, started: float) -> None:
        self.session, self.started = session, started

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.session.call_tool(tool, arguments)
        answer: dict[str, Any] = orjson.loads(result.content[0].text)  # type: ignore[union-attr]
        return answer


def environment() -> dict[str, str]:
    """Return the variables that a front needs besides those that a client of MCP passes on.

    Without them it looks for its index in another folder than the `cortex index` before it.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name == "PATH" or name.startswith(("CORTEX_", "XDG_"))
    }


@contextlib.asynccontextmanager
async def connect(root: Path, program: str = CORTEX, audience: str = "program") -> AsyncIterator[Front]:
    """Open a front of the project, by the official client over standard input and output.

    `program` is `cortex`: this checkout's, or another's.
    """
    started = time.perf_counter()
    arguments = ["mcp", "--project", str(root), "--for", audience]
    parameters = StdioServerParameters(command=program, args=arguments, env=environment())
    with NOWHERE.open("w") as nowhere:  # noqa: ASYNC230 - nothing else runs yet
        async with (
            stdio_client(parameters, errlog=nowhere) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield Front(session, started)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A `cortex serve`: its address, a token, its process."""

    url: str
    token: str
    pid: int

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a POST. Raises urllib.error.HTTPError for a refusal."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", orjson.dumps(body), headers)
        with urllib.request.urlopen(request, timeout=START_S) as reply:
            return orjson.loads(reply.read())


@contextlib.contextmanager
def run_server(root: Path, command: Sequence[str] = ()) -> Iterator[RunningServer]:
    """Run a server of the project on a free port, ended by SIGTERM.

    `command` starts another server than `cortex serve`, which prints its address in the same way.
    """
    token = secrets.token_urlsafe(24)
    environment = os.environ | {"CORTEX_TOKEN": token, "CORTEX_MCP_SSE_PORT": "0"}
    command = command or [CORTEX, "serve", "--project", str(root), "--port", "0"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            yield RunningServer(_address(process, log), token, process.pid)
        finally:
            process.terminate()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: IO[bytes]) -> str:
    """Return the URL that a server prints when it listens."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        text = os.pread(log.fileno(), 1 << 16, 0).decode()
        if match := re.search(r" on (http://\S+)\n", text):
            return match[1]
        time.sleep(0.02)
    raise SystemExit(f"cortex serve does not listen: {os.pread(log.fileno(), 1 << 16, 0).decode()}")


def processes_of_set(owner: configuration.Config | DataFolder) -> dict[str, psutil.Process]:
    """Return the processes of a running set by name; {} if it does not run."""
    status = attach.set_status(owner)
    if not status["running"]:
        return {}
    pids = {"supervisor": status["pid"], "forkserver": status.get("fork_server", 0)} | {
        process["name"]: process["pid"] for process in status["processes"]
    }
    return {name: psutil.Process(pid) for name, pid in pids.items() if pid and psutil.pid_exists(pid)}


async def wait_until_indexed(root: Path, program: str = CORTEX, bound_s: float = INDEX_S) -> None:
    """Return once the whole index is served: no lane is missing, nothing changes for QUIET_S."""
    deadline = time.monotonic() + bound_s
    since, before = math.inf, None
    async with connect(root, program) as front:
        while time.monotonic() - since < QUIET_S:
            if time.monotonic() > deadline:
                raise SystemExit(f"{root} was not indexed in {bound_s:.0f} s")
            answer = await front.call("cortex_search", query="code", limit=1, detail="location")
            index = answer["index"]
            busy = any(index.get(key) for key in ("indexing", "publishing", "pending_count", "degraded"))
            if busy or index["generation"] != before or not answer["results"]:
                since, before = time.monotonic(), index["generation"]
            await asyncio.sleep(0.2)


def processes_of(root: Path) -> list[psutil.Process]:
    """Return every process but this one that names the project in its command line."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and any(str(root) in argument for argument in process.cmdline()):
                processes.append(process)
    return processes


def rows_of(config: configuration.Config) -> Rows:
    """Return the rows of the current index."""
    return open_rows(Freshness(config).current(), config.index_dir)


def covering_rows(rows: Rows) -> list[int]:
    """Return the places of the live rows that together hold every line once."""
    kinds = [at for at, name in enumerate(rows.names["type"]) if covers(name)]
    return np.flatnonzero(rows.live & np.isin(rows.columns["type"], kinds)).tolist()
