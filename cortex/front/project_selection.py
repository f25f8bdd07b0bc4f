"""Selection of the projects that the names and globs of one call mean, and connections to them."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import hashlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cortex.ask.freshness import Freshness
from cortex.ask.multi_project.fan_out import FAR_MAX, PROJECTS_MAX
from cortex.ask.query_context import Member, QueryContext, StoredProject
from cortex.front.tool import Tool
from cortex.settings.config import Config
from cortex.system.errors import BadRequest, CortexError
from cortex.terms.text.suggestions import hint_for
from ipc.messages.signals import OF

if TYPE_CHECKING:  # a command imports it while its workers start
    from cortex.front.link import Link

#: the argument for one project, also a key of answers; the argument for several
PROJECT, PROJECTS = "project", "projects"
#: patterns that mean all projects but read-only ones
_ALL = ("*", "**")
#: maximum of names in an error
_LISTED_MAX = 12
#: projects of one store that are tried before all of them count as unavailable: each try may take
#: half of the time left
TRIED_MAX = 3


def asks_projects(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether a call asks several projects. Raises BadRequest if it also names one."""
    if not arguments.get(PROJECTS) or PROJECTS not in tool.schema["properties"]:
        return False
    if arguments.get(PROJECT):
        raise BadRequest(f"Pass `{PROJECT}` for one project or `{PROJECTS}` for several, not both.")
    return True


def choose_projects(
    patterns: Sequence[str], names: Sequence[str], read_only: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the `names` that match `patterns`, in the order of `names`; "*" excludes `read_only`.

    Raises BadRequest for a pattern without a match, and for more than FAR_MAX projects.
    """
    selected: set[str] = set()
    for pattern in (raw.strip() for raw in patterns):
        if pattern in _ALL:
            meant = [name for name in names if name not in read_only]
        else:
            meant = [name for name in names if name == pattern] or fnmatch.filter(names, pattern)
        if not meant:
            listed = ", ".join(names[:_LISTED_MAX]) + (", …" if len(names) > _LISTED_MAX else "")
            raise BadRequest(
                f"There is no project {pattern!r}{hint_for(pattern, names)}; there are: {listed}."
            )
        selected.update(meant)
    if len(selected) > FAR_MAX:
        raise BadRequest(
            f"`{PROJECTS}` means {len(selected)} projects, and {FAR_MAX} are asked at once; name fewer of them."
        )
    return tuple(name for name in names if name in selected)


class OpenProject:
    """A project of a front: its link since the first use, its running calls. For one event loop."""

    def __init__(
        self, name: str, config: Config, make: Callable[[Config], Link], link: Link | None = None
    ) -> None:
        """`link`: the project's link, if it exists already; who made it opens it."""
        self.name, self.config, self.link = name, config, link
        self._make = make
        self._freshness = link.freshness if link is not None else Freshness(config)
        self.calls = 0
        #: times of the last call's begin and end (monotonic)
        self.began = self.ended = 0.0

    @property
    def freshness(self) -> Freshness:
        return self.link.freshness if self.link is not None else self._freshness

    @contextlib.contextmanager
    def use(self) -> Iterator[Link]:
        """Open the project, and keep it open during the block."""
        if self.link is None:
            self.link = self._make(self.config)
            self.link.open()
        self.calls, self.began = self.calls + 1, time.monotonic()
        try:
            yield self.link
        finally:
            self.calls, self.ended = self.calls - 1, time.monotonic()

    async def reach(self, until: float) -> QueryContext:
        """Return the context for a call to several projects, inside `use`. Raises CortexError."""
        assert self.link is not None
        return await self.link.reach(until)

    async def close(self) -> None:
        link, self.link = self.link, None
        if link is not None:
            await link.close()


async def reach_all(
    names: Sequence[str], find: Callable[[str], OpenProject], reach: Callable[[str], Awaitable[QueryContext]]
) -> list[Member]:
    """Return a member for each name, with its context or the error that prevents one.

    Projects in one store share the workers of one of them. Raises BadRequest for more than
    PROJECTS_MAX sets of workers.
    """
    member_by_name: dict[str, Member] = {}
    sets: dict[str, dict[str, OpenProject]] = {}
    for name in names:
        try:
            selected = find(name)
            far = far_of(selected.config)
        except CortexError as error:
            member_by_name[name] = Member(name, None, error)
            continue
        member_by_name[name] = Member(name, None, far=far)
        sets.setdefault(far.place if far else f"{OF}{name}", {})[name] = selected
        if len(sets) > PROJECTS_MAX:
            raise BadRequest(
                f"`{PROJECTS}` means {len(names)} projects, and {PROJECTS_MAX} are asked at once; name fewer of them."
            )

    for members in await asyncio.gather(
        *(_reach_group(member_by_name, group, reach) for group in sets.values())
    ):
        member_by_name |= members
    return [member_by_name[name] for name in names]


async def _reach_group(
    member_by_name: Mapping[str, Member],
    group: Mapping[str, OpenProject],
    reach: Callable[[str], Awaitable[QueryContext]],
) -> dict[str, Member]:
    """Return the members of a group that shares workers, all with the context of one of them.

    Open projects are tried first, then up to TRIED_MAX: the folder of one may be gone.
    """
    why: CortexError | None = None
    for first in sorted(group, key=lambda name: group[name].link is None)[:TRIED_MAX]:
        try:
            context = await reach(first)
        except CortexError as error:
            why = why or error
            continue
        others = {
            name: replace(context, config=project.config, freshness=project.freshness)
            for name, project in group.items()
            if name != first
        }
        return {name: replace(member_by_name[name], context=others.get(name, context)) for name in group}
    return {name: replace(member_by_name[name], why=why) for name in group}


def far_of(config: Config) -> StoredProject | None:
    """Return the project's place in a store; None without one, and for a subfolder, which cannot
    be asked with others. Raises Misconfigured.
    """
    if (store := config.store) is None or config.subfolder:
        return None
    embedding = config.embedding
    model = embedding.model or embedding.endpoint or embedding.model_path
    identity = (*store.group(config), embedding.provider, model)
    place = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    return StoredProject(place, store.project(config), store.title)
