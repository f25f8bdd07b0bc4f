"""A front's way to the memory set: nothing at all until the first call of memory, then a hold on
the set and a client of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from cortex.ask.memory import GLANCE_S, WORKER, Caller, MemoryContext
from cortex.processes import attach
from cortex.settings.data import DataFolder
from cortex.system import files
from cortex.system.errors import CortexError, Unavailable
from ipc.client import Client
from ipc.messages import MemoryCall

#: seconds of a call that are kept for saying that the set does not come
SAYING_S = 0.5
#: seconds in which questions of code do not ask a memory that did not answer one
QUIET_S = 10.0
#: seconds that a process which asks once waits for a memory that runs: each of its connections is
#: the first one, which takes some 80 ms
ONCE_S = 0.3
#: seconds that the first connection to a set that runs may take, beside a question of code
CONNECT_S = 1.0
#: seconds between two looks whether a set runs that was not there
LOOK_S = 1.0


class MemoryLink:
    """Make, use and close it in one event loop. `find` says where memory is; it is asked with the
    first call, and may raise; `glance_s`: how long a question of code waits for a set that runs.
    """

    def __init__(
        self, find: Callable[[], DataFolder], *, start: bool = True, glance_s: float = GLANCE_S
    ) -> None:
        self._find = find
        self._start = start
        self._glance_s = glance_s
        self._attaching: asyncio.Task[attach.Attachment] | None = None
        self._client: Client | None = None
        self._quiet_until = 0.0
        self._warming: asyncio.Task[None] | None = None
        #: when a set was last looked for that could be connected to
        self._looked = -LOOK_S

    def context(self, until: float, caller: Callable[[], Caller]) -> MemoryContext:
        """What a call asks with until then (monotonic); `caller` is asked when it does."""
        return MemoryContext(self.reach, until, caller, self, self._glance_s)

    def client(self) -> Client | None:
        """The client of a set that runs already, by whomever it was started; None when none does,
        or when it was silent just now. Starts nothing, and keeps nothing running.
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
        """Begin to connect to a set that runs already, while code is asked: the glance that follows
        does not wait for a connection.
        """
        now = time.monotonic()
        if self._warming is not None or now < self._looked + LOOK_S:
            return
        self._looked = now
        if (client := self.client()) is not None:
            self._warming = asyncio.create_task(_connect(client))

    def was_silent(self) -> None:
        """Leave memory alone for QUIET_S: nobody waits for it again and again. While it is being
        connected to, silence says nothing of it.
        """
        if self._warming is not None and not self._warming.done():
            return
        self._warming = None  # afterwards the connection may have to be made again
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
        """The client of the set, which is started when there is none. Raises Misconfigured, and
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
