"""Offers this process's embedder over HTTP: POST /embed and GET /health.

Loopback unless told otherwise.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

from cortex.embedders import open_embedder
from cortex.embedders.protocol import Embedder
from cortex.settings.config import Config
from ipc.errors import BadRequest, CortexError, TooLarge, Unavailable
from ipc.lifeline import watch_life_line

HOST_DEFAULT = "127.0.0.1"
PORT_DEFAULT = 8121
#: bytes of one request; 64 texts of 1 500 characters are 100 kB
BODY_BYTES_MAX = 8 << 20
#: texts in one request
TEXTS_MAX = 2048
#: seconds that a connection may be silent
SILENCE_S = 30.0
#: error code → HTTP status
STATUS = {"bad_request": 400, "bad_query": 400, "too_large": 413, "unavailable": 503}


def serve_embedder(
    config: Config, host: str = HOST_DEFAULT, port: int = PORT_DEFAULT, stop: threading.Event | None = None
) -> int:
    """Serve until `stop` is set (None: until the life line on standard input ends, or
    KeyboardInterrupt); returns the exit code. Raises Unavailable when the port is taken,
    Misconfigured / Unavailable as `open_embedder`.
    """
    if stop is None:
        stop = threading.Event()
        watch_life_line(stop.set)
    # The built-in model: asking ourselves would never end.
    own = dataclasses.replace(config.embedding, provider="static")
    with open_server(open_embedder(dataclasses.replace(config, embedding=own)), host, port) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            stop.wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.shutdown()
            thread.join()
    return 0


def open_server(embedder: Embedder, host: str, port: int) -> ThreadingHTTPServer:
    """A bound server, not yet serving; `server_address` has the real port where `port` is 0."""
    lock = threading.Lock()

    def answer(raw: bytes) -> bytes:
        texts, mode = _parse(raw)
        with lock:  # embedders are used by one thread at a time
            vectors = embedder.embed(texts, mode)
        return orjson.dumps(
            {"embeddings": vectors, "model": embedder.identity, "dimensions": embedder.dimensions},
            option=orjson.OPT_SERIALIZE_NUMPY,
        )

    health = orjson.dumps({"status": "ok", "model": embedder.identity, "dimensions": embedder.dimensions})
    try:
        server = ThreadingHTTPServer((host, port), _handler(answer, health))
    except OSError as error:
        raise Unavailable(
            f"Cannot listen on {host}:{port}: {error.strerror}; choose another port."
        ) from error
    server.daemon_threads = True
    return server


def _parse(raw: bytes) -> tuple[list[str], Any]:
    try:
        request = orjson.loads(raw)
        texts, mode = request["texts"], request.get("mode", "passage")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadRequest('The body must be {"texts": ["…"], "mode": "query" or "passage"}.') from error
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRequest("texts must be a list of strings.")
    if mode not in ("query", "passage"):
        raise BadRequest("mode must be query or passage.")
    if len(texts) > TEXTS_MAX:
        raise TooLarge(f"{len(texts)} texts are more than {TEXTS_MAX}; send them in parts.")
    return texts, mode


def _handler(answer: Callable[[bytes], bytes], health: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = SILENCE_S

        def do_GET(self) -> None:
            if self.path == "/health":
                self._send(200, health)
            else:
                self._refuse(404, "There is POST /embed and GET /health.")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if self.path != "/embed":
                self._refuse(404, "There is POST /embed and GET /health.")
            elif not length.isdecimal():
                self._refuse(411, "Content-Length is missing.")
            elif int(length) > BODY_BYTES_MAX:
                self._refuse(413, f"The body is larger than {BODY_BYTES_MAX} bytes; send it in parts.")
            else:
                self._answer(self.rfile.read(int(length)))

        def _answer(self, raw: bytes) -> None:
            try:
                self._send(200, answer(raw))
            except CortexError as error:
                self._refuse(STATUS.get(error.code, 500), str(error))

        def _refuse(self, status: int, sentence: str) -> None:
            self.close_connection = True  # an unread body would be taken for the next request
            self._send(status, orjson.dumps({"error": sentence}))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Requests are not logged: they hold the user's code."""

    return Handler
