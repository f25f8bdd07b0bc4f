"""Calls of memory tools, each carried out once by the worker that owns the store, also when that
worker restarts meanwhile.

A write gets its operation id once, and keeps it for every attempt to send it.
"""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from cortex.ask.query_context import Asker
from cortex.system.errors import BadRequest, CortexError, StillStarting, Unavailable
from ipc.client import Silent
from ipc.messages import MemoryAnswer, MemoryCall

#: the worker that owns the store
WORKER = "memory"
#: seconds between two attempts while the worker is being started
RETRY_S = 0.05
#: seconds after which a call gives up a worker that is still starting, beyond its own deadline: on
#: a busy machine a start takes half a minute, and clients wait for 60 s
START_S = 45.0

#: the error when no reply came
AWAY = (
    "The memory's worker does not answer: it may still be starting, so ask again in a few seconds; `cortex memory "
    "status` says how it is."
)

#: seconds that a question about code waits for memory
GLANCE_S = 0.03

#: returns the client of the memory set before a monotonic time; the first call starts the set
Reach = Callable[[float], Awaitable[Asker]]


class Near(Protocol):
    """Access to a memory set that may run already."""

    def client(self) -> Asker | None:
        """Return the client of a running set; None for none, and for one that was just silent."""

    def was_silent(self) -> None:
        """Record a silence: the set is left alone for a while."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of an operation: project identity, agent and session names, and the project's
    folder. `code_alone`: the caller gets no answers from memory.
    """

    project: str = ""
    agent: str = ""
    session: str = ""
    channel: str = "mcp"
    place: str = ""
    code_alone: bool = False


async def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The access, deadline and caller of one memory call; `until` (monotonic) ends it, or START_S
    after its begin while `is_starting` returns that the worker is alive and not ready yet.
    """

    reach: Reach
    until: float
    caller: Callable[[], Caller] = Caller
    near: Near | None = None
    glance_s: float = GLANCE_S
    is_starting: Callable[[], Awaitable[bool]] = _never

    async def glance(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a running set's answer within `glance_s`, None without. Starts no set."""
        client = self.near.client() if self.near else None
        if self.near is None or client is None:
            return None
        message = self._message(operation, arguments, "", writes=False)
        try:
            reply = await client.ask(WORKER, message, self.glance_s)
        except Silent:
            self.near.was_silent()
            return None
        except CortexError:
            return None
        return reply.answer if isinstance(reply, MemoryAnswer) else None

    async def call(
        self,
        operation: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        operation_id: str = "",
        writes: bool,
    ) -> dict[str, Any]:
        """Return the answer of an operation; `writes`: whether it changes something. Sends it again
        until the deadline when the worker dies.

        Raises the worker's error, and Unavailable. For a write that may have been carried out, that
        error names the operation id to send it again with.
        """
        message = self._message(operation, arguments, operation_id, writes=writes)
        sent, until, latest = False, self.until, time.monotonic() + START_S
        while True:
            try:
                client = await self.reach(until)
            except Unavailable as error:
                if until >= latest or not await self.is_starting():
                    raise _timeout_error(message, str(error), sent=sent) from error
                until = latest
                continue
            try:
                reply = await client.ask(WORKER, message, max(0.0, until - time.monotonic()))
            except Silent as error:
                sent |= error.sent
                if time.monotonic() + RETRY_S >= self.until:
                    if time.monotonic() + RETRY_S >= latest or not await self.is_starting():
                        raise _timeout_error(message, AWAY, sent=sent) from error
                    until = latest
                await asyncio.sleep(RETRY_S)
                continue
            if not isinstance(reply, MemoryAnswer):
                raise Unavailable(f"The memory worker answered with a {type(reply).__name__}.")
            return reply.answer

    def _message(
        self, operation: str, arguments: Mapping[str, Any] | None, operation_id: str, *, writes: bool
    ) -> MemoryCall:
        who = self.caller()
        return MemoryCall(
            operation,
            _as_json(dict(arguments or {})),
            writes,
            operation_id or (str(uuid.uuid4()) if writes else ""),
            who.project,
            who.agent,
            who.session,
            who.channel,
            who.place,
        )


def _timeout_error(message: MemoryCall, why: str, *, sent: bool) -> StillStarting:
    if message.writes and sent:
        return StillStarting(
            f"The memory did not answer in time: outcome unknown, operation {message.operation_id}. Ask again "
            "with this operation_id: what was done is not done twice."
        )
    return StillStarting(f"{why} Nothing was written." if message.writes else why)


def _as_json(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return valid JSON, without lone surrogates. Raises BadRequest for what JSON cannot hold."""
    try:
        orjson.dumps(arguments)
    except (orjson.JSONEncodeError, RecursionError):
        try:
            cleaned: dict[str, Any] = _drop_surrogates(arguments)
            orjson.dumps(cleaned)
        except (orjson.JSONEncodeError, RecursionError) as error:
            raise BadRequest(f"The arguments are not valid JSON: {error}.") from error
        return cleaned
    return arguments


def _drop_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if isinstance(value, Mapping):
        return {_drop_surrogates(name): _drop_surrogates(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_drop_surrogates(inner) for inner in value]
    return value
