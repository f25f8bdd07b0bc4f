"""The fork server: imports the modules of a set's processes once, and forks the processes at the
supervisor's request, so that they share the memory of those modules.

Linux only. It is no worker: it answers its supervisor alone, over the socket that is its standard
input and life line. It has one thread, and opens no file of a project. A forked process is a child
of the supervisor before the supervisor gets its number (see `_fork`), and so outlives the fork
server.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from cortex.processes.fork_client import READY, REFUSED, REQUEST_BYTES_MAX
from cortex.system.loaded_code import LoadedCode
from cortex.system.process import allocator, re_exec

#: modules that workers import late: by `numpy.unique`, `cortex.system.zstd` and the built-in
#: embedder. The vector worker imports usearch when it opens its first vectors
_LATE = ("numpy.ma", "zstandard", "importlib.resources.readers", "cortex.embedders.builtin")
#: name of a process → the modules whose imports cover all that it uses
NEEDED = {
    "text": ("workers.__main__", "workers.text", "cortex.engines.text.engine", *_LATE),
    "vector": (
        "workers.__main__",
        "workers.vector",
        "cortex.engines.vector.engine",
        "usearch.compiled",
        *_LATE,
    ),
    "graph": ("workers.__main__", "workers.graph", "cortex.engines.graph.engine", *_LATE),
    "watcher": ("workers.__main__", "workers.watcher", *_LATE),
    "indexer": ("cortex.front.cli.main", "cortex.front.cli.commands", "cortex.indexer.watch"),
}
#: indexes of two fields of /proc/self/stat, counted behind the program's name, which may hold
#: blanks: the addresses of the command line's begin and end (48 and 49 of proc_pid_stat(5))
_STAT, _BEGIN, _END = Path("/proc/self/stat"), 45, 46


def serve(link: socket.socket) -> list[str] | None:
    """Fork a process for each request; return its command line in the new process.

    Returns None in the fork server after the supervisor has hung up, or after an upgrade has
    replaced the loaded modules: a fork would run the new program with the old modules.
    """
    code = LoadedCode()
    link.send(READY)
    while True:
        raw, descriptors, _, _ = socket.recv_fds(link, REQUEST_BYTES_MAX, 2)
        if not raw:
            return None
        if code.is_replaced():
            link.send(REFUSED)
            return None
        if not (number := _fork()):
            link.detach()  # its descriptor becomes the life line
            _stand_alone(*descriptors)
            command: list[str] = json.loads(raw)
            return command
        for descriptor in descriptors:
            os.close(descriptor)
        link.send(number)


def _fork() -> bytes:
    """Fork twice; return b"" in the new process, and its number in the fork server.

    The process in between has ended by then, so the new process is an orphan and the system has
    given it to the supervisor, which adopts orphans (PR_SET_CHILD_SUBREAPER).
    """
    theirs, ours = os.pipe()
    between = os.fork()
    if not between:
        with contextlib.suppress(OSError):
            if not (forked := os.fork()):
                os.close(theirs)
                os.close(ours)
                return b""
            os.write(ours, b"%d" % forked)
        os._exit(0)
    os.close(ours)
    os.waitpid(between, 0)
    number = os.read(theirs, 32)
    os.close(theirs)
    return number or REFUSED


def _stand_alone(life_line: int, log: int) -> None:
    """Give this process its own session, life line and log, as the supervisor would."""
    os.setsid()
    for descriptor, place in ((life_line, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, place)
    os.close(life_line)
    os.close(log)
    gc.enable()


def _run(command: Sequence[str]) -> None:
    """Run the program of a command line `PYTHON -P -m MODULE …` in this process."""
    _show_command(command)
    module = command[3]
    sys.orig_argv[:], sys.argv[:] = command, command[3:]
    re_exec.end_instead()
    sys.modules.pop(f"{module}.__main__", None)  # imported for its dependencies; runpy would warn of it
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _show_command(command: Sequence[str]) -> None:
    """Make lists of processes show this command line in place of the fork server's, if it fits."""
    fields = _STAT.read_text(errors="replace").rpartition(")")[2].split()
    begin, end = int(fields[_BEGIN]), int(fields[_END])
    line = b"".join(os.fsencode(argument) + b"\0" for argument in command)
    if 0 < len(line) <= end - begin:
        ctypes.memmove(begin, line.ljust(end - begin, b"\0"), end - begin)


def main(arguments: list[str]) -> None:
    """Run `--project DIR NAMES`; DIR only identifies the set in a list of processes."""
    gc.disable()  # a collection leaves gaps in pages, and each process would fill its own copies
    link = socket.socket(fileno=0)
    for name in arguments[-1].split(","):
        for module in NEEDED[name]:
            importlib.import_module(module)
    allocator.trim()
    gc.freeze()
    command = None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the supervisor is gone
        command = serve(link)
    if command is not None:
        _run(command)


if __name__ == "__main__":
    main(sys.argv[1:])
