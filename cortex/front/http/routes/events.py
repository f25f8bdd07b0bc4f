"""GET /v1/events: changes of a project and of memory, as server-sent events."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import zmq
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cortex.ask.memory import Caller
from cortex.front.http.projects import ClientLink, Hosted, Projects
from cortex.front.mcp.updates import CHANGES
from cortex.processes import attach
from cortex.system.errors import CortexError
from ipc.events import Listener

#: seconds between two looks at the project while it is being indexed; a publication is announced,
#: and causes a look at once
LOOK_S = 0.5
#: seconds between two looks at processes and memory, and at the project otherwise
PROCESSES_S = 2.0
#: seconds without an event after which a keep-alive is sent
SIGN_S = 15.0


class Events:
    """The handler of the route. Use it in one event loop."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def all(self) -> list[Route]:
        return [Route("/v1/events", self.events)]

    async def events(self, request: Request) -> Response:
        bearer = request.scope["bearer"]
        hosted = self._projects.find(request.query_params.get("project", ""), bearer)
        memory = "cortex_store" in hosted.tools and not bearer.projects
        caller = Caller(agent="events", session=bearer.name)
        link = ClientLink(self._projects, hosted, bearer, caller) if memory else None
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(_frames(hosted, link), headers=headers, media_type="text/event-stream")


async def _frames(hosted: Hosted, link: ClientLink | None) -> AsyncIterator[bytes]:
    """Yield each event in the wire format: first the whole state, then its changes."""
    sent: dict[str, Any] = {}
    sent_at = time.monotonic()
    looked = -PROCESSES_S
    with hosted.use():
        announcements = _announcements(hosted)
        while True:
            now = time.monotonic()
            events = look(hosted)
            if now - looked >= PROCESSES_S:
                looked = now
                events["workers"] = await _workers(hosted)
                if link is not None:
                    events["memory"] = await _memory(link, sent.get("memory"))
            for name, value in events.items():
                if value is not None and sent.get(name) != value:
                    sent[name] = value
                    sent_at = now
                    yield b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(value))
            if now - sent_at >= SIGN_S:
                sent_at = now
                yield b": still here\n\n"
            working = events["progress"]["indexing"] or events["progress"]["pending"]
            await announcements.wait(LOOK_S if working else PROCESSES_S)


def _announcements(hosted: Hosted) -> "AnnouncementListener":
    """Return the project's listener, which is closed with its link."""
    listener = hosted.resources.get("hearing")
    if not isinstance(listener, AnnouncementListener):
        listener = hosted.resources["hearing"] = AnnouncementListener(hosted.config.runtime_dir)
    return listener


def look(hosted: Hosted) -> dict[str, Any]:
    """Return the served generation, and the progress of indexing."""
    freshness = hosted.freshness
    current, progress = freshness.current(), freshness.progress()
    share = freshness.share(current)
    return {
        "generation": {"generation": current.number, "chunks": current.rows},
        "progress": {
            "indexing": progress.indexing,
            "done": share.done,
            "total": share.total,
            "pending": len(freshness.pending(current)),
        },
    }


async def _workers(hosted: Hosted) -> dict[str, str] | None:
    """Return process → state; None if it is unknown."""
    with contextlib.suppress(CortexError, OSError):
        status = await asyncio.to_thread(attach.set_status, hosted.config)
        return {process["name"]: process["state"] for process in status.get("processes", ())}
    return None


async def _memory(link: ClientLink, before: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the last change number and the notes since; None for no changes and no answer."""
    reached = -1 if before is None else before["reached"]
    with contextlib.suppress(CortexError):
        answer = await link.call(CHANGES, {"after": reached})
        if answer["reached"] != reached:
            return {"reached": answer["reached"], "nodes": [node["id"] for node in answer.get("nodes", ())]}
    return None


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
