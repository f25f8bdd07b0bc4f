"""Runs of the indexer: chunk files on disk, incremental = fresh, important files first."""

from __future__ import annotations

import base64
import dataclasses
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.embedders import open_embedder
from cortex.embedders.static import open_static
from cortex.front.http.embedding import serving
from cortex.indexer.run import Indexer, index
from cortex.indexer.scan import Candidate, Scanner
from cortex.indexer.store import manifest as manifests
from cortex.indexer.store.limits import Limits
from cortex.indexer.store.shards import shard_count
from cortex.indexer.store.writer import writer_lock
from cortex.settings.config import Config, Embedding, Indexing, Server
from cortex.system.errors import Unavailable
from cortex.terms.passages import embed_text
from tests.drawn_examples import scaled
from tests.indexer.indexed_tree import COUNT, POOLED, chunks, contents, shard_files, stats


def test_a_run_writes_the_five_kinds(project):
    report = index(project)
    assert (report.files, report.indexed, report.unchanged, report.removed) == (COUNT, COUNT, 0, 0)
    files = shard_files(project)
    assert sorted(files) == [
        "code-data.json", "code-definitions.json", "code-source.json", "code-symbols.json", "doc-chunks.json",
    ]  # fmt: skip
    assert report.chunks == len(chunks(project))
    for data in files.values():
        metadata = data["_metadata"]
        assert metadata["version"] == "2.0.0"
        assert metadata["generator"] == "cortex"
        assert metadata["model"] == open_static().identity
        assert metadata["dimensions"] == 384
        assert metadata["sequence"] == report.sequence == 1
        assert {chunk["chunk_type"] for chunk in data["chunks"]} == {metadata["chunk_type"]}


def test_the_embedding_is_that_of_the_embedded_text(project):
    project = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    index(project)
    for chunk in list(chunks(project).values())[:20]:
        vector = np.frombuffer(base64.b64decode(chunk["embedding"]), "<f2").astype(np.float32)
        expected = open_static().embed([embed_text(chunk["metadata"], chunk["text"])])[0]
        np.testing.assert_allclose(vector, expected, atol=1e-3)


def test_an_unchanged_tree_costs_nothing(project, monkeypatch):
    monkeypatch.setattr("cortex.generation.manifest.TICK_NS", 0)  # else new files are read twice
    index(project)
    before = stats(project)
    manifest = project.manifest.stat().st_mtime_ns
    report = index(project)
    assert (report.indexed, report.unchanged, report.sequence) == (0, COUNT, 1)
    assert stats(project) == before
    assert project.manifest.stat().st_mtime_ns == manifest


def test_a_touched_file_rewrites_no_chunk_file(project):
    index(project)
    before = stats(project)
    os.utime(project.root / "shop/cart.py", (1, 1))
    report = index(project)
    assert (report.indexed, report.unchanged, report.sequence) == (0, COUNT, 1)
    assert stats(project) == before
    assert manifests.load(project.manifest).files["shop/cart.py"].mtime_ns == 1_000_000_000


def test_an_edit_rewrites_only_what_changed_and_keeps_times_of_the_rest(project):
    index(project)
    before = stats(project)
    old = {c["id"]: c for data in shard_files(project).values() for c in data["chunks"]}
    (project.root / "shop/GUIDE.md").write_text("# New\n\ntext\n")
    assert index(project).sequence == 2
    assert [name for name in before if stats(project)[name] != before[name]] == ["doc-chunks.json"]
    new = {c["id"]: c for c in shard_files(project)["doc-chunks.json"]["chunks"]}
    assert new["doc-shop/GUIDE.md-s0"]["created_at"] == old["doc-shop/GUIDE.md-s0"]["created_at"]


def test_only_a_changed_text_is_embedded_anew(project, monkeypatch):
    project = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    index(project)
    embedded: list[str] = []
    embedder = open_embedder(project)
    plain = embedder.embed
    monkeypatch.setattr(
        embedder, "embed", lambda texts, mode="passage": embedded.extend(texts) or plain(texts, mode)
    )
    text = (project.root / "shop/cart.py").read_text()
    (project.root / "shop/cart.py").write_text("\n\n" + text.replace("the cart is full", "no more room"))
    index(project)
    assert 0 < len(embedded) < 5
    assert all("cart py" in entry for entry in embedded)


def test_force_does_everything_anew(project):
    first = index(project)
    before = stats(project)
    report = index(project, force=True)
    assert report.indexed == first.files
    assert all(stats(project)[name] != before[name] for name in before)


def test_progress_ends_with_all_files(project):
    calls: list[tuple[int, int, int]] = []
    report = index(project, on_progress=lambda *now: calls.append(now))
    assert calls[-1] == (COUNT, COUNT, report.chunks)


NAMES = ["a.py", "b.py", "pkg/c.go", "pkg/d.md", "e.txt", "pkg/deep/f.rs"]
TEXTS = [
    "",
    "x = 1\n",
    "# T\n\ntext\n",
    "def f():\n    return 1\n",
    "def f():\n    return 2\n\n\nclass A:\n    pass\n",
    "\0",
    "x" * 3000,
]
FOLDERS = ["pkg", "pkg/deep", "other"]
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["write", "save by a rename", "save by a rename, with the old time"]),
            st.sampled_from(NAMES),
            st.sampled_from(TEXTS),
        ),
        st.tuples(
            st.sampled_from(
                ["same size", "same size and time", "touch", "old time", "mode", "copy", "delete", "link"]
            ),
            st.sampled_from(NAMES),
            st.just(""),
        ),
        st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("rename"), st.sampled_from(FOLDERS), st.sampled_from(FOLDERS)),
        st.tuples(st.just("delete"), st.sampled_from(FOLDERS), st.just("")),
        st.tuples(
            st.just("write"),
            st.sampled_from([".gitignore", "pkg/.gitignore"]),
            st.sampled_from(["", "*.go\n", "deep/\n"]),
        ),
        st.tuples(st.sampled_from(["index", "index", "follow"]), st.just(""), st.just("")),
        st.tuples(
            st.sampled_from(["lose", "damage"]),
            st.sampled_from(
                ["code-source.json.zst", "code-data.000.json.zst", "code-source.001.json.zst", "manifest"]
            ),
            st.just(""),
        ),
    ),
    max_size=20,
)
#: `limits` in which the number of shards changes, too
FEW_FILES = Limits(shard_files=2)
#: a tick that is shorter than a run: files of another inode or ctime are told from those read again
#: because they are racy
TICK_NS = 20_000_000


def change(root: Path, what: str, name: str, other: str) -> None:
    """Change the tree by one step, if it can be done there. The texts of one size differ."""
    path, target = root / name, root / other
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "write":
        path.write_text(other)
    elif what.startswith("save by a rename"):
        saved = path.with_name(f"{path.name}~")
        saved.write_text(other)
        if what.endswith("old time") and path.exists():
            shutil.copystat(path, saved)
        saved.replace(path)
    elif what == "delete" and path.is_dir():
        shutil.rmtree(path)
    elif what == "delete":
        path.unlink(missing_ok=True)
    elif (
        what == "rename"
        and path.exists()
        and not target.is_relative_to(path)
        and not path.is_relative_to(target)
    ):
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    elif path.is_file() and not path.is_symlink():
        before = path.stat()
        if what.startswith("same size"):
            path.write_bytes(path.read_bytes().translate(bytes.maketrans(b"12fx", b"21xf")))
        elif what == "mode":
            path.chmod(before.st_mode ^ 0o100)
        elif what == "copy":
            copied = path.with_name("copied")
            shutil.copy2(path, copied)
            copied.replace(path)
        elif what == "link":
            path.with_name("linked.py").unlink(missing_ok=True)
            os.link(path, path.with_name("linked.py"))
        if what in ("same size and time", "old time"):
            moment_ns = before.st_mtime_ns if what == "same size and time" else 1_000_000_000
            os.utime(path, ns=(moment_ns, moment_ns))
        elif what == "touch":
            path.touch()


def follow(config: Config) -> None:
    """Index as the watcher does for events: each file of the tree or the manifest by itself."""
    with writer_lock(config):
        indexer, scanner = Indexer(config, open_embedder(config), limits=FEW_FILES), Scanner(config)
        manifest = indexer.load()
        for path in sorted({*manifest.files, *scanner.walk().files}):
            outcome = scanner.check_path(path)
            candidate = outcome if isinstance(outcome, Candidate) else None
            if changes := indexer.changes_among(manifest, {path: candidate}):
                indexer.update(manifest, changes)


@settings(max_examples=scaled(40), deadline=None)
@given(st.booleans(), STEPS)
def test_incremental_runs_equal_a_fresh_one(is_indexed, steps):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("cortex.generation.manifest.TICK_NS", TICK_NS)
        limits = FEW_FILES
        root = Path(folder).resolve()
        config = Config(root=root / "one", indexing=Indexing(max_file_kb=2))
        config.root.mkdir()
        if is_indexed:
            for name, text in zip(NAMES, TEXTS[1:], strict=True):
                change(config.root, "write", name, text)
            index(config, limits=limits)
        for what, name, other in steps:
            if what == "index":
                index(config, limits=limits)
            elif what == "follow":
                follow(config)
            elif what == "lose":
                (config.manifest if name == "manifest" else config.chunks_dir / name).unlink(missing_ok=True)
            elif what == "damage":
                path = config.manifest if name == "manifest" else config.chunks_dir / name
                if path.exists():
                    os.truncate(path, 300)
            else:
                change(config.root, what, name, other)
        index(config, limits=limits)
        fresh = dataclasses.replace(config, root=root / "two")
        shutil.copytree(config.root, fresh.root, ignore=shutil.ignore_patterns(".cortex"))
        index(fresh, limits=limits)
        assert contents(config) == contents(fresh)
        assert index(config, limits=limits).indexed == 0


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(project) -> Config:
    """Return two branches: on `other` a file is edited, one is renamed, one deleted and one new."""
    git(project.root, "init", "-b", "main")
    git(project.root, "add", ".")
    git(project.root, "commit", "-m", "one")
    git(project.root, "switch", "-c", "other")
    (project.root / "shop/cart.py").write_text("def other_cart():\n    return 'elsewhere'\n")
    (project.root / "shop/store.go").rename(project.root / "shop/depot.go")
    (project.root / "shop/GUIDE.md").unlink()
    (project.root / "new.rs").write_text("fn brand_new() -> i32 { 7 }\n")
    git(project.root, "add", ".")
    git(project.root, "commit", "-m", "two")
    git(project.root, "switch", "main")
    return project


def test_a_branch_switch_equals_a_fresh_index_and_embeds_nothing_twice(repository, monkeypatch):
    index(repository)
    first = contents(repository)
    git(repository.root, "switch", "other")
    index(repository)
    fresh = Config(root=repository.root.parent / "fresh")
    shutil.copytree(repository.root, fresh.root, ignore=shutil.ignore_patterns(".cortex"))
    index(fresh)
    assert contents(repository) == contents(fresh)
    embedder = open_embedder(repository)
    embedded: list[str] = []
    monkeypatch.setattr(embedder, "embed", lambda texts, _mode: embedded.extend(texts))
    git(repository.root, "switch", "main")
    assert index(repository).indexed == 3
    assert embedded == []
    assert contents(repository) == first


@pytest.mark.parametrize("copy", ["worktree", "clone"])
def test_copies_of_a_repository_ask_a_server_for_what_differs_alone(repository, tmp_path, monkeypatch, copy):
    static = open_static()
    embed, embedded = static.embed, []

    def note(texts, mode="passage"):
        embedded.extend(texts)
        return embed(texts, mode)

    monkeypatch.setattr(static, "embed", note)
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    tree = tmp_path / "copy"
    with serving(static, "127.0.0.1", 0) as port:
        embedding = Embedding(provider="http", endpoint=f"http://127.0.0.1:{port}")
        index(Config(root=repository.root, embedding=embedding))
        first = set(embedded)
        embedded.clear()
        if copy == "worktree":
            git(repository.root, "worktree", "add", "--detach", str(tree), "main")
        else:
            git(tmp_path, "clone", "--branch", "main", str(repository.root), str(tree))
        (tree / "added.py").write_text("def only_in_the_copy():\n    return 'unheard of'\n")
        index(Config(root=tree, embedding=embedding))
    assert any("only_in_the_copy" in text for text in embedded)
    assert len(first) > COUNT
    assert first & set(embedded) <= {"dimensions"}  # the probe of a server's vector size


def test_a_work_tree_and_a_submodule_are_indexed_like_any_folder(repository, tmp_path):
    (repository.root / ".gitignore").write_text("ignored.py\n")
    git(repository.root, "add", ".")
    git(repository.root, "commit", "-m", "three")
    (repository.root / ".git/info/exclude").write_text("private.py\n")
    tree = tmp_path / "tree"
    git(repository.root, "worktree", "add", str(tree), "other")
    for folder in (tree, repository.root):
        (folder / "private.py").write_text("x = 1\n")
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-b", "main")
    git(outer, "submodule", "add", str(repository.root), "sub")
    (outer / "sub/ignored.py").write_text("x = 1\n")
    index(Config(root=tree))
    index(Config(root=outer))
    indexed = manifests.load(Config(root=tree).manifest).files
    assert "shop/depot.go" in indexed
    assert not {"private.py", ".git"} & indexed.keys()
    indexed = manifests.load(Config(root=outer).manifest).files
    assert "sub/shop/store.go" in indexed
    assert not {"sub/ignored.py", "sub/.git"} & indexed.keys()


def test_the_number_of_shards_follows_from_the_number_of_files():
    assert [shard_count(files, 96) for files in (0, 1, 96, 97, 192, 193, 5000)] == [1, 1, 1, 2, 2, 4, 64]


def test_a_lost_manifest_does_not_lower_the_sequence(project):
    index(project)
    (project.root / "shop/new.py").write_text("x = 1\n")
    assert index(project).sequence == 2
    project.manifest.unlink()
    (project.root / "shop/new.py").write_text("x = 2\n")
    assert index(project).sequence == 3


def test_other_settings_cut_everything_anew(project):
    before = index(project)
    small = Config(root=project.root, indexing=Indexing(chunk_tokens=64))
    report = index(small)
    assert report.indexed == before.files
    assert report.chunks > before.chunks


class Recorded:
    """The default embedder under another name, which records the embedded texts."""

    def __init__(self, identity: str = "") -> None:
        self._embedder = open_static()
        self.identity = identity or self._embedder.identity
        self.dimensions = self._embedder.dimensions
        self.texts: list[str] = []

    def embed(self, texts, mode="passage"):
        self.texts.extend(texts)
        return self._embedder.embed(texts, mode)

    def count_tokens(self, text):
        return self._embedder.count_tokens(text)


def test_another_version_of_the_chunkers_cuts_all_files_and_embeds_only_what_differs(project, monkeypatch):
    config = dataclasses.replace(project, embedding=Embedding(dimensions=open_static().dimensions))
    first_run = Indexer(config, Recorded()).run()
    before, written = contents(config), stats(config)
    monkeypatch.setattr(manifests, "CHUNKERS_VERSION", 999)
    embedder = Recorded()
    report = Indexer(config, embedder).run()
    assert report.indexed == first_run.files
    assert embedder.texts == []
    assert stats(config) == written
    assert contents(config) == before


def test_another_embedder_embeds_every_text_once_and_changes_nothing_else(project):
    config = dataclasses.replace(project, embedding=Embedding(dimensions=open_static().dimensions))
    Indexer(config, Recorded()).run()
    before = {chunk["id"]: chunk | {"updated_at": ""} for chunk in chunks(config).values()}
    embedder = Recorded("another@1")
    Indexer(config, embedder).run()
    after = {chunk["id"]: chunk | {"updated_at": ""} for chunk in chunks(config).values()}
    assert after == before
    assert sorted(embedder.texts) == sorted({embed_text(c["metadata"], c["text"]) for c in after.values()})
    assert {data["_metadata"]["model"] for data in shard_files(config).values()} == {"another@1"}


def test_two_runs_never_write_at_once(project):
    with (
        writer_lock(project),
        pytest.raises(Unavailable, match=f"process {os.getpid()}"),
        writer_lock(project, wait_s=0),
    ):
        pass
    with writer_lock(project, wait_s=0):
        pass


@pytest.mark.parametrize("limits", [Limits(), POOLED])
def test_a_run_in_the_order_of_what_matters_writes_what_one_at_once_writes(project, tmp_path, limits):
    ordered = dataclasses.replace(limits, first_files=3)
    at_once = Config(root=(tmp_path / "copy").resolve())
    shutil.copytree(project.root, at_once.root)
    calls: list[tuple[int, int, int]] = []
    report = index(project, limits=ordered, on_progress=lambda *call: calls.append(call))
    same = index(at_once, limits=dataclasses.replace(limits, first_files=10_000))
    assert contents(project) == contents(at_once)
    assert (report.chunks, report.indexed, report.sequence) == (same.chunks, same.indexed, same.sequence)
    assert calls == sorted(calls)
    assert calls[-1] == (COUNT, COUNT, report.chunks)
    assert index(project, limits=ordered).indexed == 0


def test_the_files_that_matter_are_in_the_chunk_files_before_the_others_are_read(project):
    snapshots: list[set[str]] = []

    def look(done: int, _total: int, _chunks: int) -> None:
        placed = manifests.load(project.manifest).files
        if placed and done < COUNT:
            snapshots.append(set(placed))

    index(project, limits=Limits(first_files=3), on_progress=look)
    assert len(snapshots[0]) == 3
    assert not any(path.endswith(".md") or "test" in path for path in snapshots[0])
