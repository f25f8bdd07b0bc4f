"""The routes under /v1: the tools' own answers, errors as one sentence with their status."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re
import threading

import orjson
import pytest
import zmq

from cortex import __version__
from cortex.front.http.access.tokens import add_named
from cortex.front.http.projects import make_link
from cortex.front.http.routes import events
from cortex.front.link import Link
from cortex.front.mcp.server import describe
from cortex.front.usage import read_calls
from cortex.indexer.run import index
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.system.errors import Damaged, Misconfigured, NotReady, Unavailable
from ipc.client import Silent
from ipc.events import Announcer
from ipc.messages import Reload
from tests.front.http.conftest import OFFERED, serving
from tests.wait_until import BOUND_S


def test_a_search_has_the_shape_of_its_specification(server):
    status, headers, answer = server.ask("POST", "/v1/search", {"query": "refresh token", "k": 3})
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert 0 < len(answer["hits"]) <= 3
    assert all(set(hit) - {"stale"} == {"file", "lno", "text", "score", "source"} for hit in answer["hits"])
    assert answer["hits"][0]["file"] == "src/auth/session.py"


def test_a_search_takes_language_paths_and_asks_for_reasons(server):
    body = {"query": "refresh token", "lang": "py", "paths": ["tests/**"], "explain": True}
    hits = server.ask("POST", "/v1/search", body)[2]["hits"]
    assert hits
    assert all(hit["file"].startswith("tests/") and hit["explain"]["signals"] for hit in hits)


def test_the_state_of_the_index_is_in_percent(server):
    answer = server.ask("GET", "/v1/indexStatus")[2]
    root = server.link.served.config.root
    assert (answer["repo"], answer["project"]) == (str(root), root.name)
    percent = [answer[f"{name}_pct"] for name in ("zoekt", "faiss", "text", "vector", "graph")]
    assert percent == [100] * 5
    assert answer["files"] == 8
    assert answer["pending"] == 0


def test_only_the_owner_sees_the_project_path(own_server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own_server.token = add_named("other", "admin", 0.0)
    assert own_server.ask("GET", "/v1/indexStatus")[2]["repo"] == own_server.link.served.config.root.name


def test_every_tool_is_listed_as_over_mcp(server):
    assert server.ask("GET", "/v1/tools")[2]["tools"] == [describe(tool) for tool in OFFERED.values()]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cortex_exact", {"query": "rotate"}),
        ("cortex_outline", {"path": "src"}),
        ("cortex_graph", {"operation": "callers", "target": "rotate"}),
        ("code_context", {"query": "rotate", "k": 2}),
    ],
)
def test_a_tool_answers_as_it_does_anywhere(server, tool, arguments):
    status, _, answer = server.ask("POST", f"/v1/tools/{tool}", arguments)
    assert status == 200
    assert answer.get("results", answer.get("hits"))


@pytest.mark.parametrize(
    ("tool", "body", "status_and_code", "words"),
    [
        ("cortex_exact", {"query": ""}, (400, "bad_query"), "query"),
        ("cortex_exact", {"query": "x", "color": "red"}, (400, "bad_request"), "no argument `color`"),
        ("cortex_exact", b"{", (400, "bad_request"), "not JSON"),
        ("cortex_exact", b"[1]", (400, "bad_request"), "JSON object"),
        ("find_related", {"file": "no/such.py"}, (404, "not_found"), "no/such.py"),
        ("cortex_exacts", {"query": "x"}, (404, "not_found"), "cortex_exact"),
    ],
)
def test_an_invalid_call_is_one_sentence_with_its_status(server, tool, body, status_and_code, words):
    got, _, answer = server.ask("POST", f"/v1/tools/{tool}", body)
    assert (got, answer["error"]["code"]) == status_and_code
    assert words in answer["error"]["message"]
    assert "\n" not in answer["error"]["message"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Unavailable("No worker answers."), 503),
        (NotReady("Not yet."), 503),
        (Damaged("A file is damaged."), 503),
        (Silent("No worker answered."), 504),
        (Misconfigured("The folder is gone."), 409),
        (ZeroDivisionError("a bug"), 500),
    ],
)
def test_server_errors_have_their_status_and_retry_after(own_server, fault, status):
    own_server.link.fault = fault
    got, headers, answer = own_server.ask("POST", "/v1/search", {"query": "x"})
    assert got == status
    assert answer["error"]["message"]
    assert "a bug" not in answer["error"]["message"]
    assert ("Retry-After" in headers) == (status in (503, 504))
    own_server.link.fault = None
    assert own_server.status("POST", "/v1/search", {"query": "rotate"}) == 200


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/nothing", 404), ("GET", "/v1/search", 405)]
)
def test_an_unknown_route_is_answered_as_json(server, method, path, status):
    got, _, answer = server.ask(method, path)
    assert got == status
    assert "/docs" in answer["error"]["message"]


def test_health_needs_no_token_and_tells_nothing_else(server):
    status, _, answer = server.ask("GET", "/health", Authorization=None)
    assert (status, answer) == (200, {"alive": True, "ready": True, "version": __version__})


def test_health_is_503_while_nothing_is_served(tmp_path, sample):
    with serving(sample, configs=[Config(root=tmp_path)]) as server:
        status, headers, answer = server.ask("GET", "/health", Authorization=None)
    assert (status, headers["Retry-After"], answer["ready"]) == (503, "1", False)


def test_a_project_that_vanishes_is_one_sentence_with_its_name(tmp_path, sample):
    root = tmp_path / "gone"
    root.mkdir()
    with serving(
        sample, configs=[Config(root=root)], make=lambda config: Link(config, start=False)
    ) as server:
        root.rmdir()
        status, _, answer = server.ask("POST", "/v1/search", {"query": "x"})
    assert status == 503
    assert answer["error"]["message"].startswith("The project gone was moved or deleted")


def test_metrics_count_calls_by_tool_and_outcome(own_server):
    own_server.ask("POST", "/v1/tools/cortex_exact", {"query": "rotate"})
    own_server.ask("POST", "/v1/tools/cortex_exact", {"query": ""})
    text = own_server.ask("GET", "/metrics")[2].decode()
    assert 'cortex_calls_total{code="ok",tool="cortex_exact"} 1.0' in text
    assert 'cortex_calls_total{code="bad_query",tool="cortex_exact"} 1.0' in text
    assert re.search(r'cortex_index_generation\{project="[^"]+"\} [1-9]', text)
    assert "cortex_call_seconds_bucket" in text
    assert 'cortex_requests{state="answering"} 1.0' in text


def test_a_call_is_counted_once_for_metrics_the_page_and_stats(sample):
    before = len([*read_calls(sample.config)])
    with serving(sample, make=make_link) as server:
        server.ask("POST", "/v1/tools/cortex_exact", {"query": "rotate"})
        server.ask("POST", "/v1/tools/cortex_exact", {"query": ""})
        text = server.ask("GET", "/metrics")[2].decode()
        counted = re.findall(r'cortex_calls_total\{code="(\w+)",tool="cortex_exact"\} ([\d.]+)', text)
        hour = server.ask("POST", "/page/state/hour", {})[2]
    recorded = [call.code for call in [*read_calls(sample.config)][before:]]
    assert dict(counted) == dict.fromkeys(recorded, "1.0")
    assert len(recorded) == len(counted) == sum(hour["calls"]) == 2


def test_openapi_describes_every_tool_by_its_own_schema(server):
    described = server.ask("GET", "/openapi.json")[2]
    assert described["openapi"].startswith("3.")
    for name, tool in OFFERED.items():
        body = described["paths"][f"/v1/tools/{name}"]["post"]["requestBody"]
        assert body["content"]["application/json"]["schema"] == tool.schema
    assert described["security"] == [{"token": []}]


def test_every_operation_of_openapi_has_a_name_of_its_own(server):
    paths = server.ask("GET", "/openapi.json")[2]["paths"]
    names = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(names) == len(set(names)) > len(OFFERED)


def test_docs_are_a_page_that_runs_and_loads_nothing(server):
    _, headers, page = server.ask("GET", "/docs")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert b"<script" not in page
    assert all(name.encode() in page for name in OFFERED)


def test_a_large_answer_is_compressed_if_the_client_accepts_it(server):
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    try:
        headers = {"Accept-Encoding": "gzip", "Authorization": f"Bearer {server.token}"}
        line.request("GET", "/v1/tools", headers=headers)
        reply = line.getresponse()
        assert reply.headers["Content-Encoding"] == "gzip"
        assert orjson.loads(gzip.decompress(reply.read()))["tools"]
    finally:
        line.close()


def test_events_tell_the_generation_first(server):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        line.request("GET", "/v1/events", headers={"Authorization": f"Bearer {server.token}"})
        reply = line.getresponse()
        assert reply.headers["Content-Type"].startswith("text/event-stream")
        assert reply.readline() == b"event: generation\n"
        assert orjson.loads(reply.readline().removeprefix(b"data: "))["generation"] >= 1
    finally:
        line.close()


def test_a_publication_sends_an_event_at_once(serve, tmp_path, monkeypatch):
    for pause in ("LOOK_S", "PROCESSES_S"):
        monkeypatch.setattr(events, pause, 10 * BOUND_S)
    (tmp_path / "first.py").write_text("def first(): pass\n")
    served = serve(tmp_path)
    with serving(served) as own_server:
        line = http.client.HTTPConnection("127.0.0.1", own_server.port, timeout=BOUND_S)
        line.request("GET", "/v1/events", headers={"Authorization": f"Bearer {own_server.token}"})
        reply = line.getresponse()
        generations = (
            orjson.loads(frame[6:]) for frame in iter(reply.readline, b"") if frame.startswith(b'data: {"gen')
        )
        before = next(generations)["generation"]
        context = zmq.Context()
        announcer = Announcer(context, served.config.runtime_dir)
        publish(tmp_path, served)
        ending = threading.Event()
        saying = threading.Thread(target=lambda: repeat(announcer, before + 1, ending))
        saying.start()
        try:
            assert next(generations)["generation"] == before + 1
        finally:
            ending.set()
            saying.join()
            announcer.close()
            context.term()
            line.close()


def publish(root, served):
    (root / "second.py").write_text("def second(): pass\n")
    index(served.config)
    with contextlib.closing(Builder(served.config)) as builder:
        while builder.refresh() is not None:
            pass


def repeat(announcer, generation, ending):
    """Announce again and again: a listener that connects late misses earlier announcements."""
    while not ending.wait(0.05):
        announcer.announce(Reload(generation))


def test_a_project_is_called_by_its_name_and_the_first_without_one(sample, serve, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "only.py").write_text("def only_in_the_other(): pass\n")
    twin = serve(other)
    links = {}

    def make(config):
        from tests.front.http.conftest import CountingLink

        return links.setdefault(
            config.root, CountingLink(twin if config.root == twin.config.root else sample)
        )

    with serving(sample, configs=[sample.config, twin.config], make=make) as server:
        first = server.ask("POST", "/v1/search", {"query": "rotate"})[2]["hits"]
        second = server.ask("POST", "/v1/search", {"query": "rotate", "project": "other"})[2]["hits"]
        assert (first[0]["file"], second[0]["file"]) == ("src/auth/session.py", "only.py")
        assert server.ask("GET", "/v1/indexStatus?project=other")[2]["project"] == "other"
        status, _, answer = server.ask("POST", "/v1/search", {"query": "x", "project": "/etc"})
        assert status == 404
        assert "other" in answer["error"]["message"]
        answers = [
            server.ask("POST", "/v1/tools/cortex_exact", {"query": "rotate"} | more)[2]
            for more in ({}, {"project": "other"}, {"project": sample.config.root.name})
        ]
        assert [reply["project"] for reply in answers] == [
            sample.config.root.name,
            "other",
            sample.config.root.name,
        ]
        listed = server.ask("GET", "/v1/tools?project=other")[2]["tools"]
        schemas = {tool["name"]: tool["inputSchema"]["properties"].get("project") for tool in listed}
        assert schemas["cortex_exact"]["description"] == f"other (default), {sample.config.root.name}."
    assert all(link.opened == link.closed == 1 for link in links.values())
