"""Counts of work for a fixed project: rows, messages, bytes, generations, timed checks.

Counts are the same on any machine, so a lost fast path fails here and not only in a measurement of
seconds. Each bound is the present count, and some air.
"""

import asyncio
import contextlib
import gc
import json
import os
import threading
import time
from collections import Counter
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from cortex.engines import serving
from cortex.engines.graph import arrays
from cortex.engines.graph.lookup.nearest import NearestNames
from cortex.engines.serving import EngineWorker
from cortex.engines.text import pages
from cortex.engines.text.index.checksums import META
from cortex.engines.vector.usearch import VectorSnapshot
from cortex.front.tools import TOOLS
from cortex.generation import snapshots
from cortex.generation.contract import Folder
from cortex.generation.current import read_current
from cortex.generation.read import Rows
from cortex.generation.segments.words import WordTable
from cortex.indexer import watch
from cortex.indexer.run import index
from cortex.indexer.syntax import parse
from cortex.publish import chunk_files, graph_files, integrity
from cortex.publish.builder import Builder
from cortex.publish.graph_files import GraphFiles
from cortex.ranking import evidence
from cortex.settings import config as configuration
from cortex.settings.folders.home import open_home, open_runtime
from cortex.system import files
from cortex.terms.paths import path_traits
from cortex.terms.records import LONG_FILES, IndexerState
from ipc.codec import encode
from ipc.messages import ExactSearch, Filters, GraphSearch, OutlineSearch, Show, VectorSearch
from ipc.service import CHECK_S
from tests.conftest import open_project
from tests.consent import trust_files
from workers import watcher as watching
from workers.watcher import WatcherWorker

#: files and chunks of the project of another program: enough that a scan of all costs more than the
#: other work
FILES, CHUNKS = 20, 3_000
#: seconds between two checks of an idle process, at least
RESTING_S = 10.0


def chunk(at):
    values = np.random.default_rng(at).standard_normal(384).astype(np.float32)
    return {
        "id": f"code-f{at}.py~1",
        "chunk_type": "code",
        "text": f"def function_{at}(): return handler_{at}",
        "embedding": values.tolist(),
        "metadata": {"file_path": f"f{at}.py", "language": "python", "start_line": 1, "end_line": 1},
    }


def write(folder, number, changed=""):
    chunks = [chunk(at) for at in range(number, CHUNKS, FILES)]
    chunks[0]["text"] += changed
    body = {"_metadata": {"model": "cortex-static-384@1", "dimensions": 384}, "chunks": chunks}
    (folder / ".new").write_text(json.dumps(body))
    (folder / ".new").replace(folder / f"{number}.json")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    root = tmp_path_factory.mktemp("large")
    folder = root / ".cortex" / "chunks"
    folder.mkdir(parents=True)
    for number in range(FILES):
        write(folder, number)
    trust_files(root)
    return configuration.load(root)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("work")
    for at in range(60):
        (root / f"part_{at}.py").write_text(
            f'"""Part {at} of the machine."""\n\n\ndef lock_{at}(name):\n    """Take the lock of a part."""\n'
            f"    return name + str({at})\n\n\ndef use_{at}():\n    return lock_{at}('x')\n"
        )
    (root / "notes.md").write_text("# Notes\n\n`lock_7` takes the lock of the seventh part.\n")
    return open_project(root)


def count_messages(served, tool, **arguments):
    """Return the messages of one call by kind."""
    del served.requests[:]
    definition = TOOLS[tool]
    answer = asyncio.run(definition.call(served.context(), definition.check(arguments)))
    assert answer["index"]["degraded"] == []
    assert answer.get("results") or answer["functions"]
    return Counter(type(message).__name__ for message in served.requests)


def test_a_search_asks_each_lane_once_and_fetches_once(served):
    messages = count_messages(
        served, "cortex_search", query="where is the lock taken", limit=5, detail="snippet"
    )
    assert messages.total() <= 3, messages
    assert max(messages.values()) == 1, messages


def test_path_signals_of_the_ranking_are_computed_once_for_all_questions(served, monkeypatch):
    read = Counter()
    monkeypatch.setattr(evidence, "path_traits", lambda path: read.update([path]) or path_traits(path))
    evidence.describe_path.cache_clear()
    for query in ("where is the lock taken", "parts of the machine", "use of a lock"):
        count_messages(served, "cortex_search", query=query, limit=5)
    assert len(read) > 5
    assert max(read.values()) == 1, read


def test_an_exploration_asks_the_graph_for_what_it_needs_at_once(served):
    messages = count_messages(served, "cortex_explore", query="where is the lock taken, and who uses it?")
    assert messages["Several"] <= 3, messages
    assert messages.total() <= 18, messages


def test_internal_searches_of_an_exploration_return_no_chunks(served, monkeypatch):
    replies, cut, handlers = [], [], served.workers["text"].handlers
    search, make = handlers[ExactSearch], pages.cut_chunk
    monkeypatch.setitem(handlers, ExactSearch, lambda request: replies.append(search(request)) or replies[-1])
    monkeypatch.setattr(pages, "cut_chunk", lambda *of: cut.append(of) or make(*of))
    count_messages(served, "cortex_explore", query="why is `lock_7` taken?")
    assert sum(len(reply.hits) for reply in replies) > 0
    assert not any(reply.chunks for reply in replies)
    assert not cut


def test_worker_replies_are_in_proportion_to_the_candidates_of_a_search(served, monkeypatch):
    sizes = []
    for worker in served.workers.values():
        for kind, answer in list(worker.handlers.items()):

            def record_size(request, answer=answer):
                reply = answer(request)
                sizes.append(len(encode(reply, 1)))
                return reply

            monkeypatch.setitem(worker.handlers, kind, record_size)
    count_messages(served, "cortex_search", query="where is the lock taken", limit=5, detail="snippet")
    assert sum(sizes) < 24_000, sizes


def test_an_outline_reads_the_symbols_of_a_file_at_once_and_is_made_once(served, monkeypatch):
    nodes_of, read = arrays.nodes_of, []
    monkeypatch.setattr(
        arrays, "nodes_of", lambda segment, rows: read.append(rows) or nodes_of(segment, rows)
    )
    answer = served.workers["graph"].handlers[OutlineSearch]
    first = answer(OutlineSearch("part_3.py", 60_000))
    assert (len(read), sum(map(len, read))) == (1, first.total_found)
    assert answer(OutlineSearch("part_3.py", 60_000)) == first
    assert len(read) == 1


def test_an_outline_of_a_file_without_symbols_looks_for_no_names_that_are_like_it(served, monkeypatch):
    guesses = []
    monkeypatch.setattr(NearestNames, "near", lambda _names, name: guesses.append(name) or [])
    graph = served.workers["graph"].handlers
    assert not graph[OutlineSearch](OutlineSearch("docs/parts_of_it.md")).results
    assert not guesses
    assert not graph[GraphSearch](GraphSearch("callers", "parts_of_it")).results
    assert guesses


def test_a_worker_that_nobody_asks_forgets_the_files_that_it_has_shown(served, monkeypatch):
    count_messages(served, "cortex_search", query="where is the lock taken")
    text = served.workers["text"]
    showing = text._snapshots.get(0)[1][Show].__self__
    text.reload()
    text.reload()
    assert showing._sources  # the next query is often about the same
    monkeypatch.setattr(serving, "FORGET_S", 0.0)
    text.reload()
    assert not showing._sources
    count_messages(served, "cortex_search", query="where is the lock taken")
    assert showing._sources


def test_a_worker_gives_memory_back_after_questions_that_others_answer_in_it(served, monkeypatch):
    given_back = []
    monkeypatch.setattr(serving.allocator, "release_mapped_files", given_back.append)
    text = EngineWorker("text", served.config)
    text.add_handlers({GraphSearch: lambda request: request})
    text.reload()
    text.reload()
    given_back.clear()
    text.handlers[GraphSearch](GraphSearch("callers", "a"))
    text.reload()
    text.reload()
    assert given_back


def test_an_exact_search_asks_one_worker(served):
    messages = count_messages(served, "cortex_exact", query="lock_7", match_type="substring")
    assert messages.total() <= 1, messages


def test_a_question_reads_few_vectors_whole_and_the_same_filters_are_applied_once(served, monkeypatch):
    read = Counter()
    vectors, mask = Rows.vectors, Rows.mask

    def count(rows, ordinals):
        read["vectors"] += len(ordinals)
        return vectors(rows, ordinals)

    def filter_rows(rows, filters):
        read["masks"] += 1
        return mask(rows, filters)

    monkeypatch.setattr(Rows, "vectors", count)
    monkeypatch.setattr(Rows, "mask", filter_rows)
    for query in ("where is the lock taken", "parts of the machine", "use of a lock"):
        count_messages(served, "cortex_search", query=query, limit=5, paths=["part_*.py"])
    assert 0 < read["masks"] <= 2, read
    assert read["vectors"] <= 3 * 100, read


def test_a_first_index_is_few_generations_and_one_save_is_one_file(large, monkeypatch):
    opened = Counter()
    read = chunk_files.read_chunk_file

    def count(*arguments, name, **others):
        opened[name] += 1
        return read(*arguments, name=name, **others)

    monkeypatch.setattr(chunk_files, "read_chunk_file", count)
    with contextlib.closing(Builder(large)) as builder:
        while builder.refresh() is not None:
            pass
        first = builder.current
        assert first.rows == CHUNKS
        assert first.number <= 2
        assert len(first.segments) <= 2
        assert (len(opened), max(opened.values())) == (FILES, 1)
        meta = json.loads((large.index_dir / "text" / first.tokens["text"] / META).read_text())
        assert len(meta["segments"]) <= 2
        before = {path: path.stat().st_ino for path in large.index_dir.rglob("*") if path.is_file()}
        opened.clear()
        write(large.root / ".cortex" / "chunks", 3, changed=" # changed")
        while builder.refresh() is not None:
            pass
        second = builder.current
    assert set(opened) == {".cortex/chunks/3.json"}
    assert (second.rows, second.next_key - first.next_key) == (CHUNKS, 1)
    new = [path for path in large.index_dir.rglob("*") if path.is_file() and path not in before]
    old_inodes = set(before.values())
    written = sum(path.stat().st_size for path in new if path.stat().st_ino not in old_inodes)
    assert written < 30_000, written


def publish(builder):
    while builder.refresh() is not None:
        pass


def test_a_save_does_not_recompute_words_and_order_of_unchanged_rows(large, monkeypatch):
    shaped, ids = [], Counter()
    shapes, cuts = WordTable._term_shapes, Rows.cuts

    def shape(table):
        shaped.append(table) if table._cached is None else None
        return shapes(table)

    def cut(rows, what, ordinals):
        ids[what] += len(ordinals)
        return cuts(rows, what, ordinals)

    monkeypatch.setattr(WordTable, "_term_shapes", shape)
    monkeypatch.setattr(Rows, "cuts", cut)
    mistyped = ExactSearch("functoin_7", match_type="substring", limit=3)
    frequent = ExactSearch("handler", match_type="substring", limit=3)
    with contextlib.closing(Builder(large)) as builder:
        publish(builder)
        worker = EngineWorker("text", large)
        worker.reload()
        assert "did you mean" in worker.handlers[ExactSearch](mistyped).suggestion
        worker.handlers[ExactSearch](frequent)
        shaped_before = len(shaped)
        write(large.root / ".cortex" / "chunks", 7, changed=" # once more")
        publish(builder)
        worker.reload()
        shaped.clear()
        ids.clear()
        after_save = worker.handlers[ExactSearch](frequent)
        assert "did you mean" in worker.handlers[ExactSearch](mistyped).suggestion
    assert shaped_before >= 1
    assert len(shaped) <= 1
    assert 0 < ids["id"] < 100, ids
    assert [hit.id for hit in after_save.hits] == sorted(f"code-f{at}.py~1" for at in range(CHUNKS))[:3]


def test_rows_that_pass_a_filter_are_located_once(large, monkeypatch):
    with contextlib.closing(Builder(large)) as builder:
        publish(builder)
    worker, looked, near = EngineWorker("vector", large), [], VectorSnapshot._plan_scan
    worker.reload()
    monkeypatch.setattr(VectorSnapshot, "_plan_scan", lambda *of: looked.append(len(of[1])) or near(*of))
    chance, some = np.random.default_rng(7), Filters(paths=("f*1.py",))
    for filters in (Filters(), some, Filters(), some):
        query = chance.standard_normal(384).astype(np.float32)
        assert worker.handlers[VectorSearch](VectorSearch(query, "cortex-static-384@1", 5, filters))
    assert looked == [CHUNKS, sum(f"{at}".endswith("1") for at in range(CHUNKS))]


def test_ids_are_read_only_for_returned_vectors(large, monkeypatch):
    ids, cuts = [], Rows.cuts
    with contextlib.closing(Builder(large)) as builder:
        publish(builder)
    worker = EngineWorker("vector", large)
    worker.reload()
    query = np.random.default_rng(7).standard_normal(384).astype(np.float32)
    monkeypatch.setattr(Rows, "cuts", lambda rows, what, at: ids.append(len(at)) or cuts(rows, what, at))
    hits = worker.handlers[VectorSearch](VectorSearch(query, "cortex-static-384@1", 45))
    assert (len(hits), sum(ids)) == (45, 45)


def test_an_existing_word_is_compared_with_no_other_for_a_suggestion(served, monkeypatch):
    compared = []
    near = WordTable.near
    monkeypatch.setattr(
        WordTable, "near", lambda *arguments: compared.append(arguments[1:]) or near(*arguments)
    )
    search = served.workers["text"].handlers[ExactSearch]
    assert not search(ExactSearch("part ( machine", match_type="substring")).hits
    assert not compared
    assert "`machine`" in search(ExactSearch("mashine", match_type="substring")).suggestion
    assert {edits for _, edits in compared} == {1}


def test_a_file_is_parsed_once_for_its_chunks_and_its_graph(tmp_path, monkeypatch):
    for at in range(5):
        (tmp_path / f"part_{at}.py").write_text(f"def lock_{at}():\n    return {at}\n")
    (tmp_path / "Part.swift").write_text("struct Part { func lock() -> Int? { nil } }\n")
    parsed, parse_all = [], parse._parse_tree
    monkeypatch.setattr(
        parse, "_parse_tree", lambda *arguments: parsed.append(arguments[1]) or parse_all(*arguments)
    )
    config = configuration.load(tmp_path)
    open_home(config)
    assert index(config).files == 6
    assert len(parsed) == 6
    assert len(set(parsed)) == 6


def test_garbage_collection_is_off_while_chunk_files_are_read(large, monkeypatch):
    collecting, read = [], chunk_files.read_chunk_file

    def look(*arguments, **more):
        collecting.append(gc.isenabled())
        return read(*arguments, **more)

    monkeypatch.setattr(chunk_files, "read_chunk_file", look)
    with contextlib.closing(Builder(large)) as builder:
        write(large.root / ".cortex" / "chunks", 5, changed=" # looked for")
        assert builder.refresh() is not None
    assert collecting
    assert not any(collecting)
    assert gc.isenabled()


def write_state(config, **fields):
    """Write the indexer's state."""
    state = IndexerState(sequence=0, heartbeat=time.time(), pid=os.getpid(), **fields)
    files.replace(config.indexer_state, msgspec.json.encode(state))  # as the indexer does it


def test_while_names_are_resolved_graph_files_wait_and_references_are_counted_once(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("a = 1\n")
    config = configuration.load(tmp_path)
    open_home(config)
    open_runtime(config)
    index(config)
    counted, written, write_graph = [], [], graph_files.write_graph
    monkeypatch.setattr(Builder, "_count", lambda _self, number, _graph: counted.append(number) or "")
    monkeypatch.setattr(
        graph_files, "write_graph", lambda path, raw: written.append(path) or write_graph(path, raw)
    )
    with contextlib.closing(Builder(config)) as builder:
        while builder.refresh() is not None:
            pass
        counted.clear()
        written.clear()
        write_state(config, state="indexing", done=LONG_FILES, total=LONG_FILES)
        for shard in range(4):
            node = {"id": f"f{shard}:x", "kind": "function", "file": "a.py", "start_line": 1, "end_line": 1}
            (config.graph_dir / f"part{shard}.json").write_text(json.dumps({"nodes": [node], "edges": []}))
            assert builder.refresh() is None
        assert builder.is_busy()
        assert len(written) == 4  # at the end only their names are left to write
        write_state(config, state="idle", done=LONG_FILES, total=LONG_FILES)
        while builder.refresh() is not None:
            pass
        assert len(counted) == 1
        assert len(written) == 4
        assert len([name for name in builder.current.graph_files if "part" in name]) == 4
        assert not builder.is_busy()


def test_while_names_are_resolved_for_long_references_are_counted_less_and_less_often(tmp_path, monkeypatch):
    folder, segments = tmp_path / "graph", tmp_path / "segments"
    folder.mkdir()
    segments.mkdir()
    monkeypatch.setattr(graph_files, "time", SimpleNamespace(monotonic=iter(range(1, 10_000)).__next__))
    read = GraphFiles([Folder(folder, tmp_path)], segments)
    served, generations = {}, 0
    for second in range(1000):
        node = {"id": f"f{second}:x", "kind": "function", "file": "a.py", "start_line": 1, "end_line": 1}
        (folder / f"part{second % 10}.json").write_text(json.dumps({"nodes": [node], "edges": []}))
        published = read.read(served, patient=True)
        generations += published is not None
        served = served if published is None else published
    assert 4 <= generations <= 6, generations
    served = read.read(served)
    assert served is not None  # at the end of the run all is published at once
    assert not read.waits


def test_a_long_run_waits_no_longer_for_what_an_earlier_one_had_published(tmp_path, monkeypatch):
    folder, segments = tmp_path / "graph", tmp_path / "segments"
    folder.mkdir()
    segments.mkdir()
    clock = [0.0]
    monkeypatch.setattr(graph_files, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    read = GraphFiles([Folder(folder, tmp_path)], segments)

    def seconds_until_published(served, run):
        """Return how long a long run's file waits, and the files served then; the run ends
        with it.
        """
        node = {"id": f"f{run}:x", "kind": "function", "file": "a.py", "start_line": 1, "end_line": 1}
        (folder / f"part{run}.json").write_text(json.dumps({"nodes": [node], "edges": []}))
        began = clock[0] = clock[0] + 1
        while (published := read.read(served, patient=True)) is None:
            clock[0] += 1
        assert read.read(published) is None  # no file was left for the end of the run
        return clock[0] - began, published

    first, served = seconds_until_published({}, 1)
    assert first == seconds_until_published(served, 2)[0]


class SilentAnnouncer:
    """An announcer without listeners."""

    def announce(self, event):
        assert event.generation > 0


def files_looked_at(root, monkeypatch, number):
    """Return how many files all checks read while an indexer writes `number` chunk files and graph
    files, one after another, and the watcher publishes them.
    """
    root.mkdir()
    config = configuration.load(root)
    open_home(config)
    open_runtime(config)
    config.chunks_dir.mkdir(parents=True, exist_ok=True)
    config.graph_dir.mkdir(parents=True, exist_ok=True)
    looked, watcher = [], WatcherWorker(config)
    wait, left = watcher.folder_events.wait, iter(range(number))
    for module, name, look in (
        (chunk_files, "files_in", chunk_files.files_in),
        (graph_files, "files_in", graph_files.files_in),
        (integrity, "read_seals", integrity.read_seals),
    ):

        def count(place, look=look):
            looked.append(len(listed := look(place)))
            return listed

        monkeypatch.setattr(module, name, count)

    def go_on(_seconds):
        if (at := next(left, None)) is not None:
            body = {"id": f"f{at}", "text": f"def f{at}(): ...", "metadata": {"file_path": f"f{at}.py"}}
            node = {"id": f"f{at}:x", "kind": "function", "file": f"f{at}.py", "start_line": 1, "end_line": 1}
            for folder, content in (
                (config.graph_dir, {"nodes": [node], "edges": []}),
                (config.chunks_dir, [body]),
            ):
                (folder / ".new").write_text(json.dumps(content))
                (folder / ".new").replace(folder / f"{at}.json")
            write_state(config, state="idle" if at + 1 == number else "indexing", done=at + 1, total=number)
        wait(0.0)

    monkeypatch.setattr(watcher.folder_events, "wait", go_on)
    watcher.builder._manager.wait_s = watcher.builder._graph._wait_s = 3600.0
    try:
        watcher.follow()
        while len(watcher.builder.current.graph_files) < number:
            watcher.publish_all(SilentAnnouncer())
            watcher._wait_for_change()
        assert watcher.builder.current.rows == number
    finally:
        watcher.folder_events.close()
        watcher.builder.close()
    return sum(looked)


def test_a_first_index_looks_at_each_file_a_bounded_number_of_times(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_SERVER_DEBOUNCE_MS", "10")
    monkeypatch.setattr(watching, "WORTH_S", 3600.0)
    monkeypatch.setattr(watching, "GATHER_S", 0.0)
    for number in (LONG_FILES, 2 * LONG_FILES):
        with monkeypatch.context() as counted:
            looked = files_looked_at(tmp_path / str(number), counted, number)
        # publishing at each 1/32 of growth gives at most 96 a file, after each file 300 and 600
        assert looked <= 150 * number, (number, looked)


def test_a_watcher_that_rests_waits_for_the_system_and_not_for_a_clock(large, monkeypatch):
    watcher, waits = WatcherWorker(large), []
    try:
        while watcher.builder.refresh() is not None:
            pass
        watcher.builder.tidy()
        watcher.follow()
        watcher.folder_events.wait(0.0)
        watcher.folder_events.changed = False
        wait = watcher.folder_events.wait

        def waited(seconds):
            waits.append(seconds)
            if len(waits) > 3:
                watcher._stop.set()
            wait(0.0)

        monkeypatch.setattr(watcher.folder_events, "wait", waited)
        watcher._has_changed_files()
        assert min(waits) > RESTING_S - 1
        watcher.published_at, watcher._round_s = 0.0, 0.02  # as in a large project
        assert watcher._look_s() > 3 * RESTING_S
    finally:
        watcher.folder_events.close()
        watcher.builder.close()


def test_an_indexer_that_rests_waits_for_the_system_and_not_for_a_clock(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    config = configuration.load(tmp_path)
    open_home(config)
    open_runtime(config)
    follower = watch._Follower(config, threading.Event(), watch.PACE)
    try:
        follower._sweep()
        follower._dirty.clear()
        follower._sweep_at += 3600.0
        assert follower._patience() >= RESTING_S
        follower._worked_at, follower._look_took_s = 0.0, 0.02  # as in a large project
        assert follower._patience() > 3 * RESTING_S
        assert follower._pace.heartbeat_s >= RESTING_S
    finally:
        follower.close()


def test_a_worker_reads_what_is_published_once_for_each_generation(served, monkeypatch):
    read = []
    monkeypatch.setattr(snapshots, "read_current", lambda folder: read.append(folder) or read_current(folder))
    worker = served.workers["text"]
    worker.reload()
    read.clear()
    for _ in range(3):
        assert worker.reload() is False
    assert read == []


def test_idle_workers_poll_at_most_six_times_a_minute(served):
    assert CHECK_S >= RESTING_S
    for name, worker in served.workers.items():
        assert getattr(worker, "patience", lambda: CHECK_S)() >= RESTING_S, name
