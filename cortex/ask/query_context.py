"""The loop around every question: its generation, deadline, silent workers and second try.

An answer is made from one generation. Every lane gets LANE_SHARE of the deadline; a lane that stays
silent is left out and named in `index.degraded`. When a newer generation replaces this one
meanwhile, the question is asked once more, as a whole. The modules search, exact, structure and
related decide which worker gets which message.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from msgspec import structs

from cortex.ask.code_notes.blame import Commits
from cortex.ask.code_notes.renames import Renames
from cortex.ask.freshness import Freshness
from cortex.ask.questions import NO_FILTERS
from cortex.generation.current import Generation
from cortex.memory.table import is_write
from cortex.settings.config import Config
from cortex.system.errors import BY_CODE, BadRequest, CortexError, NotFound, NotReady, Unavailable
from ipc.client import Silent
from ipc.codec import decode, encode
from ipc.messages import (
    Answers,
    Chunks,
    Failure,
    Fetch,
    Filters,
    GraphSearch,
    Hit,
    Locate,
    Located,
    Message,
    NameSearch,
    PatternSearch,
    Place,
    Several,
)

M = TypeVar("M")
T = TypeVar("T")

#: state of an absent worker: its first start, a start after it ended, or "" for neither
Standing = Literal["starting", "restarting", ""]
#: the reader of an answer: an agent's model, or a program
Audience = Literal["agent", "program"]

#: the workers of a search's lanes, in the order of their errors in a message
LANES = ("text", "embed", "vector")
#: share of a call's deadline that each lane gets
LANE_SHARE = 0.6
#: seconds from its start that a call waits for the very first generation: an answer that says
#: "nothing indexed yet" must arrive within three seconds
FIRST_GENERATION_S = 2.5
#: seconds between two reads of CURRENT while waiting for the first generation
LOOK_S = 0.05
#: seconds after the start of a front, or of the worker set that it uses, in which a call waits for
#: an absent worker: it was just started and may not answer yet
SETTLE_S = 10.0


#: seconds that must remain of a call when it stops waiting for a starting worker
REST_S = 1.0


class Starting(Silent):
    """The error of a worker that does not answer because it is starting."""


class Asker(Protocol):
    """The part of ipc.client.Client that a query needs."""

    async def ask(self, worker: str, message: Message, deadline_s: float) -> Message: ...


class MemoryAsker(Protocol):
    """The part of cortex.ask.memory.MemoryContext that a memory tool needs."""

    async def call(
        self,
        operation: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        operation_id: str = "",
        writes: bool,
    ) -> dict[str, Any]: ...

    async def glance(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None: ...


@dataclass(frozen=True, slots=True)
class StoredProject:
    """A project in a store. `place` tells apart stores and the models of their vectors; `project`
    is the project's name there; `title` names the store in sentences.
    """

    place: str
    project: str
    title: str


@dataclass(frozen=True, slots=True)
class Member:
    """One project of a question to several. `context` is None when it cannot be asked; `why` holds
    the reason. A project with `far` is asked together with the others of the same place,
    through the workers of one of them, which `context` reaches.
    """

    name: str
    context: QueryContext | None
    why: CortexError | None = None
    far: StoredProject | None = None


@dataclass(frozen=True, slots=True)
class QueryContext:
    """The settings, workers and deadline of one tool call; `until` (monotonic) ends it."""

    config: Config
    client: Asker
    freshness: Freshness
    until: float
    #: monotonic time until which an absent worker may still be starting
    settled: float = 0.0
    #: access to the memory set, which starts with the first call
    memory: MemoryAsker | None = None
    #: renamed files that git reports
    renames: Renames | None = None
    #: the commits that last changed a place, from git; None: not wanted
    commits: Commits | None = None
    #: returns the `Standing` of an absent worker; None where no supervisor can be asked
    standing: Callable[[str], Awaitable[Standing]] | None = None
    #: opens the projects that names and globs select; None where there is only this project
    others: Callable[[Sequence[str]], Awaitable[Sequence[Member]]] | None = None
    #: the reader of the answer: agents get it as text, with less in it
    audience: Audience = "program"

    async def remember(
        self, operation: str, arguments: Mapping[str, Any] | None = None, *, operation_id: str = ""
    ) -> dict[str, Any]:
        """Return the answer of a memory operation. Raises its errors, and Unavailable."""
        if self.memory is None:
            raise Unavailable("There is no way to memory here; call the tool through `cortex mcp`.")
        return await self.memory.call(
            operation, arguments, operation_id=operation_id, writes=is_write(operation)
        )

    async def glance(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return memory's quick answer; None when memory does not run or is busy."""
        return None if self.memory is None else await self.memory.glance(operation, arguments)

    async def attempt(self, make: Callable[[Turn], Awaitable[T]]) -> tuple[Turn, T | None]:
        """Return the turn and the result of `make` for it; None before the first generation.

        NotReady from `make` means that a worker is ahead of the turn's generation, or behind it:
        `make` is then called once more with the newest generation. Raises Unavailable when that
        fails again, and all other errors of `make`.
        """
        turn = self.turn(await self.first_generation(), final=False)
        while turn.generation.number:
            try:
                return turn, await make(turn)
            except NotReady as error:
                if turn.final:
                    raise no_answer_error([error]) from error
                turn = self.turn(self.freshness.current(), final=True)
        return turn, None

    async def first_generation(self) -> Generation:
        """Return the published generation, without waiting for one that is being built.

        Only while nothing is published yet, it waits for the first generation; EMPTY when that does
        not come within FIRST_GENERATION_S of the call's start.
        """
        began = min(time.monotonic(), self.until - self.config.server.deadline_s)
        until = min(began + FIRST_GENERATION_S, self.until - 1.0)
        while True:
            generation = self.freshness.current()
            if self.freshness.serves(generation) or time.monotonic() >= until:
                return generation
            await asyncio.sleep(LOOK_S)

    async def ask(self, worker: str, message: Message, kind: type[M], until: float) -> M:
        """Return one reply of class `kind`. Raises the worker's error, Unavailable for silence."""
        message, began = self.scope_message(message), time.monotonic()
        last = Silent(f"The {worker} worker did not answer in time; see `cortex status`.")
        while True:
            try:
                if (left := until - time.monotonic()) <= 0:
                    raise last
                reply = await self.client.ask(worker, message, left)
            except Silent as error:  # a worker that gives a reason has started
                last = error
                if not message.repeatable:
                    raise
                if time.monotonic() >= min(until, self.settled):
                    last = await self._explain_silence(worker, error, time.monotonic() - began)
                    # Use all the time of the call: no other worker answers this message.
                    until = self.until - REST_S if isinstance(last, Starting) else 0.0
                    if time.monotonic() >= until:
                        raise last from error
                # The set has just been started, and this worker with it.
                await asyncio.sleep(LOOK_S)
                continue
            return check_reply(reply, kind, worker)

    async def _explain_silence(self, worker: str, error: Silent, waited_s: float) -> Silent:
        """Return the error of a silent worker, or of a starting one. `waited_s`: over all tries."""
        standing = await self.standing(worker) if self.standing is not None and error.absent else ""
        if standing == "starting":
            return Starting(f"The {worker} worker is starting; ask again in a few seconds.", absent=True)
        if standing == "restarting":
            return Silent(
                f"The {worker} worker ended and is being started again; ask again in a few seconds, or see `cortex "
                "status`."
            )
        if error.absent:
            return error
        return Silent(
            f"The {worker} worker did not answer within {waited_s:.1f} s; see `cortex status`.",
            sent=error.sent,
        )

    def scope_filters(self, filters: Filters) -> Filters:
        """Limit a search to the folder of the question, unless its filters name paths."""
        folder = self.config.subfolder
        return filters if filters.paths or not folder else replace(filters, within=folder)

    def scope_message(self, message: Message) -> Message:
        """Limit a graph message to the question's folder: a name there wins over others."""
        folder = self.config.subfolder
        if not folder or not isinstance(message, GraphSearch | NameSearch | PatternSearch):
            return message
        elsewhere = isinstance(message, PatternSearch) and message.paths
        return message if elsewhere else structs.replace(message, within=folder)

    def left_s(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def turn(self, generation: Generation, *, final: bool) -> Turn:
        """Begin one try at an answer from `generation`."""
        lanes_s = min(LANE_SHARE * self.config.server.deadline_s, self.left_s())
        return Turn(self, generation, time.monotonic() + lanes_s, final)


@dataclass(frozen=True, slots=True)
class Turn:
    """One try at an answer, from one generation. Its lanes end at `until` (monotonic).

    `final`: a newer generation is no longer followed. `silent` holds the error of each worker that
    did not answer, for the answer's `index` block.
    """

    #: whether its words are weighed by the counts of all projects of a question
    takes_counts: ClassVar[bool] = True

    context: QueryContext
    generation: Generation
    until: float
    final: bool
    silent: dict[str, CortexError] = field(default_factory=dict)
    #: files of the answer that differ from this generation
    changed: set[str] = field(default_factory=set)
    #: files of the answer, for sentences on those that were read with a reservation
    shown: set[str] = field(default_factory=set)
    #: facts on the state of the index that `suggestion` states, so that `index` does not repeat
    #: them
    reported: set[str] = field(default_factory=set)

    @property
    def silent_lanes(self) -> list[CortexError]:
        return [self.silent[name] for name in LANES if name in self.silent]

    def renewed(self) -> Turn:
        """Return the same turn for the next step: its lanes share the time that is left."""
        return replace(self, until=time.monotonic() + LANE_SHARE * self.context.left_s())

    def ask(self, worker: str, message: Message, kind: type[M]) -> Awaitable[M]:
        """Return one reply within the time of a lane. Raises as QueryContext.ask."""
        return self.context.ask(worker, message, kind, self.until)

    async def lane(self, worker: str, message: Message, kind: type[M], *, ours: bool = False) -> M | None:
        """Return the reply of `worker`; None, with an entry in `silent`, when it does not answer.

        Raises BadRequest; and NotReady, unless the turn is final. `ours`: the message is not the
        caller's own question, so BadRequest and NotFound from the worker count as an empty reply.
        """
        try:
            return await self.context.ask(worker, message, kind, self.until)
        except CortexError as error:
            self._note_failure(worker, error, ours=ours)
            return None

    async def lanes(
        self, worker: str, messages: Sequence[Message], kind: type[M], *, ours: bool = False
    ) -> list[M | None]:
        """Do as `lane`, for messages that travel in one frame."""
        if len(messages) < 2:
            return [await self.lane(worker, message, kind, ours=ours) for message in messages]
        replies: list[M | None] = [None] * len(messages)
        frames = tuple(encode(self.context.scope_message(request)) for request in messages)
        batch = await self.lane(worker, Several(frames), Answers, ours=ours)
        for at, frame in enumerate(batch.replies if batch is not None else ()):
            try:
                replies[at] = check_reply(decode(frame), kind, worker)
            except CortexError as error:
                self._note_failure(worker, error, ours=ours)
        return replies

    def _note_failure(self, worker: str, error: CortexError, *, ours: bool) -> None:
        """Record why `worker` did not answer. Raises as `lane`."""
        if isinstance(error, NotReady) and not self.final:
            raise error
        if isinstance(error, (BadRequest, NotFound)) and ours:
            return
        if isinstance(error, BadRequest):
            raise error
        self.silent.setdefault(worker, error)

    async def fetch(self, workers: Sequence[str], request: Fetch, errors: dict[str, CortexError]) -> Chunks:
        """Return the chunks from the first of `workers` that answers in the time left of the call.

        Adds the errors of the others to `errors`. Raises NotReady, unless the turn is final;
        Unavailable with all of `errors` when no worker answers.
        """
        if not request.keys:
            return Chunks(self.generation.number, truncated=False, chunks=())
        return await self.first_of(workers, request, Chunks, errors)

    async def first_of(
        self, workers: Sequence[str], request: Message, kind: type[M], errors: dict[str, CortexError]
    ) -> M:
        """Return the reply of the first of `workers` that answers. Arguments, errors as `fetch`."""
        for worker in workers:
            try:
                return await self.context.ask(worker, request, kind, self.context.until)
            except CortexError as error:
                if isinstance(error, NotReady) and not self.final:
                    raise
                errors.setdefault(worker, error)
        raise no_answer_error(errors.values())

    async def ask_apart(
        self, workers: Sequence[str], requests: Mapping[str, Message], kind: type[M]
    ) -> dict[str, M]:
        """Return project → the reply to its own request. Raises as `fetch`."""
        return {name: await self.first_of(workers, request, kind, {}) for name, request in requests.items()}

    async def locate(self, places: Sequence[Place], *, bare: bool = True) -> Located:
        """Return the chunks at `places`, by the text or else the vector worker. Raises as `ask`."""
        request = Locate(tuple(places), generation=self.generation.number, bare=bare)
        located = await self.lane("text", request, Located)
        return located if located is not None else await self.ask("vector", request, Located)

    def generations(self, name: str) -> dict[str, int]:
        """Return project → its generation, for a turn of the project `name`."""
        return {name: self.generation.number}

    def label(self, name: str) -> str:
        return name

    def qualify(self, name: str, path: str) -> str:
        """Return a path of this turn with the name of its project."""
        return f"{name}:{path}"

    def own_hit(self, number: int, hit: Hit) -> Hit:  # noqa: ARG002
        """Return a hit of the project `number` of this turn, as its workers know it."""
        return hit

    def stale(self, paths: Iterable[str]) -> frozenset[str]:
        """Return those of `paths`, files of the answer, that differ from this generation."""
        paths = set(paths)
        self.shown.update(paths)
        stale_paths = self.context.freshness.stale(paths, self.generation)
        self.changed.update(stale_paths)
        return stale_paths

    def index(self, notes: Iterable[str] = ()) -> dict[str, Any]:
        """Return the answer's `index` block: silent workers, why, and the sentences `notes`."""
        reservations = self.context.freshness.reservations(self.shown, self.generation)
        sentences = (*map(str, self.silent.values()), *notes, *reservations)
        return self.context.freshness.block(
            self.generation, sorted(self.silent), sentences, self.changed, share_reported=bool(self.reported)
        )

    def describe_share(self) -> str:
        """Return how much is served, as the start of a `suggestion`; "" when all of it is."""
        share = self.context.freshness.share(self.generation)
        if share.is_complete:
            return ""
        self.reported.add("share")
        return f"The project is {share}:"

    def explain_nothing(self, filters: Filters = NO_FILTERS, floor: float | None = None) -> str:
        """Return why an answer is empty; there always is a reason."""
        if not self.generation.rows:
            self.reported.add("nothing")
            return self.context.freshness.explain_nothing()
        if floor and filters != NO_FILTERS:
            return f"No hit that the filters keep reaches min_score {floor:g}; loosen either of them."
        if floor:  # no score is below 0
            return f"No hit reaches min_score {floor:g}; leave it out to see the best there are."
        if filters != NO_FILTERS:
            return "Nothing matches with these filters (`chunk_types`, `tags`, `paths`, `exclude_paths`); loosen them."
        return "Nothing in the index shares a word or a meaning with the query; try other words."


def check_reply(reply: Message, kind: type[M], worker: str) -> M:
    """Return the reply if it is of the class `kind`. Raises the worker's error, or Unavailable."""
    if isinstance(reply, Failure):
        raise BY_CODE.get(reply.code, CortexError)(reply.message)
    if not isinstance(reply, kind):
        raise Unavailable(f"The {worker} worker answered with a {type(reply).__name__}.")
    return reply


def no_answer_error(errors: Iterable[CortexError]) -> Unavailable:
    """Return the error when no worker is left to answer: each reason once, as a sentence."""
    errors = list(errors)
    kind = Starting if any(isinstance(error, Starting) for error in errors) else Unavailable
    return kind(" ".join(dict.fromkeys(map(str, errors))) or "No worker answers.")
