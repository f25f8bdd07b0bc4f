"""The places of files: Cortex's own are in the user's cache, others' in the project, where they are
read without following links and never written.
"""

import contextlib
import json
import os
import subprocess

import pytest

from cortex.generation.contract import chunk_folders
from cortex.indexer.run import index
from cortex.indexer.store.writer import claiming_files, foreign_files
from cortex.publish.builder import Builder
from cortex.settings.config import Config, Server
from cortex.system.errors import Misconfigured
from tests.consent import trust_files
from workers.watcher import WatcherWorker


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "shop.py").write_text("def pay(amount):\n    return amount\n")
    return Config(root=root.resolve())


def git(config, *arguments):
    command = [
        "git",
        "-C",
        str(config.root),
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        *arguments,
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def chunk(name, text="text"):
    place = {"file_path": f"{name}.py", "start_line": 1, "end_line": 1}
    return {"id": name, "chunk_type": "code", "title": name, "text": text, "metadata": place}


def graph(name):
    node = {"id": f"{name}:f", "kind": "function", "file": f"{name}.py", "start_line": 1, "end_line": 1}
    return {"nodes": [node], "edges": []}


def theirs(config, kind, name, content):
    folder = config.root / ".cortex" / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content))
    trust_files(config.root)
    return folder / name


def publish(config):
    with contextlib.closing(Builder(config)) as builder:
        while builder.refresh() is not None:
            pass
        return builder.current


def everything_in(folder):
    """Return path → content of every file, and the target of every link."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_git_status_and_grep_show_nothing_of_cortex_after_indexing(project):
    git(project, "init", "-q")
    git(project, "add", "shop.py")
    git(project, "commit", "-qm", "shop")
    index(project)
    assert publish(project).rows
    assert git(project, "status", "--porcelain", "--ignored") == ""
    grep_output = subprocess.run(
        ["grep", "-rl", "--exclude-dir=.git", "pay", "."],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert grep_output.stdout == "./shop.py\n"


def test_what_another_program_wrote_in_the_project_is_served_and_followed(project):
    path = theirs(project, "chunks", "code-source.json", [chunk("one")])
    theirs(project, "graph", "code-graph.json", graph("one"))
    generation = publish(project)
    assert list(generation.files) == [".cortex/chunks/code-source.json"]
    assert list(generation.graph_files) == [".cortex/graph/code-graph.json"]
    assert generation.rows == 1
    before = everything_in(project.root)
    assert publish(project).number == generation.number
    assert everything_in(project.root) == before
    path.write_text(json.dumps([chunk("one"), chunk("two")]))
    assert publish(project).rows == 2
    path.unlink()
    assert publish(project).rows == 0


def test_files_of_one_name_in_both_folders_are_two(project):
    index(project)
    ours = publish(project)
    assert "code-source.json.zst" in ours.files
    theirs(project, "chunks", "code-source.json", [chunk("one")])
    both = publish(project)
    assert both.files.keys() == {*ours.files, ".cortex/chunks/code-source.json"}
    assert both.rows == ours.rows + 1
    index(project, force=True)
    assert (project.root / ".cortex" / "chunks" / "code-source.json").read_text() == json.dumps(
        [chunk("one")]
    )


@pytest.mark.parametrize("linked", [".cortex", ".cortex/chunks", ".cortex/chunks/a.json"])
def test_no_link_on_the_way_to_others_files_is_followed(project, tmp_path, linked):
    theirs(project, "chunks", "a.json", [chunk("secret")])
    theirs(project, "graph", "a.json", graph("secret"))
    place = project.root / linked
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert chunk_folders(project)[1].files() == {}
    assert foreign_files(project) == []
    before = everything_in(tmp_path / "elsewhere") if place.is_dir() else place.read_bytes()
    with contextlib.suppress(Misconfigured):  # a link in place of all of .cortex is refused
        generation = publish(project)
        assert generation.rows == 0
        assert linked != ".cortex"
    assert before == (everything_in(tmp_path / "elsewhere") if place.is_dir() else place.read_bytes())


def test_a_named_folder_with_a_link_in_it_is_not_written(project, tmp_path):
    configured = Config(root=project.root, server=Server(chunks_dir=".cortex/chunks"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("keep")
    folder = project.root / ".cortex" / "chunks"
    folder.mkdir(parents=True)
    (folder / ".tmp").symlink_to(tmp_path / "mine")
    with pytest.raises(Misconfigured, match="is a link"):
        index(configured)
    assert everything_in(tmp_path / "mine") == {"letter": b"keep"}


def test_an_index_that_an_earlier_version_left_in_the_project_is_neither_read_nor_touched(project):
    metadata = {"version": "2.0.0", "generator": "cortex"}
    theirs(project, "chunks", "code-source.json", {"_metadata": metadata, "chunks": [chunk("old")]})
    theirs(project, "graph", "code-graph.000.json", {"_metadata": metadata} | graph("old"))
    theirs(project, "index", "CURRENT", "old")
    before = everything_in(project.root)
    index(project)
    generation = publish(project)
    assert not any(name.startswith(".cortex") for name in (*generation.files, *generation.graph_files))
    assert claiming_files(project) == []
    assert everything_in(project.root) == before


def test_our_chunk_files_are_visible_in_the_project_when_asked_for(project):
    configured = Config(root=project.root, server=Server(chunks_dir=".cortex/chunks"))
    index(configured)
    assert (project.root / ".cortex" / "chunks" / "code-source.json").is_file()
    assert publish(configured).rows
    assert configured.manifest != project.manifest
    assert everything_in(project.root / ".cortex").keys() == {
        f"chunks/{path.name}" for path in configured.chunks_dir.glob("*.json")
    }


def test_what_git_tracks_does_not_keep_our_indexer_off_and_what_it_does_not_track_does(project):
    theirs(project, "chunks", "theirs.json", [chunk("one")])
    assert claiming_files(project) == [".cortex/chunks/theirs.json"]
    git(project, "init", "-q")
    assert claiming_files(project) == [".cortex/chunks/theirs.json"]
    git(project, "add", ".")
    assert claiming_files(project) == []
    assert foreign_files(project) == [".cortex/chunks/theirs.json"]
    theirs(project, "chunks", "more.json", [])
    assert claiming_files(project) == [".cortex/chunks/more.json"]


def test_the_same_holds_in_a_folder_of_a_larger_repository_and_in_a_named_one(project):
    git(project, "init", "-q")
    inner = Config(root=project.root / "inner", server=Server(chunks_dir="made"))
    (inner.root / "made").mkdir(parents=True)
    (inner.root / "made" / "theirs.json").write_text("[]")
    assert claiming_files(inner) == ["theirs.json"]
    git(project, "add", ".")
    assert claiming_files(inner) == []
    assert foreign_files(inner) == ["theirs.json"]


def test_the_watcher_sees_the_folders_in_the_project_too_and_no_link(project, tmp_path):
    theirs(project, "chunks", "theirs.json", [chunk("one")])
    (tmp_path / "elsewhere").mkdir()
    (project.root / ".cortex" / "graph").symlink_to(tmp_path / "elsewhere")
    watcher = WatcherWorker(project)
    try:
        watcher.follow()
        watched = {
            path for path in watcher.folder_events._watched if path.is_relative_to(project.root / ".cortex")
        }
        assert watched == {project.root / ".cortex" / "chunks"}
        assert tmp_path / "elsewhere" not in watcher.folder_events._watched
        while watcher.builder.refresh() is not None:
            pass
        assert watcher.status().info["foreign_files"] == [".cortex/chunks/theirs.json"]
    finally:
        watcher.folder_events.close()
        watcher.builder.close()


def test_a_cache_inside_the_project_is_not_indexed(project, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(project.root / "made"))
    index(project)
    report = index(project)
    assert (report.files, report.indexed) == (1, 0)
