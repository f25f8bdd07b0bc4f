"""No data leaves the machine: all of Cortex without a network, and the connections of its processes
with one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex.processes import attach
from tests.e2e.conftest import FACTS, Project
from tests.e2e.every_tool import ALL, call_every_tool

pytestmark = pytest.mark.e2e

TOKEN = "a-token-of-this-test"
#: switches on the loopback interface of a new network, for requests to `cortex serve`, and becomes
#: a command
LOOP = """
import fcntl, os, socket, struct, sys
with socket.socket() as made:
    fcntl.ioctl(made, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
os.execvp(sys.argv[1], sys.argv[1:])
"""
#: prefix of a command: in a network namespace that has loopback only
ALONE = ("unshare", "--user", "--map-root-user", "--net", sys.executable, "-P", "-c", LOOP)
#: prints why no connection to another machine can be made
REACH = """
import socket
try:
    socket.create_connection(("192.0.2.1", 9), 5)
except OSError as error:
    print(error.strerror)
"""
#: prints the body at an address of `cortex serve`
READ = """
import sys, urllib.request
asked = urllib.request.Request(sys.argv[1], headers={"Authorization": f"Bearer {sys.argv[2]}"})
print(urllib.request.urlopen(asked, timeout=20).read().decode())
"""


def run_alone(*program: str) -> str:
    done = subprocess.run(
        [*ALONE, *program], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.stdout.strip() or done.stderr


@contextlib.contextmanager
def serving(project: Project, *before: str) -> Iterator[tuple[int, str]]:
    """Run `cortex serve`, with the prefix `before`; yield (the process, the address)."""
    process = subprocess.Popen(
        [*before, sys.executable, "-P", "-m", "cortex", "serve", "--port", "0", "--project", project.root],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        url = next(line for line in process.stderr if b" on http://" in line).decode().split()[-1]
        yield process.pid, url
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def read_beside(process: int, url: str) -> str:
    """Return the body at `url`, read in the network namespace of that process."""
    enter = ("nsenter", "--target", str(process), "--user", "--net", "--preserve-credentials")
    done = subprocess.run(
        [*enter, sys.executable, "-c", READ, url, TOKEN], capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr


def talks(process: int) -> bool:
    """Return whether it has an internet socket, in any state, in its network namespace."""
    place = Path("/proc", str(process))
    open_sockets = {
        line.split()[9]
        for table in ("tcp", "tcp6", "udp", "udp6", "udplite", "raw", "raw6", "icmp", "icmp6")
        if (place / "net" / table).exists()
        for line in (place / "net" / table).read_text().splitlines()[1:]
    }
    links = [os.readlink(link) for link in (place / "fd").iterdir()]
    return any(link.removeprefix("socket:[").removesuffix("]") in open_sockets for link in links)


@pytest.fixture
def alone() -> tuple[str, ...]:
    """ALONE, if the kernel lets a user make such a network namespace."""
    error_text = run_alone(sys.executable, "-c", REACH)
    if error_text != "Network is unreachable":
        pytest.skip(f"there is no network namespace to be had here: {error_text}")
    return ALONE


def test_everything_works_without_a_network_and_only_the_http_server_opens_internet_sockets(
    project, alone, monkeypatch
):
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
    source = project.root / "auth" / "login.py"
    text = source.read_text()
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}

    async def ask():
        async with project.front(*ALL, before=alone) as front:
            await front.until_complete()
            source.write_text(text.replace("check_password", "check_ticket"))
            await front.until_found("check_ticket", "auth/login.py")
            source.write_text(text)
            await front.until_found("check_password", "auth/login.py")
            answers, refused = await call_every_tool(front)
            with serving(project, *alone) as (server, url):
                page = read_beside(server, f"{url}/")
                sets = (project.status(), attach.set_status(project.config.data))
                members = {
                    process["pid"]
                    for set_status in sets
                    for process in (set_status, *set_status["processes"])
                } - {0}
                talking = {pid for pid in {front.pid, server} | members if talks(pid)}
            assert len(members) > len(sets)
            assert talking == {server}
            return answers, refused, page

    answers, refused, page = asyncio.run(ask())
    assert not refused
    assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before
    assert not [name for name, answer in answers.items() if answer.get("index", {}).get("degraded")]
    best = answers["cortex_exact"]["results"][0]["chunk"]["metadata"]
    assert best["file_path"] == FACTS["check_password"]
    assert "Sessions are kept for an hour" in [row["title"] for row in answers["cortex_recall"]["results"]]
    assert "<main" in page
    assert project.root.name in page
