"""A client for an embedding server, such as `cortex embed serve`. No model in this process, and it
starts no server.

POST {"texts": [...], "mode": "query" | "passage"} → {"embeddings": [[...], ...]}, and "model" where
the server names it. Redirects are not followed, and requests to this machine use no proxy of the
environment: texts go only to the configured server. Text that looks like a secret is masked before
it leaves this machine.
"""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from cortex.embedders.protocol import estimate_tokens
from cortex.embedders.token import find_token, given_token
from cortex.settings.config import Config
from cortex.settings.folders.home import is_loopback
from cortex.settings.table import ENDPOINT_DEFAULT
from cortex.system.arrays import Array
from cortex.system.errors import Misconfigured, Unavailable
from cortex.terms.text.secrets import remove_secrets
from ipc.messages import Mode

#: seconds of the one probe at start: the command line waits for it, but a model may be cold
PROBE_S = 3.0
#: seconds for one batch: a transformer on a slow CPU takes about 25 ms a passage
BATCH_S = 30.0
#: share of a call's deadline for embedding the query: less than a search engine gets, so that the
#: reason of a silence gets into the answer
QUESTION_SHARE = 0.4
#: texts in one request; at 1 500 characters each that is far below any server's body limit
BATCH_TEXTS = 64
#: largest answer, in bytes: 64 vectors of 8 192 dimensions at 20 characters a number, with room
ANSWER_BYTES_MAX = 32 << 20
#: characters of a model's name, and of a server's error message
NAME_CHARS_MAX, REASON_CHARS_MAX = 200, 100


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Returns a redirect as the answer, which is then no embedding."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The checked address of a server, split into its parts."""

    url: str
    host: str
    port: int
    local: bool
    opener: urllib.request.OpenerDirector = field(compare=False, repr=False)

    def headers(self) -> dict[str, str]:
        """Return the headers. The token is read each time: a restarted server has another."""
        token = find_token(self.port) if self.local else given_token()
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})


def parse_endpoint(address: str) -> Endpoint:
    """Return the endpoint of `embedding.endpoint`: the default for "", with `/embed` where it has
    no path.

    Raises Misconfigured for an address that is no plain http or https URL.
    """
    address = address or ENDPOINT_DEFAULT
    try:
        url = urllib.parse.urlsplit(address)
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
    except ValueError:
        url, host, port = urllib.parse.urlsplit(""), "", 0
    odd = not address.isascii() or not address.isprintable() or " " in address or "\\" in address
    if odd or url.scheme not in ("http", "https") or not host or "@" in url.netloc or url.fragment:
        raise Misconfigured(
            f"embedding.endpoint is {address!r}; it must be a URL such as {ENDPOINT_DEFAULT}, with http:// or https://."
        )
    local = is_loopback(address)
    proxies = urllib.request.ProxyHandler({} if local else None)
    full_url = address if url.path.strip("/") or url.query else f"{url.scheme}://{url.netloc}/embed"
    return Endpoint(full_url, host, port, local, urllib.request.build_opener(proxies, NoRedirect))


def open_http(config: Config) -> HttpEmbedder:
    """Probe the endpoint once. Raises Unavailable (one sentence) after at most PROBE_S or the time
    of a query, Misconfigured for an answer that is no embedding.
    """
    endpoint = parse_endpoint(config.embedding.endpoint)
    vectors, model = _request_vectors(endpoint, ["dimensions"], "query", min(PROBE_S, _question_s(config)))
    return HttpEmbedder(endpoint, model, config, int(vectors.shape[1]))


class HttpEmbedder:
    """See `protocol.Embedder`. One request at a time, each with a deadline."""

    def __init__(self, endpoint: Endpoint, model: str, config: Config, dimensions: int) -> None:
        """`model`: the server's name for its model, "" when it gives none."""
        name = config.embedding.model or model or "http"
        place = hashlib.sha256(f"{endpoint.url} {dimensions}".encode()).hexdigest()[:12]
        self.identity = name if "@" in name else f"{name}@{place}"
        self.dimensions = dimensions
        self._endpoint, self._model = endpoint, model
        self._seconds = {"query": _question_s(config), "passage": BATCH_S}

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = texts[start : start + BATCH_TEXTS]
            vectors, model = _request_vectors(self._endpoint, batch, mode, self._seconds[mode])
            if (model, vectors.shape[1]) != (self._model, self.dimensions):
                raise Misconfigured(
                    f"{self._endpoint.url} now answers with {vectors.shape[1]} dimensions of {model or 'a model'}, but "
                    f"{self.dimensions} of {self._model or 'a model'} were opened; restart Cortex."
                )
            result[start : start + len(batch)] = vectors
        norms = np.linalg.norm(result, axis=1, keepdims=True)
        np.divide(result, norms, out=result, where=norms > 0)
        return result

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)


def _question_s(config: Config) -> float:
    return min(BATCH_S, QUESTION_SHARE * config.server.deadline_s)


def _request_vectors(
    endpoint: Endpoint, texts: Sequence[str], mode: Mode, deadline_s: float
) -> tuple[Array, str]:
    """Return (float32 [len(texts), dimensions], the server's name for its model or "")."""
    sent = list(texts) if endpoint.local else [remove_secrets(text)[0] for text in texts]
    body = orjson.dumps({"texts": sent, "mode": mode})
    request = urllib.request.Request(endpoint.url, body, endpoint.headers())  # noqa: S310 - http(s), checked
    until = time.monotonic() + deadline_s
    try:
        with endpoint.opener.open(request, timeout=deadline_s) as reply:
            raw = _read_all(reply, until)
    except urllib.error.HTTPError as error:
        error.close()
        raise Unavailable(_refusal(endpoint.url, error)) from error
    except (OSError, http.client.HTTPException) as error:
        reason = _printable(getattr(error, "reason", error))
        raise Unavailable(
            f"The embedding server at {endpoint.url} does not answer ({reason}); start it, or set embedding.provider "
            "to static."
        ) from error
    return _read_answer(endpoint.url, raw, len(texts))


def _read_all(reply: http.client.HTTPResponse, until: float) -> bytes:
    """Read the whole body before the deadline: sending byte by byte counts as silence."""
    blocks, size = [], 0
    while block := reply.read1(1 << 16):
        blocks.append(block)
        size += len(block)
        if size > ANSWER_BYTES_MAX or time.monotonic() > until:
            raise TimeoutError("its answer is too long" if size > ANSWER_BYTES_MAX else "timed out")
    if reply.length:
        raise http.client.IncompleteRead(b"", reply.length)
    return b"".join(blocks)


def _refusal(url: str, error: urllib.error.HTTPError) -> str:
    message = f"The embedding server at {url} answers HTTP {error.code} {_printable(error.reason)}"
    if error.code in (401, 403):
        return f"{message}; set CORTEX_EMBED_TOKEN to its token."
    if 300 <= error.code < 400:
        return f"{message}, a redirect, which is not followed; correct embedding.endpoint."
    return f"{message}; see its log."


def _printable(raw: object) -> str:
    """Return a message of a server or of the system: short, and without control characters."""
    return "".join(char if char.isprintable() else "?" for char in str(raw))[:REASON_CHARS_MAX]


def _read_answer(url: str, raw: bytes, count: int) -> tuple[Array, str]:
    try:
        answer = orjson.loads(raw)
        vectors = np.asarray(answer["embeddings"], np.float32)
        model = str(answer.get("model") or "")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Misconfigured(
            f'{url} does not answer with {{"embeddings": [[…]]}}: {_printable(error)}.'
        ) from error
    if vectors.ndim != 2 or len(vectors) != count or not vectors.size or not np.isfinite(vectors).all():
        raise Misconfigured(f"{url} answered {count} texts with numbers of shape {vectors.shape}.")
    if len(model) > NAME_CHARS_MAX or not model.isprintable():
        raise Misconfigured(f"{url} gives its model a name that cannot be used: {_printable(model)}.")
    return vectors, model
