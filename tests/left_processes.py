"""The processes that still run for a test."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil

from tests.wait_until import until


def processes_of(*places: Path) -> list[psutil.Process]:
    """Return every process that names one of these places in its command line, or works in it,
    except this one.
    """
    return [process for process in psutil.process_iter() if _is_of(process, places)]


def _is_of(process: psutil.Process, places: tuple[Path, ...]) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.pid != os.getpid() and (
            any(str(place) in argument for argument in process.cmdline() for place in places)
            or Path(process.cwd()) in places
        )
    return False


def wait_for_end(*places: Path) -> None:
    """Wait until none of these processes runs. A look at every process of the machine takes
    milliseconds, so those that it shows are watched until they have ended.
    """
    while left := processes_of(*places):
        until(lambda left=left: not any(_is_of(process, places) for process in left), "nothing left running")
