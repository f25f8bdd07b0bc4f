"""The watcher's watches: folders are created, removed and created again while files are written in
them.
"""

import contextlib
import errno
import itertools
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
import time

import msgspec
import pytest
import zmq

import workers.watcher
from cortex.generation import damage
from cortex.publish import folder_events
from cortex.settings import config as configuration
from cortex.settings.folders.home import open_runtime
from cortex.system import files
from cortex.system.folders.inotify import Notice
from cortex.system.process import re_exec
from cortex.terms import tokens
from cortex.terms.records import LONG_FILES, IndexerState
from ipc.events import Announcer
from tests.wait_until import BOUND_S, until
from workers.watcher import QUIET_S, SETTLED_S, WatcherWorker


@pytest.fixture
def config(tmp_path):
    loaded = configuration.load(tmp_path)
    loaded.chunks_dir.mkdir(parents=True)
    return loaded


@pytest.fixture
def watcher(config):
    created = WatcherWorker(config)
    yield created
    created.folder_events.close()
    created.builder.close()


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
        with caplog.at_level(logging.WARNING, logger="cortex.publish"):
            for _ in range(30):
                config.graph_dir.mkdir(exist_ok=True)
                watcher.follow()
                shutil.rmtree(config.graph_dir, ignore_errors=True)
                watcher.follow()
            watcher.folder_events.close()
    finally:
        stop.set()
        thread.join()
    assert [record.getMessage() for record in caplog.records] == []


def notices_change(watcher):
    """Return whether the watcher notices a change before its clock is due."""

    def come():
        watcher.folder_events.wait(0.0)
        if watcher.folder_events.published_changed:
            watcher.follow()
        return watcher.folder_events.changed

    return until(come)


def test_a_folder_that_is_made_anew_is_watched_again(config, watcher):
    watcher.follow()
    for _ in range(3):
        watcher.folder_events.changed = False
        (config.chunks_dir / "a.json").write_text("{}")
        assert notices_change(watcher)
        shutil.rmtree(config.chunks_dir)
        config.chunks_dir.mkdir()  # often with the inode of the previous folder
        watcher.folder_events.changed = False
        assert notices_change(watcher)  # changes before it was watched have no event


@pytest.mark.parametrize("kind", ["chunks", "graph"])
def test_a_folder_that_another_program_makes_is_watched_as_soon_as_it_is_there(config, watcher, kind):
    watcher.follow()
    watcher.folder_events.changed = False
    (config.root / ".cortex" / kind).mkdir(parents=True)
    assert notices_change(watcher)
    watcher.folder_events.changed = False
    (config.root / ".cortex" / kind / "a.json").write_text("{}")
    assert notices_change(watcher)


def test_what_is_read_or_is_no_chunk_file_is_no_change(config, watcher):
    (config.chunks_dir / "a.json").write_text("{}")
    watcher.follow()
    watcher.folder_events.changed = watcher.folder_events.published_changed = False
    (config.chunks_dir / "a.json").read_text()
    (config.chunks_dir / "notes.txt").write_text("x")
    (config.chunks_dir / ".a.json.tmp").write_text("x")
    (config.root / "main.py").write_text("x")
    watcher.folder_events.wait(0.0)
    assert not watcher.folder_events.changed
    assert not watcher.folder_events.published_changed


def publish(config, watcher):
    (config.chunks_dir / "a.json").write_text(json.dumps([{"id": "x", "text": "def x(): ..."}]))
    while watcher.builder.refresh() is not None:
        pass
    watcher.builder.tidy()
    watcher.follow()
    watcher.folder_events.wait(0.0)
    watcher.folder_events.changed = False


def test_a_watcher_without_changes_lets_go_of_what_only_building_needs(config, watcher, monkeypatch):
    watcher.folder_events.close()
    with zmq.Context() as context, contextlib.closing(Announcer(context, open_runtime(config))) as announcer:
        (config.chunks_dir / "a.json").write_text(json.dumps([{"id": "x", "text": "def x(): ..."}]))
        watcher.publish_all(announcer)
        assert watcher.builder.current.rows == 1
        watcher.release_memory(watcher.published_at)
        assert tokens._SPLITS
        monkeypatch.setattr(watcher.builder, "is_busy", lambda: True)  # as while names are resolved
        watcher.release_memory(watcher.published_at + SETTLED_S)
        assert watcher.published_at  # the end of the run is left for later
        assert not tokens._SPLITS
        (config.chunks_dir / "b.json").write_text(json.dumps([{"id": "y", "text": "def y(): ..."}]))
        watcher.publish_all(announcer)
        assert watcher.builder.current.rows == 2


def test_a_watcher_that_holds_much_begins_anew_while_the_indexer_goes_on(config, watcher, monkeypatch):
    monkeypatch.setattr(watcher.builder, "is_busy", lambda: True)  # as while names are resolved
    with zmq.Context() as context, contextlib.closing(Announcer(context, open_runtime(config))) as announcer:
        for number, limit in enumerate((1 << 40, -(1 << 40))):
            monkeypatch.setattr(re_exec, "LARGE_BYTES", limit)
            (config.chunks_dir / f"{number}.json").write_text(
                json.dumps([{"id": f"x{number}", "text": "def x(): ..."}])
            )
            watcher.publish_all(announcer)
            watcher.release_memory(watcher.published_at)
            assert not watcher.is_over()
            watcher.release_memory(watcher.published_at + QUIET_S)
            assert watcher.is_over() == (limit < 0)


@pytest.mark.parametrize("done", [LONG_FILES - 1, LONG_FILES])
def test_a_watcher_whose_last_chunks_are_served_begins_anew_when_the_pool_resolves_names(
    config, watcher, monkeypatch, done
):
    monkeypatch.setattr(re_exec, "LARGE_BYTES", -(1 << 40))
    state = IndexerState("indexing", done, LONG_FILES, 1, time.time(), os.getpid())
    files.replace(config.indexer_state, msgspec.json.encode(state))
    with zmq.Context() as context, contextlib.closing(Announcer(context, open_runtime(config))) as announcer:
        (config.chunks_dir / "a.json").write_text(json.dumps([{"id": "x", "text": "def x(): ..."}]))
        watcher.publish_all(announcer)
        assert watcher.builder.current.rows == 1
        watcher.release_memory(watcher.published_at)
        assert watcher.is_over() == (done == LONG_FILES)


def test_what_is_served_no_more_is_removed_although_nothing_is_published_after_it(config, watcher):
    with zmq.Context() as context, contextlib.closing(Announcer(context, open_runtime(config))) as announcer:
        for text in ("def x(): ...", "def other(): ..."):
            (config.chunks_dir / "a.json").write_text(json.dumps([{"id": "x", "text": text}]))
            watcher.step(announcer)
        index = config.index_dir
        for path in (*index.glob("segments/*"), *index.glob("text/*")):
            os.utime(path, (0, 0))
        before = {path.name for path in index.glob("segments/rows-*")}
        until(lambda: not watcher.builder.is_busy())
        watcher.release_memory(watcher.published_at + SETTLED_S)
        current = watcher.builder.current
        assert {path.name for path in index.glob("segments/rows-*")} == {
            segment.name for segment in current.segments
        }
        assert {path.name for path in index.glob("text/*")} == {current.tokens["text"], "units", "writer"}
        assert len(before) == 2


def test_work_that_takes_long_says_where_it_is(config, watcher, monkeypatch, capfd, caplog):
    monkeypatch.setattr(workers.watcher, "SLOW_S", 0.0)
    faults = []

    def refresh():
        until(lambda: "in publish_all" in capfd.readouterr().err)
        faults.append(watcher.status().info["fault"])

    monkeypatch.setattr(watcher.builder, "refresh", refresh)
    watcher.publish_all(None)
    assert "watcher.log has a trace" in faults[0]
    assert "watcher.log has a trace" in caplog.text
    monkeypatch.undo()
    assert not watcher.status().info["fault"]


HUNG = """
import threading
from pathlib import Path
import workers.watcher
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.settings.folders.home import open_runtime
config = Config(root=Path.cwd())
open_runtime(config)
workers.watcher.HUNG_S = 0.1
Builder.refresh = lambda _: threading.Event().wait()
workers.watcher.WatcherWorker(config).start()
"""


def test_work_that_never_ends_ends_the_process_and_says_where_it_was(tmp_path):
    command = [sys.executable, "-P", "-c", HUNG]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == 1
    assert "publish_all" in done.stderr


@pytest.mark.parametrize("name", ["CURRENT", "segments", "text"])
def test_damage_to_published_files_is_noticed_by_events(config, watcher, name):
    publish(config, watcher)
    assert not watcher.is_to_be_looked_at()
    (path,) = [config.index_dir / name] if name == "CURRENT" else damageable(config.index_dir / name)
    path.write_bytes(b"junk")
    watcher.folder_events.wait(0.0)
    assert watcher.is_to_be_looked_at()
    assert watcher.builder.refresh() is not None
    watcher.builder.tidy()
    watcher.folder_events.wait(0.0)
    assert not watcher.is_to_be_looked_at()


def damageable(folder):
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".seg", ".term"))
    return [path for path in paths if path.parent.name != "writer"][-1:]


def test_what_a_publish_writes_by_itself_is_no_reason_to_read_everything_again(config, watcher):
    publish(config, watcher)
    assert watcher.folder_events.published_changed
    assert not watcher.is_to_be_looked_at()
    assert not watcher.folder_events.published_changed


def test_marks_of_readers_and_reports_of_the_indexer_are_noticed_by_events(config, watcher):
    publish(config, watcher)
    damage.write_mark(config.run_dir, "text", watcher.builder.current.number, "junk")
    watcher.folder_events.wait(0.0)
    assert watcher.is_to_be_looked_at()
    state = IndexerState("idle", 0, 0, watcher.builder.current.sequence + 1, time.time(), os.getpid())
    files.replace(config.indexer_state, msgspec.json.encode(state))
    watcher.folder_events.wait(0.0)
    assert watcher.is_to_be_looked_at()
    files.replace(config.indexer_state, msgspec.json.encode(state))
    while watcher.builder.refresh() is not None:
        pass
    watcher.folder_events.wait(0.0)
    assert not watcher.is_to_be_looked_at()


def test_a_watcher_without_events_looks_once_a_second_and_reports_it(config, monkeypatch, caplog):
    def refuse():
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(folder_events, "Notices", refuse)
    watcher = WatcherWorker(config)
    try:
        assert watcher.status().info["watching"] == "polling"
        watcher.follow()
        assert watcher.folder_events.look_s == folder_events.BLIND_LOOK_S < folder_events.LOOK_S
        assert "looking by the clock" in caplog.text
    finally:
        watcher.builder.close()


def test_on_a_network_folder_it_looks_once_a_second(config, watcher, monkeypatch):
    monkeypatch.setattr(folder_events, "file_system", lambda _: "nfs4")
    watcher.follow()
    assert watcher.status().info["watching"] == "polling"
    assert watcher.folder_events.look_s == folder_events.BLIND_LOOK_S


def test_an_overflow_of_events_counts_as_any_change(watcher):
    watcher.folder_events._handle_notice(Notice(""))
    assert watcher.folder_events.changed
    assert watcher.folder_events.published_changed
    assert watcher.folder_events.has_marks


def test_a_change_is_built_in_the_quiet_time_and_published_at_its_end(config, watcher):
    watcher.follow()
    builder, deadline = watcher.builder, time.monotonic() + BOUND_S
    for attempt in itertools.count(1):  # the machine stood still for longer than the quiet time: again
        chunks = [{"id": f"x{at}", "text": "def x(): ..."} for at in range(attempt)]
        (config.chunks_dir / "a.json").write_text(json.dumps(chunks))
        assert notices_change(watcher)
        watcher.folder_events.changed_at = time.monotonic()
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
    refresh = watcher.builder.refresh
    monkeypatch.setattr(
        watcher.builder, "refresh", lambda: watched.append(set(watcher.folder_events._watched)) or refresh()
    )
    watcher.start()
    try:
        until(lambda: watched)
    finally:
        watcher.close()
    assert config.chunks_dir in watched[0]
