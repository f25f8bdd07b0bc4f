"""The supervisor of one set: starts its processes, replaces dead ones, stops them in order, and
counts its fronts.

One thread, one loop. cortex.processes.attach starts it as `python -P -m
cortex.processes.supervisor`, and `cortex up` runs it in its own process.
"""

import contextlib
import json
import math
import os
import selectors
import signal
import socket
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from cortex import __version__
from cortex.processes.child import STOP_S, Child, SetSpec, child_environment, trim_log
from cortex.processes.fork_client import ForkServer, reap_orphans
from cortex.system import hosts
from cortex.system.errors import (
    ANEW,
    EXIT_FAILED,
    EXIT_HOME_GONE,
    EXIT_OK,
    EXIT_USAGE,
    CortexError,
    Misconfigured,
)
from cortex.system.folders.inotify import ITSELF, Notices
from cortex.system.loaded_code import BUILT, SOURCE, LoadedCode
from cortex.system.process import re_exec, sockets
from cortex.system.terminal import escape_in_line
from ipc.locks import POLL_S, Lock, clear_place, holder_of, try_lock

#: seconds between two checks of the folders and of the logs' sizes: signals announce the ends of
#: children, and events of the file system announce changes of the folders
CHECK_S = 10.0
#: the same without events of the file system
BLIND_CHECK_S = 1.0
#: seconds between two checks while processes wait for others to come up
COMING_UP_TICK_S = 0.02
#: seconds that a new supervisor waits for the lock of a stopping supervisor
LOCK_S = 20.0
#: seconds that a new set waits for its first front, which may have ended or attached to another set
GRACE_S = 5.0
#: bytes of one command line
LINE_BYTES_MAX = 65_536
#: option of a set that runs on without fronts, when it begins anew
RUNS_ON = "--again"
#: the reason in the log when a set begins anew
UPGRADED = "an upgrade has replaced the modules of this process"
#: connections at the same time: one for each window of an agent
CONNECTIONS_MAX = 200


def say(text: str) -> None:
    """Write one log line to stderr: the terminal of `cortex up`, or supervisor.log."""
    print(f"{time.strftime('%H:%M:%S')} {escape_in_line(text)}", file=sys.stderr, flush=True)


class Supervisor:
    """One set of processes, from its lock to the last child's end."""

    def __init__(self, spec: SetSpec) -> None:
        self.spec = spec
        self._forks = self._fork_server()
        self._children = {
            name: self._child(name, arguments) for name, arguments in spec.command_lines().items()
        }
        #: names of processes that wait for others to come up, in the order of their start
        self._pending = list(self._children)
        self._lock: Lock | None = None
        #: the lock that keeps the plain folder of a sealed project in place
        self._plain: Lock | None = None
        self._selector = selectors.DefaultSelector()
        self._lines: dict[socket.socket, bytes] = {}
        self._fronts: set[socket.socket] = set()
        self._waiting: set[socket.socket] = set()
        #: connections over loopback TCP that have not yet sent the secret words
        self._strangers: set[socket.socket] = set()
        self._words = ""
        self._refused = 0
        #: identifies this supervisor: in a sandbox all supervisors have the same process number
        self._born = time.time_ns()
        self._idle_exit_s = spec.idle_exit_s
        self._started = self._idle_since = time.monotonic()
        self._had_front = False
        self._reason = ""
        self._exit = EXIT_OK
        self._identity: tuple[Any, ...] = ()
        self._notices: Notices | None = None
        self._checked = 0.0
        self._code = LoadedCode()
        #: the signatures of its modules at the previous check
        self._signatures = self._code.signatures()

    def _fork_server(self) -> ForkServer | None:
        """Return the fork server of this set; None if no process is forked."""
        spec = self.spec
        names = [name for name in spec.command_lines() if name in spec.forked]
        log_path = os.path.join(spec.run_dir, "forkserver.log")
        belongs = (spec.of_kind.option, spec.root)
        return ForkServer(names, belongs, log_path, child_environment()) if names else None

    def _child(self, name: str, arguments: list[str]) -> Child:
        return Child(name, arguments, self.spec, self._forks if name in self.spec.forked else None)

    def run(self, lock_s: float = LOCK_S) -> int:
        """Take the lock, start all processes, serve until a stop; return the exit code.

        Raises Misconfigured, naming the holder, if another process holds the lock for `lock_s`
        seconds.
        """
        if not self._take_lock(lock_s):
            # Another supervisor was quicker: the set runs, as requested.
            self._hand_over()
            return EXIT_OK
        wake, listener = self._wake_up(), self._listen()
        if self.spec.plain:
            from cortex.sealing.plain_folder import hold_open

            self._plain = hold_open(Path(self.spec.plain))
        self._watch_paths()
        self._identity = self._current_identities()
        commit = BUILT and f"+g{BUILT}"
        say(
            f"supervisor {os.getpid()} of {self.spec.root}: version {__version__}{commit}, {self.spec.config}"
        )
        try:
            while not self._reason:
                now = time.monotonic()
                self._tend(now)
                if now - self._checked >= self._check_s:
                    self._check(now)
                self._count_fronts(now)
                for key, _ in self._selector.select(0 if self._reason else self._wait_s(now)):
                    if key.fileobj is wake:
                        wake.recv(64)
                    elif key.fileobj is listener:
                        self._accept(listener)
                    elif key.fileobj is self._notices:
                        self._notices.take()
                        self._checked = -math.inf
                    else:
                        self._read(key.fileobj)  # type: ignore[arg-type]
        finally:
            self._end(listener)
        return self._exit

    def _seal(self) -> None:
        """Seal the set's last changes; remove the plain folder unless a process still uses it."""
        if self._plain is None:
            return
        from cortex.sealing.plain_folder import close

        try:
            gone = close(Path(self.spec.plain), self._plain)
        except (OSError, ValueError, CortexError) as error:
            say(f"{self.spec.plain} was not sealed again: {error}; the sealed files of before stay")
        else:
            say("sealed" if gone else "another process still uses the plain folder, and will seal it")

    @property
    def _check_s(self) -> float:
        return BLIND_CHECK_S if self._notices is None else CHECK_S

    def _wait_s(self, now: float) -> float:
        """Return the seconds until the next task by the clock."""
        if self._pending or (self._forks and self._forks.comes_up()):
            return COMING_UP_TICK_S
        due = [self._checked + self._check_s, *(child.due for child in self._children.values())]
        if self._forks:
            due.append(self._forks.due)
        if not self._fronts and self._idle_exit_s is not None:
            due.append(self._idle_since + self._idle_limit_s)
        return max(0.0, min(due) - now)

    @property
    def _idle_limit_s(self) -> float:
        """Seconds without a front after which the set ends."""
        return self._idle_exit_s or 0.0 if self._had_front else GRACE_S

    def _watch_paths(self) -> None:
        """Watch the files and folders that this set depends on, by events of the file system."""
        try:
            self._notices = Notices()
            for path in self._paths():
                self._notices.watch(path, ITSELF)
        except OSError as error:
            say(f"cannot watch the folders by events ({error}); looking by the clock")
            if self._notices is not None:
                self._notices.close()
            self._notices = None
        else:
            self._selector.register(self._notices, selectors.EVENT_READ)

    def _take_lock(self, lock_s: float) -> bool:
        path = os.path.join(self.spec.runtime_dir, "set.lock")
        deadline = time.monotonic() + lock_s
        while (lock := try_lock(path)) is None:
            if self.spec.idle_exit_s is not None and _answers(self.spec.runtime_dir):
                return False
            if time.monotonic() >= deadline:
                holder = holder_of(path)
                command = self.spec.of_kind.command
                raise Misconfigured(
                    f"A set of workers for {self.spec.root} is already running (process {holder}); "
                    f"`{command} status` shows it, `{command} down` stops it."
                )
            time.sleep(POLL_S)  # the release of a lock sends no event
        self._lock = lock
        return True

    def _wake_up(self) -> socket.socket:
        """Return a socket that becomes readable at every signal, to wake the loop at once."""
        read, write = socket.socketpair()
        read.setblocking(False)
        write.setblocking(False)
        self._selector.register(read, selectors.EVENT_READ)
        self._wake_write = write  # the descriptor is used as long as this object lives
        signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)

        def stop(number: int, _frame: FrameType | None) -> None:
            self._stop(signal.Signals(number).name)

        for number in hosts.STOP_SIGNALS:
            signal.signal(number, stop)
        if hasattr(signal, "SIGCHLD"):
            signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        return read

    def _listen(self) -> socket.socket:
        path = socket_path(self.spec.runtime_dir)
        clear_place(path)  # left by a killed supervisor: this process holds the lock
        listener, self._words = sockets.listen(path)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        return listener

    def _stop(self, reason: str, code: int = EXIT_OK) -> None:
        if not self._reason:
            self._reason, self._exit = reason, code

    # The loop's parts

    def _tend(self, now: float) -> None:
        if self._forks and (news := self._forks.tend(now)):
            say(news)
        self._tend_children(now)
        if self._forks:
            reap_orphans({self._forks.pid, *(child.pid for child in self._children.values())})

    def _tend_children(self, now: float) -> None:
        for name, child in self._children.items():
            if name in self._pending and not self._has_room(now):
                return
            if news := child.tend(now):
                say(news)
            if name in self._pending and not child.waits:
                self._pending.remove(name)

    def _has_room(self, now: float) -> bool:
        """Return whether fewer than `at_once` processes are coming up."""
        most = self.spec.at_once
        return most is None or sum(child.comes_up(now) for child in self._children.values()) < most

    def _current_identities(self) -> tuple[Any, ...]:
        """Return the identities of the files and folders that this set depends on."""
        return tuple(_identity(path) for path in self._paths())

    def _paths(self) -> tuple[str, ...]:
        """Return the paths that this set depends on: lock, socket, root, log folder, its parent."""
        return (
            os.path.join(self.spec.runtime_dir, "set.lock"),
            socket_path(self.spec.runtime_dir),
            self.spec.root,
            os.path.dirname(self.spec.run_dir),
            self.spec.run_dir,
        )

    def _check(self, now: float) -> None:
        self._checked = now
        for process in (*self._children.values(), *([self._forks] if self._forks else ())):
            trim_log(process.log_path)
        lock, sock, root, *home = self._current_identities()
        if (lock, sock) != self._identity[:2]:
            self._stop("the folder of locks and sockets was replaced")
        elif root != self._identity[2]:
            self._stop(f"{self.spec.of_kind.folder} was moved or deleted")
        elif tuple(home) != self._identity[3:]:
            self._stop("the folder of its logs was replaced", EXIT_HOME_GONE)
        # stop if an upgrade has replaced the modules of this process: fronts start a new set, and a
        # set that runs without fronts begins anew. An installation takes a while, so its files must
        # be equal at two checks
        before, self._signatures = self._signatures, self._code.signatures()
        if self._signatures == before and self._code.is_replaced():
            self._stop("Cortex was upgraded", ANEW if self._idle_exit_s is None else EXIT_OK)

    def _count_fronts(self, now: float) -> None:
        """Stop without a front for the idle time, or when a front of another version waits."""
        if not self._fronts and self._idle_exit_s is not None:
            if self._waiting and (self._had_front or now - self._started > GRACE_S):
                self._stop("a front of another version or configuration takes over")
            elif now - self._idle_since >= self._idle_limit_s:
                self._stop(f"no front for {now - self._idle_since:.0f} s")

    def keep(self) -> None:
        """Run on without fronts."""
        self._idle_exit_s = None

    def _hand_over(self) -> None:
        """Have the set that took the place of a kept one run on without fronts, too."""
        if self._idle_exit_s is None:
            with (
                contextlib.suppress(OSError, ValueError, KeyError),
                sockets.open_socket(socket_path(self.spec.runtime_dir), LOCK_S) as link,
                link.makefile("rb") as lines,
            ):
                if lines.readline(LINE_BYTES_MAX):
                    link.sendall(b'{"command": "keep"}\n')
                    lines.readline(LINE_BYTES_MAX)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        if len(self._lines) >= CONNECTIONS_MAX:
            connection.close()
            return
        connection.setblocking(False)
        self._lines[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ)
        if self._words:
            self._strangers.add(connection)
        else:
            self._send(connection, self.hello())

    def hello(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "commit": BUILT,
            "source": str(SOURCE),
            "protocol": self.spec.protocol,
            "config": self.spec.config,
            "settings": self.spec.settings,
            "pid": os.getpid(),
            "born": self._born,
            "sandbox": self.spec.sandbox,
        }

    def _send(self, connection: socket.socket, message: dict[str, Any]) -> None:
        try:
            connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._drop(connection)  # gone, or does not read: a line fits every socket buffer

    def _drop(self, connection: socket.socket) -> None:
        if connection in self._fronts:
            self._fronts.remove(connection)
            self._idle_since = time.monotonic()
        self._waiting.discard(connection)
        self._strangers.discard(connection)
        if self._lines.pop(connection, None) is not None:
            self._selector.unregister(connection)
            connection.close()

    def _read(self, connection: socket.socket) -> None:
        if connection not in self._lines:
            return  # dropped by an earlier event of this round
        try:
            data = connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        buffered = self._lines[connection] + data
        if not data or len(buffered) > LINE_BYTES_MAX:
            self._drop(connection)
            return
        *lines, self._lines[connection] = buffered.split(b"\n")
        for line in lines:
            if connection in self._lines:  # the line before may have closed the connection
                self._answer(connection, line)

    def _greet_caller(self, connection: socket.socket, line: bytes) -> None:
        """Greet a caller that has sent the secret words; close any other connection."""
        self._strangers.discard(connection)
        answer = sockets.greeting_reply(self._words, line)
        if answer is None:
            self._drop(connection)
            return
        with contextlib.suppress(OSError):
            connection.sendall(answer)
        self._send(connection, self.hello())

    def _answer(self, connection: socket.socket, line: bytes) -> None:
        if connection in self._strangers:
            self._greet_caller(connection, line)
            return
        try:
            request = json.loads(line)
            command, lines = request["command"], request.get("lines", 0)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._drop(connection)
            return
        if command == "attach":
            self._fronts.add(connection)
            self._had_front = True
        elif command == "wait":
            self._waiting.add(connection)
        elif command == "keep" and not self._reason:  # a stopping supervisor cannot confirm it
            self.keep()
            self._send(connection, {"kept": True})
        elif command == "refused" and isinstance(lines, int):
            self._refused += lines
        elif command == "add":
            self._send(connection, {"added": self._add(request.get("name"))})
        elif command == "stop":
            self._stop("asked to stop")
        elif command == "status":
            self._send(connection, self.status())

    def _add(self, name: object) -> bool:
        """Start the process `name` if it does not run, again if it has failed; return False if the
        name is unknown or the set is stopping.
        """
        process = next(
            (candidate for candidate in self.spec.of_kind.processes if candidate.name == name), None
        )
        if process is None or self._reason:
            return False
        if process.name not in self._children or self._children[process.name].state == "failed":
            arguments = self.spec.of_kind.command_line(process, self.spec.root)
            self._children[process.name] = self._child(process.name, arguments)
        return True

    def status(self) -> dict[str, Any]:
        now = time.monotonic()
        return self.hello() | {
            "uptime_s": round(now - self._started, 1),
            "idle_exit_s": self._idle_exit_s,
            "fronts": len(self._fronts),
            "waiting": len(self._waiting),
            "refused_lines": self._refused,
            "watching": "polling" if self._notices is None else "events",
            "fork_server": self._forks.pid if self._forks else 0,
            "processes": [child.status(now) for child in self._children.values()],
        }

    def _end(self, listener: socket.socket) -> None:
        """Stop the processes in order, release the lock, then close the connections: the fronts can
        start their next set at once.
        """
        say(f"stopping: {self._reason or 'an error'}")
        self._selector.unregister(listener)
        listener.close()
        with contextlib.suppress(OSError):
            if _identity(socket_path(self.spec.runtime_dir)) == self._identity[1]:
                os.unlink(socket_path(self.spec.runtime_dir))
        for names in (*self.spec.of_kind.stop_order, tuple(self._children)):
            stage = [self._children[name] for name in names if name in self._children]
            for child in stage:
                child.terminate()
            until = time.monotonic() + STOP_S
            for child in stage:
                if news := child.wait(until):
                    say(news)
        if self._forks:
            self._forks.end()
        self._seal()
        if self._lock is not None:
            self._lock.release()
        for connection in list(self._lines):
            self._drop(connection)
        say("stopped")
        signal.set_wakeup_fd(-1)
        self._selector.close()
        if self._notices is not None:
            self._notices.close()


def socket_path(runtime_dir: str) -> str:
    return os.path.join(runtime_dir, "supervisor.sock")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    # a file that is bound into a sandbox stays after its removal outside, with a link count of 0
    return (info.st_dev, info.st_ino) if info.st_nlink else None


def _answers(runtime_dir: str) -> bool:
    """Return whether a supervisor accepts connections in `runtime_dir`."""
    try:
        sockets.open_socket(socket_path(runtime_dir), 1.0).close()
    except (OSError, ValueError, KeyError):
        return False
    return True


def main(arguments: list[str]) -> int:
    """Run the supervisor of `--project DIR SPEC`, or with another option; DIR only identifies the
    set in a list of processes. Returns the exit code.
    """
    spec = SetSpec.load(arguments[-1])
    try:
        supervisor = Supervisor(spec)
        if RUNS_ON in arguments:
            supervisor.keep()
        code = supervisor.run()
        if code != ANEW:
            return code
        if RUNS_ON not in arguments:
            sys.orig_argv.insert(-1, RUNS_ON)
        return re_exec.begin(UPGRADED)
    except Misconfigured as error:
        say(str(error))
        return EXIT_USAGE
    except OSError as error:
        say(f"The supervisor cannot run: {error}; it writes to {spec.runtime_dir} and {spec.run_dir}.")
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
