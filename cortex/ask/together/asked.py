"""One question to several projects: their workers are asked at once, each of a generation of its
own, all until one deadline. Who cannot answer is named in the answer. What is asked is in search
and exact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from cortex.ask.asking import Asking, Member, Turn, nobody
from cortex.ask.freshness import PENDING_NAMED
from cortex.ask.questions import NO_FILTERS
from ipc.errors import BadRequest, CortexError, NotReady, Unavailable
from ipc.messages import Filters

T = TypeVar("T")

#: projects that one question asks at most: each has workers of its own, some 250 MB
PROJECTS_MAX = 16


@dataclass(frozen=True, slots=True)
class Together:
    """One try at an answer: the projects that have something to answer from, by name, and why the
    others do not answer.
    """

    turns: Mapping[str, Turn]
    away: dict[str, str]

    @property
    def names(self) -> list[str]:
        return list(self.turns)

    def stale(self, name: str, paths: Iterable[str]) -> frozenset[str]:
        return self.turns[name].stale(paths)

    def nobody(self) -> Unavailable:
        """Nobody is left who could answer."""
        errors = [error for turn in self.turns.values() for error in turn.silent.values()]
        told = [Unavailable(f"{name}: {why}") for name, why in self.away.items()]
        return nobody([*errors, *told])

    def index(self, notes: Iterable[str] = ()) -> dict[str, Any]:
        """The `index` block of the answer: what the blocks of the projects say, by their names."""
        blocks = {name: turn.index() for name, turn in self.turns.items()}
        pending = [f"{name}:{path}" for name, block in blocks.items() for path in block["pending"]]
        degraded = [f"{name}:{worker}" for name, block in blocks.items() for worker in block["degraded"]]
        said = [f"{name}: {why}" for name, why in self.away.items()]
        said += [f"{name}: {block['message']}" for name, block in blocks.items() if "message" in block]
        index: dict[str, Any] = {
            "generations": {name: block["generation"] for name, block in blocks.items()},
            "pending": pending[:PENDING_NAMED],
            "pending_count": sum(block["pending_count"] for block in blocks.values()),
            "degraded": [*self.away, *degraded],
        }
        return index | ({"message": " ".join([*said, *notes])} if said or notes else {})

    def explain_nothing(self, filters: Filters = NO_FILTERS, floor: float | None = None) -> str:
        """Why an answer is empty."""
        told = {name: turn.explain_nothing(filters, floor) for name, turn in self.turns.items()}
        if len(set(told.values())) == 1:
            return next(iter(told.values()))
        return " ".join(f"{name}: {why}" for name, why in told.items())


async def attempt(asking: Asking, projects: Sequence[str], make: Callable[[Together], Awaitable[T]]) -> T:
    """What `make` makes of one generation of each project that `projects` (names and globs) mean;
    of the newest ones once more where one has moved on meanwhile.

    Raises BadRequest for projects that there are not, Unavailable where none can be asked, and what
    `make` raises.
    """
    if asking.others is None:
        raise BadRequest("There is one project here; leave `projects` out.")
    members = await asking.others(projects)
    try:
        return await make(await _together(members, final=False))
    except NotReady:
        together = await _together(members, final=True)
        try:
            return await make(together)
        except NotReady as error:
            raise nobody([error]) from error


async def _together(members: Sequence[Member], *, final: bool) -> Together:
    """The newest generation of each. One that has none yet is waited for only where nobody has."""
    there = {one.name: one.asking for one in members if one.asking is not None}
    found = {name: asking.freshness.current() for name, asking in there.items()}
    if not any(generation.number for generation in found.values()):
        waited = await asyncio.gather(*(asking.first_generation() for asking in there.values()))
        found = dict(zip(there, waited, strict=True))
    # Time is left to read what is found, however long it took to reach them.
    turns = {
        name: asking.turn(found[name], final=final).renewed()
        for name, asking in there.items()
        if found[name].number
    }
    away = {
        one.name: one.why if one.asking is None else one.asking.freshness.explain_nothing()
        for one in members
        if one.name not in turns
    }
    together = Together(turns, away)
    if not turns:
        raise together.nobody()
    return together


async def each(together: Together, ask: Callable[[str, Turn], Awaitable[T]]) -> dict[str, T]:
    """What `ask` returns for each project; one that fails is among those that are away, also one
    that refuses what others answer. Raises BadRequest where none answers and one refuses, and
    NotReady of a project that may be asked once more.
    """
    names = list(together.turns)
    told = await asyncio.gather(*(ask(name, together.turns[name]) for name in names), return_exceptions=True)
    found: dict[str, T] = {}
    for name, one in zip(names, told, strict=True):
        if not isinstance(one, BaseException):
            found[name] = one
            continue
        once_more = isinstance(one, NotReady) and not together.turns[name].final
        if once_more or not isinstance(one, CortexError):
            raise one
        together.away[name] = str(one)
    if refused := [one for one in told if isinstance(one, BadRequest) and not found]:
        raise refused[0]
    return found


def bounded(turn: Turn, until: float) -> Turn:
    """The turn, in which nobody is waited for longer: also not for a worker that is starting, for
    which a question to one project waits as long as the call has.
    """
    asking = replace(turn.asking, until=until)
    return replace(turn, asking=asking, until=until)
