"""Watch mode: saved files get into the chunk files, and indexer.json reports the progress."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson
import psutil
import pytest

from cortex.generation.current import Generation, publish
from cortex.indexer import run, scan, watch
from cortex.indexer.scan import Scanner
from cortex.indexer.store import manifest as manifests
from cortex.indexer.store.shards import ended_a_process
from cortex.settings.config import Config, Indexing
from cortex.settings.folders.home import open_home
from cortex.system.errors import Occupied
from cortex.terms.records import LONG_FILES, IndexerState
from tests.indexer.indexed_tree import read
from tests.wait_until import BOUND_S, until


@pytest.fixture
def project(tmp_path) -> Config:
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/a.py").write_text("def first():\n    return 1\n")
    return Config(root=root.resolve(), indexing=Indexing(debounce_ms=10))


def state(config: Config) -> IndexerState | None:
    try:
        return msgspec.json.decode(config.indexer_state.read_bytes(), type=IndexerState)
    except OSError:
        return None


def is_idle(config: Config) -> bool:
    now = state(config)
    return now is not None and now.state == "idle" and now.sequence > 0


def names(config: Config) -> set[str]:
    symbols: set[str] = set()
    for path in config.chunks_dir.glob("code-source*.json.zst"):
        with contextlib.suppress(FileNotFoundError):
            for chunk in orjson.loads(read(path))["chunks"]:
                symbols.update(chunk["metadata"]["symbols"])
    return symbols


@contextlib.contextmanager
def following(config: Config, pace: watch.Pace = watch.PACE) -> Iterator[threading.Event]:
    stop = threading.Event()
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(watch.watch(config, stop, pace)))
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join(BOUND_S)
        assert results == [0]


def test_what_is_saved_created_renamed_and_deleted_gets_into_the_chunk_files(project):
    root = project.root
    with following(project):
        until(lambda: is_idle(project) and names(project) == {"first"})
        (root / "pkg/a.py").write_text("def second():\n    return 2\n")
        until(lambda: names(project) == {"second"})
        (root / "new/deep").mkdir(parents=True)
        (root / "new/deep/b.py").write_text("def third():\n    return 3\n")
        until(lambda: names(project) == {"second", "third"})
        (root / "new/deep/b.py").write_text("def fourth():\n    return 4\n")
        until(lambda: names(project) == {"second", "fourth"})
        (root / "new").rename(root / "moved")
        until(lambda: any("moved/" in path for path in manifest_paths(project)))
        (root / "moved/deep/b.py").write_text("def fifth():\n    return 5\n")
        until(lambda: names(project) == {"second", "fifth"})
        (root / "moved/deep/b.py").unlink()
        until(lambda: names(project) == {"second"})
    assert state(project).state == "stopped"


def test_many_saved_files_are_told_as_read_before_their_graph_is_made(project, monkeypatch):
    states: list[IndexerState | None] = []
    make = watch.Indexer._write_graph

    def look(indexer, manifest, parts):
        states.append(state(project))
        make(indexer, manifest, parts)

    run.open_home(project)
    follower = watch._Follower(project, threading.Event(), watch.PACE)
    try:
        with watch._hold_place(project):
            follower._sweep()
        saved = {f"many/file_{at}.py" for at in range(LONG_FILES)}
        (project.root / "many").mkdir()
        for path in saved:
            (project.root / path).write_text("x = 1\n")
        monkeypatch.setattr(watch.Indexer, "_write_graph", look)
        follower._update(saved)
    finally:
        follower.close()
    assert [(snapshot.state, snapshot.done, snapshot.total) for snapshot in states if snapshot] == [
        ("indexing", LONG_FILES, LONG_FILES)
    ]


def test_the_state_is_looking_until_the_first_sweep(project, monkeypatch):
    states: list[IndexerState | None] = []
    walk = watch.Scanner.walk

    def look(scanner, *arguments):
        states.append(state(project))
        return walk(scanner, *arguments)

    monkeypatch.setattr(watch.Scanner, "walk", look)
    run.index(project)  # nothing will have changed
    states.clear()
    with following(project):
        until(lambda: is_idle(project))
    assert [snapshot.state for snapshot in states[:1] if snapshot] == ["looking"]


@pytest.fixture
def patient(project) -> Config:
    return dataclasses.replace(project, indexing=Indexing(debounce_ms=1_000))


def test_a_saved_file_is_named_with_the_first_event_before_the_quiet_time(patient):
    (patient.root / ".gitignore").write_text("*.log\n")
    with following(patient):
        until(lambda: is_idle(patient) and not state(patient).dirty)
        expected_dirty = {"pkg/a.py": state(patient).sequence + 1}
        (patient.root / "pkg/a.log").write_text("x")
        (patient.root / "pkg/a.py").write_text("def second():\n    return 2\n")
        # Dirty before any work on it, and in no chunk file yet.
        until(lambda: is_idle(patient) and state(patient).dirty == expected_dirty)
        assert state(patient).sequence < expected_dirty["pkg/a.py"]


def test_a_file_that_is_put_back_before_it_is_read_is_no_longer_named(patient):
    path = patient.root / "pkg/a.py"
    before = path.stat()
    with following(patient):
        until(lambda: is_idle(patient) and not state(patient).dirty)
        path.write_text("def longer_than_before():\n    return 2\n")
        until(lambda: "pkg/a.py" in state(patient).dirty)
        path.write_text("def first():\n    return 1\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        until(lambda: not state(patient).dirty)
        assert names(patient) == {"first"}


@pytest.mark.parametrize("how", ["in place", "by a rename"])
def test_another_text_of_the_same_size_and_time_is_followed(project, how):
    path = project.root / "pkg/a.py"
    os.utime(path, (1, 1))
    with following(project):
        until(lambda: is_idle(project) and names(project) == {"first"})
        saved = path.with_name("saved") if how == "by a rename" else path
        saved.write_text("def other():\n    return 1\n")
        os.utime(saved, (1, 1))
        saved.replace(path)
        until(lambda: names(project) == {"other"})


@pytest.mark.parametrize("how", [Path.touch, lambda path: path.chmod(0o600)])
def test_a_file_that_is_only_touched_is_never_named_as_changed(project, monkeypatch, how):
    path, reports = project.root / "pkg/a.py", []
    report = watch._Follower._report
    monkeypatch.setattr(
        watch._Follower, "_report", lambda self, **more: reports.append(more) or report(self, **more)
    )
    with following(project):
        until(lambda: is_idle(project) and not state(project).dirty)
        reports.clear()
        how(path)
        until(lambda: manifest_stat(project) == Scanner(project).walk().files["pkg/a.py"])
        assert (reports, state(project).sequence) == ([], 1)


def manifest_stat(config: Config) -> object:
    return manifests.load(config.manifest).files["pkg/a.py"].stat


def test_a_large_project_is_refused_until_a_person_names_it(project, monkeypatch):
    monkeypatch.setattr(scan, "FILES_MAX", 2)
    for number in range(3):
        (project.root / f"pkg/more_{number}.py").write_text("x = 1\n")
    with following(project):
        until(lambda: state(project) and "more than 2 files" in state(project).message)
        (project.root / "pkg/a.py").write_text("def saved():\n    return 2\n")  # nor file by file
        open_home(dataclasses.replace(project, explicit_root=True))
        until(lambda: "saved" in names(project) and is_idle(project))
        assert state(project).message == ""
        assert len(manifest_paths(project)) == 4
    # Named once is enough, also for a run that found the project by itself.
    assert run.index(project).unchanged == 4


def manifest_paths(config: Config) -> list[str]:
    return list(orjson.loads(config.manifest.read_bytes())["files"])


def test_a_new_ignore_rule_takes_files_out(project):
    (project.root / "gen.py").write_text("def generated():\n    return 1\n")
    with following(project):
        until(lambda: names(project) == {"first", "generated"})
        (project.root / ".gitignore").write_text("gen.py\n")
        until(lambda: names(project) == {"first"})


def test_a_path_is_dirty_before_it_is_read_and_until_it_is_served(project, monkeypatch):
    dirty_maps: list[dict[str, int]] = []
    plain = run.Indexer.update

    def update(self, manifest, changes, *more):
        dirty_maps.append(dict(state(project).dirty))
        return plain(self, manifest, changes, *more)

    monkeypatch.setattr(run.Indexer, "update", update)
    with following(project):
        until(lambda: is_idle(project))
        (project.root / "pkg/a.py").write_text("def second():\n    return 2\n")
        until(lambda: names(project) == {"second"} and is_idle(project))
        assert dirty_maps == [{"pkg/a.py": 2}]
        assert state(project).dirty == {"pkg/a.py": 2}
        assert state(project).sequence == 2
        project.index_dir.mkdir(parents=True, exist_ok=True)
        publish(project.index_dir, Generation(number=1, sequence=2))
        until(lambda: state(project).dirty == {})


def test_a_sweep_finds_what_no_event_told(project, monkeypatch):
    monkeypatch.setattr(watch.Changes, "add", lambda *_: None)
    with following(project, watch.Pace(sweep_s=0.05, sweep_share=1.0)):
        until(lambda: is_idle(project))
        (project.root / "pkg/a.py").write_text("def second():\n    return 2\n")
        until(lambda: names(project) == {"second"})


def test_chunk_files_of_others_keep_it_off_and_it_says_which(project):
    project.chunks_dir.mkdir(parents=True)
    (project.chunks_dir / "theirs.json").write_bytes(b"[]")
    with following(project):
        until(lambda: state(project) and "theirs.json" in state(project).message)
        assert state(project).state == "stopped"
        assert not list(project.chunks_dir.glob("code-source*"))


def test_a_fault_is_told_and_the_next_change_is_indexed(project, monkeypatch):
    plain = run.Indexer.update
    failed: list[bool] = []

    def update(self, manifest, changes, *more):
        if not failed:
            failed.append(True)
            raise RuntimeError("boom")
        return plain(self, manifest, changes, *more)

    monkeypatch.setattr(run.Indexer, "update", update)
    with following(project):
        until(lambda: is_idle(project))
        (project.root / "pkg/a.py").write_text("def second():\n    return 2\n")
        until(lambda: "boom" in state(project).message)
        (project.root / "pkg/a.py").write_text("def third():\n    return 3\n")
        until(lambda: names(project) == {"third"} and state(project).message == "")


def test_it_shows_signs_of_life_while_one_update_takes_long(project, monkeypatch):
    plain = run.Indexer.update
    beats: list[float] = []

    def update(self, manifest, changes, *more):
        beats.append(state(project).heartbeat)
        until(lambda: state(project).heartbeat > beats[0])
        return plain(self, manifest, changes, *more)

    monkeypatch.setattr(run.Indexer, "update", update)
    with following(project, watch.Pace(heartbeat_s=0.01)):
        until(lambda: is_idle(project))
        (project.root / "pkg/a.py").write_text("def second():\n    return 2\n")
        until(lambda: names(project) == {"second"})


def test_a_run_beside_the_watcher_is_noticed(project):
    with following(project):
        until(lambda: is_idle(project))
        run.index(project, force=True)
        (project.root / "pkg/a.py").write_text("def second():\n    return 2\n")
        until(lambda: names(project) == {"second"})
        until(lambda: state(project).sequence == 3)


def test_only_one_follows_a_project(project):
    with following(project):
        until(lambda: is_idle(project))
        with pytest.raises(Occupied, match="Another indexer"):
            watch.watch(project, threading.Event())


@pytest.mark.e2e
def test_the_pool_dies_with_a_killed_parent(tmp_path):
    root = tmp_path / "big"
    root.mkdir()
    for number in range(400):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n" * 60)
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom cortex.settings.config import Config\n"
        "from cortex.indexer import run\nfrom cortex.indexer.store.limits import Limits\n"
        "told = lambda *_: (print('on', flush=True), sys.stdin.read())  # goes on no more\n"
        "run.index(Config(root=Path(sys.argv[1])), on_progress=told, limits=Limits(children=2))\n"
    )
    command, pipe = [sys.executable, script, str(root)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"on\n"
        children = psutil.Process(parent.pid).children(recursive=True)
        count = 3 if sys.platform == "linux" else 2  # one of them forks the others
        assert len(children) == count
        parent.kill()
        gone, alive = psutil.wait_procs(children, timeout=BOUND_S)
    assert not alive
    assert len(gone) == count
    report = run.index(Config(root=Path(root)))
    assert report.files == 400


def test_an_idle_indexer_gives_its_memory_back_and_goes_on(project, monkeypatch):
    forgotten: list[int] = []
    plain = run.Indexer.forget
    monkeypatch.setattr(run.Indexer, "forget", lambda self: (forgotten.append(1), plain(self)))
    with following(project, watch.Pace(rest_s=0.0, heartbeat_s=0.02)):
        until(lambda: is_idle(project) and forgotten)
        before = len(forgotten)
        (project.root / "pkg/b.py").write_text("def second():\n    return 2\n")
        until(lambda: {"first", "second"} <= names(project) and len(forgotten) > before)
    graph = b"".join(read(path) for path in project.graph_dir.glob("code-graph*"))
    assert b"pkg/b:second" in graph


def facts_of(config: Config) -> Path:
    return next((config.graph_dir / ".facts").glob("facts*.msgpack"))


def is_intact(config: Config) -> bool:
    """Return whether all written files can be read, and hold the project."""
    try:
        for path in (*config.chunks_dir.glob("*.json.zst"), *config.graph_dir.glob("*.json.zst")):
            orjson.loads(read(path))
        graph = read(next(iter(config.graph_dir.glob("*.json.zst")))).decode()
        return (
            names(config) == {"first"}
            and "first" in graph
            and facts_of(config).stat().st_size > 20
            and manifest_paths(config) == ["pkg/a.py"]
            and is_idle(config)
        )
    except (OSError, ValueError, StopIteration):
        return False


WRITTEN: dict[str, Callable[[Config], Path]] = {
    "chunks": lambda config: config.chunks_dir / "code-source.json.zst",
    "graph": lambda config: next(iter(config.graph_dir.glob("*.json.zst"))),
    "facts": facts_of,
    "manifest": lambda config: config.manifest,
    "state": lambda config: config.indexer_state,
}


def spoil(path: Path, how: str) -> None:
    if how == "junk":
        path.write_bytes(b"\0" * 40)
        return
    if how == "gone":
        path.unlink()
        return
    folder = path.with_name("a folder")
    (folder / "inside").mkdir(parents=True)
    until(lambda: took_its_place(folder, path))


def took_its_place(folder: Path, path: Path) -> bool:
    """Move `folder` to the place of the file `path`; return whether that worked. Files that are
    written all the time may exist again before.
    """
    path.unlink(missing_ok=True)
    try:
        folder.rename(path)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("how", ["junk", "folder", "gone"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_what_somebody_damages_is_made_again_without_a_save(project, kind, how):
    with following(project, watch.Pace(sweep_s=3600.0, heartbeat_s=3600.0)):  # by events alone
        until(lambda: is_intact(project))
        path = WRITTEN[kind](project)
        spoil(path, how)
        until(lambda: path.is_file() and path.stat().st_size > 40 and is_intact(project))


def test_a_state_that_goes_in_the_moment_in_which_it_is_written_is_written_again(project, monkeypatch):
    replace, gone = watch.files.replace, []

    def replaced(path, content):
        replace(path, content)
        if path == project.indexer_state and b'"idle"' in content and b'"sequence":0' not in content:
            if not gone:
                path.unlink()
            gone.append(path)

    monkeypatch.setattr(watch.files, "replace", replaced)
    with following(project, watch.Pace(sweep_s=3600.0, heartbeat_s=3600.0)):  # by events alone
        until(lambda: gone)
        until(lambda: is_intact(project))


@pytest.mark.parametrize("folder", ["chunks_dir", "graph_dir"])
def test_a_file_in_the_place_of_a_folder_gives_way(project, folder):
    place = getattr(project, folder)

    def spoiled():
        shutil.rmtree(place, ignore_errors=True)
        try:
            place.write_text("no folder")
        except IsADirectoryError:  # the indexer was faster and created the folder again
            return False
        return True

    with following(project, watch.Pace(sweep_s=3600.0, heartbeat_s=3600.0)):
        until(lambda: is_intact(project))
        until(spoiled)
        until(lambda: is_intact(project))


@pytest.mark.parametrize("how", ["junk", "folder", "gone"])
@pytest.mark.parametrize("kind", [kind for kind in WRITTEN if kind != "state"])
def test_what_was_damaged_while_nobody_ran_is_made_again_at_the_next_run(project, kind, how):
    run.index(project)
    path = WRITTEN[kind](project)
    spoil(path, how)
    run.index(project)
    assert path.is_file()
    assert path.stat().st_size > 40
    assert names(project) == {"first"}
    assert b"first" in read(WRITTEN["graph"](project))


def test_a_project_that_is_moved_away_is_no_project_without_files(project):
    pace = watch.Pace(sweep_s=0.05, heartbeat_s=0.05)
    with following(project, pace):
        until(lambda: is_idle(project) and names(project) == {"first"})
        away = project.root.parent / "away"
        project.root.rename(away)
        until(lambda: "was moved or deleted" in state(project).message)
        assert names(project) == {"first"}
        away.rename(project.root)
        until(lambda: is_idle(project) and state(project).message == "")
        assert names(project) == {"first"}


#: an indexer in watch mode, or a child of one; at a certain word its parser dies, hangs or has no
#: memory
CRASHING = """
import os, signal, sys, threading
from pathlib import Path
from cortex.indexer import children, inline_builds, pool, watch
from cortex.indexer.syntax import parse
from cortex.settings.config import Config, Indexing

parsed, how = parse._parse_tree, sys.argv[1]

def crash(parser, raw, *about):
    if b"fatal" in raw:
        if how == "dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        while how == "stays":
            pass
        raise MemoryError
    return parsed(parser, raw, *about)

parse._parse_tree, inline_builds.FILE_S = crash, 1
if len(sys.argv) == 2:
    children.serve()
pool.Pool.__init__.__defaults__ = ((sys.executable, "-P", __file__, "dies"),)
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
config = Config(root=Path(sys.argv[2]), indexing=Indexing(debounce_ms=10))
sys.exit(watch.watch(config, stop, watch.Pace(sweep_s=0.2)))
"""


@contextlib.contextmanager
def crashing(project: Config, script: Path, how: str) -> Iterator[subprocess.Popen[bytes]]:
    script.write_text(CRASHING)
    with subprocess.Popen([sys.executable, "-P", script, how, project.root]) as process:
        try:
            yield process
        finally:
            process.terminate()


def is_named(config: Config, path: str, size: int) -> bool:
    """Return whether the file, with its present size, is recorded as having ended a process."""
    entry = manifests.load(config.manifest).files.get(path)
    return entry is not None and entry.size == size and ended_a_process(entry)


def test_a_file_that_ends_the_indexer_does_so_once_and_is_named(project, tmp_path):
    bad = project.root / "pkg/bad.py"
    bad.write_text("def fatal():\n    return 1\n")
    with crashing(project, tmp_path / "crashing.py", "dies") as first:
        assert first.wait(BOUND_S) == -signal.SIGSEGV
    with crashing(project, tmp_path / "crashing.py", "dies") as second:
        until(lambda: second.poll() is not None or is_named(project, "pkg/bad.py", bad.stat().st_size))
        assert (second.poll(), names(project)) == (None, {"first"})
        bad.write_text("def fatal_again():\n    return 1\n")
        (project.root / "pkg/a.py").write_text("def other():\n    return 2\n")
        until(lambda: second.poll() is not None or is_named(project, "pkg/bad.py", bad.stat().st_size))
        until(lambda: second.poll() is not None or names(project) == {"other"})
        assert second.poll() is None
    assert second.returncode == 0
    (project.root / "pkg/a.py").write_text("def third():\n    return 3\n")
    with crashing(project, tmp_path / "crashing.py", "dies") as third:
        until(lambda: third.poll() is not None or (names(project) == {"third"} and is_idle(project)))
        assert third.poll() is None
    assert third.returncode == 0


@pytest.mark.parametrize(("how", "code"), [("stays", -signal.SIGPROF), ("full", None)])
def test_a_file_that_holds_or_fills_the_indexer_is_read_in_a_child_next(project, tmp_path, how, code):
    bad = project.root / "pkg/bad.py"
    bad.write_text("def fatal():\n    return 1\n")
    codes = set()
    while not is_named(project, "pkg/bad.py", bad.stat().st_size) and len(codes) < 2:
        with crashing(project, tmp_path / "crashing.py", how) as process:
            until(lambda: process.poll() is not None or is_named(project, "pkg/bad.py", bad.stat().st_size))
            codes.add(process.poll())
    assert (codes, names(project)) == ({None, code}, {"first"})
