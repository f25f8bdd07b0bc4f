"""Answers without the SDK: equal to the SDK's, and each sent once."""

import asyncio
import os

import orjson
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from cortex.ask.freshness import Freshness
from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.mcp.stdio import Wire, _speak
from cortex.front.mcp.transport.fast_path import CALLS_MAX, VERSIONS, FastPath
from cortex.front.mcp.transport.lines import Line
from cortex.front.mcp.updates import Updates
from cortex.front.tools import TOOLS
from cortex.settings.config import Config
from cortex.system.errors import Unavailable

#: seconds in which a test's answers must be there
BOUND_S = 60.0
CLIENT = {"name": "a client", "version": "1"}
OFFERS = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}


class Twin:
    """A link to workers of this process; the tool `broken` makes fail."""

    def __init__(self, served, broken=None, fault=None):
        self.served, self.broken, self.fault = served, broken, fault
        self.freshness = served.context().freshness
        self.agents = []

    def name(self, agent):
        self.agents.append(agent)

    async def names(self):
        return ()

    async def call(self, tool, arguments):
        checked = tool.check(arguments)
        if tool.name == self.broken:
            raise self.fault
        return await tool.call(self.served.context(), checked)


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {})


def initialize(version=VERSIONS[-1], offers=OFFERS, client=CLIENT):
    return request(0, "initialize", protocolVersion=version, capabilities=offers, clientInfo=client)


def call(number, name, **arguments):
    return request(number, "tools/call", name=name, arguments=arguments)


#: methods without parameters, besides the list of tools
PLAIN = ("ping", "prompts/list", "resources/list", "resources/templates/list")
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def arrive(messages):
    for message in messages:
        yield Line(orjson.dumps(message).decode())


def exchange(link, messages, early):
    """The lines that answer `messages`, in the order of their ids; of those the first `early` are
    there before the SDK is asked anything. None: the SDK answers all.
    """

    async def run(read, write):
        wire = Wire(write, BOUND_S)
        fast_path = FastPath(TOOLS, link, wire)
        fast_path.tools_ready.set()
        with os.fdopen(read, "rb") as output:
            if early is not None:
                fast_path.begin(arrive(messages))
            lines = [await asyncio.to_thread(output.readline) for _ in range(early or 0)]
            fast_path.end()
            project = Project(link)
            updates = Updates(project)
            wire.take(arrive(messages) if early is None else fast_path, updates.close)
            await _speak(make_server(TOOLS, project, updates), wire)
            os.close(write)
            lines += await asyncio.to_thread(output.readlines)
        return sorted(lines, key=lambda line: orjson.loads(line)["id"])

    return asyncio.run(asyncio.wait_for(run(*os.pipe()), BOUND_S))


def test_the_versions_are_those_of_the_handshake():
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_early_answers_equal_the_answers_of_the_sdk(sample, version):
    messages = [
        initialize(version),
        INITIALIZED,
        request("one", "tools/list"),
        *(request(f"plain {method}", method) for method in PLAIN),
        call("three", "cortex_exact", query="store", detail="location"),
        call("two", "cortex_exact", query="store", limit="many"),
    ]
    messages = [message | {"id": str(message["id"])} if "id" in message else message for message in messages]

    def parsed_answers(lines):
        answers = [orjson.loads(line) for line in lines]
        for answer in answers:
            if answer["id"] == "three":  # its text has the duration
                text = orjson.loads(answer["result"]["content"][0]["text"])
                answer["result"]["content"][0]["text"] = text | {"metadata": None, "index": None}
        return answers

    early, late = (exchange(Twin(sample), messages, count) for count in (4 + len(PLAIN), None))
    assert parsed_answers(early) == parsed_answers(late)


@pytest.mark.parametrize("fault", [Unavailable("Nobody answers."), ZeroDivisionError("a bug")])
def test_a_call_that_fails_early_fails_as_it_does_with_the_sdk(sample, fault):
    messages = [initialize(), INITIALIZED, call(1, "cortex_outline", path="src")]
    link = Twin(sample, "cortex_outline", fault)
    early, late = (exchange(link, messages, count) for count in (2, None))
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
def test_an_unusual_first_message_leaves_everything_to_the_sdk(sample, first):
    messages = [first, INITIALIZED, request(1, "ping"), call(2, "cortex_exact", query="store", limit="many")]

    async def run():
        early = FastPath(TOOLS, Twin(sample), None)  # no answer: the client has gone
        early.begin(arrive(messages))
        return [orjson.loads(line.text) async for line in early]

    assert asyncio.run(asyncio.wait_for(run(), BOUND_S)) == messages


def test_messages_after_the_first_sdk_request_keep_their_order(sample):
    messages = [initialize(), INITIALIZED, request(1, "completion/complete"), request(2, "tools/list")]
    lines = exchange(Twin(sample), messages, 1)
    assert [orjson.loads(line)["id"] for line in lines] == [0, 1, 2]
    assert [list(orjson.loads(line))[-1] for line in lines] == ["result", "error", "result"]


async def bring(served, messages, link=None):
    """(whether the SDK is wanted for `messages`, the ids of the answers that are there by then)"""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as output:
        with os.fdopen(write, "wb"):
            fast_path = FastPath(TOOLS, link or Twin(served), Wire(write, BOUND_S))
            fast_path.tools_ready.set()
            fast_path.begin(arrive(messages))
            wanted = await asyncio.wait_for(fast_path.wants_sdk(BOUND_S), BOUND_S)
        return wanted, sorted(orjson.loads(line)["id"] for line in output.readlines())


def test_a_client_that_lists_and_calls_tools_never_needs_the_sdk(sample):
    messages = [initialize(), INITIALIZED, *(request(at, name) for at, name in enumerate(PLAIN, 1))]
    messages += [request(5, "tools/list"), call(6, "cortex_exact", query="store", detail="location")]
    assert asyncio.run(bring(sample, messages)) == (False, [0, 1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    "last",
    [
        request(1, "logging/setLevel", level="info"),
        request(1, "resources/read", uri="cortex://outline/"),
        call(1, "no_such_tool"),
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        INITIALIZED,
    ],
)
def test_requests_that_need_the_sdk_load_it(sample, last):
    assert asyncio.run(bring(sample, [initialize(), INITIALIZED, last]))[0]


@pytest.mark.parametrize("last", [[], [call(1, "cortex_exact", query="store")]])
def test_where_there_is_no_index_yet_the_sdk_comes_with_the_first_call(sample, tmp_path, last):
    link = Twin(sample)
    link.freshness = Freshness(Config(root=tmp_path))
    assert asyncio.run(bring(sample, [initialize(), INITIALIZED, *last], link))[0] == bool(last)


def test_a_call_that_has_to_wait_for_the_first_index_is_left_to_the_sdk(sample, tmp_path):
    link = Twin(sample)
    link.freshness = Freshness(Config(root=tmp_path))
    messages = [initialize(), INITIALIZED, call(1, "cortex_exact", query="store", limit="many")]
    lines = exchange(link, messages, 1)
    assert [orjson.loads(line)["id"] for line in lines] == [0, 1]


def test_a_tool_of_memory_waits_for_no_index(sample, tmp_path):
    link = Slow(sample)
    link.freshness = Freshness(Config(root=tmp_path))

    async def talk(say, hear, lines):
        for message in (initialize(), INITIALIZED, call(1, "cortex_exact", query="store")):
            await say(message)
        await say(call(2, "cortex_recall", query="retries"))
        answer = orjson.loads(await hear())
        return answer, [orjson.loads((await anext(lines)).text)["method"] for _ in range(3)]

    answer, left = converse(link, talk)
    assert answer["id"] == 2
    assert "no way to memory" in answer["error"]["message"]  # this link has none
    assert left == ["initialize", "notifications/initialized", "tools/call"]


def test_without_a_project_everything_is_left_to_the_sdk(sample):
    async def run():
        early = FastPath(TOOLS, None, None)
        early.begin(arrive([initialize()]))
        return [line async for line in early]

    assert len(asyncio.run(asyncio.wait_for(run(), BOUND_S))) == 1


def test_an_unreadable_input_raises_at_its_reader(sample):
    async def broken():
        async for line in arrive([request(0, "ping")]):
            yield line
        raise OSError("the input is gone")

    async def run():
        early = FastPath(TOOLS, Twin(sample), None)
        early.begin(broken())
        return [line async for line in early]

    with pytest.raises(OSError, match="gone"):
        asyncio.run(asyncio.wait_for(run(), BOUND_S))


class Slow(Twin):
    """A link that blocks calls of cortex_outline until `let` is set or they are cancelled."""

    def __init__(self, served):
        super().__init__(served)
        self.begun, self.let, self.given_up = asyncio.Semaphore(0), asyncio.Event(), 0

    async def call(self, tool, arguments):
        if tool.name == "cortex_outline":
            self.begun.release()
            try:
                await self.let.wait()
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        return await super().call(tool, arguments)


def converse(link, talk):
    """Return the result of `talk(send, take, lines)`.

    `send` sends one or several messages at once, `take` returns the next line for the client,
    `lines` are those for the SDK, which is imported and never answers.
    """

    async def run(read, write):
        queue = asyncio.Queue()

        async def heard():
            while (message := await queue.get()) is not None:
                for single in message if isinstance(message, list) else [message]:
                    yield Line(orjson.dumps(single).decode())

        with os.fdopen(read, "rb") as output, os.fdopen(write, "wb"):
            fast_path = FastPath(TOOLS, link, Wire(write, BOUND_S))
            fast_path.tools_ready.set()
            fast_path.end()
            fast_path.begin(heard())
            returned = await talk(queue.put, lambda: asyncio.to_thread(output.readline), aiter(fast_path))
            await queue.put(None)
            return returned

    return asyncio.run(asyncio.wait_for(run(*os.pipe()), BOUND_S))


@pytest.mark.parametrize("offers", [OFFERS, {"another": {}}])
def test_the_imported_sdk_gets_no_call_of_a_tool(sample, offers):
    others = [initialize(offers=offers), INITIALIZED, request(2, "tools/list"), request(3, "ping")]

    async def talk(say, hear, lines):
        for message in others:
            await say(message)
        await say(call(4, "cortex_exact", query="store", detail="location"))
        await say(call(5, "no_such_tool"))
        answer = orjson.loads(await hear())
        return answer, [orjson.loads((await anext(lines)).text) for _ in (*others, "the unknown tool")]

    answer, left = converse(Twin(sample), talk)
    assert answer["id"] == 4
    assert orjson.loads(answer["result"]["content"][0]["text"])["results"]
    assert left == [*others, call(5, "no_such_tool")]


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01"])
def test_a_client_of_another_protocol_is_answered_by_the_sdk_only(sample, version):
    messages = [initialize(version), INITIALIZED, call(1, "cortex_exact", query="store")]

    async def talk(say, _hear, lines):
        for message in messages:
            await say(message)
        return [orjson.loads((await anext(lines)).text) for _ in messages]

    assert converse(Twin(sample), talk) == messages


def test_a_cancelled_call_ends_without_an_answer(sample):
    link = Slow(sample)

    async def talk(say, hear, _lines):
        await say(initialize())
        await say(INITIALIZED)
        await say(call(1, "cortex_outline"))
        await link.begun.acquire()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await say(cancel | {"params": {"requestId": True}})  # not a valid id
        await say(call(2, "cortex_exact", query="store", limit=1))
        second = orjson.loads(await hear())["id"]
        assert link.given_up == 0
        await say(cancel)
        await say(call(1, "cortex_exact", query="store", limit=1))  # the id is free again
        return second, orjson.loads(await hear()), link.given_up  # the end cancels all

    second, last, given_up = converse(link, talk)
    assert (second, last["id"], given_up) == (2, 1, 1)
    assert "results" in last["result"]["content"][0]["text"]


def test_an_id_that_is_used_again_at_once_can_be_cancelled_again(sample):
    link = Slow(sample)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}

    async def talk(say, hear, _lines):
        for message in (initialize(), INITIALIZED, call(1, "cortex_outline")):
            await say(message)
        await link.begun.acquire()
        await say([cancel, call(1, "cortex_outline")])
        await link.begun.acquire()
        await say(cancel)
        await say(call(2, "cortex_exact", query="store", limit=1))
        return orjson.loads(await hear())["id"], link.given_up

    assert converse(link, talk) == (2, 2)


def test_more_calls_than_are_answered_at_a_time_are_left_to_the_sdk(sample):
    link = Slow(sample)

    async def talk(say, hear, lines):
        await say(initialize())
        await say(INITIALIZED)
        for number in range(CALLS_MAX + 1):
            await say(call(number, "cortex_outline"))
        left = [orjson.loads((await anext(lines)).text) for _ in ("initialize", "initialized", "a call")]
        link.let.set()
        return left, {orjson.loads(await hear())["id"] for _ in range(CALLS_MAX)}

    left, answered = converse(link, talk)
    assert left[-1] == call(CALLS_MAX, "cortex_outline")
    assert answered == set(range(CALLS_MAX))


def test_a_begun_line_is_sent_to_its_end_although_it_is_cancelled():
    async def run(read, write):
        wire = Wire(write, BOUND_S)
        long = asyncio.create_task(wire.say("a" * 300_000 + "\n"))
        with os.fdopen(read, "rb") as output:
            begun = await asyncio.to_thread(output.read, 1)
            long.cancel()
            after = asyncio.create_task(wire.say("b\n"))
            lines = [
                begun + await asyncio.to_thread(output.readline),
                await asyncio.to_thread(output.readline),
            ]
            await after
            os.close(write)
            return lines

    lines = asyncio.run(asyncio.wait_for(run(*os.pipe()), BOUND_S))
    assert lines == [b"a" * 300_000 + b"\n", b"b\n"]


def test_a_request_whose_number_no_answer_can_hold_is_left_to_the_sdk(sample):
    line_text = orjson.dumps(call(0, "cortex_exact", query="store")).decode()
    text = line_text.replace('"id":0', f'"id":{1 << 64}')

    async def heard():
        async for line in arrive([initialize(), INITIALIZED]):
            yield line
        yield Line(text)

    async def run():
        fast_path = FastPath(TOOLS, Twin(sample), None)
        fast_path.end()
        fast_path.begin(heard())
        return [line.text async for line in fast_path]

    assert asyncio.run(asyncio.wait_for(run(), BOUND_S))[-1] == text


@pytest.mark.parametrize("depth", [300, 5_000])
def test_too_deep_nesting_is_refused_as_the_sdk_does_and_reading_goes_on(sample, depth):
    text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '{"a":' * depth + "1" + "}" * (depth + 1)

    async def heard():
        yield Line(orjson.dumps(initialize()).decode())
        yield Line(orjson.dumps(INITIALIZED).decode())
        yield Line(text)
        yield Line(orjson.dumps(call(2, "cortex_exact", query="store", limit=1)).decode())

    async def run(read, write):
        fast_path = FastPath(TOOLS, Twin(sample), Wire(write, BOUND_S))
        fast_path.tools_ready.set()
        fast_path.end()
        fast_path.begin(heard())
        with os.fdopen(read, "rb") as output, os.fdopen(write, "wb"):
            left = [line.text async for line in fast_path]
            return left, orjson.loads(await asyncio.to_thread(output.readline))["id"]

    left, answered = asyncio.run(asyncio.wait_for(run(*os.pipe()), BOUND_S))
    assert left[2:] == [text]
    assert answered == 2
