"""The tools through the official MCP client over real standard input and output."""

import asyncio
import subprocess
import sys
from pathlib import Path

import orjson
import psutil
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.e2e

CORTEX = str(Path(sys.executable).parent / "cortex")


def run(project, ask):
    """Run `ask(front)` against a front with a complete index; return its value."""

    async def inside():
        async with project.front() as front:
            await front.until_complete()
            return await ask(front)

    return asyncio.run(inside())


async def call_refused(front, tool, **arguments):
    with pytest.raises(MCPError) as caught:
        await front.session.call_tool(tool, arguments)
    return caught.value


def test_the_tools_are_listed_with_annotations_and_instructions_before_anything_is_indexed(project):
    async def ask():
        async with project.front() as front:
            listed = await front.session.list_tools()
            return front.session.instructions, {tool.name: tool for tool in listed.tools}

    instructions, tools = asyncio.run(ask())
    assert list(tools) == [
        "cortex_explore",
        "cortex_search",
        "cortex_exact",
        "cortex_graph",
        "cortex_outline",
        "cortex_pattern",
        "code_context",
        "find_related",
        "cortex_store",
        "cortex_recall",
        "cortex_briefing",
        "cortex_traverse",
        "cortex_relate",
        "search",
        "timeline",
        "get_observation",
        "search_sessions",
    ]
    for tool in list(tools.values())[:8]:
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
        assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)
        needed = {
            "cortex_graph": ["operation"],
            "cortex_pattern": ["pattern", "language"],
            "cortex_outline": [],
            "cortex_explore": [],
            "find_related": [],
        }.get(tool.name, ["query"])
        assert tool.input_schema.get("required", []) == needed
    assert "cortex_exact" in instructions


def test_an_agent_reads_text_of_the_tools_that_it_is_offered_and_of_all_others(shared_project):
    calls = {
        "cortex_search": {"query": "how is a password checked"},
        "cortex_read": {"places": ["check_password"]},
        "cortex_uses": {"symbol": "check_password"},
        "cortex_exact": {"query": "check_password"},
        "cortex_graph": {"operation": "callers", "target": "check_password"},
        "cortex_outline": {"path": "auth"},
    }

    async def ask():
        async with shared_project.front() as front:
            await front.until_complete()
        async with shared_project.front("--for", "agent") as front:
            listed = [tool.name for tool in (await front.session.list_tools()).tools]
            results = {name: await front.session.call_tool(name, sent) for name, sent in calls.items()}
            return listed, results, await front.call("cortex_exact", query="check_password", format="json")

    listed, results, answer = asyncio.run(ask())
    assert listed == [*list(calls)[:4], "cortex_recall", "cortex_store"]
    for name, result in results.items():
        text = result.content[0].text
        assert not result.is_error, text
        assert (name, text[:1]) != (name, "{")
        assert name == "cortex_graph" or "auth/login.py" in text
        assert result.structured_content is None
    assert answer["results"]


def test_the_first_question_to_an_unknown_project_is_answered(project):
    async def ask():
        async with project.front() as front:
            return await front.call("cortex_search", query="where is the password checked")

    answer = asyncio.run(ask())
    assert answer["results"][0]["chunk"]["metadata"]["file_path"] == "auth/login.py"
    assert answer["index"]["generation"] > 0


def test_answers_have_the_shapes_of_the_contract(shared_project):
    async def ask(front):
        return (
            await front.call("cortex_search", query="how is a password compared", limit=2),
            await front.call("cortex_exact", query="TransferFunds AND tags:go", detail="full"),
            await front.call("code_context", query="exponential backoff", k=2),
        )

    search, exact, context = run(shared_project, ask)
    chunk = search["results"][0]["chunk"]
    assert chunk["metadata"]["file_path"] == "auth/login.py"
    assert 0 < search["results"][0]["combined_score"] <= 1
    assert "embedding" not in orjson.dumps((search, exact)).decode()
    assert search["total"] == len(search["results"])
    assert (exact["match_type"], exact["total_found"]) == ("boolean", exact["total_returned"])
    assert any("<em>TransferFunds</em>" in mark for mark in exact["results"][0]["highlights"])
    assert exact["metadata"]["source"] == "exact"
    hit = context["hits"][0]
    assert (hit["file"], hit["source"]) == ("docs/guide.md", "both")
    assert "backoff" in hit["text"]
    for answer in (search, exact, context):
        assert answer["index"]["generation"] > 0
        assert answer["index"]["pending_count"] == 0


def test_filters_modes_and_details_are_honoured(shared_project):
    async def ask(front):
        return [
            await front.files("cortex_search", "requests"),
            [
                hit["chunk"]["metadata"]["file_path"]
                for hit in (
                    await front.call("cortex_search", query="requests", chunk_types=["documentation"])
                )["results"]
            ],
            await front.call("cortex_search", query="money between accounts", mode="semantic", limit=1),
            await front.call("cortex_search", query="password", detail="location", paths=["auth/**"]),
            await front.call("cortex_search", query="password", tags=["store/ledger.go"]),
            await front.call("cortex_search", query="password", explain=True, limit=1),
        ]

    everything, documents, semantic, located, one_file, explained = run(shared_project, ask)
    assert set(documents) == {"docs/guide.md"} < set(everything)
    assert len(semantic["results"]) == 1
    assert {hit["chunk"]["metadata"]["file_path"] for hit in located["results"]} == {"auth/login.py"}
    assert all("text" not in hit["chunk"] for hit in located["results"])
    assert {hit["chunk"]["metadata"]["file_path"] for hit in one_file["results"]} == {"store/ledger.go"}
    explanation = explained["results"][0]["explain"]
    signals = explanation["signals"]
    assert {"ctop3", "smax", "test"} <= set(signals)
    assert sum(signal["value"] * signal["weight"] for signal in signals.values()) == pytest.approx(
        explanation["sum"]
    )
    assert explanation["base"] + sum(signal["points"] for signal in signals.values()) == pytest.approx(
        explanation["score"]
    )
    assert explained["results"][0]["combined_score"] == pytest.approx(explanation["score"], abs=5e-3)


def test_wrong_arguments_are_errors_with_one_sentence(shared_project):
    async def ask(front):
        return [
            await call_refused(front, "cortex_search", query=" "),
            await call_refused(front, "cortex_search", query="a\x00b"),
            await call_refused(front, "cortex_search", query="x" * 1_000_000),
            await call_refused(front, "cortex_exact", query='"unbalanced'),
            await call_refused(front, "cortex_exact", query="case:maybe x"),
            await call_refused(front, "cortex_exact", query="a AND ("),
            await call_refused(front, "cortex_search"),
            await call_refused(front, "cortex_graphs", query="x"),
        ], [
            await front.session.call_tool("cortex_search", {"query": "x", "color": "red"}),
            await front.session.call_tool("find_related", {"file": "no/such.py"}),
            await front.session.call_tool("cortex_pattern", {"pattern": " ", "language": "python"}),
        ]

    errors, answers = run(shared_project, ask)
    assert {error.code for error in errors} == {-32602}
    for error in errors:
        assert "\n" not in error.message
        assert "Traceback" not in error.message
    assert "position" in errors[3].message
    assert "yes or no" in errors[4].message
    assert "cortex_search" in errors[7].message
    assert [answer.is_error for answer in answers] == [True, True, True]
    assert all("\n" not in answer.content[0].text for answer in answers)


def test_limits_out_of_range_are_clamped(shared_project):
    limits = (0, -1, 1000, "7")

    async def ask(front):
        return [await front.call("cortex_search", query="password", limit=limit) for limit in limits]

    assert [answer["total"] >= 1 for answer in run(shared_project, ask)] == [True] * len(limits)


def test_emoji_and_other_scripts_are_words(project):
    (project.root / "notes.md").write_text("# 🦀 Crab\n\nГотово: 完成 ferris\n")

    async def ask(front):
        await front.until_found("ferris", "notes.md")
        return [
            await front.files("cortex_exact", "Готово"),
            await front.files("cortex_search", "🦀 crab 完成"),
        ]

    assert [files[0] for files in run(project, ask)] == ["notes.md", "notes.md"]


def test_a_file_saved_a_moment_ago_is_marked_stale_or_already_served(project):
    async def ask(front):
        (project.root / "auth/login.py").write_text("def check_password():\n    return 'rewritten'\n")
        return await front.call("cortex_exact", query="check_password")

    answer = run(project, ask)
    hit = next(hit for hit in answer["results"] if hit["chunk"]["metadata"]["file_path"] == "auth/login.py")
    assert hit.get("stale") or "rewritten" in hit["chunk"]["text"]


def test_a_missing_worker_leaves_its_lane_out_and_says_so(shared_project):
    async def ask(front):
        # Stopped, not killed: it stays the only replica and never answers.
        vector = psutil.Process(shared_project.member("vector")["pid"])
        vector.suspend()
        try:
            return await front.call("cortex_search", query="check_password")
        finally:
            vector.resume()

    answer = run(shared_project, ask)
    assert answer["index"]["degraded"] == ["vector"]
    assert answer["results"][0]["chunk"]["metadata"]["file_path"] == "auth/login.py"


def test_many_questions_at_once_are_all_answered(shared_project):
    async def ask(front):
        return await asyncio.gather(
            *(
                front.call(tool, query="password")
                for _ in range(20)
                for tool in ("cortex_search", "cortex_exact")
            )
        )

    answers = run(shared_project, ask)
    assert len(answers) == 40
    assert all(answer["results"] for answer in answers)


def test_the_client_of_the_newest_protocol_is_served_too(shared_project):
    async def ask():
        parameters = StdioServerParameters(
            command=CORTEX,
            args=["mcp", "--project", str(shared_project.root)],
            env=shared_project.environment,
        )
        async with Client(stdio_client(parameters)) as client:
            tools = await client.list_tools()
            result = await client.call_tool("cortex_exact", {"query": "jitter"})
            return [tool.name for tool in tools.tools], orjson.loads(result.content[0].text)

    names, answer = asyncio.run(ask())
    assert "cortex_exact" in names
    assert answer["index"]["generation"] > 0


@pytest.mark.parametrize("source", ["pipe", "file"])
def test_requests_sent_before_the_input_ended_are_answered(shared_project, source):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    call = {"name": "cortex_exact", "arguments": {"query": "jitter"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    body = b"".join(orjson.dumps(message) + b"\n" for message in messages)
    path = shared_project.root.parent / "messages"
    path.write_bytes(body)
    with path.open("rb") as file:
        stdin = subprocess.PIPE if source == "pipe" else file
        front = shared_project.spawn(
            "mcp", "--project", str(shared_project.root), stdin=stdin, stdout=subprocess.PIPE
        )
        out, _ = front.communicate(body if source == "pipe" else None)
    replies = {reply["id"]: reply for reply in map(orjson.loads, out.splitlines())}
    assert front.returncode == 0
    assert replies[2]["result"]["content"][0]["text"].startswith('{"query":"jitter"')


def test_without_a_project_every_tool_says_what_to_set(tmp_path, monkeypatch):
    for name in ("CORTEX_PROJECT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()

    async def ask():
        parameters = StdioServerParameters(command=CORTEX, args=["mcp"], cwd=str(nowhere))
        async with Client(stdio_client(parameters)) as client:
            assert (await client.list_tools()).tools
            with pytest.raises(MCPError) as caught:
                await client.call_tool("cortex_search", {"query": "x"})
            return caught.value

    error = asyncio.run(ask())
    assert error.code == -32603
    assert "--project" in error.message
