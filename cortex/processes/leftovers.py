"""Removal of unused runtime folders: those of stopped sets, and those of an earlier boot.

Runtime folders hold only locks and sockets.
"""

import contextlib
import re
import time
from pathlib import Path

from cortex.settings.folders.home import runtime_base
from cortex.system import files
from ipc.locks import Lock, try_lock

#: a project's runtime folder: its id and the number of the protocol
_FOLDER = re.compile(r"[0-9a-f]+-p[0-9]+")
#: endings of the files in a runtime folder, which are removed with it
_ENDINGS = (".lock", ".sock")
#: the clock of seconds since boot, with sleep included if the system counts it
_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def remove_unlocked(folder: Path) -> bool:
    """Remove a runtime folder unless a process holds a lock in it, or it holds other files; return
    whether it is removed.

    Its locks are held meanwhile: a process that has just opened one of them sees that the file is
    gone, and creates another.
    """
    locks: list[Lock] = []
    try:
        names = files.names(folder)
        if not all(name.endswith(_ENDINGS) for name in names):
            return False
        for name in names:
            if name.endswith(".lock"):
                lock = try_lock(folder / name)
                if lock is None:
                    return False
                locks.append(lock)
        for name in names:
            files.remove(folder / name)
        folder.rmdir()
    except OSError:
        return False
    finally:
        for lock in locks:
            lock.release()
    return True


def remove_stale_folders(booted: float | None = None) -> list[str]:
    """Remove the runtime folders that are unchanged since this machine was booted, at `booted`
    (seconds since the epoch); return their names. A new socket changes its folder.
    """
    started = booted if booted is not None else time.time() - time.clock_gettime(_BOOTTIME)
    removed: list[str] = []
    with contextlib.suppress(OSError):
        base = runtime_base()
        for name, info in files.entries(base).items():
            if _FOLDER.fullmatch(name) and info.st_mtime < started and remove_unlocked(base / name):
                removed.append(name)
    return removed
