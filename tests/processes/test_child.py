"""One process of a set: its restarts, its log and its environment."""

from __future__ import annotations

import itertools
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from cortex.processes import child as processes
from cortex.processes.child import child_environment
from cortex.settings.config import Config
from cortex.settings.folders.home import open_runtime
from ipc.client import CONNECT_S
from ipc.locks import try_lock
from tests.processes.tiny_sets import OBEDIENT, child, dead, spec
from tests.wait_until import BOUND_S, until


def test_a_child_starts_soon_after_another_process_has_released_its_lock(config: Config) -> None:
    """An orphan of a killed set finishes its publication; the next set must then get the lock."""
    open_runtime(config)
    lock = config.runtime_dir / "elsewhere.lock"
    code = (
        "import sys; from cortex.system.errors import EXIT_OCCUPIED; from ipc.locks import try_lock\n"
        f"lock = try_lock({str(lock)!r}) or sys.exit(EXIT_OCCUPIED)\n" + OBEDIENT
    )
    process = processes.Child("watcher", child(code, config), spec(config))
    now, starts = 0.0, list[float]()
    with try_lock(lock):
        while len(starts) < 8:
            if "started" in process.tend(now):
                starts.append(now)
                until(lambda: dead(process.pid), "its end")
            now += 0.05
    assert max(b - a for a, b in itertools.pairwise(starts)) < 5.0
    while not (started := "started" in process.tend(now)) and now < starts[-1] + 5.0:
        now += 0.05
    assert started
    assert process.state == "running"
    process.terminate()
    assert process.wait(time.monotonic() + BOUND_S) == ""


def test_a_child_that_keeps_dying_is_started_less_and_less_often(config: Config) -> None:
    process = processes.Child("text", child("raise SystemExit(1)", config), spec(config))
    now, starts = 0.0, list[float]()
    while len(starts) < 6:
        if "started" in process.tend(now):
            starts.append(now)
            until(lambda: not psutil.pid_exists(process.pid) or dead(process.pid), "its end")
        now += 0.05
    waits = [round(b - a, 1) for a, b in itertools.pairwise(starts)]
    assert waits == sorted(waits)
    assert waits[-1] > 3 * waits[0]


def test_a_child_that_is_killed_repeatedly_is_restarted_soon_each_time(config: Config) -> None:
    process = processes.Child("text", child(OBEDIENT, config), spec(config))
    now, starts = 0.0, list[float]()
    while len(starts) < 10:
        if "started" in process.tend(now):
            starts.append(now)
            os.kill(process.pid, signal.SIGKILL)
            until(lambda: dead(process.pid), "its end")
        now += 0.05
    process.terminate()
    assert max(b - a for a, b in itertools.pairwise(starts)) < CONNECT_S


def test_a_log_is_kept_small(tmp_path: Path) -> None:
    path = tmp_path / "text.log"
    with path.open("ab", buffering=0) as log:
        log.write(b"old\n" * 1000)
        log.write(b"x" * processes.LOG_BYTES_MAX + b"last line\n")
        processes.trim_log(str(path))
        log.write(b"new\n")
    assert path.read_bytes() == b"new\n"
    older_half = (tmp_path / "text.log.1").read_bytes()
    assert older_half.endswith(b"last line\n")
    assert len(older_half) <= processes.LOG_BYTES_MAX


COUNT_HEAPS = """
import ctypes, sys, threading
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
together = threading.Barrier(8)
def allocate():
    together.wait()
    libc.malloc(ctypes.c_size_t(100_000))
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


def count_heaps(folder, environment):
    report = folder / "heaps.xml"
    subprocess.run([sys.executable, "-c", COUNT_HEAPS, report], env=environment, check=True, timeout=60)
    return report.read_text().count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_threads_of_a_child_share_two_heaps_unless_the_user_says_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert count_heaps(tmp_path, dict(os.environ)) > 2
    assert count_heaps(tmp_path, child_environment()) == 2
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    assert count_heaps(tmp_path, child_environment()) == 1
