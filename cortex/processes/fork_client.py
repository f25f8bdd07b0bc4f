"""The fork server as its supervisor has it (`forkserver` is the process): when it runs, and
what it forks.

What it forks is the supervisor's own child, as what the supervisor starts by itself is. Where there
is no fork server, or it fails, processes are started plainly.
"""

from __future__ import annotations

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

#: seconds that a fork server has to import all; then processes are started without it
IMPORTS_S = 30.0
#: seconds that it has to fork one: it takes some milliseconds
FORKS_S = 2.0
#: seconds before one that ended is started again, so that what begins anew is forked again; doubled
#: each time up to the second number: without it all works, and takes more memory
AGAIN_S, AGAIN_MAX_S = 1.0, 600.0
#: seconds that it has to live for its next end to count as the first
SETTLED_S = 10.0
#: what it says once it has imported all, and in place of a process's number where none could be
#: forked; bytes of its longest word
READY, REFUSED, WORD_BYTES = b"ready", b"0", 32
#: bytes of one request: a command line, which names a folder
REQUEST_BYTES_MAX = 1 << 16


class Forked:
    """A process that a fork server has forked for us, with what Child asks of subprocess.Popen."""

    def __init__(self, pid: int, life_line: int) -> None:
        self.pid = pid
        self.stdin = os.fdopen(life_line, "wb", buffering=0)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or minus the number of the signal that ended it; None while it runs."""
        if self.returncode is None:
            self._reap(os.WNOHANG)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises subprocess.TimeoutExpired."""
        if self.poll() is None:
            watched = os.pidfd_open(self.pid)  # the number is its own until `_take`
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
        except ChildProcessError:  # taken by somebody else in this process: how it ended is lost
            self.returncode = EXIT_FAILED
        else:
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None


class ForkServer:
    """The fork server of one set, over all its restarts. `names`: what it forks."""

    def __init__(
        self, names: Sequence[str], belongs: Sequence[str], log_path: str, environment: dict[str, str]
    ) -> None:
        """`belongs`: the option and the folder of the set; `log_path`: for what it says itself."""
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
        """When `tend` has something to do by the clock (monotonic)."""
        return math.inf if self._process else self._due

    def comes_up(self) -> bool:
        """Whether it was started and cannot fork yet."""
        return self._process is not None and not self._is_ready

    def tend(self, now: float) -> str:
        """Notice its end, start it when it is due, see whether it is ready; returns what happened,
        "" for nothing.
        """
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
                self._process.kill()  # the system tells us of its end
        return ""

    def fork(self, command: Sequence[str], log: int) -> Forked | None:
        """The process of a command line `PYTHON -P -m MODULE …`, with a life line, and `log` for
        what it writes. None: start it plainly.
        """
        if self._link is None or self._process is None or not self._is_ready:
            return None
        theirs, ours = os.pipe()
        number = 0
        try:
            socket.send_fds(self._link, [json.dumps(command).encode()], [theirs, log])
            number = int(self._receive(FORKS_S))
        except (OSError, ValueError):
            # What it may have forked without our knowing sees its life line end.
            self._process.kill()
        finally:
            os.close(theirs)
        if number:
            return Forked(number, ours)
        os.close(ours)
        return None

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()  # it holds nothing
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
        """A word of its; b"" when it says none so long."""
        assert self._link is not None
        self._link.settimeout(wait_s)
        try:
            return self._link.recv(WORD_BYTES)
        except OSError:
            return b""


def may_fork() -> bool:
    """Whether processes of a set can be forked here: what a fork server forks has to be our own
    child, and what ends of it has to be waited for with a bound.
    """
    return hosts.LINUX and hasattr(os, "pidfd_open")


def reap_orphans(ours: Collection[int]) -> None:
    """Have the system forget what ended and was left to us by a process that ended before: who
    adopts orphans has to. `ours`: processes of whose end somebody else takes notice.
    """
    with contextlib.suppress(ChildProcessError):  # there is none
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in ours:
                return
            os.waitpid(ended.si_pid, 0)
