"""The branches for Windows and macOS, as far as they run here."""

from __future__ import annotations

import ast
import asyncio
import errno
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cortex.system import hosts
from cortex.system.folders import folder_operations
from cortex.system.process import sockets
from tests.wait_until import BOUND_S, until

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for room in ("ipc", "cortex", "workers") for path in (ROOT / room).rglob("*.py"))

#: modules of the standard library that Windows lacks
MISSING = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
#: attributes that modules on Windows lack (docs.python.org, "Availability: Unix")
UNIX_ONLY = {
    "os": set(
        "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_PATH chown fchmod fchown fork fwalk getegid geteuid getgid getloadavg "
        "getpgid getuid killpg lockf mkfifo nice openpty pidfd_open pipe2 posix_fadvise pread pwrite sched_getaffinity "
        "setpgid setsid statvfs sysconf uname wait waitpid".split()
    ),
    "signal": set(
        "ITIMER_PROF ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGPROF SIGUSR1 SIGUSR2 SIG_BLOCK pthread_sigmask "
        "setitimer sigwait".split()
    ),
    "select": {"epoll", "poll"},
    "socket": {"AF_UNIX", "MSG_DONTWAIT", "SO_PEERCRED"},
    "mmap": {"MADV_DONTNEED", "MAP_SHARED", "PROT_READ"},
    "faulthandler": {"register"},
}

#: imports each module of ours with a standard library as Windows has it
IMPORT_ALL = """
import builtins, importlib, sys, types
MISSING, UNIX_ONLY, names = eval(sys.argv[1]), eval(sys.argv[2]), eval(sys.argv[3])
real = builtins.__import__

class Lacking(types.ModuleType):
    def __init__(self, module, names):
        super().__init__(module.__name__)
        self.__dict__["module"], self.__dict__["names"] = module, names
    def __getattr__(self, name):
        if name in self.names:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self.module, name)

lacking = {name: Lacking(real(name), lacks) for name, lacks in UNIX_ONLY.items()}

def ours(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    if importer.partition(".")[0] in ("cortex", "ipc", "workers"):
        if name in MISSING:
            raise ImportError(f"{importer} imports {name}, which Windows has not")
        if name in lacking:
            return lacking[name]
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = ours
for name in names:
    importlib.import_module(name)
"""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_every_module_can_be_imported_where_there_is_no_unix():
    names = [name for name in map(name_of, SOURCES) if name != "cortex.__main__"]  # runs on import
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT_ALL, repr(MISSING), repr(UNIX_ONLY), repr(names)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]


#: (module, attribute that it uses) → why it may
ALLOWED = {
    ("cortex.system.files", "os.fwalk"): "asks first whether it is there",
    ("cortex.system.folders.folder_operations", "os.fchmod"): "asks first whether it is there",
    ("cortex.system.folders.inotify", "os.O_NONBLOCK"): "inotify, which Linux alone has",
    ("cortex.system.folders.inotify", "os.O_CLOEXEC"): "inotify, which Linux alone has",
    ("cortex.system.process.cores", "os.sched_getaffinity"): "asks first whether it is there",
    ("cortex.generation.segments.segment", "mmap.MADV_DONTNEED"): "asks first whether it is there",
    ("cortex.system.process.allocator", "mmap.MADV_DONTNEED"): "only where the system tells what is mapped",
    ("cortex.processes.supervisor", "signal.SIGCHLD"): "asks first whether it is there",
    ("ipc.service", "faulthandler.register"): "asks first whether it is there",
    ("ipc.service", "signal.SIGPROF"): "asks first whether there is what would come with it",
    ("cortex.system.process.core_dumps", "import resource"): "says what it does without",
    ("cortex.system.process.ports", "import pwd"): "says what it does without",
    ("cortex.indexer.syntax.documents", "import resource"): "says what it does without",
}


#: the modules for differences of systems, and those that run on Linux alone: `may_fork` guards
#: their use
FOR_IT = ("cortex.system.hosts", "cortex.system.process.sockets")
ON_LINUX = ("cortex.indexer.children", "cortex.processes.fork_client", "cortex.processes.forkserver")


def used() -> set[tuple[str, str]]:
    """Return the uses of Unix modules outside the modules for differences of systems."""
    uses, names = set(), frozenset().union(*UNIX_ONLY.values())
    for path in SOURCES:
        module = name_of(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                uses |= {(module, f"import {alias.name}") for alias in node.names if alias.name in MISSING}
            elif isinstance(node, ast.Attribute) and node.attr in names:
                of = ast.unparse(node.value)
                uses |= {(module, f"{of}.{node.attr}")} if node.attr in UNIX_ONLY.get(of, ()) else set()
    return {use for use in uses if use[0] not in (*FOR_IT, *ON_LINUX)}


def test_unix_features_are_used_only_in_the_modules_for_them():
    assert used() == ALLOWED.keys()


class Kernel:
    """LockFileEx as winbase.h describes it: one byte, locked exclusively or shared, without
    waiting.
    """

    def __init__(self) -> None:
        self.locks: dict[int, bool] = {}
        self.places: list[tuple[int, ...]] = []

    def LockFileEx(self, handle, how, _reserved, low, high, place):
        assert (low, high) == (1, 0)
        assert how & 1, "it would wait"
        self.places.append(struct.unpack("@NNIIP", place.raw))
        alone = bool(how & 2)
        if any(other != handle and (alone or theirs) for other, theirs in self.locks.items()):
            return 0
        self.locks[handle] = alone
        return 1


def test_locks_on_windows_lock_an_unread_byte_exclusively_or_shared():
    kernel = Kernel()
    hosts._lock_byte(1, shared=True, library=kernel)
    hosts._lock_byte(2, shared=True, library=kernel)
    with pytest.raises(BlockingIOError) as caught:
        hosts._lock_byte(3, shared=False, library=kernel)
    assert caught.value.errno == errno.EAGAIN
    kernel.locks.clear()
    hosts._lock_byte(3, shared=False, library=kernel)
    with pytest.raises(BlockingIOError):
        hosts._lock_byte(1, shared=True, library=kernel)
    assert {place[2:4] for place in kernel.places} == {(0, 0x7FFF_FFFF)}


def test_an_operation_on_an_open_file_is_retried_for_a_while():
    tries = iter([PermissionError(), PermissionError(), None])

    def act() -> None:
        if (error := next(tries)) is not None:
            raise error

    folder_operations.retry_if_open(act, retries=True)
    with pytest.raises(StopIteration):
        next(tries)
    with pytest.raises(PermissionError):
        folder_operations.retry_if_open(_refuse, retries=False)


def _refuse() -> None:
    raise PermissionError


def test_processes_on_windows_start_in_a_new_group(monkeypatch):
    monkeypatch.setattr(hosts, "WINDOWS", True)
    assert hosts.detached_options() == {"creationflags": 0x0800_0200}
    assert sockets.by_loopback()


def test_without_processor_timers_there_is_no_limit(monkeypatch):
    monkeypatch.delattr("signal.setitimer")
    with hosts.allotted(0.001):
        assert sum(range(100_000)) > 0


def test_a_process_under_nohup_survives_the_end_of_its_terminal():
    heard: list[int] = []

    async def listen() -> None:
        loop, ends = asyncio.get_running_loop(), asyncio.Event()

        def hear(number: int) -> None:
            heard.append(number)
            if number == signal.SIGTERM:
                ends.set()

        hosts.on_stop(loop, hear)
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(ends.wait(), BOUND_S)
        hosts.off_stop(loop)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        asyncio.run(listen())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert heard == [signal.SIGTERM]


def test_a_process_that_runs_is_told_from_one_that_is_gone():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert hosts.is_alive(process.pid)
    process.communicate(b"\n")
    assert not hosts.is_alive(process.pid)


def test_flags_that_a_system_lacks_are_none():
    assert hosts.flags("O_CLOEXEC", "O_NO_SUCH_FLAG") == os.O_CLOEXEC


def test_a_loop_of_windows_waits_for_descriptors(monkeypatch):
    monkeypatch.setattr(hosts, "WINDOWS", True)

    async def of() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert isinstance(hosts.run(of()), asyncio.SelectorEventLoop)


def test_every_loop_with_zeromq_sockets_is_a_selector_loop():
    """`asyncio.run` is for code that starts processes, which the selector loop cannot
    on Windows.
    """
    starts = {name_of(path) for path in SOURCES if "asyncio.run(" in path.read_text(encoding="utf-8")}
    assert starts == {"cortex.front.agents.connections"}


@pytest.mark.parametrize("polls", [True, False])
def test_a_pipe_is_read_to_its_end_to_a_bound_or_to_a_moment(polls):
    def read(bytes_max: int, within_s: float, *, close: bool) -> tuple[bytes, bool]:
        read_end, write_end = os.pipe()
        try:
            os.write(write_end, b"said")
            if close:
                os.close(write_end)
            return hosts.read_within(read_end, time.monotonic() + within_s, bytes_max, polls=polls)
        finally:
            os.close(read_end)
            if not close:
                os.close(write_end)

    assert read(100, 30.0, close=True) == (b"said", True)
    assert read(3, 30.0, close=True) == (b"sai", False)
    assert read(100, 0.2, close=False) == (b"said", False)


def test_a_thread_that_reads_a_pipe_ends_with_it():
    read_end, write_end = os.pipe()
    assert hosts.read_within(read_end, time.monotonic() + 0.05, 100, polls=False) == (b"", False)
    os.close(read_end)
    os.close(write_end)
    until(lambda: not any(thread.name == "pipe" for thread in threading.enumerate()))
