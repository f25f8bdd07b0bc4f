"""A benchmark that kills the memory worker repeatedly under writers, and checks their writes.

    python scripts/bench/memory_kills.py [--kills 500] [--writers 20] [--json]

Every write is repeated under its number until it is acknowledged. At the end the database is read
directly: an acknowledged note that is missing is lost, an answer that its title existed already
means that the write was done twice. Ends with 1 if either occurs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import report

from cortex.memory import Cortex
from cortex.processes import attach
from cortex.settings.config import load_data
from cortex.system.errors import Unavailable

#: seconds at most from the first write that a new worker acknowledged to its end
LIVES_S = 0.5
#: seconds in which a worker must be back
BACK_S = 60.0


@dataclass
class Counts:
    """The writers' answers; appending is safe between threads."""

    acknowledged: list[str] = field(default_factory=list)
    stored_twice: list[str] = field(default_factory=list)
    asked_again: list[str] = field(default_factory=list)
    waited_s: list[float] = field(default_factory=list)


def write(name: str, counts: Counts, stop: threading.Event) -> None:
    with Cortex.open(project="kills") as memory:
        number = 0
        while not stop.is_set():
            number += 1
            store(memory, f"{name} wrote {number}", counts)


def store(memory: Any, title: str, counts: Counts) -> None:
    began, operation = time.monotonic(), str(uuid.uuid4())
    while True:
        try:
            answer = memory.store(title, operation_id=operation)
        except Unavailable:
            counts.asked_again.append(title)
            continue
        counts.acknowledged.append(title)
        counts.waited_s.append(time.monotonic() - began)
        if "deduplicated" in answer:
            counts.stored_twice.append(title)
        return


def kill_once(counts: Counts, chance: random.Random) -> bool:
    """Wait until writes go on, then kill the worker at a random moment; return False if none comes
    back.
    """
    before, until = len(counts.acknowledged), time.monotonic() + BACK_S
    while len(counts.acknowledged) == before:
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    time.sleep(chance.random() * LIVES_S)
    status = attach.set_status(load_data())
    pid = next((process["pid"] for process in status["processes"] if process["pid"]), 0)
    if pid:
        os.kill(pid, signal.SIGKILL)
    return True


def count_lost(folder: Path, counts: Counts) -> tuple[int, int]:
    """Return (acknowledged notes that are missing, notes in the database)."""
    with sqlite3.connect(folder / "memory.sqlite3") as database:
        titles = [title for (title,) in database.execute("SELECT title FROM note")]
        integrity = database.execute("PRAGMA integrity_check").fetchone()
    database.close()
    if integrity != ("ok",):
        sys.exit(f"the database is damaged: {integrity}")
    return len(set(counts.acknowledged) - set(titles)), len(titles)


def run(folder: Path, kills: int, writers: int) -> dict[str, Any]:
    counts, stop, chance = Counts(), threading.Event(), random.Random(14)
    threads = [
        threading.Thread(target=write, args=(f"writer {number}", counts, stop)) for number in range(writers)
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    done, ended = 0, threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # the notes so far are counted then
        signal.signal(number, lambda *_: ended.set())
    while done < kills and not ended.is_set() and kill_once(counts, chance):
        done += 1
        if done % 50 == 0:
            print(f"{done} kills, {len(counts.acknowledged)} acknowledged", file=sys.stderr, flush=True)
    stop.set()
    for thread in threads:
        thread.join()
    attach.stop(load_data())
    missing, stored = count_lost(folder, counts)
    return {
        "kills": done,
        "writers": writers,
        "seconds": round(time.monotonic() - began),
        "acknowledged": len(counts.acknowledged),
        "there": stored,
        "lost": missing,
        "twice": len(counts.stored_twice),
        "asked_again_after_a_deadline": len(counts.asked_again),
        "waited_p50_ms": round(statistics.median(counts.waited_s) * 1000, 1),
        "waited_max_s": round(max(counts.waited_s), 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--writers", type=int, default=20)
    report.add_json(parser)
    options = parser.parse_args()
    figures = report.begin("memory_kills")
    folder = Path(tempfile.mkdtemp(prefix="cortex-kills-"))
    short = tempfile.mkdtemp(prefix="cx", dir="/tmp")
    os.environ |= {"CORTEX_MEMORY_DATA_DIR": str(folder), "XDG_RUNTIME_DIR": short}
    try:
        counted = run(folder, options.kills, options.writers)
    finally:
        attach.stop(load_data())
        shutil.rmtree(folder)
        shutil.rmtree(short)
    report.print_machine(figures)
    report.print_figures(counted)
    if options.json:
        report.write(figures | counted)
    return 1 if counted["lost"] or counted["twice"] or counted["kills"] < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
