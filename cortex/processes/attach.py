"""A front's access to a set of workers: attach to its supervisor, or start one first.

This is the client's side; the supervisor itself is cortex.processes.supervisor.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from cortex import __version__
from cortex.processes.child import LOG_BYTES_MAX, child_environment, trim_log
from cortex.processes.leftovers import remove_stale_folders, remove_unlocked
from cortex.processes.names import HTTP, HTTP_LOCK, MODULES
from cortex.processes.starting import (
    Owner,
    check_root,
    check_start,
    expected_hello,
    kind_of,
    open_folders,
    spec_of,
)
from cortex.processes.supervisor import LINE_BYTES_MAX, UPGRADED, Supervisor, socket_path
from cortex.settings.relied_settings import say_differences
from cortex.system import files, hosts
from cortex.system.errors import ANEW, EXIT_HOME_GONE, CortexError, Unavailable
from cortex.system.loaded_code import RESTART, code_of_process, full_version
from cortex.system.process import re_exec, sockets
from ipc.locks import holder_of

#: seconds that a set may take to answer after its start, with the end of a stopping set before it,
#: on a busy machine
ATTACH_S = 45.0
#: seconds to wait for the end of a set of another version or configuration, which ends once a front
#: waits and none uses it: so the first question after an upgrade is answered
TAKE_OVER_S = 5.0
#: seconds for one line from a supervisor that has accepted the connection
REPLY_S = 2.0
#: seconds that a whole set may take to stop: three stages, each with a bound, and a margin
STOP_S = 25.0
#: seconds between two checks that a stopping set has ended: short against the time that its workers
#: take to stop, and long against a check
STOP_LOOK_S = 0.05
#: seconds between two checks that a started set answers: a check takes .1 ms
LOOK_S = 0.01
#: seconds between two attempts to get a set back: at first, and at most
RETRY_S, RETRY_MAX_S = 0.05, 5.0

#: state of a process that no supervisor started
ALONE = "alone"

#: runtime folder → the supervisor that `begin` has started, until a front attaches to its set
_begun: dict[Path, subprocess.Popen[bytes]] = {}


class Attachment:
    """A front's connection to a set, which stays while it is open; the supervisor sees any end."""

    def __init__(self, owner: Owner, *, start: bool) -> None:
        self.owner = owner
        #: one sentence for every tool answer while this front must not use the set or no set runs;
        #: "" otherwise
        self.problem = ""
        #: the supervisor's greeting; {} while no supervisor is connected
        self.hello: dict[str, Any] = {}
        self._start = start
        self._code = code_of_process()
        self._spawned = _begun.pop(owner.runtime_dir, None)
        self._served: list[subprocess.Popen[bytes]] = []
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self._keeps = False
        self._keep_confirmed = asyncio.Event()

    @property
    def connected(self) -> bool:
        """Whether this front is connected to a set that it may use."""
        return self._writer is not None and not self.problem

    async def open(self) -> None:
        """Connect; start a set if none runs, and at its end. Raises Misconfigured, Unavailable."""
        await self._connect(first=True)
        if self.problem not in ("", RESTART) and self._start and self._reader is not None:
            await self._take_over(self._reader)
        self._task = asyncio.create_task(self._follow())

    async def _take_over(self, reader: asyncio.StreamReader) -> None:
        """Wait for the end of another version's set if nothing else uses it, then start ours."""
        folder = other_protocol(self.owner) or self.owner.runtime_dir
        status = await asyncio.to_thread(_ask_supervisor, folder, "status")  # None: it ends already
        if status and (status.get("fronts") or status.get("idle_exit_s") is None):
            return
        try:
            async with asyncio.timeout(TAKE_OVER_S):
                with contextlib.suppress(ConnectionError, ValueError):
                    while await reader.readline():
                        pass
        except TimeoutError:
            return
        await self._hang_up()
        await self._connect(first=True)

    async def keep(self) -> None:
        """Let the set run on without fronts (`cortex up --detach`); return when its supervisor has
        confirmed it.

        A stopping supervisor does not confirm it: the request then goes to the next supervisor.
        Raises Unavailable.
        """
        if self.problem:
            return
        self._keeps = True
        await self._send("keep")
        try:
            async with asyncio.timeout(ATTACH_S):
                await self._keep_confirmed.wait()
        except TimeoutError as error:
            raise Unavailable(
                self.problem
                or f"The workers did not answer within {ATTACH_S:g} s; see {_log_path(self.owner)}."
            ) from error

    async def close(self) -> None:
        """Disconnect. The set's idle time begins when its last front disconnects."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._hang_up()

    async def _hang_up(self) -> None:
        writer, self._reader, self._writer, self.hello = self._writer, None, None, {}
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _follow(self) -> None:
        """Wait for the supervisor's end, then connect again, in an endless loop."""
        while True:
            if self._reader is not None:
                with contextlib.suppress(OSError, ValueError):
                    while await self._reader.readline():
                        self._keep_confirmed.set()  # the only line after the greeting
            await self._hang_up()
            pause = RETRY_S
            while self._writer is None:
                try:
                    await self._connect(first=False)
                except (CortexError, OSError) as error:
                    self.problem = str(error)
                if self._writer is None:
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, RETRY_MAX_S)

    async def _connect(self, *, first: bool) -> None:
        """Connect to the running set, or start one first. Sets `problem`; raises CortexError."""
        deadline = time.monotonic() + ATTACH_S
        # poll() reaps a dead process.
        self._served = [process for process in self._served if process.poll() is None]
        while True:
            other = other_protocol(self.owner)
            folder = other or self.owner.runtime_dir
            if await self._greet(folder):
                if self._spawned is not None:
                    # From now on its exit code reports its own end, and no failed start.
                    self._served.append(self._spawned)
                    self._spawned = None
                return
            if other is not None:
                self.problem = mismatch(self.owner, {"protocol": other.name.rpartition("-p")[2]})
                return
            if not self._start:
                self.problem = (
                    f"No workers are running for {self.owner.root}; "
                    f"`{kind_of(self.owner).command} up` starts them."
                )
                return
            if self._spawned is None:
                check_root(self.owner)
                if first:
                    await asyncio.to_thread(check_start, self.owner)
                self._spawned = spawn(self.owner)
            elif (code := self._spawned.poll()) is not None:
                self._spawned = None
                if code:
                    raise Unavailable(f"The workers cannot be started: {_last_log_line(self.owner)}")
            if time.monotonic() >= deadline:
                raise Unavailable(
                    f"The workers did not start within {ATTACH_S:g} s; see {_log_path(self.owner)}."
                )
            await asyncio.sleep(LOOK_S)

    async def _greet(self, folder: Path) -> bool:
        """Connect to the supervisor in `folder`; False if none answers.

        The front attaches to a matching set, and waits for the end of any other.
        """
        try:
            async with asyncio.timeout(REPLY_S):
                reader, writer = await sockets.open_stream(socket_path(str(folder)), LINE_BYTES_MAX)
        except (OSError, TimeoutError, ValueError, KeyError):
            return False
        try:
            async with asyncio.timeout(REPLY_S):
                hello = dict(json.loads(await reader.readline()))
        except (OSError, TimeoutError, ValueError, TypeError, RecursionError):
            writer.close()
            return False
        self._reader, self._writer, self.hello = reader, writer, hello
        self.problem = mismatch(self.owner, hello)
        if self.problem and self._code.is_replaced():
            self.problem = RESTART
        await self._send("wait" if self.problem else "attach")
        if self._keeps and not self.problem:
            await self._send("keep")
        return True

    async def tell_refused(self, lines: int) -> None:
        """Report `lines` more broken lines of the client; `cortex status` shows the sum."""
        await self._send("refused", lines=lines)

    async def _send(self, command: str, **more: int) -> None:
        if self._writer is not None:
            with contextlib.suppress(OSError):
                self._writer.write(_command_line(command, **more))
                await self._writer.drain()


def begin(owner: Owner) -> None:
    """Start the owner's set, if none runs, ahead of `attach`, which reports the faults."""
    with contextlib.suppress(CortexError, OSError):
        if all(holder_of(folder / "set.lock") is None for folder in set_folders(owner)):
            check_root(owner)
            check_start(owner)
            _begun[owner.runtime_dir] = spawn(owner)


def end_begun() -> None:
    """End the sets that `begin` has started and to which no front has attached."""
    while _begun:
        _begun.popitem()[1].terminate()


async def attach(owner: Owner, *, start: bool = True) -> Attachment:
    """Return a connection to the owner's set of workers; with `start`, start a set if none runs,
    which ends after its last front.

    Returns as soon as the supervisor answers: its workers may still be starting. Raises
    Misconfigured and Unavailable; later faults are sentences in `problem`.
    """
    if start:
        remove_stale_folders()
        open_folders(owner)
    attachment = Attachment(owner, start=start)
    try:
        await attachment.open()
    except BaseException:
        await attachment.close()
        raise
    return attachment


def run_supervisor(owner: Owner, *, http: bool = False) -> int:
    """Supervise in the foreground until a signal or `cortex down`; return the exit code.

    `http`: with the HTTP server. Main thread only. Raises Misconfigured when a set is already
    running.
    """
    check_start(owner)
    if owner.sandbox:
        return _run_in_sandbox(owner)
    while True:
        open_folders(owner)
        code = Supervisor(spec_of(owner, idle_exit=False, http=http)).run(lock_s=1.0)
        if code == ANEW:
            return re_exec.begin(UPGRADED)
        if code != EXIT_HOME_GONE:
            return code


def run_once(owner: Owner, command: list[str]) -> int:
    """Run `command` in the sandbox; return its exit code. Raises Misconfigured, Unavailable."""
    from cortex.processes import sandbox

    check_start(owner)
    open_folders(owner)
    wrapped = sandbox.sandbox_command(owner, command, dies_with_us=True)
    environment = sandbox.environment()
    return subprocess.run(wrapped, stdin=subprocess.DEVNULL, env=environment, check=False).returncode


def stop(owner: Owner) -> bool:
    """Stop the owner's set, of any version, and wait for its end; return False if none was
    running.

    Raises Unavailable when it has not ended within STOP_S.
    """
    deadline = time.monotonic() + STOP_S
    was_running = False
    for folder in set_folders(owner):
        holder = holder_of(folder / "set.lock")
        if holder is None:
            continue
        was_running = True
        if _ask_supervisor(folder, "stop") is None and holder > 0:
            with contextlib.suppress(ProcessLookupError):
                # The process holds the lock, so it is a supervisor that has lost its socket.
                os.kill(holder, signal.SIGTERM)
        while holder_of(folder / "set.lock") is not None:
            if time.monotonic() >= deadline:
                who = f"process {holder}" if holder else "it (its processes are in a sandbox)"
                raise Unavailable(f"The set did not stop within {STOP_S:g} s; end {who} by hand.")
            time.sleep(STOP_LOOK_S)  # the release of a lock sends no event
    return was_running


def add_process(owner: Owner, name: str) -> None:
    """Have the running set start the process `name` as well, unless it has. Raises Unavailable."""
    answer = _ask_supervisor(owner.runtime_dir, "add", name=name)
    if not (answer and answer.get("added")):
        raise Unavailable(f"The workers of {owner.root} did not start {name}; see {_log_path(owner)}.")


def clear(owner: Owner) -> None:
    """Remove the owner's runtime folders in which no process holds a lock."""
    for folder in set_folders(owner):
        remove_unlocked(folder)


def stop_alone(owner: Owner) -> tuple[bool, list[str]]:
    """End the processes that serve the owner without a supervisor, and wait for their end; return
    (whether there were any, a sentence for each process that is left).

    A process that is no command of Cortex is left (a program with an open store), and one that
    serves other projects as well.
    """
    alone = [process for process in set_status(owner)["processes"] if "lock" in process]
    sentences, ended = [], list[dict[str, Any]]()
    for process in alone:
        name, pid = process["name"], process["pid"]
        if not pid or not hosts.runs_command(pid, tuple(MODULES), tuple(MODULES.values())):
            sentences.append(f"Process {pid or 'in a sandbox'} goes on to serve {name}: end it by hand.")
        elif name == HTTP and _serves_others(owner, pid):
            sentences.append(
                f"Process {pid} serves this and other projects over HTTP, and starts workers again at the next "
                "call: end it by hand."
            )
        else:
            ended.append(process)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_S
    while any(holder_of(process["lock"]) == process["pid"] for process in ended):
        if time.monotonic() >= deadline:
            raise Unavailable(f"The processes did not end within {STOP_S:g} s; end them by hand.")
        time.sleep(STOP_LOOK_S)  # the release of a lock sends no event
    return bool(ended), sentences


def _serves_others(owner: Owner, pid: int) -> bool:
    """Whether the HTTP server `pid` serves further projects: it holds a lock for each."""
    ours = {folder / HTTP_LOCK for folder in set_folders(owner)}
    return any(holder_of(lock) == pid for lock in {*owner.runtime_dir.parent.glob(f"*/{HTTP_LOCK}")} - ours)


def _alone(owner: Owner, processes: Collection[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the processes that serve the owner and are none of its supervisor's `processes`, in
    the form of a supervisor's status, each with the path of its lock: `honcho start`, systemd or a
    person started them.
    """
    supervised = {process["name"] for process in processes if process["state"] != "held"}
    alone = []
    for folder in set_folders(owner):
        for process in kind_of(owner).processes:
            if process.name in supervised:
                continue
            for lock in sorted(folder.glob(process.lock)):
                if (holder := holder_of(lock)) is None:
                    continue
                with contextlib.suppress(OSError):
                    uptime_s = max(0.0, time.time() - lock.stat().st_mtime)
                    entry = {"name": process.name, "state": ALONE, "pid": holder, "uptime_s": uptime_s}
                    alone.append(entry | {"restarts": 0, "last_error": "", "lock": str(lock)})
    return alone


def set_status(owner: Owner) -> dict[str, Any]:
    """Return the supervisor's status with `running` and `problem`; {"running": False, …} if no set
    runs. Processes without a supervisor have the state ALONE, or "held" in a running set.
    """
    status: dict[str, Any] = {"running": False, "problem": "", "processes": []}
    for folder in set_folders(owner):
        if answer := _ask_supervisor(folder, "status"):
            problem = mismatch(owner, answer)
            answer.pop("settings", None)
            status = answer | {"running": True, "problem": problem}
            break
    alone = {process["name"]: process for process in _alone(owner, status["processes"])}
    processes = [
        process | {key: served[key] for key in ("pid", "uptime_s", "lock")} if served else process
        for process in status["processes"]
        for served in [alone.pop(process["name"], None)]
    ]
    return status | {"processes": [*processes, *alone.values()]}


def spawn(owner: Owner) -> subprocess.Popen[bytes]:
    """Start a supervisor that outlives us. In a race the lock admits one; others end with 0."""
    open_folders(owner)
    path = _log_path(owner)
    trim_log(path)
    command, environment = _supervisor_command(owner, idle_exit=True)
    with os.fdopen(files.open_log(path), "ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=os.sep,
            env=environment,
            **hosts.detached_options(),
        )


def _supervisor_command(
    owner: Owner, *, idle_exit: bool, dies_with_us: bool = False
) -> tuple[list[str], dict[str, str] | None]:
    """Return the command and environment that start the supervisor, in its sandbox if any."""
    spec = spec_of(owner, idle_exit=idle_exit)
    module = "cortex.processes.supervisor"
    command = [sys.executable, "-P", "-m", module, spec.of_kind.option, spec.root, spec.dump()]
    if not owner.sandbox:
        return command, child_environment()
    from cortex.processes import sandbox

    return sandbox.sandbox_command(owner, command, dies_with_us=dies_with_us), sandbox.environment()


def _run_in_sandbox(owner: Owner) -> int:
    """Run the supervisor in a sandbox, else as `run_supervisor`: signals reach it by its socket."""

    def end(_number: int, _frame: FrameType | None) -> None:
        stop(owner)

    for number in hosts.STOP_SIGNALS:
        signal.signal(number, end)
    while True:
        open_folders(owner)
        command, environment = _supervisor_command(owner, idle_exit=False, dies_with_us=True)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, cwd=os.sep, env=environment, **hosts.detached_options()
        )
        code = process.wait()
        if code != EXIT_HOME_GONE:
            return code


def set_folders(owner: Owner) -> list[Path]:
    """Return the owner's runtime folders: this protocol's, then those of others that ever ran."""
    ours = owner.runtime_dir
    return [
        ours,
        *sorted(path for path in ours.parent.glob(f"{ours.name.rpartition('-p')[0]}-p*") if path != ours),
    ]


def other_protocol(owner: Owner) -> Path | None:
    """Return the folder of a running set of another protocol, or None.

    An index has one writer, so a new set must wait for the end of that set.
    """
    others = set_folders(owner)[1:]
    return next((path for path in others if holder_of(path / "set.lock") is not None), None)


def mismatch(owner: Owner, hello: dict[str, Any]) -> str:
    """Return one sentence if a set with the greeting `hello` does not fit this front; else ""."""
    ours = expected_hello(owner)
    if all(hello.get(key) == value for key, value in ours.items()):
        return ""
    differences = say_differences(hello.get("settings"), owner.relied_settings())
    return (
        f"The running workers of {owner.root} are {_describe(hello)}, but this is "
        f"{_describe(ours | {'version': full_version()})}{differences and f', with another {differences}'}: close the "
        f"other agent windows or run `{kind_of(owner).command} down`, then ask again."
    )


def _describe(hello: dict[str, Any]) -> str:
    parts = [f"protocol {hello['protocol']}"] if "protocol" in hello else []
    parts += [f"configuration {hello['config']}"] if "config" in hello else []
    parts += ["in a sandbox" if hello["sandbox"] else "in no sandbox"] if "sandbox" in hello else []
    version = str(hello.get("version", "of another version"))
    if commit := hello.get("commit"):
        version += f"+g{commit}"
    elif source := hello.get("source"):
        version += f" in {source}"  # a clone: its commit may be another by now
    return f"Cortex {version} ({', '.join(parts)})"


def _ask_supervisor(folder: Path, command: str, **more: str) -> dict[str, Any] | None:
    """Send a command to the supervisor in `folder`; return its reply ({} for "stop"), or None."""
    try:
        with sockets.open_socket(socket_path(str(folder)), REPLY_S) as link, link.makefile("rb") as lines:
            if not lines.readline(LINE_BYTES_MAX):
                return None
            link.sendall(_command_line(command, **more))
            if command == "stop":
                return {}
            reply = json.loads(lines.readline(LINE_BYTES_MAX))
    except (OSError, ValueError, KeyError):
        return None
    return reply if isinstance(reply, dict) else None


def _command_line(command: str, **more: int | str) -> bytes:
    return (
        json.dumps({"command": command, "version": __version__, "pid": os.getpid()} | more).encode() + b"\n"
    )


def _log_path(owner: Owner) -> str:
    return str(owner.log_dir / "supervisor.log")


def _last_log_line(owner: Owner) -> str:
    try:
        raw = files.read_ours(_log_path(owner), 2 * LOG_BYTES_MAX)
        lines = raw.decode(errors="replace").splitlines()
    except OSError:
        lines = []
    return next((line for line in reversed(lines) if line.strip()), "") or _log_fault(owner)


def _log_fault(owner: Owner) -> str:
    """Return why the log has no reason, as far as it is known."""
    try:
        files.remove(files.write_new(owner.log_dir, "start", bytes(4096)))
    except OSError as error:
        return f"{owner.log_dir} cannot be written ({error.strerror}); free some space or make it writable."
    return "no reason was given"
