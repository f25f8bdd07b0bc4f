"""The protocol in process, through the official client and without a socket: errors, resources,
prompts, completion, progress, roots, logging.
"""

import asyncio
import logging
import warnings
from typing import ClassVar

import orjson
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import ListRootsResult, PromptReference, ResourceTemplateReference, Root
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from cortex.ask.freshness import Progress
from cortex.front.mcp import project as projects
from cortex.front.mcp.progress import QUIET_S, report_progress
from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.tools import TOOLS
from cortex.system.errors import Unavailable


class Twin:
    """A link to workers of this process."""

    def __init__(self, served, hold=None):
        self.served, self.hold = served, hold
        self.freshness = served.context().freshness

    def name(self, agent):
        """Do nothing; a real link stores the client's name."""

    async def names(self):
        return ()

    async def call(self, tool, arguments, **_others):
        checked = tool.check(arguments)
        if self.hold is not None:
            await self.hold.wait()
        return await tool.call(self.served.context(), checked)


class Silent(Twin):
    """A link to workers that do not answer."""

    async def call(self, tool, arguments, **_others):
        raise (
            Unavailable(f"No worker of {tool.title.partition(' ')[0].lower()} answers.")
            if arguments
            else AssertionError
        )


#: the ways in which the official client opens a connection, one of each era
ERAS = {"handshake": "legacy", "newest": MODERN_PROTOCOL_VERSIONS[-1]}


def talk(project, ask, mode="auto", **options):
    """Return the result of `ask(client)` with a server of `project`, for each kind of protocol."""

    async def run():
        # An error that leaves the client's own block comes out as a group of errors.
        async with Client(make_server(TOOLS, project, project_names=project), mode=mode, **options) as client:
            try:
                return await ask(client)
            except MCPError as error:
                fault = error
        raise fault

    return asyncio.run(asyncio.wait_for(run(), 60))


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


@pytest.fixture
def project(sample):
    return Project(Twin(sample))


def refused(project, tool, arguments, mode="auto"):
    with pytest.raises(MCPError) as caught:
        talk(project, lambda client: client.call_tool(tool, arguments), mode)
    return caught.value


@pytest.mark.parametrize(
    ("tool", "query"),
    [
        ("cortex_search", ""),
        ("cortex_search", "a\0b"),
        ("cortex_search", "x" * 70_000),
        ("code_context", " "),
        ("cortex_exact", '"unbalanced'),
        ("cortex_exact", "a AND ("),
        ("cortex_exact", "/[/"),
    ],
)
def test_a_query_that_cannot_be_used_is_a_json_rpc_error(project, mode, tool, query):
    error = refused(project, tool, {"query": query}, mode)
    assert error.code == -32602
    assert "\n" not in error.message


def test_a_call_without_its_query_counts_as_one_with_an_empty_query(project, mode):
    error = refused(project, "cortex_search", {}, mode)
    assert (error.code, error.message.partition(".")[0]) == (-32602, "The argument `query` is required")


def test_an_unknown_tool_is_a_json_rpc_error(project, mode):
    error = refused(project, "cortex_graphs", {"query": "x"}, mode)
    assert error.code == -32602
    assert all(name in error.message for name in TOOLS)


def test_a_missing_worker_is_an_internal_error(sample, mode):
    error = refused(Project(Silent(sample)), "cortex_search", {"query": "x"}, mode)
    assert (error.code, error.message) == (-32603, "No worker of search answers.")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("cortex_search", {"query": "x", "color": "red"}, "There is no argument `color`."),
        ("cortex_search", {"query": {"a": 1}}, "The argument `query` cannot be used"),
        ("cortex_search", {"query": "x", "limit": "many"}, "The argument `limit` cannot be used"),
        ("cortex_exact", {"query": "x", "match_type": "magic"}, "it takes exact, fuzzy"),
        ("cortex_graph", {"operation": "callers"}, "The argument `target` is required."),
        ("cortex_graph", {"operation": "callers", "target": " "}, "The target is empty"),
        ("cortex_graph", {"operation": "path", "target": "rotate"}, "needs `to`"),
        ("cortex_outline", {"path": "a\0b"}, "The path holds a NUL character"),
        ("cortex_pattern", {"pattern": "", "language": "python"}, "The pattern is empty"),
        ("find_related", {}, "Pass either `file`"),
        ("find_related", {"file": "no/such.py"}, "no/such.py"),
    ],
)
def test_every_other_argument_that_cannot_be_used_is_an_answer_for_the_model(
    project, mode, tool, arguments, sentence
):
    result = talk(project, lambda client: client.call_tool(tool, arguments), mode)
    assert result.is_error is True
    assert sentence in result.content[0].text
    assert "\n" not in result.content[0].text


def test_the_map_of_the_project_is_a_resource_and_that_of_a_file_a_template(project, mode):
    async def ask(client):
        return (
            (await client.list_resources()).resources,
            (await client.list_resource_templates()).resource_templates,
            await client.read_resource("cortex://outline/"),
            await client.read_resource("cortex://outline/src/auth/session.py"),
            await client.read_resource("cortex://outline/src%2Fauth"),
        )

    listed, templates, *read = talk(project, ask, mode)
    assert [str(resource.uri) for resource in listed][:1] == ["cortex://outline/"]
    assert [template.uri_template for template in templates][:1] == ["cortex://outline/{path}"]
    project_map, file, folder = (orjson.loads(content.contents[0].text) for content in read)
    assert read[1].contents[0].mime_type == "application/json"
    assert {row["file"] for row in project_map["results"]} > {row["file"] for row in folder["results"]}
    assert [row["file"] for row in file["results"]] == ["src/auth/session.py"]
    assert {row["file"] for row in folder["results"]} == {"src/auth/session.py", "src/auth/tickets.py"}


@pytest.mark.parametrize("uri", ["cortex://outline/no/such.py", "cortex://notes/x", "file:///etc/passwd"])
def test_a_resource_that_does_not_exist_is_an_error(project, mode, uri):
    with pytest.raises(MCPError) as caught:
        talk(project, lambda client: client.read_resource(uri), mode)
    assert (caught.value.code, caught.value.error.data) == (-32602, {"uri": uri})


def test_the_prompts_name_their_arguments_and_speak_of_tools_that_exist(project, mode):
    import re

    async def ask(client):
        listed = (await client.list_prompts()).prompts
        arguments = {
            "review-change": {},
            "explain-module": {"module": "src/auth"},
            "find-bug": {"symptom": "KeyError: {'a': 1}"},
        }
        return listed, {name: await client.get_prompt(name, values) for name, values in arguments.items()}

    listed, got = talk(project, ask, mode)
    assert {prompt.name for prompt in listed} == {"review-change", "explain-module", "find-bug"}
    texts = {name: answer.messages[0].content.text for name, answer in got.items()}
    assert "src/auth" in texts["explain-module"]
    assert "KeyError: {'a': 1}" in texts["find-bug"]
    for text in texts.values():
        assert set(re.findall(r"\b(?:cortex|code|find)_\w+", text)) <= set(TOOLS)


@pytest.mark.parametrize(
    ("name", "arguments"), [("nothing", {}), ("explain-module", {}), ("find-bug", {"symptom": " "})]
)
def test_a_prompt_that_cannot_be_given_is_an_error(project, mode, name, arguments):
    with pytest.raises(MCPError) as caught:
        talk(project, lambda client: client.get_prompt(name, arguments), mode)
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    ("ref", "typed", "values"),
    [
        (
            (ResourceTemplateReference(uri="cortex://outline/{path}"), "path"),
            "src/auth/se",
            ["src/auth/session.py"],
        ),
        ((PromptReference(name="explain-module"), "module"), "SESS", ["src/auth/session.py"]),
        ((PromptReference(name="find-bug"), "near"), "sessionst", ["SessionStore"]),
        ((PromptReference(name="find-bug"), "near"), "refresh_tick", ["TicketStore.refresh_ticket"]),
        ((PromptReference(name="find-bug"), "symptom"), "s", []),
        ((PromptReference(name="nothing"), "near"), "s", []),
    ],
)
def test_paths_and_symbols_are_completed(project, mode, ref, typed, values):
    what, argument = ref
    ask = {"name": argument, "value": typed}
    completion = talk(project, lambda client: client.complete(what, ask), mode).completion
    assert [value for value in completion.values if value in values] == values
    assert len(completion.values) == (completion.total or 0)
    assert bool(completion.values) == bool(values)


def test_nothing_is_completed_while_nobody_can_answer(sample, mode):
    ref = PromptReference(name="explain-module")
    answer = talk(Project(Silent(sample)), lambda c: c.complete(ref, {"name": "module", "value": "s"}), mode)
    assert answer.completion.values == []


def test_a_call_that_takes_long_tells_its_progress_when_a_token_was_given(sample):
    heard = []

    async def ask(client):
        async def hear(progress, total, message):
            heard.append(progress)
            if len(heard) == 2:
                hold.set()

        hold.clear()
        return await client.call_tool("cortex_exact", {"query": "rotate"}, progress_callback=hear)

    hold = asyncio.Event()
    result = talk(Project(Twin(sample, hold)), ask, "legacy")
    assert not result.is_error
    assert heard == sorted(set(heard))
    assert len(heard) >= 2


def test_progress_counts_files_while_indexing_and_never_falls():
    states = iter([(True, 3, 9), (True, 3, 9), (True, 5, 9), (False, 0, 0)])
    last = (False, 0, 0)
    heard = []

    class Progressing:
        def progress(self):
            indexing, done, total = next(states, last)
            return Progress(state="indexing", running=indexing, done=done, total=total)

    async def hear(progress, total, message):
        heard.append((progress, total))
        if len(heard) == 4:
            raise asyncio.CancelledError

    async def run():
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(report_progress(Progressing(), hear), 30)

    asyncio.run(run())
    assert heard == [(3.0, 9.0), (5.0, 9.0), (5.0 + QUIET_S, None), (5.0 + 2 * QUIET_S, None)]


class Opened(Twin):
    """A fake Link that records its project."""

    roots: ClassVar[list] = []
    served: ClassVar = None

    def __init__(self, config):
        super().__init__(self.served)
        self.config = config
        self.roots.append(config.root)

    def open(self):
        """Do nothing."""

    def say(self, sentence):
        """Do nothing; a real link adds the sentence to its next answer."""


@pytest.fixture
def rootless(monkeypatch, sample):
    monkeypatch.setattr(Opened, "roots", [])
    monkeypatch.setattr(Opened, "served", sample)
    monkeypatch.setattr(projects, "Link", Opened)
    return Project(None, "No project found; pass --project DIR.")


def test_the_first_root_of_a_handshake_client_is_the_project_when_none_was_set(rootless, sample, tmp_path):
    async def roots(_context):
        return ListRootsResult(roots=[Root(uri=sample.config.root.as_uri()), Root(uri=tmp_path.as_uri())])

    async def ask(client):
        return [await client.call_tool("cortex_exact", {"query": "rotate"}) for _ in range(2)]

    with warnings.catch_warnings():
        warnings.simplefilter("error", MCPDeprecationWarning)
        results = talk(rootless, ask, "legacy", list_roots_callback=roots)
    assert not any(result.is_error for result in results)
    assert Opened.roots == [sample.config.root]


def test_a_client_with_several_roots_may_name_one_of_them(rootless, sample, tmp_path):
    other = tmp_path / "other"
    other.mkdir()

    async def roots(_context):
        folders = (sample.config.root, other, tmp_path / "gone")
        return ListRootsResult(roots=[Root(uri=root.as_uri()) for root in folders])

    async def ask(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers = [
            await client.call_tool("cortex_exact", {"query": "rotate"} | more)
            for more in ({}, {"project": "other"}, {"project": "gone"})
        ]
        return tools["cortex_exact"].input_schema["properties"]["project"], answers

    field, (first, second, third) = talk(rootless, ask, "legacy", list_roots_callback=roots)
    assert field["description"] == f"{sample.config.root.name} (default), other."
    assert [orjson.loads(answer.content[0].text)["project"] for answer in (first, second)] == [
        sample.config.root.name,
        "other",
    ]
    assert third.is_error
    assert Opened.roots == [sample.config.root, other]


@pytest.mark.parametrize("uris", [[], ["file:///no/such/folder"]])
def test_without_an_existing_root_every_tool_names_the_setting(rootless, uris):
    async def roots(_context):
        return ListRootsResult(roots=[Root(uri=uri) for uri in uris])

    with pytest.raises(MCPError) as caught:
        talk(
            rootless,
            lambda c: c.call_tool("cortex_exact", {"query": "x"}),
            "legacy",
            list_roots_callback=roots,
        )
    assert caught.value.code == -32603
    assert "--project" in caught.value.message


def test_a_client_of_the_newest_protocol_is_not_asked_for_roots(rootless):
    contexts = []

    async def roots(context):
        contexts.append(context)
        return ListRootsResult(roots=[])

    with pytest.raises(MCPError) as caught:
        talk(
            rootless,
            lambda c: c.call_tool("cortex_exact", {"query": "x"}),
            ERAS["newest"],
            list_roots_callback=roots,
        )
    assert (caught.value.code, contexts) == (-32603, [])


def test_a_handshake_client_gets_the_warnings_that_it_requests(project):
    heard = []

    async def run():
        logged = asyncio.Event()

        async def hear(params):
            heard.append((params.level, params.data))
            logged.set()

        async with Client(make_server(TOOLS, project), mode="legacy", logging_callback=hear) as client:
            logging.getLogger("cortex.front").warning("too early")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                await client.set_logging_level("warning")
            logging.getLogger("cortex.front").warning("The %s worker is gone.", "text")
            await asyncio.wait_for(logged.wait(), 30)
            return client.server_capabilities.logging

    assert asyncio.run(run()) is not None
    assert heard == [("warning", "The text worker is gone.")]


def test_a_client_of_the_newest_protocol_is_not_offered_logging(project):
    async def ask(client):
        return client.server_capabilities

    offered = talk(project, ask, ERAS["newest"])
    assert MODERN_PROTOCOL_VERSIONS == ("2026-07-28",)
    assert offered is None or offered.logging is None


def test_the_handshake_versions_are_those_that_the_documents_name():
    assert HANDSHAKE_PROTOCOL_VERSIONS == ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
