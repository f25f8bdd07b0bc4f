"""Memory that agents share, through the official client, without any configuration.

A note of one window is found by another, in a linked worktree too, even if the worker is killed
between; in a clone when its person links it.
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
from cortex.system.errors import EXIT_NOTHING
from tests.wait_until import until

TITLE = "Retries use exponential back-off with jitter"
QUESTION = "why do we back off before we try again?"


def git(folder, *arguments):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def person(project, tmp_path, monkeypatch):
    """A project under git of a person without a memory so far."""
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
    """Return the answer; while the set starts, call again under the same number."""
    async with asyncio.timeout(60):
        while True:
            try:
                result = await front.session.call_tool(tool, arguments)
            except MCPError:
                await asyncio.sleep(0.1)
                continue
            assert not result.is_error, result.content
            return json.loads(result.content[0].text)


async def recall(front):
    return [row["title"] for row in (await ask(front, "cortex_recall", query=QUESTION))["results"]]


async def every_tool(front, first):
    """Check each of the six tools, and both resources, against their contract."""
    second = (await ask(front, "cortex_store", title="The provider allows twenty calls a second"))["id"]
    answer = await ask(front, "cortex_relate", from_id=second, to_id=first, relation="causes")
    assert answer["message"] == f"Related: The provider allows twenty calls a second → causes → {TITLE}"
    walk = await ask(front, "cortex_traverse", node_id=first, depth=1)
    assert (walk["node_count"], walk["edge_count"], walk["truncated"]) == (2, 1, False)
    [row] = (await ask(front, "cortex_search", query=QUESTION, kind="decision"))["results"]
    assert {"id", "kind", "title", "body", "score", "created_at"} <= set(row)
    assert TITLE in (await ask(front, "cortex_briefing"))["briefing"]
    read = [await front.session.read_resource(f"cortex://{name}") for name in ("stats", f"node/{first}")]
    stats, node = (json.loads(resource.contents[0].text) for resource in read)
    assert (stats["node_count"], stats["edge_count"], node["title"]) == (2, 1, TITLE)


def test_notes_of_one_window_are_recalled_in_every_worktree_although_the_worker_was_killed(person, tmp_path):
    worktree = tmp_path / "elsewhere"
    git(person.root, "worktree", "add", "-q", str(worktree))

    async def store_and_recall():
        async with person.front() as window, person.front() as other:
            stored = await ask(window, "cortex_store", title=TITLE, kind="decision", operation_id="first")
            before_kill = await recall(other)
            await every_tool(other, stored["id"])
            worker, _ = until(lambda: attach.set_status(load_data())["processes"], "the worker")
            os.kill(worker["pid"], signal.SIGKILL)
            return stored, before_kill, await recall(other)

    stored, before_kill, after_kill = asyncio.run(store_and_recall())
    assert stored["message"] == f"Stored: {TITLE}"
    assert before_kill == [TITLE]
    assert after_kill[0] == TITLE

    elsewhere = type(person)(worktree, person.environment)

    async def recall_elsewhere():
        async with elsewhere.front("--data-dir", str(load_data().root)) as front:  # the default
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

    recalled = person.run("memory", "recall", QUESTION, "--json")
    assert json.loads(recalled.stdout)["results"][0]["id"] == stored["id"]
    printed = person.run("memory", "show", str(stored["number"]))
    assert printed.returncode == 0
    assert TITLE in printed.stdout


class Agent:
    """An agent with the default tools of memory only."""

    TOOLS = frozenset(
        "cortex_store cortex_search cortex_recall cortex_briefing cortex_traverse cortex_relate search timeline "
        "get_observation search_sessions".split()
    )

    def __init__(self, front):
        self.front, self.used = front, set()

    async def __call__(self, tool, **arguments):
        assert tool in self.TOOLS
        self.used.add(tool)
        return await ask(self.front, tool, **arguments)

    async def until_found(self, tool, **arguments):
        """Return the best result, as soon as there is any."""
        async with asyncio.timeout(60):
            while not (rows := (await self(tool, **arguments))["results"]):
                await asyncio.sleep(0.1)
            return rows[0]


async def work(agent):
    """Work in one window: store notes, correct one, connect two."""
    assert TITLE not in (await agent("cortex_briefing"))["briefing"]
    first = await agent("cortex_store", title=TITLE, kind="decision", files=["docs/guide.md"], importance=0.9)
    second = await agent("cortex_store", title="The provider allows ten calls a second")
    await agent("cortex_store", id=second["id"], title="The provider allows twenty calls a second")
    await agent("cortex_relate", from_id=second["id"], to_id=first["id"], relation="causes")
    return first


async def go_on(agent, first, person):
    """Check that another window has these notes, and later messages."""
    assert TITLE in (await agent("cortex_briefing"))["briefing"]
    assert (await agent("cortex_recall", query=QUESTION))["results"][0]["id"] == first["id"]
    walk = await agent("cortex_traverse", node_id=first["id"], depth=1)
    assert [node["title"] for node in walk["nodes"]][1:] == ["The provider allows twenty calls a second"]
    [row] = (await agent("cortex_search", query=QUESTION, scope="memory", kind="decision"))["results"]
    assert row["id"] == first["id"]

    assert (await asyncio.to_thread(person.run, "memory", "past-sessions", "yes")).returncode == 0
    exchange = await agent.until_found("search_sessions", query="timeout of the upload")
    observation = await agent("get_observation", id=exchange["exchange_id"])
    assert "The proxy cuts it off after a minute." in observation["narrative"]
    assert observation["files_modified"] == [str(exchange["project_path"]) + "/docs/guide.md"]
    assert (await asyncio.to_thread(person.run, "memory", "candidates", "--take", "all")).returncode == 0
    noted = await agent.until_found("search", query="which Postgres runs on staging?")
    note = await agent("get_observation", id=str(noted["id"]))
    assert (note["trust"], note["metadata"]["session"], note["prompt_number"]) == ("user", exchange["id"], 2)
    changed = await agent.until_found("search", files="docs/guide.md", concepts="files-changed")
    timeline = await agent("timeline", anchor_id=str(changed["id"]), before=2, after=2)
    assert [row["id"] for row in timeline["results"] if row.get("anchor")] == [changed["id"]]
    assert [session["id"] for session in timeline["sessions"]] == [exchange["id"]]


def test_an_agent_with_the_ten_default_tools_learns_recalls_and_reads_sessions(person, tmp_path, monkeypatch):
    folder = tmp_path / "claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    person.environment["CLAUDE_CONFIG_DIR"] = str(tmp_path / "claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    edit = {"type": "tool_use", "name": "Edit", "input": {"file_path": f"{person.root}/docs/guide.md"}}
    base = {"sessionId": "s1", "cwd": str(person.root), "gitBranch": "main"}
    lines = [
        ("user", "why does the upload run into a timeout?"),
        ("assistant", [{"type": "text", "text": "The proxy cuts it off after a minute."}, edit]),
        ("user", "Remember that staging runs Postgres 15."),
    ]
    raw = [
        base
        | {"type": who, "timestamp": f"2026-03-01T10:00:0{at}Z", "message": {"role": who, "content": content}}
        for at, (who, content) in enumerate(lines)
    ]
    (folder / "s1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in raw))

    async def live():
        async with person.front() as window, person.front() as other:
            agents = Agent(window), Agent(other)
            await go_on(agents[1], await work(agents[0]), person)
            assert agents[0].used | agents[1].used == Agent.TOOLS
            offered = {tool.name for tool in (await window.session.list_tools()).tools}
            assert offered >= Agent.TOOLS

    asyncio.run(live())
