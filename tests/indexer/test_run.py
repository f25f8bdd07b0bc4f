"""Runs of the indexer: chunk files on disk, incremental = fresh, and everything that can be in the
way.
"""

from __future__ import annotations

import base64
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.embedders import open_embedder
from cortex.embedders.static import open_static
from cortex.generation.manifest import Manifest
from cortex.indexer import pool, run
from cortex.indexer.chunkers import embed_text
from cortex.indexer.run import Indexer, index
from cortex.indexer.scan import Scanner
from cortex.indexer.store import manifest as manifests
from cortex.indexer.store.limits import Limits
from cortex.indexer.store.shards import shard_count
from cortex.indexer.store.writer import claiming_files, foreign_files, writer_lock
from cortex.indexer.syntax import parse
from cortex.settings.config import Config, Embedding, Indexing, Server
from ipc.errors import Misconfigured, Unavailable

FILES = Path(__file__).parents[1] / "golden" / "indexer" / "files"
COUNT = sum(path.is_file() for path in FILES.rglob("*"))
#: two children although there is little to do
POOLED = Limits(shard_files=4, pool_files=1, children=2)


@pytest.fixture(autouse=True, scope="module")
def _private_places():
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        os.chmod(folder, 0o700)
        patch.setenv("XDG_RUNTIME_DIR", folder)
        patch.setenv("XDG_CONFIG_HOME", folder)
        patch.setenv("CORTEX_HOME", folder)
        yield


@pytest.fixture
def project(tmp_path) -> Config:
    shutil.copytree(FILES, tmp_path / "project")
    return Config(root=(tmp_path / "project").resolve())


def shard_files(config: Config) -> dict[str, dict[str, Any]]:
    return {path.name: orjson.loads(path.read_bytes()) for path in sorted(config.chunks_dir.glob("*.json"))}


def chunks(config: Config) -> dict[str, dict[str, Any]]:
    """All chunks by id, without times."""
    found: dict[str, dict[str, Any]] = {}
    for data in shard_files(config).values():
        for chunk in data["chunks"]:
            assert chunk["id"] not in found
            found[chunk["id"]] = {key: chunk[key] for key in chunk if key not in ("created_at", "updated_at")}
    return found


#: what differs between two runs over the same tree
TIMES = re.compile(
    rb'"(?:generated|generated_at|created_at|updated_at)":"[^"]*"|"sequence":\d+|"generated":[\d.]+'
)


def contents(config: Config) -> dict[str, Any]:
    """Every byte that the indexer wrote, but for times and sequence numbers, and the manifest's
    files.
    """
    found: dict[str, Any] = {
        str(path.relative_to(config.home)): TIMES.sub(b"", path.read_bytes())
        for folder in (config.chunks_dir, config.graph_dir)
        for path in folder.glob("*.json")
    }
    manifest = manifests.load(config.manifest)
    found["files"] = {
        path: (e.sha256, e.chunks, e.ids, e.skipped, e.remarks) for path, e in manifest.files.items()
    }
    found["layout"] = (manifest.shards, sorted(manifest.chunk_files), manifest.left_out)
    return found


def stats(config: Config) -> dict[str, tuple[int, int]]:
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in config.chunks_dir.glob("*.json")
    }


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
    index(project)
    for chunk in list(chunks(project).values())[:20]:
        vector = np.frombuffer(base64.b64decode(chunk["embedding"]), "<f2").astype(np.float32)
        expected = open_static().embed([embed_text(chunk["metadata"], chunk["text"])])[0]
        np.testing.assert_allclose(vector, expected, atol=1e-3)


def test_an_unchanged_tree_costs_nothing(project):
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
    assert (report.indexed, report.sequence) == (1, 1)
    assert stats(project) == before
    assert index(project).indexed == 0


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
    assert all("cart py" in one for one in embedded)


def test_force_does_everything_anew(project):
    first = index(project)
    before = stats(project)
    report = index(project, force=True)
    assert report.indexed == first.files
    assert all(stats(project)[name] != before[name] for name in before)


def test_progress_ends_with_all_files(project):
    seen: list[tuple[int, int, int]] = []
    report = index(project, on_progress=lambda *now: seen.append(now))
    assert seen[-1] == (COUNT, COUNT, report.chunks)


NAMES = ["a.py", "b.py", "pkg/c.go", "pkg/d.md", "e.txt", "pkg/deep/f.rs"]
TEXTS = [
    "",
    "x = 1\n",
    "# T\n\ntext\n",
    "def f():\n    return 1\n",
    "def f():\n    return 2\n\n\nclass A:\n    pass\n",
    "\0",
]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
        st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
        st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("index"), st.just(""), st.just("")),
        st.tuples(
            st.sampled_from(["lose", "damage"]),
            st.sampled_from(["code-source.json", "code-data.000.json", "code-source.001.json", "manifest"]),
            st.just(""),
        ),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_incremental_runs_equal_a_fresh_one(steps):
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(shard_files=2)  # so that the number of shards changes too
        root = Path(folder).resolve()
        config = Config(root=root / "one")
        config.root.mkdir()
        for what, name, other in steps:
            path = config.root / name
            if what == "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(other)
            elif what == "delete":
                path.unlink(missing_ok=True)
            elif what == "rename" and path.exists():
                (config.root / other).parent.mkdir(parents=True, exist_ok=True)
                path.replace(config.root / other)
            elif what == "index":
                index(config, limits=limits)
            elif what == "lose":
                (config.manifest if name == "manifest" else config.chunks_dir / name).unlink(missing_ok=True)
            elif what == "damage":
                path = config.manifest if name == "manifest" else config.chunks_dir / name
                if path.exists():
                    os.truncate(path, 300)
        index(config, limits=limits)
        fresh = Config(root=root / "two")
        shutil.copytree(config.root, fresh.root, ignore=shutil.ignore_patterns(".cortex"))
        index(fresh, limits=limits)
        assert contents(config) == contents(fresh)
        assert index(config, limits=limits).indexed == 0


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(project) -> Config:
    """Two branches: on `other` a file is edited, one is renamed, one deleted and one new."""
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
    found = manifests.load(Config(root=tree).manifest).files
    assert "shop/depot.go" in found
    assert not {"private.py", ".git"} & found.keys()
    found = manifests.load(Config(root=outer).manifest).files
    assert "sub/shop/store.go" in found
    assert not {"sub/ignored.py", "sub/.git"} & found.keys()


def test_the_number_of_shards_follows_from_the_number_of_files():
    assert [shard_count(files, 96) for files in (0, 1, 96, 97, 192, 193, 5000)] == [1, 1, 1, 2, 2, 4, 64]


@pytest.mark.parametrize("stop_at", [1, 2, 3])
def test_a_run_that_is_killed_is_finished_by_the_next(project, monkeypatch, stop_at):
    limits = Limits(shard_files=2, flush_s=0.0)
    plain = os.replace
    calls = [0]

    def failing(source, target, **folders):
        calls[0] += 1
        if calls[0] > stop_at * 3:
            raise KeyboardInterrupt
        plain(source, target, **folders)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        index(project, limits=limits)
    monkeypatch.setattr(os, "replace", plain)
    index(project, limits=limits)
    fresh = Config(root=project.root.parent / "fresh")
    shutil.copytree(FILES, fresh.root)
    index(fresh, limits=limits)
    assert chunks(project) == chunks(fresh)
    assert not os.listdir(project.chunks_dir / ".tmp")


KILLED = """
import os, signal, sys
from pathlib import Path
from cortex.settings.config import Config
from cortex.indexer import run
from cortex.indexer.store.limits import Limits

limits = Limits(shard_files=4, flush_s=0.0, flush_share=float("inf"))  # as many steps in every run
plain, left = os.replace, [int(sys.argv[2])]

def replace(source, target, **folders):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    plain(source, target, **folders)

os.replace = replace
run.index(Config(root=Path(sys.argv[1])), limits=limits)
print(int(sys.argv[2]) - left[0])
"""


@pytest.mark.timeout(400)  # some forty processes, each of which imports and indexes
def test_a_run_that_is_killed_for_good_anywhere_is_finished_by_the_next(project):
    command = [sys.executable, "-P", "-c", KILLED, str(project.root)]
    whole = subprocess.run([*command, "100000"], check=True, capture_output=True, text=True)
    steps, expected = int(whole.stdout), contents(project)
    for step in {*range(0, steps, max(1, steps // 5)), steps - 2, steps - 1}:
        shutil.rmtree(project.home)
        killed = subprocess.run([*command, str(step)], check=False, capture_output=True)
        assert killed.returncode == -signal.SIGKILL
        index(project, limits=Limits(shard_files=4))
        assert contents(project) == expected, step


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
    """The default embedder under another name, which remembers what it embedded."""

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
    whole = Indexer(config, Recorded()).run()
    before, written = contents(config), stats(config)
    monkeypatch.setattr(manifests, "CHUNKERS_VERSION", 999)
    embedder = Recorded()
    report = Indexer(config, embedder).run()
    assert report.indexed == whole.files
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


def test_bad_files_are_told_and_stop_nothing(project):
    root = project.root
    (root / "latin.py").write_bytes("# añade\nx = 1\n".encode("latin-1"))
    (root / "crlf.py").write_bytes(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n")
    (root / "broken.py").write_text("def (:\n")
    (root / "binary.py").write_bytes(b"\0\1")
    (root / "long.js").write_text("x" * 50_000)
    (root / "blank.py").write_text("\n\n")
    report = index(project)
    assert {s.path: s.reason for s in report.skipped} == {
        "binary.py": "binary",
        "long.js": "minified: a line of 50000 characters",
    }
    found = chunks(project)
    assert found["code-crlf.py#f~1"]["text"] == "def f():\n    return 1"
    assert "añade" in found["code-latin.py#x~1"]["text"]
    assert index(project).indexed == 0


def test_what_is_unusual_about_a_file_is_told(project, monkeypatch):
    root = project.root
    (root / "latin.py").write_bytes("# añade\nx = 1\n".encode("latin-1"))
    (root / "broken.py").write_text("def (:\n")
    (root / "made.py").write_text("# @generated by a program\nx = 1\n")
    (root / "endless.sql").write_text("SELECT 1;\n" * 3000)
    monkeypatch.setattr(parse, "PARSE_STEPS_MIN", 150)
    monkeypatch.setattr(parse, "PARSE_STEPS_PER_BYTE", 0)
    (root / "huge.txt").write_bytes(b"x\n" * (1 << 20))
    (root / "picture.png").write_bytes(b"")
    report = index(project)
    told = {one.path: one.reason for one in report.remarks if one.path.count("/") == 0}
    assert told == {
        "latin.py": "not UTF-8: read as Latin-1",
        "broken.py": "syntax errors",
        "made.py": "generated: says so on line 1",
        "endless.sql": "cut without a parser, which took too long",
    }
    assert manifests.load(project.manifest).left_out == {"binary": 1, "larger than 1024 kB": 1}
    assert index(project).remarks == report.remarks
    (root / "picture.png").unlink()
    index(project)
    assert manifests.load(project.manifest).left_out == {"larger than 1024 kB": 1}


def test_a_function_of_ten_thousand_lines_is_split_at_its_statements(project):
    lines = [f"    if flag_{n}:\n        total += compute({n})" for n in range(5000)]
    (project.root / "giant.py").write_text("def giant(total):\n" + "\n".join(lines) + "\n")
    assert not index(project).skipped
    made = [c for c in chunks(project).values() if c["id"].startswith("code-giant.py#giant~")]
    assert len(made) > 100
    assert all(c["text"].lstrip().startswith(("if flag", "def giant")) for c in made)
    assert all(open_static().count_tokens(c["text"]) <= 300 for c in made)


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_told(project):
    (project.root / "closed.py").write_text("x = 1\n")
    (project.root / "closed.py").chmod(0)
    report = index(project)
    assert [s.path for s in report.skipped] == ["closed.py"]


def test_a_file_that_becomes_a_link_is_not_followed(project, tmp_path):
    (tmp_path / "secret.py").write_text("password = 1\n")
    target = project.root / "shop/cart.py"
    scan = run.Scanner(project).walk()
    target.unlink()
    target.symlink_to(tmp_path / "secret.py")
    run.open_home(project)
    Indexer(project, open_static()).run(scan)
    assert not any("password" in chunk["text"] for chunk in chunks(project).values())


FOREIGN = b'{"_metadata": {"generator": "other"}, "chunks": []}'


@pytest.mark.parametrize("raw", [FOREIGN, b"[]", b"{", b""])
def test_chunk_files_of_others_are_left_alone(project, raw):
    project.chunks_dir.mkdir(parents=True)
    (project.chunks_dir / "mine.json").write_bytes(raw)
    index(project)
    assert foreign_files(project) == ["mine.json"]
    (project.root / "shop/cart.py").unlink()
    index(project)
    assert (project.chunks_dir / "mine.json").read_bytes() == raw


def test_a_foreign_file_under_our_name_is_refused_and_kept(project):
    project = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    project.chunks_dir.mkdir(parents=True)
    (project.chunks_dir / "code-symbols.json").write_bytes(FOREIGN)
    with pytest.raises(Misconfigured, match="another program"):
        index(project)
    assert (project.chunks_dir / "code-symbols.json").read_bytes() == FOREIGN


@pytest.mark.parametrize("name", ["doc-chunks.json", "code-symbols.json", "code-symbols.003.json"])
@pytest.mark.parametrize("raw", [FOREIGN, b""])
def test_damaged_chunk_files_whose_manifest_is_lost_are_made_anew(project, name, raw):
    index(project)
    whole = chunks(project)
    (project.chunks_dir / name).write_bytes(raw)
    project.manifest.unlink()
    assert claiming_files(project) == []
    index(project)
    assert chunks(project) == whole


def test_a_damaged_chunk_file_of_a_kind_that_is_no_more_goes_away(project):
    shutil.rmtree(project.root)
    project.root.mkdir()
    (project.root / "only.md").write_text("# A heading\n\nSome words of it.\n")
    index(project)
    (project.chunks_dir / "code-symbols.json").write_bytes(b"{")
    index(project)
    assert list(shard_files(project)) == ["doc-chunks.json"]


def test_a_file_where_the_chunks_folder_should_be_gives_way_and_is_kept(project):
    project.home.mkdir(parents=True, exist_ok=True)
    (project.chunks_dir).write_text("a file where the folder should be")
    assert index(project).files == COUNT
    assert project.chunks_dir.is_dir()


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_read_only_cache_is_one_clear_sentence_and_a_read_only_project_is_none(
    project, tmp_path, monkeypatch
):
    (tmp_path / "cache").mkdir(mode=0o500)
    project.root.chmod(0o500)
    try:
        assert index(project).files == COUNT
        monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
        with pytest.raises(Misconfigured, match="writable"):
            index(project)
    finally:
        project.root.chmod(0o700)


def test_two_runs_never_write_at_once(project):
    with (
        writer_lock(project),
        pytest.raises(Unavailable, match=f"process {os.getpid()}"),
        writer_lock(project, wait_s=0),
    ):
        pass
    with writer_lock(project, wait_s=0):
        pass


def test_a_stopped_run_leaves_whole_chunk_files(project):
    limits = Limits(shard_files=2)
    stop = threading.Event()
    stop.set()
    run.open_home(project)
    Indexer(project, open_static(), stop, limits).run()
    assert 0 < len({c["metadata"]["file_path"] for c in chunks(project).values()}) < COUNT
    index(project, limits=limits)
    assert len({c["metadata"]["file_path"] for c in chunks(project).values()}) == COUNT


def test_a_pool_of_processes_writes_the_same(project):
    index(project, limits=Limits(shard_files=4))
    alone = chunks(project)
    fresh = Config(root=project.root.parent / "fresh")
    shutil.copytree(FILES, fresh.root)
    report = index(fresh, limits=POOLED)
    assert report.indexed == COUNT
    assert chunks(fresh) == alone


def test_an_error_in_a_child_is_raised_here(project):
    run.open_home(project)
    nobody = Config(
        root=project.root, embedding=Embedding(provider="http", endpoint="http://127.0.0.1:9/embed")
    )
    indexer = Indexer(nobody, open_static(), limits=POOLED)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9"):
        indexer.run()


DYING = """
import os, sys
from pathlib import Path
from cortex.indexer.pool import serve

with Path(sys.argv[1]).open("a") as started:
    started.write(f"{os.getpid()}\\n")
try:
    Path(sys.argv[2]).touch(exist_ok=False)
except FileExistsError:
    serve()
"""


def test_a_child_that_dies_is_replaced(project, tmp_path):
    run.open_home(project)
    (project.chunks_dir / ".tmp").mkdir(parents=True)
    found = Scanner(project).walk().files
    tasks = run.make_plan(Manifest(), found, [], 4, stale=set(), force=False).tasks
    command = [sys.executable, "-P", "-c", DYING, str(tmp_path / "started"), str(tmp_path / "died")]
    settings = Indexer(project, open_static()).settings
    children = pool.Pool(settings, project, 2, command)
    try:
        built = list(children.run(list(tasks.values())))
    finally:
        children.close()
    assert sum(len(one.entries) for one in built) == COUNT
    started = [int(line) for line in (tmp_path / "started").read_text().splitlines()]
    assert len(started) == 3
    assert not any(psutil.pid_exists(child) for child in started)


#: a child that a signal ends over one file: with its parser, or however it is read
STRUCK = """
import os, signal, sys
from cortex.indexer.store import shards
from cortex.indexer.pool import serve

path, number, always, log = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "always", sys.argv[4]
cut = shards.cut

def struck(source, *rest, plain=False):
    if source.path == path and (always or not plain):
        with open(log, "a") as ended:
            ended.write("x")
        os.kill(os.getpid(), number)
    return cut(source, *rest, plain=plain)

shards.cut = struck
serve()
"""


@pytest.mark.parametrize(
    "case", [(signal.SIGSEGV, "parser", 1), (signal.SIGKILL, "parser", 2), (signal.SIGABRT, "always", 2)]
)
def test_a_file_that_ends_a_child_costs_that_file_alone_until_it_changes(
    project, tmp_path, monkeypatch, case
):
    number, how, ends = case
    path, log = "shop/store.go", tmp_path / "ends"
    index(project, limits=POOLED)
    whole = chunks(project)
    shutil.rmtree(project.home)
    command = (sys.executable, "-P", "-c", STRUCK, path, str(int(number)), how, str(log))
    monkeypatch.setattr(pool.Pool.__init__, "__defaults__", (command,))
    report = index(project, limits=POOLED)
    named = [(one.path, one.reason) for one in (*report.remarks, *report.skipped) if one.path == path]
    if how == "always":
        assert named == [(path, "ended the process that read it")]
    else:
        assert (path, "cut without a parser, which ended the process") in named
    assert len(log.read_text()) == ends
    others = {one: body for one, body in whole.items() if body["metadata"]["file_path"] != path}
    made = chunks(project)
    assert {one: body for one, body in made.items() if body["metadata"]["file_path"] != path} == others
    assert (path in {body["metadata"]["file_path"] for body in made.values()}) == (how == "parser")
    assert index(project, limits=POOLED).indexed == 0
    assert len(log.read_text()) == ends
    (project.root / path).write_text("package shop\n\nfunc Other() {}\n")
    monkeypatch.undo()
    report = index(project)
    assert (report.indexed, len(log.read_text())) == (1, ends)
    assert path not in {one.path for one in (*report.remarks, *report.skipped)}


HUNGRY = """
import sys
from cortex.indexer import pool
from cortex.indexer.store import shards

path, what = sys.argv[1:]
cut = shards.cut

def greedy(source, *rest, plain=False):
    if source.path == path and not plain:
        held = bytearray(pool.CHILD_BYTES_MAX) if what == "memory" else None
        while what == "time":
            pass
    return cut(source, *rest, plain=plain)

shards.cut = greedy
pool.FILE_S = 1
pool.serve()
"""


@pytest.mark.parametrize("what", ["memory", "time"])
def test_a_file_that_takes_gigabytes_or_minutes_costs_that_file_alone(project, monkeypatch, what):
    path = "shop/store.go"
    command = (sys.executable, "-P", "-c", HUNGRY, path, what)
    monkeypatch.setattr(pool.Pool.__init__, "__defaults__", (command,))
    report = index(project, limits=POOLED)
    assert (path, "cut without a parser, which ended the process") in {
        (one.path, one.reason) for one in report.remarks
    }
    assert len({body["metadata"]["file_path"] for body in chunks(project).values()}) == COUNT


@pytest.mark.parametrize("limits", [Limits(), POOLED])
def test_a_run_in_the_order_of_what_matters_writes_what_one_at_once_writes(project, tmp_path, limits):
    ordered = dataclasses.replace(limits, first_files=3)
    at_once = Config(root=(tmp_path / "copy").resolve())
    shutil.copytree(project.root, at_once.root)
    told: list[tuple[int, int, int]] = []
    report = index(project, limits=ordered, on_progress=lambda *one: told.append(one))
    same = index(at_once, limits=dataclasses.replace(limits, first_files=10_000))
    assert contents(project) == contents(at_once)
    assert (report.chunks, report.indexed, report.sequence) == (same.chunks, same.indexed, same.sequence)
    assert told == sorted(told)
    assert told[-1] == (COUNT, COUNT, report.chunks)
    assert index(project, limits=ordered).indexed == 0


def test_the_files_that_matter_are_in_the_chunk_files_before_the_others_are_read(project):
    seen: list[set[str]] = []

    def look(done: int, _total: int, _chunks: int) -> None:
        placed = manifests.load(project.manifest).files
        if placed and done < COUNT:
            seen.append(set(placed))

    index(project, limits=Limits(first_files=3), on_progress=look)
    assert len(seen[0]) == 3
    assert not any(path.endswith(".md") or "test" in path for path in seen[0])


def test_a_first_run_that_was_stopped_between_two_groups_is_completed_by_the_next(project):
    stop = threading.Event()
    indexer = Indexer(project, open_embedder(project), stop, Limits(first_files=3))
    with writer_lock(project):
        stopped = indexer.run(on_progress=lambda *_: stop.set())
    assert stopped.files < COUNT
    whole = index(project)
    assert (whole.files, whole.unchanged) == (COUNT, stopped.files)
