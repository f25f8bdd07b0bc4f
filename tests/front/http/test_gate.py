"""Access and limits: tokens, rights, Host, Origin, bodies, headers."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import threading
import time

import pytest

from cortex.front.http import connections
from cortex.front.http import serving as serving_module
from cortex.front.http.access import gate, tokens
from cortex.front.http.access.gate import ANSWERED_MAX, BODY_BYTES_MAX, NAMED_ANSWERED_MAX
from cortex.front.http.access.tokens import Failures, Tokens, add_named, own_token, remove_named
from cortex.system.errors import Misconfigured, NotFound
from tests.front.http.conftest import TOKEN, serving
from tests.wait_until import BOUND_S, until

ROUTES = [
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("POST", "/v1/search"),
    ("GET", "/v1/indexStatus"),
    ("GET", "/v1/tools"),
    ("POST", "/v1/tools/cortex_exact"),
    ("GET", "/v1/events"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/sse"),
    ("POST", "/message"),
    ("GET", "/"),
    ("GET", "/search"),
    ("POST", "/page/search/find"),
    ("POST", "/enter"),
]


def of(method):
    return {"query": "x"} if method == "POST" else None


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The user's configuration, a new one for each test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "cortex"


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"]
)
def test_without_the_token_nothing_but_health_is_answered(sample, authorization):
    with serving(sample) as server:
        for method, path in ROUTES[1:10]:  # more wrong tokens would cause a pause
            status, headers, answer = server.ask(method, path, of(method), Authorization=authorization)
            assert status == 401, path
            assert headers["WWW-Authenticate"].startswith("Bearer")
            assert "cortex token" in answer["error"]["message"]
        for method, path in ROUTES[10:]:
            assert server.status(method, path, of(method), Authorization=None) == 401, path
        assert not server.link.calls


def test_a_page_of_another_origin_gets_nothing_of_any_route(server):
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}"):
        for method, path in ROUTES:
            status, headers, _ = server.ask(method, path, of(method), Origin=origin)
            assert status == 403, path
            assert not [name for name in headers if name.lower().startswith("access-control")]
    assert server.status("GET", "/v1/tools", Origin=server.url) == 200


def test_a_preflight_request_gets_no_allowed_origin(server):
    preflight = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    status, headers, _ = server.ask("OPTIONS", "/v1/search", Origin="http://evil.example", **preflight)
    assert status == 403
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "", None])
def test_a_name_that_somebody_else_may_have_pointed_here_is_refused_on_every_route(server, host):
    host = host and host.format(port=server.port)
    # Without any Host it is no HTTP: the connection is closed, whatever still comes on it.
    bodies = {method: None if host is None else of(method) for method, _ in ROUTES}
    refused = {server.status(method, path, bodies[method], Host=host) for method, path in ROUTES}
    assert refused <= {400, 403}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", None])
def test_content_types_that_need_no_preflight_are_refused(server, kind):
    assert server.status("POST", "/v1/search", {"query": "x"}, Content_Type=kind) == 415


def test_a_read_only_token_cannot_write(own_server):
    own_server.token = add_named("reader", "read", 0.0)
    assert own_server.status("POST", "/v1/search", {"query": "rotate"}) == 200
    status, _, answer = own_server.ask("POST", "/v1/tools/cortex_store", {"title": "A thing to remember"})
    assert (status, answer["error"]["code"]) == (403, "forbidden")
    assert "reader" in answer["error"]["message"]
    assert [name for name, _ in own_server.link.calls] == ["/v1/search"]


def test_a_token_for_other_projects_opens_none_of_these_and_no_memory(own_server, tmp_path):
    root = own_server.link.served.config.root
    own_server.token = add_named("elsewhere", "write", 0.0, [tmp_path])
    assert own_server.status("POST", "/v1/search", {"query": "x"}) == 403
    assert (
        own_server.status("GET", f"/v1/tools?project={root.name}") == 403
    )  # it is for no project of this server
    own_server.token = add_named("here", "write", 0.0, [root])
    assert own_server.status("POST", "/v1/search", {"query": "x"}) == 200
    assert own_server.status("POST", "/v1/tools/cortex_recall", {"query": "x"}) == 403


def test_a_token_for_some_projects_gets_code_without_notes(own_server):
    own_server.token = add_named("here", "read", 0.0, [own_server.link.served.config.root])
    assert own_server.status("POST", "/v1/tools/cortex_explore", {"query": "rotate"}) == 200
    own_server.token = add_named("all", "read", 0.0)
    assert own_server.status("POST", "/v1/tools/cortex_explore", {"query": "rotate"}) == 200
    assert [caller.code_alone for tool, caller in own_server.link.calls if tool == "cortex_explore"] == [
        True,
        False,
    ]


def test_a_token_that_has_expired_or_was_taken_back_opens_nothing(own_server):
    own_server.token = add_named("short", "read", time.time() - 1.0)
    status, _, answer = own_server.ask("GET", "/v1/tools")
    assert status == 401
    assert "'short' has expired" in answer["error"]["message"]
    own_server.token = add_named("long", "read", time.time() + 3600.0)
    assert own_server.status("GET", "/v1/tools") == 200
    remove_named("long")
    assert own_server.status("GET", "/v1/tools") == 401
    with pytest.raises(NotFound, match="short"):
        remove_named("long")


def test_after_ten_wrong_tokens_only_wrong_tokens_are_delayed(own_server):
    right, own_server.token = own_server.token, "wrong"
    assert [own_server.status("GET", "/v1/tools") for _ in range(10)] == [401] * 10
    status, headers, _ = own_server.ask("GET", "/v1/tools")
    assert status == 429
    assert int(headers["Retry-After"]) >= 1
    own_server.token = right
    assert own_server.status("GET", "/v1/tools") == 200
    assert own_server.status("GET", "/v1/tools", Authorization=None) == 401  # none was presented


def test_the_pause_grows_to_a_bound_and_is_forgotten():
    failures = Failures()
    assert [failures.note("one", 0.0) for _ in range(10)] == [0.0] * 10
    pauses, now = [], 0.0
    for _ in range(12):
        pauses.append(failures.note("one", now))
        now += pauses[-1]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (2.0, tokens.PAUSE_MAX_S)
    assert failures.note("one", now + tokens.FORGET_S + 1.0) == 0.0


def test_wrong_tokens_are_counted_by_address_with_a_bound(monkeypatch):
    monkeypatch.setattr(tokens, "ADDRESSES_MAX", 2)
    failures = Failures()
    assert [failures.note("one", 0.0) for _ in range(11)] == [0.0] * 10 + [2.0]
    assert failures.note("two", 0.0) == 0.0
    assert failures.note("one", 0.0) == 2.0
    assert failures.note("three", 0.0) == 0.0
    assert list(failures._failing) == ["one", "three"]


def test_the_users_token_is_made_once_with_a_private_file(folder):
    token = own_token(make=True)
    assert own_token() == own_token(make=True) == token
    assert (folder / "token").stat().st_mode & 0o777 == 0o600
    (folder / "token").chmod(0o644)
    with pytest.raises(Misconfigured, match="chmod 600"):
        own_token()


def test_named_tokens_are_kept_as_hashes(folder):
    token = add_named("ci", "write", 0.0)
    raw = (folder / "tokens.json").read_bytes()
    assert token.encode() not in raw
    assert (folder / "tokens.json").stat().st_mode & 0o777 == 0o600
    assert Tokens("own-token-of-the-user").bearer(token).right == "write"


@pytest.mark.parametrize("variable", ["CORTEX_TOKEN", "WORKER_TOKEN"])
def test_a_token_of_the_environment_counts_before_the_file(monkeypatch, folder, variable):
    monkeypatch.setenv(variable, "a-token-that-was-given")
    assert own_token(make=True) == "a-token-that-was-given"
    assert not (folder / "token").exists()
    monkeypatch.setenv(variable, "short")
    with pytest.raises(Misconfigured, match=variable):
        own_token()


def test_a_damaged_file_of_tokens_opens_nothing_and_keeps_the_users_own(own_server, folder):
    folder.mkdir(parents=True)
    (folder / "tokens.json").write_bytes(b'{"a": {"digest": 1}}')
    assert own_server.status("GET", "/v1/tools") == 200
    assert own_server.status("GET", "/v1/tools", Authorization="Bearer a-token-of-nobody") == 401


def test_every_token_is_compared_after_a_match_too(monkeypatch, folder):
    """A comparison that ends early would reveal the token by its time."""
    for name in ("one", "two", "three"):
        add_named(name, "read", 0.0)
    compared = []
    plain = tokens.hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda a, b: compared.append(b) or plain(a, b))
    Tokens("own-token-of-the-user").bearer("own-token-of-the-user")
    assert len(compared) == 4


@pytest.mark.parametrize("way", ["with its length", "in pieces"])
def test_a_body_of_two_megabytes_is_refused_and_the_next_request_is_answered(server, way):
    line = socket.create_connection(("127.0.0.1", server.port), BOUND_S)
    head = (
        f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\n"
    )
    body = b" " * (2 * BODY_BYTES_MAX)
    with line, contextlib.suppress(ConnectionError):
        if way == "in pieces":
            line.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode())
        else:
            line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
            assert line.recv(12) == b"HTTP/1.1 413"
            return
        line.sendall(body)
        assert line.recv(12) == b"HTTP/1.1 413"
    assert server.status("GET", "/v1/tools") == 200


def test_ten_thousand_headers_are_refused_and_the_next_request_is_answered(server):
    with socket.create_connection(("127.0.0.1", server.port), BOUND_S) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(
                b"GET /health HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % at for at in range(10_000)) + b"\r\n"
            )
        with contextlib.suppress(ConnectionError):
            assert line.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 431", b"")
    assert server.status("GET", "/v1/tools") == 200


@pytest.fixture
def hasty(monkeypatch, sample):
    """A server with short timeouts."""
    monkeypatch.setattr(gate, "BODY_S", 0.2)
    monkeypatch.setattr(connections, "HEADERS_S", 0.2)
    monkeypatch.setattr(connections, "UNREAD_S", 0.2)
    with serving(sample) as running:
        yield running


def test_a_body_that_does_not_come_is_given_up(hasty):
    status, _, answer = hasty.ask(
        "POST", "/v1/search", b"", Content_Length="9", Content_Type="application/json"
    )
    assert status == 408
    assert "within" in answer["error"]["message"]


@pytest.mark.parametrize("sent", [b"", b"GET /health HT"])
def test_a_silent_or_half_sent_request_is_closed(hasty, sent):
    with socket.create_connection(("127.0.0.1", hasty.port), BOUND_S) as line:
        line.sendall(sent)
        with contextlib.suppress(ConnectionError):
            assert line.recv(1) == b""


def test_a_client_that_never_reads_its_events_is_dropped(hasty, monkeypatch):
    from cortex.front.http.routes import events

    monkeypatch.setattr(events, "LOOK_S", 0.0)
    busy = {"indexing": True, "pending": 0}
    numbers = iter(range(10**9))
    monkeypatch.setattr(
        events,
        "look",
        lambda _hosted: {"generation": {"n": next(numbers), "fill": "x" * 65536}, "progress": busy},
    )
    line = socket.create_connection(("127.0.0.1", hasty.port), BOUND_S)
    with line:
        line.sendall(
            f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{hasty.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
        )
        until(lambda: _requests(hasty, "streaming") == 1, "the stream is open")
        until(lambda: _requests(hasty, "streaming") == 0, "the stream is dropped")


@pytest.mark.parametrize("by_half", [False, True])
def test_a_disconnected_client_cancels_its_request(own_server, by_half):
    own_server.link.hold = asyncio.Event()
    with socket.create_connection(("127.0.0.1", own_server.port), BOUND_S) as line:
        line.sendall(_question(own_server))
        until(lambda: own_server.link.calls, "the question is asked")
        if by_half:
            line.shutdown(socket.SHUT_WR)
            until(lambda: own_server.link.cancelled == 1, "the question is cancelled")
    until(lambda: own_server.link.cancelled == 1, "the question is cancelled")


def test_requests_beyond_the_limit_queue_and_beyond_the_queue_get_429(own_server, monkeypatch):
    monkeypatch.setattr(gate, "WAITING_MAX", 3)
    hold = asyncio.Event()
    own_server.link.hold = hold
    lines = [
        socket.create_connection(("127.0.0.1", own_server.port), BOUND_S) for _ in range(ANSWERED_MAX + 3)
    ]
    try:
        for line in lines:
            line.sendall(_question(own_server))
        until(lambda: len(own_server.link.calls) == ANSWERED_MAX, "as many as may are asked")
        status, headers = _until_refused(own_server)
        assert status == 429
        assert headers["Retry-After"] == "1"
        own_server.loop.call_soon_threadsafe(hold.set)
        assert all(line.recv(12) == b"HTTP/1.1 200" for line in lines)
    finally:
        for line in lines:
            line.close()


def test_one_token_cannot_take_the_streams_of_others(own_server, monkeypatch):
    monkeypatch.setattr(gate, "STREAMS_MAX", 2)
    reader = add_named("reader", "read", 0.0)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            _open_stream(own_server, reader, stack)
        status, headers, answer = own_server.ask("GET", "/v1/events", Authorization=f"Bearer {reader}")
        assert (status, headers["Retry-After"], answer["error"]["code"]) == (429, "1", "too_many")
        _open_stream(own_server, TOKEN, stack)
    until(lambda: _requests(own_server, "streaming") == 0, "no stream is counted")
    with contextlib.ExitStack() as stack:
        _open_stream(own_server, reader, stack)


def test_named_tokens_leave_places_and_the_queue_to_the_user(own_server, monkeypatch):
    monkeypatch.setattr(gate, "WAITING_MAX", 2)
    reader = add_named("reader", "read", 0.0)
    own_server.link.hold = hold = asyncio.Event()
    with contextlib.ExitStack() as stack:
        for _ in range(NAMED_ANSWERED_MAX + 2):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", own_server.port), BOUND_S))
            line.sendall(_question(own_server, reader))
        until(lambda: len(own_server.link.calls) == NAMED_ANSWERED_MAX, "as many as may are asked")
        until(lambda: _requests(own_server, "waiting") == 2, "two wait")
        assert own_server.status("GET", "/v1/tools", Authorization=f"Bearer {reader}") == 429
        assert own_server.status("GET", "/v1/tools") == 200
        own_server.loop.call_soon_threadsafe(hold.set)


def test_half_bodies_of_one_token_keep_no_other_out(own_server, monkeypatch):
    monkeypatch.setattr(gate, "WAITING_MAX", 2)
    reader = add_named("reader", "read", 0.0)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", own_server.port), BOUND_S))
            line.sendall(_question(own_server, reader)[:-1])
        until(lambda: _requests(own_server, "waiting") == 2, "two bodies are awaited")
        assert (
            own_server.status("POST", "/v1/search", {"query": "x"}, Authorization=f"Bearer {reader}") == 429
        )
        assert own_server.status("POST", "/v1/search", {"query": "rotate"}) == 200


def test_a_large_diff_does_not_stop_other_requests(own_server):
    hunks = "".join(f"@@ -{5 * n + 1},1 +{5 * n + 1},1 @@\n-b\n+c\n" for n in range(25_000))
    answered = 0
    body = {"diff": f"--- a/none.py\n+++ b/none.py\n{hunks}"}
    asking = threading.Thread(
        target=own_server.status, args=("POST", "/v1/tools/cortex_explore", body), daemon=True
    )
    asking.start()
    while asking.is_alive():
        own_server.status("GET", "/health")
        answered += 1
    assert answered > 10


def test_many_connects_and_disconnects_leave_nothing_behind(own_server):
    assert own_server.status("POST", "/v1/search", {"query": "rotate"}) == 200
    before = own_server.resource_counts()
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", own_server.port), BOUND_S) as line:
            line.sendall(_question(own_server))
    own_server.wait_released(before)
    assert own_server.status("GET", "/v1/tools") == 200


def test_shutdown_answers_open_requests_and_accepts_no_new_ones(sample):
    with serving(sample) as server:
        server.link.hold = hold = asyncio.Event()
        with socket.create_connection(("127.0.0.1", server.port), BOUND_S) as line:
            line.sendall(_question(server))
            until(lambda: server.link.calls, "the question is asked")
            server.end()
            until(lambda: not _accepts(server.port), "nothing new is taken")
            server.loop.call_soon_threadsafe(hold.set)
            assert line.recv(12) == b"HTTP/1.1 200"


def test_shutdown_cancels_a_call_after_its_grace_period(sample, monkeypatch):
    monkeypatch.setattr(connections, "ANSWER_S", 1)
    with serving(sample) as server:
        server.link.hold = asyncio.Event()
        with socket.create_connection(("127.0.0.1", server.port), BOUND_S) as line:
            line.sendall(_question(server))
            until(lambda: server.link.calls, "the question is asked")
            server.end()
            assert not line.recv(12).startswith(b"HTTP/1.1 200")
    assert server.link.cancelled == 1


def test_shutdown_does_not_wait_for_streams(sample):
    with serving(sample) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=BOUND_S)
        line.request("GET", "/v1/events", headers={"Authorization": f"Bearer {TOKEN}"})
        reply = line.getresponse()
        assert reply.readline()
        server.end()
        while reply.readline():
            pass
        line.close()


def _open_stream(server, token, stack):
    line = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), BOUND_S))
    line.sendall(
        f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    assert line.recv(64).startswith(b"HTTP/1.1 200")


def _question(server, token=""):
    body = b'{"query": "rotate"}'
    return (
        f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token or server.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def _until_refused(server):
    """Return the first refusal; requests before it wait."""
    replies = []

    def ask():
        with contextlib.suppress(OSError):
            replies.append(server.ask("GET", "/v1/tools")[:2])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: [reply for reply in replies if reply[0] == 429], "one is refused")
    return next(reply for reply in replies if reply[0] == 429)


def _requests(server, state):
    text = server.ask("GET", "/metrics")[2].decode()
    return int(float(text.partition(f'cortex_requests{{state="{state}"}} ')[2].partition("\n")[0]))


def _accepts(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), BOUND_S):
        return True
    return False


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("GET", "/health", None, {}),
        ("GET", "/v1/tools", None, {}),
        ("POST", "/v1/search", {"query": "x"}, {}),
        ("POST", "/v1/search", b"no json", {}),
        ("GET", "/v1/tools", None, {"Authorization": None}),
        ("GET", "/v1/tools", None, {"Host": "evil.example"}),
        ("GET", "/nowhere", None, {}),
    ],
)
def test_no_answer_may_be_taken_for_another_type(server, method, path, body, headers):
    assert server.ask(method, path, body, **headers)[1]["X-Content-Type-Options"] == "nosniff"


@pytest.fixture
def crowded(sample, monkeypatch):
    """A server with few connections."""
    monkeypatch.setattr(serving_module, "CONNECTIONS_MAX", 4)
    with serving(sample) as running:
        yield running


def test_all_named_tokens_leave_half_of_the_connections_to_the_user(sample, monkeypatch):
    monkeypatch.setattr(serving_module, "CONNECTIONS_MAX", 16)
    readers = [add_named(name, "read", 0.0) for name in ("one", "two", "three", "four")]
    head = "POST /v1/search HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue"
    answers = []
    with serving(sample) as server, contextlib.ExitStack() as stack:
        for reader in (*readers, *readers, *readers):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), BOUND_S))
            line.sendall(f"{head}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {reader}\r\n\r\n".encode())
            answers.append(line.recv(12))
        assert server.status("GET", "/v1/tools") == 200
    assert answers == [b"HTTP/1.1 100"] * 8 + [b"HTTP/1.1 429"] * 4


def test_connections_without_a_request_do_not_keep_others_out(crowded):
    with contextlib.ExitStack() as stack:
        for _ in range(12):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", crowded.port), BOUND_S))
            line.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-a: ")
        assert crowded.status("GET", "/v1/tools") == 200


def test_unread_answers_without_a_token_do_not_keep_others_out(crowded):
    head = b"GET /static/page.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with contextlib.ExitStack() as stack:
        for _ in range(12):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(1.0)
            line.connect(("127.0.0.1", crowded.port))
            with contextlib.suppress(TimeoutError, ConnectionError):
                for _ in range(40_000):
                    line.sendall(head)
        assert crowded.status("GET", "/v1/tools") == 200


def test_connections_between_two_requests_do_not_keep_others_out(crowded):
    with contextlib.ExitStack() as stack:
        for _ in range(12):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", crowded.port), BOUND_S))
            line.sendall(_question(crowded))
            assert line.recv(64).startswith(b"HTTP/1.1 200")
        assert crowded.status("GET", "/v1/tools") == 200


@pytest.mark.parametrize(
    ("head", "number", "answer"),
    [
        ("GET /v1/events HTTP/1.1", 2, b"HTTP/1.1 200"),
        (
            "POST /v1/search HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue",
            4,
            b"HTTP/1.1 100",
        ),
    ],
    ids=["streams", "half bodies"],
)
def test_a_named_token_leaves_most_of_few_connections_to_others(sample, monkeypatch, head, number, answer):
    monkeypatch.setattr(serving_module, "CONNECTIONS_MAX", 16)
    reader = add_named("reader", "read", 0.0)
    answers = []
    with serving(sample) as server, contextlib.ExitStack() as stack:
        for _ in range(40):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), BOUND_S))
            line.sendall(f"{head}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {reader}\r\n\r\n".encode())
            answers.append(line.recv(12))
        assert server.status("GET", "/v1/tools") == 200
    assert answers == [answer] * number + [b"HTTP/1.1 429"] * (40 - number)


def test_a_request_over_the_bound_of_connections_gets_json_and_a_time_to_wait(crowded):
    head = f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", crowded.port), BOUND_S))
            line.sendall(head)
            assert line.recv(64).startswith(b"HTTP/1.1 200")
        status, headers, answer = crowded.ask("GET", "/v1/tools")
    assert (status, headers["Retry-After"]) == (503, "1")
    assert answer["error"]["code"] == "unavailable"
