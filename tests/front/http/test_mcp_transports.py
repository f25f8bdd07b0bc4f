"""MCP over HTTP with the official client: Streamable HTTP in both protocols, HTTP+SSE, sessions."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import logging
import re

import httpx2
import orjson
import pytest
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from cortex.front.http.access.tokens import add_named
from cortex.front.http.routes import mcp_transports
from cortex.front.http.routes.mcp_transports import KEPT_MAX, SessionEvents
from tests.front.http.conftest import OFFERED, TOKEN
from tests.wait_until import BOUND_S

ERAS = {"handshake": "legacy", "newest": MODERN_PROTOCOL_VERSIONS[-1]}
ACCEPT = "application/json, text/event-stream"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": HANDSHAKE_PROTOCOL_VERSIONS[-1],
        "capabilities": {},
        "clientInfo": {"name": "a-client", "version": "1"},
    },
}
LAST = {"Mcp_Protocol_Version": HANDSHAKE_PROTOCOL_VERSIONS[-1]}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


def talk(server, ask, mode="legacy", token=TOKEN, *, sse=False, client="", query=""):
    """Return the result of `ask(client)` for the official client, by the name `client`."""
    headers = {"Authorization": f"Bearer {token}"}
    options = {"client_info": Implementation(name=client, version="1")} if client else {}

    async def run():
        async with httpx2.AsyncClient(headers=headers, timeout=BOUND_S) as http:
            way = (
                sse_client(f"{server.url}/sse{query}", headers=headers)
                if sse
                else streamable_http_client(f"{server.url}/mcp{query}", http_client=http)
            )
            async with Client(way, mode=mode, **options) as connected:
                try:
                    return await ask(connected)
                except MCPError as error:
                    fault = error
        raise fault

    return asyncio.run(asyncio.wait_for(run(), BOUND_S))


def test_the_official_client_lists_and_calls_tools_over_http(server, mode):
    async def ask(client):
        listed = await client.list_tools()
        return [tool.name for tool in listed.tools], await client.call_tool(
            "cortex_exact", {"query": "rotate"}
        )

    names, result = talk(server, ask, mode)
    assert names == list(OFFERED)
    assert orjson.loads(result.content[0].text)["results"]


def test_the_older_transport_serves_the_same(server):
    async def ask(client):
        listed = await client.list_tools()
        return [tool.name for tool in listed.tools], await client.call_tool(
            "cortex_exact", {"query": "rotate"}
        )

    names, result = talk(server, ask, sse=True)
    assert names == list(OFFERED)
    assert orjson.loads(result.content[0].text)["results"]


def test_resources_prompts_and_completion_are_served(server, mode):
    async def ask(client):
        read = await client.read_resource("cortex://outline/src/auth/session.py")
        prompts = await client.list_prompts()
        return read, [prompt.name for prompt in prompts.prompts]

    read, prompts = talk(server, ask, mode)
    assert "SessionStore" in read.contents[0].text
    assert "explain-module" in prompts


def test_errors_are_those_of_the_protocol(server, mode):
    with pytest.raises(MCPError) as caught:
        talk(server, lambda client: client.call_tool("cortex_exact", {"query": ""}), mode)
    assert caught.value.code == -32602
    result = talk(server, lambda client: client.call_tool("cortex_exact", {"query": "x", "color": 1}), mode)
    assert result.is_error


def test_a_token_that_may_only_read_stores_nothing_over_mcp(own_server, mode, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    reader = add_named("reader", "read", 0.0)
    result = talk(
        own_server, lambda client: client.call_tool("cortex_store", {"title": "A thing"}), mode, reader
    )
    assert result.is_error
    assert "may only read" in result.content[0].text
    assert not own_server.link.calls


def test_memory_gets_the_name_of_the_client(own_server):
    talk(own_server, lambda client: client.call_tool("cortex_exact", {"query": "rotate"}))
    [(_, caller)] = own_server.link.calls
    assert (caller.agent, caller.channel) == ("mcp", "mcp")
    assert caller.session


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_client_gets_log_messages_of_its_own_requests_alone(own_server, monkeypatch):
    own_server.link.fault = ZeroDivisionError("a fault of this test")
    monkeypatch.setattr(logging.getLogger("cortex"), "propagate", False)

    async def run():
        heard = {"one": [], "two": []}
        logged = asyncio.Event()

        async def hear(name, params):
            heard[name].append((params.level, params.data))
            logged.set()

        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with contextlib.AsyncExitStack() as stack:
            clients = {}
            for name in heard:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=BOUND_S))
                way = streamable_http_client(f"{own_server.url}/mcp", http_client=http)
                client = Client(way, mode="legacy", logging_callback=functools.partial(hear, name))
                clients[name] = await stack.enter_async_context(client)
                await clients[name].set_logging_level("error")
            for name in ("two", "one"):
                with pytest.raises(MCPError):
                    await clients[name].call_tool("cortex_exact", {"query": name})
                async with asyncio.timeout(BOUND_S):
                    while not heard[name]:
                        logged.clear()
                        await logged.wait()
        return heard

    heard = asyncio.run(asyncio.wait_for(run(), BOUND_S))
    assert heard["one"] == heard["two"] == [("error", "the request for cortex_exact failed")]


def opened(server, token=TOKEN):
    """Return the id of a new session."""
    status, headers, _ = server.ask(
        "POST", "/mcp", INITIALIZE, Accept=ACCEPT, Authorization=f"Bearer {token}"
    )
    assert status == 200
    return headers["mcp-session-id"]


def test_a_session_is_its_owners_alone(own_server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    other = add_named("other", "admin", 0.0)
    session = opened(own_server)
    assert own_server.status("POST", "/mcp", LIST, Accept=ACCEPT, Mcp_Session_Id=session) == 200
    stolen = {"Mcp_Session_Id": session, "Authorization": f"Bearer {other}"}
    assert own_server.status("POST", "/mcp", LIST, Accept=ACCEPT, **stolen) == 404


def test_one_token_cannot_take_the_sessions_of_others(own_server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(mcp_transports, "SESSIONS_MAX", 3)
    reader = add_named("reader", "read", 0.0)
    sessions = [opened(own_server, reader) for _ in range(3)]
    headers_of_reader = {"Accept": ACCEPT, "Authorization": f"Bearer {reader}"}
    for audience in ("", "?for=agent"):
        status, headers, answer = own_server.ask("POST", f"/mcp{audience}", INITIALIZE, **headers_of_reader)
        assert (status, answer["error"]["code"]) == (429, "too_many")
        assert int(headers["Retry-After"]) > 0
    opened(own_server)
    own_server.status("DELETE", "/mcp", Mcp_Session_Id=sessions[0], Authorization=f"Bearer {reader}")
    opened(own_server, reader)


def test_a_session_that_was_ended_or_never_was_is_not_found(own_server):
    session = opened(own_server)
    assert own_server.status("DELETE", "/mcp", Mcp_Session_Id=session) == 200
    assert own_server.status("POST", "/mcp", LIST, Accept=ACCEPT, Mcp_Session_Id=session) == 404
    assert own_server.status("POST", "/mcp", LIST, Accept=ACCEPT, Mcp_Session_Id="invented") == 404


def test_sessions_and_streams_that_their_clients_left_leave_nothing_behind(own_server):
    own_server.status("DELETE", "/mcp", Mcp_Session_Id=opened(own_server))
    before = own_server.resource_counts()
    for _ in range(10):
        session = opened(own_server)
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "text/event-stream",
            "Mcp-Session-Id": session,
        }
        for path in ("/mcp", "/sse"):
            line = http.client.HTTPConnection("127.0.0.1", own_server.port, timeout=BOUND_S)
            line.request("GET", path, headers=headers)
            assert line.getresponse().status == 200
            line.close()
        assert own_server.status("DELETE", "/mcp", Mcp_Session_Id=session) == 200
    own_server.wait_released(before)


def test_an_invalid_message_is_refused_and_the_next_is_answered(server):
    assert server.status("POST", "/mcp", b"{", Accept=ACCEPT, Content_Type="application/json") == 400
    assert server.status("POST", "/message?session_id=x", {"jsonrpc": "2.0"}) == 400
    assert opened(server)


def test_missed_events_are_replayed_in_order_for_their_stream_only():
    async def run():
        events, sent = SessionEvents(), []

        async def send(event):
            sent.append((event.event_id, event.message.method))

        def message(name):
            return JSONRPCNotification(jsonrpc="2.0", method=name)

        first = await events.store_event("one", message("a"))
        await events.store_event("other", message("b"))
        await events.store_event("one", None)
        await events.store_event("one", message("c"))
        stream = await events.replay_events_after(first, send)
        return (
            stream,
            sent,
            await events.replay_events_after("99", send),
            await events.replay_events_after("x", send),
        )

    assert asyncio.run(run()) == ("one", [("4", "c")], None, None)


def test_stored_events_are_bounded():
    async def run():
        events = SessionEvents()
        ids = [
            await events.store_event("one", JSONRPCRequest(jsonrpc="2.0", id=at, method="m"))
            for at in range(KEPT_MAX + 1)
        ]
        return [await events.replay_events_after(event_id, _nobody) for event_id in ids[:2]]

    assert asyncio.run(run()) == [None, "one"]


def test_events_are_not_replayed_to_another_token(own_server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    call = {"name": "cortex_exact", "arguments": {"query": "rotate"}}
    question = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    stream_text = own_server.ask(
        "POST", "/mcp", question, Accept=ACCEPT, Mcp_Session_Id=opened(own_server), **LAST
    )[2]
    assert b"rotate" in stream_text
    first = re.findall(rb"^id: (\d+)", stream_text, re.MULTILINE)[0].decode()
    token = own_server.token = add_named("other", "read", 0.0)
    resume_headers = {
        "Accept": "text/event-stream",
        "Mcp_Session_Id": opened(own_server, token),
        "Last_Event_Id": first,
    }
    assert own_server.ask("GET", "/mcp", **resume_headers, **LAST)[::2] == (200, b"")


async def _nobody(_event):
    """Do nothing."""


async def look(client):
    """Return (names of the listed tools, text of an answer)."""
    listed = await client.list_tools()
    answer = await client.call_tool("cortex_exact", {"query": "rotate"})
    assert answer.structured_content is None
    return [tool.name for tool in listed.tools], answer.content[0].text


@pytest.mark.parametrize(
    ("client", "query", "is_agent"),
    [
        ("claude-code", "", True),
        ("a-client", "", False),
        ("a-client", "?for=agent", True),
        ("claude-code", "?for=program", False),
    ],
)
def test_the_audience_is_of_the_session_or_of_the_request(server, mode, client, query, is_agent):
    for older in (False, True) if mode == "legacy" else (False,):
        names, text = talk(server, look, mode, client=client, query=query, sse=older)
        assert ("cortex_graph" not in names) == is_agent
        assert text.startswith("{") != is_agent


def test_clients_of_one_server_get_each_their_own_list(server, mode):
    for client in ("claude-code", "a-client", "claude-code"):
        names, _ = talk(server, look, mode, client=client)
        assert ("cortex_graph" in names) == (client == "a-client")


def test_each_request_of_the_newest_protocol_has_an_audience_of_its_own(server):
    for client, is_agent in (("claude-code", True), ("a-client", False)):
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL_VERSIONS[-1],
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
        }
        status, _, body = server.ask(
            "POST",
            "/mcp",
            LIST | {"params": {"_meta": meta}},
            Accept=ACCEPT,
            Mcp_Protocol_Version=MODERN_PROTOCOL_VERSIONS[-1],
            Mcp_Method="tools/list",
        )
        assert status == 200
        assert ("cortex_graph" not in str(body)) == is_agent


def test_an_unknown_audience_is_refused(server):
    status, _, body = server.ask("POST", "/mcp?for=everybody", INITIALIZE, Accept=ACCEPT)
    assert status == 400
    assert "it takes agent or program" in str(body)
