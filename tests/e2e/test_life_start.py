"""Faults that a person must repair: one sentence and an exit code before any process starts, never
a traceback.
"""

from __future__ import annotations

import asyncio
import socket

import orjson
import pytest
from mcp import MCPError

from tests.consent import trust_files

pytestmark = pytest.mark.e2e


def assert_refused(project, code, *words):
    """Check that `cortex mcp` ends with `code` and one line that holds `words`; no process
    started.
    """
    result = project.run("mcp")
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for word in words:
        assert word in result.stderr
    assert not project.processes()


def test_an_unknown_setting_names_the_nearest_known_one(project):
    home = project.root / ".cortex"
    home.mkdir()
    (home / "config.yml").write_text("server: {debounce: 5}\n")
    assert_refused(project, 2, "server.debounce", "'debounce_ms'")
    (home / "config.yml").unlink()


def test_a_missing_chunks_folder_is_refused_at_the_start(project, monkeypatch):
    project.environment["CORTEX_CHUNKS_DIR"] = "nowhere"
    assert_refused(project, 2, "nowhere")


def test_a_project_without_chunk_files_or_auto_index_is_refused_at_the_start(project):
    project.environment["CORTEX_SERVER_AUTO_INDEX"] = "false"
    assert_refused(project, 2, "server.auto_index", str(project.root / ".cortex" / "chunks"), "cortex index")


def test_an_unknown_language_is_refused_at_the_start(project):
    project.environment["CORTEX_INDEXING_LANGUAGES"] = "js,pyhton"
    assert_refused(project, 2, "'pyhton'", "'python'")


def test_a_project_without_text_says_so_at_once(project):
    for path in [path for path in project.root.rglob("*") if path.is_file()]:
        path.unlink()
    (project.root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    indexed = project.run("index")
    assert (indexed.returncode, indexed.stderr) == (0, "")
    assert "there is no text to be searched" in indexed.stdout

    async def ask():
        async with project.front() as front:
            return [await front.call("cortex_search", query="x"), await front.call("cortex_outline")]

    for answer in asyncio.run(ask()):
        assert answer["results"] == []
        assert f"no text files to be searched in {project.root}" in answer["suggestion"]


def test_a_cortex_folder_that_is_a_link_is_refused(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project.root / ".cortex").symlink_to(tmp_path / "elsewhere")

    async def ask():
        async with project.front() as front:
            with pytest.raises(MCPError, match="real folder"):
                await front.call("cortex_exact", query="x")

    asyncio.run(ask())
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_unreachable_embedding_endpoint_is_refused_at_the_start(project):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        project.environment["CORTEX_EMBEDDING_ENDPOINT"] = f"http://127.0.0.1:{free.getsockname()[1]}/embed"
        assert_refused(project, 3, "127.0.0.1", "does not answer")


def test_vectors_of_another_size_name_both_sizes(project):
    chunks = project.root / ".cortex" / "chunks"
    chunks.mkdir(parents=True)
    metadata = {"version": "2.0.0", "model": "theirs@1", "dimensions": 768, "generator": "another"}
    (chunks / "theirs.json").write_bytes(orjson.dumps({"_metadata": metadata, "chunks": []}))
    trust_files(project.root)
    assert_refused(project, 2, "768", "384")


def test_a_front_of_another_configuration_says_so_and_takes_over_when_the_old_ones_leave(project):
    other = type(project)(project.root, project.environment | {"CORTEX_INDEXING_CHUNK_TOKENS": "200"})

    async def use(served, leave):
        async with project.front() as old:
            await old.until_complete()
            served.set()
            await leave.wait()
            await old.until_complete()

    async def ask():
        served, leave = asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            use_old = group.create_task(use(served, leave))
            await served.wait()
            supervisor = project.status()["pid"]
            async with other.front() as front:
                with pytest.raises(MCPError, match="cortex down"):
                    await front.call("cortex_exact", query="check_password")
                assert project.status()["pid"] == supervisor
                leave.set()
                await use_old
                await front.until_complete()
                assert project.status()["pid"] != supervisor

    asyncio.run(ask())
    project.nothing_left()
