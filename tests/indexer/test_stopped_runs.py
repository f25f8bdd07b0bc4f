"""Runs of the indexer that are stopped or killed: the next run completes them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest

from cortex.embedders import open_embedder
from cortex.embedders.static import open_static
from cortex.indexer import run
from cortex.indexer.run import Indexer, index
from cortex.indexer.store.limits import Limits
from cortex.indexer.store.writer import writer_lock
from cortex.settings.config import Config
from tests.indexer.indexed_tree import COUNT, FILES, chunks, contents


@pytest.mark.parametrize("stop_at", [1, 2, 3])
def test_a_run_that_is_killed_is_finished_by_the_next(project, monkeypatch, stop_at):
    limits = Limits(shard_files=2, flush_s=0.0)
    plain = os.replace
    calls = [0]

    def failing(source, target, **folders):
        calls[0] += 1
        if calls[0] > stop_at * 3:
            raise KeyboardInterrupt
        plain(source, target, **folders)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        index(project, limits=limits)
    monkeypatch.setattr(os, "replace", plain)
    index(project, limits=limits)
    fresh = Config(root=project.root.parent / "fresh")
    shutil.copytree(FILES, fresh.root)
    index(fresh, limits=limits)
    assert chunks(project) == chunks(fresh)
    assert not os.listdir(project.chunks_dir / ".tmp")


KILLED = """
import os, signal, sys
from pathlib import Path
from cortex.settings.config import Config
from cortex.indexer import run
from cortex.indexer.store.limits import Limits

limits = Limits(shard_files=2, flush_s=0.0, flush_share=float("inf"))  # as many steps in every run
plain, steps = os.replace, []

def replace(source, target, **folders):
    steps.append(target)
    if len(steps) > killed_at:
        os.kill(os.getpid(), signal.SIGKILL)
    plain(source, target, **folders)

os.replace = replace
killed_at = 100_000
run.index(Config(root=Path(sys.argv[1])), limits=limits)
print(len(steps), flush=True)
for line in sys.stdin:
    # A fork has loaded what each run needs.
    if not (run_pid := os.fork()):
        killed_at = int(line)
        steps.clear()
        run.index(Config(root=Path(sys.argv[1])), limits=limits)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(run_pid, 0)[1]), flush=True)
"""


def test_a_run_that_is_killed_for_good_anywhere_is_finished_by_the_next(quick):
    command = [sys.executable, "-P", "-c", KILLED, str(quick.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed:
        steps, expected = int(killed.stdout.readline()), contents(quick)
        for step in {*range(0, steps, max(1, steps // 5)), steps - 2, steps - 1}:
            shutil.rmtree(quick.home)
            print(step, file=killed.stdin, flush=True)
            assert int(killed.stdout.readline()) == -signal.SIGKILL
            index(quick, limits=Limits(shard_files=2))
            assert contents(quick) == expected, step
        killed.stdin.close()
    assert killed.returncode == 0


def test_a_stopped_run_leaves_whole_chunk_files(project):
    limits = Limits(shard_files=2)
    stop = threading.Event()
    stop.set()
    run.open_home(project)
    Indexer(project, open_static(), stop, limits).run()
    assert 0 < len({c["metadata"]["file_path"] for c in chunks(project).values()}) < COUNT
    index(project, limits=limits)
    assert len({c["metadata"]["file_path"] for c in chunks(project).values()}) == COUNT


def test_a_first_run_that_was_stopped_between_two_groups_is_completed_by_the_next(project):
    stop = threading.Event()
    indexer = Indexer(project, open_embedder(project), stop, Limits(first_files=3))
    with writer_lock(project):
        stopped = indexer.run(on_progress=lambda *_: stop.set())
    assert stopped.files < COUNT
    completed = index(project)
    assert (completed.files, completed.unchanged) == (COUNT, stopped.files)
