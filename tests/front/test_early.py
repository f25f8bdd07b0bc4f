"""What is answered while the SDK is imported: as the SDK answers, and once."""

import asyncio
import os

import orjson
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from cortex.ask.freshness import Freshness
from cortex.front.mcp.early import VERSIONS, Early
from cortex.front.mcp.lines import Line
from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.mcp.stdio import Wire, _speak
from cortex.front.mcp.updates import Updates
from cortex.front.tools import TOOLS
from cortex.settings.config import Config
from ipc.errors import Unavailable

#: seconds in which a test's answers must be there
BOUND_S = 60.0
CLIENT = {"name": "a client", "version": "1"}
OFFERS = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}


class Twin:
    """A link to workers of this process; the tool `broken` makes fail."""

    def __init__(self, served, broken=None, fault=None):
        self.served, self.broken, self.fault = served, broken, fault
        self.freshness = served.asking().freshness
        self.agents = []

    def name(self, agent):
        self.agents.append(agent)

    async def call(self, tool, arguments):
        checked = tool.check(arguments)
        if tool.name == self.broken:
            raise self.fault
        return await tool.call(self.served.asking(), checked)


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {})


def initialize(version=VERSIONS[-1], offers=OFFERS, client=CLIENT):
    return request(0, "initialize", protocolVersion=version, capabilities=offers, clientInfo=client)


def call(number, name, **arguments):
    return request(number, "tools/call", name=name, arguments=arguments)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def exchange(link, messages, early):
    """The lines that answer `messages`, in the order of their ids; of those the first `early` are
    there before the SDK is asked anything.
    """

    async def arrive():
        for message in messages:
            yield Line(orjson.dumps(message).decode())

    async def run(read, write):
        wire = Wire(write, BOUND_S)
        first = Early(TOOLS, link, wire)
        first.made.set()
        if not early:
            first.end()
        first.begin(arrive())
        with os.fdopen(read, "rb") as told:
            lines = [await asyncio.to_thread(told.readline) for _ in range(early)]
            first.end()
            project = Project(link)
            updates = Updates(project)
            wire.take(first, updates.close)
            await _speak(make_server(TOOLS, project, updates), wire)
            os.close(write)
            lines += await asyncio.to_thread(told.readlines)
        return sorted(lines, key=lambda line: orjson.loads(line)["id"])

    return asyncio.run(asyncio.wait_for(run(*os.pipe()), BOUND_S))


def test_the_versions_are_those_of_the_handshake():
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_what_needs_no_sdk_is_answered_before_it_is_there_and_as_it_would(sample, version):
    messages = [
        initialize(version),
        INITIALIZED,
        request("one", "tools/list"),
        call("three", "cortex_exact", query="store", detail="location"),
        call("two", "cortex_exact", query="store", limit="many"),
    ]
    messages = [one | {"id": str(one["id"])} if "id" in one else one for one in messages]

    def told(lines):
        found = [orjson.loads(line) for line in lines]
        for one in found:
            if one["id"] == "three":  # whose text says how long it took
                text = orjson.loads(one["result"]["content"][0]["text"])
                one["result"]["content"][0]["text"] = text | {"metadata": None, "index": None}
        return found

    early, late = (exchange(Twin(sample), messages, count) for count in (4, 0))
    assert told(early) == told(late)


@pytest.mark.parametrize("fault", [Unavailable("Nobody answers."), ZeroDivisionError("a bug")])
def test_a_call_that_fails_early_fails_as_it_does_with_the_sdk(sample, fault):
    messages = [initialize(), INITIALIZED, call(1, "cortex_outline", path="src")]
    link = Twin(sample, "cortex_outline", fault)
    early, late = (exchange(link, messages, count) for count in (2, 0))
    assert early == late
    assert b'"code":-32603' in early[1]
    assert set(link.agents) == {"a client"}


@pytest.mark.parametrize(
    "first",
    [
        request(0, "tools/list"),
        initialize("1999-01-01"),
        initialize(offers={"roots": {"listChanged": []}}),
        initialize(offers={"another": {}}),
        initialize(client={"name": 5, "version": "1"}),
        initialize() | {"id": True},
        initialize() | {"jsonrpc": "1.0"},
    ],
)
def test_what_may_be_another_beginning_is_left_to_the_sdk_with_all_that_follows(sample, first):
    messages = [first, INITIALIZED, request(1, "ping"), call(2, "cortex_exact", query="store", limit="many")]

    async def arrive():
        for message in messages:
            yield Line(orjson.dumps(message).decode())

    async def run():
        early = Early(TOOLS, Twin(sample), None)  # nothing is said: there is nobody to say it to
        early.begin(arrive())
        return [orjson.loads(line.text) async for line in early]

    assert asyncio.run(asyncio.wait_for(run(), BOUND_S)) == messages


def test_from_the_first_message_on_that_needs_the_sdk_all_wait_for_it_in_their_order(sample):
    messages = [initialize(), INITIALIZED, request(1, "prompts/list"), request(2, "tools/list")]
    lines = exchange(Twin(sample), messages, 1)
    assert [orjson.loads(line)["id"] for line in lines] == [0, 1, 2]
    assert all(b'"result"' in line for line in lines)


def test_a_call_that_has_to_wait_for_the_first_index_is_left_to_the_sdk(sample, tmp_path):
    link = Twin(sample)
    link.freshness = Freshness(Config(root=tmp_path))
    messages = [initialize(), INITIALIZED, call(1, "cortex_exact", query="store", limit="many")]
    lines = exchange(link, messages, 1)
    assert [orjson.loads(line)["id"] for line in lines] == [0, 1]


def test_without_a_project_everything_is_left_to_the_sdk(sample):
    async def run():
        async def arrive():
            yield Line(orjson.dumps(initialize()).decode())

        early = Early(TOOLS, None, None)
        early.begin(arrive())
        return [line async for line in early]

    assert len(asyncio.run(asyncio.wait_for(run(), BOUND_S))) == 1


def test_an_input_that_cannot_be_read_is_told_to_who_reads_it(sample):
    async def arrive():
        yield Line(orjson.dumps(request(0, "ping")).decode())
        raise OSError("the input is gone")

    async def run():
        early = Early(TOOLS, Twin(sample), None)
        early.begin(arrive())
        return [line async for line in early]

    with pytest.raises(OSError, match="gone"):
        asyncio.run(asyncio.wait_for(run(), BOUND_S))
