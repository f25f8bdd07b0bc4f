"""The age of an answer: pending and stale files, and an indexer that is gone."""

import asyncio
import hashlib
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from cortex.ask.freshness import LINKING, Freshness, say_progress
from cortex.ask.lines import saved_files
from cortex.front.tools import TOOLS
from cortex.generation import current as generations
from cortex.generation.current import EMPTY, Generation, SegmentRef
from cortex.settings.config import INDEX_FORMAT, Config, Server
from cortex.terms.records import IndexerState
from tests.consent import trust_files


@pytest.fixture
def config(tmp_path):
    project_config = Config(root=tmp_path)
    project_config.index_dir.mkdir(parents=True)
    project_config.run_dir.mkdir()
    return project_config


def indexed(config, **files):
    """Write sources, and a manifest with their present state."""
    records = {}
    for name, body in files.items():
        path = config.root / f"{name}.py"
        path.write_text(body)
        info = path.stat()
        records[f"{name}.py"] = {
            "sha256": hashlib.sha256(body.encode()).hexdigest(),
            "size": info.st_size,
            "mtime_ns": info.st_mtime_ns,
            "ctime_ns": info.st_ctime_ns,
            "inode": info.st_ino,
            "chunks": 1,
        }
    config.manifest.write_bytes(orjson.dumps({"version": 1, "files": records}))


def indexer(config, **fields):
    state = {
        "state": "idle",
        "done": 0,
        "total": 0,
        "sequence": 1,
        "heartbeat": time.time(),
        "pid": os.getpid(),
    }
    config.indexer_state.write_bytes(orjson.dumps(IndexerState(**(state | fields))))


def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_file_that_was_saved_since_it_was_indexed_is_stale(config):
    indexed(config, a="one", b="two")
    fresh = Freshness(config)
    assert fresh.stale(["a.py", "b.py"], EMPTY) == frozenset()
    (config.root / "a.py").write_text("another")
    assert fresh.stale(["a.py", "b.py"], EMPTY) == {"a.py"}


def test_another_text_of_the_same_size_and_time_is_stale(config):
    indexed(config, a="one", b="two")
    path = config.root / "a.py"
    before = path.stat()
    path.write_text("1+1")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    fresh = Freshness(config)
    assert fresh.stale(["a.py", "b.py"], EMPTY) == {"a.py"}
    assert fresh.stale(["a.py", "b.py"], EMPTY) == {"a.py"}


@pytest.mark.parametrize(
    "how", [Path.touch, lambda path: path.chmod(0o600), lambda path: os.utime(path, (1, 1))]
)
def test_a_file_that_was_only_touched_is_not_stale(config, how):
    indexed(config, a="one")
    how(config.root / "a.py")
    fresh = Freshness(config)
    assert fresh.stale(["a.py"], EMPTY) == frozenset()
    (config.root / "a.py").write_text("two")
    assert fresh.stale(["a.py"], EMPTY) == {"a.py"}
    os.utime(config.root / "a.py", (1, 1))
    assert fresh.stale(["a.py"], EMPTY) == {"a.py"}
    indexed(config, a="two")
    assert fresh.stale(["a.py"], EMPTY) == frozenset()


def test_a_hashed_file_is_not_hashed_for_the_next_answer(config, monkeypatch):
    indexed(config, a="one")
    os.utime(config.root / "a.py", (1, 1))
    monkeypatch.setattr(saved_files, "TICK_NS", 0)
    fresh = Freshness(config)
    assert fresh.stale(["a.py"], EMPTY) == frozenset()
    monkeypatch.setattr(saved_files.files, "read_plain", None)
    assert fresh.stale(["a.py"], EMPTY) == frozenset()


def test_verdicts_on_more_files_than_are_kept_are_made_anew(config, monkeypatch):
    indexed(config, a="one", b="one")
    for name in ("a", "b"):
        os.utime(config.root / f"{name}.py", (1, 1))
    monkeypatch.setattr(saved_files, "TICK_NS", 0)
    monkeypatch.setattr(saved_files, "VERDICTS_KEPT", 1)
    fresh = Freshness(config)
    for _ in range(3):
        assert fresh.stale(["a.py", "b.py"], EMPTY) == frozenset()


def test_a_file_that_was_removed_is_stale(config):
    indexed(config, a="one")
    (config.root / "a.py").unlink()
    assert Freshness(config).stale(["a.py"], EMPTY) == {"a.py"}


@pytest.mark.parametrize(
    "gone", ["the manifest", "the end of the run", "nothing new", "their chunk files", ""]
)
def test_a_project_that_was_read_and_holds_no_text_is_not_waited_for(config, gone):
    entry = {"size": 9, "mtime_ns": 1, "chunks": 0}
    if gone != "the manifest":
        listing = {"recipe": "x", "files": {"a.bin": entry}, "left_out": {"larger than 1024 kB": 2}}
        config.manifest.write_bytes(orjson.dumps(listing))
    if gone == "the end of the run":
        indexer(config, state="indexing")
    if gone == "nothing new":
        indexer(config, dirty={"a.py": 1})
    if gone == "their chunk files":
        (config.root / ".cortex" / "chunks").mkdir(parents=True)
        (config.root / ".cortex" / "chunks" / "a.json").write_text("[]")
        trust_files(config.root)
    fresh = Freshness(config)
    assert fresh.serves(EMPTY) == (not gone)
    sentence = f"There are no text files to be searched in {config.root}; 3 files were left out"
    assert (sentence in fresh.explain_nothing()) == (not gone)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cortex_search", {"query": "refresh token"}),
        ("cortex_exact", {"query": "refresh_token"}),
        ("code_context", {"query": "refresh token"}),
        ("cortex_explore", {"query": "SessionStore.refresh_token"}),
        ("cortex_graph", {"operation": "callers", "target": "rotate"}),
        ("find_related", {"file": "src/web/login.py"}),
    ],
)
def test_an_answer_names_its_files_that_were_saved_a_moment_ago_as_pending(sample, name, arguments):
    tool, path = TOOLS[name], sample.config.root / "src/auth/session.py"
    before, text = path.stat(), path.read_text()

    def ask():
        answer = asyncio.run(tool.call(sample.context(), tool.check(arguments)))
        return orjson.loads(orjson.dumps(answer))["index"]

    assert (ask()["pending"], ask()["pending_count"]) == ([], 0)
    path.write_text(text + "\n# more\n")
    try:
        assert (ask()["pending"], ask()["pending_count"]) == (["src/auth/session.py"], 1)
    finally:
        path.write_text(text)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_file_that_is_indexed_but_not_served_yet_is_stale_and_pending(config):
    indexed(config, a="one")
    indexer(config, dirty={"a.py": 7})
    fresh = Freshness(config)
    assert fresh.stale(["a.py"], Generation(1, sequence=6)) == {"a.py"}
    assert fresh.pending(Generation(1, sequence=6)) == ["a.py"]
    assert fresh.stale(["a.py"], Generation(2, sequence=7)) == frozenset()
    assert fresh.pending(Generation(2, sequence=7)) == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.py", "a/../../outside.py"])
def test_paths_outside_the_project_are_not_looked_at(config, path):
    config.manifest.write_bytes(orjson.dumps({"files": {path: {"size": 1, "mtime_ns": 1}}}))
    assert Freshness(config).stale([path], EMPTY) == frozenset()


def test_files_that_the_indexer_does_not_know_are_not_called_stale(config):
    assert Freshness(config).stale(["foreign.py"], EMPTY) == frozenset()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"state": 3}'])
def test_files_that_cannot_be_read_change_nothing(config, content):
    config.manifest.write_bytes(content)
    config.indexer_state.write_bytes(content)
    (config.index_dir / "CURRENT").write_bytes(content)
    fresh = Freshness(config)
    assert fresh.stale(["a.py"], EMPTY) == frozenset()
    assert fresh.block(fresh.current()) == {
        "generation": 0,
        "pending": [],
        "pending_count": 0,
        "degraded": [],
    }


def test_a_new_generation_is_seen_and_a_damaged_one_is_not_followed(config):
    fresh = Freshness(config)
    assert fresh.current() == EMPTY
    generations.publish(config.index_dir, Generation(1))
    assert fresh.current().number == 1
    generations.publish(config.index_dir, Generation(2))
    assert fresh.current().number == 2
    (config.index_dir / "CURRENT").write_bytes(b"garbage")
    assert fresh.current().number == 2
    (config.index_dir / "CURRENT").unlink()
    assert fresh.current() == EMPTY


def test_a_reading_that_failed_is_tried_again_although_the_file_stayed_as_it_is(config):
    indexed(config, a="x = 1\n")
    indexer(config, message="Said once.")
    generations.publish(config.index_dir, Generation(3))
    fresh = Freshness(config)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))  # no file can be opened
    try:
        assert fresh.current() == EMPTY
        assert fresh.progress().message == ""
        assert fresh.share(EMPTY).total == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert fresh.current().number == 3
    assert fresh.progress().message == "Said once."
    assert fresh.share(EMPTY).total == 1


def test_an_indexer_that_died_while_indexing_is_not_called_running(config):
    indexer(config, state="indexing", done=1, total=9, heartbeat=time.time() - 60, pid=dead_pid())
    assert "indexing" not in Freshness(config).block(EMPTY)
    indexer(config, state="indexing", done=1, total=9, heartbeat=time.time() - 60)
    assert Freshness(config).block(EMPTY)["indexing"] == {"done": 1, "total": 9}


def test_of_an_indexer_in_a_sandbox_only_its_heartbeat_is_believed(config):
    old = {"state": "indexing", "done": 1, "total": 9, "heartbeat": time.time() - 60}
    indexer(config, **old, namespace=1)  # another namespace than ours
    assert not Freshness(config).progress().running
    indexer(config, **old | {"heartbeat": time.time()}, namespace=1)
    assert Freshness(config).progress().running


def test_a_sign_of_life_of_the_future_does_not_keep_a_dead_indexer_alive(config):
    indexer(config, state="indexing", heartbeat=time.time() + 3600.0, pid=dead_pid())
    assert not Freshness(config).progress().running


def test_messages_of_the_indexer_are_passed_on(config):
    indexer(config, state="stopped", message="More than 100 000 files; pass --project DIR.")
    assert Freshness(config).block(EMPTY)["message"] == "More than 100 000 files; pass --project DIR."
    assert Freshness(config).explain_nothing() == "More than 100 000 files; pass --project DIR."


def test_an_empty_index_is_explained_by_the_state_of_the_indexer(config):
    assert "ask again" in Freshness(config).explain_nothing()
    indexer(config, state="indexing", done=0, total=0)
    assert "files are being listed" in Freshness(config).explain_nothing()
    off = Config(root=config.root, server=Server(auto_index=False))
    config.indexer_state.unlink()
    assert "run `cortex index`" in Freshness(off).explain_nothing()


def test_an_indexer_that_cannot_report_is_noticed(config):
    indexer(config, heartbeat=time.time() - 60)
    assert "has not reported for 60 s" in Freshness(config).block(EMPTY)["message"]


@pytest.mark.parametrize("place", [".", str(INDEX_FORMAT - 1), str(INDEX_FORMAT + 1)])
def test_while_only_another_format_is_there_answers_say_that_the_index_is_rebuilt(config, place):
    other = config.index_dir.parent / place
    other.mkdir(exist_ok=True)
    fresh = Freshness(config)
    sentence = "The index is being rebuilt after an upgrade."
    assert sentence not in fresh.explain_nothing()
    generations.publish(other, Generation(3))
    assert fresh.explain_nothing().startswith(sentence)
    assert fresh.block(fresh.current())["message"].startswith(sentence)
    generations.publish(config.index_dir, Generation(1))
    assert sentence not in fresh.explain_nothing()
    assert "message" not in fresh.block(fresh.current())


def publish(config, sources, **fields):
    generation = Generation(1, segments=(SegmentRef("s", 9, 9),), sources=sources, **fields)
    generations.publish(config.index_dir, generation)
    return generation


def test_a_first_publish_is_reported_as_a_share_and_not_as_the_newest_changes(config):
    indexed(config, **{f"f{n}": "text" for n in range(100)})
    generation = publish(config, 41, backlog=3)
    block = Freshness(config).block(generation)
    assert (block["publishing"], block["searchable"]) == (True, {"done": 41, "total": 100})
    assert "41 % searchable (41 of 100 files)" in block["message"]
    assert "newest changes" not in block["message"]


def test_while_the_first_run_goes_on_files_that_are_not_read_yet_count_too(config):
    indexed(config, a="one", b="two")
    indexer(config, state="indexing", done=2, total=10, files=10)
    block = Freshness(config).block(publish(config, 2))
    assert block["searchable"] == {"done": 2, "total": 10}
    assert "20 % searchable" in block["message"]
    assert "is being indexed" in block["message"]


def test_when_all_is_searchable_only_changes_are_reported(config):
    indexed(config, a="one", b="two")
    block = Freshness(config).block(publish(config, 2, backlog=1))
    assert "searchable" not in block
    assert block["message"] == "The newest changes are indexed and about to be served."


@pytest.mark.parametrize(
    ("done", "message"),
    [
        (1, "Indexing is at 25 % (1 of 4 files). Answers may miss what is not indexed yet."),
        (4, LINKING),
    ],
)
def test_files_that_were_all_read_are_not_reported_missing(config, done, message):
    indexed(config, a="one", b="two")
    indexer(config, state="indexing", done=done, total=4)
    fresh = Freshness(config)
    assert fresh.block(publish(config, 2))["message"] == message
    assert "100 %" not in say_progress(fresh.progress())


def test_until_the_graph_of_a_change_is_published_its_names_are_said_to_be_behind(config):
    indexed(config, a="one", b="two")
    config.graph_dir.mkdir(parents=True)
    fresh, now = Freshness(config), time.time()
    assert fresh.block(publish(config, 2, published_at=now - 5))["message"] == LINKING
    assert "message" not in fresh.block(publish(config, 2, published_at=now + 5))
    os.utime(config.graph_dir, (now - 900, now - 900))  # of files that never were to be published
    assert "message" not in fresh.block(publish(config, 2, published_at=now - 950))


def test_before_the_first_generation_the_state_is_reported_once(config):
    indexer(config, state="indexing", done=0, total=4, files=4)
    fresh = Freshness(config)
    assert fresh.explain_nothing() == (
        "Nothing is searchable yet; ask again in a few seconds. Indexing is at 0 % (0 of 4 files)."
    )
    assert "message" not in fresh.block(fresh.current(), share_reported=True)


def test_a_file_in_which_there_is_nothing_to_search_does_not_keep_the_share_down(config):
    indexed(config, a="one", b="")
    manifest = orjson.loads(config.manifest.read_bytes())
    manifest["files"]["b.py"]["chunks"] = 0
    config.manifest.write_bytes(orjson.dumps(manifest))
    fresh = Freshness(config)
    assert fresh.share(publish(config, 1)).is_complete
    assert "message" not in fresh.block(fresh.current())


def test_chunk_files_of_another_program_are_no_part_of_anything(config):
    fresh = Freshness(config)
    assert fresh.share(publish(config, 7)).is_complete


def test_an_empty_generation_is_nothing_to_answer_from_while_more_is_to_come(config):
    fresh = Freshness(config)
    assert fresh.serves(Generation(1))
    indexer(config, state="indexing", done=0, total=3, files=3)
    assert not fresh.serves(Generation(1))
    assert not fresh.serves(EMPTY)


def test_an_index_is_not_reported_as_complete_before_its_files_are_checked(config):
    indexed(config, a="one", b="two")
    served = Generation(1, segments=(SegmentRef("s", 3, 3),), sequence=1, sources=2)
    indexer(config, state="looking")
    fresh = Freshness(config)
    assert not fresh.serves_all(served)
    assert "are being searched" in fresh.block(served)["message"]
    indexer(config, state="idle")
    fresh = Freshness(config)
    assert fresh.serves_all(served)
    assert "message" not in fresh.block(served)


def test_the_files_of_a_killed_run_are_not_the_whole_project(config):
    indexed(config, a="one", b="two")
    served = Generation(1, segments=(SegmentRef("s", 3, 3),), sequence=1, sources=2)
    indexer(config, state="indexing", done=2, total=9, files=9, pid=dead_pid(), heartbeat=1.0)
    fresh = Freshness(config)
    assert not fresh.serves_all(served)
    assert fresh.block(served)["searchable"] == {"done": 2, "total": 9}
