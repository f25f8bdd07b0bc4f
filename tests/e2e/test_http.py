"""`cortex serve` as a process: a set that is killed under many askers, the bridge, the end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import subprocess
import urllib.error
import urllib.request

import orjson
import psutil
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.e2e.conftest import BIN
from tests.waiting import BOUND_S, until

TOKEN = "a-token-of-this-test"
#: bytes that the server may have at rest
AT_REST_MAX = 90 << 20


def ask(url, query):
    """(status, Retry-After, the files of the hits)."""
    body = orjson.dumps({"query": query})
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{url}/v1/search", body, headers), timeout=BOUND_S
        ) as reply:
            return reply.status, None, [hit["file"] for hit in orjson.loads(reply.read())["hits"]]
    except urllib.error.HTTPError as error:
        error.read()
        return error.code, error.headers["Retry-After"], []


def test_a_server_outlives_its_set_bridges_standard_input_and_ends_when_it_is_told_to(project, monkeypatch):
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
    server = project.spawn(
        "serve",
        *("--project", str(project.root), "--port", "0"),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        url = next(line for line in server.stderr if b" on http://" in line).decode().split()[-1]
        assert psutil.Process(server.pid).memory_info().rss <= AT_REST_MAX
        until(lambda: ask(url, "check_password")[2][:1] == ["auth/login.py"], "the project is served")

        with concurrent.futures.ThreadPoolExecutor(50) as askers:
            asked = [askers.submit(ask, url, "check_password") for _ in range(100)]
            for member in project.members().values():
                os.kill(member["pid"], signal.SIGKILL)
            os.kill(project.status()["pid"], signal.SIGKILL)
            told = [one.result() for one in asked]
        assert {status for status, _, _ in told} <= {200, 503, 504}
        assert all(again for status, again, _ in told if status != 200)
        until(lambda: ask(url, "check_password")[2][:1] == ["auth/login.py"], "it is right again")

        assert asyncio.run(asyncio.wait_for(bridged(project, url), BOUND_S))
        server.send_signal(signal.SIGTERM)
        assert server.wait(BOUND_S) == 0
    finally:
        server.kill()
        server.wait()
        server.stderr.close()
    project.nothing_left()


async def bridged(project, url):
    """What a search through `cortex mcp --server` finds."""
    environment = project.environment | {"CORTEX_TOKEN": TOKEN}
    parameters = StdioServerParameters(
        command=str(BIN / "cortex"), args=["mcp", "--server", url], env=environment, cwd=str(project.root)
    )
    with (project.root.parent / "bridge.log").open("a") as log:
        async with stdio_client(parameters, errlog=log) as streams, ClientSession(*streams) as session:
            await session.initialize()
            result = await session.call_tool("cortex_exact", {"query": "check_password"})
            return orjson.loads(result.content[0].text)["results"]
