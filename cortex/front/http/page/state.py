"""The view of the machinery: who runs, how calls went, what is wrong and what to do, what was
logged.

What is told of places on the machine is for its owner alone (`admin`).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from cortex.front.http.page.frame import Part, View, Visit, text_of
from cortex.front.http.tokens import Forbidden
from cortex.processes.names import MEMORY, PROJECT
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError
from cortex.system.terminal import escape_controls

#: bytes of a log's end that are looked at, and lines of it that are shown
LOG_BYTES, LOG_LINES = 64 * 1024, 200
#: the processes whose logs are shown, and those that start them
LOGS = ("supervisor", *(one.name for kind in (PROJECT, MEMORY) for one in kind.processes))
OF_MEMORY = frozenset(one.name for one in MEMORY.processes)


async def show(visit: Visit) -> dict[str, Any]:
    return await now(visit, {}) | {"logs": LOGS if visit.bearer.may("admin") else ()}


async def now(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Who runs, and which generation each worker answers from, as `cortex status` says it."""
    from cortex.front.cli.status import collect

    found = await collect(visit.hosted.config)
    return {
        "sets": (("project", found["set"]), ("memory", found["memory"]["set"])),
        "generation": found["index"]["generation"],
        "workers": {name: one.get("generation") for name, one in found["workers"].items()},
        "warnings": found["warnings"] if visit.bearer.may("admin") else (),
        "tools": visit.hosted.metrics.hour.tools(),
    }


async def hour(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """The calls of the last hour as columns, for a plot."""
    minutes = visit.hosted.metrics.hour.minutes()
    return {
        "at": [at for at, _ in minutes],
        "calls": [told.calls for _, told in minutes],
        "faults": [told.faults for _, told in minutes],
        "p50_ms": [told.p50_ms for _, told in minutes],
        "p95_ms": [told.p95_ms for _, told in minutes],
    }


async def checks(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """What `cortex doctor` says of the project. Raises Forbidden."""
    _check_owner(visit)
    from cortex.front.cli.doctor import examine

    found = await asyncio.to_thread(examine, str(visit.hosted.config.root))
    return {"checks": sorted(found, key=lambda one: ("wrong", "odd", "fine").index(one.state))}


async def log(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """The end of one process's log. Raises Forbidden, and BadRequest for a process that is none."""
    _check_owner(visit)
    name = text_of(body, "name")
    if name not in LOGS:
        raise BadRequest(f"There is no log of {name!r}; there are: {', '.join(LOGS)}.")
    return {"name": name, "lines": await asyncio.to_thread(_end_of, visit.hosted.config, name)}


def _check_owner(visit: Visit) -> None:
    if not visit.bearer.may("admin"):
        raise Forbidden("This is told to who owns the server; your token may not see it.")


def _end_of(config: Config, name: str) -> list[str]:
    """The last lines; none where nothing was logged."""
    try:
        folder = config.data.run_dir if name in OF_MEMORY else config.run_dir
        raw = _tail(Path(folder) / f"{name}.log")
    except (OSError, CortexError):
        return []
    return [escape_controls(line) for line in raw.decode(errors="replace").splitlines()[-LOG_LINES:]]


def _tail(path: Path) -> bytes:
    with files.open_ours(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LOG_BYTES))
        return file.read()


VIEW = View(
    "state",
    "Health",
    show,
    {
        "now": Part(now, "state_now.html"),
        "hour": Part(hour),
        "checks": Part(checks, "state_checks.html"),
        "log": Part(log, "state_log.html"),
    },
    styles=("vendor/uPlot.min.css",),
)
