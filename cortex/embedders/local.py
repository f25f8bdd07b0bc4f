"""The HTTP embedder with its own server: it starts `cortex embed serve` when no server answers, and
again when that has died.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

from cortex.embedders.http import PROBE_S, Endpoint, open_http, parse_endpoint
from cortex.settings.config import Config
from cortex.system.arrays import Array
from cortex.system.errors import Misconfigured, Unavailable
from ipc.messages import Mode

#: seconds that a new server has to answer
START_S = 10.0
#: seconds between two requests to a server that is starting
POLL_S = 0.05
#: seconds between two starts: a server that ends at once is not started for every query
RESTART_S = 5.0

#: servers that this process started; each stdin pipe is a lifeline, closed when the process ends
_CHILDREN: list[subprocess.Popen[bytes]] = []


def open_local(config: Config) -> LocalEmbedder:
    """Open as `open_http` does, after starting `cortex embed serve` if no server listens there; it
    ends with this process.

    Raises Misconfigured for an endpoint that is not on this machine, or not plain HTTP.
    """
    endpoint = parse_endpoint(config.embedding.endpoint)
    if not endpoint.local or not endpoint.url.startswith("http://"):
        raise Misconfigured(
            f"embedding.provider is local, but embedding.endpoint ({endpoint.url}) is not on this machine, or not "
            "http://; set the provider to http."
        )
    if is_silent(endpoint):
        start(config, endpoint)
    return LocalEmbedder(config, endpoint)


class LocalEmbedder:
    """See `protocol.Embedder`."""

    def __init__(self, config: Config, endpoint: Endpoint) -> None:
        self._config, self._endpoint = config, endpoint
        self._inner = open_http(config)
        self._retry_at = 0.0
        self.identity, self.dimensions = self._inner.identity, self._inner.dimensions

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        try:
            return self._inner.embed(texts, mode)
        except Unavailable:
            if not is_silent(self._endpoint) or time.monotonic() < self._retry_at:
                raise
        self._retry_at = time.monotonic() + RESTART_S
        start(self._config, self._endpoint)
        return self._inner.embed(texts, mode)

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)


def is_silent(endpoint: Endpoint) -> bool:
    """Return whether no server listens at the endpoint."""
    try:
        socket.create_connection((endpoint.host, endpoint.port), PROBE_S).close()
    except OSError:
        return True
    return False


def start(config: Config, endpoint: Endpoint) -> None:
    """Start a server; return at its first answer. Raises Unavailable without one in START_S."""
    _CHILDREN[:] = [child for child in _CHILDREN if child.poll() is None]
    command = [sys.executable, "-P", "-m", "cortex", "embed", "serve", "--project", str(config.root)]
    command += ["--host", endpoint.host, "--port", str(endpoint.port)]
    _CHILDREN.append(
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=os.sep, env=os.environ
        )
    )
    deadline = time.monotonic() + START_S
    while True:
        try:
            open_http(config)
        except Unavailable as error:
            # Not when the child has ended: another process's server may have taken the port first.
            if time.monotonic() > deadline:
                raise Unavailable(f"`cortex embed serve` was started but does not answer: {error}") from error
            time.sleep(POLL_S)  # another process may have started it: only an answer proves that it listens
        else:
            return
