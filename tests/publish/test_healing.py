"""Every kind of file of an index, damaged in every way, while it is served and while no process
runs: the damage is noticed, repaired, and no later generation names the damaged file.
"""

import contextlib
import dataclasses
import errno
import json
import os
import random
import resource
import shutil
import subprocess
import time

import numpy as np
import pytest

from cortex.ask.freshness import Freshness
from cortex.engines import serving
from cortex.engines.graph.engine import GraphEngine
from cortex.engines.serving import EngineWorker
from cortex.engines.text.engine import TextEngine
from cortex.engines.text.index.checksums import META, SUMS, IntegrityChecker
from cortex.engines.vector.engine import VectorEngine
from cortex.engines.vector.usearch import Limits as VectorLimits
from cortex.engines.vector.usearch import check_vectors
from cortex.generation import current as generations
from cortex.generation import snapshots
from cortex.generation.current import EMPTY, KEY_BYTES
from cortex.generation.damage import take_marks, write_mark
from cortex.generation.read import open_rows
from cortex.generation.segments.segment import open_segment
from cortex.publish.builder import Builder
from cortex.publish.integrity import IntegrityMonitor
from cortex.settings import config as configuration
from cortex.system import files
from cortex.system.errors import BadQuery, NotReady, Unavailable
from ipc.messages import ExactSearch, GraphSearch, VectorSearch
from ipc.service import CHECK_S

CHUNKS = 12


def vector(at):
    values = np.random.default_rng(at).standard_normal(384).astype(np.float32)
    return values / np.linalg.norm(values)


def chunk(at):
    return {
        "id": f"code-f{at}.py~1",
        "chunk_type": "code",
        "text": f"def function_{at}(): return handler_{at}",
        "embedding": vector(at).tolist(),
        "metadata": {"file_path": f"f{at}.py", "language": "python", "start_line": 1, "end_line": 1},
    }


def write(config, count=CHUNKS):
    body = {"_metadata": {"model": "m@1", "dimensions": 384}, "chunks": [chunk(at) for at in range(1, count)]}
    (config.chunks_dir / ".new").write_text(json.dumps(body))
    (config.chunks_dir / ".new").replace(config.chunks_dir / "a.json")


GRAPH = {
    "nodes": [
        {"id": "f1:function_1", "kind": "function", "file": "f1.py", "start_line": 1, "end_line": 1},
        {"id": "f2:function_2", "kind": "function", "file": "f2.py", "start_line": 1, "end_line": 1},
    ],
    "edges": [
        {
            "from": "f2:function_2",
            "to": "f1:function_1",
            "type": "calls",
            "location": {"file": "f2.py", "line": 1},
        }
    ],
}


class Hnsw(VectorEngine):
    """An engine with an HNSW index from the first row on."""

    def __init__(self, config):
        super().__init__(config, VectorLimits(scan_rows_max=0, uncovered_share_max=0))

    def upkeep(self, published):
        token = super().upkeep(published)
        while self.building:
            token = super().upkeep(published)
        return token


def engines(config):
    return {"text": TextEngine(config), "vector": Hnsw(config), "graph": GraphEngine(config)}


class Index:
    """One index, its writer, and its readers."""

    def __init__(self, config):
        self.config = config
        self.builder = Builder(config, engines=engines(config))
        self.read()

    def read(self):
        opened = engines(self.config)
        self.workers = {name: EngineWorker(name, self.config, opened[name]) for name in opened}

    def look(self):
        """Do the watcher's work of each second until nothing is left; then let the readers look."""
        while self.builder.refresh() is not None:
            pass
        for worker in self.workers.values():
            worker.reload()

    def restart(self, damage):
        self.builder.close()
        damage()
        self.builder = Builder(self.config, engines=engines(self.config))
        self.read()

    def ask(self):
        answer = self.workers["text"].handlers[ExactSearch](ExactSearch("handler_7"))
        assert [hit.id for hit in answer.hits] == [chunk(7)["id"]]
        near = self.workers["vector"].handlers[VectorSearch](VectorSearch(vector(7), "m@1", 1))
        assert [hit.id for hit in near.hits] == [chunk(7)["id"]]
        callers = self.workers["graph"].handlers[GraphSearch](GraphSearch("callers", "function_1"))
        assert "function_2" in str(callers.results)

    def check(self):
        """Check that every named file is as it was written."""
        current = generations.read_current(self.config.index_dir)
        assert current == self.builder.current
        open_rows(current, self.config.index_dir)
        for name in (*current.graph.values(), current.references):
            open_segment(self.config.index_dir / "segments" / name)
        files = TextEngine(self.config).files(current.tokens["text"])
        assert len(files) > 3
        IntegrityChecker().check(files[0].parent)
        check_vectors(self.config.index_dir / "vector" / current.tokens["vector"])

    def file(self, kind):
        current, base = self.builder.current, self.config.index_dir
        segments = base / "segments"
        text = {path.suffix: path for path in TextEngine(self.config).files(current.tokens["text"])}
        return {
            "CURRENT": lambda: base / "CURRENT",
            "rows": lambda: segments / current.segments[0].name,
            "deleted": lambda: segments / current.deleted,
            "references": lambda: segments / current.references,
            "graph": lambda: segments / next(iter(current.graph.values())),
            "vector": lambda: base / "vector" / current.tokens["vector"],
            "meta": lambda: text[".term"].with_name(META),
            "sums": lambda: text[".term"].with_name(SUMS),
        }.get(kind, lambda: text[f".{kind}"])()


KINDS = "CURRENT rows deleted references graph vector meta sums store term".split()
DAMAGES = "third empty zeros random flip other folder gone".split()


def damage(path, how):
    size, times = path.stat().st_size, path.stat()
    if how in ("third", "empty"):
        os.truncate(path, size // 3 if how == "third" else 0)
    elif how in ("zeros", "random"):
        with path.open("r+b") as file:
            file.write(bytes(size) if how == "zeros" else random.Random(1).randbytes(size))
    elif how == "flip":
        with path.open("r+b") as file:
            file.seek(size // 2)
            byte = file.read(1)[0]
            file.seek(size // 2)
            file.write(bytes([byte ^ 0x55]))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # a failing disk sends no event
    elif how == "other":
        others = sorted(sibling for sibling in path.parent.iterdir() if sibling.is_file() and sibling != path)
        alike = [sibling for sibling in others if sibling.suffix == path.suffix]
        copied = path.with_name("made")
        copied.write_bytes((alike or others or [path])[0].read_bytes())
        copied.replace(path)
    else:
        path.unlink()
        if how == "folder":
            path.mkdir()
            (path / "inside").touch()


@pytest.fixture
def config(tmp_path):
    loaded = configuration.load(tmp_path)
    loaded.chunks_dir.mkdir(parents=True)
    loaded.graph_dir.mkdir(parents=True)
    loaded.run_dir.mkdir(exist_ok=True)
    (loaded.graph_dir / "graph.json").write_text(json.dumps(GRAPH))
    write(loaded, CHUNKS + 1)
    return loaded


@pytest.fixture
def index(config):
    created = Index(config)
    created.look()
    write(config)  # one chunk less: there is a segment of deleted rows
    created.look()
    created.ask()
    created.check()
    yield created
    created.builder.close()


def restore_deleted(index):
    """Delete a chunk again, because a rebuilt generation has no deleted rows."""
    if not index.builder.current.deleted:
        write(index.config, CHUNKS + 1)
        index.look()
        write(index.config)
        index.look()


@pytest.mark.parametrize("kind", KINDS)
def test_damage_to_a_served_file_is_noticed_and_repaired_at_the_next_check(index, kind):
    for how in DAMAGES:
        if how == "flip":
            continue  # shows only to a reader of the complete file: the next test
        restore_deleted(index)
        number, path = index.builder.current.number, index.file(kind)
        damage(path, how)
        index.look()
        assert index.builder.current.number > number, how
        index.check()
        index.ask()


@pytest.mark.parametrize("kind", KINDS)
def test_damage_between_two_runs_is_repaired_at_the_next_start(index, kind):
    for how in DAMAGES:
        restore_deleted(index)
        number, path = index.builder.current.number, index.file(kind)
        index.restart(lambda how=how, path=path: damage(path, how))
        index.look()
        assert index.builder.current.number > number, how
        index.check()
        index.ask()


@pytest.mark.parametrize("name", [".", "segments", "text", "vector"])
def test_a_file_in_the_place_of_a_folder_gives_way(index, name):
    for hot in (True, False):
        folder = index.config.index_dir / name

        def replace(folder=folder):
            files.remove_tree(folder.resolve())  # merges may still write into it
            folder.write_text("no folder")

        if hot:
            replace()
        else:
            index.restart(replace)
        index.look()
        index.check()
        index.ask()


def _folder(path):
    path.mkdir()
    (path / "something").write_text("in it")


@pytest.mark.parametrize(
    "put",
    [
        lambda _path: None,
        _folder,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(bytes(31)),
        lambda path: path.write_bytes(bytes(64)),
        lambda path: path.symlink_to("/dev/zero"),
        os.mkfifo,
    ],
    ids=["nothing", "folder", "empty", "short", "long", "link", "pipe"],
)
def test_a_key_that_is_lost_under_a_writer_leaves_no_reader_behind(index, cache, put):
    (cache / "origin.key").unlink()
    put(cache / "origin.key")
    index.read()
    index.look()
    index.check()
    index.ask()
    assert len(files.read_ours(cache / "origin.key", KEY_BYTES)) == KEY_BYTES


def test_damage_seen_only_by_a_reader_is_marked_and_repaired(index):
    path, number = index.file("term"), index.builder.current.number
    damage(path, "flip")
    index.read()
    index.workers["text"].reload()
    with pytest.raises(NotReady, match="checksum"):
        index.workers["text"].handlers[ExactSearch](ExactSearch("handler_7"))
    index.look()
    assert index.builder.current.number == number + 1
    index.check()
    index.ask()


def test_damage_under_a_reader_is_never_blamed_on_the_question(index):
    before = index.workers["text"].handlers[ExactSearch](ExactSearch("handler*"))
    assert before.total_found == CHUNKS - 1
    with pytest.raises(BadQuery):
        index.workers["text"].handlers[ExactSearch](ExactSearch("handler AND ("))
    damage(index.file("term"), "random")
    with pytest.raises(NotReady, match="being rebuilt"):
        index.workers["text"].handlers[ExactSearch](ExactSearch("handler AND ("))
    index.look()
    index.ask()


def test_a_panic_of_a_library_over_damaged_files_does_not_end_the_worker(index):
    class PanicException(BaseException):
        """Like pyo3's class, which is no Exception either."""

    def panic(_request):
        raise PanicException

    worker = index.workers["text"]
    _, snapshot = worker._snapshots.get()
    worker._snapshots._opened[index.builder.current.number] = (None, snapshot | {ExactSearch: panic})
    with pytest.raises(RuntimeError, match="text panicked"):
        worker.handlers[ExactSearch](ExactSearch("handler_7"))
    damage(index.file("store"), "zeros")
    with pytest.raises(NotReady, match="being rebuilt"):
        worker.handlers[ExactSearch](ExactSearch("handler_7"))


def test_a_mark_for_another_generation_changes_nothing(index):
    number = index.builder.current.number
    write_mark(index.config.run_dir, "text", number - 1, "of old")
    index.look()
    assert index.builder.current.number == number
    assert take_marks(index.config.run_dir, ["text"]) == {}


def test_marks_that_go_on_do_not_make_the_writer_build_without_end(index):
    intact = IntegrityMonitor(index.config.index_dir, index.config.run_dir, {"text": None}, pause_s=600.0)
    current = index.builder.current
    write_mark(index.config.run_dir, "text", current.number, "Bad bytes.")
    assert intact.read_marks(current) == {"text": "Bad bytes."}
    write_mark(index.config.run_dir, "text", current.number, "Bad bytes.")
    assert intact.read_marks(current) == {}


@contextlib.contextmanager
def without_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_running_out_of_descriptors_discards_nothing(index):
    before = index.builder.current
    write(index.config, CHUNKS + 1)
    with without_descriptors():
        for _ in range(3):
            with pytest.raises(OSError, match="Too many open files"):
                index.builder.refresh()
    assert generations.read_current(index.config.index_dir) == before
    index.look()
    assert index.builder.current.segments[0] == before.segments[0]
    index.check()
    index.ask()


def test_a_start_without_room_for_the_writer_throws_nothing_away(index, monkeypatch):
    before = index.builder.current
    index.builder.close()
    with monkeypatch.context() as patch:

        def full(_engine, _token):
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(TextEngine, "resume", full)
        starting = contextlib.closing(Builder(index.config, engines=engines(index.config)))
        with starting as builder, pytest.raises(OSError, match="No space left"):
            builder.refresh()
    index.restart(lambda: None)
    index.look()
    assert index.builder.current == before
    index.ask()


@pytest.fixture
def full(config):
    """Make the project's cache folder a full disk until the returned function is called."""
    shutil.rmtree(config.home)
    config.home.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", config.home]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    filler = config.home / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    yield filler.unlink
    subprocess.run(["umount", "--lazy", config.home], check=True)


def test_a_first_start_on_a_full_disk_is_reported_and_tried_again(config, full):
    for name in ("chunks_dir", "graph_dir", "run_dir"):
        getattr(config, name).mkdir(exist_ok=True)
    with pytest.raises((Unavailable, OSError), match="No space left"):
        Builder(config).refresh()
    fresh = Freshness(config)
    assert "is full" in fresh.explain_nothing()
    assert "is full" in fresh.block(EMPTY)["message"]
    full()
    assert "is full" not in fresh.explain_nothing()
    assert "message" not in fresh.block(EMPTY)
    write(config)
    with contextlib.closing(Builder(config)) as builder:
        while builder.refresh() is not None:
            pass
        assert builder.current.rows == CHUNKS - 1


def test_an_index_that_is_damaged_with_no_chunk_files_left_is_published_empty_and_grows_again(index):
    path, number = index.file("rows"), index.builder.current.number

    def lose():
        damage(path, "zeros")
        (index.config.chunks_dir / "a.json").unlink()

    index.restart(lose)
    index.look()
    assert index.builder.current.number > number
    assert index.builder.current.rows == 0
    write(index.config)
    index.look()
    index.ask()


def test_no_number_comes_twice_although_nothing_can_be_read_any_more(index):
    number = index.builder.current.number
    index.builder._publish(index.builder._build(index.builder.current, None))  # as upkeep does
    assert index.builder.current.number == number + 1

    def spoil():
        for path in index.config.index_dir.rglob("*"):
            if path.is_file() and path.name != "writer.lock":
                damage(path, "zeros")

    index.restart(spoil)
    index.builder.close()  # killed before the next generation was published
    index.restart(lambda: None)
    index.look()
    assert index.builder.current.number > number + 1
    index.check()
    index.ask()


def test_row_keys_rise_over_a_lost_index_although_the_clock_was_set_back(index, monkeypatch):
    keys = index.builder.current.next_key
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    damage(index.file("rows"), "zeros")
    index.look()
    assert index.builder.current.next_key >= keys + CHUNKS - 1
    index.ask()


def test_a_reader_takes_up_another_generation_of_the_same_number(index):
    current = index.builder.current
    write(index.config, 3)
    index.builder.close()
    with contextlib.closing(Builder(index.config, engines=engines(index.config))) as builder:
        while builder.refresh() is not None:
            pass
        generations.publish(
            index.config.index_dir, dataclasses.replace(builder.current, number=current.number)
        )
    index.workers["text"].reload()
    answer = index.workers["text"].handlers[ExactSearch](ExactSearch("handler_7", generation=current.number))
    assert answer.hits == ()


def test_a_reader_without_events_looks_when_the_newest_generation_is_requested(index, monkeypatch):
    monkeypatch.setattr(snapshots, "AGAIN_S", 0.0)
    index.ask()
    write(index.config, 3)
    while index.builder.refresh() is not None:
        pass
    assert index.workers["text"].handlers[ExactSearch](ExactSearch("handler_7")).hits == ()


def test_a_reader_reloads_soon_only_while_something_is_pending(index, monkeypatch):
    worker = index.workers["text"]
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "KEEP_S", 0.0)
        for _ in range(2):
            worker.reload()
    assert worker.patience() == CHECK_S
    write(index.config, 3)
    while index.builder.refresh() is not None:
        pass
    worker.reload()  # the previous one must be closed
    assert worker.patience() == snapshots.KEEP_S < CHECK_S
    worker._snapshots.fault = "cannot be opened"
    assert worker.patience() == snapshots.AGAIN_S < CHECK_S


def test_a_reader_gives_no_answer_from_files_that_were_changed_under_it(index, monkeypatch):
    monkeypatch.setattr(serving, "CHECKED_S", 0.0)
    assert index.workers["text"].handlers[ExactSearch](ExactSearch("handler_7")).hits
    path = index.file("term")
    path.write_bytes(path.read_bytes())  # written in place: only its time shows the change
    for _ in range(2):
        with pytest.raises(NotReady, match="being rebuilt"):
            index.workers["text"].handlers[ExactSearch](ExactSearch("handler_7"))
    index.look()
    index.ask()
