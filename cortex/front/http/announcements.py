"""What a project's watcher announces, for those of this process who wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import zmq

from ipc.events import Listener


class Hearing:
    """One ear for all who wait. Make, use and close it in one event loop."""

    def __init__(self, runtime_dir: Path) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._listener = Listener(self._context, runtime_dir)
        self._loop = asyncio.get_running_loop()
        self._descriptor = self._listener.socket.FD
        self._heard = asyncio.Event()
        self._loop.add_reader(self._descriptor, self._hear)
        self._hear()  # the descriptor tells of each change only once

    async def wait(self, bound_s: float) -> None:
        """Return with the next announcement, after `bound_s` seconds at the latest."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(bound_s):
                await self._heard.wait()

    async def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        self._listener.close()
        self._context.term()

    def _hear(self) -> None:
        if self._listener.drain():
            heard, self._heard = self._heard, asyncio.Event()
            heard.set()
