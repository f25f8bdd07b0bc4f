"""Processes from the fork server, which equal directly started ones, and its own end."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from cortex.processes import attach, starting
from cortex.processes.child import SetSpec
from cortex.processes.fork_client import ForkServer, may_fork
from cortex.processes.forkserver import NEEDED
from cortex.processes.names import KINDS
from cortex.settings.config import Config
from tests.left_processes import wait_for_end
from tests.processes.tiny_sets import child, member, running, start
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.skipif(not may_fork(), reason="nothing is forked here")

#: reports the state of its process; its last argument says how to go on
PROGRAM = """
import gc, json, os, signal, sys
from pathlib import Path
from cortex.system.process import re_exec

root, name, action = sys.argv[2:]
report = Path(root) / f"{name}.json"
was_started = report.exists()
state = {
    "program": [__name__, sys.argv[0], *sys.argv[1:2], sys.orig_argv[:4]],
    "command": [part for part in Path("/proc/self/cmdline").read_text().split(chr(0)) if part][:5],
    "folder": os.getcwd(),
    "leads": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "number": os.getpid(),
    "threads": len(os.listdir("/proc/self/task")),
    "open": {place: os.readlink(f"/proc/self/fd/{place}").partition(":")[0].replace(name, "")
             for place in ("0", "1", "2")},
    "others": sorted(set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}),
    "signals": [str(signal.getsignal(number)) for number in (1, 2, 13, 15, 17)],
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "variables": dict(os.environ),
    "collects": gc.isenabled(),
    "stdout": [sys.stdout.encoding, sys.stdout.write_through],
}
report.with_suffix(".new").write_text(json.dumps(state))
report.with_suffix(".new").rename(report)
if action == "refuse":
    print("first", flush=True)
    print("The model is missing.", file=sys.stderr)
    sys.exit(2)
if action == "begin anew" and not was_started:
    sys.exit(re_exec.begin())
sys.stdin.read()
"""


@pytest.fixture
def tiny_spec(config: Config, monkeypatch: pytest.MonkeyPatch) -> SetSpec:
    """A set with a forked process `text`, and a process `vector` that is not forked."""
    modules = config.root.parent / "modules"
    modules.mkdir()
    (modules / "tiny.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(modules))
    return make_tiny_spec(config)


def make_tiny_spec(config: Config, does: str = "wait") -> SetSpec:
    line = [
        *starting.kind_of(config).command_line(KINDS["project"].processes[0], str(config.root))[:3],
        "tiny",
    ]
    commands = {name: [*line, "of", str(config.root), name, does] for name in ("text", "vector")}
    project_spec = starting.spec_of(config, idle_exit=False)
    return dataclasses.replace(project_spec, commands=commands, forked=("text",))


def read_report(config: Config, name: str) -> Any:
    path = config.root / f"{name}.json"
    until(path.exists, f"the report of {name}")
    return json.loads(path.read_text())


def fork_server(config: Config) -> int:
    """Wait for the fork server and return its process number."""
    pid = until(lambda: attach.set_status(config).get("fork_server"), "a fork server")
    assert isinstance(pid, int)
    return pid


def no_zombies(config: Config) -> bool:
    children = psutil.Process(attach.set_status(config)["pid"]).children(recursive=True)
    return all(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in children)


def test_a_forked_process_is_in_the_state_of_a_directly_started_process(
    config: Config, tiny_spec: SetSpec
) -> None:
    start(tiny_spec)
    forked, plain = read_report(config, "text"), read_report(config, "vector")
    status = attach.set_status(config)
    for pid in (forked.pop("number"), plain.pop("number")):  # the process between may not have ended yet
        until(lambda pid=pid: psutil.Process(pid).ppid() == status["pid"], "it to be the supervisor's child")
    assert forked == plain
    assert psutil.Process(status["fork_server"]).num_threads() == 1
    shared = psutil.Process(running(config, "text")["pid"]).memory_maps()
    assert any(
        "numpy" in mapping.path for mapping in shared
    )  # from the fork server: the program does not import numpy


def test_a_forked_program_runs_without_a_warning(config: Config) -> None:
    line = starting.kind_of(config).command_line(KINDS["project"].processes[0], str(config.root))
    needed = NEEDED[KINDS["project"].processes[0].name]
    asks = [*line[:4], "--help"]
    program = (
        "import importlib; from cortex.processes import forkserver\n"
        f"for name in {needed!r}: importlib.import_module(name)\n"
        f"forkserver._run({asks!r})"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=False, capture_output=True, timeout=BOUND_S
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"usage" in done.stdout


def test_a_forked_process_that_is_killed_is_replaced(config: Config, tiny_spec: SetSpec) -> None:
    start(tiny_spec)
    first = running(config, "text")
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: member(config, "text").get("pid") not in (0, None, first["pid"]), "another process")
    assert member(config, "text")["restarts"] == 1
    until(lambda: no_zombies(config), "no zombie left")


def test_a_forked_process_that_ends_with_2_is_not_started_again(config: Config, tiny_spec: SetSpec) -> None:
    start(make_tiny_spec(config, "refuse"))
    for name in ("text", "vector"):
        until(lambda name=name: member(config, name).get("state") == "failed", f"{name} failed")
        assert member(config, name)["last_error"] == "The model is missing."


def test_a_forked_process_that_begins_anew_is_forked_again_at_once(
    config: Config, tiny_spec: SetSpec, capfd: pytest.CaptureFixture[str]
) -> None:
    start(make_tiny_spec(config, "begin anew"))
    log = ""

    def has_begun_anew() -> bool:
        nonlocal log
        log += capfd.readouterr().err
        return "text: begins anew. text: started as process" in log

    until(has_begun_anew, "it to begin anew")
    status = running(config, "text")
    assert status["restarts"] == 0
    assert not status["last_error"]
    until(lambda: no_zombies(config), "no zombie left")


def test_a_killed_fork_server_ends_no_other_process_and_is_replaced(
    config: Config, tiny_spec: SetSpec
) -> None:
    start(tiny_spec)
    first = running(config, "text")
    gone = fork_server(config)
    os.kill(gone, signal.SIGKILL)
    until(lambda: attach.set_status(config)["fork_server"] not in (0, gone), "another fork server")
    assert running(config, "text")["pid"] == first["pid"]
    os.kill(first["pid"], signal.SIGTERM)
    until(lambda: member(config, "text").get("pid") not in (0, None, first["pid"]), "another process")
    until(lambda: no_zombies(config), "no zombie left")


def test_without_a_fork_server_a_process_is_started_directly(config: Config, tiny_spec: SetSpec) -> None:
    start(tiny_spec)
    first = running(config, "text")
    os.kill(fork_server(config), signal.SIGSTOP)  # it answers no more
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: member(config, "text").get("pid") not in (0, None, first["pid"]), "another process")
    until(lambda: no_zombies(config), "no zombie left")


def test_no_process_is_left_after_a_stop_or_a_killed_supervisor(config: Config, tiny_spec: SetSpec) -> None:
    for end in (lambda _process: attach.stop(config), lambda process: process.kill()):
        supervisor = start(tiny_spec)
        running(config, "text")
        gone = fork_server(config)
        end(supervisor)
        supervisor.wait(BOUND_S)
        wait_for_end(config.root)
        until(lambda gone=gone: not psutil.pid_exists(gone), "the fork server's end")


#: leaves a grandchild behind, which ends after its parent, and writes its process number
ORPHAN = """
import os, sys
theirs, ours = os.pipe()
if not os.fork():
    if not (number := os.fork()):
        os.close(ours)
        os.read(theirs, 1)
        os._exit(0)
    with open(sys.argv[1] + "/orphan.new", "w") as file:
        file.write(str(number))
    os._exit(0)
os.wait()
os.rename(sys.argv[1] + "/orphan.new", sys.argv[1] + "/orphan.json")
os.close(ours)
sys.stdin.read()
"""


def test_an_orphan_that_the_supervisor_adopts_leaves_no_zombie(config: Config, tiny_spec: SetSpec) -> None:
    """A process that adopts orphans must reap them."""
    commands = dict(tiny_spec.commands or {}) | {"vector": child(ORPHAN, config)}
    start(dataclasses.replace(tiny_spec, commands=commands))
    orphan = read_report(config, "orphan")
    running(config, "vector")
    until(lambda: not psutil.pid_exists(orphan), "the system to forget the orphan")


def test_the_fork_server_has_imports_and_room_for_the_command_line_of_each_process(
    config: Config,
) -> None:
    kind = starting.kind_of(config)
    forked = [process for process in kind.processes if process.forked]
    assert {process.name for process in forked} == set(NEEDED)
    for process in forked:
        server = ForkServer([process.name], (kind.option, str(config.root)), "", {})
        assert sum(map(len, kind.command_line(process, str(config.root)))) <= sum(map(len, server.command))
