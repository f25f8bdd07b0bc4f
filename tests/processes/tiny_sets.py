"""Sets of tiny real children, and their status."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys
from typing import Any

import psutil

from cortex.processes import attach, starting
from cortex.processes.child import SetSpec
from cortex.settings.config import Config
from tests.wait_until import until

OBEDIENT = "import sys; sys.stdin.read()"
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n"
    "while True: time.sleep(60)"
)


def child(code: str, config: Config) -> list[str]:
    return [sys.executable, "-P", "-c", code, str(config.root)]


def spec(config: Config, idle_exit_s: float | None = None, **codes: str) -> SetSpec:
    base = starting.spec_of(config, idle_exit=idle_exit_s is not None)
    commands = {name: child(code, config) for name, code in codes.items()}
    return dataclasses.replace(base, idle_exit_s=idle_exit_s, commands=commands, forked=())


def start(set_spec: SetSpec) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "cortex.processes.supervisor",
            "--project",
            set_spec.root,
            set_spec.dump(),
        ]
    )


def member(config: Config, name: str) -> dict[str, Any]:
    status = attach.set_status(config)
    return next((process for process in status["processes"] if process["name"] == name), {})


def running(config: Config, name: str) -> dict[str, Any]:
    def state() -> dict[str, Any] | None:
        status = member(config, name)
        return status if status.get("state") == "running" else None

    status: dict[str, Any] = until(state, f"{name} running")
    return status


def dead(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    return True
