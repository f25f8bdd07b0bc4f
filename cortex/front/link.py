"""The connection of a front to its project's workers: keeps their set alive and calls tools."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from cortex.ask.code_notes.blame import Commits
from cortex.ask.code_notes.commit_notes import CommitHistory
from cortex.ask.code_notes.place_backfill import PlaceBackfill
from cortex.ask.code_notes.renames import Renames
from cortex.ask.freshness import Freshness
from cortex.ask.memory import GLANCE_S, Caller
from cortex.ask.query_context import FIRST_GENERATION_S, SETTLE_S, Member, QueryContext, Standing, Starting
from cortex.front.audience import current_audience
from cortex.front.memory_link import ONCE_S, MemoryLink
from cortex.front.tool import Tool
from cortex.front.usage import CountedCall, Usage
from cortex.processes import attach, starting
from cortex.settings.config import Config
from cortex.settings.egress import describe_egress
from cortex.settings.folders.identity import identity_of
from cortex.settings.folders.projects import is_read_only
from cortex.settings.layers import read_project
from cortex.settings.unused import say_unused
from cortex.system.errors import BadRequest, CortexError, Misconfigured, Unavailable
from cortex.system.loaded_code import RESTART, code_of_process
from ipc.client import Client

log = logging.getLogger(__name__)

#: seconds of its deadline that a call waits for a starting set
READY_S = 8.0
#: seconds that a call must have left to be repeated on another set
LAST_TRY_S = 1.5
#: seconds between two checks of a set that is restarting
LOOK_S = 0.05
#: seconds between two tries to attach to a set: first and maximum
RETRY_S, RETRY_MAX_S = 1.0, 10.0
#: seconds in which refused lines are counted before the count is sent to the set
TELL_S = 0.5


#: (names and globs, deadline) → the projects that they mean, connected
Others = Callable[[Sequence[str], float], Awaitable[Sequence[Member]]]


class Link:
    """A connection to one project, for one event loop. `start`: start a set when none runs."""

    def __init__(
        self, config: Config, *, start: bool = True, channel: str = "mcp", counts: bool = True
    ) -> None:
        """`channel`: the kind of front ("mcp", "cli", …), which memory records with each note.
        `counts`: count the calls; a server counts them itself.
        """
        self.config = config
        self._code = code_of_process()
        self.freshness = Freshness(config)
        self._start = start
        self._client = Client(config.runtime_dir)
        self._renames = Renames(config.root)
        self._commits = Commits(config.root) if config.server.history else None
        self._backfill = PlaceBackfill() if channel == "mcp" else None
        self._history = CommitHistory(config.root) if channel == "mcp" and _keeps_commits(config) else None
        self._memory_link = MemoryLink(
            lambda: config.data, start=start, glance_s=ONCE_S if channel == "cli" else GLANCE_S
        )
        self._usage = Usage(config) if counts else None
        self._caller = Caller(session=str(uuid.uuid4()), channel=channel)
        self._attachment: attach.Attachment | None = None
        self._fault = ""
        self._tried = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._refused = 0
        self._refusal_task: asyncio.Task[None] | None = None
        self._supervisor = 0
        self._settled = 0.0
        #: sentences for the index block of the first answer
        news = [describe_egress(config), say_unused(config)]
        if config.subfolder and channel == "mcp":
            news.append(say_subfolder(config))
        self._news = " ".join(filter(None, news))

    def open(self) -> None:
        """Begin to attach to the set; returns at once."""
        self._task = asyncio.create_task(self._attach())

    async def attached(self) -> None:
        """Wait for the first try to attach, which takes at most ATTACH_S. Raises Unavailable with
        the reason when there is no set that we may use.
        """
        await self._tried.wait()
        if self.problem:
            raise Unavailable(self.problem)

    async def close(self) -> None:
        if self._usage is not None:
            self._usage.flush()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._refusal_task is not None:
            self._refusal_task.cancel()
        if self._attachment is not None:
            await self._report_refused()
            await self._attachment.close()
        if self._history is not None:
            await self._history.close()
        if self._backfill is not None:
            await self._backfill.close()
        await self._memory_link.close()
        await self._client.close()

    def say(self, sentence: str) -> None:
        """Add `sentence` to the next answer."""
        self._news = f"{self._news} {sentence}".strip()

    def name(self, agent: str) -> None:
        """Set the client's name, which memory records with each note."""
        self._caller = replace(self._caller, agent=agent)

    def caller_for(self, caller: Caller | None = None) -> Caller:
        """Return the caller for memory, by default this front's, with project and folder filled in.

        The project's identity is read at the first call.
        """
        if not self._caller.project:
            project = identity_of(self.config.root, self.config.memory.remotes)
            self._caller = replace(self._caller, project=project, place=str(self.config.root))
        if caller is None:
            return self._caller
        return replace(caller, project=self._caller.project, place=self._caller.place)

    def count_refused(self) -> None:
        """Count a line of the client that was no message; the set shows them in `cortex status`."""
        self._refused += 1
        if self._refusal_task is None or self._refusal_task.done():
            self._refusal_task = asyncio.create_task(self._report_refused_soon())

    async def _report_refused_soon(self) -> None:
        while self._refused:
            await asyncio.sleep(TELL_S)
            await self._report_refused()

    async def _report_refused(self) -> None:
        if self._refused and self._attachment is not None and self._attachment.connected:
            lines, self._refused = self._refused, 0
            await self._attachment.tell_refused(lines)

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        caller: Caller | None = None,
        others: Others | None = None,
    ) -> dict[str, Any]:
        """Return the tool's answer, for orjson to serialise.

        `caller`: the client, if one front serves several. `others`: connects the projects of a
        call to several. Raises BadRequest, and Unavailable with one sentence.
        """
        agent = caller.agent if caller is not None else ""
        counting = self._usage.count(tool.name, arguments, agent=agent) if self._usage is not None else None
        try:
            with counting or contextlib.nullcontext(CountedCall()) as call:
                if others is not None:
                    call.answer = await self._ask_others(tool, arguments, others)
                else:
                    call.answer = await self._answer(tool, arguments, caller)
                answer: dict[str, Any] = call.answer
                return answer
        except ImportError as error:  # a late import after an upgrade: its module has another name now
            if not self._code.is_replaced():
                raise
            raise Unavailable(RESTART) from error

    async def call_patiently(
        self, tool: Tool, arguments: Mapping[str, Any], patience_s: float
    ) -> dict[str, Any]:
        """As `call`, repeated for `patience_s` while the workers are starting."""
        until = time.monotonic() + patience_s
        while True:
            try:
                return await self.call(tool, arguments)
            except Starting:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(LOOK_S)

    async def _answer(
        self, tool: Tool, arguments: Mapping[str, Any] | None, caller: Caller | None
    ) -> dict[str, Any]:
        until = time.monotonic() + self.config.server.deadline_s
        checked = tool.check(arguments)
        if not tool.reads and is_read_only(self.config.root):
            raise BadRequest(
                f"{self.config.root.name} is read-only here, and {tool.name} writes. Call it in another project."
            )
        asks = tool.asks(msgspec.structs.asdict(checked))
        if asks != "code" and self._history is not None:
            self._history.look(self._tell_commits)
        if asks != "code" and self._backfill is not None:
            self._backfill.look(self._context(until, caller))
        if asks == "memory":  # needs no index
            return await tool.call(self._context(until, caller), checked)
        self._memory_link.warm()
        while True:
            starting.check_root(self.config)
            await self.ready(until)
            supervisor = self._supervisor
            try:
                answer = await tool.call(self._context(until, caller), checked)
                starting.check_root(self.config)  # a deleted project looks like one without hits
                return self._add_news(answer)
            except Unavailable:
                starting.check_root(self.config)
                # If the set ended during the call, the call is repeated on its successor.
                if time.monotonic() > until - LAST_TRY_S or not (
                    self._is_lost or self._current_supervisor != supervisor
                ):
                    raise

    async def _ask_others(
        self, tool: Tool, arguments: Mapping[str, Any] | None, others: Others
    ) -> dict[str, Any]:
        """Return the answer for several projects; this one is asked only if it is among them."""
        until = time.monotonic() + self.config.server.deadline_s
        context = replace(
            self._context(until, None),
            config=replace(self.config, subfolder=""),
            others=lambda names: others(names, until),
        )
        return await tool.call(context, tool.check(arguments))

    async def reach(self, until: float) -> QueryContext:
        """Return the context for a call to this project among several, once it has a set.

        Raises Misconfigured, and Unavailable; also for a subfolder, for the answers of several
        projects are not translated into its paths.
        """
        if self.config.subfolder:
            raise Unavailable(
                f"This folder is a part of {self.config.root.name}; name that project to ask it with others."
            )
        if self._task is None:
            self._task = asyncio.create_task(self._attach())
        starting.check_root(self.config)
        # Half of the time remains for the call itself.
        await self.ready(time.monotonic() + max(0.0, until - time.monotonic()) / 2 + 1.0)
        return self._context(until, None)

    async def _tell_commits(
        self, operation: str, arguments: Mapping[str, Any], writes: bool
    ) -> dict[str, Any]:
        until = time.monotonic() + self.config.server.deadline_s
        context = self._memory_link.context(until, self.caller_for)
        return await context.call(operation, arguments, writes=writes)

    def _context(self, until: float, caller: Caller | None) -> QueryContext:
        closed = caller is not None and caller.code_alone
        memory = None if closed else self._memory_link.context(until, lambda: self.caller_for(caller))
        return QueryContext(
            self.config,
            self._client,
            self.freshness,
            until,
            self._settled,
            memory,
            self._renames,
            self._commits,
            self._worker_state,
            audience=current_audience(),
        )

    async def _worker_state(self, worker: str) -> Standing:
        """Return the state of a worker that did not answer, from the supervisor."""
        if self._attachment is None:
            return "" if self._fault else "starting"
        status = await asyncio.to_thread(attach.set_status, self.config)
        process = next(
            (process for process in status["processes"] if process["name"].partition(".")[0] == worker), None
        )
        if process is None or process["state"] not in ("waiting", "running"):
            return ""
        return "restarting" if process["restarts"] or process["last_error"] else "starting"

    def _add_news(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the answer; the first one gets the news in its index block."""
        if self._news:
            index = answer.get("index", {})
            message = f"{self._news} {index.get('message', '')}".rstrip()
            answer, self._news = answer | {"index": index | {"message": message}}, ""
        return answer

    async def ready(self, until: float) -> None:
        """Wait for a set, at most READY_S. Raises Unavailable when there is none that we may use.

        Before the first generation is served, wait at most FIRST_GENERATION_S: that answer needs no
        worker.
        """
        served = self.freshness.serves(self.freshness.current())
        until = min(until - 1.0, time.monotonic() + (READY_S if served else FIRST_GENERATION_S))
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.monotonic()):
                await self._tried.wait()
                while self._is_lost:  # noqa: ASYNC110 - an attachment has no event to wait for
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            if self._attachment is None and served:
                raise Starting("The workers are still being started; ask again in a few seconds.") from None
        if self.problem:
            raise Unavailable(self.problem)
        if self._current_supervisor != self._supervisor:  # a new set
            self._supervisor = self._current_supervisor
            self._settled = time.monotonic() + SETTLE_S

    @property
    def problem(self) -> str:
        """One sentence if this front has no set that it may use, "" otherwise."""
        return self._attachment.problem if self._attachment is not None else self._fault

    @property
    def _is_lost(self) -> bool:
        """Whether the set ended and is being restarted."""
        return self._attachment is not None and not self._attachment.connected and not self.problem

    @property
    def _current_supervisor(self) -> int:
        """A number that identifies the attached supervisor: its birth or its pid; 0 for none."""
        hello = self._attachment.hello if self._attachment is not None else {}
        return int(hello.get("born") or hello.get("pid", 0))

    async def _attach(self) -> None:
        pause = RETRY_S
        while True:
            try:
                self._attachment = await attach.attach(self.config, start=self._start)
            except (CortexError, OSError) as error:
                log.warning("%s", error)
                self._fault = str(error)
                self._tried.set()
                await asyncio.sleep(pause)
                pause = min(2 * pause, RETRY_MAX_S)
            else:
                self._fault = ""
                self._tried.set()
                return


def say_subfolder(config: Config) -> str:
    """Return a sentence for agents: which index serves a subfolder, and how to search outside."""
    upward = "../" * (config.subfolder.count("/") + 1)
    return (
        f"{config.subfolder} is served from the index of {config.root.name}: paths that begin with ../ are outside of it, "
        f'and paths ["{upward}**"] searches all of {config.root.name}.'
    )


def _keeps_commits(config: Config) -> bool:
    """Whether commits become notes: the user and the project allow it, and it can be written."""
    if not config.memory.git or is_read_only(config.root):
        return False
    try:
        return not read_project(config.root).says("memory.git")
    except Misconfigured:
        return False
