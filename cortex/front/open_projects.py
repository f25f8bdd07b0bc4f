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
    Chosen,
    asks_several,
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
TOLD_MAX = 12


@dataclass
class _Open:
    """A link to another project, and how many calls wait for it."""

    link: Link
    calls: int = 0


class Several:
    """Speaks for `own`, and for others by their names. Use it in one event loop.

    `roots`: further folders that the client itself works in.
    """

    def __init__(self, own: Link, roots: Sequence[Path] = (), make: Callable[[Config], Link] = Link) -> None:
        self._own, self._roots, self._make = own, roots, make
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._known: dict[str, ProjectEntry] = {}
        #: what was read of those that are not open, while the names are as they were read
        self._chosen: dict[str, Chosen] = {}
        self._name, self._agent = own.config.folder.name, ""
        self._read = -math.inf

    @property
    def freshness(self) -> Freshness:
        return self._own.freshness

    def open(self) -> None:
        self._own.open()

    def count_refused(self) -> None:
        self._own.count_refused()

    def name(self, agent: str) -> None:
        self._agent = agent
        self._own.name(agent)
        for one in self._open.values():
            one.link.name(agent)

    async def close(self) -> None:
        links = [self._own, *(one.link for one in self._open.values())]
        self._open.clear()
        await asyncio.gather(*(link.close() for link in links))

    async def names(self) -> tuple[str, ...]:
        """Its own first; none where there is no other. A file that cannot be understood is told by
        the log, and by who asks for a project.
        """
        try:
            await self._learn()
        except CortexError as error:
            log.warning("%s", error)
        return (self._name, *self._known) if self._known else ()

    async def call(self, tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """What the tool answers of the project that is named, or of its own; it says which, where
        there are several. Raises BadRequest, and what the tool raises.
        """
        given = dict(arguments or {})
        if asks_several(tool, given):
            return await self._call_several(tool, given)
        named = given.get(PROJECT) or ""
        if not (named or self._known) or not may_name(tool, given):
            return await self._own.call(tool, arguments)
        if not isinstance(named, str):
            raise BadRequest(f"The argument `{PROJECT}` must be a project's name.")
        if named and named not in self._known:  # its own name, too, once it has been read
            await self._learn()
        if not self._known:
            return await self._own.call(tool, arguments)
        for_notes = PROJECT in tool.schema["properties"] and named not in self._known
        if not for_notes or named == self._name:
            given.pop(PROJECT, None)
        if named in ("", self._name) or for_notes:
            return await self._own.call(tool, given) | {PROJECT: self._name}
        return await self._ask(self._find(named, tool), tool, given)

    def _find(self, named: str, tool: Tool) -> ProjectEntry:
        known = self._known.get(named)
        if known is None:
            there = (self._name, *self._known)
            raise BadRequest(
                f"There is no project {named!r}{hint_for(named, there)}; there are: {', '.join(there)}."
            )
        if known.read_only and not tool.reads:
            raise BadRequest(f"{known.name} is here to be read: {tool.name} writes, leave `{PROJECT}` out.")
        return known

    async def _call_several(self, tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the tool answers of several projects; those that were opened for it and are too
        many are let go of.
        """
        await self._learn()
        used: list[_Open] = []

        async def others(patterns: Sequence[str], until: float) -> list[Member]:
            read_only = [name for name, one in self._known.items() if one.read_only]
            names = choose_projects(patterns, (self._name, *self._known), read_only)
            return await reach_all(names, self._choose, lambda name: self._reach(name, used, until))

        try:
            return await self._own.call(tool, given, others=others)
        finally:
            for one in used:
                one.calls -= 1
            await self._close_others()

    def _choose(self, name: str) -> Chosen:
        """How it is asked with others. Raises Misconfigured."""
        if name == self._name:
            return Chosen(self._own.config, self._own.freshness, is_open=True)
        if name in self._open:
            link = self._open[name].link
            return Chosen(link.config, link.freshness, is_open=True)
        chosen = self._chosen.get(name)
        if chosen is None:
            config = self._configured(self._known[name])
            chosen = self._chosen[name] = Chosen(config, Freshness(config), is_open=False)
        return chosen

    async def _reach(self, name: str, used: list[_Open], until: float) -> QueryContext:
        """One of several that are asked, which stays open in `used`. Raises CortexError."""
        if name != self._name:
            used.append(one := self._opened(self._known[name]))
            one.calls += 1
            return await one.link.reach(until)
        return await self._own.reach(until)

    async def _ask(self, known: ProjectEntry, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        one = self._opened(known)
        one.calls += 1
        try:
            await self._close_others()
            return await one.link.call(tool, arguments) | {PROJECT: known.name}
        finally:
            one.calls -= 1

    def _opened(self, known: ProjectEntry) -> _Open:
        one = self._open.get(known.name)
        if one is None:
            one = self._open[known.name] = _Open(self._made(known))
            one.link.open()
        self._open.move_to_end(known.name)
        return one

    def _made(self, known: ProjectEntry) -> Link:
        """A link that shares this one's memory. Raises Misconfigured."""
        link = self._make(self._configured(known))
        link.name(self._agent)
        return link

    def _configured(self, known: ProjectEntry) -> Config:
        memory = {"data_dir": self._own.config.memory.data_dir}
        return configuration.load(known.root, {"memory": memory})

    async def _close_others(self) -> None:
        """Let go of those that were asked longest ago, and that nobody waits for."""
        for name, one in list(self._open.items()):
            if len(self._open) > OPEN_MAX and not one.calls:
                del self._open[name]
                await one.link.close()

    async def _learn(self) -> None:
        """Which projects there are. Raises Misconfigured."""
        if time.monotonic() - self._read < FRESH_S:
            return
        own = self._own.config.folder
        found = await asyncio.to_thread(_found, self._roots, self._own.config.root)
        self._name = next((name for name, one in found.items() if one.root == own), own.name)
        self._known = {name: one for name, one in found.items() if one.root != own and name != self._name}
        self._chosen.clear()
        self._read = time.monotonic()


def _found(roots: Sequence[Path], own: Path) -> dict[str, ProjectEntry]:
    """By name: what the client works in, and what the user knows, of packages those of `own`.
    Raises Misconfigured.
    """
    known = {name: one for name, one in known_projects().items() if one.of in (None, own)}
    there = [root for root in roots if root.is_dir()]
    return {name: ProjectEntry(name, root) for name, root in by_name(there).items()} | known


def may_name(tool: Tool, given: Mapping[str, Any]) -> bool:
    """Whether `project` of a call with these arguments is a folder: of what asks memory alone it
    may be an argument of its own. Raises BadRequest.
    """
    if PROJECT not in tool.schema["properties"]:
        return True
    return tool.asks(msgspec.structs.asdict(tool.check(given))) != "memory"


def listed(tool: Tool, names: Sequence[str]) -> dict[str, Any]:
    """The schema of the tool's arguments where there are these projects, the default one first."""
    if not names:
        return _without_projects(tool)
    own = PROJECT in tool.schema["properties"]
    if own and tool.asks({}) == "memory":
        return tool.schema
    others = ", ".join(names[1 : TOLD_MAX + 1]) + (", …" if len(names) > TOLD_MAX + 1 else "")
    notes = "; of notes also `all`" if own else ""
    told = {"type": "string", "description": f"{names[0]} (default), {others}{notes}."}
    return tool.schema | {"properties": tool.schema["properties"] | {PROJECT: told}}


def _without_projects(tool: Tool) -> dict[str, Any]:
    """Where there is one project nobody pays for the argument that names several."""
    properties = tool.schema["properties"]
    if PROJECTS not in properties:
        return tool.schema
    return tool.schema | {"properties": {name: one for name, one in properties.items() if name != PROJECTS}}
