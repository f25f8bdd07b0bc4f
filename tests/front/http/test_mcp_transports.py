"""MCP over HTTP through the official client: Streamable HTTP in both eras, HTTP+SSE, sessions."""

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
from mcp_types import JSONRPCNotification, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from cortex.front.http.routes.mcp_transports import KEPT_MAX, Kept
from cortex.front.http.tokens import add_named
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


def talk(server, ask, mode="legacy", token=TOKEN, sse=False):
    """What `ask(client)` gets through the official client."""
    headers = {"Authorization": f"Bearer {token}"}

    async def run():
        async with httpx2.AsyncClient(headers=headers, timeout=BOUND_S) as http:
            way = (
                sse_client(f"{server.url}/sse", headers=headers)
                if sse
                else streamable_http_client(f"{server.url}/mcp", http_client=http)
            )
            async with Client(way, mode=mode) as client:
                try:
                    return await ask(client)
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


def test_a_token_that_may_only_read_stores_nothing_over_mcp(own, mode, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    reader = add_named("reader", "read", 0.0)
    result = talk(own, lambda client: client.call_tool("cortex_store", {"title": "A thing"}), mode, reader)
    assert result.is_error
    assert "may only read" in result.content[0].text
    assert not own.link.asked


def test_memory_is_told_who_speaks(own):
    talk(own, lambda client: client.call_tool("cortex_exact", {"query": "rotate"}))
    [(_, caller)] = own.link.asked
    assert (caller.agent, caller.channel) == ("mcp", "mcp")
    assert caller.session


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_client_is_told_what_is_logged_while_it_is_answered_and_nothing_of_others(own, monkeypatch):
    own.link.fault = ZeroDivisionError("a fault of this test")
    monkeypatch.setattr(logging.getLogger("cortex"), "propagate", False)

    async def run():
        heard = {"one": [], "two": []}
        told = asyncio.Event()

        async def hear(name, params):
            heard[name].append((params.level, params.data))
            told.set()

        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with contextlib.AsyncExitStack() as stack:
            clients = {}
            for name in heard:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=BOUND_S))
                way = streamable_http_client(f"{own.url}/mcp", http_client=http)
                client = Client(way, mode="legacy", logging_callback=functools.partial(hear, name))
                clients[name] = await stack.enter_async_context(client)
                await clients[name].set_logging_level("error")
            for name in ("two", "one"):
                with pytest.raises(MCPError):
                    await clients[name].call_tool("cortex_exact", {"query": name})
                async with asyncio.timeout(BOUND_S):
                    while not heard[name]:
                        told.clear()
                        await told.wait()
        return heard

    heard = asyncio.run(asyncio.wait_for(run(), BOUND_S))
    assert heard["one"] == heard["two"] == [("error", "the request for cortex_exact failed")]


def opened(server, token=TOKEN):
    """The id of a new session."""
    status, headers, _ = server.ask(
        "POST", "/mcp", INITIALIZE, Accept=ACCEPT, Authorization=f"Bearer {token}"
    )
    assert status == 200
    return headers["mcp-session-id"]


def test_a_session_is_its_owners_alone(own, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    other = add_named("other", "admin", 0.0)
    session = opened(own)
    assert own.status("POST", "/mcp", LIST, Accept=ACCEPT, Mcp_Session_Id=session) == 200
    stolen = {"Mcp_Session_Id": session, "Authorization": f"Bearer {other}"}
    assert own.status("POST", "/mcp", LIST, Accept=ACCEPT, **stolen) == 404


def test_a_session_that_was_ended_or_never_was_is_not_found(own):
    session = opened(own)
    assert own.status("DELETE", "/mcp", Mcp_Session_Id=session) == 200
    assert own.status("POST", "/mcp", LIST, Accept=ACCEPT, Mcp_Session_Id=session) == 404
    assert own.status("POST", "/mcp", LIST, Accept=ACCEPT, Mcp_Session_Id="invented") == 404


def test_sessions_and_streams_that_their_clients_left_leave_nothing_behind(own):
    own.status("DELETE", "/mcp", Mcp_Session_Id=opened(own))
    before = own.held()
    for _ in range(10):
        session = opened(own)
        asked = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream", "Mcp-Session-Id": session}
        for path in ("/mcp", "/sse"):
            line = http.client.HTTPConnection("127.0.0.1", own.port, timeout=BOUND_S)
            line.request("GET", path, headers=asked)
            assert line.getresponse().status == 200
            line.close()
        assert own.status("DELETE", "/mcp", Mcp_Session_Id=session) == 200
    own.left(before)


def test_what_is_no_message_of_mcp_is_refused_and_the_next_is_answered(server):
    assert server.status("POST", "/mcp", b"{", Accept=ACCEPT, Content_Type="application/json") == 400
    assert server.status("POST", "/message?session_id=x", {"jsonrpc": "2.0"}) == 400
    assert opened(server)


def test_what_was_missed_is_sent_again_in_its_order_and_only_of_its_stream():
    async def run():
        kept, sent = Kept(), []

        async def send(event):
            sent.append((event.event_id, event.message.method))

        def message(name):
            return JSONRPCNotification(jsonrpc="2.0", method=name)

        first = await kept.store_event("one", message("a"))
        await kept.store_event("other", message("b"))
        await kept.store_event("one", None)
        await kept.store_event("one", message("c"))
        stream = await kept.replay_events_after(first, send)
        return (
            stream,
            sent,
            await kept.replay_events_after("99", send),
            await kept.replay_events_after("x", send),
        )

    assert asyncio.run(run()) == ("one", [("4", "c")], None, None)


def test_what_is_kept_for_those_who_come_back_is_bounded():
    async def run():
        kept = Kept()
        ids = [
            await kept.store_event("one", JSONRPCRequest(jsonrpc="2.0", id=at, method="m"))
            for at in range(KEPT_MAX + 1)
        ]
        return [await kept.replay_events_after(each, _nobody) for each in ids[:2]]

    assert asyncio.run(run()) == [None, "one"]


def test_no_token_is_sent_again_what_another_was_told(own, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    call = {"name": "cortex_exact", "arguments": {"query": "rotate"}}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    told = own.ask("POST", "/mcp", asked, Accept=ACCEPT, Mcp_Session_Id=opened(own), **LAST)[2]
    assert b"rotate" in told
    first = re.findall(rb"^id: (\d+)", told, re.MULTILINE)[0].decode()
    token = own.token = add_named("other", "read", 0.0)
    again = {"Accept": "text/event-stream", "Mcp_Session_Id": opened(own, token), "Last_Event_Id": first}
    assert own.ask("GET", "/mcp", **again, **LAST)[::2] == (200, b"")


async def _nobody(_event):
    """Who was missed is not looked at."""
