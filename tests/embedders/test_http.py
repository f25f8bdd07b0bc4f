"""The HTTP embedder against a real server: ours, and ones that misbehave."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import orjson
import pytest

from cortex.embedders import http as http_embedder
from cortex.embedders import open_embedder
from cortex.embedders.static import open_static
from cortex.front.http.embedding import BODY_BYTES_MAX, open_server
from cortex.settings.config import Config, Embedding
from ipc.errors import Misconfigured, Unavailable


@contextlib.contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[tuple[str, int]]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server.server_address[0], server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def ours() -> Iterator[tuple[str, int]]:
    with running(open_server(open_static(), "127.0.0.1", 0)) as place:
        yield place


@contextlib.contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as (host, port):
        yield f"http://{host}:{port}/embed"


def config(tmp_path, endpoint: str, dimensions: int = 384, provider: str = "http") -> Config:
    return Config(
        root=tmp_path, embedding=Embedding(provider=provider, endpoint=endpoint, dimensions=dimensions)
    )


def test_our_server_gives_the_same_vectors_and_identity(tmp_path):
    static = open_static()
    texts = [f"def parse_{word}(text): ..." for word in ("json", "yaml", "toml")] * 50
    with ours() as (host, port):
        embedder = open_embedder(config(tmp_path, f"http://{host}:{port}/embed"))
        np.testing.assert_allclose(embedder.embed(texts, "passage"), static.embed(texts), atol=1e-5)
        assert embedder.identity == static.identity


def test_nobody_there_is_one_sentence_that_names_the_endpoint(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/embed"
        with pytest.raises(Unavailable, match=endpoint):
            open_embedder(config(tmp_path, endpoint))


def test_wrong_dimensions_name_both_numbers(tmp_path):
    with (
        answering(b'{"embeddings": [[0.1, 0.2]]}') as endpoint,
        pytest.raises(Misconfigured, match=r"2 dim.*384"),
    ):
        open_embedder(config(tmp_path, endpoint))


@pytest.mark.parametrize(
    "body",
    [b"not json", b"[]", b"{}", b'{"embeddings": []}', b'{"embeddings": "x"}', b'{"embeddings": [[NaN]]}'],
)
def test_an_answer_that_is_no_embedding_is_refused(tmp_path, body):
    with answering(body) as endpoint, pytest.raises(Misconfigured):
        open_embedder(config(tmp_path, endpoint))


def test_an_error_of_the_server_is_unavailable(tmp_path):
    with answering(b"", 500) as endpoint, pytest.raises(Unavailable, match="500"):
        open_embedder(config(tmp_path, endpoint))


def test_other_schemes_are_refused(tmp_path):
    with pytest.raises(Misconfigured, match="http"):
        open_embedder(config(tmp_path, "file:///etc/passwd"))


def test_vectors_of_a_server_are_brought_to_unit_length(tmp_path):
    with answering(b'{"embeddings": [[3, 4]]}') as endpoint:
        embedder = open_embedder(config(tmp_path, endpoint, dimensions=2))
        np.testing.assert_allclose(embedder.embed(["a"], "query"), [[0.6, 0.8]], atol=1e-6)


def ask(
    place: tuple[str, int], method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, dict]:
    connection = http.client.HTTPConnection(*place, timeout=5)
    try:
        connection.putrequest(method, path)
        for name, value in ({"Content_Length": str(len(body))} | headers).items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        reply = connection.getresponse()
        return reply.status, orjson.loads(reply.read())
    finally:
        connection.close()


def test_the_server_refuses_what_it_cannot_answer():
    with ours() as place:
        assert ask(place, "GET", "/health")[1]["dimensions"] == 384
        assert ask(place, "GET", "/other")[0] == 404
        assert ask(place, "POST", "/other", b"{}")[0] == 404
        assert ask(place, "POST", "/embed", b"[]")[0] == 400
        assert ask(place, "POST", "/embed", b'{"texts": [1]}')[0] == 400
        assert ask(place, "POST", "/embed", b'{"texts": [], "mode": "x"}')[0] == 400
        assert ask(place, "POST", "/embed", orjson.dumps({"texts": ["a"] * 3000}))[0] == 413
        assert ask(place, "POST", "/embed", Content_Length=str(BODY_BYTES_MAX + 1))[0] == 413
        assert ask(place, "POST", "/embed", Content_Length="x")[0] == 411
        assert len(ask(place, "POST", "/embed", b'{"texts": ["a", "b"]}')[1]["embeddings"]) == 2


def test_a_taken_port_is_told():
    with ours() as (host, port), pytest.raises(Unavailable, match=str(port)):
        open_server(open_static(), host, port)


@pytest.mark.e2e
def test_a_local_server_is_started_where_none_answers_and_ends_with_its_life_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    embedder = open_embedder(config(tmp_path, f"http://127.0.0.1:{port}/embed", provider="local"))
    assert embedder.identity == open_static().identity
    server = http_embedder._CHILDREN.pop()
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(30) == 0


def test_a_local_server_elsewhere_is_refused(tmp_path):
    with pytest.raises(Misconfigured, match="not on this machine"):
        open_embedder(config(tmp_path, "http://example.com/embed", provider="local"))
