"""The HTTP embedder over our own `cortex embed serve`, which is started when nothing answers, and
again when it has died.
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

#: seconds that our own server gets to answer after it was started
START_S = 10.0
#: seconds between two looks at a server that is starting
POLL_S = 0.05
#: seconds between two starts: one that ends at once is not started for every question
RESTART_S = 5.0

#: servers that this process started; each pipe is a life line, closed when the process ends
_CHILDREN: list[subprocess.Popen[bytes]] = []


def open_local(config: Config) -> LocalEmbedder:
    """As `open_http`, but `cortex embed serve` is started when nobody listens there; it ends with
    this process.

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
    """Whether nobody listens there."""
    try:
        socket.create_connection((endpoint.host, endpoint.port), PROBE_S).close()
    except OSError:
        return True
    return False


def start(config: Config, endpoint: Endpoint) -> None:
    """Start our server, and return when it answers; Unavailable when it does not within START_S."""
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
            # Not when the child has ended: another may have taken the port first.
            if time.monotonic() > deadline:
                raise Unavailable(f"`cortex embed serve` was started but does not answer: {error}") from error
            time.sleep(POLL_S)  # somebody else may have started it: only an answer tells that it listens
        else:
            return
