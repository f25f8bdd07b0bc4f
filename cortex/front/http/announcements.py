"""Announcements of a project's watcher, for the tasks of this process."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import zmq

from ipc.events import Listener


class AnnouncementListener:
    """One subscription for all waiting tasks. Make, use and close it in one event loop."""

    def __init__(self, runtime_dir: Path) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._listener = Listener(self._context, runtime_dir)
        self._loop = asyncio.get_running_loop()
        self._descriptor = self._listener.socket.FD
        self._announced = asyncio.Event()
        self._loop.add_reader(self._descriptor, self._drain)
        self._drain()  # the descriptor is edge-triggered: earlier messages cause no event

    async def wait(self, bound_s: float) -> None:
        """Wait for the next announcement, at most `bound_s` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(bound_s):
                await self._announced.wait()

    async def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        self._listener.close()
        self._context.term()

    def _drain(self) -> None:
        if self._listener.drain():
            announced, self._announced = self._announced, asyncio.Event()
            announced.set()
