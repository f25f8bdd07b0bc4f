"""`cortex serve` as a process: a set that is killed under many clients, the bridge, the end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import os
import resource
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import orjson
import psutil
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.e2e.conftest import BIN
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

TOKEN = "a-token-of-this-test"
#: bytes that an idle server may have
AT_REST_MAX = 90 << 20
#: clients at the same time
ASKERS = 50
#: statuses that a client may get while the set restarts
EXPECTED_STATUSES = {200, 503, 504}


@dataclass
class Serving:
    process: subprocess.Popen[bytes]
    #: lines that it has printed when it began to listen
    log_lines: list[str]

    @property
    def url(self) -> str:
        return self.log_lines[-1].split()[-1]

    def ask(self, path, body=None):
        """Return (status, Retry-After, answer)."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self.url}{path}", None if body is None else orjson.dumps(body), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=BOUND_S) as reply:
                return reply.status, None, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Retry-After"], error.read()

    def search(self):
        """Return (status, Retry-After, answer)."""
        status, retry_after, raw = self.ask("/v1/search", {"query": "check_password"})
        return status, retry_after, orjson.loads(raw)

    def is_complete(self):
        """Return whether every worker answers, from the whole index."""
        status, _, answer = self.search()
        if status != 200 or best_file(answer) != "auth/login.py":
            return False
        return not answer["index"]["degraded"] and not answer["index"].get("pending_count")

    def answering(self):
        """Return how many requests are being answered, without this one."""
        line = next(
            line
            for line in self.ask("/metrics")[2].splitlines()
            if b'cortex_requests{state="answering"}' in line
        )
        return float(line.split()[-1]) - 1

    def listens(self):
        place = urlsplit(self.url)
        with contextlib.suppress(OSError), socket.create_connection((place.hostname, place.port), BOUND_S):
            return True
        return False


@contextlib.contextmanager
def serving(project, monkeypatch, *more, open_files=0) -> Iterator[Serving]:
    """`open_files`: the limit of the server's open files, 0 for the usual one."""
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
    process = project.spawn(
        "serve",
        *("--project", str(project.root), "--port", "0", *more),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (open_files, open_files))
        if open_files
        else None,
    )
    try:
        log_lines = []
        while not log_lines or " on http://" not in log_lines[-1]:
            line = process.stderr.readline().decode()
            assert line, log_lines
            log_lines.append(line.rstrip("\n"))
        yield Serving(process, log_lines)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def served(project, monkeypatch) -> Iterator[Serving]:
    with serving(project, monkeypatch) as server:
        yield server


def test_a_set_killed_under_many_requests_is_reported_and_replaced_and_a_bridge_finds_it(project, served):
    assert psutil.Process(served.process.pid).memory_info().rss <= AT_REST_MAX
    until(served.is_complete, "the project is served")
    status = until(lambda: (current := project.status())["running"] and current, "the set says who it is")
    with concurrent.futures.ThreadPoolExecutor(ASKERS) as askers:
        pending = [askers.submit(served.search) for _ in range(2 * ASKERS)]
        # the server itself is listed, too
        for pid in {process["pid"] for process in (status, *status["processes"])} - {served.process.pid}:
            os.kill(pid, signal.SIGKILL)
        answers = [future.result() for future in pending]
    assert {status for status, _, _ in answers} <= EXPECTED_STATUSES
    assert all(retry_after for status, retry_after, _ in answers if status != 200)
    assert all(best_file(answer) == "auth/login.py" for status, _, answer in answers if status == 200)
    until(served.is_complete, "it is whole again")
    assert asyncio.run(asyncio.wait_for(search_through_bridge(project, served.url), BOUND_S))
    status = until(lambda: (current := project.status())["running"] and current, "the set says who it is")
    assert {response[:2] for response in ask_without_workers(status, served)} == {(503, "1")}
    until(served.is_complete, "the workers are there again")


def test_a_storm_of_connections_without_a_token_with_few_open_files_keeps_nobody_out(project, monkeypatch):
    with (
        serving(project, monkeypatch, open_files=256) as server,
        contextlib.ExitStack() as stack,
    ):
        place = urlsplit(server.url)
        for number in range(600):
            line = stack.enter_context(socket.create_connection((place.hostname, place.port), BOUND_S))
            with contextlib.suppress(ConnectionError):
                line.sendall(b"GET /health HTTP/1.1\r\nX-a: " if number % 2 else b"")
        assert server.ask("/v1/tools")[0] == 200


def test_serving_a_subfolder_serves_its_whole_project_and_says_so(project, monkeypatch):
    done = project.run("index")
    assert done.returncode == 0, done.stderr
    subfolder = replace(project, root=project.root / "auth")
    with serving(subfolder, monkeypatch) as server:
        until(server.is_complete, "all of the project is served, by paths from its root")
    assert server.log_lines[0] == (
        f"cortex: {subfolder.root} is a part of {project.root} and has its index. All of that is served."
    )
    assert server.log_lines[-1].startswith(f"cortex: serving {project.root} on ")


def test_a_terminated_server_answers_its_pending_requests(project, served):
    until(served.is_complete, "the project is served")
    text = project.member("text")["pid"]
    with concurrent.futures.ThreadPoolExecutor(1) as asker:
        os.kill(text, signal.SIGSTOP)
        pending = asker.submit(served.ask, "/v1/tools/cortex_exact", {"query": "check_password"})
        until(served.answering, "the call is being answered")
        served.process.send_signal(signal.SIGTERM)
        until(lambda: not served.listens(), "nobody else is let in")
        os.kill(text, signal.SIGCONT)
        status, _, raw = pending.result()
    assert (status, len(orjson.loads(raw)["results"])) == (200, 1)
    assert served.process.wait(BOUND_S) == 0
    project.nothing_left()


def test_a_server_in_the_set_is_in_its_status_opens_the_page_and_ends_with_the_set(project, monkeypatch):
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
    assert project.run("up", "--detach", "--http").returncode == 0
    link = project.run("open", "--print").stdout.strip()  # it waits for the server
    served = orjson.loads(project.run("status", "--json").stdout)["http"]
    assert project.member("http")["state"] == "running"
    assert served
    assert link.startswith(served)
    with urllib.request.urlopen(link, timeout=BOUND_S) as reply:
        assert "HttpOnly" in reply.headers["Set-Cookie"]
    assert project.run("down").returncode == 0
    project.nothing_left()
    assert "cortex serve" in project.run("open", "--print").stderr


def ask_without_workers(status, served):
    """Check the answers to clients while every worker is dead and nobody starts another."""
    os.kill(status["pid"], signal.SIGSTOP)
    try:
        for pid in {process["pid"] for process in status["processes"]} - {served.process.pid}:
            os.kill(pid, signal.SIGKILL)
        with concurrent.futures.ThreadPoolExecutor(ASKERS) as askers:
            return [pending.result() for pending in [askers.submit(served.search) for _ in range(ASKERS)]]
    finally:
        os.kill(status["pid"], signal.SIGCONT)


def best_file(answer):
    return answer["hits"][0]["file"] if answer["hits"] else None


async def search_through_bridge(project, url):
    """Return the hits of a search through `cortex mcp --server`."""
    parameters = StdioServerParameters(
        command=str(BIN / "cortex"),
        args=["mcp", "--server", url],
        env=project.environment | {"CORTEX_TOKEN": TOKEN},
        cwd=str(project.root),
    )
    with (project.root.parent / "bridge.log").open("a") as log:
        async with stdio_client(parameters, errlog=log) as streams, ClientSession(*streams) as session:
            await session.initialize()
            result = await session.call_tool("cortex_exact", {"query": "check_password"})
            return orjson.loads(result.content[0].text)["results"]
