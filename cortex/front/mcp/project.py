"""The project of a front and the connection to it.

It is the project set or detected at the start, else the first usable root that the client names.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cortex.ask.freshness import Freshness
from cortex.front.link import Link
from cortex.front.mcp.clients import client_of
from cortex.front.open_projects import OpenProjects
from cortex.front.tool import Tool
from cortex.settings import config as configuration
from cortex.settings.folders.home import find_root, real
from cortex.settings.folders.projects import resolve_project
from cortex.system.errors import CortexError, Misconfigured, Unavailable
from cortex.system.folders import path_names

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

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
    """Lists the projects that a request may use, the default first; empty for a single one."""

    async def names(self, context: ServerRequestContext) -> Sequence[str]: ...


class Project:
    """The project of a front with one client; without a `link`, `problem` says how to set one."""

    def __init__(self, link: OpenProjects | None, problem: str = "") -> None:
        self.link, self.problem = link, problem
        #: whether the client's roots choose the project, and whether they may have changed
        self._by_roots = self._unasked = link is None
        self._asking = asyncio.Lock()
        #: tasks that close the connections to earlier roots
        self._closing: set[asyncio.Task[None]] = set()

    async def reach(self, context: ServerRequestContext) -> OpenProjects:
        """Return the connection to the project. Raises Unavailable when there is no project."""
        if self._unasked:
            async with self._asking:
                if self._unasked:
                    await self._take_roots(context)
        if self.link is None:
            raise Unavailable(self.problem)
        if (params := context.session.client_params) is not None:
            self.link.name(params.client_info.name)
        return self.link

    async def names(self, context: ServerRequestContext) -> Sequence[str]:
        """See ProjectNames."""
        try:
            return await (await self.reach(context)).names()
        except Unavailable:
            return ()

    async def roots_changed(self, _context: object, _params: object) -> None:
        """Ask for the roots before the next answer. A handler of notifications."""
        self._unasked = self._by_roots

    async def close(self) -> None:
        closing = [] if self.link is None else [self.link.close()]
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, *closing, return_exceptions=True)

    async def _take_roots(self, context: ServerRequestContext) -> None:
        """Take the first usable root of the client as the project, unless the present project is
        still a root. Without a usable root the present project stays.
        """
        roots = await roots_of(context)
        folders, left_out = _usable(roots)
        if not folders:
            self.problem, self._unasked = " ".join(left_out) or self.problem, self.link is None
            return
        self._unasked = False
        if self.link is not None and self.link.has_folder(folders):
            self.link.set_roots(folders)
            return
        try:
            config = replace(configuration.load(folders[0]), explicit_root=False)  # no person named it
            link = OpenProjects(Link(config), folders, Link)
        except CortexError as error:
            self.problem, self._unasked = str(error), self.link is None
            return
        link.open()
        link.say(" ".join(left_out))
        if self.link is not None:
            self._closing.add(asyncio.create_task(_close_later(self.link)))
        self.link = link


async def _close_later(link: OpenProjects) -> None:
    """Close `link` when its running calls have ended."""
    try:
        await asyncio.sleep(link.deadline_s)
    finally:
        await link.close()


def _usable(roots: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return (the folders of `roots` that may be projects, a sentence for each other root)."""
    folders, left_out = list[Path](), list[str]()
    for root in roots:
        folder = _folder_of(root)
        if not folder:
            left_out.append(
                f"The client's root {root!r} is left out: it is neither a file:// URI nor an absolute path; "
                "correct it, or pass --project DIR."
            )
            continue
        try:
            folders.append(real(find_root(resolve_project(folder))[0]))
        except Misconfigured as error:
            left_out.append(f"The client's root {root!r} is left out: {error}")
    return folders, left_out


def _folder_of(root: str) -> str:
    """Return the path that a root means, "" for none: a file:// URI, or an absolute path."""
    path = os.path.expanduser(root.strip()) if root.strip() else ""
    return path if path_names.is_absolute(path) else path_names.path_of(root.strip())


async def roots_of(context: ServerRequestContext) -> list[str]:
    """Return the roots that a handshake client names, as it writes them; the newest protocol has
    none. The SDK would refuse a list with one plain path in it.
    """
    from mcp.shared.exceptions import MCPError

    session = context.session
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return []
    try:
        async with asyncio.timeout(ROOTS_S):
            answer = await client_of(context).outbound.send_raw_request("roots/list", None)
    except (MCPError, TimeoutError) as error:
        log.warning("The client did not name its roots: %s", error)
        return []
    listed = answer.get("roots")
    if not isinstance(listed, list):
        log.warning("The client's answer to roots/list has no list of roots.")
        return []
    roots = (root.get("uri") if isinstance(root, dict) else root for root in listed)
    return [root for root in roots if isinstance(root, str)]
