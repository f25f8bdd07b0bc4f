"""/openapi.json and /docs: descriptions of routes and tools, made from the tools' schemas."""

import html
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cortex import __version__
from cortex.front.http.projects import Hosted, Projects
from cortex.front.http.replies import JSON, json_response
from cortex.front.http.routes import response_schemas as responses
from cortex.front.http.routes.calls import SEARCH
from cortex.front.project_selection import PROJECT
from cortex.front.tool import Tool

#: content types of answers that are no JSON
PLAIN, EVENT_STREAM = "text/plain", "text/event-stream"
#: status → its meaning, for every call
ERRORS = {
    "400": "The arguments cannot be used.",
    "401": "There is no token, or a wrong one.",
    "403": "The token does not allow the call, or the request is for another host.",
    "404": "There is no such tool, project or item.",
    "405": "The route takes another method.",
    "408": "The body did not arrive in time.",
    "409": "The project's configuration is wrong; the message says how to correct it.",
    "413": "The body, or the answer, is too large.",
    "415": "The body is not sent as application/json.",
    "429": "There are too many requests; Retry-After says when to ask again.",
    "500": "Cortex failed on the request.",
    "503": "No worker answers at the moment; Retry-After says when to ask again.",
    "504": "The call did not end within its deadline.",
}
_FAULT = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


class OpenApiRoutes:
    """Handlers of the routes. Use it in one event loop."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def all(self) -> list[Route]:
        return [Route("/openapi.json", self.openapi), Route("/docs", self.docs)]

    async def openapi(self, request: Request) -> Response:
        return json_response(openapi(self._find(request)))

    async def docs(self, request: Request) -> Response:
        headers = {"content-security-policy": "default-src 'none'; frame-ancestors 'none'"}
        return HTMLResponse(_page(self._find(request)), headers=headers)

    def _find(self, request: Request) -> Hosted:
        return self._projects.find(request.query_params.get(PROJECT, ""), request.scope["bearer"])


def openapi(hosted: Hosted) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the routes with POST and GET, but MCP's and the page's."""
    of = [{"name": PROJECT, "in": "query", "required": False, "schema": {"type": "string"}}]
    search = SEARCH.schema | {"properties": SEARCH.schema["properties"] | {PROJECT: {"type": "string"}}}
    health, named = responses.HEALTH, {"parameters": of}
    paths: dict[str, Any] = {
        "/health": {"get": _operation("health", "Whether the server answers.", health) | {"security": []}},
        "/metrics": {"get": _operation("metrics", "Counts and times.", responses.METRICS, kind=PLAIN)},
        "/v1/search": {"post": _operation("searchCode", SEARCH.description, responses.SEARCH, search)},
        "/v1/indexStatus": {"get": _operation("indexStatus", "The indexed share.", responses.STATUS) | named},
        "/v1/events": {"get": _operation("events", "Changes.", responses.EVENTS, kind=EVENT_STREAM) | named},
        "/v1/tools": {"get": _operation("tools", "Every tool with its schema.", responses.LISTED) | named},
    }
    for tool in hosted.tools.values():
        answer = responses.schema_of(tool.name)
        described = _operation(tool.name, tool.description, answer, tool.schema) | {
            "parameters": of,
            "summary": tool.title,
        }
        paths[f"/v1/tools/{tool.name}"] = {"post": described}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Cortex", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Fault": _FAULT} | responses.SHARED,
        },
    }


def _operation(
    name: str, description: str, answer: dict[str, Any], body: dict[str, Any] | None = None, kind: str = JSON
) -> dict[str, Any]:
    """Describe a route: schemas of its answer and of its body, and the content type `kind`."""
    fault = {JSON: {"schema": {"$ref": "#/components/schemas/Fault"}}}
    answers: dict[str, Any] = {"200": {"description": "The answer.", "content": {kind: {"schema": answer}}}}
    answers |= {status: {"description": meaning, "content": fault} for status, meaning in ERRORS.items()}
    operation: dict[str, Any] = {"operationId": name, "description": description, "responses": answers}
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    return operation


def _page(hosted: Hosted) -> str:
    tools = "\n".join(_section(tool) for tool in hosted.tools.values())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Cortex over HTTP</title></head><body>'
        f"<h1>Cortex {html.escape(__version__)}</h1><p>Call a tool by POST /v1/tools/NAME with its arguments "
        "as a JSON object and the header Authorization: Bearer TOKEN. "
        f'<a href="/openapi.json">/openapi.json</a> is the same for programs.</p>{tools}</body></html>'
    )


def _section(tool: Tool) -> str:
    schema = orjson.dumps(tool.schema, option=orjson.OPT_INDENT_2).decode()
    return (
        f"<h2>{html.escape(tool.name)}</h2><p>{html.escape(tool.title)}.</p>"
        f"<pre>{html.escape(tool.description)}</pre><pre>{html.escape(schema)}</pre>"
    )
