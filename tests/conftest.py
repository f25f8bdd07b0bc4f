"""The whole of Cortex in one process, without a socket: indexed, published, and queried through the
workers' own handlers.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine, create_engine, event

# One thread for each product of matrices, as in Cortex's own processes: else the tests of several
# pytests have more threads than there are cores, and these wait for each other by turning.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

with contextlib.suppress(ImportError):
    import onnxruntime  # noqa: F401 - crashes when usearch is loaded before it, see embedders/onnx

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.engines import ENGINES
from cortex.engines.serving import EngineWorker
from cortex.indexer.run import index
from cortex.memory.find.newer.replacement_model import ReplacementModel
from cortex.memory.find.newer.replacements import Replacements
from cortex.memory.store import driver
from cortex.memory.store.database import LOCK, Database
from cortex.memory.team import postgresql
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.system.errors import CortexError, Unavailable
from ipc.codec import decode, encode
from ipc.messages import Answers, Several
from ipc.service import answer
from tests.drawn_examples import EXAMPLES
from workers import vector

# The time of a drawn example shows how busy the machine is, and nothing about the code.
for profile, number in EXAMPLES.items():
    settings.register_profile(
        profile, deadline=None, max_examples=number, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("day")


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's cache folder of all tests, with the folders of the user's configuration and
    memory: no test writes to a real one, or depends on its files.
    """
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache") / "cortex"
        patch.setenv("CORTEX_HOME", str(folder))
        patch.setenv("CORTEX_MEMORY_DATA_DIR", str(folder.with_name("memory")))
        patch.setenv("XDG_CONFIG_HOME", str(folder.with_name("config")))
        for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):  # no real sessions are read
            patch.setenv(variable, str(folder.with_name("sessions")))
        yield folder


@pytest.fixture(autouse=True, scope="session")
def replacement_model() -> Iterator[None]:
    """The weights of the model that reads notes, loaded once: each memory takes 50 ms for that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Replacements.__init__, "__defaults__", (functools.cache(ReplacementModel),))
        yield


@pytest.fixture(autouse=True, scope="session")
def statements() -> Iterator[None]:
    """The statements of a kind of database, compiled once: each engine compiles its own, which is a
    quarter of a memory's work in a test.
    """
    connected: dict[Any, Engine] = {}

    def make(url: str, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        kind = engine.dialect.dbapi
        if first := connected.get(kind):
            engine.dialect, engine._compiled_cache = first.dialect, first._compiled_cache
        else:  # a dialect is complete after the first connection
            event.listen(engine, "connect", lambda *_: connected.setdefault(kind, engine))
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "create_engine", make)
        patch.setattr(postgresql, "create_engine", make)
        yield


#: new objects between two rounds of the garbage collector, in place of 700: the rounds were a tenth
#: of the work of the graph's tests
NEW_OBJECTS = 20_000


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the garbage collector the tests, which live to the end: it would look at them in each
    round, a fifth of the time of collecting.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()


#: processes of `pytest -n auto`, at most: each takes some hundred megabytes
WORKERS_MAX = 8


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one more than there are cores: tests spend much time waiting for a process."""
    return min(WORKERS_MAX, (os.cpu_count() or 1) + 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", help="package.module:Maker of an engine, for tests/engines/test_contract.py")
    parser.addoption(
        "--embedder", help="package.module:Maker of an embedder, for tests/embedders/test_contract.py"
    )


@dataclass
class ServedProject:
    """An indexed project and its workers, each request and reply through the codec.

    `faults`: worker → the error that it raises.
    """

    config: Config
    workers: dict[str, Any]
    faults: dict[str, CortexError] = field(default_factory=dict)
    requests: list[object] = field(default_factory=list)

    async def ask(self, worker: str, message: Any, deadline_s: float) -> Any:  # noqa: ARG002
        if worker in self.faults:
            raise self.faults[worker]
        if worker not in self.workers:
            raise Unavailable(f"The {worker} worker is not running.")
        request = decode(encode(message, 1))
        self.requests.append(request)
        if isinstance(request, Several):
            replies = [answer(self.workers[worker], frame) for frame in request.requests]
            return Answers(tuple(encode(nested_reply) for nested_reply in replies))
        reply = self.workers[worker].handlers[type(request)](request)
        return decode(encode(reply, 1))

    def context(self, config: Config | None = None) -> QueryContext:
        used = config or self.config
        return QueryContext(used, self, Freshness(used), time.monotonic() + 60.0)


@pytest.fixture(scope="session")
def serve() -> Callable[[Path], ServedProject]:
    return open_project


def open_project(root: Path, *, graph: bool = True) -> ServedProject:
    """Index the files in `root` and open the project for queries."""
    config = Config(root=root)
    index(config)
    with contextlib.closing(Builder(config)) as builder:
        while builder.refresh() is not None:
            pass
    names = [name for name in ENGINES if graph or name != "graph"]
    opened = {name: EngineWorker(name, config) for name in names} | {"vector": vector.make(config)}
    for worker in opened.values():
        worker.reload()
    return ServedProject(config, opened)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> ServedProject:
    """A small project with code, callers, tests and documents."""
    root = tmp_path_factory.mktemp("sample")
    for name, text in SAMPLE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return open_project(root)


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty data folder of memory, made once: the migration of a new one takes a process."""
    folder = tmp_path_factory.mktemp("empty")
    Database(folder).close()
    (folder / LOCK).unlink()
    return folder


@pytest.fixture
def data(empty: Path, tmp_path: Path) -> Path:
    return shutil.copytree(empty, tmp_path / "data", copy_function=shutil.copy)


SAMPLE = {
    "src/auth/session.py": '''"""Sessions of signed-in users."""

SESSION_SECONDS = 3600


class SessionStore:
    """Keeps the sessions of users until they expire."""

    def refresh_token(self, token: str) -> str:
        """Give a new token for one that is about to expire."""
        return rotate(token)

    def expire(self) -> int:
        """Remove the sessions that are older than an hour."""
        return SESSION_SECONDS


def rotate(token: str) -> str:
    return token[1:] + token[:1]
''',
    "src/auth/tickets.py": '''"""Tickets of signed-in machines."""


class TicketStore:
    """Keeps the tickets of machines until they expire."""

    def refresh_ticket(self, ticket: str) -> str:
        """Give a new ticket for one that is about to expire."""
        return ticket[::-1]
''',
    "src/web/login.py": '''"""The login page."""

from src.auth.session import SessionStore


def show_login(token: str) -> str:
    store = SessionStore()
    return store.refresh_token(token)
''',
    "src/web/render.py": '''"""Colours and fonts of the pages."""


def colour(name: str) -> str:
    return f"#{name}"
''',
    "tests/test_session.py": """from src.auth.session import SessionStore


def test_a_token_is_refreshed():
    assert SessionStore().refresh_token("ab") == "ba"
""",
    "tests/test_pages.py": '''"""Nothing calls here, but `rotate()` is spoken of."""


def test_colours():
    assert "refresh_token"
''',
    "docs/auth.md": "# Signing in\n\nA `SessionStore` keeps sessions. Call `refresh_token` before a token expires.\n",
    "docs/colours.md": "# Colours\n\nThe fonts refresh and rotate.\n",
}
