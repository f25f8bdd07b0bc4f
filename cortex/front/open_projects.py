"""The projects that one front serves: its own, and others by name, opened at their first call.

The names come from the user's list of projects and from the roots of the client.
"""

import asyncio
import contextlib
import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import Member, QueryContext
from cortex.front.link import Link, Others
from cortex.front.project_selection import (
    PROJECT,
    PROJECTS,
    OpenProject,
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


class NamedProjects(ABC):
    """Calls tools in the project `home`, and in others by name. Use it in one event loop."""

    home: OpenProject

    @abstractmethod
    def usable(self) -> Sequence[str]:
        """Return the names of all projects that calls may use, as last read."""

    @abstractmethod
    def find(self, name: str) -> OpenProject:
        """Return a project by its name. Raises CortexError."""

    @abstractmethod
    async def ask(
        self,
        project: OpenProject,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        others: Others | None = None,
    ) -> dict[str, Any]:
        """Return a project's answer; `others`: as in Link.call."""

    @abstractmethod
    async def refresh(self) -> None:
        """Read the names again, unless they are fresh. Raises Misconfigured."""

    def read_only(self) -> Collection[str]:
        """Return the names of projects that no pattern of all projects means."""
        return ()

    async def call(self, tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the tool's answer for the project in "project", by default the front's own.

        The answer names the project if there are several. Raises BadRequest, and the tool's errors.
        """
        call_arguments = dict(arguments or {})
        if asks_projects(tool, call_arguments):
            return await self.ask_several(tool, call_arguments)
        name = call_arguments.get(PROJECT) or ""
        names = self.usable()
        if (len(names) < 2 and not name) or not may_name_project(tool, call_arguments):
            return await self.ask(self.home, tool, arguments)
        if not isinstance(name, str):
            raise BadRequest(f"`{PROJECT}` must be a project's name.")
        if name and (name not in names or name == self.home.name):
            await self.refresh()
            names = self.usable()
        if len(names) < 2:
            return await self.ask(self.home, tool, arguments)
        project = self.home
        if PROJECT not in tool.schema["properties"] or name in names:  # else it is one of notes
            call_arguments.pop(PROJECT, None)
            project = self.find(name) if name else self.home
        return await self.ask(project, tool, call_arguments) | {PROJECT: project.name}

    async def ask_several(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """As `call`, for all projects that the arguments mean; they stay open meanwhile."""
        await self.refresh()
        with contextlib.ExitStack() as used:

            async def others(patterns: Sequence[str], until: float) -> list[Member]:
                async def reach(name: str) -> QueryContext:
                    project = self.find(name)
                    used.enter_context(project.use())
                    return await project.reach(until)

                names = choose_projects(patterns, self.usable(), self.read_only())
                return await reach_all(names, self.find, reach)

            return await self.ask(self.home, tool, arguments, others)


class OpenProjects(NamedProjects):
    """The project of `link`, others opened at their first call; `roots`: the client's folders."""

    def __init__(self, link: Link, roots: Sequence[Path] = (), make: Callable[[Config], Link] = Link) -> None:
        self._own_link, self._roots, self._make = link, roots, make
        self.home = OpenProject(link.config.folder.name, link.config, make, link)
        self._other_projects: dict[str, ProjectEntry] = {}
        #: other projects that calls have named since the names were read, and open ones
        self._others: dict[str, OpenProject] = {}
        self._agent, self._read = "", -math.inf

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
        for project in (self.home, *self._others.values()):
            if project.link is not None:
                project.link.name(agent)

    async def close(self) -> None:
        others = list(self._others.values())
        self._others.clear()
        await asyncio.gather(self._own_link.close(), *(project.close() for project in others))

    async def names(self) -> tuple[str, ...]:
        """Return the names of all projects, the front's own first; empty if there is no other.

        An unreadable list of projects is logged here, and is an error for a call that names one.
        """
        try:
            await self.refresh()
        except CortexError as error:
            log.warning("%s", error)
        return self.usable() if self._other_projects else ()

    def usable(self) -> tuple[str, ...]:
        return (self.home.name, *self._other_projects)

    def read_only(self) -> list[str]:
        return [name for name, project in self._other_projects.items() if project.read_only]

    def find(self, name: str) -> OpenProject:
        if name == self.home.name:
            return self.home
        entry = self._other_projects.get(name)
        if entry is None:
            names = self.usable()
            raise BadRequest(
                f"There is no project {name!r}{hint_for(name, names)}; there are: {', '.join(names)}."
            )
        if name not in self._others:
            self._others[name] = OpenProject(name, self._load_config(entry), self._make_link)
        return self._others[name]

    async def ask(
        self,
        project: OpenProject,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        others: Others | None = None,
    ) -> dict[str, Any]:
        if project.name in self.read_only() and not tool.reads:
            raise BadRequest(f"{project.name} is read-only, and {tool.name} writes. Leave `{PROJECT}` out.")
        with project.use() as link:
            if project is not self.home:
                await self._close_others()
            return await link.call(tool, arguments, others=others)

    async def ask_several(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await super().ask_several(tool, arguments)
        finally:
            await self._close_others()

    def _make_link(self, config: Config) -> Link:
        link = self._make(config)
        link.name(self._agent)
        return link

    def _load_config(self, project: ProjectEntry) -> Config:
        """Load a project's configuration with this front's memory. Raises Misconfigured."""
        memory = {"data_dir": self._own_link.config.memory.data_dir}
        config = configuration.load(project.root, {"memory": memory})
        return replace(config, explicit_root=project.root not in self._roots)  # of the client's choice

    async def _close_others(self) -> None:
        """Close the least recently used projects without running calls, down to OPEN_MAX."""
        opened = [project for project in self._others.values() if project.link is not None]
        idle = sorted((project for project in opened if not project.calls), key=lambda idle: idle.began)
        for project in idle[: max(0, len(opened) - OPEN_MAX)]:
            if not project.calls:  # a call may have begun while another project closed
                self._others.pop(project.name, None)  # the next call reads its configuration again
                await project.close()

    async def refresh(self) -> None:
        if time.monotonic() - self._read < FRESH_S:
            return
        own_folder = self._own_link.config.folder
        projects = await asyncio.to_thread(_find_projects, self._roots, self._own_link.config.root)
        self.home.name = next(
            (name for name, project in projects.items() if project.root == own_folder), own_folder.name
        )
        self._other_projects = {
            name: project
            for name, project in projects.items()
            if project.root != own_folder and name != self.home.name
        }
        self._others = {name: project for name, project in self._others.items() if project.link is not None}
        self._read = time.monotonic()


def _find_projects(roots: Sequence[Path], own_root: Path) -> dict[str, ProjectEntry]:
    """Return name → project: client's roots, the user's, packages. Raises Misconfigured."""
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
