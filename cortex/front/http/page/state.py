"""The view of the server's health: processes, calls, checks and logs.

Anything with paths of the machine is for its owner alone (right `admin`).
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from cortex.front.http.access.tokens import Forbidden
from cortex.front.http.page.frame import Action, View, Visit, text_of
from cortex.processes.names import MEMORY
from cortex.processes.starting import kind_of
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError
from cortex.system.terminal import escape_controls

#: bytes that are read from the end of a log, and maximum of its shown lines
LOG_BYTES, LOG_LINES = 64 * 1024, 200
OF_MEMORY = frozenset(process.name for process in MEMORY.processes)


async def show(visit: Visit) -> dict[str, Any]:
    logs = _logs_of(visit.hosted.config) if visit.bearer.has_right("admin") else ()
    return await current_state(visit, {}) | {"logs": logs}


def _logs_of(config: Config) -> tuple[str, ...]:
    return "supervisor", *(process.name for kind in (kind_of(config), MEMORY) for process in kind.processes)


async def current_state(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Return processes, generations and warnings as `cortex status` collects them, and calls."""
    from cortex.front.cli.status import collect

    status = await collect(visit.hosted.config)
    return {
        # A token for some projects cannot ask memory.
        "sets": (("project", status["set"]), ("memory", status["memory"]["set"]))[
            : 1 if visit.bearer.projects else 2
        ],
        "generation": status["index"]["generation"],
        "workers": {name: worker.get("generation") for name, worker in status["workers"].items()},
        "warnings": status["warnings"] if visit.bearer.has_right("admin") else (),
        "tools": visit.hosted.metrics.hour_for(visit.bearer, visit.hosted.name).tools(),
    }


async def hour(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Return the calls of the last hour as columns, for a plot."""
    minutes = visit.hosted.metrics.hour_for(visit.bearer, visit.hosted.name).minutes()
    return {
        "at": [at for at, _ in minutes],
        "calls": [summary.calls for _, summary in minutes],
        "faults": [summary.faults for _, summary in minutes],
        "p50_ms": [summary.p50_ms for _, summary in minutes],
        "p95_ms": [summary.p95_ms for _, summary in minutes],
    }


async def checks(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Return the checks of `cortex doctor` for the project. Raises Forbidden."""
    _check_owner(visit)
    from cortex.front.cli.setup.doctor import examine

    doctor_checks = await asyncio.to_thread(examine, str(visit.hosted.config.root))
    return {"checks": sorted(doctor_checks, key=lambda check: ("wrong", "odd", "fine").index(check.state))}


async def log(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return the end of a process's log. Raises Forbidden, and BadRequest for an unknown one."""
    _check_owner(visit)
    name, logs = text_of(body, "name"), _logs_of(visit.hosted.config)
    if name not in logs:
        raise BadRequest(f"There is no log of {name!r}; there are: {', '.join(logs)}.")
    return {"name": name, "lines": await asyncio.to_thread(_end_of, visit.hosted.config, name)}


def _check_owner(visit: Visit) -> None:
    if not visit.bearer.has_right("admin"):
        raise Forbidden("Only the owner of the server may see this; your token is not the owner's.")


def _end_of(config: Config, name: str) -> list[str]:
    """Return the last lines of a log; none if there is no log."""
    try:
        folder = config.data.run_dir if name in OF_MEMORY else config.run_dir
        with files.open_ours(Path(folder) / f"{name}.log") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_BYTES))
            raw = file.read()
    except (OSError, CortexError):
        return []
    return [escape_controls(line) for line in raw.decode(errors="replace").splitlines()[-LOG_LINES:]]


VIEW = View(
    "state",
    "Health",
    show,
    {
        "now": Action(current_state, "state_now.html"),
        "hour": Action(hour),
        "checks": Action(checks, "state_checks.html"),
        "log": Action(log, "state_log.html"),
    },
    styles=("vendor/uPlot.min.css",),
)
