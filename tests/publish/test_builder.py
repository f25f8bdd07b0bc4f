"""From chunk files to generations: work in proportion to the change, crashes that leave the old
state, upkeep.
"""

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from cortex.engines.text.engine import TextEngine
from cortex.engines.vector import usearch as vector_engine
from cortex.engines.vector.engine import VectorEngine
from cortex.generation import current as generations
from cortex.generation.contract import graph_folders
from cortex.generation.formats import UNUSED_S
from cortex.publish import builder as building
from cortex.publish.builder import Builder
from cortex.publish.graph_files import GraphFiles
from cortex.publish.merging import Limits
from cortex.settings.config import INDEX_FORMAT, Config
from cortex.system.errors import Misconfigured, NotReady
from cortex.terms.records import IndexerState
from ipc.messages import ExactSearch
from tests.publish.small_projects import Reader, chunk, drain, write

ROOT = Path(__file__).parents[2]


def test_chunk_files_become_answers_and_changes_follow(config, builder):
    reader = Reader(config)
    with pytest.raises(NotReady):
        reader.exact("handler_7")
    write(config, "a.json", [chunk(at) for at in range(20)])
    drain(builder)
    assert reader.exact("handler_7") == ["code-f7.py#f7~1"]
    assert reader.nearest(7) == "code-f7.py#f7~1"
    write(config, "a.json", [chunk(at) for at in range(20) if at != 7] + [chunk(50)])
    drain(builder)
    assert reader.exact("handler_7") == []
    assert reader.exact("handler_50") == ["code-f50.py#f50~1"]
    assert reader.nearest(50) == "code-f50.py#f50~1"
    assert reader.nearest(7) != "code-f7.py#f7~1"


def test_a_change_writes_only_its_own_rows(config, builder):
    write(config, "a.json", [chunk(at) for at in range(200)])
    first = drain(builder)
    write(config, "a.json", [chunk(at, "new text" if at < 5 else "") for at in range(200)])
    second = drain(builder)
    assert [ref.rows for ref in second.segments] == [200, 5]
    assert second.segments[0] == first.segments[0]
    assert second.deleted_count == 5
    assert second.rows == 200


def test_a_new_builder_knows_the_published_chunks_of_each_file(config, builder):
    write(config, "a.json", [chunk(at) for at in range(200)])
    write(config, "b.json", [chunk(at) for at in range(200, 210)])
    drain(builder)
    builder.close()
    (config.chunks_dir / "b.json").unlink()
    write(config, "a.json", [chunk(at, "new text" if at < 5 else "") for at in range(201)])
    restarted = Builder(config)
    changed = drain(restarted)
    restarted.close()
    assert [ref.rows for ref in changed.segments] == [210, 6]
    assert (changed.deleted_count, changed.rows, changed.sources) == (15, 201, 201)
    assert Reader(config).exact("handler_200") == ["code-f200.py#f200~1"]


def test_a_restart_reads_nothing_again_and_goes_on(config, builder, monkeypatch):
    write(config, "a.json", [chunk(at) for at in range(10)])
    before = drain(builder)
    builder.close()
    read = []
    monkeypatch.setattr("cortex.publish.chunk_files.read_chunk_file", lambda *a: read.append(a))
    restarted = Builder(config)
    try:
        assert restarted.refresh() is None
        assert read == []
        assert restarted.current == before
        monkeypatch.undo()
        write(config, "a.json", [chunk(at) for at in range(11)])
        assert drain(restarted).rows == 11
        assert len(Reader(config).exact("function_10")) == 1
    finally:
        restarted.close()


def test_many_small_changes_are_merged_and_answers_stay(config, builder):
    for at in range(20):
        write(config, "a.json", [chunk(i, f"marker_{i} in round {at}" if i == at else "") for i in range(30)])
        drain(builder)
    assert len(builder.current.segments) <= Limits().segments_max
    assert builder.current.rows == 30
    reader = Reader(config)
    assert reader.exact("marker_19") == ["code-f19.py#f19~1"]
    assert reader.exact("function_3") == ["code-f3.py#f3~1"]
    assert reader.nearest(3) == "code-f3.py#f3~1"


def test_rows_are_not_merged_while_a_long_run_adds_to_them(config, builder):
    tell(config, "indexing", done=100, total=1000)
    for at in range(10):
        write(config, f"{at}.json", [chunk(i) for i in range(2**at, 2 ** (at + 1))])
        builder.refresh()
        assert builder.refresh() is None
    assert len(builder.current.segments) == 10 > Limits().segments_max
    assert builder.is_busy()  # the end of the run is an event, but not of the chunk files
    tell(config, "idle", done=1000, total=1000)
    drain(builder)
    assert len(builder.current.segments) <= Limits().segments_max
    assert builder.current.rows == 1023


def test_no_merge_makes_a_segment_of_more_rows_than_it_may_hold_in_memory(config):
    limits = Limits(segments_max=2, rows_max=20, rows_min=10)
    with contextlib.closing(Builder(config, limits=limits)) as builder:
        for at in range(12):
            write(config, f"{at}.json", [chunk(i) for i in range(5 * at, 5 * at + 5)])
            drain(builder)
        sizes = [ref.rows for ref in builder.current.segments]
        assert max(sizes) <= 20
        assert len(sizes) <= 5 + limits.segments_max
        assert sum(sizes) == 60
        for at in range(6):  # so many rows are deleted that all segments are written again
            (config.chunks_dir / f"{2 * at}.json").unlink()
        assert drain(builder).deleted_count == 0
        sizes = [ref.rows for ref in builder.current.segments]
        assert max(sizes) <= 20
        assert sum(sizes) == 30
    reader = Reader(config)
    assert reader.exact("function_57") == ["code-f57.py#f57~1"]
    assert reader.exact("function_42") == []


def test_changes_that_wait_for_a_long_run_are_not_reported_as_served(config, builder):
    write(config, "a.json", [chunk(at) for at in range(20)])
    drain(builder)
    tell(config, "indexing", done=100, total=1000, sequence=7)
    write(config, "b.json", [chunk(50)])
    assert drain(builder).sequence < 7
    assert builder.is_behind()
    tell(config, "idle", done=1000, total=1000, sequence=7)
    assert (drain(builder).sequence, builder.current.rows) == (7, 21)


def tell(config, state, done, total, sequence=1):
    """Write a report of the indexer."""
    record = IndexerState(state, done, total, sequence, time.time(), os.getpid())
    config.indexer_state.parent.mkdir(parents=True, exist_ok=True)
    config.indexer_state.write_bytes(msgspec.json.encode(record))


def test_deleted_rows_are_thrown_out_when_they_are_many(config):
    with contextlib.closing(Builder(config, limits=Limits(rows_min=10))) as builder:
        write(config, "a.json", [chunk(at) for at in range(40)])
        drain(builder)
        write(config, "a.json", [chunk(at) for at in range(10)])
        generation = drain(builder)
    assert generation.deleted_count == 0
    assert sum(ref.rows for ref in generation.segments) == 10


def test_above_the_bound_an_hnsw_index_appears_and_answers(config):
    engines = {
        "text": TextEngine(config),
        "vector": VectorEngine(config, vector_engine.Limits(scan_rows_max=50)),
    }
    with contextlib.closing(Builder(config, engines=engines)) as builder:
        write(config, "a.json", [chunk(at) for at in range(80)])
        drain(builder)
        deadline = time.monotonic() + 60
        while not builder.current.tokens["vector"]:
            assert time.monotonic() < deadline
            builder.refresh()
        assert builder.refresh() is None  # it covers all rows: no other is due
    reader = Reader(config)
    assert reader.nearest(33) == "code-f33.py#f33~1"
    assert reader.vectors.status().info["hnsw"] == builder.current.tokens["vector"]


def test_no_hnsw_index_is_built_while_a_long_run_adds_rows(config):
    engines = {"vector": VectorEngine(config, vector_engine.Limits(scan_rows_max=50))}
    with contextlib.closing(Builder(config, engines=engines)) as builder:
        for at in range(3):
            tell(config, "indexing", done=100 + at, total=1000)
            write(config, f"{at}.json", [chunk(100 * at + number) for number in range(60)])
            drain(builder)
            assert not engines["vector"].building
        tell(config, "idle", done=1000, total=1000)
        deadline = time.monotonic() + 60
        while not builder.current.tokens["vector"]:
            assert time.monotonic() < deadline
            builder.refresh()
    assert Reader(config).nearest(233) == "code-f233.py#f233~1"


def test_the_final_sequence_is_published_before_segments_are_merged(config):
    with contextlib.closing(Builder(config, limits=Limits(segments_max=2))) as builder:
        for at in range(4):
            tell(config, "indexing", done=100 + at, total=1000)
            write(config, f"{at}.json", [chunk(100 * at + number) for number in range(3**at)])
            drain(builder)
        assert len(builder.current.segments) == 4
        tell(config, "idle", done=1000, total=1000, sequence=7)
        published = builder.refresh()
        assert (published.sequence, len(published.segments)) == (7, 4)
        assert len(drain(builder).segments) <= 2


@pytest.mark.parametrize("step", ["write_rows", "publish", "text"])
def test_a_full_disk_leaves_the_old_generation_and_the_next_try_succeeds(config, builder, monkeypatch, step):
    write(config, "a.json", [chunk(1)])
    before = drain(builder)

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    target = {
        "write_rows": (building, "write_rows"),
        "publish": (generations, "publish"),
        "text": (TextEngine, "build"),
    }[step]
    monkeypatch.setattr(*target, full)
    write(config, "a.json", [chunk(1), chunk(2)])
    with pytest.raises(OSError, match="No space"):
        builder.refresh()
    assert generations.read_current(config.index_dir) == before
    assert Reader(config).exact("function_1") == ["code-f1.py#f1~1"]
    monkeypatch.undo()
    drain(builder)
    assert Reader(config).exact("function_2") == ["code-f2.py#f2~1"]
    assert builder.current.rows == 2


KILLED = """
import os, signal, sys
from cortex.settings import config
from cortex.generation import current as generations
from cortex.publish.builder import Builder
builder = Builder(config.load(sys.argv[1]))
if sys.argv[2] == "before":
    generations.publish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
else:
    os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
builder.refresh()
"""


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_kill_in_the_middle_of_a_publish_is_repaired_by_the_next_start(config, builder, when):
    write(config, "a.json", [chunk(1)])
    before = drain(builder)
    builder.close()
    write(config, "a.json", [chunk(2)])
    killed = subprocess.run([sys.executable, "-P", "-c", KILLED, config.root, when], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert generations.read_current(config.index_dir) == before
    assert Reader(config).exact("function_1") == ["code-f1.py#f1~1"]
    restarted = Builder(config)
    try:
        drain(restarted)
        reader = Reader(config)
        assert reader.exact("function_1") == []
        assert reader.exact("function_2") == ["code-f2.py#f2~1"]
        assert restarted.current.rows == 1
    finally:
        restarted.close()


def test_a_damaged_generation_leaves_the_old_generation_serving_and_is_rebuilt(config, builder):
    write(config, "a.json", [chunk(1)])
    drain(builder)
    reader = Reader(config)
    assert reader.exact("function_1")
    write(config, "a.json", [chunk(2)])
    generation = drain(builder)
    path = config.index_dir / "segments" / generation.segments[-1].name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.unlink()
    path.write_bytes(content)
    reader.reload()
    assert reader.fault
    assert reader.exact("function_1")
    builder.close()
    restarted = Builder(config)
    try:
        drain(restarted)
        assert restarted.current.number > generation.number
        assert reader.exact("function_2") == ["code-f2.py#f2~1"]
        assert reader.fault == ""
    finally:
        restarted.close()


def test_removing_the_folder_under_a_builder_begins_anew(config, builder):
    write(config, "a.json", [chunk(1)])
    drain(builder)
    reader = Reader(config)
    assert reader.exact("function_1")
    shutil.rmtree(config.home)
    builder.refresh()
    config.chunks_dir.mkdir(parents=True, exist_ok=True)
    write(config, "a.json", [chunk(2)])
    drain(builder)
    assert reader.exact("function_2") == ["code-f2.py#f2~1"]
    assert reader.exact("function_1") == []


def test_graph_files_that_were_touched_are_served_again_once_the_index_was_removed(config, builder):
    config.graph_dir.mkdir()
    (config.graph_dir / "a.json").write_text('{"nodes": [], "edges": []}')
    write(config, "a.json", [chunk(1)])
    before = drain(builder).graph
    assert before
    os.utime(config.graph_dir / "a.json", (1, 1))
    drain(builder)
    shutil.rmtree(config.index_dir)
    assert drain(builder).graph == before


def test_the_segment_of_a_graph_file_that_waits_is_written_again_where_it_was_pruned(config, tmp_path):
    config.graph_dir.mkdir()
    (config.graph_dir / "a.json").write_text('{"nodes": [], "edges": []}')
    files = GraphFiles(graph_folders(config), tmp_path)
    assert files.read({}, patient=True) is None
    (segment,) = tmp_path.glob("graph-*.seg")
    segment.unlink()
    (ref,) = files.read({}).values()
    assert segment.name == generations.graph_segment(ref.sha256)
    assert segment.exists()


def test_an_index_copied_from_another_folder_is_discarded(config, builder, tmp_path):
    write(config, "a.json", [chunk(1)])
    drain(builder)
    builder.close()
    config.index_dir.rename(tmp_path / "original")
    shutil.copytree(tmp_path / "original", config.index_dir)
    (config.chunks_dir / "a.json").unlink()
    reader = Reader(config)
    assert reader.reload() == (False, False)
    restarted = Builder(config)
    try:
        drain(restarted)
        assert restarted.current.rows == 0
    finally:
        restarted.close()


def test_a_second_writer_is_refused(config, builder):
    with pytest.raises(Misconfigured, match="Another watcher"):
        Builder(config)


def test_readers_keep_the_generation_before_for_a_moment(config, builder):
    write(config, "a.json", [chunk(1)])
    first = drain(builder)
    reader = Reader(config)
    reader.reload()
    write(config, "a.json", [chunk(2)])
    second = drain(builder)
    reader.reload()
    assert reader.exact("function_1", first.number)
    assert reader.exact("function_2", second.number)
    with pytest.raises(NotReady):
        reader.exact("function_2", 999)


def test_a_reader_that_is_asked_for_a_newer_generation_looks_at_the_disk_first(config, builder):
    write(config, "a.json", [chunk(1)])
    drain(builder)
    reader = Reader(config)
    reader.reload()
    write(config, "a.json", [chunk(2)])
    second = drain(builder)
    assert reader.texts.handlers[ExactSearch](ExactSearch("function_2", generation=second.number)).hits


def test_vectors_of_other_dimensions_are_skipped_and_named(config, builder):
    write(config, "a.json", [chunk(1)])
    (config.chunks_dir / "b.json").write_text(json.dumps({"_metadata": {"dimensions": 768}, "chunks": []}))
    generation = drain(builder)
    assert generation.rows == 1
    assert any("768" in warning and "b.json" in warning for warning in builder.warnings)


def test_an_engine_that_is_new_has_the_index_built_anew(config):
    with contextlib.closing(Builder(config, engines={"vector": VectorEngine(config)})) as builder:
        write(config, "a.json", [chunk(1)])
        first = drain(builder)
    reader = Reader(config)
    assert reader.nearest(1) == "code-f1.py#f1~1"
    with pytest.raises(NotReady, match="lacks the engine text"):
        reader.exact("function_1")
    with contextlib.closing(Builder(config)) as builder:
        assert drain(builder).number > first.number
    assert reader.exact("function_1") == ["code-f1.py#f1~1"]


class Other(Config):
    """The same project for a version with the next format."""

    @property
    def index_dir(self):
        return self.home / "index" / str(INDEX_FORMAT + 1)


def test_versions_of_two_formats_build_and_serve_beside_each_other(config, builder):
    other = Other(root=config.root)
    write(config, "a.json", [chunk(1)])
    drain(builder)
    with contextlib.closing(Builder(other)) as other_builder:
        drain(other_builder)
        mine, its = Reader(config), Reader(other)
        write(config, "a.json", [chunk(2)])
        assert drain(other_builder).rows == 1
        assert (mine.exact("function_1"), its.exact("function_1")) == (["code-f1.py#f1~1"], [])
        drain(builder)
        assert mine.exact("function_2") == its.exact("function_2") == ["code-f2.py#f2~1"]


def test_an_unused_index_of_another_format_goes_with_the_next_publish_and_not_before(config, builder):
    old = config.index_dir.parent / "5"
    (old / "segments").mkdir(parents=True)
    write(config, "a.json", [chunk(1)])
    drain(builder)
    assert old.exists()
    then = time.time() - UNUSED_S - 60
    for path in (old / "segments", old):
        os.utime(path, (then, then))
    write(config, "a.json", [chunk(2)])
    drain(builder)
    assert not old.exists()


def test_the_dataclass_of_a_generation_is_frozen(builder):
    with pytest.raises(dataclasses.FrozenInstanceError):
        builder.current.number = 3
