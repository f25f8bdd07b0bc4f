"""The supervisor with tiny real children: starts, replacements and stops."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from cortex.generation.formats import LOCK
from cortex.processes import attach
from cortex.processes.child import COMING_UP_S
from cortex.processes.supervisor import BLIND_CHECK_S, CHECK_S, Supervisor
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home, open_runtime
from cortex.system.errors import EXIT_OCCUPIED, Misconfigured, Unavailable
from cortex.system.process import sockets
from ipc.locks import try_lock
from tests.left_processes import processes_of, wait_for_end
from tests.processes.tiny_sets import OBEDIENT, STUBBORN, child, member, running, spec, start
from tests.wait_until import BOUND_S, until


def test_the_supervisor_stays_small() -> None:
    """It runs all day, and any of these imports would treble its memory."""
    code = "import sys, cortex.processes.supervisor; print([m for m in ('numpy', 'zmq', 'asyncio') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_with_an_index_each_process_starts_when_the_one_before_answers_or_is_slow(config: Config) -> None:
    """A core stays free for the front, which starts as well."""
    names = ("first", "second", "third")
    supervisor = Supervisor(dataclasses.replace(spec(config, **dict.fromkeys(names, OBEDIENT)), at_once=1))

    def started() -> list[str]:
        return [process["name"] for process in supervisor.status()["processes"] if process["pid"]]

    try:
        supervisor._tend(1000.0)
        supervisor._tend(1000.0 + COMING_UP_S / 2)
        assert started() == ["first"]
        (config.runtime_dir / "first.0.sock").touch()
        supervisor._tend(1000.0 + COMING_UP_S * 3 / 4)
        assert started() == ["first", "second"]
        supervisor._tend(1000.0 + COMING_UP_S * 2)
        assert started() == list(names)
    finally:
        for process in supervisor._children.values():
            process.terminate()
            process.wait(time.monotonic() + BOUND_S)


def test_a_killed_child_is_replaced(config: Config) -> None:
    start(spec(config, text=OBEDIENT))
    first = running(config, "text")
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: member(config, "text").get("pid") not in (0, None, first["pid"]), "another process")
    replacement = member(config, "text")
    assert replacement["restarts"] == 1


def test_a_child_that_ends_with_2_is_not_started_again_and_its_last_line_is_shown(config: Config) -> None:
    code = "import sys; print('first'); print('The model is missing.', file=sys.stderr); sys.exit(2)"
    start(spec(config, vector=code, text=OBEDIENT))
    until(lambda: member(config, "vector").get("state") == "failed", "failed")
    running(config, "text")
    assert member(config, "vector") == {
        "name": "vector",
        "pid": 0,
        "state": "failed",
        "restarts": 0,
        "uptime_s": 0.0,
        "last_error": "The model is missing.",
    }


def test_a_worker_with_a_taken_lock_ends_with_the_exit_code_for_a_retry(
    config: Config,
) -> None:
    open_runtime(config)
    open_home(config)
    config.index_dir.mkdir(parents=True, mode=0o700)
    for place, line in (
        (config.index_dir / LOCK, ("-m", "workers", "watcher")),
        (config.runtime_dir / "text.0.lock", ("-m", "workers", "text")),
        (config.runtime_dir / "indexer-watch.lock", ("-m", "cortex", "index", "--watch")),
    ):
        with try_lock(place):
            command = [sys.executable, "-P", *line, "--project", str(config.root)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND_S, check=False)
        assert done.returncode == EXIT_OCCUPIED, done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_processes_are_stopped_in_order_and_a_stubborn_one_is_killed(
    config: Config, capfd: pytest.CaptureFixture[str]
) -> None:
    log = config.root / "order"
    code = (
        "import signal, sys\n"
        "def end(*_):\n"
        f"    open({str(log)!r}, 'a').write(sys.argv[2] + '\\n'); raise SystemExit(0)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready')\n"
        "while True: signal.pause()"
    )
    set_spec = spec(config, text=code, watcher=code, indexer=code, graph=STUBBORN)
    commands = {name: [*line, name] for name, line in (set_spec.commands or {}).items()}
    supervisor = start(dataclasses.replace(set_spec, commands=commands))
    for name in ("text", "watcher", "indexer", "graph"):  # graph ignores the signal once it is ready
        path = config.run_dir / f"{name}.log"
        until(lambda path=path: path.exists() and "ready" in path.read_text(), f"{name} ready")
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(BOUND_S) == 0
    assert log.read_text().split() == ["indexer", "watcher", "text"]
    assert "graph: did not stop" in capfd.readouterr().err
    assert not processes_of(config.root)


def test_the_descendants_of_a_killed_child_end_with_it(config: Config) -> None:
    pool = "import time; time.sleep(600)"
    code = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {pool!r}, sys.argv[1], 'pool'])\n"
        "sys.stdin.read()"
    )
    start(spec(config, indexer=code))

    def pools() -> list[psutil.Process]:
        pool_processes = []
        for process in processes_of(config.root):
            with contextlib.suppress(psutil.Error):
                if process.cmdline()[-1] == "pool":
                    pool_processes.append(process)
        return pool_processes

    first = until(pools, "a pool child")[0]
    os.kill(running(config, "indexer")["pid"], signal.SIGKILL)
    until(lambda: not first.is_running(), "the pool child's end")


def test_the_children_of_a_killed_supervisor_end(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT, vector=OBEDIENT))
    running(config, "vector")
    supervisor.kill()
    supervisor.wait()
    wait_for_end(config.root)


def test_a_child_waits_for_a_lock_that_another_process_holds(config: Config) -> None:
    holder = subprocess.Popen(
        child(
            "import fcntl, os, sys\n"
            f"f = open({str(config.runtime_dir / 'text.0.lock')!r}, 'w'); fcntl.flock(f, fcntl.LOCK_EX)\n"
            "f.write(str(os.getpid())); f.flush(); print('held', flush=True); sys.stdin.read()",
            config,
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    holder.stdout.readline()
    start(spec(config, text=OBEDIENT))
    until(lambda: member(config, "text").get("state") == "held", "held")
    assert str(holder.pid) in member(config, "text")["last_error"]
    holder.stdin.close()
    holder.wait()
    running(config, "text")


def test_a_second_foreground_set_is_refused_with_the_number_of_the_first(config: Config) -> None:
    start(spec(config, text=OBEDIENT))
    running(config, "text")
    pid = attach.set_status(config)["pid"]
    with pytest.raises(Misconfigured, match=f"already running .process {pid}"):
        attach.run_supervisor(config)


def test_supervisors_that_race_make_one_set(config: Config) -> None:
    set_spec = spec(config, idle_exit_s=600.0, text=OBEDIENT)
    racers = [start(set_spec) for _ in range(4)]
    running(config, "text")
    until(lambda: sum(racer.poll() is not None for racer in racers) == 3, "three losers")
    assert sorted(racer.poll() is None for racer in racers) == [False, False, False, True]
    assert {racer.poll() for racer in racers} == {0, None}


def test_the_set_ends_when_its_lock_is_deleted(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    # the ending set removes its sockets from the same folder meanwhile
    shutil.rmtree(config.runtime_dir, ignore_errors=True)
    assert not config.runtime_dir.exists()
    assert supervisor.wait(BOUND_S) == 0
    assert not processes_of(config.root)


def test_the_set_ends_when_the_project_is_moved(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    config.root.rename(config.root.parent / "elsewhere")
    assert supervisor.wait(BOUND_S) == 0
    assert not processes_of(config.root)


def test_an_idle_supervisor_wakes_only_for_its_checks(config: Config) -> None:
    open_home(config)
    config.run_dir.mkdir(exist_ok=True)
    supervisor = Supervisor(spec(config, text=OBEDIENT))
    try:
        supervisor._tend(1000.0)
        supervisor._tend(1001.0)
        supervisor._take_lock(0.0)
        supervisor._listen()
        supervisor._watch_paths()
        supervisor._check(1001.0)
        assert supervisor.status()["watching"] == "events"
        assert supervisor._wait_s(1001.0) == CHECK_S
        supervisor._notices = None
        assert supervisor._wait_s(1001.0) == BLIND_CHECK_S < CHECK_S
    finally:
        if supervisor._lock is not None:
            supervisor._lock.release()
        for process in supervisor._children.values():
            process.terminate()
            process.wait(time.monotonic() + BOUND_S)


def test_a_supervisor_without_file_events_polls_and_logs_it(
    config: Config, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("cortex.processes.supervisor.Notices", refuse)
    supervisor = Supervisor(spec(config))
    supervisor._watch_paths()
    assert supervisor.status()["watching"] == "polling"
    assert "looking by the clock" in capfd.readouterr().err


def test_stop_returns_whether_a_set_was_running(config: Config) -> None:
    assert attach.stop(config) is False
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    assert attach.stop(config) is True
    assert supervisor.wait(BOUND_S) == 0
    assert attach.set_status(config)["running"] is False


def test_damaged_commands_do_not_disturb_a_supervisor(config: Config) -> None:
    start(spec(config, text=OBEDIENT))
    running(config, "text")
    nested = b"[" * 60_000 + b"\n"
    for line in (b"\xff\x00\n", b"[]\n", b"{}\n", b'{"command": "fly"}\n', b"x" * 200_000, b"{", nested):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(config.runtime_dir / "supervisor.sock"))
            link.recv(1 << 16)  # its greeting: the supervisor reads no line of a closed connection
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                link.sendall(line)
                link.shutdown(socket.SHUT_WR)
                assert not link.recv(1 << 16)
    assert member(config, "text")["state"] == "running"


def test_a_caller_without_the_secret_of_a_port_cannot_stop_a_set_with_its_next_line(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(sockets.LOOPBACK, "1")
    start(spec(config, text=OBEDIENT))
    running(config, "text")
    port = sockets.read_note(config.runtime_dir / "supervisor.sock")["port"]
    with socket.create_connection((sockets.LOOPBACK_HOST, port), BOUND_S) as link:
        link.sendall(b'I am a friend\n{"command": "stop"}\n{"command": "attach"}\n')
        with contextlib.suppress(ConnectionResetError):
            assert not link.recv(1)
    assert member(config, "text")["state"] == "running"
    assert attach.set_status(config)["fronts"] == 0


def test_a_running_set_starts_an_added_process_once_and_no_unknown_process(config: Config) -> None:
    start(spec(config, text=OBEDIENT))
    running(config, "text")
    attach.add_process(config, "http")
    attach.add_process(config, "http")
    names = [process["name"] for process in attach.set_status(config)["processes"]]
    assert names == ["text", "http"]
    with pytest.raises(Unavailable, match="did not start nonsense"):
        attach.add_process(config, "nonsense")
    attach.stop(config)
    with pytest.raises(Unavailable, match="did not start http"):
        attach.add_process(config, "http")
