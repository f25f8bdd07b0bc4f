"""Where a project is served over HTTP: noted while a server of it runs, for who wants to go there.

No server is here: who only asks imports none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from cortex.settings.config import Config
from cortex.settings.home import open_home, open_runtime
from cortex.system import files
from cortex.system.errors import CortexError
from ipc.locks import holder_of, try_lock

#: bytes of an address
ADDRESS_BYTES_MAX = 1024


@contextlib.contextmanager
def record_url(configs: Sequence[Config], url: str) -> Iterator[None]:
    """Meanwhile each project says that `url` serves it, unless another server is noted already, or
    its folders cannot be written.
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
    """The URL of the server that is noted; "" for none."""
    if holder_of(_lock(config)) is None:
        return ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return files.read_ours(_note(config), ADDRESS_BYTES_MAX).decode("ascii")
    return ""


def _lock(config: Config) -> Path:
    return config.runtime_dir / "http.lock"


def _note(config: Config) -> Path:
    return config.run_dir / "http.url"
