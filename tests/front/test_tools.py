"""Tools as agents see them: schemas for every client, and one sentence for wrong arguments."""

import asyncio
import time

import pytest

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.front.mcp.server import describe
from cortex.front.tool import make_tool
from cortex.front.tools import TOOLS, TOOLSETS, choose
from cortex.settings.config import Config, Server
from cortex.system.errors import BadRequest, Misconfigured, Unavailable
from cortex.terms.observations import REQUIRED, ROWS, fields_of


def least(tool):
    """Return the fewest arguments of a valid call."""
    if tool.name in ROWS:
        needed = [argument for argument, _, default in fields_of(tool.name) if default is REQUIRED]
        return {name: {"ids": ["1"], "tags": ["x"], "boost": 0.1}.get(name, "1") for name in needed}
    return {
        "cortex_graph": {"operation": "callers", "target": "x"},
        "cortex_pattern": {"pattern": "f($A)", "language": "python"},
        "cortex_outline": {},
        "cortex_read": {"places": ["x"]},
        "cortex_uses": {"symbol": "x"},
        "find_related": {"file": "x.py"},
        "cortex_store": {"title": "x"},
        "cortex_briefing": {},
        "cortex_candidates": {},
        "cortex_traverse": {"node_id": "x"},
        "cortex_relate": {"from_id": "x", "to_id": "y"},
    }.get(tool.name, {"query": "x"})


def required(tool):
    """Return the arguments that the schema requires; three tools need one of two, and only the
    operation routes of cortex_graph needs no target.
    """
    if tool.name == "cortex_graph":
        return ["operation"]
    return [] if tool.name in ("cortex_explore", "find_related", "cortex_store") else list(least(tool))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_a_schema_is_one_piece_and_every_argument_is_described(tool):
    assert "$ref" not in str(tool.schema)
    assert "$defs" not in str(tool.schema)
    assert tool.schema["type"] == "object"
    assert tool.schema.get("required", []) == required(tool)
    assert tool.schema["additionalProperties"] is False
    for name, field in tool.schema["properties"].items():
        assert field["description"], name
        assert field["type"] in {"string", "integer", "number", "boolean", "array"}, name
        assert "enum" not in field.get("items", {}) or field["items"]["type"] == "string"
        assert field.get("default", True) not in ([], (), None, "", False, 0), name


def test_limits_have_no_bounds_in_the_schema():
    for name, argument in (("cortex_search", "limit"), ("cortex_exact", "limit"), ("code_context", "k")):
        assert set(TOOLS[name].schema["properties"][argument]) == {"type", "description", "default"}


def test_the_arguments_are_those_of_the_contract():
    shared = {"query", "limit", "chunk_types", "tags", "paths", "exclude_paths", "detail", "max_tokens"}
    shared |= {"projects"}
    alone = choose(("code",))["cortex_search"].schema["properties"]
    assert set(alone) == shared | {"mode", "min_score", "explain"}
    notes = {"scope", "kind", "as_of", "project"}
    assert set(TOOLS["cortex_search"].schema["properties"]) == set(alone) | notes
    assert set(TOOLS["cortex_exact"].schema["properties"]) == shared | {"offset", "match_type"}
    assert set(TOOLS["code_context"].schema["properties"]) == {"query", "k", "lang", "projects"}
    search = TOOLS["cortex_search"].schema["properties"]
    assert {
        name: search[name].get("default") for name in ("limit", "mode", "detail", "max_tokens", "min_score")
    } == {
        "limit": 15,
        "mode": "hybrid",
        "detail": "auto",
        "max_tokens": None,
        "min_score": None,
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, r"The argument `query` is required\. cortex_search takes: query, scope"),
        (None, r"The argument `query` is required"),
        ({"query": {"a": 3}}, r"The argument `query` cannot be used: expected `str`, got `object`\."),
        ({"query": "x", "foo": 1}, r"There is no argument `foo`\. cortex_search takes: query"),
        ({"query": "x", "limit": "many"}, r"The argument `limit` cannot be used"),
        ({"query": "x", "limit": 1.5}, r"The argument `limit` cannot be used"),
        (
            {"query": "x", "tags": {"a": 1}},
            r"The argument `tags` cannot be used: expected `array`, got `object`\.",
        ),
        ({"query": "x", "mode": "magic"}, r"The argument `mode` .*'magic'; it takes hybrid, semantic\."),
    ],
)
def test_wrong_arguments_are_explained_in_one_sentence(arguments, sentence):
    with pytest.raises(BadRequest, match=sentence):
        TOOLS["cortex_search"].check(arguments)


@pytest.mark.parametrize("limit", ["5", 5, 5.0])
def test_numbers_are_taken_as_agents_send_them(limit):
    assert TOOLS["cortex_search"].check({"query": "x", "limit": limit}).limit == 5


def test_null_counts_as_left_out():
    checked = TOOLS["cortex_exact"].check({"query": "x", "match_type": None, "limit": None, "tags": None})
    assert (checked.match_type, checked.limit, checked.tags) == (None, 15, ())


def test_a_function_makes_a_tool(tmp_path):
    config = Config(root=tmp_path)
    context = QueryContext(config, None, Freshness(config), time.monotonic() + 5.0)

    async def shout(context, *, word: str, times: int = 1) -> dict:
        """Says it loud."""
        return {"said": word.upper() * times}

    tool = make_tool(shout, "Shout", reads=True)
    assert (tool.name, tool.title, tool.description) == ("shout", "Shout", "Says it loud.")
    assert asyncio.run(tool.call(context, tool.check({"word": "a", "times": 2}))) == {"said": "AA"}


@pytest.mark.parametrize("reads", [True, False])
def test_clients_see_whether_a_tool_reads_or_writes(reads):
    async def note(context, *, text: str) -> dict:
        """Keeps a text, or looks one up."""
        return {"text": text}

    description = describe(make_tool(note, "Note", reads=reads))
    assert (description["name"], description["title"]) == ("note", "Note")
    assert description["annotations"] == {
        "readOnlyHint": reads,
        "destructiveHint": not reads,
        "idempotentHint": reads,
        "openWorldHint": False,
    }


def test_every_tool_for_code_only_reads():
    assert all(tool.reads for tool in TOOLSETS["code"])


def test_toolsets_are_chosen_by_name():
    assert set(choose(("code",))) == {tool.name for tool in TOOLSETS["code"]}
    with pytest.raises(Misconfigured, match=r"no toolset 'cod'; server\.toolsets takes: code"):
        choose(("cod",))
    with pytest.raises(Misconfigured, match="no toolset none"):
        choose(())


class Nobody:
    """A client without workers."""

    async def ask(self, worker, message, deadline_s):
        raise Unavailable(
            f"The {worker} worker is not running: {type(message).__name__}, {deadline_s:.1f} s."
        )


@pytest.mark.parametrize("tool", choose(("code",)).values(), ids=lambda tool: tool.name)
def test_without_workers_and_without_an_index_every_tool_answers_with_a_sentence(tool, tmp_path):
    config = Config(root=tmp_path, server=Server(deadline_s=1.0))
    context = QueryContext(config, Nobody(), Freshness(config), time.monotonic() + 1.0)
    answer = asyncio.run(tool.call(context, tool.check(least(tool))))
    assert answer["suggestion"].endswith(".")
    assert answer["index"]["generation"] == 0


@pytest.mark.parametrize("tool", choose(("memory",)).values(), ids=lambda tool: tool.name)
def test_without_a_way_to_memory_its_tools_answer_with_a_sentence(tool, tmp_path):
    config = Config(root=tmp_path)
    context = QueryContext(config, Nobody(), Freshness(config), time.monotonic() + 1.0)
    with pytest.raises(Unavailable, match=r"no way to memory here; .*\.$"):
        asyncio.run(tool.call(context, tool.check(least(tool))))
