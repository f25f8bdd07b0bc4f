"""The server that MCP's conformance suite needs, over the transport of `cortex serve`.

    CORTEX_TOKEN=… python scripts/conformance/fixture.py PROJECT

Only the tools, prompts and resources differ from the product: gate, sessions, event store and
streams are ours.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Annotated, Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from pydantic import BaseModel, Field, create_model
from rounds import add_rounds, add_tool

from cortex.front.http.routes import mcp_transports
from cortex.front.http.serving import ServerAddress, serve
from cortex.settings.config import load

#: a transparent point, and silence of no length
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
#: description of every prompt
DESCRIPTION = "Of the conformance suite."
#: seconds between two progress messages of a tool, and before a tool closes its stream
STEP_S, AWAY_S = 0.05, 0.3
#: keywords of JSON Schema 2020-12 that must arrive unchanged
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class Answer(BaseModel):
    response: str = Field(description="What the person says")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def _of(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


TITLED = _of(("value1", "First"), ("value2", "Second"), ("value3", "Third"))
PLAIN = ["option1", "option2", "option3"]
#: every form of a choice, by the suite's names
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "untitledSingle": (str, {"enum": PLAIN}),
    "titledSingle": (str, {"oneOf": TITLED}),
    "legacyEnum": (str, {"enum": PLAIN, "enumNames": ["One", "Two", "Three"]}),
    "untitledMulti": (list[str], {"items": {"type": "string", "enum": PLAIN}}),
    "titledMulti": (list[str], {"items": {"anyOf": TITLED}}),
}
Choices = create_model(
    "Choices", **{name: (kind, Field(json_schema_extra=more)) for name, (kind, more) in CHOICES.items()}
)


def _text_of(name: str, text: str, kind: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=f"test://{name}", mime_type=kind, text=text)
    )


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=IMAGE, mime_type="image/png")


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def add_contents(server: MCPServer) -> None:
    """Add tools that answer with every kind of content, or an error."""

    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    def test_image_content() -> list[types.ImageContent]:
        return [_image()]

    def test_audio_content() -> list[types.AudioContent]:
        return [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")]

    def test_embedded_resource() -> list[types.EmbeddedResource]:
        return [_text_of("embedded-resource", "This is an embedded resource content.")]

    def test_multiple_content_types() -> list[types.ContentBlock]:
        data = _text_of("mixed-content-resource", '{"test": "data", "value": 123}', "application/json")
        return [_text("Multiple content types test:"), _image(), data]

    def test_error_handling() -> str:
        raise RuntimeError("This tool intentionally returns an error for testing")

    def test_custom_headers(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    ) -> str:
        return region

    def json_schema_2020_12_tool(name: str = "") -> str:
        return name

    plain = (test_simple_text, test_image_content, test_audio_content, test_embedded_resource)
    for tool in (*plain, test_multiple_content_types, test_error_handling, test_custom_headers):
        add_tool(server, tool)
    add_tool(server, json_schema_2020_12_tool)
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA


def add_speaking(server: MCPServer) -> None:
    """Add tools that send a message or a question before they answer."""

    async def test_tool_with_logging(context: Context) -> str:
        for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await context.info(message)
            await asyncio.sleep(STEP_S)
        return "done"

    async def test_tool_with_progress(context: Context) -> str:
        for share in (0, 50, 100):
            await context.report_progress(share, 100)
            await asyncio.sleep(STEP_S)
        return "done"

    async def test_sampling(prompt: str, context: Context) -> str:
        sampling_message = types.SamplingMessage(role="user", content=_text(prompt))
        reply = await context.session.create_message(
            messages=[sampling_message], max_tokens=100, related_request_id=context.request_id
        )
        return f"LLM response: {getattr(reply.content, 'text', '')}"

    async def ask(context: Context, message: str, schema: type[BaseModel]) -> str:
        elicited = await context.elicit(message, schema)
        data = elicited.data.model_dump_json() if elicited.action == "accept" else "{}"
        return f"action={elicited.action}, content={data}"

    async def test_elicitation(message: str, context: Context) -> str:
        return f"User response: {await ask(context, message, Answer)}"

    async def test_elicitation_sep1034_defaults(context: Context) -> str:
        return f"Elicitation completed: {await ask(context, 'Please look at these', Defaults)}"

    async def test_elicitation_sep1330_enums(context: Context) -> str:
        return f"Elicitation completed: {await ask(context, 'Please choose', Choices)}"

    async def test_reconnection(context: Context) -> str:
        await context.close_sse_stream()
        await asyncio.sleep(AWAY_S)
        return "Reconnection test completed"

    asking = (test_sampling, test_elicitation, test_elicitation_sep1034_defaults)
    saying = (test_tool_with_logging, test_tool_with_progress, test_reconnection)
    for tool in (*asking, test_elicitation_sep1330_enums, *saying):
        add_tool(server, tool)


def add_offers(server: MCPServer) -> None:
    """Add resources, prompts, completion, and the other requests of clients with a handshake."""

    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(IMAGE)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def templated(id: str) -> str:  # noqa: A002 - the suite's name
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        return "Watched resource content"

    @server.prompt(description=DESCRIPTION)
    def test_simple_prompt() -> list[UserMessage]:
        return [UserMessage("This is a simple prompt for testing.")]

    @server.prompt(description=DESCRIPTION)
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
        return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]

    @server.prompt(description=DESCRIPTION)
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - its name
        contents = types.TextResourceContents(
            uri=resourceUri, mime_type="text/plain", text="Content for testing."
        )
        return [
            UserMessage(types.EmbeddedResource(type="resource", resource=contents)),
            UserMessage("Read it."),
        ]

    @server.prompt(description=DESCRIPTION)
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(_image()), UserMessage("Look at it.")]

    @server.completion()
    async def complete(_ref: Any, argument: types.CompletionArgument, _context: Any) -> types.Completion:
        return types.Completion(values=[f"{argument.value}-completed"], total=1, has_more=False)

    async def nothing(_context: Any, _params: Any) -> types.EmptyResult:
        return types.EmptyResult()

    low = server._lowlevel_server
    low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, nothing)
    low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, nothing)
    low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, nothing)


def fixture() -> Any:
    server = MCPServer("cortex-conformance", version="1")
    for add in (add_contents, add_speaking, add_offers, add_rounds):
        add(server)
    return server._lowlevel_server


def main() -> int:
    mcp_transports.make_server = lambda *_, **__: fixture()
    return serve([load(sys.argv[1])], ServerAddress(port=0, sse_port=0))


if __name__ == "__main__":
    sys.exit(main())
