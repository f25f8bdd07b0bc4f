"""The process `milvus` for a command that runs without a set: it serves the file of milvus-lite
while the command needs it.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from cortex.engines.milvus.place import milvus_place, say_held
from cortex.processes.names import MODULES
from cortex.settings.config import Config
from cortex.settings.folders.home import open_runtime, private_dir
from cortex.system.errors import EXIT_OCCUPIED, Unavailable
from ipc.locks import holder_of

#: seconds that the process may take to serve (its libraries are 200 MB), and to end
START_S, STOP_S = 30.0, 10.0
#: seconds between two checks
LOOK_S = 0.05
#: settings that make the process serve, even if the configuration names no Milvus
_SETTINGS = {"CORTEX_ENGINES_TEXT": "milvus", "CORTEX_ENGINES_VECTOR": "milvus"}


@contextlib.contextmanager
def file_served(config: Config) -> Iterator[None]:
    """Serve the file that milvus.uri names inside the `with`, by a new or a running process; do
    nothing if it names a server. Raises Unavailable, Misconfigured.
    """
    place = milvus_place(config)
    if place.folder is None:
        yield
        return
    open_runtime(config)
    private_dir(place.folder)
    lock, socket = place.folder / "s.lock", place.folder / "s.sock"
    child = None if holder_of(lock) is not None else _start(config)
    try:
        deadline = time.monotonic() + START_S
        while holder_of(lock) is None or not socket.exists():
            if child is not None and (code := child.poll()) is not None:
                if code != EXIT_OCCUPIED:
                    raise Unavailable(
                        f"{place.label} could not be served: its process ended with {code}; see above."
                    )
                child = None  # a set's own process is about to serve the file
            if time.monotonic() > deadline:
                raise Unavailable(
                    say_held(place) or f"{place.label} was not served within {START_S:.0f} s; try again."
                )
            time.sleep(LOOK_S)  # a process of a set may serve it: only lock and socket show that
        yield
    finally:
        if child is not None:
            _end(child)


def _start(config: Config) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", MODULES["cortex-worker"], "milvus", "--project", str(config.root)]
    variables = _SETTINGS | {"CORTEX_MILVUS_URI": config.plug_settings.uri}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=os.environ | variables
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    """Close the process's life line; kill it if it does not end within STOP_S."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait(STOP_S)
