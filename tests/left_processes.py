"""The processes that still run for a test."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil


def processes_of(*places: Path) -> list[psutil.Process]:
    """Return every process that names one of these places in its command line, or works in it,
    except this one.
    """
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and (
                any(str(place) in argument for argument in process.cmdline() for place in places)
                or Path(process.cwd()) in places
            ):
                processes.append(process)
    return processes
