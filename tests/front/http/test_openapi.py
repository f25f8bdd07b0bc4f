"""/openapi.json: answers, statuses and routes are as it describes them."""

from __future__ import annotations

import re

import pytest

from cortex.front.http.replies import STATUS
from cortex.front.http.routes.openapi import ERRORS
from cortex.system.errors import Misconfigured
from tests.front.http.conftest import OFFERED

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "number": int | float, "boolean": bool}


def faults(schema, value, shared, at="answer"):
    """Return the differences of a value from a schema of the kinds that the description uses."""
    if "$ref" in schema:
        return faults(shared[schema["$ref"].rpartition("/")[2]], value, shared, at)
    if not isinstance(value, KINDS[schema["type"]]) or (
        isinstance(value, bool) and schema["type"] != "boolean"
    ):
        return [f"{at} is {value!r:.60}, no {schema['type']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at} is {value!r}"]
    differences = [f"{at} lacks {name}" for name in schema.get("required", ()) if name not in value]
    for name, field in schema.get("properties", {}).items():
        if name in value:
            differences += faults(field, value[name], shared, f"{at}.{name}")
    for number, item in enumerate(value if schema["type"] == "array" else ()):
        differences += faults(schema["items"], item, shared, f"{at}[{number}]")
    return differences


@pytest.fixture(scope="module")
def described(server):
    return server.ask("GET", "/openapi.json")[2]


def answer_schema(described, method, path):
    (content,) = described["paths"][path][method]["responses"]["200"]["content"].values()
    return content["schema"]


TOOLS = {
    "cortex_search": [{"query": "refresh token"}, {"query": "refresh", "detail": "full"}, {"query": "zqzq"}],
    "code_context": [{"query": "refresh token"}, {"query": "zqzqzq zq"}],
    "cortex_exact": [{"query": "rotate"}, {"query": "rotate", "detail": "full"}, {"query": "zqzqzq"}],
    "cortex_graph": [
        {"operation": "callers", "target": "rotate"},
        {"operation": "impact", "target": "rotate"},
        {"operation": "dependencies", "target": "src/auth/session.py"},
    ],
    "cortex_outline": [{}, {"path": "src/auth/session.py"}],
    "cortex_explore": [{"query": "refresh token"}],
}


@pytest.mark.parametrize("name", TOOLS)
def test_an_answer_of_a_tool_is_as_its_schema_says(server, described, name):
    schema = answer_schema(described, "post", f"/v1/tools/{name}")
    for arguments in TOOLS[name]:
        status, _, answer = server.ask("POST", f"/v1/tools/{name}", arguments)
        assert status == 200, answer
        assert not faults(schema, answer, described["components"]["schemas"]), arguments


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/health", None),
        ("post", "/v1/search", {"query": "refresh token", "explain": True}),
        ("post", "/v1/search", {"query": "zqzqzq", "lang": "go"}),
        ("get", "/v1/indexStatus", None),
        ("get", "/v1/tools", None),
    ],
)
def test_an_answer_of_a_route_is_as_its_schema_says(server, described, method, path, body):
    status, _, answer = server.ask(method.upper(), path, body)
    assert status == 200
    schema = answer_schema(described, method, path)
    assert schema["properties"]
    assert not faults(schema, answer, described["components"]["schemas"])


def test_every_answer_has_a_schema_and_every_shared_one_is_there(described):
    for path, methods in described["paths"].items():
        for method in methods:
            assert answer_schema(described, method, path).get("type"), path
    names = set(re.findall(r"#/components/schemas/(\w+)", str(described)))
    assert names <= described["components"]["schemas"].keys()


def test_events_and_metrics_are_described_with_their_content_types(described, server):
    content = described["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]
    assert list(content) == ["text/event-stream"]
    (kind,) = described["paths"]["/metrics"]["get"]["responses"]["200"]["content"]
    assert server.ask("GET", "/metrics")[1]["Content-Type"].startswith(kind)


def test_every_status_is_described_for_every_operation(described):
    statuses = {str(status) for _, status in STATUS} | {"401", "405", "408", "415", "429", "500"}
    assert statuses <= ERRORS.keys()
    for methods in described["paths"].values():
        for operation in methods.values():
            assert operation["responses"].keys() == {"200", *ERRORS}


def test_the_statuses_of_wrong_requests_are_those_described(own_server):
    schema = own_server.ask("GET", "/openapi.json")[2]["components"]["schemas"]["Fault"]
    own_server.link.fault = Misconfigured("embedding.endpoint is wrong.")
    for method, path, body, headers, expected in (
        ("GET", "/v1/search", None, {}, 405),
        ("POST", "/v1/search", {"query": "x"}, {"Content_Type": "text/plain"}, 415),
        ("POST", "/v1/search", {"query": "x"}, {}, 409),
        ("POST", "/v1/nothing", {}, {}, 404),
    ):
        status, _, answer = own_server.ask(method, path, body, **headers)
        assert status == expected
        assert not faults(schema, answer, {})


@pytest.mark.parametrize(
    "body",
    [{}, {"query": ""}, {"query": "x", "k": "many"}, {"query": "x", "colour": "red"}, {"query": "x", "q": 1}],
)
def test_an_error_of_v1_search_speaks_of_that_route_and_its_arguments(server, body):
    status, _, answer = server.ask("POST", "/v1/search", body)
    assert status == 400
    message = answer["error"]["message"]
    assert not re.search(r"http_search|cortex_\w+|\blimit\b", message)
    if "takes:" in message:
        assert "/v1/search takes: query, k, lang, paths, explain, projects" in message


def test_arguments_that_are_wrapped_once_are_understood_over_http_too(server):
    for path in ("/v1/search", "/v1/tools/cortex_exact"):
        assert server.ask("POST", path, {"arguments": {"query": "rotate"}})[0] == 200


def test_no_tool_is_without_an_operation(described):
    assert {f"/v1/tools/{name}" for name in OFFERED} <= described["paths"].keys()
