"""A newcomer's two commands, for each agent's format: one connects the agent, and the entry that it
wrote, started as the agent does, answers a query.
"""

from __future__ import annotations

import asyncio
import os
import subprocess

import orjson
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from cortex.front.agents import connections
from cortex.front.agents.table import AGENTS
from tests.e2e.conftest import BIN, CALL_S

pytestmark = pytest.mark.e2e

#: one agent for each format of entries; tests/front/test_install.py checks the entry of each agent
FORMATS = {
    (scope.server.form, scope.server.shape, agent.placeless): (agent.name, way)
    for way in ("--project", "--user")
    for agent in reversed(AGENTS)
    if (scope := agent.user if way == "--user" else agent.project)
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home folder, for this process and its children."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


async def first_answer(command, folder, env):
    """Return the first files that the server finds, started by the agent in the folder."""
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=env, cwd=folder)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        async with asyncio.timeout(3 * CALL_S):
            while True:  # the first answers may be of an index that is still being made
                answer = await session.call_tool(
                    "cortex_exact", {"query": "check_password", "format": "json"}
                )
                if results := orjson.loads(answer.content[0].text)["results"]:
                    return [hit["chunk"]["metadata"]["file_path"] for hit in results]
                await asyncio.sleep(0.1)


def test_the_configuration_of_an_installed_agent_starts_a_server_that_answers(shared_project, home):
    """Entries with the same command start the same server: it is started once."""
    env = os.environ | shared_project.environment
    env.pop("XDG_CONFIG_HOME")
    for way in {way for _, way in FORMATS.values()}:
        names = [agent for agent, its_way in FORMATS.values() if its_way == way]
        subprocess.run(
            [BIN / "cortex", "install", *names, way, "--yes"],
            cwd=shared_project.root,
            env=env,
            check=True,
            timeout=3 * CALL_S,
        )
    entries = connections.entries(shared_project.root)
    assert sorted(entry.agent.name for entry in entries) == sorted(agent for agent, _ in FORMATS.values())
    servers = {
        (entry.command, home if entry.agent.placeless else shared_project.root): entry.agent.name
        for entry in entries
    }
    for (command, folder), agent in servers.items():
        assert asyncio.run(first_answer(command, folder, env)) == ["auth/login.py"], agent
