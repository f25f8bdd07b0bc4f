"""Fronts that share a set of tiny real children: its start, its recovery and its replacement."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cortex import __version__
from cortex.engines.milvus.place import Milvus
from cortex.front.link import Link
from cortex.processes import attach
from cortex.processes.child import SetSpec
from cortex.processes.starting import expected_hello
from cortex.settings.config import Config, Embedding
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import runtime_id
from cortex.system.errors import Unavailable
from ipc.messages import PROTOCOL
from tests.left_processes import processes_of, wait_for_end
from tests.milvus_lite import in_milvus
from tests.processes.tiny_sets import OBEDIENT, member, spec, start
from tests.wait_until import BOUND_S, until, until_async


def test_memory_serves_fronts_of_several_versions_and_refuses_another_protocol(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    hello = {"version": "0.0.1", "protocol": PROTOCOL, "config": data.hash()}
    assert attach.mismatch(data, hello) == ""
    refused = attach.mismatch(data, hello | {"protocol": 99})
    assert "protocol 99" in refused
    assert "`cortex memory down`" in refused


def test_a_front_starts_a_set_and_the_set_ends_after_the_last_front(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        first = await attach.attach(spawn_tiny)
        second = await attach.attach(spawn_tiny)
        assert first.hello["pid"] == second.hello["pid"]
        assert (first.problem, second.problem) == ("", "")
        await until_async(lambda: attach.set_status(spawn_tiny)["fronts"] == 2, "two fronts")
        await first.close()
        await until_async(lambda: attach.set_status(spawn_tiny)["fronts"] == 1, "one front")
        await second.close()

    asyncio.run(fronts())
    wait_for_end(spawn_tiny.root)


def test_attach_uses_the_set_that_begin_has_started(spawn_tiny: Config) -> None:
    async def front() -> None:
        attach.begin(spawn_tiny)
        [begun] = attach._begun.values()
        attachment = await attach.attach(spawn_tiny)
        assert attachment.hello["pid"] == begun.pid
        attach.begin(spawn_tiny)
        assert not attach._begun
        await attachment.close()

    asyncio.run(front())
    wait_for_end(spawn_tiny.root)


def test_end_begun_ends_a_set_without_a_front(spawn_tiny: Config) -> None:
    attach.begin(spawn_tiny)
    assert attach._begun
    attach.end_begun()
    assert not attach._begun
    wait_for_end(spawn_tiny.root)


#: runs `cortex mcp`, and prints the imported modules when it starts its first process
IMPORTED = """
import subprocess, sys
from cortex.front.cli.main import main

def print_modules(*arguments, **options):
    print(*sys.modules, file=sys.stderr)
    sys.exit(0)

subprocess.Popen.__init__ = print_modules
main(["mcp", "--project", "."])
"""


def test_the_workers_start_before_the_modules_of_their_client_are_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORTED], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    modules = set(done.stderr.split())
    assert "cortex.processes.attach" in modules
    assert not modules & {"zmq", "cortex.ask.query_context", "cortex.front.link", "mcp"}


def test_a_set_counts_the_lines_that_its_fronts_refused(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        def refused_lines() -> int:
            return int(attach.set_status(spawn_tiny).get("refused_lines", -1))

        staying, leaving = Link(spawn_tiny), Link(spawn_tiny)
        for link in (staying, leaving):
            link.open()
            link.count_refused()  # no set is attached yet to receive the count
        await until_async(lambda: refused_lines() == 2, "one line of each")
        for _ in range(500):
            leaving.count_refused()
        await leaving.close()
        await until_async(lambda: refused_lines() == 502, "all lines of one that has left")
        await staying.close()

    asyncio.run(fronts())


def test_fronts_that_start_together_share_one_set(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        attachments = await asyncio.gather(*(attach.attach(spawn_tiny) for _ in range(5)))
        assert len({attachment.hello["pid"] for attachment in attachments}) == 1
        await asyncio.gather(*(attachment.close() for attachment in attachments))

    asyncio.run(fronts())


def test_a_front_gets_a_set_back_when_the_supervisor_is_killed(spawn_tiny: Config) -> None:
    async def front() -> None:
        attachment = await attach.attach(spawn_tiny)
        first = attachment.hello["pid"]
        os.kill(first, signal.SIGKILL)
        problems = set()

        def back() -> bool:
            problems.add(attachment.problem)
            return bool(attachment.hello.get("pid", first) != first)

        await until_async(back, "another supervisor")
        assert attachment.connected
        assert problems == {""}
        await until_async(lambda: member(spawn_tiny, "text").get("state") == "running", "its child")
        await attachment.close()

    asyncio.run(front())


def test_fronts_share_the_set_that_replaces_a_killed_one(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        attachments = await asyncio.gather(*(attach.attach(spawn_tiny) for _ in range(5)))
        first = attachments[0].hello["pid"]
        os.kill(first, signal.SIGKILL)
        await until_async(
            lambda: all(
                attachment.connected and attachment.hello.get("pid") != first for attachment in attachments
            ),
            "all back",
        )
        await until_async(lambda: attach.set_status(spawn_tiny).get("fronts") == 5, "five fronts")
        assert len({attachment.hello["pid"] for attachment in attachments}) == 1
        await asyncio.gather(*(attachment.close() for attachment in attachments))

    asyncio.run(fronts())


def test_a_front_gets_a_set_back_when_the_cache_folder_is_deleted(spawn_tiny: Config) -> None:
    async def front() -> None:
        attachment = await attach.attach(spawn_tiny)
        first = attachment.hello["pid"]
        shutil.rmtree(spawn_tiny.home)
        await until_async(lambda: attachment.hello.get("pid", first) != first, "another supervisor")
        assert spawn_tiny.run_dir.is_dir()
        await attachment.close()

    asyncio.run(front())


def test_a_set_that_keeps_running_without_fronts_has_no_idle_limit(spawn_tiny: Config) -> None:
    async def front() -> None:
        attachment = await attach.attach(spawn_tiny)
        await attachment.keep()
        assert attach.set_status(spawn_tiny)["idle_exit_s"] is None
        await attachment.close()

    asyncio.run(front())
    assert attach.set_status(spawn_tiny)["running"]


def test_keep_goes_to_the_next_set_while_one_is_stopping(spawn_tiny: Config) -> None:
    async def front() -> tuple[int, int]:
        attachment = await attach.attach(spawn_tiny)
        stopping = attachment.hello["pid"]
        place = spawn_tiny.runtime_dir / "supervisor.sock"
        listening = place.stat().st_ino
        _reader, writer = await asyncio.open_unix_connection(place)
        writer.write(b'{"command": "stop"}\n')
        await until_async(lambda: not place.exists() or place.stat().st_ino != listening, "stopping")
        writer.close()
        await attachment.keep()
        final_pid = attachment.hello["pid"]
        await attachment.close()
        return stopping, final_pid

    stopping, final_pid = asyncio.run(front())
    assert final_pid != stopping
    status = attach.set_status(spawn_tiny)
    assert (status["pid"], status["idle_exit_s"]) == (final_pid, None)


def test_a_front_of_another_configuration_waits_and_takes_over(spawn_tiny: Config) -> None:
    other = dataclasses.replace(spawn_tiny, embedding=Embedding(dimensions=128))

    async def fronts() -> None:
        old = await attach.attach(spawn_tiny)
        new = await attach.attach(other)
        first = new.hello["pid"]
        assert old.hello["pid"] == first
        assert not new.connected
        for word in (spawn_tiny.hash(), other.hash(), "cortex down"):
            assert word in new.problem
        assert "with another embedding.dimensions (384 there, 128 here):" in new.problem
        assert "embedding.dimensions" in attach.set_status(other)["problem"]
        await until_async(lambda: attach.set_status(spawn_tiny)["waiting"] == 1, "waiting")
        assert old.connected  # it is not disturbed
        await old.close()
        await until_async(lambda: new.connected, "the newer front's own set")
        assert new.hello["config"] == other.hash()
        await new.close()

    asyncio.run(fronts())


def test_the_settings_that_differ_are_named_and_secrets_are_not(spawn_tiny: Config) -> None:
    data = DataFolder(spawn_tiny.root)
    for owner, theirs in ((spawn_tiny, spawn_tiny.relied_settings()), (data, data.relied_settings())):
        hello = expected_hello(owner) | {"version": __version__, "config": "other", "settings": theirs}
        assert "with another" not in attach.mismatch(owner, hello)
        hello["settings"] = theirs | {"embedding.model": '"larger"', "server.old": "true"}
        assert 'embedding.model ("larger" there, ' in attach.mismatch(owner, hello)
        assert "server.old (true there, not set here)" in attach.mismatch(owner, hello)
        del hello["settings"]  # of an earlier version
        assert "with another" not in attach.mismatch(owner, hello)
    secret = dataclasses.replace(
        spawn_tiny,
        **in_milvus(
            Milvus(
                uri="https://ada:word@example.org", token="secret", lease="postgresql://ada:word@host/base"
            )
        ),
    )
    settings = secret.relied_settings()
    assert not [value for value in settings.values() if "word" in value or "secret" in value]
    other = dataclasses.replace(
        secret, plug_settings=dataclasses.replace(secret.plug_settings, token="another")
    )
    assert other.hash() != secret.hash()
    hello = expected_hello(secret) | {"config": "other", "settings": settings}
    assert "with another milvus.token (not shown):" in attach.mismatch(other, hello)


def test_two_cache_folders_of_one_project_share_no_sockets(
    spawn_tiny: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = spawn_tiny.runtime_dir
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "another cache"))
    second = spawn_tiny.runtime_dir
    assert second.parent == first.parent
    assert len({first, second}) == 2
    monkeypatch.delenv("CORTEX_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    usual = spawn_tiny.runtime_dir
    assert usual.name == f"{spawn_tiny.root_id}-p{PROTOCOL}"  # as earlier versions name it
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert len({first, second, usual, spawn_tiny.runtime_dir}) == 4
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "home" / ".cache" / "cortex"))
    assert spawn_tiny.runtime_dir == usual


def test_a_front_of_another_protocol_waits_for_the_old_set(
    spawn_tiny: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attach, "TAKE_OVER_S", 0.0)  # an old set that needs longer
    theirs = spawn_tiny.runtime_dir.with_name(f"{runtime_id(spawn_tiny.root)}-p99")
    theirs.mkdir(mode=0o700)
    old_spec = dataclasses.replace(
        spec(spawn_tiny, idle_exit_s=600.0, text=OBEDIENT), runtime_dir=str(theirs), protocol=99
    )
    old = start(old_spec)
    until((theirs / "supervisor.sock").exists, "the old set")

    async def front() -> None:
        attachment = await attach.attach(spawn_tiny)
        assert "protocol 99" in attachment.problem
        assert f"protocol {PROTOCOL}" in attachment.problem
        # no front uses the old set: it ends after GRACE_S
        await until_async(lambda: attachment.connected, "our own set")
        assert attachment.hello["protocol"] == PROTOCOL
        await attachment.close()

    asyncio.run(front())
    assert old.wait(BOUND_S) == 0


def test_without_start_no_set_starts_and_the_problem_gives_the_reason(config: Config) -> None:
    async def front() -> None:
        attachment = await attach.attach(config, start=False)
        assert "cortex up" in attachment.problem
        assert not attachment.connected
        await attachment.close()

    asyncio.run(front())
    assert not processes_of(config.root)


def test_a_supervisor_that_cannot_run_is_reported_in_one_sentence(
    spawn_tiny: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = attach.spec_of

    def elsewhere(config: Config, *, idle_exit: bool) -> SetSpec:
        return dataclasses.replace(tiny(config, idle_exit=idle_exit), runtime_dir="/nowhere")

    monkeypatch.setattr(attach, "spec_of", elsewhere)
    with pytest.raises(Unavailable, match=r"cannot be started: .*/nowhere"):
        asyncio.run(attach.attach(spawn_tiny))


@pytest.mark.parametrize("name", ["supervisor.sock", "set.lock", "text.0.lock"])
def test_a_folder_in_the_place_of_a_socket_or_lock_prevents_no_start(spawn_tiny: Config, name: str) -> None:
    (spawn_tiny.runtime_dir / name / "inner").mkdir(parents=True)

    async def start() -> None:
        attachment = await attach.attach(spawn_tiny)
        assert attachment.connected
        await attachment.close()

    asyncio.run(start())
