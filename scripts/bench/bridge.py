"""A benchmark of the cost of `cortex mcp --server` for a call, above the SDK's own transports.

    scripts/bench/bridge.py [--files 200] [--runs 300] [--connects 1000] [--json]

Every case calls `cortex_exact` for one name, through the official client, one call after another:
over standard input and output, over Streamable HTTP, and through the bridge to the same server. The
floor is a server of the SDK with a tool that answers at once, over Streamable HTTP. Then the
server's memory when idle (PSS); and the remains of so many connections that search and leave:
descriptors, threads, memory, running requests.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
from latency import KEYWORDS, write_project
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from product import CORTEX, NOWHERE, RunningServer, run_server, scratch_project, wait_until_indexed
from report import Figures, add_json, begin, print_figures, print_machine, print_table, summarise, write

#: calls before measuring
WARM = 30
#: connections before measuring; seconds until the remains must be gone
CONNECTS_WARM, LEFT_S = 200, 20.0


@contextlib.asynccontextmanager
async def by_stdio(arguments: list[str]) -> AsyncIterator[ClientSession]:
    """Open a client session of `cortex` with these arguments."""
    environment = {name: value for name, value in os.environ.items() if name.startswith(("CORTEX_", "XDG_"))}
    parameters = StdioServerParameters(
        command=CORTEX, args=arguments, env=environment | {"PATH": os.environ["PATH"]}
    )
    with NOWHERE.open("w") as nowhere:
        async with stdio_client(parameters, errlog=nowhere) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield session


@contextlib.asynccontextmanager
async def by_http(url: str, token: str) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60.0) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        yield session


async def time_calls(session: ClientSession, runs: int, tool: str = "cortex_exact") -> list[float]:
    took = []
    for number in range(WARM + runs):
        query: dict[str, Any] = {"query": KEYWORDS[number % 8], "limit": 3, "detail": "location"}
        began = time.perf_counter()
        await session.call_tool(tool, query)
        took.append(time.perf_counter() - began)
    return took[WARM:]


async def measure(root: Path, server: RunningServer, floor: str, runs: int) -> list[Figures]:
    """Return a row for each way; bridge and HTTP take turns, so that both have the same
    conditions.
    """
    rows = []
    async with by_http(floor, "none") as session:
        rows.append(summarise("the SDK's HTTP alone", await time_calls(session, runs, "nothing")))
    async with by_stdio(["mcp", "--project", str(root)]) as session:
        rows.append(summarise("standard input and output", await time_calls(session, runs)))
    os.environ["CORTEX_TOKEN"] = server.token
    async with (
        by_http(f"{server.url}/mcp", server.token) as direct,
        by_stdio(["mcp", "--server", server.url]) as bridge,
    ):
        first, second = [], []
        for _ in range(3):
            first += await time_calls(direct, runs // 3)
            second += await time_calls(bridge, runs // 3)
    return [*rows, summarise("Streamable HTTP", first), summarise("through the bridge", second)]


@contextlib.contextmanager
def floor_server() -> Any:
    """Start a server of the SDK that answers at once, in a separate process; yield its URL."""
    code = (
        "import sys\nfrom mcp.server.mcpserver import MCPServer\nserver = MCPServer('floor')\n"
        "@server.tool()\ndef nothing(query: str, limit: int, detail: str) -> str:\n    return query\n"
        "server.run('streamable-http', port=int(sys.argv[1]))\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = psutil.Popen(
        [sys.executable, "-c", code, str(port)], stdout=NOWHERE.open("w"), stderr=NOWHERE.open("w")
    )
    try:
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def connect_and_leave(server: RunningServer, connects: int) -> Figures:
    """Open connections that send a search and close without reading; return the remains."""
    address = urlsplit(server.url)
    assert address.hostname is not None
    body = b'{"query": "session"}'
    question = (
        f"POST /v1/search HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {server.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body

    def go(times: int) -> None:
        for _ in range(times):
            with socket.create_connection((address.hostname, address.port), 10.0) as line:
                line.sendall(question)

    process = psutil.Process(server.pid)
    go(CONNECTS_WARM)
    _wait_for_quiet(server)
    before = (process.num_fds(), process.memory_full_info().pss, process.num_threads())
    go(connects)
    left = _wait_for_quiet(server)
    after = (process.num_fds(), process.memory_full_info().pss, process.num_threads())
    return {
        f"descriptors before and after {connects} connects": f"{before[0]} → {after[0]}",
        "threads before and after": f"{before[2]} → {after[2]}",
        "MB before and after (PSS)": f"{before[1] / 1e6:.1f} → {after[1] / 1e6:.1f}",
        "requests that are at something after": left,
        "grown": after[0] > before[0] or after[2] > before[2] or bool(left),
    }


def _wait_for_quiet(server: RunningServer) -> int:
    """Return how many requests run once it is quiet, without the one that counts them."""
    until = time.monotonic() + LEFT_S
    while True:
        left = -1
        with contextlib.suppress(urllib.error.HTTPError):  # 429: too many requests wait
            left = _count_requests(server)
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.1)


def _count_requests(server: RunningServer) -> int:
    request = urllib.request.Request(
        f"{server.url}/metrics", headers={"Authorization": f"Bearer {server.token}"}
    )
    with urllib.request.urlopen(request, timeout=10.0) as reply:
        lines = reply.read().decode().splitlines()
    return int(sum(float(line.split()[-1]) for line in lines if line.startswith("cortex_requests{"))) - 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--connects", type=int, default=1_000)
    add_json(parser)
    options = parser.parse_args()
    figures = begin("bridge") | {"files": options.files, "connects": options.connects}
    print_machine(figures)
    with scratch_project() as root, floor_server() as floor:
        write_project(root, options.files * 7, 7)
        with run_server(root) as server:
            resting_mb = psutil.Process(server.pid).memory_full_info().pss / 1e6
            asyncio.run(wait_until_indexed(root))
            rows = asyncio.run(measure(root, server, floor, options.runs))
            after_calls_mb = psutil.Process(server.pid).memory_full_info().pss / 1e6
            left = connect_and_leave(server, options.connects)
    by = {row["case"]: row["p50_ms"] for row in rows}
    costs = {
        "the bridge's own cost, ms (p50)": round(by["through the bridge"] - by["Streamable HTTP"], 2),
        "the server's MB at rest (PSS)": round(resting_mb, 1),
        "after the calls": round(after_calls_mb, 1),
        "load at the end": round(os.getloadavg()[0], 1),
    } | left
    print_table(("case", "runs", "p50 ms", "p95 ms", "p99 ms"), [list(row.values()) for row in rows])
    print_figures(costs)
    if options.json:
        write(figures | {"rows": rows, "costs": costs})
    sys.exit(costs["grown"])


if __name__ == "__main__":
    main()
