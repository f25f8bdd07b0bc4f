"""The supervisor with tiny real children: what it starts, replaces and stops, and who may use its
set.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cortex.front.link import Link
from cortex.generation.formats import LOCK
from cortex.processes import attach, starting
from cortex.processes import child as processes
from cortex.processes.child import SetSpec
from cortex.processes.leftovers import remove_dead
from cortex.processes.names import INDEXER, KINDS, MEMORY, PROJECT
from cortex.settings.config import Config, Embedding, Server
from cortex.settings.data import DataFolder
from cortex.settings.home import open_home, open_runtime
from ipc.client import CONNECT_S
from ipc.errors import EXIT_OCCUPIED, Misconfigured, Unavailable
from ipc.locks import try_lock
from ipc.messages import PROTOCOL
from workers.memory import run as run_memory

ROOT = Path(__file__).resolve().parents[2]
#: seconds in which a state must be reached; generous, because it bounds a failure, not a pass
BOUND_S = 30.0

OBEDIENT = "import sys; sys.stdin.read()"
STUBBORN = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(60)"


def until(state: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + BOUND_S
    while time.monotonic() < deadline:
        if found := state():
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {BOUND_S} s: {what}")


async def until_async(state: Callable[[], Any], what: str) -> Any:
    async with asyncio.timeout(BOUND_S):
        while not (found := state()):
            await asyncio.sleep(0.02)
    assert found, what
    return found


def processes_of(path: Path) -> list[psutil.Process]:
    """Every process that names `path` in its command line, except this one."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and any(str(path) in part for part in process.cmdline()):
                found.append(process)
    return found


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Config]:
    short = tempfile.mkdtemp(prefix="cx", dir="/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", short)
    root = tmp_path / "project"
    root.mkdir()
    made = Config(root=root.resolve(), server=Server(idle_exit_s=0.0))
    open_runtime(made)
    open_home(made)
    yield made
    with contextlib.suppress(Unavailable):
        attach.stop(made)
    try:
        until(lambda: not processes_of(root), "nothing left running")
    finally:
        for process in processes_of(root):
            process.kill()
        shutil.rmtree(short)


def child(code: str, config: Config) -> list[str]:
    return [sys.executable, "-P", "-c", code, str(config.root)]


def spec(config: Config, idle_exit_s: float | None = None, **codes: str) -> SetSpec:
    made = starting.spec_of(config, idle_exit=idle_exit_s is not None)
    commands = {name: child(code, config) for name, code in codes.items()}
    return dataclasses.replace(made, idle_exit_s=idle_exit_s, commands=commands)


def start(made: SetSpec) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "cortex.processes.supervisor", "--project", made.root, made.dump()]
    )


def member(config: Config, name: str) -> dict[str, Any]:
    status = attach.set_status(config)
    return next((each for each in status["processes"] if each["name"] == name), {})


def running(config: Config, name: str) -> dict[str, Any]:
    def state() -> dict[str, Any] | None:
        found = member(config, name)
        return found if found.get("state") == "running" else None

    found: dict[str, Any] = until(state, f"{name} running")
    return found


@pytest.fixture
def spawn_tiny(config: Config, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Sets that `attach` starts consist of one obedient child."""
    real = starting.spec_of

    def tiny(config: Config, *, idle_exit: bool) -> SetSpec:
        return dataclasses.replace(
            real(config, idle_exit=idle_exit), commands={"text": child(OBEDIENT, config)}
        )

    monkeypatch.setattr(attach, "spec_of", tiny)
    return config


def test_the_procfile_lists_the_processes_of_all_sets() -> None:
    lines = (ROOT / "Procfile").read_text().splitlines()
    listed = [(name.strip(), command.split()) for name, _, command in (x.partition(":") for x in lines)]
    processes = [one for kind in KINDS.values() for one in kind.processes]
    assert listed == [(one.name, [one.program, *one.arguments]) for one in processes]


def test_every_worker_is_a_module_and_every_module_a_worker() -> None:
    modules = {path.stem for path in (ROOT / "workers").glob("[!_]*.py")}
    assert modules == {name for kind in KINDS.values() for name in kind.workers}
    assert {one.name for one in PROJECT.processes} == {*PROJECT.workers, INDEXER}


def test_who_writes_is_stopped_first_then_who_announces_then_who_answers() -> None:
    assert PROJECT.stop_order == (("indexer",), ("watcher",), ("embed", "vector", "text", "graph"))
    assert MEMORY.stop_order == (("memory",),)


def test_without_automatic_indexing_no_indexer_is_started(config: Config) -> None:
    made = starting.spec_of(config, idle_exit=True)
    assert list(made.command_lines()) == [one.name for one in PROJECT.processes]
    without = starting.spec_of(dataclasses.replace(config, server=Server(auto_index=False)), idle_exit=True)
    assert set(without.command_lines()) == set(PROJECT.workers)


def test_a_set_of_memory_belongs_to_its_data_folder(tmp_path: Path) -> None:
    made = SetSpec.load(starting.spec_of(DataFolder(tmp_path), idle_exit=True).dump())
    assert (made.kind, made.root, made.without) == ("memory", str(tmp_path), ())
    assert {name: line[-2:] for name, line in made.command_lines().items()} == {
        "memory": ["--data-dir", str(tmp_path)]
    }


def test_memory_serves_fronts_of_several_versions_and_refuses_another_protocol(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    hello = {"version": "0.0.1", "protocol": PROTOCOL, "config": data.hash()}
    assert attach.mismatch(data, hello) == ""
    refused = attach.mismatch(data, hello | {"protocol": 99})
    assert "protocol 99" in refused
    assert "`cortex memory down`" in refused


def test_memory_has_one_worker_only(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="one owner of the store"):
        run_memory(DataFolder(tmp_path), replica=1)


def test_the_supervisor_stays_small() -> None:
    """It lives as long as a working day; what it must not import would treble it."""
    code = "import sys, cortex.processes.supervisor; print([m for m in ('numpy', 'zmq', 'asyncio') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_killed_child_is_replaced(config: Config) -> None:
    start(spec(config, text=OBEDIENT))
    first = running(config, "text")
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: member(config, "text").get("pid") not in (0, None, first["pid"]), "another process")
    again = member(config, "text")
    assert again["restarts"] == 1


def test_a_child_that_ends_with_2_is_not_started_again_and_its_last_words_are_shown(config: Config) -> None:
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


def test_a_child_that_found_its_place_taken_has_it_soon_after_the_other_let_go(config: Config) -> None:
    """An orphan of a killed set publishes what it had begun; the set that follows must not do
    without for good.
    """
    open_runtime(config)
    lock = config.runtime_dir / "elsewhere.lock"
    code = (
        "import sys; from ipc.errors import EXIT_OCCUPIED; from ipc.locks import try_lock\n"
        f"lock = try_lock({str(lock)!r}) or sys.exit(EXIT_OCCUPIED)\n" + OBEDIENT
    )
    made = processes.Child("watcher", child(code, config), spec(config))
    now, starts = 0.0, list[float]()
    with try_lock(lock):
        while len(starts) < 8:
            if "started" in made.tend(now):
                starts.append(now)
                until(lambda: dead(made.pid), "its end")
            now += 0.05
    assert max(b - a for a, b in itertools.pairwise(starts)) < 5.0
    while not (started := "started" in made.tend(now)) and now < starts[-1] + 5.0:
        now += 0.05
    assert started
    assert made.state == "running"
    made.terminate()
    assert made.wait(time.monotonic() + BOUND_S) == ""


def test_a_worker_whose_place_is_taken_says_by_its_code_that_a_later_start_may_have_it(
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


def test_a_child_that_keeps_dying_is_started_less_and_less_often(config: Config) -> None:
    made = processes.Child("text", child("raise SystemExit(1)", config), spec(config))
    now, starts = 0.0, list[float]()
    while len(starts) < 6:
        if "started" in made.tend(now):
            starts.append(now)
            until(lambda: not psutil.pid_exists(made.pid) or dead(made.pid), "its end")
        now += 0.05
    waits = [round(b - a, 1) for a, b in itertools.pairwise(starts)]
    assert waits == sorted(waits)
    assert waits[-1] > 3 * waits[0]


def test_a_child_that_others_kill_again_and_again_is_never_away_for_long(config: Config) -> None:
    made = processes.Child("text", child(OBEDIENT, config), spec(config))
    now, starts = 0.0, list[float]()
    while len(starts) < 10:
        if "started" in made.tend(now):
            starts.append(now)
            os.kill(made.pid, signal.SIGKILL)
            until(lambda: dead(made.pid), "its end")
        now += 0.05
    made.terminate()
    assert max(b - a for a, b in itertools.pairwise(starts)) < CONNECT_S


def dead(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    return True


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
    made = spec(config, text=code, watcher=code, indexer=code, graph=STUBBORN)
    commands = {name: [*line, name] for name, line in (made.commands or {}).items()}
    supervisor = start(dataclasses.replace(made, commands=commands))
    for name in ("text", "watcher", "indexer"):
        path = config.run_dir / f"{name}.log"
        until(lambda path=path: path.exists() and "ready" in path.read_text(), f"{name} ready")
    running(config, "graph")
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
        found = []
        for process in processes_of(config.root):
            with contextlib.suppress(psutil.Error):
                if process.cmdline()[-1] == "pool":
                    found.append(process)
        return found

    first = until(pools, "a pool child")[0]
    os.kill(running(config, "indexer")["pid"], signal.SIGKILL)
    until(lambda: not first.is_running(), "the pool child's end")


def test_the_children_of_a_killed_supervisor_end(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT, vector=OBEDIENT))
    running(config, "vector")
    supervisor.kill()
    supervisor.wait()
    until(lambda: not processes_of(config.root), "nothing left")


def test_a_place_that_another_process_holds_is_left_to_it_and_taken_when_it_is_free(config: Config) -> None:
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


def test_a_second_foreground_set_is_refused_by_name(config: Config) -> None:
    start(spec(config, text=OBEDIENT))
    running(config, "text")
    pid = attach.set_status(config)["pid"]
    with pytest.raises(Misconfigured, match=f"already running .process {pid}"):
        attach.run_supervisor(config, idle_exit=False)


def test_supervisors_that_race_make_one_set(config: Config) -> None:
    made = spec(config, idle_exit_s=600.0, text=OBEDIENT)
    racers = [start(made) for _ in range(4)]
    running(config, "text")
    until(lambda: sum(racer.poll() is not None for racer in racers) == 3, "three losers")
    assert sorted(racer.poll() is None for racer in racers) == [False, False, False, True]
    assert {racer.poll() for racer in racers} == {0, None}


def test_the_set_ends_when_its_lock_is_deleted(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    shutil.rmtree(config.runtime_dir)
    assert supervisor.wait(BOUND_S) == 0
    assert not processes_of(config.root)


def test_the_set_ends_when_the_project_is_moved(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    config.root.rename(config.root.parent / "elsewhere")
    assert supervisor.wait(BOUND_S) == 0
    assert not processes_of(config.root)


def test_stop_says_whether_there_was_anything_to_stop(config: Config) -> None:
    assert attach.stop(config) is False
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    assert attach.stop(config) is True
    assert supervisor.wait(BOUND_S) == 0
    assert attach.set_status(config)["running"] is False


def test_damaged_commands_do_not_disturb_a_supervisor(config: Config) -> None:
    import socket

    start(spec(config, text=OBEDIENT))
    running(config, "text")
    nested = b"[" * 60_000 + b"\n"
    for line in (b"\xff\x00\n", b"[]\n", b"{}\n", b'{"command": "fly"}\n', b"x" * 200_000, b"{", nested):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(config.runtime_dir / "supervisor.sock"))
            link.recv(1 << 16)  # its greeting: one that has left is not read from
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                link.sendall(line)
                link.shutdown(socket.SHUT_WR)
                assert not link.recv(1 << 16)
    assert member(config, "text")["state"] == "running"


def test_a_log_is_kept_small(tmp_path: Path) -> None:
    path = tmp_path / "text.log"
    with path.open("ab", buffering=0) as log:
        log.write(b"old\n" * 1000)
        log.write(b"x" * processes.LOG_BYTES_MAX + b"last line\n")
        processes.trim_log(str(path))
        log.write(b"new\n")
    assert path.read_bytes() == b"new\n"
    kept = (tmp_path / "text.log.1").read_bytes()
    assert kept.endswith(b"last line\n")
    assert len(kept) <= processes.LOG_BYTES_MAX


def test_a_front_starts_a_set_and_the_set_ends_after_the_last_front(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        one = await attach.attach(spawn_tiny)
        two = await attach.attach(spawn_tiny)
        assert one.hello["pid"] == two.hello["pid"]
        assert (one.problem, two.problem) == ("", "")
        await until_async(lambda: attach.set_status(spawn_tiny)["fronts"] == 2, "two fronts")
        await one.close()
        await until_async(lambda: attach.set_status(spawn_tiny)["fronts"] == 1, "one front")
        await two.close()

    asyncio.run(fronts())
    until(lambda: not processes_of(spawn_tiny.root), "nothing left")


def test_a_set_knows_how_many_lines_its_fronts_refused(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        def told() -> int:
            return int(attach.set_status(spawn_tiny).get("refused_lines", -1))

        staying, leaving = Link(spawn_tiny), Link(spawn_tiny)
        for link in (staying, leaving):
            link.open()
            link.count_refused()  # before there is a set that could be told
        await until_async(lambda: told() == 2, "one line of each")
        for _ in range(500):
            leaving.count_refused()
        await leaving.close()
        await until_async(lambda: told() == 502, "all lines of one that has left")
        await staying.close()

    asyncio.run(fronts())


def test_fronts_that_start_together_share_one_set(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        held = await asyncio.gather(*(attach.attach(spawn_tiny) for _ in range(5)))
        assert len({each.hello["pid"] for each in held}) == 1
        await asyncio.gather(*(each.close() for each in held))

    asyncio.run(fronts())


def test_a_front_gets_a_set_back_when_the_supervisor_is_killed(spawn_tiny: Config) -> None:
    async def front() -> None:
        held = await attach.attach(spawn_tiny)
        first = held.hello["pid"]
        os.kill(first, signal.SIGKILL)
        problems = set()

        def back() -> bool:
            problems.add(held.problem)
            return bool(held.hello.get("pid", first) != first)

        await until_async(back, "another supervisor")
        assert held.connected
        assert problems == {""}
        await until_async(lambda: member(spawn_tiny, "text").get("state") == "running", "its child")
        await held.close()

    asyncio.run(front())


def test_fronts_share_the_set_that_replaces_a_killed_one(spawn_tiny: Config) -> None:
    async def fronts() -> None:
        held = await asyncio.gather(*(attach.attach(spawn_tiny) for _ in range(5)))
        first = held[0].hello["pid"]
        os.kill(first, signal.SIGKILL)
        await until_async(
            lambda: all(each.connected and each.hello.get("pid") != first for each in held), "all back"
        )
        await until_async(lambda: attach.set_status(spawn_tiny).get("fronts") == 5, "five fronts")
        assert len({each.hello["pid"] for each in held}) == 1
        await asyncio.gather(*(each.close() for each in held))

    asyncio.run(fronts())


def test_a_front_gets_a_set_back_when_the_cache_folder_is_deleted(spawn_tiny: Config) -> None:
    async def front() -> None:
        held = await attach.attach(spawn_tiny)
        first = held.hello["pid"]
        shutil.rmtree(spawn_tiny.home)
        await until_async(lambda: held.hello.get("pid", first) != first, "another supervisor")
        assert spawn_tiny.run_dir.is_dir()
        await held.close()

    asyncio.run(front())


def test_a_set_that_was_told_to_stay_has_no_idle_clock(spawn_tiny: Config) -> None:
    async def front() -> None:
        held = await attach.attach(spawn_tiny)
        await held.keep()
        assert attach.set_status(spawn_tiny)["idle_exit_s"] is None
        await held.close()

    asyncio.run(front())
    assert attach.set_status(spawn_tiny)["running"]


def test_a_set_that_is_just_stopping_is_not_taken_for_one_that_stays(spawn_tiny: Config) -> None:
    async def front() -> tuple[int, int]:
        held = await attach.attach(spawn_tiny)
        stopping = held.hello["pid"]
        place = spawn_tiny.runtime_dir / "supervisor.sock"
        listening = place.stat().st_ino
        _reader, writer = await asyncio.open_unix_connection(place)
        writer.write(b'{"command": "stop"}\n')
        await until_async(lambda: not place.exists() or place.stat().st_ino != listening, "stopping")
        writer.close()
        await held.keep()
        kept = held.hello["pid"]
        await held.close()
        return stopping, kept

    stopping, kept = asyncio.run(front())
    assert kept != stopping
    status = attach.set_status(spawn_tiny)
    assert (status["pid"], status["idle_exit_s"]) == (kept, None)


def test_a_front_of_another_configuration_waits_and_takes_over(spawn_tiny: Config) -> None:
    other = dataclasses.replace(spawn_tiny, embedding=Embedding(dimensions=128))

    async def fronts() -> None:
        old = await attach.attach(spawn_tiny)
        new = await attach.attach(other)
        first = new.hello["pid"]
        assert old.hello["pid"] == first
        assert not new.connected
        for word in (spawn_tiny.hash(), other.hash(), "cortex down"):
            assert word in new.problem
        await until_async(lambda: attach.set_status(spawn_tiny)["waiting"] == 1, "waiting")
        assert old.connected  # it is not disturbed
        await old.close()
        await until_async(lambda: new.connected, "the newer front's own set")
        assert new.hello["config"] == other.hash()
        await new.close()

    asyncio.run(fronts())


def test_a_front_of_another_protocol_waits_for_the_old_set(
    spawn_tiny: Config,
) -> None:
    theirs = spawn_tiny.runtime_dir.with_name(f"{spawn_tiny.root_id}-p99")
    theirs.mkdir(mode=0o700)
    made = dataclasses.replace(
        spec(spawn_tiny, idle_exit_s=600.0, text=OBEDIENT), runtime_dir=str(theirs), protocol=99
    )
    old = start(made)
    until((theirs / "supervisor.sock").exists, "the old set")

    async def front() -> None:
        held = await attach.attach(spawn_tiny)
        assert "protocol 99" in held.problem
        assert f"protocol {PROTOCOL}" in held.problem
        # nobody uses the old set: it leaves after its grace
        await until_async(lambda: held.connected, "our own set")
        assert held.hello["protocol"] == PROTOCOL
        await held.close()

    asyncio.run(front())
    assert old.wait(BOUND_S) == 0


def test_without_start_nothing_is_started_and_the_reason_is_said(config: Config) -> None:
    async def front() -> None:
        held = await attach.attach(config, start=False)
        assert "cortex up" in held.problem
        assert not held.connected
        await held.close()

    asyncio.run(front())
    assert not processes_of(config.root)


def test_a_supervisor_that_cannot_run_is_one_sentence(
    spawn_tiny: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = attach.spec_of

    def elsewhere(config: Config, *, idle_exit: bool) -> SetSpec:
        return dataclasses.replace(tiny(config, idle_exit=idle_exit), runtime_dir="/nowhere")

    monkeypatch.setattr(attach, "spec_of", elsewhere)
    with pytest.raises(Unavailable, match=r"cannot be started: .*/nowhere"):
        asyncio.run(attach.attach(spawn_tiny))


@pytest.mark.parametrize("name", ["supervisor.sock", "set.lock", "text.0.lock"])
def test_a_folder_in_the_place_of_a_socket_or_a_lock_keeps_no_set_from_starting(
    spawn_tiny: Config, name: str
) -> None:
    (spawn_tiny.runtime_dir / name / "inner").mkdir(parents=True)

    async def start() -> None:
        attachment = await attach.attach(spawn_tiny)
        assert attachment.connected
        await attachment.close()

    asyncio.run(start())


def test_a_missing_chunks_folder_that_was_named_is_said_before_anything_starts(config: Config) -> None:
    named = dataclasses.replace(config, server=Server(chunks_dir="nowhere"), explicit_chunks=True)
    with pytest.raises(Misconfigured, match="nowhere"):
        asyncio.run(attach.attach(named))
    assert not processes_of(config.root)


def test_vectors_of_another_size_are_said_with_both_numbers(config: Config) -> None:
    config.chunks_dir.mkdir(parents=True)
    metadata = {"version": "2.0.0", "model": "x", "dimensions": 768}
    (config.chunks_dir / "theirs.json").write_text(json.dumps({"_metadata": metadata, "chunks": []}))
    with pytest.raises(Misconfigured, match=r"768.*384"):
        starting.check_start(config)
    ours = metadata | {"generator": "cortex"}
    (config.chunks_dir / "theirs.json").write_text(json.dumps({"_metadata": ours, "chunks": []}))
    starting.check_start(config)


def test_an_embedding_endpoint_that_nobody_serves_is_unavailable(config: Config) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/embed"
        named = dataclasses.replace(config, embedding=Embedding(provider="http", endpoint=endpoint))
        with pytest.raises(Unavailable, match="refused"):
            starting.check_start(named)
        free.listen()  # which answers nothing
        with pytest.raises(Unavailable, match="timed out"):
            starting.check_start(named)


def test_a_set_that_is_stopped_leaves_no_runtime_folder(config: Config) -> None:
    supervisor = start(spec(config, text=OBEDIENT))
    running(config, "text")
    assert config.runtime_dir.exists()
    attach.clear(config)
    assert config.runtime_dir.exists()
    attach.stop(config)
    attach.clear(config)
    assert supervisor.wait(BOUND_S) == 0
    assert not config.runtime_dir.exists()


def test_a_runtime_folder_with_a_lock_that_is_held_or_with_something_else_stays(config: Config) -> None:
    open_runtime(config)
    folder = config.runtime_dir
    with try_lock(folder / "indexer.lock"):
        attach.clear(config)
        assert (folder / "indexer.lock").exists()
    (folder / "note.txt").write_text("Whose is this?")
    attach.clear(config)
    assert (folder / "note.txt").exists()


def test_runtime_folders_of_an_earlier_boot_go_at_the_next_start(config: Config) -> None:
    base = open_runtime(config).parent
    old, held, young, other = (base / name for name in ("ab12-p1", "ab13-p1", "ab14-p1", "notes"))
    booted = time.time() - 3600.0
    for folder in (old, held, young, other):
        folder.mkdir()
        (folder / "set.lock").touch()
        if folder != young:
            os.utime(folder, (booted - 60.0, booted - 60.0))
    with try_lock(held / "set.lock"):
        assert remove_dead(booted) == ["ab12-p1"]
    assert [held.exists(), young.exists(), other.exists()] == [True, True, True]
