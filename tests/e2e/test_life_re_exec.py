"""Processes that have grown restart in place: files saved meanwhile are served."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from cortex.generation.current import read_current
from cortex.generation.read import open_rows
from cortex.system.errors import CortexError
from cortex.system.process.re_exec import own_bytes
from tests.wait_until import BOUND_S, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not own_bytes(), reason="the system does not say what memory is a process's own"),
]

#: restarts of each process
TIMES = 3
#: settings that let a process rest as soon as it is idle, and make any work count as growth
_SOON = (
    "import os, sys, ipc.service, cortex.system.process.re_exec as anew, cortex.indexer.watch as following, workers.watcher as watcher\n"
    ""
    "anew.GROWN_BYTES = -(1 << 40)\n"
    "watcher.WatcherWorker._look_s = lambda _self: 0.1\n"
    "ipc.service.CHECK_S = 0.1\n"
    "watcher.QUIET_S = watcher.SETTLED_S = 0.2\n"
    "following.watch.__defaults__ = (following.Pace(rest_s=0.2, heartbeat_s=0.1), None)\n"
    "print('begun with', *sorted(os.listdir('/proc/self/fd')), flush=True)\n"
)
INDEXER = f"{_SOON}from cortex.front.cli.main import main\nsys.exit(main(['index', '--watch', '--project', sys.argv[1]]))"
WATCHER = f"{_SOON}from workers.__main__ import main\nsys.exit(main(['watcher', '--project', sys.argv[1]]))"


class Program:
    """A process as its supervisor starts it: with a life line, and a log."""

    def __init__(self, code: str, project, log: Path) -> None:
        self.log = log
        command = [sys.executable, "-P", "-c", code, str(project.root)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                cwd=os.sep,
                env=os.environ | project.environment,
            )

    def begun(self) -> list[str]:
        """Return the line of each start of its program: the descriptors that are open then."""
        return [line for line in self.log.read_text().splitlines() if line.startswith("begun with")]

    def turns(self) -> int:
        """Return how often it has started, and ended to restart."""
        return len(self.begun()) + self.log.read_text().count("begins anew")

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(BOUND_S)


@contextlib.contextmanager
def running(project, folder: Path) -> Iterator[tuple[Program, Program]]:
    programs = (
        Program(INDEXER, project, folder / "indexer.log"),
        Program(WATCHER, project, folder / "watcher.log"),
    )
    try:
        yield programs
    finally:
        for program in programs:
            program.process.kill()
            program.process.wait()


def served(project) -> str:
    """Return all served text as one string; "" while a generation is replaced meanwhile."""
    try:
        rows = open_rows(read_current(project.config.index_dir), project.config.index_dir)
        return "\n".join(rows.text(ordinal) for ordinal in np.flatnonzero(rows.live).tolist())
    except (CortexError, OSError):
        return ""


def test_files_saved_while_processes_restart_are_served(project, tmp_path):
    with running(project, tmp_path) as programs:
        saved, before = 0, 0

        def save_whenever_one_ends_or_begins() -> bool:
            nonlocal saved, before
            now = sum(program.turns() for program in programs)
            if now != before:
                saved, before = saved + 1, now
                path = project.root / f"saved_{saved}.py"
                path.write_text(f"def saved_number_{saved}():\n    return {saved}\n")
            assert all(program.process.poll() is None for program in programs)
            return all(len(program.begun()) > TIMES for program in programs)

        until(save_whenever_one_ends_or_begins, "both to begin anew")
        wanted = {f"saved_number_{number}()" for number in range(1, saved + 1)}
        until(
            lambda: (text := served(project)) and all(definition in text for definition in wanted),
            "all that was saved",
        )
        assert not any(psutil.Process(program.process.pid).children() for program in programs)
        assert [program.end() for program in programs] == [0, 0]
        assert [len(set(program.begun())) for program in programs] == [1, 1]  # no descriptor is left open
    project.nothing_left()
