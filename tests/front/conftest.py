"""Windows of agents on a real store of memory in this process."""

import asyncio
import functools
import time
from collections.abc import Generator
from dataclasses import replace

import orjson
import pytest

from cortex.ask.asking import Asking
from cortex.ask.freshness import Freshness
from cortex.front.tools import PEOPLE, TOOLS
from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.settings.config import Config


class MemoryInProcess:
    """The memory worker in this process: the same operations on a real store."""

    def __init__(self, library, project="here", channel="mcp", trust="agent"):
        self.library, self.project = library, project
        self.source = Source("claude", "session-1", channel, trust)

    async def call(self, operation, arguments=None, *, operation_id="", writes):  # noqa: ARG002
        asked = orjson.loads(orjson.dumps(arguments or {}))
        answer = carry_out(
            self.library,
            operation,
            asked,
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
    """One agent's window on the memory of a project."""

    def __init__(self, library, root, **others):
        self.config = Config(root=root)
        self.freshness = Freshness(self.config)
        self.memory = MemoryInProcess(library, **others)

    def name(self, agent):
        self.memory.source = replace(self.memory.source, agent=agent)

    async def call(self, tool, arguments):
        until = time.monotonic() + 10.0
        asking = Asking(self.config, None, self.freshness, until, memory=self.memory)
        return await tool.call(asking, tool.check(arguments))

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
