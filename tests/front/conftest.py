"""Agents' connections to a real store of memory in this process."""

import asyncio
import functools
import time
from collections.abc import Generator
from dataclasses import replace

import orjson
import pytest

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.front.tools import PEOPLE, TOOLS
from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.settings.config import Config
from tests.shop import record


class MemoryInProcess:
    """The memory worker in this process: the same operations on a real store."""

    def __init__(self, library, project="here", channel="mcp", trust="agent"):
        self.library, self.project = library, project
        self.source = Source("claude", "session-1", channel, trust)

    async def call(self, operation, arguments=None, *, operation_id="", writes):  # noqa: ARG002
        plain_arguments = orjson.loads(orjson.dumps(arguments or {}))
        answer = carry_out(
            self.library,
            operation,
            plain_arguments,
            project=self.project,
            source=self.source,
            operation_id=operation_id,
        )
        if isinstance(answer, Generator):
            answer = finish(answer)
        return orjson.loads(orjson.dumps(answer))

    async def glance(self, operation, arguments):
        return await self.call(operation, arguments, writes=False)


class Window:
    """An agent's connection to the memory of a project."""

    def __init__(self, library, root, **others):
        self.config = Config(root=root)
        self.freshness = Freshness(self.config)
        self.memory = MemoryInProcess(library, **others)

    def name(self, agent):
        self.memory.source = replace(self.memory.source, agent=agent)

    async def call(self, tool, arguments):
        until = time.monotonic() + 10.0
        context = QueryContext(self.config, None, self.freshness, until, memory=self.memory)
        return await tool.call(context, tool.check(arguments))

    def ask(self, name, **arguments):
        return asyncio.run(self.call({**TOOLS, **PEOPLE}[name], arguments))


@pytest.fixture
def library(data):
    with Library.open(data) as library:
        yield library


@pytest.fixture
def open_window(library, tmp_path):
    return functools.partial(Window, library, tmp_path)


@pytest.fixture
def window(open_window):
    return open_window()


@pytest.fixture
def fill(library):
    def fill(*records, project="here"):
        done = library.of(project=project).import_records(records, trusted=True)
        assert done["refused"] == []
        return done["notes"]

    return fill


@pytest.fixture
def shop(fill):
    """Eight observations of one project, a day apart; two of others."""
    fill(
        record(
            "Retries use back-off with jitter",
            0,
            kind="decision",
            obs_type="decision",
            labels=["network", "gotcha"],
            body="Fixed delays made all clients come back at once.",
            importance=0.9,
            files=["src/net/retry.py"],
            modified=["src/net/retry.py"],
        ),
        record(
            "The payment provider allows twenty calls a second",
            1,
            kind="fact",
            labels=["payment"],
            facts=["A 429 means wait for the header Retry-After"],
            files=["docs/provider.md"],
            read=["docs/provider.md"],
        ),
        record(
            "Fixed a race in the retry queue",
            2,
            obs_type="bugfix",
            labels=["network"],
            files=["src/net/queue.py", "src/net/retry.py"],
            modified=["src/net/queue.py"],
            read=["src/net/retry.py"],
            body="Two workers took one retry.",
        ),
        record("The cart keeps its items in Redis", 3, kind="decision", labels=["storage", "architecture"]),
        record("Added a dark theme", 4, obs_type="feature", files=["web/theme.css"]),
        record("Checkout reads prices from the catalog service", 5, kind="fact", labels=["how-it-works"]),
        record(
            "Renamed the retry module",
            6,
            obs_type="refactor",
            files=["src/net/retry.py"],
            modified=["src/net/retry.py"],
        ),
        record("The deployment takes four minutes", 7, kind="fact", labels=["ops"]),
    )
    fill(record("Retries are forbidden in the bank", 3, kind="decision"), project="bank")
    fill(record("Everybody signs commits", 3, kind="preference", scope="global"), project="bank")


@pytest.fixture
def related(window, shop):
    """The numbers of three observations of which the first caused the second, and that a third."""
    numbers = [
        window.ask("search", query=query)["results"][0]["id"] for query in ("back-off", "race", "renamed")
    ]
    first, second, third = map(str, numbers)
    window.ask("cortex_relate", from_id=first, to_id=second, relation="causes")
    window.ask("cortex_relate", from_id=second, to_id=third, relation="leads-to")
    return numbers
