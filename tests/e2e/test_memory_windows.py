"""Memory as agents share it, through the official client: what one window stores another finds, in
a linked worktree too, though the worker is killed between; a clone when its person links it.
Nothing is configured.
"""

import asyncio
import json
import os
import signal
import subprocess

import pytest
from mcp import MCPError

from cortex.processes import attach
from cortex.settings.config import load_data
from ipc.errors import EXIT_NOTHING
from tests.waiting import until

TITLE = "Retries use exponential back-off with jitter"
QUESTION = "why do we back off before we try again?"


def git(folder, *arguments):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def person(project, tmp_path, monkeypatch):
    """A project under git of somebody who has never had a memory."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CORTEX_MEMORY_DATA_DIR", raising=False)
    project.environment["HOME"] = str(home)
    del project.environment["CORTEX_MEMORY_DATA_DIR"]
    (project.root / ".git").rmdir()
    git(project.root, "init", "-q")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "all")
    yield project
    attach.stop(load_data())
    data = str(home / ".cortex")

    def left():
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        return [line for line in listed.splitlines() if data in line]

    until(lambda: not left(), "nothing of memory left running")


async def ask(front, tool, **arguments):
    """The answer; while the set is being started it is asked again, under the same number."""
    async with asyncio.timeout(60):
        while True:
            try:
                told = await front.session.call_tool(tool, arguments)
            except MCPError:
                await asyncio.sleep(0.1)
                continue
            assert not told.is_error, told.content
            return json.loads(told.content[0].text)


async def recall(front):
    return [row["title"] for row in (await ask(front, "cortex_recall", query=QUESTION))["results"]]


async def every_tool(front, first):
    """Each of the six, and both resources, as their contract says."""
    second = (await ask(front, "cortex_store", title="The provider allows twenty calls a second"))["id"]
    told = await ask(front, "cortex_relate", from_id=second, to_id=first, relation="causes")
    assert told["message"] == f"Related: The provider allows twenty calls a second → causes → {TITLE}"
    walk = await ask(front, "cortex_traverse", node_id=first, depth=1)
    assert (walk["node_count"], walk["edge_count"], walk["truncated"]) == (2, 1, False)
    [row] = (await ask(front, "cortex_search", query=QUESTION, kind="decision"))["results"]
    assert {"id", "kind", "title", "body", "score", "created_at"} <= set(row)
    assert TITLE in (await ask(front, "cortex_briefing"))["briefing"]
    read = [await front.session.read_resource(f"cortex://{name}") for name in ("stats", f"node/{first}")]
    stats, node = (json.loads(one.contents[0].text) for one in read)
    assert (stats["node_count"], stats["edge_count"], node["title"]) == (2, 1, TITLE)


def test_what_one_window_stores_others_recall_in_every_worktree_although_the_worker_was_killed(
    person, tmp_path
):
    worktree = tmp_path / "elsewhere"
    git(person.root, "worktree", "add", "-q", str(worktree))

    async def store_and_recall():
        async with person.front() as one, person.front() as other:
            stored = await ask(one, "cortex_store", title=TITLE, kind="decision", operation_id="first")
            found = await recall(other)
            await every_tool(other, stored["id"])
            worker, _ = until(lambda: attach.set_status(load_data())["processes"], "the worker")
            os.kill(worker["pid"], signal.SIGKILL)
            return stored, found, await recall(other)

    stored, found, again = asyncio.run(store_and_recall())
    assert stored["message"] == f"Stored: {TITLE}"
    assert found == [TITLE]
    assert again[0] == TITLE

    elsewhere = type(person)(worktree, person.environment)

    async def recall_elsewhere():
        async with elsewhere.front("--data-dir", "~/.cortex/default") as front:  # which is the default
            tools = {tool.name for tool in (await front.session.list_tools()).tools}
            assert {"cortex_store", "cortex_search", "cortex_explore"} <= tools
            return await recall(front)

    assert asyncio.run(recall_elsewhere())[0] == TITLE
    attach.stop(elsewhere.config)

    clone = type(person)(tmp_path / "clone", person.environment)
    git(tmp_path, "clone", "-q", str(person.root), str(clone.root))
    assert clone.run("memory", "recall", QUESTION).returncode == EXIT_NOTHING
    linked = clone.run("memory", "link", str(person.root))
    assert linked.returncode == 0, linked.stderr
    assert TITLE in clone.run("memory", "recall", QUESTION).stdout

    told = person.run("memory", "recall", QUESTION, "--json")
    assert json.loads(told.stdout)["results"][0]["id"] == stored["id"]
    shown = person.run("memory", "show", str(stored["number"]))
    assert shown.returncode == 0
    assert TITLE in shown.stdout
