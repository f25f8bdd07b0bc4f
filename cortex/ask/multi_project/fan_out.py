"""The fan-out of one question to its projects: their workers are asked at once, each in its own
generation, all with one deadline. A question to one project is a list of one. With several, the
answer names each result's project and those that cannot answer. The messages are in search and
exact.
"""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from msgspec import structs

from cortex.ask.freshness import PENDING_NAMED
from cortex.ask.multi_project.joint import group_by_place, open_joint_turn
from cortex.ask.query_context import Member, QueryContext, Starting, Turn, no_answer_error
from cortex.ask.questions import NO_FILTERS
from cortex.system.errors import BadRequest, CortexError, NotReady, Unavailable
from ipc.messages import NO_COUNTS, CountWords, Filters, WordCounts
from ipc.messages.signals import OF

T = TypeVar("T")

#: worker sets that one question asks: each project has its own, some 250 MB; the projects of one
#: store share one
PROJECTS_MAX = 16
#: projects in stores that one question asks: the rows of all are in the memory of two workers, some
#: 60 bytes each
FAR_MAX = 1_000
#: projects that an answer names without showing results of them
NAMED_MAX = 16
#: share of a call's remaining time for the counts of words: a project that is late counts with
#: nothing, and may still answer
COUNTS_SHARE = 0.2
#: the context's own project in a question that names none
HOME = ""


@dataclass(frozen=True)
class FanOut:
    """One try at an answer: project → turn of those that can answer; `away`: the others' errors."""

    turns: Mapping[str, Turn]
    away: dict[str, CortexError]

    @cached_property
    def home(self) -> Turn | None:
        """The turn of a question that names no project: its answer names none either."""
        return self.turns.get(HOME)

    @cached_property
    def names(self) -> list[str]:
        """The projects in the order of their numbers; a joint turn has several."""
        return [project for name, turn in self.turns.items() for project in turn.generations(name)]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each turn's first project."""
        counts = [len(turn.generations(name)) for name, turn in self.turns.items()]
        return dict(zip(self.turns, itertools.accumulate([0, *counts]), strict=False))

    def project_of(self, name: str, path: str) -> str:
        """Return the project of a file, from its path in that turn's workers."""
        number, is_joint, _ = path.partition(OF)
        return self.names[self.numbers[name] + int(number)] if is_joint else name

    def name_project(self, project: str) -> dict[str, Any]:
        """Return the field with a result's project; {} for a question that names none."""
        return {} if self.home is not None else {"project": project}

    def label(self, name: str) -> str:
        """Return the name of a turn in an answer."""
        return self.turns[name].label(name)

    @cached_property
    def plain(self) -> str | None:
        """The name of the only turn, whose workers hold one project; None for more projects."""
        name, *others = self.turns
        return None if others or name.startswith(OF) else name

    def stale(self, files: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
        """Return turn → those of `files` (turn, path in its workers) that differ from its
        generation.
        """
        paths: dict[str, list[str]] = {name: [] for name in self.turns}
        for name, path in files:
            paths[name].append(path)
        return {name: turn.stale(paths[name]) for name, turn in self.turns.items()}

    def limit_wait(self, turn: Turn, until: float) -> Turn:
        """Return the turn with `until` as the end of all waiting, also for a starting worker; a
        question to one project waits for that until the call ends.
        """
        if len(self.turns) < 2:
            return turn
        return replace(turn, context=replace(turn.context, until=until), until=until)

    def no_answer_error(self) -> Unavailable:
        """Return the error when no project is left to answer."""
        errors = [error for turn in self.turns.values() for error in turn.silent_lanes]
        # A caller that waits for starting workers must see that they are starting.
        starting = any(isinstance(error, Starting) for error in self.away.values())
        return no_answer_error(
            [*errors, *map(Starting if starting else Unavailable, _away_sentences(self.away))]
        )

    def index(self, notes: Iterable[str] = (), visible: Collection[str] = ()) -> dict[str, Any]:
        """Return the answer's `index` block, merged from the projects' blocks. With more than
        NAMED_MAX projects, only those that are `visible` show their generations.
        """
        if self.home is not None:
            return self.home.index(notes)
        blocks = {name: turn.index() for name, turn in self.turns.items()}
        pending = [
            self.turns[name].qualify(name, path)
            for name, block in blocks.items()
            for path in block["pending"]
        ]
        degraded = [
            f"{self.label(name)}:{worker}" for name, block in blocks.items() for worker in block["degraded"]
        ]
        sentences = _away_sentences(self.away)
        sentences += [
            f"{self.label(name)}: {block['message']}" for name, block in blocks.items() if "message" in block
        ]
        generations = {
            project: number
            for name, turn in self.turns.items()
            for project, number in turn.generations(name).items()
        }
        index: dict[str, Any] = {}
        if len(generations) > NAMED_MAX:
            index["projects"] = len(generations)
            generations = {name: number for name, number in generations.items() if name in visible}
        index |= {
            "generations": generations,
            "pending": pending[:PENDING_NAMED],
            "pending_count": sum(block["pending_count"] for block in blocks.values()),
            "degraded": _first_names([*self.away, *degraded]),
        }
        return index | ({"message": " ".join([*sentences, *notes])} if sentences or notes else {})

    def explain_nothing(self, filters: Filters = NO_FILTERS, floor: float | None = None) -> str:
        """Return why an answer is empty."""
        reasons = {
            turn.label(name): turn.explain_nothing(filters, floor) for name, turn in self.turns.items()
        }
        if len(set(reasons.values())) == 1:
            return next(iter(reasons.values()))
        return " ".join(f"{name}: {why}" for name, why in reasons.items())


async def attempt(
    context: QueryContext, projects: Sequence[str], make: Callable[[FanOut], Awaitable[T]]
) -> tuple[FanOut, T | None]:
    """Return the fan-out and the result of `make` for the current generations of the projects that
    `projects` (names and globs) select, () for the context's own; None before its first generation.
    Try once more where a newer generation has replaced one.

    Raises BadRequest for unknown projects, Unavailable where none can be asked, and all other
    errors of `make`.
    """
    if not projects:
        turn, result = await context.attempt(lambda turn: make(at_home(turn)))
        return at_home(turn), result
    if context.others is None:
        raise BadRequest("There is one project here; leave `projects` out.")
    members = await context.others(projects)
    fan_out = await _open_turns(members, final=False)
    try:
        return fan_out, await make(fan_out)
    except NotReady:
        fan_out = await _open_turns(members, final=True)
        try:
            return fan_out, await make(fan_out)
        except NotReady as error:
            raise no_answer_error([error]) from error


def at_home(turn: Turn) -> FanOut:
    """Return the fan-out of a question that names no project."""
    return FanOut({HOME: turn}, {})


async def _open_turns(members: Sequence[Member], *, final: bool) -> FanOut:
    """Open turns in the newest generations; wait for a first one only where none has any."""
    turns, away = await _open_joint_turns(members, final=final)
    reachable = {
        member.name: member.context for member in members if member.context is not None and member.far is None
    }
    generations = {name: context.freshness.current() for name, context in reachable.items()}
    if not turns and not any(generation.number for generation in generations.values()):
        waited = await asyncio.gather(*(context.first_generation() for context in reachable.values()))
        generations = dict(zip(reachable, waited, strict=True))
    # Renewed, so that time is left to read the hits, however long the workers took to reach.
    near = {
        name: context.turn(generations[name], final=final).renewed()
        for name, context in reachable.items()
        if generations[name].number
    }
    away |= {
        member.name: member.why or Unavailable(reachable[member.name].freshness.explain_nothing())
        for member in members
        if member.far is None and member.name not in near
    }
    fan_out = FanOut(near | turns, away)
    if not fan_out.turns:
        raise fan_out.no_answer_error()
    return fan_out


async def _open_joint_turns(
    members: Sequence[Member], *, final: bool
) -> tuple[dict[str, Turn], dict[str, CortexError]]:
    """Return (a turn for each place of a store, under a name that no project can have; project
    there → the error that keeps it out).
    """
    turns: dict[str, Turn] = {}
    away: dict[str, CortexError] = {}
    places = group_by_place(members)
    alone = any(len(group) == len(members) for group in places.values())
    joined = (open_joint_turn(group, final=final, alone=alone) for group in places.values())
    for place, (turn, others) in zip(places, await asyncio.gather(*joined), strict=True):
        away |= others
        if turn is not None:
            turns[f"{OF}{place}"] = turn.renewed()
    return turns, away


def _away_sentences(away: Mapping[str, CortexError]) -> list[str]:
    """Return the reasons why projects are not asked, each sentence once."""
    whose: dict[str, list[str]] = {}
    for name, why in away.items():
        whose.setdefault(str(why), []).append(name)
    return [
        why if names == [HOME] else f"{', '.join(_first_names(names))}: {why}" for why, names in whose.items()
    ]


def _first_names(names: Sequence[str]) -> list[str]:
    more = len(names) - NAMED_MAX
    return [*names[:NAMED_MAX], f"and {more} more"] if more > 0 else list(names)


async def _settle(calls: Awaitable[T]) -> T | CortexError:
    try:
        return await calls
    except CortexError as error:
        return error


async def ask_each(fan_out: FanOut, ask: Callable[[str, Turn], Awaitable[T]]) -> dict[str, T]:
    """Return project → the result of `ask`. A project that fails or refuses is added to `away`.
    Where none answers, raises BadRequest if one refuses, and Unavailable. Raises NotReady for a
    project that may be asked once more.
    """
    names = list(fan_out.turns)
    calls = [ask(name, turn) for name, turn in fan_out.turns.items()]
    replies: Sequence[T | BaseException]
    if len(calls) > 1:
        replies = await asyncio.gather(*calls, return_exceptions=True)
    else:  # a task for one would cost time
        replies = [await _settle(calls[0])]
    answers: dict[str, T] = {}
    for name, reply in zip(names, replies, strict=True):
        if not isinstance(reply, BaseException):
            answers[name] = reply
            continue
        once_more = isinstance(reply, NotReady) and not fan_out.turns[name].final
        if once_more or not isinstance(reply, CortexError):
            raise reply
        fan_out.away[fan_out.label(name)] = reply
    if not answers:
        raise next((error for error in replies if isinstance(error, BadRequest)), fan_out.no_answer_error())
    return answers


def add_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of the counts of each key."""
    sums: dict[str, int] = {}
    for projects in counts:
        for key, count in projects.items():
            sums[key] = sums.get(key, 0) + count
    return sums


async def count_words(fan_out: FanOut, message: CountWords) -> WordCounts:
    """Return all projects' word counts for scoring, none for a single turn. Raises NotReady."""
    if len(fan_out.turns) < 2:
        return NO_COUNTS

    async def ask(_name: str, turn: Turn) -> WordCounts:
        if not turn.takes_counts and not message.keywords:
            return NO_COUNTS
        until = time.monotonic() + COUNTS_SHARE * turn.context.left_s()
        try:
            request = structs.replace(message, generation=turn.generation.number)
            return await fan_out.limit_wait(turn, until).ask("text", request, WordCounts)
        except NotReady:
            raise
        except CortexError:  # its answer reports the fault; another engine may not know this message
            return NO_COUNTS

    return add_counts(list((await ask_each(fan_out, ask)).values()))


def add_counts(counts: Sequence[WordCounts]) -> WordCounts:
    holding = add_up(project_counts.holding for project_counts in counts)
    return WordCounts(chunks=sum(project_counts.chunks for project_counts in counts), holding=holding)
