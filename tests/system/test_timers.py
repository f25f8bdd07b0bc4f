"""Threads of a library that polls are woken late."""

import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest

from cortex.engines.text.index.writer import TextWriter, open_index
from cortex.system.process.timers import LATE_S, late_threads

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux says how late a thread may be woken"
)

LATE = LATE_S * 1_000_000_000


def slack(thread):
    return int(Path(f"/proc/{thread}/timerslack_ns").read_text())


def threads():
    return set(os.listdir("/proc/self/task"))


def started():
    """Return the timer slack of a thread that is started now."""
    slacks = []
    thread = threading.Thread(target=lambda: slacks.append(slack(threading.get_native_id())))
    thread.start()
    thread.join()
    return slacks[0]


def test_only_threads_started_meanwhile_are_woken_late():
    before = started()
    with late_threads():
        assert started() == LATE
    assert started() == before < LATE
    assert slack(threading.get_native_id()) == before


def test_the_thread_that_looks_for_commits_of_a_text_index_is_woken_late(tmp_path):
    before = threads()
    index = open_index(tmp_path)
    slacks = []
    for thread in threads() - before:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            slacks.append(slack(thread))
    assert index
    assert slacks == [LATE] * len(slacks) != []


def test_a_writer_of_text_that_rests_writes_again(tmp_path):
    writer = TextWriter(tmp_path / "text", "")
    try:
        assert writer.build(1, [], []) == "1"
        writer.close()
        assert writer.build(2, [], [1]) == "2"
    finally:
        writer.close()
