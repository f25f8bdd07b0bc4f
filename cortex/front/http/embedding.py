"""`cortex embed-serve`: an embedder over HTTP, with POST /embed and GET /health.

It listens on loopback by default. Any program and any web page on this machine reaches such a
port: POST needs the token, and requests of web pages are refused by their Host and Origin.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hmac
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

from cortex.embedders import open_embedder
from cortex.embedders.protocol import Embedder
from cortex.embedders.token import offered_token
from cortex.front.http.access.origin_check import OriginCheck
from cortex.settings.config import Config
from cortex.system.errors import BadRequest, CortexError, TooLarge, Unavailable
from ipc.lifeline import watch_life_line

HOST_DEFAULT = "127.0.0.1"
PORT_DEFAULT = 8121
#: maximum of bytes of one request; 64 texts of 1 500 characters are 100 kB
BODY_BYTES_MAX = 8 << 20
#: digits of a Content-Length that are read
LENGTH_DIGITS_MAX = 12
#: maximum of texts in one request
TEXTS_MAX = 2048
#: maximum of seconds without data on a connection
SILENCE_S = 30.0
#: maximum of concurrent connections, each with a thread: clients are processes of one user
CONNECTIONS_MAX = 64
#: error code → HTTP status
STATUS = {"bad_request": 400, "bad_query": 400, "too_large": 413, "unavailable": 503}


def serve_embedder(
    config: Config, host: str = HOST_DEFAULT, port: int = PORT_DEFAULT, stop: threading.Event | None = None
) -> int:
    """Serve until `stop` is set (None: until the life line on standard input ends, or
    KeyboardInterrupt); return the exit code.

    Raises Unavailable when the port is taken, Misconfigured and Unavailable as `open_embedder`.
    """
    if stop is None:
        stop = threading.Event()
        watch_life_line(stop.set)
    # The built-in model: a configured server could be this one, which would call itself for ever.
    embedding = dataclasses.replace(config.embedding, provider="static")
    with open_server(open_embedder(dataclasses.replace(config, embedding=embedding)), host, port) as server:
        print(f"cortex: embedding on http://{host}:{server.server_address[1]}/embed", file=sys.stderr)
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


class _Server(ThreadingHTTPServer):
    """A server, bound but not listening when it is made. At most CONNECTIONS_MAX connections."""

    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._free = threading.Semaphore(CONNECTIONS_MAX)
        super().__init__((host, port), BaseHTTPRequestHandler, bind_and_activate=False)
        try:
            # Not HTTPServer's: it looks up the host's name, maybe at a distant DNS server.
            socketserver.TCPServer.server_bind(self)
        except OSError:
            self.server_close()
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: requests have the user's code, and a client may disconnect at any time."""


@contextlib.contextmanager
def open_server(embedder: Embedder, host: str, port: int) -> Iterator[ThreadingHTTPServer]:
    """Open a listening server that does not serve yet; `server_address` has the actual port.

    Raises Unavailable when it cannot listen.
    """
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
        server = _Server(host, port)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise Unavailable(f"Cannot listen on {host}:{port}: {why}; choose another port.") from error
    with server, offered_token(server.server_address[1]) as token:
        server.RequestHandlerClass = _handler(answer, health, Guard(OriginCheck(host), token))
        server.server_activate()  # only now can clients connect: the token is published
        yield server


@dataclass(frozen=True, slots=True)
class Guard:
    """Check of a request's headers: Host, Origin, token and content type."""

    origin_check: OriginCheck
    token: str

    def refusal(self, headers: Any, *, asks: bool) -> tuple[int, str] | None:
        """Return (HTTP status, sentence) for a refused request, None for another one. `asks`: the
        request is a POST, which needs the token.
        """
        if sentence := self.origin_check.refusal(headers.get_all("Host", []), headers.get_all("Origin", [])):
            return 403, sentence
        if not asks:
            return None
        authorization = headers.get("Authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(authorization, f"Bearer {self.token}".encode()):
            return 401, "Authorization: Bearer TOKEN is missing or wrong; the token is CORTEX_EMBED_TOKEN's."
        if headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "Content-Type must be application/json."
        return None


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


def _length(headers: Any) -> int:
    """Return the bytes of the body; -1 unless there is one Content-Length, in digits, and no
    Transfer-Encoding.
    """
    lengths = headers.get_all("Content-Length", [])
    if len(lengths) != 1 or "Transfer-Encoding" in headers:
        return -1
    digits = lengths[0].strip()
    if not (digits.isascii() and digits.isdecimal()):
        return -1
    return int(digits[:LENGTH_DIGITS_MAX])


def _handler(answer: Callable[[bytes], bytes], health: bytes, guard: Guard) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "cortex", ""
        timeout = SILENCE_S

        def do_GET(self) -> None:
            if refusal := guard.refusal(self.headers, asks=False):
                self._refuse(*refusal)
            elif self.path == "/health":
                self._send(200, health)
            else:
                self._refuse(404, "There is POST /embed and GET /health.")

        def do_POST(self) -> None:
            if refusal := guard.refusal(self.headers, asks=True):
                self._refuse(*refusal)
            elif self.path != "/embed":
                self._refuse(404, "There is POST /embed and GET /health.")
            elif (length := _length(self.headers)) < 0:
                self._refuse(411, "Content-Length is missing.")
            elif length > BODY_BYTES_MAX:
                self._refuse(413, f"The body is larger than {BODY_BYTES_MAX} bytes; send it in parts.")
            else:
                self._answer(self.rfile.read(length))

        def _answer(self, raw: bytes) -> None:
            try:
                self._send(200, answer(raw))
            except CortexError as error:
                self._refuse(STATUS.get(error.code, 500), str(error))

        def _refuse(self, status: int, sentence: str) -> None:
            self.close_connection = True  # an unread body would be parsed as the next request
            self._send(status, orjson.dumps({"error": sentence}))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if status == 503:
                self.send_header("Retry-After", "1")
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Log nothing: requests have the user's code."""

    return Handler
