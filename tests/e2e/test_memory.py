"""Memory that programs and agents share: one owner of the store, whichever process dies or
starts.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from cortex.ask.memory import Caller
from cortex.front.memory_link import MemoryLink
from cortex.memory import Cortex
from cortex.memory.store.database import LOCK, Database
from cortex.processes import attach
from cortex.settings.config import load_data
from cortex.system.errors import BadRequest, Misconfigured, NotFound, Unavailable
from tests import forked_commands
from tests.left_processes import processes_of, wait_for_end
from tests.wait_until import BOUND_S, LOOK_S, until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A new data folder, made once."""
    folder = tmp_path_factory.mktemp("new")
    Database(folder).close()
    (folder / LOCK).unlink()
    return folder


@pytest.fixture
def data(new, tmp_path, monkeypatch):
    """A person's data folder with a short path to its sockets; its set ends with the test."""
    short = tempfile.mkdtemp(prefix="cx", dir="/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", short)
    monkeypatch.setenv("CORTEX_SERVER_IDLE_EXIT_S", "0")
    folder = shutil.copytree(new, tmp_path / "data", copy_function=shutil.copy)
    monkeypatch.setenv("CORTEX_MEMORY_DATA_DIR", str(folder))
    yield folder
    attach.stop(load_data())
    try:
        wait_for_end(folder)
    finally:
        for process in processes_of(folder):
            process.kill()
        shutil.rmtree(short)


def test_the_first_call_waits_beyond_its_deadline_for_a_set_that_is_starting(data):
    async def store():
        link = MemoryLink(load_data)
        try:
            context = link.context(time.monotonic(), Caller)
            return await context.call("store", {"title": "The port is 8080"}, writes=True)
        finally:
            await link.close()

    assert asyncio.run(store())["number"] == 1


def member():
    """Return the worker of the memory set, as its supervisor lists it; {} without one."""
    return next(iter(attach.set_status(load_data())["processes"]), {})


def test_a_program_attaches_to_the_set_which_starts_with_its_first_call(data):
    with Cortex.open(project="here") as memory:
        assert not processes_of(data)
        stored = memory.store("Retries use exponential back-off with jitter", kind="decision")
        assert member()["state"] == "running"
        with Cortex.open(data, project="here") as other:
            assert other.recall("how do we retry?")[0]["id"] == stored["id"]
            assert attach.set_status(load_data())["fronts"] == 2
    wait_for_end(data)
    with Cortex.open(project="here") as memory:
        assert memory.node(stored["id"])["title"].startswith("Retries")


def test_sessions_are_read_by_the_set_as_they_go_on(data, tmp_path, monkeypatch):
    shop, folder = tmp_path / "shop", tmp_path / "claude" / "projects" / "-shop"
    shop.mkdir()
    folder.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))

    def say(text):
        entry = {"type": "user", "sessionId": "s1", "cwd": str(shop), "message": {"content": text}}
        with (folder / "s1.jsonl").open("a") as file:
            file.write(json.dumps(entry | {"timestamp": f"2026-03-01T10:00:0{len(text) % 10}Z"}) + "\n")

    say("why do retries use jitter?")
    with Cortex.open(project=shop) as memory:

        def search(query):
            return memory.call("search_sessions", {"query": query}, writes=False)["results"]

        memory.call("past_sessions", {"answer": "yes"}, writes=True)
        until(lambda: search("retries jitter"), "what was said before is found")
        say("remember that staging runs Postgres 15")
        until(lambda: search("staging Postgres"), "what is said goes on")
        until(lambda: memory.call("candidates", {}, writes=False)["candidates"], "a sentence is proposed")
        assert memory.recall("which Postgres is on staging") == []
        states = {
            process["name"]: process["state"] for process in attach.set_status(load_data())["processes"]
        }
        assert states == {"memory": "running", "sessions": "running"}


WRITER = """
import sys
from cortex.memory import Cortex

with Cortex.open(project="here") as memory:
    for number in range(int(sys.argv[2])):
        memory.store(f"{sys.argv[1]} wrote {number}")
"""


def write_beside(name, count):
    return subprocess.Popen([sys.executable, "-P", "-c", WRITER, name, str(count)])


def test_an_embedded_store_serves_others_and_hands_over_when_it_is_closed(data):
    with Cortex.open(project="here", embedded=True) as memory:
        memory.store("told by the one that embeds it")
        with pytest.raises(Misconfigured, match=f"served by process {os.getpid()} already"):
            Cortex.open(embedded=True)
        other = write_beside("another program", 20)
        for number in range(20):
            memory.store(f"embedded wrote {number}")
        assert other.wait(BOUND_S) == 0
        assert memory.stats()["node_count"] == 41
    with Cortex.open(project="here") as memory:
        assert memory.stats()["node_count"] == 41
        with pytest.raises(Misconfigured, match="attaches to that one"):
            Cortex.open(embedded=True)


@pytest.mark.parametrize("embedded", [False, True])
def test_all_methods_are_the_same_attached_and_embedded(data, embedded):
    with Cortex.open(project="here", embedded=embedded) as memory:
        first_note_stored = memory.store(
            "Retries use back-off", tags=("network",), files=["a.py"], metadata={"k": 1}
        )
        two = memory.store("The provider limits us", kind="fact", scope="global")
        assert memory.relate(two["id"], first_note_stored["id"], "causes")["id"]
        assert memory.edit(first_note_stored["id"], body="with jitter")["id"] == first_note_stored["id"]
        assert memory.node(first_note_stored["id"])["body"] == "with jitter"
        assert [row["id"] for row in memory.search("how do retries back off", limit=1)] == [
            first_note_stored["id"]
        ]
        assert [row["id"] for row in memory.recall("how do retries back off", limit=1)] == [
            first_note_stored["id"]
        ]
        assert memory.traverse(first_note_stored["id"])["nodes"]
        assert "Retries" in memory.briefing()["briefing"]
        assert memory.timeline()
        memory.forget(two["id"])
        assert memory.stats()["node_count"] == 1
        memory.undo()
        assert memory.stats()["node_count"] == 2
        with pytest.raises(BadRequest, match="There is no argument `colour`"):
            memory.store("x", colour="red")
        with pytest.raises(NotFound):
            memory.node("nothing")
    with pytest.raises(Unavailable, match="was closed"):
        memory.stats()


def store(memory, title):
    """Store a note, under the same number until it is answered, as the error's sentence demands."""
    number, deadline = str(uuid.uuid4()), time.monotonic() + BOUND_S
    while True:
        try:
            return memory.store(title, operation_id=number)
        except Unavailable as error:
            message = str(error)
            assert time.monotonic() < deadline, message
            assert number in message or "does not answer" in message or "started" in message
        time.sleep(LOOK_S)


def test_every_acknowledged_write_is_there_once_although_the_worker_is_killed_again_and_again(data):
    kills, writers, stored = 5, 4, []
    stop = threading.Event()

    def write(name):
        with Cortex.open(project="here") as memory:
            while not stop.is_set():
                stored.append(store(memory, f"{name} wrote {time.monotonic_ns()}"))

    def goes_on():
        before = len(stored)
        until(lambda: len(stored) >= before + writers, "writes go on")

    threads = [threading.Thread(target=write, args=(f"writer {n}",)) for n in range(writers)]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        goes_on()
        os.kill(until(lambda: member().get("pid"), "a worker"), signal.SIGKILL)
    goes_on()
    assert member()["restarts"] == kills
    stop.set()
    for thread in threads:
        thread.join(BOUND_S)
    with Cortex.open(project="here") as memory:
        assert memory.stats()["node_count"] == len(stored)
    assert not [answer for answer in stored if "deduplicated" in answer]  # repeated requests


def running(project):
    return attach.set_status(project.config.data)["running"]


async def first_note(front, title):
    """Make the first call, which makes the store: if that takes long, the answer is to try
    again.
    """
    async with asyncio.timeout(BOUND_S):
        while True:
            try:
                return await front.call("cortex_store", title=title)
            except MCPError as error:
                if "sk again" not in str(error):
                    raise
            await asyncio.sleep(LOOK_S)


def test_a_code_search_starts_no_memory_process_and_the_first_memory_call_does(project):
    async def day():
        async with project.front() as front:
            await front.until_found("jitter", "docs/guide.md")
            assert not running(project)
            assert not project.config.data.root.exists()
            stored = await first_note(front, "Retries use exponential back-off with jitter")
            assert running(project)
            assert [process["name"] for process in attach.set_status(project.config.data)["processes"]] == [
                "memory",
                "sessions",
            ]
        async with project.front() as front:
            recalled = await front.call("cortex_recall", query="how do we back off before we retry?")
            assert recalled["results"][0]["id"] == stored["id"]
            assert project.run("down").returncode == 0
            assert running(project)

    asyncio.run(day())
    until(lambda: not running(project), "the memory set ends with its last front")


def test_memory_is_started_shown_and_ended_by_hand_and_the_projects_set_is_not_touched(project):
    assert project.run("memory", "status").returncode == 3
    assert project.run("memory", "up", "--detach").returncode == 0
    worker_status = until(
        lambda: (status := project.run("memory", "status")).returncode == 0 and status.stdout, "the worker"
    )
    assert project.environment["CORTEX_MEMORY_DATA_DIR"] in worker_status
    stored = project.run("memory", "store", "Retries use back-off")
    assert stored.returncode == 0, stored.stderr
    assert not project.status()["running"]
    assert project.run("memory", "down").returncode == 0
    assert not running(project)
    elsewhere = str(project.root.parent / "other")
    assert elsewhere in project.run("memory", "status", "--data-dir", elsewhere).stdout


def test_a_forged_git_reads_and_writes_no_notes_of_the_repository_that_it_names(
    data,
    tmp_path,
    monkeypatch,
):
    monkeypatch.setenv("CORTEX_SERVER_IDLE_EXIT_S", "60")  # it renders briefings after the commands
    for name in ("secretbeta", "pointer/fake", "link"):
        (tmp_path / name).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", tmp_path / "secretbeta"], check=True)
    (tmp_path / "link" / ".git").symlink_to("../secretbeta/.git")
    (tmp_path / "pointer" / ".git").write_text("gitdir: fake")
    (tmp_path / "pointer" / "fake" / "commondir").write_text("../../secretbeta/.git")
    (tmp_path / "pointer" / "fake" / "gitdir").write_text("../.git")

    def memory(project, *command):
        arguments = ["memory", *command, "--project", str(tmp_path / project)]
        done = forked_commands.run(arguments, cwd=Path.cwd(), env=os.environ, timeout=BOUND_S)
        return done.stdout + done.stderr

    def briefing(project):
        event = json.dumps({"cwd": str(tmp_path / project)})
        hook = [sys.executable, "-P", "-c", "from cortex.front.hook import main; main()", "session-start"]
        return subprocess.run(
            hook, input=event, capture_output=True, text=True, timeout=BOUND_S, check=True
        ).stdout

    memory("secretbeta", "store", "--kind", "decision", "--title", "BETANOTE is secret", "--body", "here")
    assert "BETANOTE" in memory("secretbeta", "recall", "BETANOTE")
    until(lambda: "BETANOTE" in briefing("secretbeta"), "the briefing is rendered")
    for forged in ("pointer", "link"):
        assert "BETANOTE" not in memory(forged, "recall", "BETANOTE"), forged
        title = f"EVILNOTE from {forged}"
        memory(forged, "store", "--kind", "decision", "--title", title, "--body", "there")
        until(lambda forged=forged, title=title: title in briefing(forged), "its own briefing is rendered")
        assert "BETANOTE" not in briefing(forged), forged
    assert "EVILNOTE" not in briefing("secretbeta")
    assert "EVILNOTE" not in memory("secretbeta", "recall", "EVILNOTE")
