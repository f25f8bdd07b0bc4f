"""Agents and programs: the audience of a client, the tools that it is offered, and the form of its
answers.
"""

import asyncio
import re

import orjson
import pytest
from mcp.client.client import Client
from mcp_types import Implementation
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cortex.front.agents.table import AGENTS, CLIENTS, UNVERIFIED_CLIENTS
from cortex.front.audience import audience_of, split_format
from cortex.front.mcp.project import Project
from cortex.front.mcp.prompts import PROMPTS
from cortex.front.mcp.server import describe, list_for, make_server, run_tool
from cortex.front.tools import TOOLS, TOOLSETS, choose, find_tool, instruct, offer
from cortex.front.tools.agent import shorten
from cortex.system.errors import BadRequest
from tests.front.test_fast_path import INITIALIZED, call, exchange, initialize, request
from tests.front.test_fast_path import Twin as FastTwin
from tests.front.test_mcp import Twin

CODE = ["cortex_search", "cortex_read", "cortex_uses", "cortex_exact"]
MEMORY = ["cortex_recall", "cortex_store"]
ERAS = {"handshake": "legacy", "newest": MODERN_PROTOCOL_VERSIONS[-1]}
#: tokens that the list and the instructions may cost an agent; bytes / 4 and a tenth bound them:
#: by o200k they are 12 % more than bytes / 4
CODE_TOKENS, MEMORY_TOKENS, TOKENS_A_BYTE = 900, 250, 1.12 / 4


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


@pytest.mark.parametrize(
    ("name", "audience"),
    [
        ("claude-code", "agent"),
        ("codex-mcp-client", "agent"),
        ("gemini-cli-mcp-client-cortex", "agent"),
        ("qwen-cli-mcp-client-cortex", "agent"),
        ("Visual Studio Code", "agent"),
        ("Visual-Studio-Code", "agent"),
        ("Visual Studio Code - Insiders", "agent"),
        ("cursor-vscode (via mcp-remote 0.1.37)", "agent"),
        ("windsurf-client", "agent"),
        ("Zed", "agent"),
        ("Roo Code", "agent"),
        ("@cline/core", "agent"),
        ("opencode", "agent"),
        ("goose-desktop", "agent"),
        ("", "program"),
        ("mcp", "program"),
        ("mcp-inspector", "program"),
        ("a client", "program"),
        ("zedd", "program"),
        ("root-client", "program"),
        ("gooseberry", "program"),
        ("my claude-code", "program"),
        ("(via mcp-remote 0.1.37)", "program"),
    ],
)
def test_the_name_of_a_client_tells_its_audience(name, audience):
    assert audience_of(name) == audience


def test_every_agent_of_the_table_has_the_names_of_its_client():
    assert all(agent.clients for agent in AGENTS)
    for name in CLIENTS:
        assert name == re.sub(r"[\s_]+", "-", name).lower()
        assert audience_of(name) == "agent"
    assert set(CLIENTS) >= UNVERIFIED_CLIENTS


@pytest.mark.parametrize(
    ("toolsets", "names"),
    [
        (("code", "memory"), CODE + MEMORY),
        (("agent",), CODE + MEMORY),
        (("code",), CODE),
        (("memory",), MEMORY),
    ],
)
def test_agents_are_offered_the_tools_of_their_toolset_and_programs_all(toolsets, names):
    tools = choose(toolsets)
    assert list(offer(tools, "agent")) == names
    assert offer(tools, "program") is tools


def test_tools_of_observations_are_offered_to_agents_where_a_user_asks_for_them():
    names = list(offer(choose(("code", "memory-all")), "agent"))
    assert names[:6] == CODE + MEMORY
    assert {"decisions", "edit_observation"} <= set(names)
    assert not set(names) & {"cortex_graph", "cortex_briefing", "timeline"}


def test_every_tool_of_a_front_can_be_called_whoever_asks():
    tools = choose(("code", "memory"))
    assert all(find_tool(tools, name) is not None for name in (*CODE, *MEMORY, "cortex_graph", "timeline"))
    assert find_tool(tools, "decisions") is None
    assert find_tool(choose(("code",)), "cortex_store") is None


def test_the_list_for_a_program_is_that_of_its_tools():
    tools = choose(("code", "memory"))
    assert list_for(tools, (), "program") == [describe(tool) for tool in tools.values()]
    assert "additionalProperties" in list_for(tools, (), "program")[0]["inputSchema"]


OFFERS = {name: tool.form.offer for name, tool in TOOLS.items() if tool.form.offer}


@pytest.mark.parametrize("name", OFFERS)
def test_the_short_form_has_a_part_of_the_arguments_and_the_tool_takes_all(name):
    tool = TOOLS[name]
    short = shorten(tool)
    assert set(short.schema["properties"]) <= set(tool.schema["properties"])
    assert set(short.schema.get("required", ())) == set(tool.schema.get("required", ()))
    assert all(field.get("description") or field for field in short.schema["properties"].values())
    assert short.arguments is tool.arguments
    assert "additionalProperties" not in short.schema


def cost(texts):
    return sum(len(text.encode()) for text in texts) * TOKENS_A_BYTE


def test_the_list_for_an_agent_is_cheap():
    tools = choose(("code", "memory"))
    listed = {
        tool["name"]: orjson.dumps(
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
        ).decode()
        for tool in list_for(tools, (), "agent")
    }
    assert cost([instruct(tools, "agent"), *(listed[name] for name in CODE)]) <= CODE_TOKENS
    assert cost([listed[name] for name in MEMORY]) <= MEMORY_TOKENS


def test_texts_for_agents_name_offered_tools_alone():
    texts = [instruct(TOOLS, "agent"), *(offered.description for offered in OFFERS.values())]
    texts += [prompt.agent_text for prompt in PROMPTS.values()]
    for text in texts:
        assert set(re.findall(r"\b(?:cortex|code|find)_\w+", text)) <= set(OFFERS)
    assert {line.name for line in TOOLSETS["agent"]} == set(OFFERS)
    assert instruct(choose(("memory",)), "agent") == ""


def test_no_text_promises_that_an_answer_is_enough():
    texts = [instruct(TOOLS), instruct(TOOLS, "agent"), *(tool.description for tool in TOOLS.values())]
    assert not [text for text in texts if re.search(r"read (it|them) again|not be read|\breread\b", text)]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_tool_takes_the_form_of_its_answer(tool):
    own_values = tool.schema["properties"].get("format", {}).get("enum", ())
    for audience in ("agent", "program"):
        assert split_format(tool, {"x": 1}, audience) == ({"x": 1}, audience)
        assert split_format(tool, {"format": None}, audience)[1] == audience
        for value, wanted in (("text", "agent"), ("json", "program")):
            if value not in own_values:
                assert split_format(tool, {"x": 1, "format": value}, audience) == ({"x": 1}, wanted)
    for value in own_values:
        assert split_format(tool, {"format": value}, "agent") == ({"format": value}, "agent")
    if not own_values:
        with pytest.raises(BadRequest, match="it takes text, json"):
            split_format(tool, {"format": "xml"}, "agent")


class FormatlessLink(Twin):
    """A link that refuses calls with an argument `format`."""

    async def call(self, tool, arguments):
        assert "format" not in arguments
        return await super().call(tool, arguments)


@pytest.mark.parametrize("name", ["cortex_exact", "cortex_outline", "cortex_graph", "cortex_search"])
def test_an_agent_gets_text_and_a_program_json_unless_format_says_else(sample, name):
    arguments = {
        "cortex_outline": {"path": "src"},
        "cortex_graph": {"operation": "callers", "target": "rotate"},
    }.get(name, {"query": "rotate"})

    def ask(audience, **more):
        text, wrong = asyncio.run(run_tool(FormatlessLink(sample), TOOLS[name], arguments | more, audience))
        assert not wrong
        return text

    def is_json(text):
        return text.startswith("{")

    assert is_json(ask("program"))
    assert is_json(ask("agent", format="json"))
    assert not is_json(ask("agent"))
    assert not is_json(ask("program", format="text"))
    assert ask("agent").count("\n")
    refused, wrong = asyncio.run(
        run_tool(FormatlessLink(sample), TOOLS[name], arguments | {"format": "xml"}, "agent")
    )
    assert wrong
    assert "it takes text, json" in refused


def talk(sample, ask, mode, client="", audience=None):
    """Return the result of `ask(client)` for a client with that name."""
    project = Project(Twin(sample))
    options = {"client_info": Implementation(name=client, version="1")} if client else {}

    async def run():
        server = make_server(TOOLS, project, project_names=project, audience=audience)
        async with Client(server, mode=mode, **options) as connected:
            return await ask(connected)

    return asyncio.run(asyncio.wait_for(run(), 60))


async def look(client):
    """Return (listed names, instructions, text of an answer, text of a prompt)."""
    listed = await client.list_tools()
    answer = await client.call_tool("cortex_outline", {"path": "src"})
    assert answer.structured_content is None
    prompt = await client.get_prompt("explain-module", {"module": "src"})
    names = [tool.name for tool in listed.tools]
    return names, client.instructions, answer.content[0].text, prompt.messages[0].content.text


@pytest.mark.parametrize(
    ("client", "audience", "is_agent"),
    [
        ("claude-code", None, True),
        ("a client", None, False),
        ("", None, False),
        ("a client", "agent", True),
        ("claude-code", "program", False),
    ],
)
def test_the_flag_decides_and_else_the_name(sample, mode, client, audience, is_agent):
    names, instructions, text, prompt = talk(sample, look, mode, client, audience)
    if mode == "legacy":
        assert instructions == instruct(TOOLS, "agent" if is_agent else "program")
    if is_agent:
        assert names[:6] == CODE + MEMORY
        assert not text.startswith("{")
        assert "cortex_read" in prompt
    else:
        assert names == list(TOOLS)
        assert "index" in orjson.loads(text)
        assert "cortex_outline" in prompt


@pytest.mark.parametrize(("client", "audience"), [("claude-code", "agent"), ("a client", "program")])
def test_the_newest_protocol_gets_instructions_when_it_asks_for_them(sample, client, audience):
    instructions = talk(sample, look, "auto", client)[1]
    assert instructions == instruct(TOOLS, audience)


def test_an_unknown_tool_gets_the_names_of_the_offered_ones(sample, mode):
    async def ask(client):
        with pytest.raises(Exception, match="There is no tool 'x'; there are: cortex_search, cortex_read"):
            await client.call_tool("x", {})

    talk(sample, ask, mode, "claude-code")


@pytest.mark.parametrize("name", ["claude-code", "a client"])
def test_answers_before_the_sdk_equal_those_of_the_sdk(sample, name):
    messages = [
        initialize(client={"name": name, "version": "1"}),
        INITIALIZED,
        request(1, "tools/list"),
        call(2, "cortex_outline", path="src"),
        call(3, "cortex_outline", path="src", format="text"),
        call(4, "cortex_outline", path="src", format="json"),
        call(5, "cortex_outline", path="src", format="xml"),
    ]

    def without_times(lines):
        return [re.sub(rb'\\?"(took|duration)_ms\\?":[\d.]+', b"", line) for line in lines]

    early = exchange(FastTwin(sample), messages, 6)
    late = exchange(FastTwin(sample), messages, None)
    parsed = [[orjson.loads(line) for line in without_times(lines)] for lines in (early, late)]
    assert parsed[0] == parsed[1]
    assert (b"cortex_graph" in early[1]) == (name == "a client")
