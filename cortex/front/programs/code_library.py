"""Code of a project for Python programs: `with Project("~/code/shop") as shop: shop.search("…")`.

The program attaches to the project's workers as an agent's front does, and starts them when none
run. Its calls are those of the tools.
"""

import asyncio
import functools
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

import msgspec
import orjson

from cortex.front.first_index import FIRST_INDEX_S, call_with_index
from cortex.front.link import Link
from cortex.front.open_projects import OpenProjects
from cortex.front.programs.code_results import (
    Answer,
    Hit,
    Index,
    Source,
    Use,
    read_hits,
    read_index,
    read_sources,
    read_uses,
)
from cortex.front.programs.loop_thread import LoopThread
from cortex.front.project_selection import asks_projects
from cortex.front.tools import TOOLS
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.system.errors import BadRequest, CortexError, Unavailable
from cortex.terms.text.suggestions import hint_for


class _Connection:
    """The connection of one process, in a thread of its own: made there at its first call."""

    def __init__(self, config: Config, *, start: bool, wait_s: float) -> None:
        self._config, self._start, self._wait_s = config, start, wait_s
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._link: Link | None = None
        self._projects: OpenProjects | None = None
        self._closed = False

    def submit(self, tool: str, arguments: Mapping[str, Any] | None) -> Future[dict[str, Any]]:
        return self._running().submit(self._call(tool, arguments))

    def attach(self) -> Future[Link]:
        return self._running().submit(self._reach())

    def index(self) -> Future[Index]:
        return self._running().submit(self._index())

    def close(self) -> None:
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.end(self._end())

    def _running(self) -> LoopThread:
        with self._lock:
            if self._closed:
                raise Unavailable("This project was closed; open it again.")
            self._thread = self._thread or LoopThread()
            return self._thread

    async def _reach(self) -> Link:
        """Return the link once it is attached. Raises Unavailable."""
        if self._link is None:
            make = functools.partial(Link, start=self._start, channel="library")
            self._link = make(self._config)
            self._projects = OpenProjects(self._link, make=make)
            self._link.open()
        await self._link.attached()
        return self._link

    async def _call(self, name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        if name not in TOOLS:
            raise BadRequest(f"There is no tool {name!r}{hint_for(name, TOOLS)}.")
        tool, call_arguments = TOOLS[name], dict(arguments or {})
        if tool.asks(msgspec.structs.asdict(tool.check(call_arguments))) == "memory":
            raise BadRequest(f"{name} asks memory alone; use `cortex.memory.Cortex`.")
        link = await self._reach()
        if asks_projects(tool, call_arguments) and self._projects is not None:
            answer = await self._projects.call(tool, call_arguments)
        else:
            answer = await call_with_index(link, tool, call_arguments, wait_s=self._wait_s)
        # texts are JSON in the answer already
        return dict(orjson.loads(orjson.dumps(answer)))

    async def _index(self) -> Index:
        freshness = (await self._reach()).freshness
        return read_index(freshness.block(freshness.current()))

    async def _end(self) -> None:
        if self._projects is not None:
            await self._projects.close()


class _Opened:
    """The connections of a project, one for each process: a forked child gets its own."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, start: bool = True, wait_s: float = FIRST_INDEX_S
    ) -> None:
        """`path`: the project's folder or its name in projects.yml; by default the project around
        the current folder.

        `start`: start workers when none run, which takes at most 15 s; they end some time after
        their last front. `wait_s`: seconds that a question to a project without an index waits for
        the first one; then it is answered from the part that is served, and `index` of the answer
        is not `complete`. Raises Misconfigured for a folder that is no project.
        """
        config = configuration.load(Path(path).expanduser() if path is not None else None)
        self._make = functools.partial(_Connection, config, start=start, wait_s=wait_s)
        # Of a parent's connections a child keeps the references: to close its copy of their loop
        # would end the loop of the parent.
        self._connections: dict[int, _Connection] = {}
        weakref.finalize(self, _leave, self._connections)

    @property
    def _connection(self) -> _Connection:
        return self._connections.setdefault(os.getpid(), self._make())


def _leave(connections: Mapping[int, _Connection]) -> None:
    """Close this process's connection of a project that was not closed."""
    if (connection := connections.get(os.getpid())) is not None:
        connection.close()


class Project(_Opened):
    """The code of one project. Methods block until the answer; any thread may call them, also one
    with a running event loop, and so may a forked child.

    They raise BadRequest for arguments that cannot be answered, and Unavailable without workers.
    """

    def __enter__(self) -> Self:
        """Attach to the workers. Raises Unavailable when there are none."""
        try:
            self._connection.attach().result()
        except CortexError:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the workers; safe to call twice."""
        self._connection.close()

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call any tool for code of docs/TOOLS.md and return its answer."""
        return self._connection.submit(tool, arguments).result()

    def search(
        self, query: str, *, limit: int | None = None, paths: Sequence[str] = (), **more: Any
    ) -> Answer[Hit]:
        """Find code and documents by meaning and words. `more`: arguments of cortex_search."""
        arguments = {"query": query, "limit": limit, "paths": paths} | more
        return read_hits(self.call("cortex_search", arguments))

    def exact(
        self, query: str, *, limit: int | None = None, paths: Sequence[str] = (), **more: Any
    ) -> Answer[Hit]:
        """Find lines by keyword. `more`: arguments of cortex_exact."""
        arguments = {"query": query, "limit": limit, "paths": paths} | more
        return read_hits(self.call("cortex_exact", arguments))

    def uses(self, symbol: str, *, direction: str = "callers", **more: Any) -> Answer[Use]:
        """List the places that use a definition. `more`: arguments of cortex_uses."""
        return read_uses(self.call("cortex_uses", {"symbol": symbol, "direction": direction} | more))

    def read(self, *places: str, **more: Any) -> Answer[Source]:
        """Read definitions and lines: symbols, `path:line`, `path:a-b`, files, folders."""
        return read_sources(self.call("cortex_read", {"places": places} | more))

    def index(self) -> Index:
        """Return the state of the index; starts no wait."""
        return self._connection.index().result()


class AsyncProject(_Opened):
    """As Project, with methods to await, in any event loop."""

    async def __aenter__(self) -> Self:
        """Attach to the workers. Raises Unavailable when there are none."""
        try:
            await asyncio.wrap_future(self._connection.attach())
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Leave the workers; safe to call twice."""
        await asyncio.to_thread(self._connection.close)

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call any tool for code of docs/TOOLS.md and return its answer."""
        return await asyncio.wrap_future(self._connection.submit(tool, arguments))

    async def search(
        self, query: str, *, limit: int | None = None, paths: Sequence[str] = (), **more: Any
    ) -> Answer[Hit]:
        """Find code and documents by meaning and words. `more`: arguments of cortex_search."""
        arguments = {"query": query, "limit": limit, "paths": paths} | more
        return read_hits(await self.call("cortex_search", arguments))

    async def exact(
        self, query: str, *, limit: int | None = None, paths: Sequence[str] = (), **more: Any
    ) -> Answer[Hit]:
        """Find lines by keyword. `more`: arguments of cortex_exact."""
        arguments = {"query": query, "limit": limit, "paths": paths} | more
        return read_hits(await self.call("cortex_exact", arguments))

    async def uses(self, symbol: str, *, direction: str = "callers", **more: Any) -> Answer[Use]:
        """List the places that use a definition. `more`: arguments of cortex_uses."""
        return read_uses(await self.call("cortex_uses", {"symbol": symbol, "direction": direction} | more))

    async def read(self, *places: str, **more: Any) -> Answer[Source]:
        """Read definitions and lines: symbols, `path:line`, `path:a-b`, files, folders."""
        return read_sources(await self.call("cortex_read", {"places": places} | more))

    async def index(self) -> Index:
        """Return the state of the index; starts no wait."""
        return await asyncio.wrap_future(self._connection.index())
