"""Which projects the names and globs of one question mean, of those that its asker may know of."""

from __future__ import annotations

import asyncio
import fnmatch
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from cortex.ask.asking import Asking, Member
from cortex.ask.together.asked import PROJECTS_MAX
from cortex.front.tool import Tool
from cortex.terms.suggestions import hint_for
from ipc.errors import BadRequest, CortexError

#: the argument that names one project, and the key of an answer that does; and several
PROJECT, PROJECTS = "project", "projects"
#: what means all that are not here only to be read
_ALL = ("*", "**")
#: names that an error tells
_TOLD_MAX = 12


def asks_several(tool: Tool, given: Mapping[str, Any]) -> bool:
    """Whether a call asks several projects. Raises BadRequest where it names one as well."""
    if not given.get(PROJECTS) or PROJECTS not in tool.schema["properties"]:
        return False
    if given.get(PROJECT):
        raise BadRequest(f"Pass `{PROJECT}` for one project or `{PROJECTS}` for several, not both.")
    return True


def choose_projects(
    patterns: Sequence[str], names: Sequence[str], read_only: Collection[str] = ()
) -> tuple[str, ...]:
    """Those of `names` that `patterns` mean, in their order; "*" leaves out those that are here to
    be read. Raises BadRequest for what means none, and for more than can be asked at once.
    """
    found: set[str] = set()
    for pattern in (one.strip() for one in patterns):
        if pattern in _ALL:
            meant = [name for name in names if name not in read_only]
        else:
            meant = [name for name in names if name == pattern] or fnmatch.filter(names, pattern)
        if not meant:
            told = ", ".join(names[:_TOLD_MAX]) + (", …" if len(names) > _TOLD_MAX else "")
            raise BadRequest(f"There is no project {pattern!r}{hint_for(pattern, names)}; there are: {told}.")
        found.update(meant)
    if len(found) > PROJECTS_MAX:
        raise BadRequest(
            f"`{PROJECTS}` means {len(found)} projects, and {PROJECTS_MAX} are asked at once; name fewer of them."
        )
    return tuple(name for name in names if name in found)


async def reach_all(names: Sequence[str], reach: Callable[[str], Awaitable[Asking]]) -> list[Member]:
    """Each of `names` as it can be asked; of one that cannot, why."""

    async def member(name: str) -> Member:
        try:
            return Member(name, await reach(name))
        except CortexError as error:
            return Member(name, None, str(error))

    return list(await asyncio.gather(*(member(name) for name in names)))
