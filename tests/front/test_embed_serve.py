"""`cortex embed serve`: accepted and refused requests, over real connections of this machine."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import orjson
import pytest

from cortex.embedders.static import open_static
from cortex.embedders.token import find_token
from cortex.front.http import embedding
from cortex.front.http.access.origin_check import OriginCheck
from cortex.front.http.embedding import BODY_BYTES_MAX
from cortex.settings.folders.home import cache_base
from cortex.system.errors import Unavailable

QUESTION = b'{"texts": ["a", "b"]}'


@dataclass
class EmbedServer:
    host: str
    port: int

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> tuple[int, dict]:
        """(status, answer). Headers by name with _ for -; None leaves out one that is usual."""
        usual = {
            "Host": f"{self.host}:{self.port}",
            "Content_Length": str(len(body)),
            "Content_Type": "application/json",
            "Authorization": f"Bearer {find_token(self.port)}",
        }
        connection = http.client.HTTPConnection(self.host, self.port, timeout=5)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in (usual | headers).items():
                if value is not None:
                    connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body)
            reply = connection.getresponse()
            raw = reply.read()
            is_json = reply.headers["Content-Type"] == "application/json"
            return reply.status, orjson.loads(raw) if is_json else {}
        finally:
            connection.close()

    def embed(self, **headers: str | None) -> int:
        return self.ask("POST", "/embed", QUESTION, **headers)[0]


@contextlib.contextmanager
def serving(host: str = "127.0.0.1") -> Iterator[EmbedServer]:
    with embedding.serving(open_static(), host, 0) as port:
        yield EmbedServer("127.0.0.1", port)


@pytest.fixture(scope="module")
def place() -> Iterator[EmbedServer]:
    with serving() as running:
        yield running


def test_an_invalid_request_is_refused(place):
    assert place.ask("GET", "/health")[1]["dimensions"] == 384
    assert place.ask("GET", "/other")[0] == 404
    assert place.ask("POST", "/other", b"{}")[0] == 404
    assert place.ask("POST", "/embed", b"[]")[0] == 400
    assert place.ask("POST", "/embed", b'{"texts": [1]}')[0] == 400
    assert place.ask("POST", "/embed", b'{"texts": [], "mode": "x"}')[0] == 400
    assert place.ask("POST", "/embed", orjson.dumps({"texts": ["a"] * 3000}))[0] == 413
    assert len(place.ask("POST", "/embed", QUESTION)[1]["embeddings"]) == 2


@pytest.mark.parametrize(
    ("length", "status"),
    [(str(BODY_BYTES_MAX + 1), 413), ("x", 400), ("-1", 400), ("\xb2", 400), (None, 400)],
)
def test_a_body_without_an_honest_length_is_not_read(place, length, status):
    assert place.ask("POST", "/embed", Content_Length=length)[0] == status


@pytest.mark.parametrize(("body", "status"), [(QUESTION, 200), (b" " * BODY_BYTES_MAX + QUESTION, 413)])
def test_a_body_in_pieces_is_bounded_too(place, body, status):
    with socket.create_connection((place.host, place.port), 30) as line, contextlib.suppress(ConnectionError):
        line.sendall(
            f"POST /embed HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {find_token(place.port)}\r\nTransfer-Encoding: chunked\r\n\r\n"
            f"{len(body):x}\r\n".encode()
        )
        line.sendall(body + b"\r\n0\r\n\r\n")
        assert line.recv(12) == f"HTTP/1.1 {status}".encode()


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x"]
)
def test_without_the_token_nothing_is_embedded(place, authorization):
    authorization = authorization and authorization.format(token=find_token(place.port))
    assert place.embed(Authorization=authorization) == 401


def test_the_token_is_compared_in_constant_time(place, monkeypatch):
    compared = []
    compare = embedding.hmac.compare_digest
    monkeypatch.setattr(embedding.hmac, "compare_digest", lambda a, b: compared.append(b) or compare(a, b))
    assert place.embed(Authorization="Bearer wrong") == 401
    assert place.embed() == 200
    assert compared == [f"Bearer {find_token(place.port)}".encode()] * 2


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "", None])
def test_a_name_that_somebody_else_may_have_pointed_here_is_refused(place, host):
    host = host and host.format(port=place.port)
    refused = 400 if host is None else 403  # without any Host it is no HTTP
    assert place.embed(Host=host) == refused
    assert place.ask("GET", "/health", Host=host)[0] == refused


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:{port}", "127.0.0.1", "127.0.0.2:{port}", "[::1]:{port}"]
)
def test_names_of_this_machine_are_answered(place, host):
    assert place.embed(Host=host.format(port=place.port)) == 200


def test_requests_of_web_pages_are_refused_but_for_one_of_this_place(place):
    for origin in ("http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"):
        assert place.embed(Origin=origin) == 403
    assert place.embed(Origin=f"http://127.0.0.1:{place.port}") == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", None])
def test_content_types_that_need_no_preflight_are_refused(place, kind):
    assert place.embed(Content_Type=kind) == 415


def test_json_with_a_charset_is_json(place):
    assert place.embed(Content_Type="Application/JSON; charset=utf-8") == 200


def test_the_given_token_is_the_only_one_and_is_in_no_file(monkeypatch):
    monkeypatch.setenv("CORTEX_EMBED_TOKEN", "a-token-that-the-user-gave")
    with serving() as place:
        assert place.embed() == 200
        assert place.embed(Authorization="Bearer a-token-that-the-user-gav") == 401
        assert not (cache_base() / "embed" / f"{place.port}.token").exists()


def test_each_server_makes_its_own_token_private_and_takes_it_along():
    with serving() as first, serving() as other:
        tokens = {find_token(running.port) for running in (first, other)}
        assert len(tokens) == 2
        file = cache_base() / "embed" / f"{first.port}.token"
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        assert other.embed(Authorization=f"Bearer {find_token(first.port)}") == 401
    assert find_token(first.port) == ""


def test_a_token_behind_a_link_is_not_read(tmp_path):
    folder = cache_base() / "embed"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (tmp_path / "token").write_text("a-token-of-somebody-else")
    (folder / "1.token").symlink_to(tmp_path / "token")
    assert find_token(1) == ""


def test_on_all_addresses_an_address_or_its_own_name_is_this_server_and_another_name_is_not():
    door = OriginCheck("0.0.0.0")
    assert all(door.is_ours(host) for host in ("10.1.2.3:8121", "[fe80::1]:8121", socket.gethostname()))
    assert not door.is_ours("evil.example:8121")
    assert OriginCheck("box.lan").is_ours("box.lan:8121")
    assert not OriginCheck("box.lan").is_ours("10.1.2.3:8121")


def test_a_taken_port_is_reported(place):
    with (
        pytest.raises(Unavailable, match=str(place.port)),
        embedding.serving(open_static(), place.host, place.port),
    ):
        pass
    assert place.embed() == 200  # the running server's token is still there


def test_connections_that_ask_nothing_give_way(monkeypatch):
    monkeypatch.setattr(embedding, "CONNECTIONS_MAX", 2)
    with serving() as place, contextlib.ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection((place.host, place.port), 30)) for _ in range(4)
        ]
        assert place.embed() == 200
        assert silent[0].recv(1) == b""
