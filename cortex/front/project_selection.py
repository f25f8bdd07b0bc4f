"""Which projects the names and globs of one question mean, of those that its asker may know of."""

from __future__ import annotations

import asyncio
import fnmatch
import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cortex.ask.freshness import Freshness
from cortex.ask.multi_project.fan_out import FAR_MAX, PROJECTS_MAX
from cortex.ask.query_context import Member, MilvusProject, QueryContext
from cortex.front.tool import Tool
from cortex.settings.config import Config
from cortex.settings.milvus import milvus_place
from cortex.system.errors import BadRequest, CortexError
from cortex.terms.suggestions import hint_for
from ipc.messages.signals import OF

#: the argument that names one project, and the key of an answer that does; and several
PROJECT, PROJECTS = "project", "projects"
#: what means all that are not here only to be read
_ALL = ("*", "**")
#: names that an error tells
_LISTED_MAX = 12
#: projects of one Milvus that are tried before all of them count as away: each may take half of
#: the time that is left
TRIED_MAX = 3


def asks_projects(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether a call asks several projects. Raises BadRequest where it names one as well."""
    if not arguments.get(PROJECTS) or PROJECTS not in tool.schema["properties"]:
        return False
    if arguments.get(PROJECT):
        raise BadRequest(f"Pass `{PROJECT}` for one project or `{PROJECTS}` for several, not both.")
    return True


def choose_projects(
    patterns: Sequence[str], names: Sequence[str], read_only: Collection[str] = ()
) -> tuple[str, ...]:
    """Those of `names` that `patterns` mean, in their order; "*" leaves out those that are here to
    be read. Raises BadRequest for what means none, and for more than can be asked at once.
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


@dataclass(frozen=True, slots=True)
class SelectedProject:
    """A project that is asked with others; `is_open`: whether its workers are in use already."""

    config: Config
    freshness: Freshness
    is_open: bool


async def reach_all(
    names: Sequence[str],
    find: Callable[[str], SelectedProject],
    reach: Callable[[str], Awaitable[QueryContext]],
) -> list[Member]:
    """Each of `names` as it can be asked; of one that cannot, why. Of those in one Milvus one is
    reached, and the others are asked through its workers. Raises BadRequest for more sets of
    workers than can be asked at once.
    """
    member_by_name: dict[str, Member] = {}
    sets: dict[str, dict[str, SelectedProject]] = {}
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
    group: Mapping[str, SelectedProject],
    reach: Callable[[str], Awaitable[QueryContext]],
) -> dict[str, Member]:
    """Those of `member_by_name` that share workers: all are asked through one of them, an open one where
    there is. Another one is tried where that cannot be reached: its folder may be gone.
    """
    why: CortexError | None = None
    for first in sorted(group, key=lambda name: not group[name].is_open)[:TRIED_MAX]:
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


def far_of(config: Config) -> MilvusProject | None:
    """Where Milvus keeps the project; None where it does not, and for a part, which is not asked
    with others. Raises Misconfigured.
    """
    if not config.remote or config.subfolder:
        return None
    place, embedding = milvus_place(config), config.embedding
    model = embedding.model or embedding.endpoint or embedding.model_path
    identity = (place.address, place.token, place.collection, place.dimensions, embedding.provider, model)
    return MilvusProject(hashlib.sha256(repr(identity).encode()).hexdigest()[:16], place.project)
