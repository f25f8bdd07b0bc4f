"""Answers right after a save, before the indexer has reported it."""

import asyncio
import os
import threading
import time

import orjson
import pytest

from cortex.ask.freshness import Freshness
from cortex.front.empty_answers import ask_settled
from cortex.front.tools import TOOLS
from cortex.generation.current import read_current
from cortex.indexer.run import index
from cortex.publish.builder import Builder
from cortex.terms.records import IndexerState
from tests.conftest import open_project

SOURCE = "def alpha():\n    return 1\n"
#: a tool → its arguments for a name that only a saved file has
CALLS = {
    "cortex_exact": {"query": "zebra"},
    "cortex_uses": {"symbol": "zebra"},
    "cortex_read": {"places": ["zebra"]},
    "cortex_outline": {"path": "src/new.py"},
    "cortex_graph": {"operation": "callers", "target": "zebra"},
    "cortex_pattern": {"pattern": "def zebra():\n    return 2", "language": "python"},
}


@pytest.fixture
def project(tmp_path):
    for path in ("a.py", "src/b.py", "src/c.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(SOURCE.replace("alpha", path[-4]))
    (tmp_path / ".gitignore").write_text("built/\n*.log\n")
    return open_project(tmp_path)


def call(project, tool, **arguments):
    context = project.context()
    answer = asyncio.run(TOOLS[tool].call(context, TOOLS[tool].check(arguments)))
    return orjson.loads(orjson.dumps(answer))


def test_saved_new_and_removed_files_are_unserved_before_the_indexer_reports_them(project):
    root = project.config.root
    freshness = Freshness(project.config)
    assert freshness.unserved(freshness.current()) == set()
    (root / "src" / "b.py").write_text("def saved(): pass\n")
    (root / "src" / "c.py").unlink()
    (root / "deep" / "er").mkdir(parents=True)
    (root / "built").mkdir()
    for path in ("new.py", "deep/er/new.py", "built/new.py", "new.log"):
        (root / path).write_text(SOURCE)
    os.symlink(root / "a.py", root / "link.py")
    expected = {"src/b.py", "src/c.py", "new.py", "deep/er/new.py"}
    assert freshness.unserved(freshness.current()) == expected


@pytest.mark.parametrize("path", ["src/b.py", "src/new.py"])
@pytest.mark.parametrize("tool", CALLS)
def test_an_empty_answer_right_after_a_save_names_the_saved_file(project, tool, path):
    if tool in ("cortex_outline", "cortex_pattern"):
        path = "src/new.py"  # their answers for the other file are not empty
    call(project, tool, **CALLS[tool])  # reads the manifest
    (project.config.root / path).write_text("def zebra():\n    return 2\n")
    assert call(project, tool, **CALLS[tool])["index"]["pending"] == [path]


def test_a_pattern_finds_a_shape_in_a_file_that_was_just_saved(project):
    (project.config.root / "src" / "b.py").write_text("\ndef zebra():\n    return 2\n")
    answer = call(project, "cortex_pattern", **CALLS["cortex_pattern"])
    [row] = answer["results"]
    assert (row["file"], row["start_line"], row["text"]) == ("src/b.py", 2, "def zebra():\n    return 2")


def test_an_answer_without_what_was_asked_for_waits_for_a_file_saved_a_moment_ago(project):
    config = project.config
    state = IndexerState("idle", 0, 0, 0, time.time(), os.getpid())
    config.run_dir.mkdir(exist_ok=True)
    config.indexer_state.write_bytes(orjson.dumps(state))
    (config.root / "src" / "new.py").write_text("def zebra():\n    return 2\n")
    calls = []

    async def ask():
        calls.append(read_current(config.index_dir).sequence)
        if len(calls) == 1:
            publishing.start()
        return {"results": [len(calls)][: len(calls) - 1], "index": {"generation": 1, "pending_count": 0}}

    def publish():
        index(config)
        builder = Builder(config)
        while builder.refresh() is not None:
            pass
        builder.close()

    publishing = threading.Thread(target=publish)
    answer = asyncio.run(ask_settled(project.context(), ask, {"query": "zebra"}))
    publishing.join()
    assert answer["results"] == [2]
    assert calls[0] < calls[1]


def test_an_answer_does_not_wait_when_nothing_was_saved(project):
    calls = []

    async def ask():
        calls.append(1)
        return {"results": [], "index": {"generation": 1, "pending_count": 0}}

    asyncio.run(ask_settled(project.context(), ask, {"query": "zebra"}))
    assert calls == [1]


@pytest.fixture
def looks(project, monkeypatch):
    """The files of each look of a waiting answer; a log grows with each."""
    state = IndexerState("idle", 0, 0, 0, time.time(), os.getpid())
    project.config.run_dir.mkdir(exist_ok=True)
    project.config.indexer_state.write_bytes(orjson.dumps(state))
    looks, is_settled = [], Freshness.is_settled

    def look(freshness, generation, paths):
        looks.append(set(paths))
        if (log := project.config.root / "server.txt").exists():
            log.write_text(f"{log.read_text()}zebra came\n")
        return is_settled(freshness, generation, paths) or len(looks) > 4

    monkeypatch.setattr(Freshness, "is_settled", look)
    return looks


def ask_in_vain(context, **arguments):
    async def ask():
        return {"results": [], "index": {"generation": 1, "pending_count": 0}}

    return asyncio.run(ask_settled(context, ask, arguments))


def test_an_answer_waits_once_for_a_file_that_grows_and_names_it(project, looks):
    context = project.context()
    log = project.config.root / "server.txt"
    log.write_text("zebra came\n")
    assert ask_in_vain(context, query="zebra")["index"]["pending"] == ["server.txt"]
    assert looks == [{"server.txt"}]
    for _ in range(2):
        log.write_text(f"{log.read_text()}zebra came\n")
        assert ask_in_vain(context, query="zebra")["index"]["pending"] == ["server.txt"]
    assert looks == [{"server.txt"}]
    (project.config.root / "src" / "b.py").write_text("zebra = 1\n")
    ask_in_vain(context, query="zebra")
    assert looks[1:] == [{"src/b.py"}] * 4


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ({"query": "how are zebras fed"}, {"new.py"}),
        ({"symbol": "Zoo.feed_zebra"}, {"new.py"}),
        ({"places": ("zebra",), "query": ""}, {"new.py"}),
        ({"path": "new"}, {"new.py"}),
        ({"query": "z.bra", "match_type": "regex"}, {"new.py", "src/b.py"}),
        ({"query": "zabra~1"}, {"new.py", "src/b.py"}),
        ({"pattern": "$X == $Y"}, {"new.py", "src/b.py"}),
        ({"query": "giraffe"}, set()),
    ],
)
def test_an_answer_waits_for_files_that_may_hold_what_is_asked_for(project, looks, arguments, files):
    root = project.config.root
    (root / "new.py").write_text("zebra = 1\n")
    (root / "src" / "b.py").write_text("lion = 1\n")
    (root / "shop.db-journal").write_bytes(b"zebra\0\0\x01" * 9)
    (root / "src" / "c.py").unlink()
    ask_in_vain(project.context(), **arguments)
    assert (looks[0] if looks else set()) == files
