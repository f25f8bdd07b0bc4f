"""Differences between Linux, macOS and Windows: the only module with a branch for each of them,
except for `sockets`. Imports no module that one of them lacks.

Linux is the main system. macOS has the same calls, but no /proc, no tmpfs, no inotify and no timer
slack: `inotify`, `timers`, `core_dumps`, `allocator`, `mounts` and `ports` raise or return nothing
there, and their callers poll. Windows lacks more:

* Unix sockets, and ZeroMQ's ipc://: both use loopback TCP (`sockets`).
* flock: `lock` locks one byte far behind the end of the file, for a locked byte cannot be read.
* signals but two, process groups, limits of processor time and memory.
* numeric user ids: files are guarded by the rights of the user's profile folder.

Nothing here was run on Windows or macOS.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import os
import select
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable, Collection, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

# Some imports are local to functions: hooks of agents' programs and supervisors import this module
# and have to be quick and small.
if TYPE_CHECKING:
    import asyncio

Name = str | os.PathLike[str]
Result = TypeVar("Result")

WINDOWS = sys.platform == "win32"
LINUX = sys.platform == "linux"
#: prctl's number for adopting orphaned descendants (linux/prctl.h)
_ADOPT = 36
#: signals that ask a process to end, as far as the system has them
STOP_SIGNALS = tuple(
    signal.Signals(getattr(signal, name))
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
)
#: exit codes of a process that a person or the system ended, and of one that used up its processor
#: time (`allot`); none where the system has no such signals
ENDED_FROM_OUTSIDE = frozenset(
    -getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)
KILLED = ENDED_FROM_OUTSIDE & {-getattr(signal, name, 0) for name in ("SIGKILL", "SIGTERM")}
OUT_OF_TIME = -getattr(signal, "SIGPROF", 0) or None
#: bytes of a pipe per read
_READ_BYTES = 1 << 16
#: offset of the byte that Windows locks, in two halves: no file is as long
_LOCKED_LOW, _LOCKED_HIGH = 0, 0x7FFF_FFFF
#: bits of LockFileEx (minwinbase.h)
_FAIL_IMMEDIATELY, _EXCLUSIVE = 1, 2
_OVERLAPPED = struct.Struct("@NNIIP")
#: bits of CreateProcess (winbase.h): a new process group, which Ctrl-C does not reach; no window
_NEW_GROUP, _NO_WINDOW = 0x200, 0x0800_0000
#: OpenProcess's right to query, and GetExitCodeProcess's code of a running process (winnt.h,
#: minwinbase.h)
_QUERY_LIMITED, _STILL_ACTIVE = 0x1000, 259


def user_id() -> int:
    """Return the user id as files name their owner; 0 on Windows, for all files."""
    return os.getuid() if hasattr(os, "getuid") else 0


def flags(*names: str) -> int:
    """Combine those flags of open(2) that the system has, by name."""
    return functools.reduce(lambda bits, name: bits | getattr(os, name, 0), names, 0)


# Locks


def lock(descriptor: int, *, shared: bool = False) -> None:
    """Lock an open file until it is closed, without waiting. Raises OSError at a conflict."""
    if WINDOWS:
        _lock_byte(descriptor, shared=shared, library=None)
        return
    import fcntl

    fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _lock_byte(descriptor: int, *, shared: bool, library: Any = None) -> None:
    """Lock by `library`, kernel32 by default."""
    import ctypes

    # OVERLAPPED of minwinbase.h: two pointers, the halves of the place, a handle of no event
    place = ctypes.create_string_buffer(
        _OVERLAPPED.pack(0, 0, _LOCKED_LOW, _LOCKED_HIGH, 0), _OVERLAPPED.size
    )
    how = _FAIL_IMMEDIATELY | (0 if shared else _EXCLUSIVE)
    if not (library or _kernel32()).LockFileEx(_handle(descriptor), how, 0, 1, 0, place):
        raise BlockingIOError(errno.EAGAIN, "Is locked by another process")


def _handle(descriptor: int) -> int:
    """Return the system's handle of an open file."""
    if not WINDOWS:
        return descriptor
    import msvcrt

    handle: int = msvcrt.get_osfhandle(descriptor)  # type: ignore[attr-defined]
    return handle


def _kernel32() -> Any:
    import ctypes

    return ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]


# Pipes and sockets that are open


def send_now(descriptor: int, data: bytes) -> int:
    """Write without waiting, and return the number of bytes written: to a socket as many as it
    takes, to a pipe all or none. 0 if the system does not tell. A closed reader is not reported
    here.
    """
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import fcntl
        import socket
        import termios

        kind = os.fstat(descriptor).st_mode
        if stat.S_ISSOCK(kind):
            with socket.socket(fileno=os.dup(descriptor)) as peer:
                return peer.send(data, socket.MSG_DONTWAIT)
        if stat.S_ISFIFO(kind) and len(data) <= fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ):
            unread = int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)
            return os.write(descriptor, data) if not unread else 0
    return 0


def hang_up_check(descriptor: int) -> Callable[[], bool]:
    """Return a check whether our pipe's writer has closed it; False where that is unknown."""
    if not hasattr(select, "poll"):
        return lambda: False
    poll = select.poll()
    poll.register(descriptor, select.POLLHUP)
    return lambda: bool(poll.poll(0))


async def wait_for_parent_end(look_s: float) -> None:
    """Return when the present parent of this process has ended; never on Windows, and for a process
    whose parent is the system's first. Where the system reports no end, look every `look_s`.
    """
    import asyncio

    ended, parent = asyncio.Event(), 0 if WINDOWS else os.getppid()
    if parent <= 1:
        await ended.wait()
    descriptor = -1
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(parent)
    loop = asyncio.get_running_loop()
    try:
        if descriptor >= 0:
            loop.add_reader(descriptor, ended.set)
        while os.getppid() == parent:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if descriptor >= 0 else look_s):
                    await ended.wait()
            if ended.is_set():
                return
    finally:
        if descriptor >= 0:
            loop.remove_reader(descriptor)
            os.close(descriptor)


# Loops


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop that waits for descriptors, as ZeroMQ's sockets need. Windows' default
    loop cannot; the selector loop starts no processes there.
    """
    import asyncio

    return asyncio.SelectorEventLoop() if WINDOWS else asyncio.new_event_loop()


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """As asyncio.run, with a loop of `new_loop`."""
    import asyncio

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)


# Pipes


def read_within(
    descriptor: int, until: float, bytes_max: int, *, polls: bool = not WINDOWS
) -> tuple[bytes, bool]:
    """Return (output of a pipe until that moment of time.monotonic, whether the pipe ended). If a
    pipe cannot be polled (`polls`), a thread reads it.
    """
    blocks, left = list[bytes](), bytes_max
    take = _polled(descriptor) if polls else _by_thread(descriptor, bytes_max)
    while left and (block := take(max(0.0, until - time.monotonic()), left)) is not None:
        if not block:
            return b"".join(blocks), True
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks), False


def _polled(descriptor: int) -> Callable[[float, int], bytes | None]:
    import selectors

    def take(wait_s: float, bytes_max: int) -> bytes | None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            ready = selector.select(wait_s)
        return os.read(descriptor, min(bytes_max, _READ_BYTES)) if ready else None

    return take


def _by_thread(descriptor: int, bytes_max: int) -> Callable[[float, int], bytes | None]:
    """Read in a thread with a duplicate descriptor, since ours may be closed and reused meanwhile.
    The thread ends with the pipe, or after `bytes_max` bytes.
    """
    import queue
    import threading

    mine, blocks = os.dup(descriptor), queue.SimpleQueue[bytes]()

    def read() -> None:
        left, block = bytes_max, b"-"
        try:
            while left and block:
                with contextlib.suppress(OSError):  # a broken pipe counts as its end
                    block = b""
                    block = os.read(mine, min(left, _READ_BYTES))
                left -= len(block)
                blocks.put(block)
        finally:
            os.close(mine)

    def take(wait_s: float, _bytes_max: int) -> bytes | None:
        with contextlib.suppress(queue.Empty):
            return blocks.get(timeout=wait_s)
        return None

    threading.Thread(target=read, name="pipe", daemon=True).start()
    return take


# Files


def replace(source: str, target: str) -> None:
    """Rename a file over another one."""
    os.replace(source, target)


# Processes


def detached_options() -> dict[str, Any]:
    """Return options of Popen for a process that Ctrl-C in our terminal does not reach, and that
    `end_group` can end together with its descendants.
    """
    return {"creationflags": _NEW_GROUP | _NO_WINDOW} if WINDOWS else {"start_new_session": True}


def find_program(name: str, path: str, *, windows: bool = WINDOWS) -> str | None:
    """Return the path of a program in one of the folders of `path`. On Windows shutil.which looks
    first in the current folder, which may be a project's.
    """
    import shutil

    if not windows:
        return shutil.which(name, path=path)
    names = (os.path.join(folder, f"{name}.exe") for folder in path.split(os.pathsep) if folder)
    return next((candidate for candidate in names if os.path.isfile(candidate)), None)


def end_group(leader: int) -> None:
    """Kill a process of `detached_options` and its descendants, if they still run."""
    if WINDOWS:
        import subprocess

        command = ["taskkill", "/PID", str(leader), "/T", "/F"]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=5.0, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def adopt_orphans() -> bool:
    """Become the parent of descendants whose parents end; False if the system cannot."""
    if not LINUX:
        return False
    try:
        return bool(c_library().prctl(_ADOPT, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


class Terminable(Protocol):
    """A process that can be asked to terminate."""

    def terminate(self) -> None: ...


def ask_to_end(process: Terminable) -> None:
    """Ask a process to end, by a signal; on Windows its parent closes its lifeline instead."""
    if not WINDOWS:  # on Windows terminate() kills at once
        with contextlib.suppress(OSError):
            process.terminate()


def is_alive(pid: int) -> bool:
    """Whether a process with this number runs, as far as this user may see."""
    if not WINDOWS:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True
    import ctypes

    library = _kernel32()  # os.kill would kill it
    handle = library.OpenProcess(_QUERY_LIMITED, 0, pid)
    if not handle:
        return False
    code = ctypes.c_uint32()
    library.GetExitCodeProcess(handle, ctypes.byref(code))
    library.CloseHandle(handle)
    return code.value == _STILL_ACTIVE


def runs_command(pid: int, programs: Collection[str], modules: Collection[str]) -> bool:
    """Whether the process is one of our programs, by its command line; False if unknown."""
    words = _command_line(pid)
    names = {os.path.basename(word) for word in words[:2]}  # a script's interpreter is before it
    started = {after for option, after in itertools.pairwise(words) if option == "-m"}
    return bool(names & {*programs} or started & {*modules})


def lock_holders(path: Name) -> list[tuple[int, str]]:
    """Return (pid, command line) of the holders of a file's lock, known on Linux."""
    holders = dict[int, str]()
    with contextlib.suppress(OSError, ValueError):
        inode = os.stat(path).st_ino
        with open("/proc/locks", encoding="ascii") as file:
            for line in file:
                fields = line.split()
                if "->" not in fields and int(fields[5].rpartition(":")[2]) == inode and int(fields[4]) > 0:
                    holders[int(fields[4])] = " ".join(_command_line(int(fields[4]))).strip()
    return sorted(holders.items())


def _command_line(pid: int) -> list[str]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")]
    if WINDOWS or LINUX:
        return []
    import subprocess

    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        command = ["ps", "-o", "args=", "-p", str(pid)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=5.0, check=False
        ).stdout.split()
    return []


def c_library(*, use_errno: bool = False) -> Any:
    """Return the system's C library. Raises OSError on Windows, which has other functions."""
    if WINDOWS:
        raise OSError(errno.ENOSYS, "This system has no such functions")
    import ctypes

    return ctypes.CDLL(None, use_errno=use_errno)


# Signals and limits


def _stop_signals() -> list[signal.Signals]:
    """Return the signals that ask this process to end; no SIGHUP if `nohup` ignores it."""
    return [
        number
        for number in STOP_SIGNALS
        if number.name != "SIGHUP" or signal.getsignal(number) is not signal.SIG_IGN
    ]


def on_stop(loop: asyncio.AbstractEventLoop, then: Callable[[int], None]) -> None:
    """Call `then` in the loop with each signal that asks this process to end."""
    for number in _stop_signals():
        try:
            loop.add_signal_handler(number, then, number)
        except NotImplementedError:
            signal.signal(number, lambda which, _frame: loop.call_soon_threadsafe(then, which))


def off_stop(loop: asyncio.AbstractEventLoop) -> None:
    for number in STOP_SIGNALS:
        try:
            loop.remove_signal_handler(number)
        except NotImplementedError:
            signal.signal(number, signal.SIG_DFL)


def wait_for_stop() -> None:
    """Return when a signal asks this process to end."""
    if hasattr(signal, "sigwait"):
        signals = _stop_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        signal.sigwait(signals)
        return
    import threading

    stop_event = threading.Event()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda _number, _frame: stop_event.set())
    while not stop_event.wait(1.0):  # an unbounded wait does not react to Ctrl-C on Windows
        pass


def end_by_signals() -> None:
    """From now on SIGTERM and SIGINT kill this process at once, without handlers."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def end_within(seconds: float) -> None:
    """End this process with code 0 after `seconds`, whatever it does then."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _number, _frame: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return
    import threading

    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def give_way(nice: int) -> None:
    """Lower the priority of this process by `nice`."""
    if hasattr(os, "nice"):
        os.nice(nice)


def allot(seconds: float) -> None:
    """Send SIGPROF after so much more processor time (0: never), where that is counted."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


@contextlib.contextmanager
def allotted(seconds: float) -> Iterator[None]:
    """As `allot`, for the `with`: library code cannot be interrupted, but a process can. Waiting
    for others (a model server, a busy machine) does not count.
    """
    if not seconds:
        yield
        return
    allot(seconds)
    try:
        yield
    finally:
        allot(0)


def bound_memory(bytes_max: int, pid: int = 0) -> None:
    """Limit this process's data segment, on Linux also that of `pid`, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        bound = bytes_max if most == resource.RLIM_INFINITY else min(most, bytes_max)
        if not pid:
            resource.setrlimit(resource.RLIMIT_DATA, (bound, most))
        elif sys.platform == "linux":
            resource.prlimit(pid, resource.RLIMIT_DATA, (bound, most))


def raise_open_files(wanted: int) -> int:
    """Raise the number of files that this process may have open toward `wanted`; return it."""
    try:
        import resource
    except ImportError:
        return wanted
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < wanted:
        soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))
    return soft if soft >= 0 else wanted
