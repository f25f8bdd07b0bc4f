"""Records of the URLs at which projects are served, while their servers run.

This module imports no server, so that `cortex open` does not load one.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from cortex.processes.names import HTTP_LOCK
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home, open_runtime
from cortex.system import files
from cortex.system.errors import CortexError
from ipc.locks import holder_of, try_lock

#: maximum of bytes of a URL
ADDRESS_BYTES_MAX = 1024


@contextlib.contextmanager
def record_url(configs: Sequence[Config], url: str) -> Iterator[None]:
    """Record `url` for each project during the block, unless another server has a record or the
    folders cannot be written.
    """
    with contextlib.ExitStack() as stack:
        for config in configs:
            with contextlib.suppress(CortexError, OSError):
                open_runtime(config)
                open_home(config)
                if lock := try_lock(_lock(config)):
                    stack.enter_context(lock)
                    files.replace(_note(config), url.encode())
        yield


def served_at(config: Config) -> str:
    """Return the recorded URL of a running server; "" for none."""
    if holder_of(_lock(config)) is None:
        return ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return files.read_ours(_note(config), ADDRESS_BYTES_MAX).decode("ascii")
    return ""


def _lock(config: Config) -> Path:
    return config.runtime_dir / HTTP_LOCK


def _note(config: Config) -> Path:
    return config.run_dir / "http.url"
