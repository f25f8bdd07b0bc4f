"""Which project a front serves, and how a request gets to it: the one that was set or found when
it started, or else the first root of a client that has roots.
"""

from __future__ import annotations

import asyncio
import logging
import urllib.parse
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from cortex.ask.freshness import Freshness
from cortex.front.link import Link
from cortex.front.tool import Tool
from cortex.settings import config as configuration
from ipc.errors import CortexError, Unavailable

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

log = logging.getLogger(__name__)

#: seconds that a client has to name its roots
ROOTS_S = 5.0


class Speaker(Protocol):
    """What answering needs of a Link."""

    @property
    def freshness(self) -> Freshness: ...

    async def call(self, tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]: ...


class Reached(Protocol):
    """How a request gets to its project: see Project, where there is one client."""

    async def reach(self, context: ServerRequestContext) -> Speaker: ...


class Project:
    """`link` is None until there is a project; `problem` then says what to set."""

    def __init__(self, link: Link | None, problem: str = "") -> None:
        self.link = link
        self.problem = problem
        self._asking = asyncio.Lock()

    async def reach(self, context: ServerRequestContext) -> Link:
        """The way to the project's workers. Raises Unavailable when there is no project."""
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

    async def close(self) -> None:
        if self.link is not None:
            await self.link.close()

    async def _take_root(self, session: ServerSession) -> None:
        root = await first_root(session)
        if not root:
            return
        try:
            link = Link(configuration.load(root))
        except CortexError as error:
            self.problem = str(error)
            return
        link.open()
        self.link = link


async def first_root(session: ServerSession) -> str:
    """The folder that a handshake client names first, "" for none; the newest protocol has no
    roots.
    """
    from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        asked = session.list_roots()
    try:
        async with asyncio.timeout(ROOTS_S):
            roots = (await asked).roots
    except (MCPError, TimeoutError) as error:
        log.warning("The client did not name its roots: %s", error)
        return ""
    for root in roots:
        parts = urllib.parse.urlsplit(str(root.uri))
        if parts.scheme == "file" and parts.path:
            return urllib.parse.unquote(parts.path)
    return ""
