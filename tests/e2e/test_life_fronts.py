"""A set of workers while fronts come, go and are killed."""

from __future__ import annotations

import asyncio
import collections
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import psutil
import pytest

from cortex.processes import attach
from cortex.processes.names import PROJECT
from cortex.settings import config as configuration
from cortex.system.errors import EXIT_OCCUPIED
from tests.e2e.conftest import BIN
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

PROCFILE = Path(__file__).parents[2] / "Procfile"


def test_two_fronts_that_start_at_the_same_moment_share_one_set(project):
    async def ask():
        async def hold_front(started, checked):
            async with project.front() as front:
                await front.until_complete()
                await started.wait()
                await checked.wait()

        started, checked = asyncio.Barrier(3), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(hold_front(started, checked))
            await started.wait()
            status = project.status()
            assert status["fronts"] == 2
            running = collections.Counter(
                argument
                for process in project.processes()
                for argument in process.cmdline()
                if argument in ("vector", "text", "watcher", "cortex.processes.supervisor")
            )
            assert set(running.values()) == {1}
            checked.set()

    asyncio.run(ask())
    project.nothing_left()


def test_the_end_of_standard_input_ends_a_front_and_its_set(project):
    front = project.spawn(
        "mcp", "--project", str(project.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    until(lambda: project.status().get("fronts") == 1, "a front attached")
    out, _ = front.communicate()
    assert front.returncode == 0
    assert out == b""
    project.nothing_left()


def test_a_standard_input_that_is_empty_from_the_start_ends_a_front(project):
    front = project.spawn(
        "mcp", "--project", str(project.root), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    out, _ = front.communicate()
    assert (front.returncode, out) == (0, b"")
    project.nothing_left()


def test_standard_output_carries_nothing_but_json_rpc(shared_project):
    front = shared_project.spawn(
        "mcp", "--project", str(shared_project.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "cortex_exact", "arguments": {"query": '"unbalanced'}},
        },
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "cortex_search", "arguments": {"query": "\x00"}},
        },
    ]
    assert front.stdin is not None
    assert front.stdout is not None
    for message in messages:
        front.stdin.write(orjson.dumps(message) + b"\n")
    front.stdin.flush()
    replies = {}
    while len(replies) < 4:
        line = orjson.loads(front.stdout.readline())
        assert line["jsonrpc"] == "2.0"
        if "id" in line:
            replies[line["id"]] = line
    remaining_output, _ = front.communicate()
    assert remaining_output == b""
    assert replies[3]["error"]["code"] == replies[4]["error"]["code"] == -32602


def test_a_killed_front_is_noticed_and_leaves_nothing_behind(project):
    front = project.spawn(
        "mcp", "--project", str(project.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    until(lambda: project.status().get("fronts") == 1, "a front attached")
    for name in ("vector", "text", "watcher"):
        project.member(name)
    front.kill()
    front.communicate()
    project.nothing_left()


def test_a_killed_front_does_not_disturb_another(shared_project):
    async def ask():
        async with shared_project.front() as front:
            await front.until_complete()
            other = shared_project.spawn(
                "mcp", "--project", str(shared_project.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            await asyncio.to_thread(until, lambda: shared_project.status().get("fronts") == 2, "two fronts")
            before = {name: member["pid"] for name, member in shared_project.members().items()}
            other.kill()
            other.communicate()
            await asyncio.to_thread(until, lambda: shared_project.status().get("fronts") == 1, "one front")
            await front.until_complete()
            assert {name: member["pid"] for name, member in shared_project.members().items()} == before

    asyncio.run(ask())


def test_a_killed_supervisor_leaves_nothing_behind_and_the_next_call_works(project):
    async def ask():
        async with project.front() as front:
            await front.until_complete()
            first = project.status()["pid"]
            old = [psutil.Process(member["pid"]) for member in project.members().values() if member["pid"]]

            async def keep_asking(number):
                tool, words = [
                    ("cortex_exact", "check_password"),
                    ("cortex_search", "how a password is checked"),
                ][number % 2]
                for _ in range(10):
                    await front.call(tool, query=words)
                    await asyncio.sleep(0.005 * number)

            context = [asyncio.create_task(keep_asking(number)) for number in range(8)]
            await asyncio.sleep(0.1)
            os.kill(first, signal.SIGKILL)
            await asyncio.gather(*context)
            await front.until_complete()
            assert project.status()["pid"] != first
            await asyncio.to_thread(
                until,
                lambda: not any(process.is_running() and process.status() != "zombie" for process in old),
                "the first set's end",
            )

    asyncio.run(ask())
    project.nothing_left()


def test_a_deleted_cache_folder_is_made_again_and_the_next_call_works(project):
    async def ask():
        async with project.front() as front:
            await front.until_complete()
            shutil.rmtree(project.config.home, ignore_errors=True)
            await front.call("cortex_exact", query="check_password")
            await front.until_complete()
            (project.root / "late.py").write_text("def written_after_the_deletion(): ...\n")
            await front.until_found("written_after_the_deletion", "late.py")

    asyncio.run(ask())
    project.nothing_left()


def test_a_set_in_the_foreground_stays_without_fronts_and_ends_with_down(project):
    up = project.spawn("up", "--project", str(project.root), stdin=subprocess.DEVNULL)
    project.member("text")

    async def ask():
        async with project.front() as front:
            await front.until_complete()

    asyncio.run(ask())
    status = project.status()
    assert (status["running"], status["idle_exit_s"]) == (True, None)
    second = project.run("up")
    assert second.returncode == 2
    assert "already running" in second.stderr
    assert "Traceback" not in second.stderr
    assert project.run("down").returncode == 0
    assert up.wait(30) == 0
    project.nothing_left()


def test_an_interrupt_ends_a_set_in_the_foreground(project):
    up = project.spawn("up", "--project", str(project.root), stdin=subprocess.DEVNULL, start_new_session=True)
    project.member("watcher")
    os.killpg(up.pid, signal.SIGINT)  # to the whole group, as a terminal does
    assert up.wait(30) == 0
    project.nothing_left()


def test_the_procfile_and_a_front_share_the_workers_and_the_front_goes_on_alone(project):
    shutil.copy(PROCFILE, project.root / "Procfile")
    honcho = project.spawn(
        "start",
        program="honcho",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    runtime = project.config.runtime_dir
    until(
        lambda: all((runtime / f"{name}.0.sock").exists() for name in ("embed", "vector", "text")),
        "the Procfile's workers",
    )

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            assert {project.members()[name]["state"] for name in ("vector", "text", "watcher")} == {"held"}
            honcho.terminate()
            honcho.wait()
            await front.until_complete()
            await asyncio.to_thread(project.member, "watcher")

    asyncio.run(ask())
    project.nothing_left()


def states(project):
    """Return process → (state, process number), as `cortex status` has them."""
    status = orjson.loads(project.run("status", "--json").stdout)
    return {process["name"]: (process["state"], process["pid"]) for process in status["set"]["processes"]}


def test_status_and_down_name_and_end_the_processes_of_the_procfile(project):
    shutil.copy(PROCFILE, project.root / "Procfile")
    honcho = project.spawn(
        "start",
        program="honcho",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    names = {process.name for process in PROJECT.processes}
    until(lambda: states(project).keys() == names, "all processes of the Procfile")
    assert {state for state, _ in states(project).values()} == {"alone"}
    family = {process.pid for process in psutil.Process(honcho.pid).children(recursive=True)}
    assert {pid for _, pid in states(project).values()} <= family
    until(lambda: project.run("status").returncode == 0, "a status without complaint")
    shown = project.run("status").stdout
    assert "none are running" not in shown
    assert "without a supervisor: text, " in project.run("doctor").stdout
    ended = project.run("down")
    assert "are stopped" in ended.stdout
    assert states(project) == {}
    honcho.wait(BOUND_S)  # it ends with the first of its processes
    assert "No workers are running" in project.run("down").stdout


def test_down_ends_a_server_that_no_supervisor_started_with_its_workers(project):
    server = project.spawn("serve", "--port", "0", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: states(project).get("http") == ("alone", server.pid), "the server")
    assert project.run("down").returncode == 0
    assert server.wait(BOUND_S) == 0
    assert states(project) == {}
    project.nothing_left()


def test_down_leaves_a_server_of_several_projects_and_says_so(project, tmp_path):
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    server = project.spawn(
        "serve", str(other), "--port", "0", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    until(lambda: states(project).get("http") == ("alone", server.pid), "the server")
    ended = project.run("down")
    assert f"Process {server.pid} serves this and other projects" in ended.stderr
    assert server.poll() is None
    server.terminate()
    server.wait(BOUND_S)
    attach.stop(configuration.load(other))


def test_down_leaves_a_program_with_an_open_store_and_names_it(shared_project):
    program = "import sys; from cortex.memory import Cortex; store = Cortex.open(sys.argv[1], embedded=True); print(1, flush=True); sys.stdin.read()"
    folder = shared_project.environment["CORTEX_MEMORY_DATA_DIR"]
    with subprocess.Popen(
        [sys.executable, "-c", program, folder],
        env=os.environ | shared_project.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as opened:
        opened.stdout.readline()
        ended = subprocess.run(
            [str(BIN / "cortex"), "memory", "down"],
            env=os.environ | shared_project.environment,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )
        assert f"Process {opened.pid} goes on to serve memory" in ended.stderr
        assert opened.poll() is None
        opened.stdin.close()


def test_the_procfile_is_refused_beside_a_running_set(shared_project):
    shutil.copy(PROCFILE, shared_project.root / "Procfile")

    async def ask():
        async with shared_project.front() as front:
            await front.until_complete()
            honcho = await asyncio.to_thread(
                subprocess.run,
                [str(Path(sys.executable).parent / "honcho"), "start"],
                cwd=shared_project.root,
                env=os.environ | shared_project.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert honcho.returncode == EXIT_OCCUPIED
            assert "cortex down" in honcho.stdout
            assert "Traceback" not in honcho.stdout
            await front.until_complete()

    asyncio.run(ask())
