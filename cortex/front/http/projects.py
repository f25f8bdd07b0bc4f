"""The projects of a server: opened at their first call, closed when they are idle.

Each has one link to its workers, for all clients and all kinds of routes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from cortex.ask.freshness import Freshness
from cortex.ask.memory import Caller
from cortex.ask.query_context import QueryContext
from cortex.front.http.access.tokens import Bearer, Forbidden, moved_folders, names_of, opens_names
from cortex.front.http.metrics import Metrics
from cortex.front.link import Link, Others
from cortex.front.open_projects import NamedProjects
from cortex.front.project_selection import OpenProject
from cortex.front.tool import Tool
from cortex.front.tools import choose
from cortex.front.usage import Usage
from cortex.settings.config import Config
from cortex.system.errors import BadRequest, CortexError, NotFound, Unavailable
from cortex.terms.text.suggestions import hint_for

#: seconds between two checks for idle projects
LOOK_S = 5.0
#: seconds after a call's deadline when it is cancelled here
GRACE_S = 2.0


def make_link(config: Config) -> Link:
    """Return a link whose calls the server counts."""
    return Link(config, counts=False)


class Ending(Protocol):
    """A resource that is closed with its project."""

    async def close(self) -> None: ...


class Hosted(OpenProject):
    """One project of this server."""

    def __init__(self, name: str, config: Config, metrics: Metrics, make: Callable[[Config], Link]) -> None:
        super().__init__(name, config, make)
        self.metrics, self.tools = metrics, choose(config.server.toolsets)
        self._usage = Usage(config, functools.partial(metrics.note, name))
        #: kind → resource that is closed with the project
        self.resources: dict[str, Ending] = {}

    @property
    def is_idle(self) -> bool:
        idle_s = time.monotonic() - self.ended
        return self.link is not None and not self.calls and idle_s >= self.config.server.idle_exit_s

    async def close(self) -> None:
        self._usage.flush()
        resources, self.resources = list(self.resources.values()), {}
        for resource in resources:
            await resource.close()
        await super().close()

    async def reach(self, until: float) -> QueryContext:
        try:
            return await super().reach(until)
        except CortexError as error:
            self._hide_path(error)
            raise

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        bearer: Bearer,
        caller: Caller,
        others: Others | None = None,
    ) -> dict[str, Any]:
        """Return the tool's answer; `others`: as in Link.call.

        Raises the errors of Link.call, with the project's name instead of its path, and Forbidden.
        """
        _check_right(tool, arguments, bearer)
        caller = replace(caller, code_alone=bool(bearer.projects))
        try:
            with self._usage.count(tool.name, arguments, agent=caller.agent) as call, self.use() as link:
                async with asyncio.timeout(self.config.server.deadline_s + GRACE_S):
                    more = () if others is None else (others,)
                    call.answer = answer = await link.call(tool, arguments, caller, *more)
                    return answer
        except TimeoutError as error:
            raise Unavailable("The call did not end within its deadline; ask again.") from error
        except CortexError as error:
            self._hide_path(error)
            raise

    def _hide_path(self, error: CortexError) -> None:
        """Replace the path in an error by the project's name: the client may be remote."""
        if self.config.root.name:
            error.args = (str(error).replace(str(self.config.root), self.name),)


@dataclass(frozen=True)
class ClientLink(NamedProjects):
    """One client's connection to its project, and to other projects of this server by name, with
    the interface of a Link for the MCP server.
    """

    projects: Projects
    home: Hosted
    bearer: Bearer
    caller: Caller

    @property
    def freshness(self) -> Freshness:
        return self.home.freshness

    async def refresh(self) -> None:
        """Do nothing: the projects of a server stay the same."""

    def usable(self) -> list[str]:
        return self.projects.names(self.bearer)

    def find(self, name: str) -> Hosted:
        return self.projects.find(name, self.bearer)

    async def ask(
        self,
        project: OpenProject,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        others: Others | None = None,
    ) -> dict[str, Any]:
        return await self.projects[project.name].call(tool, arguments, self.bearer, self.caller, others)


class Projects(Mapping[str, Hosted]):
    """Name → project; the first is the default. Use it in one event loop."""

    def __init__(
        self, configs: Sequence[Config], metrics: Metrics, make: Callable[[Config], Link] = make_link
    ) -> None:
        self._hosted = {
            name: Hosted(name, config, metrics, make)
            for name, config in zip(_names(configs), configs, strict=True)
        }

    def __getitem__(self, name: str) -> Hosted:
        return self._hosted[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosted)

    def __len__(self) -> int:
        return len(self._hosted)

    def find(self, name: object, bearer: Bearer) -> Hosted:
        """Return the project `name`, or for "" the first that `bearer` may use. Raises BadRequest,
        NotFound and Forbidden.
        """
        if not isinstance(name, str):
            raise BadRequest("`project` must be a project's name.")
        names = self.names(bearer)
        if not names:
            raise Forbidden(_say_no_project(bearer))
        if not name:
            return self[names[0]]
        if name in names:
            return self[name]
        hint = hint_for(name, names)
        raise NotFound(f"There is no project {name!r} here{hint}; there are: {', '.join(names)}.")

    def names(self, bearer: Bearer) -> list[str]:
        """Return the names of the projects that `bearer` may use."""
        return [name for name, hosted in self.items() if bearer.may_access(name, hosted.config.root)]

    def choices(self, hosted: Hosted, bearer: Bearer) -> tuple[str, ...]:
        """Return the names that `bearer` may use, `hosted` first; () if there is no other."""
        others = [name for name in self.names(bearer) if name != hosted.name]
        return (hosted.name, *others) if others else ()

    async def close_idle(self) -> None:
        """Close idle projects, in an endless loop."""
        while True:
            await asyncio.sleep(LOOK_S)
            for hosted in self.values():
                if hosted.is_idle:
                    await hosted.close()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Close idle projects during the block, and all at its end."""
        tending = asyncio.create_task(self.close_idle())
        try:
            yield
        finally:
            tending.cancel()
            await asyncio.gather(
                tending, *(hosted.close() for hosted in self.values()), return_exceptions=True
            )


def _check_right(tool: Tool, arguments: Mapping[str, Any] | None, bearer: Bearer) -> None:
    """Check that `bearer` may call the tool. Raises Forbidden, and the errors of `Tool.check`."""
    if not tool.reads and not bearer.has_right("write"):
        raise Forbidden(f"{tool.name} writes, and the token {bearer.name!r} may only read.")
    if bearer.projects:
        import msgspec

        if tool.asks(msgspec.structs.asdict(tool.check(arguments))) != "code":
            raise Forbidden(f"The token {bearer.name!r} is limited to code of projects; memory is not.")


def _say_no_project(bearer: Bearer) -> str:
    """Return why a token opens no project here, without a path: the client may be remote."""
    if moved_folders(bearer):
        return (
            f"The token {bearer.name!r} is for a folder that was moved or replaced: `cortex token --list` names it, "
            f"and `cortex token {bearer.name} --for FOLDER` makes a new token."
        )
    if names_of(bearer) and not opens_names():
        return (
            f"The token {bearer.name!r} is for projects by name, which any folder can have: `cortex token "
            f"{bearer.name} --for FOLDER` makes one for a folder."
        )
    return f"The token {bearer.name!r} is for other projects than this server's."


def _names(configs: Sequence[Config]) -> list[str]:
    """Return the folders' names; equal ones get a hash of their path as a suffix."""
    plain = [config.root.name or "root" for config in configs]
    return [
        name
        if plain.count(name) == 1
        else f"{name}-{hashlib.sha256(config.root_id.encode()).hexdigest()[:6]}"
        for name, config in zip(plain, configs, strict=True)
    ]
