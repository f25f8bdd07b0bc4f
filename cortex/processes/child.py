"""One process of a set, with its life line, log and back-off.

The life line is a pipe to its standard input: the process ends when the pipe closes.
cortex.processes.names lists the processes. The supervisor imports this module and must stay small:
no numpy, no ZeroMQ, no asyncio, no Config.
"""

import contextlib
import dataclasses
import json
import math
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Any, Literal, Self

from cortex.processes.fork_client import Forked, ForkServer
from cortex.processes.names import KINDS, Kind
from cortex.sealing.places import VARIABLE as KEY_VARIABLE
from cortex.settings.folders.home import IN_SET
from cortex.system import files, hosts
from cortex.system.errors import ANEW, EXIT_OCCUPIED, EXIT_USAGE
from ipc.locks import holder_of

#: seconds before a dead child is started again: at first, and at most; doubled after each death
BACKOFF_S, BACKOFF_MAX_S = 0.1, 30.0
#: seconds, at most, before a killed child is started again: the fault was not its own, and a query
#: waits for a worker not much longer
BACKOFF_KILLED_MAX_S = 1.6
#: seconds, at most, before a child is started again after it ended because another process held its
#: lock: mostly an orphan that still publishes its last changes
BACKOFF_HELD_MAX_S = 3.2
#: seconds between two checks of a lock that another process holds
HELD_S = 0.2
#: seconds after which a child's death resets the back-off
SETTLED_S = 10.0
#: seconds after its start in which a child without a socket counts as coming up. Later it no longer
#: delays the next child: even on a busy machine all children are started within two seconds
COMING_UP_S = 0.4
#: seconds that a child may take to end after SIGTERM
STOP_S = 5.0
#: bytes of one log; the older half of a larger log moves to `<name>.log.1`
LOG_BYTES_MAX = 2 << 20

#: a process that the supervisor has started itself, or through the fork server
Running = subprocess.Popen[bytes] | Forked
State = Literal["waiting", "running", "held", "failed", "finished"]


@dataclass(frozen=True)
class SetSpec:
    """The description of a set for its supervisor, one JSON argument; `root`: its folder."""

    kind: str
    root: str
    runtime_dir: str
    run_dir: str
    config: str
    protocol: int
    #: names of processes that this configuration does not need
    without: tuple[str, ...]
    #: seconds without a front after which the set ends; None: it ends by a command or a signal only
    idle_exit_s: float | None
    #: processes that may come up at the same time when the set starts; None: all
    at_once: int | None = None
    #: whether the set runs in a sandbox
    sandbox: bool = False
    #: the in-memory folder of a sealed project; "" for others
    plain: str = ""
    #: names of the processes that a fork server forks, if it can
    forked: tuple[str, ...] = ()
    #: the settings behind `config`, for a front that has others
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    #: name of the process of the project's store; "": none
    store_worker: str = ""
    #: name → argument list in place of the kind's (tests of the supervisor itself)
    commands: dict[str, list[str]] | None = None

    def dump(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def load(cls, text: str) -> Self:
        body = json.loads(text)
        return cls(**body | {name: tuple(body[name]) for name in ("without", "forked")})

    @property
    def of_kind(self) -> Kind:
        kind = KINDS[self.kind]
        return kind.with_worker(self.store_worker) if self.store_worker else kind

    def command_lines(self) -> dict[str, list[str]]:
        """Return name → argument list for every process of this set."""
        if self.commands is not None:
            return self.commands
        processes = [process for process in self.of_kind.processes if process.name not in self.without]
        return {process.name: self.of_kind.command_line(process, self.root) for process in processes}


#: heaps of glibc's allocator in a process: with one for each of tantivy's threads, a watcher of
#: twenty files grew to 210 MB in a hundred saves; with two it stays at 58 MB
_ARENAS = "2"


def child_environment() -> dict[str, str]:
    """Return this process's environment without the master key, and with one thread for each
    numeric library: the workers are processes and share the cores.
    """
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONUNBUFFERED"), "1")
    theirs = {name: value for name, value in os.environ.items() if name != KEY_VARIABLE}
    return {"MALLOC_ARENA_MAX": _ARENAS} | theirs | single | {IN_SET: "1"}


def trim_log(path: str) -> None:
    """Keep `path` and `<path>.1` within LOG_BYTES_MAX each; writers append at the new end."""
    with contextlib.suppress(OSError):  # a log that cannot be trimmed is no reason to end a worker
        files.trim_log(path, LOG_BYTES_MAX)


class Child:
    """One process of a set, over all its restarts."""

    def __init__(
        self, name: str, arguments: list[str], spec: SetSpec, forks: ForkServer | None = None
    ) -> None:
        """`forks`: the fork server that forks this process, or None."""
        self.name = name
        self.state: State = "waiting"
        self.restarts = -1
        self.last_error = ""
        self.log_path = os.path.join(spec.run_dir, f"{name}.log")
        self._arguments = arguments
        self._finishes = any(process.name == name and process.finishes for process in spec.of_kind.processes)
        self._lock_path = os.path.join(spec.runtime_dir, f"{name}.0.lock")
        self._socket_path = os.path.join(spec.runtime_dir, f"{name}.0.sock")
        self._forks = forks
        self._process: Running | None = None
        self._started = 0.0
        self._due = 0.0
        self._backoff_s = BACKOFF_S
        self._log_start = 0

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    @property
    def due(self) -> float:
        """The monotonic time at which `tend` must run next, unless a signal announces an end."""
        return self._due if self._process is None and self.state in ("waiting", "held") else math.inf

    @property
    def waits(self) -> bool:
        """Whether the start waits for the fork server to come up."""
        return self.state == "waiting" and self._forks is not None and self._forks.comes_up()

    def comes_up(self, now: float) -> bool:
        """Whether the process was started less than COMING_UP_S ago and has no socket yet."""
        young = self._process is not None and now - self._started < COMING_UP_S
        return young and not os.path.exists(self._socket_path)

    def tend(self, now: float) -> str:
        """Handle the process's end, start it when due; return a log line, "" for nothing."""
        news = ""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return ""
            news = self._handle_end(code, now)
        if self.state in ("waiting", "held") and now >= self._due:
            news = f"{news} {self._start(now)}".strip()
        return news

    def _start(self, now: float) -> str:
        if (holder := holder_of(self._lock_path)) is not None:
            # A worker of a Procfile, or an orphan that is about to end. Fronts can use it now.
            news = "" if self.state == "held" else f"{self.name}: process {holder} already does this"
            self.state, self._due = "held", now + HELD_S
            self.last_error = f"process {holder} holds {self._lock_path}"
            return news
        self.state = "waiting"
        if self.waits:
            return ""
        try:
            log = files.open_log(self.log_path)
        except OSError as error:
            return self._report_start_failure(error, now)
        try:
            self._log_start = os.fstat(log).st_size
            self._process = self._begin(log)
        except OSError as error:
            return self._report_start_failure(error, now)
        finally:
            os.close(log)
        self.state, self._started = "running", now
        self.restarts += 1
        return f"{self.name}: started as process {self.pid}"

    def _begin(self, log: int) -> Running:
        if self._forks is not None and (forked := self._forks.fork(self._arguments, log)):
            return forked
        # A new session: Ctrl-C in a terminal reaches the supervisor alone, and the descendants are
        # one process group. The folder /: a relative entry of PYTHONPATH must not make the
        # project's code importable.
        return subprocess.Popen(
            self._arguments,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=os.sep,
            env=child_environment(),
            **hosts.detached_options(),
        )

    def _report_start_failure(self, error: OSError, now: float) -> str:
        self._retry_later(now)
        self.last_error = f"cannot be started: {error}"
        return f"{self.name}: {self.last_error}"

    def _retry_later(self, now: float) -> None:
        self.state, self._due = "waiting", now + self._backoff_s
        self._backoff_s = min(self._backoff_s * 2, BACKOFF_MAX_S)

    def _handle_end(self, code: int, now: float) -> str:
        process, self._process = self._process, None
        assert process is not None
        _close_life_line(process)
        hosts.end_group(process.pid)  # children of a pool may outlive it
        if code == ANEW & 0xFF:  # a process that was not forked replaces itself by exec instead
            self.state, self._due = "waiting", now
            self.restarts -= 1
            return f"{self.name}: begins anew."
        self.last_error = self._last_line() or self.last_error
        if now - self._started >= SETTLED_S:
            self._backoff_s = BACKOFF_S
        if code in hosts.KILLED:
            self._backoff_s = min(self._backoff_s, BACKOFF_KILLED_MAX_S)
        if code == EXIT_OCCUPIED:
            self._backoff_s = min(self._backoff_s, BACKOFF_HELD_MAX_S)
        if code == EXIT_USAGE:
            self.state = "failed"
            return f"{self.name}: ended with {code}, not started again: {self.last_error}"
        if code == 0 and self._finishes:
            self.state = "finished"  # there is nothing for it to follow
            return f"{self.name}: finished"
        if code == hosts.OUT_OF_TIME:
            self.last_error = "a question or a file took more processor time than it had; the log says where"
        self._retry_later(now)
        how = signal.Signals(-code).name if -code in set(signal.Signals) else f"code {code}"
        return f"{self.name}: ended with {how} after {now - self._started:.1f} s."

    def _last_line(self) -> str:
        """Return the last line that this run has logged: its own reason for the end."""
        try:
            with files.open_ours(self.log_path) as log:
                size = log.seek(0, os.SEEK_END)
                start = self._log_start if self._log_start <= size else 0
                log.seek(max(start, size - 4096))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")[:500]

    def terminate(self) -> None:
        """Ask the process to end, by SIGTERM and by its life line. It ends its children itself."""
        if self._process is not None:
            hosts.ask_to_end(self._process)
            if self._process.stdin:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()

    def wait(self, until: float) -> str:
        """Wait for the process's end until `until` (monotonic), then kill it with all its
        descendants; return a log line if it had to be killed, else "".
        """
        process, self._process = self._process, None
        self.state = "waiting"
        if process is None:
            return ""
        news = ""
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            news = f"{self.name}: did not stop in {STOP_S:g} s; killed"
        hosts.end_group(process.pid)
        process.wait()
        _close_life_line(process)
        return news

    def status(self, now: float) -> dict[str, Any]:
        return {
            "name": self.name,
            "pid": self.pid,
            "state": self.state,
            "restarts": max(0, self.restarts),
            "uptime_s": round(now - self._started, 1) if self._process else 0.0,
            "last_error": self.last_error if self.state != "running" or self.restarts else "",
        }


def _close_life_line(process: Running) -> None:
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
