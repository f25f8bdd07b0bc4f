"""Locks between processes: one holder at a time, with its number, across deletion of the file and
the holder's death.
"""

import os
import signal
import subprocess
import sys

import pytest

from cortex.system.errors import Unavailable
from ipc.locks import hold, holder_of, try_lock

#: a process that takes the lock in its argument, reports it, and waits for the end of its standard
#: input
HOLDER = """
import sys
from ipc.locks import hold
with hold(sys.argv[1], RuntimeError):
    print("held", flush=True)
    sys.stdin.read()
"""


def refusal(holder):
    return Unavailable(f"process {holder} has it")


@pytest.fixture
def other(tmp_path):
    """Start another process that holds `tmp_path/x.lock`."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", HOLDER, str(tmp_path / "x.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_locks_are_exclusive_and_free_after_their_holder(tmp_path):
    path = tmp_path / "x.lock"
    with hold(path, refusal):
        assert holder_of(path) == os.getpid()
        assert try_lock(path) is None
        with pytest.raises(Unavailable, match=f"process {os.getpid()} has it"):
            hold(path, refusal)
    assert holder_of(path) is None
    with hold(path, refusal):
        pass


def test_the_holder_is_named_to_other_processes_and_its_death_frees_the_lock(tmp_path, other):
    path = tmp_path / "x.lock"
    assert holder_of(path) == other.pid
    with pytest.raises(Unavailable, match=f"process {other.pid} has it"):
        hold(path, refusal)
    other.send_signal(signal.SIGKILL)
    with hold(path, refusal, wait_s=20):
        assert holder_of(path) == os.getpid()


def test_a_deleted_lock_is_lost_and_its_path_can_be_locked_again(tmp_path):
    path = tmp_path / "x.lock"
    first = hold(path, refusal)
    assert not first.lost
    path.unlink()
    assert first.lost
    with hold(path, refusal) as second:
        assert first.lost
        assert not second.lost
    first.release()


def test_releasing_twice_closes_no_other_descriptor(tmp_path):
    first = hold(tmp_path / "x.lock", refusal)
    first.release()
    with hold(tmp_path / "y.lock", refusal):  # it may have the first one's descriptor number
        first.release()
        assert holder_of(tmp_path / "y.lock") == os.getpid()


def test_a_lock_without_a_number_has_an_unknown_holder(tmp_path):
    path = tmp_path / "x.lock"
    with hold(path, refusal):
        path.write_bytes(b"")
        assert holder_of(path) == 0
        with pytest.raises(Unavailable, match="process unknown has it"):
            hold(path, refusal)


def make_folder(path):
    path.mkdir()
    (path / "kept").write_text("kept")


@pytest.mark.parametrize("make", [make_folder, os.mkfifo, lambda path: path.symlink_to(path)])
def test_anything_in_the_place_of_a_lock_is_moved_or_removed(tmp_path, make):
    make(tmp_path / "set.lock")
    with try_lock(tmp_path / "set.lock") as lock:
        assert not lock.lost
        assert holder_of(tmp_path / "set.lock") == os.getpid()
    assert [path.read_text() for path in tmp_path.glob("*/kept")] == ["kept"] * (make is make_folder)


def test_a_lock_in_a_missing_folder_has_no_holder(tmp_path):
    assert holder_of(tmp_path / "gone" / "x.lock") is None
    with pytest.raises(FileNotFoundError):
        try_lock(tmp_path / "gone" / "x.lock")
