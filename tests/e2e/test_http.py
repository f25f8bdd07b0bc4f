"""`cortex serve` as a process: a set that is killed under many askers, the bridge, the end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
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
#: bytes that the server may have at rest
AT_REST_MAX = 90 << 20
#: who asks at the same time
ASKERS = 50
#: what one who asks may be told while the set is being made again
TOLD = {200, 503, 504}


@dataclass
class Serving:
    process: subprocess.Popen[bytes]
    #: what it has said when it began to listen
    said: list[str]

    @property
    def url(self) -> str:
        return self.said[-1].split()[-1]

    def ask(self, path, body=None):
        """(status, Retry-After, answer)."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        asked = urllib.request.Request(
            f"{self.url}{path}", None if body is None else orjson.dumps(body), headers
        )
        try:
            with urllib.request.urlopen(asked, timeout=BOUND_S) as reply:
                return reply.status, None, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Retry-After"], error.read()

    def search(self):
        """(status, Retry-After, answer)."""
        status, again, raw = self.ask("/v1/search", {"query": "check_password"})
        return status, again, orjson.loads(raw)

    def whole(self):
        """Whether every worker answers, of everything there is."""
        status, _, answer = self.search()
        if status != 200 or best(answer) != "auth/login.py":
            return False
        return not answer["index"]["degraded"] and not answer["index"].get("pending_count")

    def answering(self):
        """How many are being answered, beside who asks that."""
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
def serving(project, monkeypatch, *more) -> Iterator[Serving]:
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
    process = project.spawn(
        "serve",
        *("--project", str(project.root), "--port", "0", *more),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        said = []
        while not said or " on http://" not in said[-1]:
            line = process.stderr.readline().decode()
            assert line, said
            said.append(line.rstrip("\n"))
        yield Serving(process, said)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def served(project, monkeypatch) -> Iterator[Serving]:
    with serving(project, monkeypatch) as one:
        yield one


def test_a_set_that_is_killed_under_many_askers_is_told_and_made_again_and_a_bridge_finds_it(project, served):
    assert psutil.Process(served.process.pid).memory_info().rss <= AT_REST_MAX
    until(served.whole, "the project is served")
    status = until(lambda: (found := project.status())["running"] and found, "the set says who it is")
    with concurrent.futures.ThreadPoolExecutor(ASKERS) as askers:
        asked = [askers.submit(served.search) for _ in range(2 * ASKERS)]
        for one in (status, *status["processes"]):
            os.kill(one["pid"], signal.SIGKILL)
        told = [one.result() for one in asked]
    assert {status for status, _, _ in told} <= TOLD
    assert all(again for status, again, _ in told if status != 200)
    assert all(best(answer) == "auth/login.py" for status, _, answer in told if status == 200)
    until(served.whole, "it is whole again")
    assert asyncio.run(asyncio.wait_for(bridged(project, served.url), BOUND_S))
    status = until(lambda: (found := project.status())["running"] and found, "the set says who it is")
    assert {told[:2] for told in without_workers(status, served)} == {(503, "1")}
    until(served.whole, "the workers are there again")


def test_a_folder_of_an_indexed_project_is_served_with_all_of_its_project_which_is_said(project, monkeypatch):
    done = project.run("index")
    assert done.returncode == 0, done.stderr
    part = replace(project, root=project.root / "auth")
    with serving(part, monkeypatch) as one:
        until(one.whole, "all of the project is served, by paths from its root")
    assert one.said[0] == (
        f"cortex: {part.root} is a part of {project.root} and has its index. All of that is served."
    )
    assert one.said[-1].startswith(f"cortex: serving {project.root} on ")


def test_a_server_that_is_told_to_end_answers_what_it_was_asked(project, served):
    until(served.whole, "the project is served")
    text = project.member("text")["pid"]
    with concurrent.futures.ThreadPoolExecutor(1) as asker:
        os.kill(text, signal.SIGSTOP)
        asked = asker.submit(served.ask, "/v1/tools/cortex_exact", {"query": "check_password"})
        until(served.answering, "the call is being answered")
        served.process.send_signal(signal.SIGTERM)
        until(lambda: not served.listens(), "nobody else is let in")
        os.kill(text, signal.SIGCONT)
        status, _, raw = asked.result()
    assert (status, len(orjson.loads(raw)["results"])) == (200, 1)
    assert served.process.wait(BOUND_S) == 0
    project.nothing_left()


def test_a_server_in_the_set_is_named_opens_the_page_and_ends_with_it(project, monkeypatch):
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
    assert project.run("up", "--detach", "--http").returncode == 0
    link = project.run("open", "--print").stdout.strip()  # at once: it waits for what is being started
    served = orjson.loads(project.run("status", "--json").stdout)["http"]
    assert project.member("http")["state"] == "running"
    assert served
    assert link.startswith(served)
    with urllib.request.urlopen(link, timeout=BOUND_S) as reply:
        assert "HttpOnly" in reply.headers["Set-Cookie"]
    assert project.run("down").returncode == 0
    project.nothing_left()
    assert "cortex serve" in project.run("open", "--print").stderr


def without_workers(status, served):
    """What those are told who ask while every worker is dead and nobody makes another."""
    os.kill(status["pid"], signal.SIGSTOP)
    try:
        for one in status["processes"]:
            os.kill(one["pid"], signal.SIGKILL)
        with concurrent.futures.ThreadPoolExecutor(ASKERS) as askers:
            return [asked.result() for asked in [askers.submit(served.search) for _ in range(ASKERS)]]
    finally:
        os.kill(status["pid"], signal.SIGCONT)


def best(answer):
    return answer["hits"][0]["file"] if answer["hits"] else None


async def bridged(project, url):
    """What a search through `cortex mcp --server` finds."""
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
