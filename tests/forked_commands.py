"""Commands in processes of their own that have loaded the command line already: one process imports
it, and each command is a fork of that. An interpreter and its imports take half a second.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: variables that an interpreter reads while it starts: another value needs a new one
START = ("PYTHON", "LC_", "LANG")
#: modules that a command imports when it asks a set
ASKING = (
    "cortex.front.cli.rendering.answers",
    "cortex.front.link",
    "cortex.front.text",
    "cortex.indexer.scan",
)
#: bytes of a request and of an answer, at most
REQUEST_BYTES, ANSWER_BYTES = 1 << 20, 64


def run(
    arguments: list[str], *, cwd: Path, env: Mapping[str, str], timeout: float, forked: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a command of Cortex as `subprocess.run` does, with an empty input, and return its output.
    `forked`: whether it may be a fork, which imports few modules. Raises TimeoutExpired.
    """
    place, environment = _loaded(os.getpid())
    if not forked or _start_of(env) != environment:
        return subprocess.run(
            [Path(sys.executable).parent / "cortex", *arguments],
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    out, its_out = os.pipe()
    err, its_err = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(place)
        request = json.dumps([arguments, str(cwd), dict(env)]).encode()
        socket.send_fds(line, [request], [its_out, its_err])
        os.close(its_out)
        os.close(its_err)
        output: dict[int, bytes] = {out: b"", err: b""}
        code = _follow(line, output, time.monotonic() + timeout)
    if code is None:
        raise subprocess.TimeoutExpired(arguments, timeout, output[out], output[err])
    return subprocess.CompletedProcess(arguments, code, output[out].decode(), output[err].decode())


def _follow(line: socket.socket, output: dict[int, bytes], deadline: float) -> int | None:
    """Read the output of a command; return its exit code, or None if it does not end."""
    open_ends, pid, code = [*output, line.fileno()], 0, None
    try:
        while open_ends:
            ready, _, _ = select.select(open_ends, [], [], max(deadline - time.monotonic(), 0.0))
            if not ready:
                if pid and code is None:
                    os.kill(pid, signal.SIGKILL)
                return None
            for end in ready:
                if end == line.fileno():
                    number = json.loads(line.recv(ANSWER_BYTES))
                    pid, code = (number, None) if not pid else (pid, number)
                    if code is not None:
                        open_ends.remove(end)
                elif piece := os.read(end, 1 << 16):
                    output[end] += piece
                else:
                    open_ends.remove(end)
        return code
    finally:
        for end in output:
            os.close(end)


def _start_of(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(START)}


@functools.cache
def _loaded(_pid: int) -> tuple[str, dict[str, str]]:
    """Start the process that loads the command line, and ends with this one. Return its socket, and
    the variables of its start.
    """
    place = os.path.join(tempfile.mkdtemp(prefix="cx", dir="/tmp"), "commands")
    loaded = subprocess.Popen(
        [sys.executable, "-P", __file__, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    )
    assert loaded.stdout is not None
    assert loaded.stdout.readline()
    return place, _start_of(os.environ)


def _serve(place: str) -> Callable[[], int]:
    """Serve until the input ends; return in each fork, with its command."""
    from cortex.front.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()):
        main(["--version"])
    for name in ASKING:
        importlib.import_module(name)
    gc.freeze()  # a fork that looked at these objects would copy their pages
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(place)
        listener.listen()
        print("ready", flush=True)
        while select.select([listener, sys.stdin], [], [])[0] == [listener]:
            line, _ = listener.accept()
            if os.fork() == 0:
                break
            line.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        else:
            os.unlink(place)
            os.rmdir(os.path.dirname(place))
            sys.exit()
    request, descriptors, _, _ = socket.recv_fds(line, REQUEST_BYTES, 2)
    if pid := os.fork():
        line.send(json.dumps(pid).encode())
        for descriptor in descriptors:
            os.close(descriptor)
        status = os.waitpid(pid, 0)[1]
        with contextlib.suppress(OSError):
            line.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    line.close()
    _become(json.loads(request), descriptors)
    return main


def _become(request: Any, descriptors: list[int]) -> None:
    """Take the arguments, the folder, the environment and the streams of a command."""
    arguments, folder, environment = request
    empty = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((empty, *descriptors)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = [str(Path(sys.executable).parent / "cortex"), *arguments]
    random.seed()


if __name__ == "__main__":
    sys.exit(_serve(sys.argv[1])())
