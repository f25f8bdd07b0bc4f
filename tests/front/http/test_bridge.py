"""`cortex mcp --server`: messages pass unchanged; the client is informed about lost servers."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import http.server
import ipaddress
import ssl
import threading

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from cortex import __version__
from cortex.front.http.access.server_proof import CHALLENGE, PROOF, prove, read_challenge
from cortex.front.http.access.tokens import digest_of
from cortex.front.http.serving import ServerAddress
from cortex.front.mcp.transport import bridge as bridging
from cortex.front.mcp.transport.bridge import Bridge
from cortex.front.mcp.transport.remote_server import check_url
from cortex.system.errors import Misconfigured, Unavailable
from tests.front.http.conftest import OFFERED, TOKEN, serving
from tests.front.http.test_mcp_transports import INITIALIZE
from tests.wait_until import BOUND_S, until_async

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class BridgeClient:
    """A client on standard input; `answers` by the id of the request."""

    def __init__(self, url, token=TOKEN, audience=None):
        self.answers = {}
        self.other = []
        self.bridge = Bridge(check_url(url), token, self.say, audience)

    async def say(self, line):
        assert line.endswith("\n")
        message = orjson.loads(line)
        if "method" in message:
            self.other.append(message)
        else:
            self.answers[message["id"]] = message

    async def ask(self, message):
        await self.bridge.take(message)
        return await until_async(lambda: self.answers.get(message["id"]), f"an answer to {message['method']}")

    async def greet(self):
        answer = await self.ask(INITIALIZE)
        await self.bridge.take(INITIALIZED)
        return answer


def bridged(url, talk, token=TOKEN, audience=None):
    """Return the result of `talk(line)` for a client behind a bridge to `url`."""

    async def run():
        line = BridgeClient(url, token, audience)
        try:
            return await talk(line)
        finally:
            await line.bridge.close()

    return asyncio.run(asyncio.wait_for(run(), 2 * BOUND_S))


def test_answers_and_errors_pass_unchanged(server):
    async def talk(line):
        return (
            await line.greet(),
            await line.ask({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}),
            await line.ask(call(3, "cortex_exact", query="rotate")),
            await line.ask(call(4, "cortex_exact", query="")),
            await line.ask({"jsonrpc": "2.0", "id": 5, "method": "nothing/such"}),
        )

    hello, listed, answer, refused, unknown = bridged(server.url, talk)
    assert hello["result"]["serverInfo"]["version"] == __version__
    assert [tool["name"] for tool in listed["result"]["tools"]] == list(OFFERED)
    assert orjson.loads(answer["result"]["content"][0]["text"])["results"]
    assert (refused["error"]["code"], unknown["error"]["code"]) == (-32602, -32601)


def test_the_newest_protocol_passes_without_a_handshake(server):
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL_VERSIONS[-1],
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "a-client", "version": "1"},
    }

    async def talk(line):
        question = call(1, "cortex_exact", query="rotate")
        return await line.ask(question | {"params": question["params"] | {"_meta": meta}})

    assert orjson.loads(bridged(server.url, talk)["result"]["content"][0]["text"])["results"]


def test_progress_passes_and_a_cancelled_question_is_cancelled_there(own_server):
    async def talk(line):
        await line.greet()
        own_server.link.hold = asyncio.Event()
        question = call(7, "cortex_exact", query="rotate")
        await line.bridge.take(question | {"params": question["params"] | {"_meta": {"progressToken": "p"}}})
        await until_async(lambda: line.other, "progress")
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        await line.bridge.take(cancelled)
        await until_async(lambda: own_server.link.cancelled, "the question is cancelled")
        return line.other[0]

    progress = bridged(own_server.url, talk)
    assert (progress["method"], progress["params"]["progressToken"]) == ("notifications/progress", "p")


def test_without_a_server_tools_are_listed_and_every_call_says_how_to_start_one(monkeypatch):
    monkeypatch.setattr(bridging, "FIRST_S", 0.1)

    async def talk(line):
        hello = await line.greet()
        listed = await line.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        return hello, listed, [await line.ask(call(name, name, query="x")) for name in OFFERED]

    hello, listed, answers = bridged("http://127.0.0.1:9", talk)
    assert hello["result"]["protocolVersion"] == HANDSHAKE_PROTOCOL_VERSIONS[-1]
    assert [tool["name"] for tool in listed["result"]["tools"]] == list(OFFERED)
    sentences = {answer["error"]["message"] for answer in answers}
    assert sentences == {
        "There is no Cortex server at http://127.0.0.1:9 (Nothing answers there): start `cortex serve` there."
    }


def test_a_restarted_server_gets_a_new_session(sample, monkeypatch):
    monkeypatch.setattr(bridging, "AGAIN_S", BOUND_S)

    async def talk(line, server, restart):
        await line.greet()
        before = await line.ask(call(11, "cortex_exact", query="rotate"))
        await asyncio.to_thread(server.close)
        context = asyncio.create_task(line.ask(call(12, "cortex_exact", query="rotate")))
        await asyncio.to_thread(restart)
        return before, await context, await line.ask(call(13, "cortex_exact", query="rotate"))

    with contextlib.ExitStack() as stack:
        first = stack.enter_context(contextlib.ExitStack())
        server = first.enter_context(serving(sample))

        def restart():
            stack.enter_context(serving(sample, ServerAddress(port=server.port)))

        answers = bridged(server.url, lambda line: talk(line, first, restart))
    assert all(orjson.loads(answer["result"]["content"][0]["text"])["results"] for answer in answers)


class Breaking(http.server.BaseHTTPRequestHandler):
    """A server that accepts each message and closes the connection."""

    protocol_version = "HTTP/1.1"
    methods: list[str] = []  # noqa: RUF012 - one for each test

    def do_GET(self):
        nonce, _ = read_challenge(self.headers[CHALLENGE])
        body = b'{"version": "0.0.1"}'
        self.send_response(200)
        self.send_header(
            PROOF, prove(digest_of(TOKEN), nonce, self.headers["Host"], self.server.server_address[1])
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.close_connection = True
        self.methods.append(orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))["method"])

    def log_message(self, *_args):
        """Log nothing."""


@pytest.fixture
def breaking():
    Breaking.methods = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Breaking) as breaking_server:
        thread = threading.Thread(target=breaking_server.serve_forever, args=(0.02,))
        thread.start()
        yield breaking_server
        breaking_server.shutdown()
        thread.join()


def test_a_lost_read_is_repeated_once_and_a_write_never(breaking):
    url = f"http://127.0.0.1:{breaking.server_address[1]}"

    async def talk(line):
        read = await line.ask(call(1, "cortex_exact", query="x"))
        reads_sent = len(Breaking.methods)
        written = await line.ask(call(2, "cortex_store", title="x"))
        return read, reads_sent, written, len(Breaking.methods)

    read, reads_sent, written, sent = bridged(url, talk)
    assert (reads_sent, sent) == (2, 3)
    assert "connection broke" in read["error"]["message"]
    assert "its outcome is unknown" in written["error"]["message"]


def test_another_version_of_a_server_is_logged_once(breaking, caplog):
    async def talk(line):
        await line.ask(call(1, "cortex_store", title="x"))
        await line.ask(call(2, "cortex_store", title="x"))

    bridged(f"http://127.0.0.1:{breaking.server_address[1]}", talk)
    messages = [record.getMessage() for record in caplog.records if "0.0.1" in record.getMessage()]
    assert messages == [f"The server is Cortex 0.0.1, and this is {__version__}: update the older."]


def test_a_wrong_token_is_one_sentence_that_says_where_the_right_one_is(server):
    answer = bridged(server.url, lambda line: line.ask(INITIALIZE), "a-wrong-token-of-ours")
    assert answer["error"]["message"] == "The token is wrong; `cortex token` prints the right one."


def test_a_call_without_a_worker_returns_its_reason(own_server, monkeypatch):
    monkeypatch.setattr(bridging, "AGAIN_S", 0.3)

    async def talk(line):
        await line.greet()
        own_server.link.fault = Unavailable("No worker answers.")
        return await line.ask(call(11, "cortex_exact", query="x"))

    assert bridged(own_server.url, talk)["error"]["message"] == "No worker answers."


@pytest.fixture
def certified(tmp_path):
    """(certificate, key) of 127.0.0.1 without a known authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    (tmp_path / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")


def test_a_certificate_that_is_not_trusted_is_one_sentence_and_one_that_is_serves(
    sample, certified, monkeypatch
):
    cert, key = certified
    with serving(sample, ServerAddress(port=0, cert=cert, key=key)) as server:
        url = server.url.replace("http:", "https:")
        answer = bridged(url, lambda line: line.ask(INITIALIZE))
        assert "is not trusted" in answer["error"]["message"]
        assert "SSL_CERT_FILE" in answer["error"]["message"]
        assert "\n" not in answer["error"]["message"]
        monkeypatch.setenv("SSL_CERT_FILE", cert)
        assert ssl.create_default_context().get_ca_certs()
        assert bridged(url, lambda line: line.ask(INITIALIZE))["result"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("127.0.0.1:37777", "pass a URL"),
        ("ftp://x", "pass a URL"),
        ("http://[", "pass a URL"),
        ("http://box.lan", "https"),
    ],
)
def test_an_invalid_or_unsafe_url_is_refused(url, words):
    with pytest.raises(Misconfigured, match=words):
        check_url(url)


def test_a_url_without_a_path_means_the_route_of_mcp():
    assert check_url("http://127.0.0.1:1") == "http://127.0.0.1:1/mcp"
    assert check_url("https://box.lan/cortex/mcp") == "https://box.lan/cortex/mcp"


def named(client):
    """Return `initialize` from a client of that name."""
    return INITIALIZE | {"params": INITIALIZE["params"] | {"clientInfo": {"name": client, "version": "1"}}}


@pytest.mark.parametrize(
    ("client", "query", "is_agent"),
    [("claude-code", "", True), ("a-client", "?for=agent", True), ("a-client", "", False)],
)
def test_an_agent_behind_a_bridge_gets_its_list_and_text(server, client, query, is_agent):
    async def talk(line):
        hello = await line.ask(named(client))
        await line.bridge.take(INITIALIZED)
        return (
            hello,
            await line.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
            await line.ask(call(3, "cortex_exact", query="rotate")),
        )

    hello, listed, answer = bridged(f"{server.url}/mcp{query}", talk)
    assert ("cortex_uses" in hello["result"]["instructions"]) == is_agent
    assert ("cortex_graph" not in str(listed)) == is_agent
    assert answer["result"]["content"][0]["text"].startswith("{") != is_agent


@pytest.mark.parametrize(
    ("client", "audience", "is_agent"),
    [("claude-code", None, True), ("a-client", "agent", True), ("claude-code", "program", False)],
)
def test_an_agent_gets_its_list_while_the_server_is_away(client, audience, is_agent, monkeypatch):
    monkeypatch.setattr(bridging, "FIRST_S", 0.0)

    async def talk(line):
        return await line.ask(named(client)), await line.ask(
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        )

    hello, listed = bridged("http://127.0.0.1:9", talk, audience=audience)
    assert ("cortex_uses" in hello["result"]["instructions"]) == is_agent
    assert ("cortex_graph" not in str(listed)) == is_agent


class Refusing(Breaking):
    """A server that answers each message with `status` and `body`."""

    status, body = 400, b""

    def do_POST(self):
        super().do_POST()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)


RPC = {"code": -32020, "message": "The header differs from the body.", "data": {"header": "Mcp-Name"}}


@pytest.mark.parametrize(
    ("status", "body", "code", "data"),
    [
        (400, {"jsonrpc": "2.0", "id": None, "error": RPC}, -32020, RPC["data"]),
        (404, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "No."}}, -32601, None),
        (
            503,
            {"jsonrpc": "2.0", "id": 1, "error": RPC},
            -32020,
            RPC["data"],
        ),
        (
            400,
            {"error": {"code": "bad_request", "message": "No."}},
            -32602,
            {"status": 400, "code": "bad_request"},
        ),
        (
            403,
            {"error": {"code": "forbidden", "message": "No."}},
            -32603,
            {"status": 403, "code": "forbidden"},
        ),
        (418, "no JSON", -32603, {"status": 418}),
        (500, {"error": "flat"}, -32603, {"status": 500}),
    ],
)
def test_an_error_of_the_server_comes_with_its_code_and_data(monkeypatch, status, body, code, data):
    monkeypatch.setattr(bridging, "FIRST_S", 0.2)
    monkeypatch.setattr(Refusing, "status", status)
    monkeypatch.setattr(Refusing, "body", orjson.dumps(body))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as refusing:
        thread = threading.Thread(target=refusing.serve_forever, args=(0.02,))
        thread.start()
        url = f"http://127.0.0.1:{refusing.server_address[1]}"
        try:
            answer = bridged(url, lambda line: line.ask(call(1, "cortex_exact", query="x")))
        finally:
            refusing.shutdown()
            thread.join()
    assert answer["id"] == 1
    assert answer["error"]["code"] == code
    assert answer["error"].get("data") == data
    assert answer["error"]["message"]


def test_a_stateless_call_of_an_unknown_tool_has_the_servers_code(server):
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL_VERSIONS[-1],
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "a-client", "version": "1"},
    }

    async def talk(line):
        question = call(1, "no_such_tool", query="rotate")
        return await line.ask(question | {"params": question["params"] | {"_meta": meta}})

    error = bridged(server.url, talk)["error"]
    assert error["code"] == -32602
    assert "no_such_tool" in error["message"]
