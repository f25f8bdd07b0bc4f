"""The supervisor's side of the fork server: its start, its restarts and its requests.

`forkserver` is the process itself. A forked process is a child of the supervisor, like a process
that the supervisor has started itself. Without a fork server, or if it fails, the supervisor starts
processes itself.
"""

import contextlib
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Sequence

from cortex.system import files, hosts
from cortex.system.errors import EXIT_FAILED

#: seconds that a fork server may take to import everything; after that it is killed
IMPORTS_S = 30.0
#: seconds that one fork may take: it takes some milliseconds
FORKS_S = 2.0
#: seconds before a dead fork server is started again, doubled each time up to the second number:
#: the set works without it, but its processes then take more memory
AGAIN_S, AGAIN_MAX_S = 1.0, 600.0
#: seconds after which a fork server's end resets that pause
SETTLED_S = 10.0
#: the fork server's message after its imports, its reply in place of a process's number after a
#: failed fork, and the bytes of its longest message
READY, REFUSED, WORD_BYTES = b"ready", b"0", 32
#: bytes of one request: a command line, which names a folder
REQUEST_BYTES_MAX = 1 << 16


class Forked:
    """A process from the fork server, with the methods of subprocess.Popen that Child uses."""

    def __init__(self, pid: int, life_line: int) -> None:
        self.pid = pid
        self.stdin = os.fdopen(life_line, "wb", buffering=0)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or minus the number of the fatal signal; None while it runs."""
        if self.returncode is None:
            self._reap(os.WNOHANG)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises subprocess.TimeoutExpired."""
        if self.poll() is None:
            watched = os.pidfd_open(self.pid)  # the system reuses the number only after `_reap`
            try:
                poll = select.poll()
                poll.register(watched, select.POLLIN)
                if not poll.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            finally:
                os.close(watched)
            self._reap(0)
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def _reap(self, options: int) -> None:
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # reaped elsewhere in this process: the exit code is lost
            self.returncode = EXIT_FAILED
        else:
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None


class ForkServer:
    """The fork server of a set, over all restarts; it forks the processes `names`."""

    def __init__(
        self, names: Sequence[str], belongs: Sequence[str], log_path: str, environment: dict[str, str]
    ) -> None:
        """`belongs`: the option and the folder of the set; `log_path`: the log of the server."""
        module = [sys.executable, "-P", "-m", "cortex.processes.forkserver"]
        self.command = [*module, *belongs, ",".join(names)]
        self.log_path, self._environment = log_path, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._is_ready = False
        self._started = self._due = 0.0
        self._pause_s = AGAIN_S

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    @property
    def due(self) -> float:
        """The monotonic time at which `tend` must run next."""
        return math.inf if self._process else self._due

    def comes_up(self) -> bool:
        """Whether the fork server was started and cannot fork yet."""
        return self._process is not None and not self._is_ready

    def tend(self, now: float) -> str:
        """Handle the fork server's end, start and readiness; return a log line or ""."""
        if self._process is None:
            return self._start(now) if now >= self._due else ""
        if (code := self._process.poll()) is not None:
            if now - self._started >= SETTLED_S:
                self._pause_s = AGAIN_S
            self._reset(now)
            return f"fork server: ended with code {code}; processes are started without it"
        if not self._is_ready:
            self._is_ready = self._receive(0.0) == READY
            if not self._is_ready and now - self._started > IMPORTS_S:
                self._process.kill()  # SIGCHLD announces the end
        return ""

    def fork(self, command: Sequence[str], log: int) -> Forked | None:
        """Fork a process for a command line `PYTHON -P -m MODULE …`, with a life line, and with
        stdout and stderr to `log`.

        Returns None if the caller must start the process itself.
        """
        if self._link is None or self._process is None or not self._is_ready:
            return None
        theirs, ours = os.pipe()
        number = 0
        try:
            socket.send_fds(self._link, [json.dumps(command).encode()], [theirs, log])
            number = int(self._receive(FORKS_S))
        except (OSError, ValueError):
            # A process that it may have forked ends with its life line, closed below.
            self._process.kill()
        finally:
            os.close(theirs)
        if number:
            return Forked(number, ours)
        os.close(ours)
        return None

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()  # it has no state to save
            self._process.wait()
            self._reset(math.inf)

    def _start(self, now: float) -> str:
        if not hosts.adopt_orphans():
            self._due = math.inf
            return "fork server: none, as this system leaves us no orphans"
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with os.fdopen(files.open_log(self.log_path), "ab") as log:
                self._process = subprocess.Popen(
                    self.command,
                    stdin=theirs.fileno(),
                    stdout=log,
                    stderr=log,
                    cwd=os.sep,
                    env=self._environment,
                    **hosts.detached_options(),
                )
        except OSError as error:
            self._reset(now)
            return f"fork server: cannot be started: {error}"
        finally:
            theirs.close()
        self._started = now
        return f"fork server: started as process {self.pid}"

    def _reset(self, now: float) -> None:
        if self._link is not None:
            self._link.close()
        self._process, self._link, self._is_ready = None, None, False
        self._due, self._pause_s = now + self._pause_s, min(self._pause_s * 2, AGAIN_MAX_S)

    def _receive(self, wait_s: float) -> bytes:
        """Return the fork server's next message; b"" if none comes within `wait_s` seconds."""
        assert self._link is not None
        self._link.settimeout(wait_s)
        try:
            return self._link.recv(WORD_BYTES)
        except OSError:
            return b""


def may_fork() -> bool:
    """Return whether this system supports the fork server: the supervisor must be able to adopt the
    forked processes, and to wait for their ends with a timeout.
    """
    return hosts.LINUX and hasattr(os, "pidfd_open")


def reap_orphans(ours: Collection[int]) -> None:
    """Reap adopted orphans, so that no zombies stay, but `ours`, which others reap."""
    with contextlib.suppress(ChildProcessError):  # no child is left
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in ours:
                return
            os.waitpid(ended.si_pid, 0)
