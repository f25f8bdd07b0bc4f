"""The HTTP embedder with a real server of Cortex, and with servers that misbehave."""

from __future__ import annotations

import contextlib
import pkgutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import get_args

import numpy as np
import orjson
import psutil
import pytest

from cortex.embedders import EMBEDDERS, check_embedder, open_embedder
from cortex.embedders import local as local_embedder
from cortex.embedders.http import parse_endpoint
from cortex.embedders.static import open_static
from cortex.front.http.embedding import serving
from cortex.settings.config import Config
from cortex.settings.folders.home import cache_base
from cortex.settings.table import Embedding, Provider
from cortex.system.errors import Misconfigured, Unavailable


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
    with serving(open_static(), "127.0.0.1", 0) as port:
        yield "127.0.0.1", port


class Trap:
    """Listens, answers every connection with `body`, and records the requests."""

    def __init__(
        self, body: bytes = b"{}", status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.bodies: list[bytes] = []
        trap = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                trap.requests.append((self.path, dict(self.headers)))
                trap.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(status)
                for name, value in (("Content-Length", str(len(body))), *headers):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_CONNECT = do_POST  # noqa: N815 - the names of the base class

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@contextlib.contextmanager
def trapped(*arguments, **keywords) -> Iterator[tuple[Trap, str]]:
    trap = Trap(*arguments, **keywords)
    with running(trap.server) as (host, port):
        yield trap, f"http://{host}:{port}"


@contextlib.contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    with trapped(body, status) as (_, url):
        yield f"{url}/embed"


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


def test_vectors_of_a_server_are_brought_to_unit_length(tmp_path):
    with answering(b'{"embeddings": [[3, 4]]}') as endpoint:
        embedder = open_embedder(config(tmp_path, endpoint, dimensions=2))
        np.testing.assert_allclose(embedder.embed(["a"], "query"), [[0.6, 0.8]], atol=1e-6)


VECTOR = orjson.dumps({"embeddings": [[0.0] * 383 + [1.0]]})


def test_an_endpoint_without_a_path_means_embed(tmp_path):
    with trapped(VECTOR) as (trap, url):
        open_embedder(config(tmp_path, url))
        assert [path for path, _ in trap.requests] == ["/embed"]


def test_without_an_endpoint_the_usual_one_is_asked():
    assert parse_endpoint("").url == "http://localhost:8121/embed"
    assert parse_endpoint("http://localhost:8121").url == parse_endpoint("").url


@pytest.mark.parametrize(
    "endpoint",
    [
        "file:///etc/passwd",
        "http://",
        "http://a b/embed",
        "http://localhost:8121@other.example/embed",
        "http://localhost:99999/embed",
        "http://localhost\\@other.example/embed",
        "http://localh\u00f6st/embed",
        "http://localhost/embed\n",
    ],
)
def test_what_is_no_plain_url_is_refused(endpoint):
    with pytest.raises(Misconfigured, match=r"embedding\.endpoint"):
        parse_endpoint(endpoint)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(tmp_path, status):
    with trapped(VECTOR) as (target, url):
        elsewhere = (("Location", f"{url}/embed"),)
        with trapped(b"", status, elsewhere) as (_, first), pytest.raises(Unavailable, match="redirect"):
            open_embedder(config(tmp_path, first))
        assert target.requests == []


def test_a_proxy_of_the_environment_is_not_used_on_this_machine(tmp_path, monkeypatch):
    with trapped(VECTOR) as (proxy, url), trapped(VECTOR) as (server, endpoint):
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        for host in ("127.0.0.1", "localhost"):
            open_embedder(config(tmp_path, endpoint.replace("127.0.0.1", host)))
        assert (len(server.requests), proxy.requests) == (2, [])
        open_embedder(config(tmp_path, "http://embedding.invalid/embed"))  # on other hosts proxies are used
        assert len(proxy.requests) == 1


SECRET = "ghp_" + "0123456789" * 4


def test_secrets_are_masked_in_text_for_remote_servers_and_kept_in_local_text(tmp_path, monkeypatch):
    vectors = orjson.dumps({"embeddings": [[1.0] * 384]})
    text = f'TOKEN = "{SECRET}"  # of the deploy job'
    with trapped(vectors) as (far, proxy), trapped(vectors) as (near, url):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.delenv("no_proxy", raising=False)
        for endpoint in ("http://vectors.example.org/embed", url):
            open_embedder(config(tmp_path, endpoint)).embed([text])
    assert SECRET not in b"".join(far.bodies).decode()
    sent = orjson.loads(far.bodies[-1])["texts"]
    assert sent == ['TOKEN = "[removed: GitHub token]"  # of the deploy job']
    assert orjson.loads(near.bodies[-1])["texts"] == [text]


def test_the_token_goes_with_every_question_and_a_server_that_needs_none_gets_none(tmp_path, monkeypatch):
    with trapped(VECTOR) as (server, endpoint):
        open_embedder(config(tmp_path, endpoint))
        monkeypatch.setenv("CORTEX_EMBED_TOKEN", "a-token-of-the-user")
        open_embedder(config(tmp_path, endpoint))
        authorizations = [headers.get("Authorization") for _, headers in server.requests]
        assert authorizations == [None, "Bearer a-token-of-the-user"]


@pytest.mark.parametrize("token", ["short", "with a blank in it all", "with-a-line-end-in-it\r\nX: y"])
def test_a_token_that_cannot_be_one_is_refused(tmp_path, monkeypatch, token):
    monkeypatch.setenv("CORTEX_EMBED_TOKEN", token)
    with trapped(VECTOR) as (server, endpoint):
        with pytest.raises(Misconfigured, match="CORTEX_EMBED_TOKEN") as caught:
            open_embedder(config(tmp_path, endpoint))
        assert token not in str(caught.value)
        assert server.requests == []


def test_a_server_that_knows_another_token_says_what_to_set(tmp_path, monkeypatch):
    with ours() as (host, port):
        monkeypatch.setenv("CORTEX_EMBED_TOKEN", "of-another-server")
        with pytest.raises(Unavailable, match="CORTEX_EMBED_TOKEN"):
            open_embedder(config(tmp_path, f"http://{host}:{port}"))


def test_a_server_whose_model_became_another_is_noticed(tmp_path):
    answers = [orjson.dumps({"embeddings": [[1.0, 0.0]], "model": name}) for name in ("a@1", "b@1")]
    with answering(answers[0]) as endpoint:
        embedder = open_embedder(config(tmp_path, endpoint, dimensions=2))
        port = int(endpoint.rpartition(":")[2].partition("/")[0])
    assert embedder.identity == "a@1"
    other = Trap(answers[1])
    other.server.server_close()
    other.server = ThreadingHTTPServer(("127.0.0.1", port), other.server.RequestHandlerClass)
    with running(other.server), pytest.raises(Misconfigured, match="b@1"):
        embedder.embed(["a"])


def test_control_characters_of_a_server_reach_no_terminal(tmp_path):
    name = orjson.dumps({"embeddings": [[1.0] * 384], "model": "x\x1b]0;owned\x07"})
    with answering(name) as endpoint, pytest.raises(Misconfigured, match="name") as caught:
        open_embedder(config(tmp_path, endpoint))
    assert "\x1b" not in str(caught.value)


def dripping(head: bytes, drop: bytes, every_s: float) -> tuple[socket.socket, threading.Thread]:
    """Run a server that answers one request with `head`, then with `drop` again and again until the
    client leaves.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(head)
            leave = threading.Event()
            with contextlib.suppress(OSError):
                while drop and not leave.wait(every_s):
                    connection.sendall(drop)
                while not drop and connection.recv(65536):
                    pass  # until the client gives up

    thread = threading.Thread(target=serve)
    thread.start()
    return listener, thread


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"1"),
        (b"HTTP/1.1 200 OK\r\nX: ", b""),
    ],
    ids=["nothing", "byte by byte", "half a header"],
)
def test_an_endless_reply_of_a_server_ends_in_a_timeout(tmp_path, head, drop):
    listener, thread = dripping(head, drop, 0.1)
    with listener, pytest.raises(Unavailable, match="timed out"):
        open_embedder(config(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}/embed"))
    thread.join(30)
    assert not thread.is_alive()


def test_an_answer_that_breaks_off_is_unavailable(tmp_path):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(head)

    thread = threading.Thread(target=serve)
    thread.start()
    with listener, pytest.raises(Unavailable, match="does not answer"):
        open_embedder(config(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}/embed"))
    thread.join(30)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture
def child() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Return the server that this process started last; end it afterwards."""
    yield lambda: local_embedder._CHILDREN[-1]
    while local_embedder._CHILDREN:
        server = local_embedder._CHILDREN.pop()
        assert server.stdin is not None
        server.stdin.close()
        server.wait(30)


@pytest.mark.e2e
def test_a_local_server_starts_if_none_answers_and_ends_with_its_life_line(tmp_path, free_port, child):
    embedder = open_embedder(config(tmp_path, f"http://127.0.0.1:{free_port}/embed", provider="local"))
    assert embedder.identity == open_static().identity
    token = cache_base() / "embed" / f"{free_port}.token"
    assert token.stat().st_mode & 0o777 == 0o600
    assert token.read_text() not in " ".join(psutil.Process(child().pid).cmdline())
    child().stdin.close()
    assert child().wait(30) == 0
    assert not token.exists()


@pytest.mark.e2e
def test_a_local_server_that_died_is_started_again(tmp_path, free_port, child):
    embedder = open_embedder(config(tmp_path, f"http://127.0.0.1:{free_port}/embed", provider="local"))
    first = child()
    first.kill()
    first.wait(30)
    np.testing.assert_allclose(embedder.embed(["parse"]), open_static().embed(["parse"]), atol=1e-5)
    assert child().pid != first.pid


def test_a_local_server_elsewhere_is_refused(tmp_path):
    with pytest.raises(Misconfigured, match="not on this machine"):
        open_embedder(config(tmp_path, "http://example.com/embed", provider="local"))


def test_the_start_is_checked_without_starting_a_server(tmp_path, free_port):
    check_embedder(config(tmp_path, f"http://127.0.0.1:{free_port}", provider="local"))
    assert local_embedder._CHILDREN == []
    with (
        answering(b'{"embeddings": [[0.1, 0.2]]}') as endpoint,
        pytest.raises(Misconfigured, match=r"2 dim.*384"),
    ):
        check_embedder(config(tmp_path, endpoint, provider="local"))


def test_every_provider_has_a_function_that_opens_it():
    assert set(EMBEDDERS) == set(get_args(Provider))
    assert all(callable(pkgutil.resolve_name(opener)) for opener in EMBEDDERS.values())
