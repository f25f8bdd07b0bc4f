"""A newcomer's way: one command connects an agent, and what that wrote down answers a question."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess

import orjson
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.e2e.conftest import BIN, CALL_S

pytestmark = pytest.mark.e2e


def test_an_agent_that_was_installed_for_starts_what_is_written_and_gets_an_answer(project, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    env = os.environ | project.environment | {"HOME": str(home)}
    subprocess.run(
        [BIN / "cortex", "install", "claude-code", "--yes"], cwd=project.root, env=env, check=True, timeout=60
    )
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["cortex"]

    async def ask():
        server = StdioServerParameters(
            command=entry["command"], args=entry["args"], env=env | entry.get("env", {}), cwd=project.root
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            async with asyncio.timeout(3 * CALL_S):
                while True:  # the first answers may be of an index that is still being made
                    told = await session.call_tool("cortex_exact", {"query": "check_password"})
                    if found := orjson.loads(told.content[0].text)["results"]:
                        return found
                    await asyncio.sleep(0.1)

    [hit, *_] = asyncio.run(ask())
    assert hit["chunk"]["metadata"]["file_path"] == "auth/login.py"
