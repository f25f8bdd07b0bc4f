"""The connection of a front to the memory set, made at the first call to memory."""

import asyncio
import contextlib
import time
from collections.abc import Callable

from cortex.ask.memory import GLANCE_S, START_S, WORKER, Caller, MemoryContext
from cortex.processes import attach
from cortex.settings.data import DataFolder
from cortex.system import files
from cortex.system.errors import CortexError, Unavailable
from ipc.client import Client
from ipc.messages import MemoryCall

#: seconds of a call reserved for the error that the set did not start
SAYING_S = 0.5
#: seconds for which questions about code skip a memory that did not answer
QUIET_S = 10.0
#: seconds that a process with one call waits for a running memory: its connection is always the
#: first one, which takes some 80 ms
ONCE_S = 0.3
#: maximum of seconds of the first connection to a running set, during a question about code
CONNECT_S = 1.0
#: seconds between two checks whether a set runs
LOOK_S = 1.0


class MemoryLink:
    """A connection to memory. Make, use and close it in one event loop.

    `find` returns memory's data folder; it is called with the first call, and may raise. `start`:
    start a set when none runs. `glance_s`: seconds that a question about code waits for a running
    set.
    """

    def __init__(
        self, find: Callable[[], DataFolder], *, start: bool = True, glance_s: float = GLANCE_S
    ) -> None:
        self._find, self._start, self._glance_s = find, start, glance_s
        self._attaching: asyncio.Task[attach.Attachment] | None = None
        self._client: Client | None = None
        self._quiet_until = 0.0
        self._warming: asyncio.Task[None] | None = None
        #: time of the last check for a running set (monotonic)
        self._looked = -LOOK_S

    def context(self, until: float, caller: Callable[[], Caller]) -> MemoryContext:
        """Return the context until `until` (monotonic); its first operation calls `caller`."""
        return MemoryContext(self.reach, until, caller, self, self._glance_s, self.is_starting)

    async def is_starting(self) -> bool:
        """Whether the set is being started, or its worker was a short time ago and is alive."""
        if self._attaching is None or not self._attaching.done():
            return self._attaching is not None  # attaching has a deadline of its own
        if self._attaching.exception() or self._attaching.result().problem:
            return False
        status = await asyncio.to_thread(attach.set_status, self._find())
        return any(
            process["name"] == WORKER
            and process["state"] in {"waiting", "running"}
            and not process["restarts"]
            and process["uptime_s"] < START_S
            for process in status["processes"]
        )

    def client(self) -> Client | None:
        """Return the client of a set that already runs; None without one, or if it was silent in
        the last QUIET_S. Starts nothing, and keeps nothing running.
        """
        if time.monotonic() < self._quiet_until:
            return None
        try:
            data = self._find()
            runs = any(name.startswith(f"{WORKER}.") for name in files.names(data.runtime_dir))
        except (CortexError, OSError):
            return None
        if not runs:
            return None
        self._client = self._client or Client(data.runtime_dir)
        return self._client

    def warm(self) -> None:
        """Begin to connect to a running set during a call about code, ahead of later questions."""
        now = time.monotonic()
        if self._warming is not None or now < self._looked + LOOK_S:
            return
        self._looked = now
        if (client := self.client()) is not None:
            self._warming = asyncio.create_task(_connect(client))

    def was_silent(self) -> None:
        """Skip memory for QUIET_S, so that not every call waits for it. Silence while it is being
        connected to does not count.
        """
        if self._warming is not None and not self._warming.done():
            return
        self._warming = None  # afterwards a new connection may be needed
        self._quiet_until = time.monotonic() + QUIET_S

    async def close(self) -> None:
        task, self._attaching = self._attaching, None
        if task is not None:
            task.cancel()
            for attachment in await asyncio.gather(task, return_exceptions=True):
                if isinstance(attachment, attach.Attachment):
                    await attachment.close()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    async def reach(self, until: float) -> Client:
        """Return the client of the set; start a set when none runs. Raises Misconfigured, and
        Unavailable while there is no set that we may use.
        """
        data = self._find()
        if self._attaching is None or (self._attaching.done() and self._attaching.exception()):
            self._attaching = asyncio.create_task(attach.attach(data, start=self._start))
        left_s = max(0.0, until - SAYING_S - time.monotonic())
        done, _ = await asyncio.wait({self._attaching}, timeout=left_s)
        if not done:
            raise Unavailable("The memory's worker is still being started; ask again in a few seconds.")
        if problem := self._attaching.result().problem:
            raise Unavailable(problem)
        self._client = self._client or Client(data.runtime_dir)
        return self._client


async def _connect(client: Client) -> None:
    with contextlib.suppress(CortexError):
        await client.ask(WORKER, MemoryCall("spoken", {"notes": []}, writes=False), CONNECT_S)
