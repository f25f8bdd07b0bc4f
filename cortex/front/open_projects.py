"""The projects that one front answers for: its own, and those that the user or the client has names
for. Another one is opened when it is first asked for.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import Member, QueryContext
from cortex.front.link import Link
from cortex.front.project_selection import (
    PROJECT,
    PROJECTS,
    SelectedProject,
    asks_projects,
    choose_projects,
    reach_all,
)
from cortex.front.tool import Tool
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.projects import ProjectEntry, by_name, known_projects
from cortex.system.errors import BadRequest, CortexError
from cortex.terms.suggestions import hint_for

log = logging.getLogger(__name__)

#: projects beside its own that a front holds open: each has workers of its own, some 250 MB
OPEN_MAX = 3
#: seconds for which the names are as they were read: a glob may mean hundreds of folders
FRESH_S = 10.0
#: names that the list of tools tells; a call takes them all
LISTED_MAX = 12


@dataclass
class _OpenLink:
    """A link to another project, and how many calls wait for it."""

    link: Link
    calls: int = 0


class OpenProjects:
    """Speaks for `own`, and for others by their names. Use it in one event loop.

    `roots`: further folders that the client itself works in.
    """

    def __init__(self, link: Link, roots: Sequence[Path] = (), make: Callable[[Config], Link] = Link) -> None:
        self._own_link, self._roots, self._make = link, roots, make
        self._open: OrderedDict[str, _OpenLink] = OrderedDict()
        self._other_projects: dict[str, ProjectEntry] = {}
        #: what was read of those that are not open, while the names are as they were read
        self._selections: dict[str, SelectedProject] = {}
        self._name, self._agent = link.config.folder.name, ""
        self._read = -math.inf

    @property
    def freshness(self) -> Freshness:
        return self._own_link.freshness

    def open(self) -> None:
        self._own_link.open()

    def count_refused(self) -> None:
        self._own_link.count_refused()

    def name(self, agent: str) -> None:
        self._agent = agent
        self._own_link.name(agent)
        for opened in self._open.values():
            opened.link.name(agent)

    async def close(self) -> None:
        links = [self._own_link, *(opened.link for opened in self._open.values())]
        self._open.clear()
        await asyncio.gather(*(link.close() for link in links))

    async def names(self) -> tuple[str, ...]:
        """Its own first; none where there is no other. A file that cannot be understood is told by
        the log, and by who asks for a project.
        """
        try:
            await self._refresh_names()
        except CortexError as error:
            log.warning("%s", error)
        return (self._name, *self._other_projects) if self._other_projects else ()

    async def call(self, tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """What the tool answers of the project that is named, or of its own; it says which, where
        there are several. Raises BadRequest, and what the tool raises.
        """
        call_arguments = dict(arguments or {})
        if asks_projects(tool, call_arguments):
            return await self._call_projects(tool, call_arguments)
        name = call_arguments.get(PROJECT) or ""
        if not (name or self._other_projects) or not may_name_project(tool, call_arguments):
            return await self._own_link.call(tool, arguments)
        if not isinstance(name, str):
            raise BadRequest(f"The argument `{PROJECT}` must be a project's name.")
        if name and name not in self._other_projects:  # its own name, too, once it has been read
            await self._refresh_names()
        if not self._other_projects:
            return await self._own_link.call(tool, arguments)
        for_notes = PROJECT in tool.schema["properties"] and name not in self._other_projects
        if not for_notes or name == self._name:
            call_arguments.pop(PROJECT, None)
        if name in ("", self._name) or for_notes:
            return await self._own_link.call(tool, call_arguments) | {PROJECT: self._name}
        return await self._ask(self._find(name, tool), tool, call_arguments)

    def _find(self, name: str, tool: Tool) -> ProjectEntry:
        project = self._other_projects.get(name)
        if project is None:
            names = (self._name, *self._other_projects)
            raise BadRequest(
                f"There is no project {name!r}{hint_for(name, names)}; there are: {', '.join(names)}."
            )
        if project.read_only and not tool.reads:
            raise BadRequest(f"{project.name} is here to be read: {tool.name} writes, leave `{PROJECT}` out.")
        return project

    async def _call_projects(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the tool answers of several projects; those that were opened for it and are too
        many are let go of.
        """
        await self._refresh_names()
        used: list[_OpenLink] = []

        async def others(patterns: Sequence[str], until: float) -> list[Member]:
            read_only = [name for name, project in self._other_projects.items() if project.read_only]
            names = choose_projects(patterns, (self._name, *self._other_projects), read_only)
            return await reach_all(names, self._select, lambda name: self._reach(name, used, until))

        try:
            return await self._own_link.call(tool, arguments, others=others)
        finally:
            for opened in used:
                opened.calls -= 1
            await self._close_others()

    def _select(self, name: str) -> SelectedProject:
        """How it is asked with others. Raises Misconfigured."""
        if name == self._name:
            return SelectedProject(self._own_link.config, self._own_link.freshness, is_open=True)
        if name in self._open:
            link = self._open[name].link
            return SelectedProject(link.config, link.freshness, is_open=True)
        selection = self._selections.get(name)
        if selection is None:
            config = self._load_config(self._other_projects[name])
            selection = self._selections[name] = SelectedProject(config, Freshness(config), is_open=False)
        return selection

    async def _reach(self, name: str, used: list[_OpenLink], until: float) -> QueryContext:
        """One of several that are asked, which stays open in `used`. Raises CortexError."""
        if name != self._name:
            used.append(opened := self._ensure_open(self._other_projects[name]))
            opened.calls += 1
            return await opened.link.reach(until)
        return await self._own_link.reach(until)

    async def _ask(self, project: ProjectEntry, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        opened = self._ensure_open(project)
        opened.calls += 1
        try:
            await self._close_others()
            return await opened.link.call(tool, arguments) | {PROJECT: project.name}
        finally:
            opened.calls -= 1

    def _ensure_open(self, project: ProjectEntry) -> _OpenLink:
        opened = self._open.get(project.name)
        if opened is None:
            opened = self._open[project.name] = _OpenLink(self._make_link(project))
            opened.link.open()
        self._open.move_to_end(project.name)
        return opened

    def _make_link(self, project: ProjectEntry) -> Link:
        """A link that shares this one's memory. Raises Misconfigured."""
        link = self._make(self._load_config(project))
        link.name(self._agent)
        return link

    def _load_config(self, project: ProjectEntry) -> Config:
        memory = {"data_dir": self._own_link.config.memory.data_dir}
        return configuration.load(project.root, {"memory": memory})

    async def _close_others(self) -> None:
        """Let go of those that were asked longest ago, and that nobody waits for."""
        for name, opened in list(self._open.items()):
            if len(self._open) > OPEN_MAX and not opened.calls:
                del self._open[name]
                await opened.link.close()

    async def _refresh_names(self) -> None:
        """Which projects there are. Raises Misconfigured."""
        if time.monotonic() - self._read < FRESH_S:
            return
        own_folder = self._own_link.config.folder
        projects = await asyncio.to_thread(_find_projects, self._roots, self._own_link.config.root)
        self._name = next(
            (name for name, project in projects.items() if project.root == own_folder), own_folder.name
        )
        self._other_projects = {
            name: project
            for name, project in projects.items()
            if project.root != own_folder and name != self._name
        }
        self._selections.clear()
        self._read = time.monotonic()


def _find_projects(roots: Sequence[Path], own_root: Path) -> dict[str, ProjectEntry]:
    """By name: what the client works in, and what the user knows, of packages those of `own_root`.
    Raises Misconfigured.
    """
    registered = {
        name: project for name, project in known_projects().items() if project.of in (None, own_root)
    }
    folders = [root for root in roots if root.is_dir()]
    return {name: ProjectEntry(name, root) for name, root in by_name(folders).items()} | registered


def may_name_project(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether `project` of a call with these arguments is a folder: of what asks memory alone it
    may be an argument of its own. Raises BadRequest.
    """
    if PROJECT not in tool.schema["properties"]:
        return True
    return tool.asks(msgspec.structs.asdict(tool.check(arguments))) != "memory"


def schema_with_projects(tool: Tool, names: Sequence[str]) -> dict[str, Any]:
    """The schema of the tool's arguments where there are these projects, the default one first."""
    if not names:
        return _without_projects(tool)
    has_project = PROJECT in tool.schema["properties"]
    if has_project and tool.asks({}) == "memory":
        return tool.schema
    others = ", ".join(names[1 : LISTED_MAX + 1]) + (", …" if len(names) > LISTED_MAX + 1 else "")
    notes = "; of notes also `all`" if has_project else ""
    field = {"type": "string", "description": f"{names[0]} (default), {others}{notes}."}
    return tool.schema | {"properties": tool.schema["properties"] | {PROJECT: field}}


def _without_projects(tool: Tool) -> dict[str, Any]:
    """Where there is one project nobody pays for the argument that names several."""
    properties = tool.schema["properties"]
    if PROJECTS not in properties:
        return tool.schema
    return tool.schema | {
        "properties": {name: field for name, field in properties.items() if name != PROJECTS}
    }
