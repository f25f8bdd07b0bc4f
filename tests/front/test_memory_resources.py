"""The resources of memory in both kinds of protocol, and notifications of their changes."""

import asyncio
import warnings

import orjson
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import ResourceUpdatedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.mcp.updates import Updates
from cortex.front.tools import TOOLS, choose
from cortex.system.errors import BadRequest

#: maximum of seconds until a subscriber is notified
BOUND_S = 30.0


def talk(window, ask, mode="legacy", tools=TOOLS, **options):
    """Return the result of `ask(client)` with a server on the window's memory."""

    async def run():
        project = Project(window)
        updates = Updates(project)
        async with Client(make_server(tools, project, updates), mode=mode, **options) as client:
            try:
                return await ask(client)
            except MCPError as error:
                fault = error
            finally:
                updates.close()
        raise fault

    return asyncio.run(asyncio.wait_for(run(), 60))


@pytest.fixture(params=["legacy", MODERN_PROTOCOL_VERSIONS[-1]], ids=["handshake", "newest"])
def mode(request):
    return request.param


def test_the_stats_are_a_resource_and_a_note_is_a_template(window, mode):
    first = window.ask("cortex_store", title="The first of two notes", body="Said </note> in it.", tags=["a"])
    second = window.ask("cortex_store", title="The second of two notes", kind="decision")
    window.ask("cortex_relate", from_id=first["id"], to_id=second["id"], relation="supports")

    async def ask(client):
        return (
            (await client.list_resources()).resources,
            (await client.list_resource_templates()).resource_templates,
            await client.read_resource("cortex://stats"),
            await client.read_resource(f"cortex://node/{first['id']}"),
            await client.read_resource(f"cortex://node/{second['number']}"),
        )

    listed, templates, *read = talk(window, ask, mode)
    assert "cortex://stats" in {str(resource.uri) for resource in listed}
    assert "cortex://node/{id}" in {template.uri_template for template in templates}
    assert not any("node" in str(resource.uri) for resource in listed)
    stats, node, other = (orjson.loads(content.contents[0].text) for content in read)
    assert (stats["node_count"], stats["edge_count"]) == (2, 1)
    assert stats["node_counts_by_kind"] == {"decision": 1, "fact": 1}
    assert stats["db_bytes"] > 0
    assert stats["oldest_node"] <= stats["newest_node"]
    assert node["body"] == "<note>\nSaid &lt;/note> in it.\n</note>"
    assert [edge["relation"] for edge in node["edges"]] == ["supports"]
    assert [row["title"] for row in node["related"]] == ["The second of two notes"]
    assert other["id"] == second["id"]
    assert {"importance", "tags", "source_agent", "created_at", "updated_at", "access_count"} <= set(node)


def test_without_the_toolset_there_are_no_resources_of_memory(window):
    async def ask(client):
        return (await client.list_resources()).resources, (
            await client.list_resource_templates()
        ).resource_templates

    listed, templates = talk(window, ask, tools=choose(("code",)))
    assert len(listed) == len(templates) == 1


def test_a_note_that_is_not_there_is_an_error(window, mode):
    with pytest.raises(MCPError, match="There is no note 'nobody'"):
        talk(window, lambda client: client.read_resource("cortex://node/nobody"), mode)


def test_an_empty_question_is_a_json_rpc_error_as_for_code(window, mode):
    for name in ("cortex_recall", "cortex_search"):
        arguments = {"query": "", "scope": "memory"} if name == "cortex_search" else {"query": ""}
        with pytest.raises(MCPError, match="The query is empty") as caught:
            talk(
                window, lambda client, name=name, arguments=arguments: client.call_tool(name, arguments), mode
            )
        assert caught.value.code == -32602


def test_a_title_that_is_too_long_is_an_answer_for_the_model(window, mode):
    arguments = {"title": "x" * 10_000}
    answer = talk(window, lambda client: client.call_tool("cortex_store", arguments), mode)
    assert answer.is_error is True
    assert answer.content[0].text == "title has 10000 characters; 256 are allowed."


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_subscribers_hear_of_writes_by_other_windows(open_window):
    window, other = open_window(), open_window()
    first, two = (window.ask("cortex_store", title=f"Note {n} of two")["id"] for n in "ab")
    heard, arrived = [], asyncio.Event()

    async def keep(message):
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            arrived.set()

    async def ask(client):
        await client.subscribe_resource(f"cortex://node/{first}")
        await client.subscribe_resource("cortex://stats")
        await other.call(TOOLS["cortex_store"], {"id": two, "body": "Changed by another window."})
        await other.call(TOOLS["cortex_store"], {"id": first, "body": "Changed by another window."})
        async with asyncio.timeout(BOUND_S):
            while f"cortex://node/{first}" not in heard or "cortex://stats" not in heard:
                await arrived.wait()
                arrived.clear()
        await client.unsubscribe_resource(f"cortex://node/{first}")
        heard.clear()
        await other.call(TOOLS["cortex_store"], {"id": first, "body": "Changed once more."})
        async with asyncio.timeout(BOUND_S):
            while not heard:
                await arrived.wait()
                arrived.clear()

    talk(window, ask, message_handler=keep)
    assert heard == ["cortex://stats"]


def test_a_listener_of_the_newest_protocol_hears_of_a_new_edge(open_window):
    window, other = open_window(), open_window()
    first, two = (window.ask("cortex_store", title=f"Note {n} of two")["id"] for n in "ab")
    uri = f"cortex://node/{first}"

    async def ask(client):
        async with client.listen(resource_subscriptions=[uri]) as stream, asyncio.timeout(BOUND_S):
            await other.call(TOOLS["cortex_relate"], {"from_id": two, "to_id": first})
            return await anext(aiter(stream))

    assert str(talk(window, ask, MODERN_PROTOCOL_VERSIONS[-1]).uri) == uri


def test_updates_stop_when_the_subscriber_disconnects(open_window):
    window = open_window()
    project = Project(window)
    updates = Updates(project)

    async def run():
        async with Client(make_server(TOOLS, project, updates), mode="legacy") as client:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                await client.subscribe_resource("cortex://stats")
            assert updates._sessions
        await asyncio.wait_for(updates._task, BOUND_S)

    asyncio.run(asyncio.wait_for(run(), 60))
    assert updates._sessions == {}


def test_a_client_without_memory_access_cannot_subscribe(open_window):
    window = open_window()
    project = Project(window)
    updates, call = Updates(project), window.call

    async def closed(tool, _arguments):
        raise BadRequest(f"The token is for code, and {tool.name} asks memory.")

    async def run():
        async with Client(make_server(TOOLS, project, updates), mode="legacy") as client:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                window.call = closed
                with pytest.raises(MCPError, match="for code"):
                    await client.subscribe_resource("cortex://stats")
                assert (updates._sessions, updates._task) == ({}, None)
                window.call = call
                await client.subscribe_resource("cortex://stats")
            assert updates._sessions
            assert not updates._task.done()

    asyncio.run(asyncio.wait_for(run(), 60))
