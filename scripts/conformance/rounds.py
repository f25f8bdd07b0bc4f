"""Tools of the newest protocol that ask in rounds, and tools for checks of stateless servers.

A tool answers that it needs input, and is called again with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError

#: JSON-RPC: the client did not declare the capability that the tool needs
MISSING_CAPABILITY = -32021

Answer = list[types.TextContent] | types.InputRequiredResult


def add_tool(server: MCPServer, tool: Callable[..., Any], name: str = "") -> None:
    name = name or tool.__name__
    server.add_tool(tool, name, description=f"{name} of the conformance suite.", structured_output=False)


def add_rounds(server: MCPServer) -> None:
    for add in (_add_simple, _add_stateful, _add_stateless):
        add(server)

    @server.prompt(description="Of the conformance suite.")
    def test_input_required_result_prompt(context: Context) -> Any:
        if reply := _reply_to(context, "user_context"):
            return [UserMessage(f"In this context: {reply['content']['context']}")]
        return _needs({"user_context": _form("What context should the prompt use?", "context")})


def _add_simple(server: MCPServer) -> None:
    """Add the tools of two rounds: (name, needed input)."""
    name = {"user_name": _form("What is your name?", "name")}
    question = {"capital_question": _sampling("What is the capital of France?")}
    roots: dict[str, Any] = {"client_roots": {"method": "roots/list", "params": {}}}
    everything = name | {"greeting": _sampling("Generate a greeting")} | roots
    confirm = {"confirm": _form("Please confirm", "ok", "boolean")}
    _add(
        server,
        "test_input_required_result_elicitation",
        name,
        lambda replies: f"Hello, {_user_name_content(replies)['name']}!",
    )
    _add(
        server,
        "test_streaming_elicitation",
        name,
        lambda replies: f"Hello, {_user_name_content(replies)['name']}!",
    )
    _add(server, "test_input_required_result_sampling", question, str)
    _add(server, "test_input_required_result_list_roots", roots, str)
    _add(server, "test_input_required_result_multiple_inputs", everything, str, state="all")
    _add(server, "test_input_required_result_request_state", confirm, lambda _: "state-ok", state="round 1")
    _add(server, "test_input_required_result_tampered_state", confirm, lambda _: "state-ok", state="round 1")


def _add(
    server: MCPServer,
    name: str,
    needs: dict[str, Any],
    tell: Callable[[dict[str, Any]], str],
    state: str = "",
) -> None:
    async def ask(context: Context) -> Answer:
        replies = {key: _reply_to(context, key) for key in needs}
        if all(replies.values()) and (context.request_state or "") == state:
            return [_text(tell(replies))]
        return _needs(needs, state)

    add_tool(server, ask, name)


def _add_stateful(server: MCPServer) -> None:
    async def test_input_required_result_multi_round(context: Context) -> Answer:
        if context.request_state == "round 2" and (reply := _reply_to(context, "step2")):
            return [_text(f"Your colour is {reply['content']['color']}.")]
        if context.request_state == "round 1" and _reply_to(context, "step1"):
            return _needs({"step2": _form("Step 2: What is your favorite color?", "color")}, "round 2")
        return _needs({"step1": _form("Step 1: What is your name?", "name")}, "round 1")

    async def test_input_required_result_capabilities(context: Context) -> Answer:
        """Ask only for input that the client declared it can give."""
        able = context.client_capabilities
        needs: dict[str, Any] = {}
        if able is not None and able.elicitation is not None:
            needs["user_name"] = _form("What is your name?", "name")
        if able is not None and able.sampling is not None:
            needs["greeting"] = _sampling("Generate a greeting")
        if not needs or all(_reply_to(context, key) for key in needs):
            return [_text("done")]
        return _needs(needs)

    for tool in (test_input_required_result_multi_round, test_input_required_result_capabilities):
        add_tool(server, tool)


def _add_stateless(server: MCPServer) -> None:
    async def test_missing_capability(context: Context) -> str:
        able = context.client_capabilities
        if able is None or able.sampling is None:
            needed = types.MissingRequiredClientCapabilityErrorData(
                required_capabilities=types.ClientCapabilities(sampling=types.SamplingCapability())
            )
            missing = needed.model_dump(by_alias=True, exclude_none=True)
            raise MCPError(MISSING_CAPABILITY, "This tool needs sampling.", missing)
        return "done"

    async def test_logging_tool(context: Context) -> str:
        await context.info("This is said to those who asked for it.")
        return "done"

    async def test_trigger_tool_change(context: Context) -> str:
        await context.notify_tools_changed()
        return "done"

    async def test_trigger_prompt_change(context: Context) -> str:
        await context.notify_prompts_changed()
        return "done"

    for tool in (
        test_missing_capability,
        test_logging_tool,
        test_trigger_tool_change,
        test_trigger_prompt_change,
    ):
        add_tool(server, tool)


def _reply_to(context: Context, key: str) -> dict[str, Any]:
    """Return the client's answer to the input `key`; empty if there is none that can be used."""
    response = (context.input_responses or {}).get(key)
    reply: Any = (
        response if isinstance(response, dict) or response is None else response.model_dump(by_alias=True)
    )
    if not reply or reply.get("action", "accept") != "accept":
        return {}
    return dict(reply) if reply.get("content") or reply.get("roots") is not None else {}


def _user_name_content(replies: dict[str, Any]) -> dict[str, Any]:
    return dict(replies["user_name"]["content"])


def _needs(requests: dict[str, Any], state: str = "") -> types.InputRequiredResult:
    return types.InputRequiredResult.model_validate(
        {"inputRequests": requests} | ({"requestState": state} if state else {})
    )


def _form(message: str, name: str, kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def _sampling(question: str) -> dict[str, Any]:
    sampling_message = {"role": "user", "content": {"type": "text", "text": question}}
    return {"method": "sampling/createMessage", "params": {"messages": [sampling_message], "maxTokens": 100}}


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
