"""One process of a set, with its life line, log and back-off.

Which there are: cortex.processes.names.

Imported by the supervisor, which stays small for as long as it runs: no numpy, no ZeroMQ, no
asyncio, no Config.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Any, Literal

from cortex.processes.fork_client import Forked, ForkServer
from cortex.processes.names import KINDS, Kind
from cortex.sealing.places import VARIABLE as KEY_VARIABLE
from cortex.system import files, hosts
from cortex.system.errors import ANEW, EXIT_OCCUPIED, EXIT_USAGE
from ipc.locks import holder_of

#: seconds before a dead child is started again: the first time, and at most; it doubles in between
BACKOFF_S, BACKOFF_MAX_S = 0.1, 30.0
#: seconds before one that was killed is started again, at most: somebody did that to it, and asking
#: waits for a worker not much longer
BACKOFF_KILLED_MAX_S = 1.6
#: seconds before one that found its place taken is started again, at most: by an orphan, mostly,
#: that publishes what it had begun
BACKOFF_HELD_MAX_S = 3.2
#: seconds between two looks at a place that another process holds
HELD_S = 0.2
#: seconds that a child has to live for its next death to count as the first
SETTLED_S = 10.0
#: seconds after its start in which a child that holds no socket yet counts as coming up: one that
#: takes longer, or has none, keeps the next from starting no longer: on a busy machine all have
#: begun within two seconds
COMING_UP_S = 0.4
#: seconds that a child has to end after SIGTERM
STOP_S = 5.0
#: bytes of one log; when it is larger the older half goes to `<name>.log.1`
LOG_BYTES_MAX = 2 << 20

#: a process that the supervisor has started, one way or the other
Running = subprocess.Popen[bytes] | Forked
State = Literal["waiting", "running", "held", "failed", "finished"]


@dataclass(frozen=True)
class SetSpec:
    """What a supervisor has to know of a configuration; travels as one JSON argument.

    `root`: the folder that the set belongs to, a project or a data folder.
    """

    kind: str
    root: str
    runtime_dir: str
    run_dir: str
    config: str
    protocol: int
    #: names of processes that are not wanted
    without: tuple[str, ...]
    #: seconds without a front after which the set ends; None: only when it is told to
    idle_exit_s: float | None
    #: processes that may come up at the same time when the set starts; None: all
    at_once: int | None = None
    #: whether it runs in a sandbox
    sandbox: bool = False
    #: the folder in memory of a sealed project, "" of others
    plain: str = ""
    #: names of those that a fork server forks, where it can
    forked: tuple[str, ...] = ()
    #: name → argument list in place of the kind's (tests of the supervisor itself)
    commands: dict[str, list[str]] | None = None

    def dump(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def load(cls, text: str) -> SetSpec:
        body = json.loads(text)
        return cls(**body | {name: tuple(body[name]) for name in ("without", "forked")})

    @property
    def of_kind(self) -> Kind:
        return KINDS[self.kind]

    def command_lines(self) -> dict[str, list[str]]:
        """Name → argument list of every process of this set."""
        if self.commands is not None:
            return self.commands
        processes = [process for process in self.of_kind.processes if process.name not in self.without]
        return {process.name: self.of_kind.command_line(process, self.root) for process in processes}


#: heaps of glibc's allocator in a process: with one for each thread of tantivy's, a watcher over
#: twenty files came to 210 MB in a hundred saves; with two it stays at 58
_ARENAS = "2"


def child_environment() -> dict[str, str]:
    """Ours, with one thread for each numeric library: workers are processes, and share the cores
    among them.
    """
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONUNBUFFERED"), "1")
    theirs = {name: value for name, value in os.environ.items() if name != KEY_VARIABLE}
    return {"MALLOC_ARENA_MAX": _ARENAS} | theirs | single


def trim_log(path: str) -> None:
    """Keep `path` and `<path>.1` within LOG_BYTES_MAX each.

    The writers append, so they go on at the new end.
    """
    with contextlib.suppress(OSError):  # a log that cannot be kept small is no reason to end a worker
        files.trim_log(path, LOG_BYTES_MAX)


class Child:
    """One process of a set, over all its restarts."""

    def __init__(
        self, name: str, arguments: list[str], spec: SetSpec, forks: ForkServer | None = None
    ) -> None:
        """`forks`: who forks it, if anybody does."""
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
        """When `tend` has something to do by the clock (monotonic): its end is told by a signal."""
        return self._due if self._process is None and self.state in ("waiting", "held") else math.inf

    @property
    def waits(self) -> bool:
        """Whether it is not started yet because who forks it is coming up."""
        return self.state == "waiting" and self._forks is not None and self._forks.comes_up()

    def comes_up(self, now: float) -> bool:
        """Whether it was started a moment ago and does not answer yet."""
        young = self._process is not None and now - self._started < COMING_UP_S
        return young and not os.path.exists(self._socket_path)

    def tend(self, now: float) -> str:
        """Notice the end of the process, start it when it is due; returns what happened, "" for
        nothing.
        """
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
        holder = holder_of(self._lock_path)
        if holder is not None:
            # A Procfile's worker, or an orphan that is about to notice. Fronts can use it: look
            # again later.
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
        # Its own session: Ctrl-C in a terminal reaches us alone, and its descendants are one
        # process group. The folder /: a relative entry of PYTHONPATH must not make the project's
        # code importable.
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
        hosts.end_group(process.pid)  # pool children that outlived it
        if code == ANEW & 0xFF:  # as it would have begun in its place, had nobody forked it
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
            self.state = "finished"  # it found nothing that it may do and follow
            return f"{self.name}: finished"
        if code == hosts.OUT_OF_TIME:
            self.last_error = "a question or a file took more processor time than it had; the log says where"
        self._retry_later(now)
        how = signal.Signals(-code).name if -code in set(signal.Signals) else f"code {code}"
        return f"{self.name}: ended with {how} after {now - self._started:.1f} s."

    def _last_line(self) -> str:
        """The last line that this run wrote: its own word about why it ended."""
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
        """Ask it to end, by signal and by life line. Its own children hear it from it."""
        if self._process is not None:
            hosts.ask_to_end(self._process)
            if self._process.stdin:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()

    def wait(self, until: float) -> str:
        """Wait for its end until then, then kill it with all its descendants; returns what had to
        be done.
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
