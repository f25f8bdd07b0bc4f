"""A set in a sandbox: every tool works; the files and addresses that its processes can reach."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys

import pytest

from cortex.processes import attach, sandbox, starting
from cortex.system.errors import Misconfigured
from tests.e2e.conftest import FACTS
from tests.e2e.every_tool import ALL, call_every_tool
from tests.e2e.test_http import serving
from tests.wait_until import until

pytestmark = pytest.mark.e2e

#: tries to reach each name in a sandbox, and prints the errors; null: it is reachable
TRY = """
import json, os, signal, socket, sys

def opens(path): open(path, "rb").read(1)
def writes(path): open(path, "ab").close()
def makes(path): os.mkdir(path)
def connects(where):
    with socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET) as made:
        made.settimeout(5)
        made.connect(where if isinstance(where, str) else tuple(where))
def signals(number): os.kill(number, 0)
def knows(name): os.environ[name]

told = []
for what, of in json.loads(sys.argv[1]):
    try:
        globals()[what](of)
        told.append(None)
    except (OSError, KeyError) as error:
        told.append(type(error).__name__)
status = open("/proc/self/status").read()
rights = dict(line.split(":\\t") for line in status.splitlines() if line.startswith(("Cap", "NoNew")))
print(json.dumps([told, rights]))
"""


@pytest.fixture
def sandboxed(project, monkeypatch):
    monkeypatch.setenv("CORTEX_SECURITY_SANDBOX", "1")
    try:
        sandbox.check(project.config)
    except Misconfigured as error:
        pytest.skip(str(error))
    return project


def try_in_sandbox(owner, *things):
    """Return (the error for each path or address in the owner's sandbox, the rights of its
    processes).
    """
    starting.open_folders(owner)
    command = sandbox.sandbox_command(owner, [sys.executable, "-P", "-c", TRY, json.dumps(things)])
    done = subprocess.run(
        command, env=sandbox.environment(), capture_output=True, text=True, check=False, cwd="/"
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_every_tool_works_in_a_sandbox_and_a_front_with_a_sandbox_uses_no_other_set(sandboxed, monkeypatch):
    project = sandboxed
    source = project.root / "auth" / "login.py"
    text = source.read_text()

    async def ask():
        async with project.front(*ALL, "--sandbox") as front:
            await front.until_complete()
            source.write_text(text.replace("check_password", "check_ticket"))
            await front.until_found("check_ticket", "auth/login.py")
            source.write_text(text)
            await front.until_found("check_password", "auth/login.py")
            return (*await call_every_tool(front), project.status(), attach.set_status(project.config.data))

    answers, refused, *sets = asyncio.run(ask())
    assert not refused
    assert not [name for name, answer in answers.items() if answer.get("index", {}).get("degraded")]
    assert answers["cortex_exact"]["results"][0]["chunk"]["metadata"]["file_path"] == FACTS["check_password"]
    assert all(status["sandbox"] and status["pid"] < 10 for status in sets)
    assert "in no sandbox" in attach.mismatch(project.config, sets[0] | {"sandbox": False})
    monkeypatch.setenv("CORTEX_SECURITY_SANDBOX", "0")
    assert not attach.mismatch(project.config, sets[0])


def test_a_set_in_a_sandbox_sees_its_project_and_reaches_no_other_process(sandboxed, tmp_path, monkeypatch):
    config = sandboxed.config
    secret = tmp_path / "secret"
    secret.write_text("of the user's")
    monkeypatch.setenv("CORTEX_TOKEN", "a-token")
    with socket.socket(socket.AF_UNIX) as service, socket.create_server(("127.0.0.1", 0)) as server:
        path = os.path.join(os.environ["XDG_RUNTIME_DIR"], "service")
        service.bind(path)
        service.listen()
        refusals, rights = try_in_sandbox(
            config,
            ("opens", str(config.root / "auth/login.py")),
            ("writes", str(config.home / "x")),
            ("makes", str(config.runtime_dir / "x")),
            ("knows", "CORTEX_HOME"),
            ("writes", str(config.root / "auth/login.py")),
            ("makes", str(config.root / "x")),
            ("opens", str(secret)),
            ("opens", "/etc/shadow"),
            ("makes", "/usr/x"),
            ("connects", path),
            ("connects", server.getsockname()),
            ("signals", os.getpid()),
            ("knows", "CORTEX_TOKEN"),
        )
    assert refusals == [
        *[None] * 4,
        *["OSError"] * 2,
        *["FileNotFoundError"] * 2,
        "OSError",
        "FileNotFoundError",
        "ConnectionRefusedError",
        "ProcessLookupError",
        "KeyError",
    ]
    assert int(rights["CapEff"], 16) == int(rights["CapBnd"], 16) == 0
    assert rights["NoNewPrivs"] == "1"


def test_memory_in_a_sandbox_reads_its_users_files_and_writes_to_its_own_folder(sandboxed, tmp_path):
    data = sandboxed.config.data
    (tmp_path / "session").write_text("of an agent's")
    with socket.create_server(("127.0.0.1", 0)) as server:
        refusals, rights = try_in_sandbox(
            data,
            ("opens", str(tmp_path / "session")),
            ("writes", str(data.root / "x")),
            ("writes", str(tmp_path / "session")),
            ("connects", server.getsockname()),
            ("signals", os.getpid()),
        )
    assert refusals == [None, None, "OSError", "ConnectionRefusedError", "ProcessLookupError"]
    assert int(rights["CapEff"], 16) == 0


def test_indexing_works_in_a_sandbox(sandboxed):
    done = sandboxed.run("index", "--force")
    assert done.returncode == 0, done.stderr
    assert "all of it is served" in done.stdout


def test_the_http_server_uses_sets_in_a_sandbox(sandboxed, monkeypatch):
    monkeypatch.setenv("CORTEX_SECURITY_SANDBOX", "0")
    with serving(sandboxed, monkeypatch, "--sandbox") as served:
        until(served.is_complete, "the project is served")
        assert sandboxed.status()["sandbox"]
