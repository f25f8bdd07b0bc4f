"""The watcher's watches: folders come, go and are made anew while files are written in them."""

import contextlib
import logging
import shutil
import threading

import pytest

from cortex.settings import config as configuration
from tests.waiting import BOUND_S, until
from workers.watcher import WatcherWorker


@pytest.fixture
def config(tmp_path):
    loaded = configuration.load(tmp_path)
    loaded.chunks_dir.mkdir(parents=True)
    return loaded


@pytest.fixture
def watcher(config):
    made = WatcherWorker(config)
    yield made
    made._unwatch()
    made._builder.close()


def test_watches_that_end_while_files_are_written_are_no_errors(config, watcher, caplog):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            with contextlib.suppress(OSError):
                (config.chunks_dir / "a.json").write_text("{}")
                (config.graph_dir / "b.json").write_text("{}")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with caplog.at_level(logging.WARNING, logger="watchdog"):
            for _ in range(30):
                config.graph_dir.mkdir(exist_ok=True)
                watcher._watch()
                shutil.rmtree(config.graph_dir, ignore_errors=True)
                watcher._watch()
            watcher._unwatch()
    finally:
        stop.set()
        thread.join()
    assert [record.getMessage() for record in caplog.records] == []


def test_a_folder_that_is_made_anew_is_watched_again(config, watcher):
    for _ in range(3):
        watcher._watch()
        watcher._seen.clear()
        (config.chunks_dir / "a.json").write_text("{}")
        assert watcher._seen.wait(BOUND_S)
        shutil.rmtree(config.chunks_dir)
        config.chunks_dir.mkdir()  # often with the inode of the one before
        until(lambda: config.chunks_dir in watcher._ended)
