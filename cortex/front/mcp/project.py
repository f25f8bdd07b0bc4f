"""The project of a front and the connection to it.

It is the project set or detected at the start, else the first root that the client names.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cortex.ask.freshness import Freshness
from cortex.front.link import Link
from cortex.front.open_projects import OpenProjects
from cortex.front.tool import Tool
from cortex.settings import config as configuration
from cortex.settings.home import real
from cortex.system import path_names
from cortex.system.errors import CortexError, Unavailable

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

log = logging.getLogger(__name__)

#: seconds that a client has to name its roots
ROOTS_S = 5.0


class ToolCaller(Protocol):
    """The part of a Link that answers need."""

    @property
    def freshness(self) -> Freshness: ...

    async def call(self, tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]: ...


class ProjectRouter(Protocol):
    """Finds the connection for a request; Project does it for a front with one client."""

    async def reach(self, context: ServerRequestContext) -> ToolCaller: ...


class ProjectNames(Protocol):
    """Knows the names of the projects that a request may use, the default first; empty if there is
    only one.
    """

    async def names(self, context: ServerRequestContext) -> Sequence[str]: ...


class Project:
    """The project of a front with one client.

    `link` is None until there is a project; `problem` then says how to set one.
    """

    def __init__(self, link: OpenProjects | None, problem: str = "") -> None:
        self.link = link
        self.problem = problem
        self._asking = asyncio.Lock()

    async def reach(self, context: ServerRequestContext) -> OpenProjects:
        """Return the connection to the project. Raises Unavailable when there is no project."""
        session = context.session
        if self.link is None:
            async with self._asking:
                if self.link is None:
                    await self._take_root(session)
        if self.link is None:
            raise Unavailable(self.problem)
        if (params := session.client_params) is not None:
            self.link.name(params.client_info.name)
        return self.link

    async def names(self, context: ServerRequestContext) -> Sequence[str]:
        """See ProjectNames."""
        try:
            return await (await self.reach(context)).names()
        except Unavailable:
            return ()

    async def close(self) -> None:
        if self.link is not None:
            await self.link.close()

    async def _take_root(self, session: ServerSession) -> None:
        roots = await roots_of(session)
        if not roots:
            return
        try:
            config = replace(configuration.load(roots[0]), explicit_root=False)  # no person named it
            link = OpenProjects(Link(config), roots, Link)
        except CortexError as error:
            self.problem = str(error)
            return
        link.open()
        self.link = link


async def roots_of(session: ServerSession) -> list[Path]:
    """Return the folders that a handshake client names; the newest protocol has no roots."""
    from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        request = session.list_roots()
    try:
        async with asyncio.timeout(ROOTS_S):
            roots = (await request).roots
    except (MCPError, TimeoutError) as error:
        log.warning("The client did not name its roots: %s", error)
        return []
    return [real(path) for root in roots if (path := path_names.path_of(str(root.uri)))]
