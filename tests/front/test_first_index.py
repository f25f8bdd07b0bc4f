"""The wait of a command for the first index of its project, with progress, and for nothing else."""

import asyncio
import hashlib
import io
import os
import time

import orjson
import pytest
from rich.console import Console

from cortex.front.cli import commands
from cortex.front.cli.rendering import render
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.running import serving
from cortex.front.first_index import wait_first_index
from cortex.front.link import Link
from cortex.generation import current as generations
from cortex.generation.current import FileRef, Generation, SegmentRef
from cortex.settings.config import Config, Server
from cortex.terms.records import IndexerState
from tests.wait_until import until

#: seconds after which a wait counts as hanging
HANGS_S = 60.0


def wait(link, patience_s=10 * HANGS_S):
    """Return whether the command waited."""

    async def bounded():
        async with asyncio.timeout(HANGS_S):
            return await wait_first_index(link, patience_s)

    return asyncio.run(bounded())


def test_a_command_waits_until_all_of_a_project_is_served_that_was_not(tmp_path, serve):
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
    link = Link(Config(root=tmp_path))

    async def both():
        async with asyncio.timeout(HANGS_S):
            waited, _ = await asyncio.gather(
                wait_first_index(link, 10 * HANGS_S), asyncio.to_thread(serve, tmp_path)
            )
            return waited, link.freshness.current().sources

    assert asyncio.run(both()) == (True, 2)


def test_a_command_does_not_wait_where_all_is_served(tmp_path):
    config = Config(root=tmp_path)
    config.index_dir.mkdir(parents=True)
    generations.publish(config.index_dir, Generation(1, segments=(SegmentRef("s", 3, 3),), sources=12))
    assert not wait(Link(config))


def test_a_command_does_not_wait_without_an_indexer(tmp_path):
    assert not wait(Link(Config(root=tmp_path, server=Server(auto_index=False))))
    config = Config(root=tmp_path)
    config.indexer_state.parent.mkdir(parents=True)
    state = IndexerState("idle", 0, 0, 1, time.time(), os.getpid(), message="There are too many files.")
    config.indexer_state.write_bytes(orjson.dumps(state))
    assert not wait(Link(config))


def test_a_graph_file_of_the_same_size_is_waited_for_and_one_that_was_touched_is_not(tmp_path):
    path = tmp_path / "code-graph.json"

    def is_served():
        info = path.stat()
        return serving._is_served(path, (info.st_size, info.st_mtime_ns), ref)

    path.write_bytes(b"one")
    ref = FileRef(3, path.stat().st_mtime_ns, hashlib.sha256(b"one").hexdigest())
    assert is_served()
    os.utime(path, ns=(1, 1))
    assert is_served()
    path.write_bytes(b"two")
    assert not is_served()


def test_the_patience_of_a_command_has_an_end(tmp_path):
    assert wait(Link(Config(root=tmp_path)), 0.1)


def test_the_progress_of_another_process_is_printed(capsys):
    clock = iter(range(0, 100, 4))
    with render.Progress(clock=lambda: next(clock)) as progress:
        progress.follow(1, 0, 10)
        progress.follow(5, 2, 10)
    sentence = "waiting for the first index: 5 of 10 files read, 2 served"
    assert capsys.readouterr().err.splitlines() == [sentence]


class Terminal(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self):
        return True


def test_a_slow_command_prints_a_notice_on_a_terminal_only(monkeypatch, capsys):
    with slow_notice("`cortex doctor`", 0.0):
        pass
    assert capsys.readouterr().err == ""
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with slow_notice("`cortex doctor`", HANGS_S):
        pass
    assert screen.getvalue() == ""
    with slow_notice("`cortex doctor`", 0.001):
        until(lambda: screen.getvalue().count("\n") >= 2, "two lines")
    first, second, *_ = screen.getvalue().splitlines()
    assert first == "cortex: `cortex doctor` is under way …"
    assert second == "cortex: `cortex doctor` is under way, 0 s …"


#: commands that print progress, ask a person, end at once, or run until they are stopped; commands
#: that ask workers report their own wait
SHOW = {
    "init", "index", "install", "uninstall", "purge", "mcp", "up", "trust", "clean", "version", "upgrade", "completion",
    "complete", "memory up", "memory model install", "memory model remove", "memory encrypt", "memory decrypt", "memory follow", "hook install", "hook uninstall",
    "serve", "open", "token", "help", "key forget", "key recovery", "key recover", "embed serve",
}  # fmt: skip


def test_every_command_without_output_of_its_own_prints_a_notice():
    assert {command.name for command in commands.COMMANDS} - commands.SILENT == SHOW


@pytest.mark.parametrize(("columns", "bars"), [(40, False), (80, True), (200, True)])
def test_the_note_beside_a_bar_is_whole_at_any_width(columns, bars):
    screen = Console(file=io.StringIO(), force_terminal=True, width=columns, color_system=None)
    with render.Progress(screen, serves=True) as progress:
        progress(400, 482, 7383)
        progress.serve(482, 482, waits=True)
    screen_text = screen.file.getvalue()
    sentence = "serving 400 of 482 files read, 482 of 482 served, taking up the graph"
    assert sentence in " ".join(screen_text.replace("━", " ").split())
    assert ("━" in screen_text) is bars
