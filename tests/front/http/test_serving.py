"""The address of a server, and its errors."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket

import orjson
import pytest

from cortex.front.cli.commands import run as cortex
from cortex.front.http import serving as serving_module
from cortex.front.http import tcp_port
from cortex.front.http.access.origin_check import OriginCheck
from cortex.front.http.access.tokens import Tokens, WrongToken
from cortex.front.http.serving import ServerAddress, check
from cortex.front.http.tcp_port import listen
from cortex.system.errors import BadRequest, Misconfigured
from cortex.system.process import ports
from tests.front.http.conftest import serving


@pytest.fixture
def taken():
    """A port in use by this process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_given_port_in_use_is_an_error_with_its_process(taken):
    with pytest.raises(Misconfigured, match=rf"Port {taken} .* by process {os.getpid()} .*--port"):
        listen("127.0.0.1", taken)


def test_a_default_port_in_use_is_an_error_and_never_the_next_port(taken, monkeypatch):
    monkeypatch.setattr(tcp_port, "PORT", taken)
    with pytest.raises(Misconfigured, match=rf"Port {taken} .* by process {os.getpid()} .*--port"):
        listen("127.0.0.1", None)


def test_the_holder_of_a_port_is_named_by_its_user_if_its_process_is_hidden(taken, monkeypatch, tmp_path):
    monkeypatch.setattr(ports, "PROCESSES", tmp_path)
    assert ports.holder_of(taken) == f"a process of {ports.user_name(os.getuid())}"
    assert ports.user_name(3_999_999_999) == "user 3999999999"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_user_of_the_other_end_of_a_connection_is_known_once_it_is_accepted(host):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.bind((host, 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()[:2]) as line:
            ends = line.getsockname(), line.getpeername()
            assert ports.peer_uid(*ends) is None
            with listener.accept()[0]:
                assert ports.peer_uid(*ends) == os.getuid()


def test_a_taken_port_of_the_older_transport_is_reported(taken, capsys, monkeypatch):
    monkeypatch.setattr(serving_module, "SSE", taken)
    with contextlib.ExitStack() as stack:
        assert serving_module._sse_socket(ServerAddress(), stack) == []
        assert f"port {taken} is taken by process {os.getpid()}" in capsys.readouterr().err
        monkeypatch.setenv("CORTEX_MCP_SSE_PORT", str(taken))
        with pytest.raises(Misconfigured, match=rf"Port {taken} .*CORTEX_MCP_SSE_PORT"):
            serving_module._sse_socket(ServerAddress(), stack)
        monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "0")
        [listener] = serving_module._sse_socket(ServerAddress(), stack)
        assert listener.getsockname()[1] > 0
        monkeypatch.setenv("CORTEX_MCP_SSE_PORT", "http")
        with pytest.raises(Misconfigured, match="set it to a port"):
            serving_module._sse_socket(ServerAddress(), stack)


def test_a_holder_is_one_line(tmp_path):
    (tmp_path / "cmdline").write_bytes(b"python\0-c\0import os\nprint(os)\0")
    assert ports._command(tmp_path / "cmdline") == " (python -c import os print(os))"


def test_a_free_port_has_no_holder(taken):
    assert ports.holder_of(taken).startswith(f"process {os.getpid()} (")
    assert ports.holder_of(1) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "box.lan"])
def test_another_address_needs_tls_or_a_proxy(host):
    with pytest.raises(Misconfigured, match="--tls-cert"):
        check(ServerAddress(host))
    check(ServerAddress(host, behind_proxy=True))
    check(ServerAddress(host, cert="a", key="b"))
    with pytest.raises(Misconfigured, match="go together"):
        check(ServerAddress(host, cert="a"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_needs_none(host):
    check(ServerAddress(host))


def test_an_address_that_is_none_of_ours_is_one_sentence():
    with pytest.raises(Misconfigured, match=r"Cannot listen on 192\.0\.2\.1:0"):
        listen("192.0.2.1", 0)


def test_behind_a_proxy_its_name_is_ours_and_pages_come_by_https():
    door = OriginCheck("0.0.0.0", ("cortex.example.org",), "https")
    assert door.refusal(["cortex.example.org"], ["https://cortex.example.org"]) == ""
    assert door.refusal(["cortex.example.org"], ["http://cortex.example.org"])
    assert door.refusal(["evil.example"], [])


@pytest.mark.parametrize(
    "host",
    [
        *("[::1].evil.com", "127.0.0.1:47777, evil.com", "localhost:evil.com", "[::1", "::1", "[::1]x", ""),
        *("localhost:123456", "user@localhost", "localhost/", "localhost ", "127.0.0.1:", "[localhost]"),
    ],
)
def test_a_host_that_only_begins_as_this_machine_is_refused(host):
    door = OriginCheck("127.0.0.1", (), "http")
    assert door.refusal([host], [])
    for ours in ("localhost", "localhost:47777", "127.0.0.1:1", "[::1]", "[::1]:47777", "LOCALHOST"):
        assert door.refusal([ours], []) == ""


def test_two_servers_are_side_by_side(sample):
    with serving(sample) as first, serving(sample) as other:
        assert first.port != other.port
        assert [running.status("GET", "/v1/tools") for running in (first, other)] == [200, 200]


def test_a_certificate_that_cannot_be_used_is_one_sentence(sample, tmp_path):
    import asyncio

    from cortex.front.http.serving import run

    (tmp_path / "cert").write_text("no certificate")
    place = ServerAddress(cert=str(tmp_path / "cert"), key=str(tmp_path / "missing"))
    with pytest.raises(Misconfigured, match=r"The certificate .* cannot be used"):
        asyncio.run(run([sample.config], place, "a-token-of-a-test", [], stop=asyncio.Event()))


def test_the_entry_for_an_agent_has_the_url_and_the_token(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert cortex(["serve", "--print-entry", "--port", "4000"]) == 0
    entry = orjson.loads(capsys.readouterr().out)["mcpServers"]["cortex"]
    assert entry["url"] == "http://127.0.0.1:4000/mcp?for=agent"
    token = entry["headers"]["Authorization"].removeprefix("Bearer ")
    assert Tokens(token).bearer((tmp_path / "cortex" / "token").read_text()).has_right("admin")


def test_tokens_are_made_listed_and_taken_back_by_commands(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def run_token(*words):
        assert cortex(["token", *words]) == 0
        return capsys.readouterr().out.strip()

    user_token = run_token()
    assert run_token() == user_token
    ci_token = run_token("ci", "--right", "write", "--expires", "30d")
    tokens = Tokens(user_token)
    assert (tokens.bearer(ci_token).name, tokens.bearer(ci_token).right) == ("ci", "write")
    assert re.match(r"ci\twrite\tends 20", run_token("--list"))
    assert tokens.bearer(run_token("--read-only")).right == "read"
    run_token("ci", "--revoke")
    assert "ci" not in run_token("--list")
    new = run_token("--new")
    assert tokens.bearer(new).has_right("admin")
    with pytest.raises(WrongToken):
        tokens.bearer(user_token)
    (tmp_path / "cortex" / "token").unlink()
    with pytest.raises(WrongToken):
        tokens.bearer(new)
    monkeypatch.setenv("CORTEX_TOKEN", user_token)
    with pytest.raises(Misconfigured, match="CORTEX_TOKEN"):
        cortex(["token", "--new"])
    assert not (tmp_path / "cortex" / "token").exists()
    with pytest.raises(BadRequest, match="12h"):
        cortex(["token", "x", "--expires", "soon"])


def test_an_answer_does_not_wait_until_the_client_has_acknowledged_its_head():
    async def read_nodelay() -> int:
        nodelay = asyncio.get_running_loop().create_future()

        def met(_reader, writer):
            nodelay.set_result(
                writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            )
            writer.close()

        with listen("127.0.0.1", 0) as listener:
            server = await asyncio.start_server(met, sock=listener)
            async with server:
                _, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return await asyncio.wait_for(nodelay, 10)

    assert asyncio.run(read_nodelay()) != 0
