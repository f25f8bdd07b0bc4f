"""The watcher's watches: folders come, go and are made anew while files are written in them."""

import contextlib
import itertools
import json
import logging
import shutil
import threading
import time

import pytest

from cortex.settings import config as configuration
from cortex.settings.home import open_runtime
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


def test_a_change_is_built_in_the_quiet_time_and_published_at_its_end(config, watcher):
    watcher._watch()
    builder, deadline = watcher._builder, time.monotonic() + BOUND_S
    for attempt in itertools.count(1):  # a machine that stands still longer than the quiet time: again
        chunks = [{"id": f"x{at}", "text": "def x(): ..."} for at in range(attempt)]
        (config.chunks_dir / "a.json").write_text(json.dumps(chunks))
        assert watcher._seen.wait(BOUND_S)
        watcher._last_event = time.monotonic()
        watcher._wait_for_change()
        assert builder.current.rows == attempt - 1
        prepared = builder._built.rows
        assert builder.refresh().rows == attempt
        if prepared == attempt:
            return
        assert time.monotonic() < deadline


def test_folders_are_watched_before_anything_is_published(config, monkeypatch):
    open_runtime(config)
    watcher, watched = WatcherWorker(config), []
    refresh = watcher._builder.refresh
    monkeypatch.setattr(
        watcher._builder, "refresh", lambda: watched.append(set(watcher._watched)) or refresh()
    )
    watcher.start()
    try:
        until(lambda: watched)
    finally:
        watcher.stop()
    assert watched[0] == {config.chunks_dir}
