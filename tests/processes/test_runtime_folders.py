"""The removal of unused runtime folders."""

from __future__ import annotations

import os
import time

from cortex.processes import attach
from cortex.processes.leftovers import remove_stale_folders
from cortex.settings.config import Config
from cortex.settings.folders.home import open_runtime
from ipc.locks import try_lock
from tests.processes.tiny_sets import OBEDIENT, running, spec, start
from tests.wait_until import BOUND_S


def test_a_set_that_is_stopped_leaves_no_runtime_folder(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    assert config.runtime_dir.exists()
    attach.clear(config)
    assert config.runtime_dir.exists()
    attach.stop(config)
    attach.clear(config)
    assert supervisor.wait(BOUND_S) == 0
    assert not config.runtime_dir.exists()


def test_a_runtime_folder_with_a_lock_that_is_held_or_with_something_else_stays(config: Config) -> None:
    open_runtime(config)
    folder = config.runtime_dir
    with try_lock(folder / "indexer.lock"):
        attach.clear(config)
        assert (folder / "indexer.lock").exists()
    (folder / "note.txt").write_text("Whose is this?")
    attach.clear(config)
    assert (folder / "note.txt").exists()


def test_runtime_folders_of_an_earlier_boot_go_at_the_next_start(config: Config) -> None:
    base = open_runtime(config).parent
    old, locked, young, other = (base / name for name in ("ab12-p1", "ab13-p1", "ab14-p1", "notes"))
    booted = time.time() - 3600.0
    for folder in (old, locked, young, other):
        folder.mkdir()
        (folder / "set.lock").touch()
        if folder != young:
            os.utime(folder, (booted - 60.0, booted - 60.0))
    with try_lock(locked / "set.lock"):
        assert remove_stale_folders(booted) == ["ab12-p1"]
    assert [locked.exists(), young.exists(), other.exists()] == [True, True, True]
