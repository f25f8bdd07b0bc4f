"""The fork server: imports once what the processes of a set need, and forks each of them when the
supervisor asks for it, so that they share what imports leave in memory.

Linux only, and no worker: it answers nobody but its supervisor, over the socket that is its
standard input and life line. It has one thread, and opens nothing of a project. What it forks
stands apart from it: the supervisor is told the number of a process once that is its own child
(see `_fork`), whatever becomes of the fork server.
"""

from __future__ import annotations

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
from cortex.system import allocator, re_exec
from cortex.system.loaded_code import LoadedCode

#: what workers have imported late once they rest: by `numpy.unique`, `cortex.system.zstd` and the
#: built-in embedder
_LATE = ("numpy.ma", "zstandard", "importlib.resources.readers", "cortex.embedders.builtin")
#: what a process of each name has imported once it rests, by the modules that import the rest
NEEDED = {
    "text": ("workers.__main__", "workers.text", "cortex.engines.text.engine", *_LATE),
    "vector": ("workers.__main__", "workers.vector", "cortex.engines.vector.engine", *_LATE),
    "graph": ("workers.__main__", "workers.graph", "cortex.engines.graph.engine", *_LATE),
    "watcher": ("workers.__main__", "workers.watcher", *_LATE),
    "indexer": ("cortex.front.cli.main", "cortex.front.cli.commands", "cortex.indexer.watch"),
}
#: fields of /proc/self/stat behind the program's name, which may hold blanks: where the command
#: line begins and ends in memory (48 and 49 of proc_pid_stat(5))
_STAT, _BEGIN, _END = Path("/proc/self/stat"), 45, 46


def serve(link: socket.socket) -> list[str] | None:
    """Fork a process for each request: return its command line in it, and None in the fork server
    once the supervisor has hung up, or once an upgrade has replaced the loaded modules: a fork
    would run the new version's program with the old version's modules.
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
    """b"" in a new process, its number here. A process in between has ended by then: so the system
    has given the new one to who adopts orphans, which is the supervisor (PR_SET_CHILD_SUBREAPER).
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
    """As a process that the supervisor has started by itself stands."""
    os.setsid()
    for descriptor, place in ((life_line, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, place)
    os.close(life_line)
    os.close(log)
    gc.enable()


def _run(command: Sequence[str]) -> None:
    """Be the program of a command line `PYTHON -P -m MODULE …`."""
    _show_command(command)
    module = command[3]
    sys.orig_argv[:], sys.argv[:] = command, command[3:]
    re_exec.end_instead()
    sys.modules.pop(f"{module}.__main__", None)  # imported to have what it needs; runpy would warn of it
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _show_command(command: Sequence[str]) -> None:
    """Have lists of processes show this command line in place of the fork server's, where it is not
    longer.
    """
    fields = _STAT.read_text(errors="replace").rpartition(")")[2].split()
    begin, end = int(fields[_BEGIN]), int(fields[_END])
    line = b"".join(os.fsencode(argument) + b"\0" for argument in command)
    if 0 < len(line) <= end - begin:
        ctypes.memmove(begin, line.ljust(end - begin, b"\0"), end - begin)


def main(arguments: list[str]) -> None:
    """`--project DIR NAMES`: the folder is there for people who look at the list of processes."""
    gc.disable()  # a collection leaves gaps in pages, which each process would fill with its own
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
