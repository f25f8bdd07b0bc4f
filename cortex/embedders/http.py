"""An embedder behind HTTP: a cortex-embed server, or our own that is started on demand. No model in
this process.

POST {"texts": [...], "mode": "query" | "passage"} → {"embeddings": [[...], ...]}, and "model" where
the server names it.
"""

from __future__ import annotations

import hashlib
import http.client
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence

import numpy as np
import orjson

from cortex.embedders.protocol import estimate_tokens
from cortex.settings.config import Config, Embedding
from cortex.settings.home import is_loopback
from ipc.arrays import Array
from ipc.errors import Misconfigured, Unavailable
from ipc.messages import Mode

#: where a server is looked for when nothing is configured
ENDPOINT_DEFAULT = "http://127.0.0.1:8121/embed"
#: seconds; one probe at start must not hold up a front
PROBE_S = 1.0
#: seconds for one batch: a transformer on a slow CPU takes about 25 ms a passage
BATCH_S = 30.0
#: texts in one request; at 1 500 characters each it stays far below any server's body limit
BATCH_TEXTS = 64
#: seconds that our own server gets to answer after it was started
START_S = 10.0
#: seconds between two looks at a server that is starting
POLL_S = 0.05
#: bytes of an answer: 64 vectors of 8 192 dimensions at 20 characters a number, with room
ANSWER_BYTES_MAX = 32 << 20


def open_http(settings: Embedding) -> HttpEmbedder:
    """Probe the endpoint once. Raises Unavailable (one sentence) after at most PROBE_S,
    Misconfigured for an answer that is no embedding.
    """
    endpoint = settings.endpoint or ENDPOINT_DEFAULT
    if not endpoint.startswith(("http://", "https://")):
        raise Misconfigured(f"embedding.endpoint is {endpoint!r}; it must begin with http:// or https://.")
    vectors, model = _ask(endpoint, ["dimensions"], "query", PROBE_S)
    place = hashlib.sha256(f"{endpoint} {vectors.shape[1]}".encode()).hexdigest()[:12]
    name = settings.model or model or "http"
    return HttpEmbedder(endpoint, name if "@" in name else f"{name}@{place}", int(vectors.shape[1]))


def open_local(config: Config) -> HttpEmbedder:
    """As `open_http`, but `cortex embed serve` is started when nothing answers; it ends with this
    process.

    Raises Misconfigured for an endpoint that is not on this machine.
    """
    endpoint = urllib.parse.urlsplit(config.embedding.endpoint or ENDPOINT_DEFAULT)
    if not is_loopback(endpoint.geturl()):
        raise Misconfigured(
            f"embedding.provider is local, but embedding.endpoint ({endpoint.geturl()}) is not on this machine; set the "
            "provider to http."
        )
    try:
        return open_http(config.embedding)
    except Unavailable:
        _start(config, endpoint.hostname or "127.0.0.1", endpoint.port or 80)
    deadline = time.monotonic() + START_S
    while True:
        try:
            return open_http(config.embedding)
        except Unavailable as error:
            if (
                time.monotonic() > deadline
            ):  # not when the child has ended: another may have taken the port first
                raise Unavailable(f"`cortex embed serve` was started but does not answer: {error}") from error
            time.sleep(POLL_S)


def _start(config: Config, host: str, port: int) -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "cortex",
        "embed",
        "serve",
        "--project",
        str(config.root),
    ]
    command += ["--host", host, "--port", str(port)]
    _CHILDREN.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))


#: servers that this process started; each pipe is a life line, closed when the process ends
_CHILDREN: list[subprocess.Popen[bytes]] = []


class HttpEmbedder:
    """See `protocol.Embedder`. One request at a time, each with a deadline."""

    def __init__(self, endpoint: str, identity: str, dimensions: int) -> None:
        self.identity = identity
        self.dimensions = dimensions
        self._endpoint = endpoint

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = texts[start : start + BATCH_TEXTS]
            vectors, _ = _ask(self._endpoint, batch, mode, BATCH_S)
            if vectors.shape[1] != self.dimensions:
                raise Misconfigured(
                    f"{self._endpoint} now answers with {vectors.shape[1]} dimensions, but {self.dimensions} were "
                    "opened; restart Cortex."
                )
            result[start : start + len(batch)] = vectors
        norms = np.linalg.norm(result, axis=1, keepdims=True)
        np.divide(result, norms, out=result, where=norms > 0)
        return result

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)


def _ask(endpoint: str, texts: Sequence[str], mode: Mode, deadline_s: float) -> tuple[Array, str]:
    """(float32 [len(texts), dimensions], the server's name for its model or "")."""
    body = orjson.dumps({"texts": list(texts), "mode": mode})
    request = urllib.request.Request(endpoint, body, {"Content-Type": "application/json"})  # noqa: S310 - http(s), checked
    try:
        with urllib.request.urlopen(request, timeout=deadline_s) as reply:  # noqa: S310
            raw = reply.read(ANSWER_BYTES_MAX + 1)
    except urllib.error.HTTPError as error:
        raise Unavailable(
            f"The embedding server at {endpoint} answers HTTP {error.code} {error.reason}."
        ) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Unavailable(
            f"The embedding server at {endpoint} does not answer ({reason}); start it, or set embedding.provider to "
            "static."
        ) from error
    return _read(endpoint, raw, len(texts))


def _read(endpoint: str, raw: bytes, count: int) -> tuple[Array, str]:
    try:
        answer = orjson.loads(raw)
        vectors = np.asarray(answer["embeddings"], np.float32)
        model = str(answer.get("model") or "")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Misconfigured(f'{endpoint} does not answer with {{"embeddings": [[…]]}}: {error}.') from error
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise Misconfigured(f"{endpoint} answered {count} texts with numbers of shape {vectors.shape}.")
    return vectors, model
