"""The loop of every question: of which generation, until when, who is silent, once more.

An answer is made of one generation. Every lane gets LANE_SHARE of the deadline; one that stays
silent is left out and named in `index.degraded`. When the generation moves on meanwhile, the whole
question is asked once more. What to ask whom is in search, exact, structure and related.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from cortex.ask.code_notes.blame import Commits
from cortex.ask.code_notes.renames import Renames
from cortex.ask.freshness import Freshness
from cortex.ask.questions import NO_FILTERS, Lookup
from cortex.generation.current import Generation
from cortex.settings.config import Config
from cortex.system.errors import (
    BY_CODE,
    BadRequest,
    CortexError,
    NotFound,
    NotReady,
    Unavailable,
)
from ipc.client import Silent
from ipc.codec import decode, encode
from ipc.messages import (
    Answers,
    Chunks,
    Failure,
    Fetch,
    Filters,
    GraphSearch,
    Message,
    NameSearch,
    PatternSearch,
    Several,
    is_repeatable,
)

M = TypeVar("M")
T = TypeVar("T")

#: how a worker stands: it comes up for the first time, or again after it ended; "": neither
Standing = Literal["starting", "restarting", ""]

#: what a lane gets of the deadline of a call
LANE_SHARE = 0.6
#: seconds from its beginning that a call waits for the very first generation: the answer, which
#: then says that there is nothing yet, has to be there within three
FIRST_GENERATION_S = 2.5
#: seconds between two looks at CURRENT while waiting for the first generation
LOOK_S = 0.05
#: seconds after the start of a front, or of the set that it uses, in which an absent worker is
#: waited for: it has just been started and may not answer yet
SETTLE_S = 10.0


#: seconds that a call must have left when a worker that is starting is waited for no longer
REST_S = 1.0


class Starting(Silent):
    """No worker answered, and it is about to."""


class Asker(Protocol):
    """What asking needs of ipc.client.Client."""

    async def ask(self, worker: str, message: Message, deadline_s: float) -> Message: ...


class MemoryAsker(Protocol):
    """What a tool of memory needs of cortex.ask.memory.MemoryContext."""

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
class MilvusProject:
    """Where Milvus keeps a project: what tells the place, and its questions' vectors, from others,
    and how the project is called there.
    """

    place: str
    project: str


@dataclass(frozen=True, slots=True)
class Member:
    """One of the projects that are asked together; `asking` None: it cannot be asked, for the
    reason `why`. `far`: it is asked with those of the same place, through the workers
    of one of them, which `asking` leads to.
    """

    name: str
    context: QueryContext | None
    why: CortexError | None = None
    far: MilvusProject | None = None


@dataclass(frozen=True, slots=True)
class QueryContext:
    """What one call of a tool asks with; it has to be answered at `until` (monotonic)."""

    config: Config
    client: Asker
    freshness: Freshness
    until: float
    #: monotonic time until which an absent worker may still be starting
    settled: float = 0.0
    #: the way to the memory set, which starts with the first call
    memory: MemoryAsker | None = None
    #: what git knows of files that were renamed
    renames: Renames | None = None
    #: what git knows of the commits that changed a place; None where nobody wants to know
    commits: Commits | None = None
    #: how a worker stands that is not there: see `Standing`; None where nobody knows
    standing: Callable[[str], Awaitable[Standing]] | None = None
    #: how projects are asked together, by names and globs; None where this one is all there is
    others: Callable[[Sequence[str]], Awaitable[Sequence[Member]]] | None = None

    async def remember(
        self,
        operation: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        operation_id: str = "",
        writes: bool = False,
    ) -> dict[str, Any]:
        """What memory answers. Raises Unavailable, and what the operation raises."""
        if self.memory is None:
            raise Unavailable("There is no way to memory here; call the tool through `cortex mcp`.")
        return await self.memory.call(operation, arguments, operation_id=operation_id, writes=writes)

    async def glance(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """What memory answers at once, if it runs; None when it does not, or is busy."""
        return None if self.memory is None else await self.memory.glance(operation, arguments)

    async def attempt(self, make: Callable[[Turn], Awaitable[T]]) -> tuple[Turn, T | None]:
        """What `make` makes of one generation, and the turn that it had; None before the first one.

        NotReady from `make` means that a worker is ahead of that generation, or behind it: then the
        newest one is tried. Raises Unavailable when it happens again, and what else `make` raises.
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

    async def look_up(self, worker: str, question: Lookup, kind: type[M]) -> tuple[Turn, M | None]:
        """The reply of the one worker that can answer `question`; None before the first generation.

        Raises BadRequest, and Unavailable when the worker does not answer.
        """

        async def make(turn: Turn) -> M:
            try:
                return await turn.ask(worker, question.request(turn.generation.number), kind)
            except (BadRequest, NotReady):
                raise
            except CortexError as error:
                raise no_answer_error([error]) from error

        return await self.attempt(make)

    async def first_generation(self) -> Generation:
        """The published generation, at once: one that is being made meanwhile is not waited for.

        Only where nothing is published yet the first one is waited for; EMPTY when it does not come
        within FIRST_GENERATION_S of the call's beginning.
        """
        began = min(time.monotonic(), self.until - self.config.server.deadline_s)
        until = min(began + FIRST_GENERATION_S, self.until - 1.0)
        while True:
            generation = self.freshness.current()
            if self.freshness.serves(generation) or time.monotonic() >= until:
                return generation
            await asyncio.sleep(LOOK_S)

    async def ask(self, worker: str, message: Message, kind: type[M], until: float) -> M:
        """One reply of the class `kind`. Raises what the worker raised, Unavailable for silence."""
        message = self.scope_message(message)
        last = Silent(f"The {worker} worker did not answer in time; see `cortex status`.")
        while True:
            try:
                if (left := until - time.monotonic()) <= 0:
                    raise last
                reply = await self.client.ask(worker, message, left)
            except Silent as error:  # one that says why it cannot answer has been started
                last = error
                if not is_repeatable(message):
                    raise
                if time.monotonic() >= min(until, self.settled):
                    last = await self._explain_silence(worker, error)
                    # All that a call has: nobody else answers what this worker is asked.
                    until = self.until - REST_S if isinstance(last, Starting) else 0.0
                    if time.monotonic() >= until:
                        raise last from error
                # The set has just been started, and this worker with it.
                await asyncio.sleep(LOOK_S)
                continue
            return check_reply(reply, kind, worker)

    async def _explain_silence(self, worker: str, error: Silent) -> Silent:
        """The error; of a worker that is about to be there what that is."""
        standing = await self.standing(worker) if self.standing is not None and error.absent else ""
        if standing == "starting":
            return Starting(f"The {worker} worker is starting; ask again in a few seconds.", absent=True)
        if standing == "restarting":
            return Silent(
                f"The {worker} worker ended and is being started again; ask again in a few seconds, or see `cortex "
                "status`."
            )
        return error

    def scope_filters(self, filters: Filters) -> Filters:
        """The filters of a search, which keep to the folder that is asked about unless they name
        paths themselves.
        """
        folder = self.config.subfolder
        return filters if filters.paths or not folder else replace(filters, within=folder)

    def scope_message(self, message: Message) -> Message:
        """A question to the graph worker, of the folder that is asked about: a name means what is
        in it before what is elsewhere.
        """
        folder = self.config.subfolder
        if not folder or not isinstance(message, GraphSearch | NameSearch | PatternSearch):
            return message
        elsewhere = isinstance(message, PatternSearch) and message.paths
        return message if elsewhere else replace(message, within=folder)

    def left_s(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def turn(self, generation: Generation, *, final: bool) -> Turn:
        """One try at an answer, of this generation."""
        lanes_s = min(LANE_SHARE * self.config.server.deadline_s, self.left_s())
        return Turn(self, generation, time.monotonic() + lanes_s, final)


@dataclass(frozen=True, slots=True)
class Turn:
    """One try at an answer, of one generation. Its lanes have until `until` (monotonic).

    `final`: a generation that moves on is not followed any more. `silent` holds the error of each
    worker that did not answer, for the answer's `index` block.
    """

    context: QueryContext
    generation: Generation
    until: float
    final: bool
    silent: dict[str, CortexError] = field(default_factory=dict)
    #: files of the answer that are no longer as the generation holds them
    changed: set[str] = field(default_factory=set)
    #: what the answer's `suggestion` says of the state of the index, which says it no second time
    reported: set[str] = field(default_factory=set)

    def renewed(self) -> Turn:
        """The same turn for the next step of an answer: its lanes share the time that is left."""
        return replace(self, until=time.monotonic() + LANE_SHARE * self.context.left_s())

    def ask(self, worker: str, message: Message, kind: type[M]) -> Awaitable[M]:
        """One reply within the time of a lane. Raises as Asking.ask."""
        return self.context.ask(worker, message, kind, self.until)

    async def lane(self, worker: str, message: Message, kind: type[M], *, ours: bool = False) -> M | None:
        """The reply of `worker`; None when it does not answer, and is then in `silent`.

        Raises BadRequest; and NotReady, unless the turn is final. `ours`: the caller did not ask
        this, so a worker that cannot answer it (BadRequest, NotFound) has nothing to say, and is
        well.
        """
        try:
            return await self.context.ask(worker, message, kind, self.until)
        except CortexError as error:
            self._note_failure(worker, error, ours=ours)
            return None

    async def lanes(
        self, worker: str, messages: Sequence[Message], kind: type[M], *, ours: bool = False
    ) -> list[M | None]:
        """As `lane`, of messages that travel together."""
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
        """Note why `worker` did not answer; raises what `lane` raises."""
        if isinstance(error, NotReady) and not self.final:
            raise error
        if isinstance(error, (BadRequest, NotFound)) and ours:
            return
        if isinstance(error, BadRequest):
            raise error
        self.silent.setdefault(worker, error)

    async def fetch(self, workers: Sequence[str], request: Fetch, errors: dict[str, CortexError]) -> Chunks:
        """The chunks, of the first of `workers` that answers in the time that the call has left.

        `errors` takes in why others did not. Raises NotReady, unless the turn is final; Unavailable
        with all of `errors` when nobody answers.
        """
        if not request.keys:
            return Chunks(self.generation.number, truncated=False, chunks=())
        return await self.first_of(workers, request, Chunks, errors)

    async def first_of(
        self, workers: Sequence[str], request: Message, kind: type[M], errors: dict[str, CortexError]
    ) -> M:
        """The reply of the first of `workers` that answers. Parameters and errors as in `fetch`."""
        for worker in workers:
            try:
                return await self.context.ask(worker, request, kind, self.context.until)
            except CortexError as error:
                if isinstance(error, NotReady) and not self.final:
                    raise
                errors.setdefault(worker, error)
        raise no_answer_error(errors.values())

    def stale(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of `paths` whose file is no longer as this generation holds it."""
        stale_paths = self.context.freshness.stale(paths, self.generation)
        self.changed.update(stale_paths)
        return stale_paths

    def index(self, notes: Iterable[str] = ()) -> dict[str, Any]:
        """The `index` block of the answer: who is silent and why, and the sentences `notes`."""
        sentences = (*map(str, self.silent.values()), *notes)
        return self.context.freshness.block(
            self.generation, sorted(self.silent), sentences, self.changed, share_reported=bool(self.reported)
        )

    def describe_share(self) -> str:
        """How much of the project is served, as the beginning of a sentence that the answer says;
        "" for all of it.
        """
        share = self.context.freshness.share(self.generation)
        if share.is_complete:
            return ""
        self.reported.add("share")
        return f"The project is {share}:"

    def explain_nothing(self, filters: Filters = NO_FILTERS, floor: float | None = None) -> str:
        """Why an answer is empty; there always is a reason."""
        if not self.generation.rows:
            self.reported.add("nothing")
            return self.context.freshness.explain_nothing()
        if floor and filters != NO_FILTERS:
            return f"No hit that the filters keep reaches min_score {floor:g}; loosen either of them."
        if floor:  # no score is below 0
            return f"No hit reaches min_score {floor:g}; leave it out to see the best there are."
        if filters != NO_FILTERS:
            return (
                "Nothing matches with these filters (chunk_types, tags, paths, exclude_paths); loosen them."
            )
        return "Nothing in the index shares a word or a meaning with the query; try other words."


def check_reply(reply: Message, kind: type[M], worker: str) -> M:
    """The reply, if it is of the class `kind`. Raises what the worker raised, and Unavailable."""
    if isinstance(reply, Failure):
        raise BY_CODE.get(reply.code, CortexError)(reply.message)
    if not isinstance(reply, kind):
        raise Unavailable(f"The {worker} worker answered with a {type(reply).__name__}.")
    return reply


def no_answer_error(errors: Iterable[CortexError]) -> Unavailable:
    """Nobody is left who could answer: one sentence for each reason, each once."""
    errors = list(errors)
    kind = Starting if any(isinstance(error, Starting) for error in errors) else Unavailable
    return kind(" ".join(dict.fromkeys(map(str, errors))) or "No worker answers.")
