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
    (scope.server.form, scope.server.shape, agent.placeless): pytest.param(agent.name, way, id=agent.name)
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


@pytest.mark.parametrize(("agent", "way"), FORMATS.values())
def test_the_configuration_of_an_installed_agent_starts_a_server_that_answers(
    agent, way, shared_project, home
):
    env = os.environ | shared_project.environment
    env.pop("XDG_CONFIG_HOME")
    subprocess.run(
        [BIN / "cortex", "install", agent, way, "--yes"],
        cwd=shared_project.root,
        env=env,
        check=True,
        timeout=3 * CALL_S,
    )
    [entry] = (
        candidate for candidate in connections.entries(shared_project.root) if candidate.agent.name == agent
    )
    folder = home if entry.agent.placeless else shared_project.root
    assert asyncio.run(first_answer(entry.command, folder, env)) == ["auth/login.py"]
