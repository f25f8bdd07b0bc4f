"""Consent to the files of other programs in a project: for a place, and for the content of the
files that a pull may replace.
"""

import json
import os
import shutil
import subprocess

import pytest

from cortex.generation.contract import chunk_folders, graph_folders, say_waiting, waiting_files
from cortex.settings import config
from cortex.settings.consent import chunk_consent
from cortex.settings.consent.chunk_consent import chunk_note_of, revoke_chunk_consent
from tests.consent import trust_files

CHUNKS, GRAPH = ".cortex/chunks/theirs.json", ".cortex/graph/theirs.json"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "project"
    for name in (CHUNKS, GRAPH):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("[]")
    return root


def git(root, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def read(root):
    """Return the files of other programs that are read."""
    loaded = config.load(root)
    folders = (*chunk_folders(loaded), *graph_folders(loaded))
    readable = [name for folder in folders for name in folder.files() if "/" in name]
    assert sorted((*readable, *waiting_files(loaded))) == sorted(
        f".cortex/{kind}/{path.name}"
        for kind in ("chunks", "graph")
        for path in (root / ".cortex" / kind).glob("*.json")
    )
    return readable


def test_nothing_is_read_without_consent_and_all_with_it_and_nothing_once_it_is_withdrawn(root):
    assert read(root) == []
    trust_files(root)
    assert read(root) == [CHUNKS, GRAPH]
    assert revoke_chunk_consent(root)
    assert read(root) == []


def test_later_files_of_a_folder_with_consent_are_read(root):
    trust_files(root)
    (root / CHUNKS).write_text("[1]")
    (root / ".cortex/chunks/more.json").write_text("[]")
    assert read(root) == [".cortex/chunks/more.json", CHUNKS, GRAPH]


def test_another_folder_at_the_same_path_and_a_moved_one_need_consent_again(root):
    trust_files(root)
    shutil.copytree(root, root.parent / "copy")
    root.rename(root.parent / "old")
    assert read(root.parent / "old") == []
    (root.parent / "copy").rename(root)
    assert read(root) == []


def test_a_pull_that_changes_or_adds_tracked_files_asks_again(root, tmp_path):
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "x")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    trust_files(clone)
    assert read(clone) == [CHUNKS, GRAPH]
    (root / CHUNKS).write_text("[2]")
    (root / ".cortex/chunks/new.json").write_text("[]")
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "y")
    git(clone, "pull", "-q")
    assert read(clone) == [GRAPH]
    (clone / ".cortex/chunks/untracked.json").write_text("[]")
    assert read(clone) == [".cortex/chunks/untracked.json", GRAPH]
    trust_files(clone)
    assert len(read(clone)) == 4


def test_a_file_with_consent_that_is_tracked_later_needs_none_until_it_changes(root):
    git(root, "init", "-q")
    trust_files(root)
    git(root, "add", "-f", ".")
    assert read(root) == [CHUNKS, GRAPH]
    (root / CHUNKS).write_text("[3]")
    assert read(root) == [GRAPH]


def test_git_is_asked_once_for_each_file_until_its_index_changes(root, monkeypatch):
    git(root, "init")
    trust_files(root)
    requested = []
    ask = chunk_consent.git.untracked
    monkeypatch.setattr(
        chunk_consent.git, "untracked", lambda root, names: requested.extend(names) or ask(root, names)
    )
    for _ in range(2):
        assert read(root) == [CHUNKS, GRAPH]
    assert requested == [CHUNKS, GRAPH]
    (root / ".cortex/chunks/more.json").write_text("[]")
    for _ in range(2):
        assert read(root) == [".cortex/chunks/more.json", CHUNKS, GRAPH]
    assert requested[2:] == [".cortex/chunks/more.json"]
    git(root, "add", CHUNKS)
    for _ in range(2):
        assert read(root) == [".cortex/chunks/more.json", CHUNKS, GRAPH]
    assert sorted(requested[3:]) == [".cortex/chunks/more.json", CHUNKS, GRAPH]


@pytest.mark.parametrize("place", [".cortex", ".cortex/chunks"])
def test_files_of_a_repository_inside_are_taken_for_tracked(root, place):
    trust_files(root)
    git(root / place, "init", "-q")
    (root / CHUNKS).write_text("[4]")
    assert CHUNKS not in read(root)


def test_where_git_cannot_tell_every_file_is_taken_for_tracked(root, monkeypatch):
    git(root, "init", "-q")
    trust_files(root)
    (root / ".git" / "index").write_bytes(b"no index")
    assert read(root) == [CHUNKS, GRAPH]
    (root / CHUNKS).write_text("[5]")
    assert read(root) == [GRAPH]


def test_a_folder_of_a_larger_repository_is_asked_about_in_that_one(root):
    git(root.parent, "init", "-q")
    git(root.parent, "add", "-f", "project")
    trust_files(root)
    (root / CHUNKS).write_text("[6]")
    assert read(root) == [GRAPH]


@pytest.mark.parametrize(
    ("value", "trusts"),
    [
        *(("1", True), ("true", True), ("0", False), ("{root}", True), ("{root}/.cortex/chunks", True)),
        *(("{root}/..", False), ("project", False), ("{link}", True), ("/elsewhere,{root}", True)),
    ],
)
@pytest.mark.parametrize("source", ["the environment", "the user's file"])
def test_a_persons_own_setting_is_consent(root, monkeypatch, value, trusts, source):
    (root.parent / "link").symlink_to(root)
    value = value.format(root=root, link=root.parent / "link")
    if source == "the environment":
        monkeypatch.setenv("CORTEX_TRUST_CHUNKS", value)
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(root.parent / "config"))
        (root.parent / "config" / "cortex").mkdir(parents=True)
        setting = json.dumps({"server": {"trust_chunks": value.split(",")}})
        (root.parent / "config" / "cortex" / "config.yml").write_text(setting)
    assert bool(read(root)) == trusts


def test_processes_with_and_without_consent_by_a_setting_share_no_workers(root, monkeypatch):
    without = config.load(root).hash()
    monkeypatch.setenv("CORTEX_TRUST_CHUNKS", "1")
    by_all = config.load(root).hash()
    monkeypatch.setenv("CORTEX_TRUST_CHUNKS", str(root))
    assert config.load(root).hash() == by_all != without


@pytest.mark.parametrize("damage", ["another user's", "a link", "no JSON", "another root", "deep"])
def test_a_note_that_others_could_have_written_or_a_damaged_one_counts_for_nothing(root, damage):
    trust_files(root)
    note = chunk_note_of(config.load(root).root)
    raw = note.read_bytes()
    if damage == "another user's":
        if os.getuid():
            pytest.skip("only root gives files away")
        os.chown(note, 12345, 12345)
    elif damage == "a link":
        note.rename(root.parent / "elsewhere")
        note.symlink_to(root.parent / "elsewhere")
    else:
        changed = {
            "no JSON": b"{",
            "another root": raw.replace(b"project", b"another"),
            "deep": b'{"root":' + b"[" * 100_000,
        }
        note.write_bytes(changed[damage])
    assert read(root) == []


def test_a_sentence_counts_the_files_that_wait():
    graph = ".cortex/graph/a.json"
    assert say_waiting(()) == ""
    assert say_waiting([graph]).startswith("1 graph file of another program waits for a person")
    assert say_waiting([CHUNKS, graph, ".cortex/chunks/b.json"]).startswith("2 chunk files and 1 graph file")
