"""The projects that one front serves: its own, and others by name, opened at their first call.

The names come from the user's list of projects and from the roots of the client.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
from cortex.settings.folders.projects import ProjectEntry, by_name, known_projects
from cortex.system.errors import BadRequest, CortexError
from cortex.terms.text.suggestions import hint_for

log = logging.getLogger(__name__)

#: maximum of other projects that a front has open: each has its own workers, some 250 MB
OPEN_MAX = 3
#: seconds until the names are read again: a glob may mean hundreds of folders
FRESH_S = 10.0
#: maximum of names in the list of tools; calls accept all
LISTED_MAX = 12


@dataclass
class _OpenLink:
    """A link to another project, and the number of its running calls."""

    link: Link
    calls: int = 0


class OpenProjects:
    """Calls tools in the project of `link`, and in others by name. Use it in one event loop.

    `roots`: further folders that the client works in.
    """

    def __init__(self, link: Link, roots: Sequence[Path] = (), make: Callable[[Config], Link] = Link) -> None:
        self._own_link, self._roots, self._make = link, roots, make
        self._open: OrderedDict[str, _OpenLink] = OrderedDict()
        self._other_projects: dict[str, ProjectEntry] = {}
        #: configurations of projects that are not open, until the names are read again
        self._selections: dict[str, SelectedProject] = {}
        self._name, self._agent = link.config.folder.name, ""
        self._read = -math.inf

    @property
    def freshness(self) -> Freshness:
        return self._own_link.freshness

    def open(self) -> None:
        self._own_link.open()

    @property
    def deadline_s(self) -> float:
        return self._own_link.config.server.deadline_s

    def has_folder(self, folders: Collection[Path]) -> bool:
        """Whether the front's own project is one of `folders`."""
        return self._own_link.config.folder in folders

    def set_roots(self, roots: Sequence[Path]) -> None:
        """Replace the further folders that the client works in."""
        self._roots, self._read = roots, -math.inf

    def say(self, sentence: str) -> None:
        """Add `sentence` to the next answer about the front's own project."""
        self._own_link.say(sentence)

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
        """Return the names of all projects, the front's own first; empty if there is no other.

        An unreadable list of projects is logged here, and is an error for a call that names one.
        """
        try:
            await self._refresh_names()
        except CortexError as error:
            log.warning("%s", error)
        return (self._name, *self._other_projects) if self._other_projects else ()

    async def call(self, tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the tool's answer for the project in "project", by default the front's own.

        The answer names the project if there are several. Raises BadRequest, and the tool's errors.
        """
        call_arguments = dict(arguments or {})
        if asks_projects(tool, call_arguments):
            return await self._call_projects(tool, call_arguments)
        name = call_arguments.get(PROJECT) or ""
        if not (name or self._other_projects) or not may_name_project(tool, call_arguments):
            return await self._own_link.call(tool, arguments)
        if not isinstance(name, str):
            raise BadRequest(f"The argument `{PROJECT}` must be a project's name.")
        if name and name not in self._other_projects:  # may also be the own name
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
            raise BadRequest(f"{project.name} is read-only, and {tool.name} writes. Leave `{PROJECT}` out.")
        return project

    async def _call_projects(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tool's answer for several projects; afterwards close those beyond OPEN_MAX."""
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
        """Return a project for a call to several. Raises Misconfigured."""
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
        """Return the context of one of several projects; its link is added to `used` and stays
        open. Raises CortexError.
        """
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
        """Make a link with the memory of the front's own. Raises Misconfigured."""
        link = self._make(self._load_config(project))
        link.name(self._agent)
        return link

    def _load_config(self, project: ProjectEntry) -> Config:
        memory = {"data_dir": self._own_link.config.memory.data_dir}
        config = configuration.load(project.root, {"memory": memory})
        return replace(config, explicit_root=project.root not in self._roots)  # of the client's choice

    async def _close_others(self) -> None:
        """Close the least recently used projects without running calls, down to OPEN_MAX."""
        for name, opened in list(self._open.items()):
            if len(self._open) > OPEN_MAX and not opened.calls:
                del self._open[name]
                await opened.link.close()

    async def _refresh_names(self) -> None:
        """Read the names of the projects, unless they are fresh. Raises Misconfigured."""
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
    """Return name → project: roots of the client, the user's projects, packages of `own_root`.

    Raises Misconfigured.
    """
    registered = {
        name: project for name, project in known_projects().items() if project.of in (None, own_root)
    }
    folders = [root for root in roots if root.is_dir()]
    return {name: ProjectEntry(name, root) for name, root in by_name(folders).items()} | registered


def may_name_project(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether `project` of a call with these arguments selects a project of this front.

    Tools of memory have an argument of the same name, for the project of the notes. Raises
    BadRequest.
    """
    if PROJECT not in tool.schema["properties"]:
        return True
    return tool.asks(msgspec.structs.asdict(tool.check(arguments))) != "memory"


def schema_with_projects(tool: Tool, names: Sequence[str]) -> dict[str, Any]:
    """Return the schema of the tool's arguments with the projects `names`, the default first."""
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
    """Return the schema without `projects`: with one project its tokens are wasted."""
    properties = tool.schema["properties"]
    if PROJECTS not in properties:
        return tool.schema
    return tool.schema | {
        "properties": {name: field for name, field in properties.items() if name != PROJECTS}
    }
