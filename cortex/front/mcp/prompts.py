"""The prompts: tasks that people give their agent by name, for Cortex's tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex.ask.query_context import Audience
from cortex.system.errors import BadRequest

if TYPE_CHECKING:
    import mcp_types as types


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool
    #: kind of names that complete it ("path" or "symbol", as in NameSearch), "" for none
    completes: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; `text` is a format string with the arguments by name, and `agent_text` the one
    with the tools that agents are offered.
    """

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str
    agent_text: str


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "review-change",
            "Review a change",
            "Find what a change touches and may break, and the tests to run.",
            (Argument("change", "a file, or a changed definition; the diff by default", False, "path"),),
            "Review {change} in this project.\n"
            "1. Find the definitions that it touches (`git diff`, cortex_outline of each file).\n"
            '2. For each, cortex_graph {{"operation": "impact", "target": NAME, "depth": 2}}: look at the places '
            "that may break.\n"
            "3. find_related of the changed lines: similar code that needs the same change, tests to run, documents "
            "to update.\n"
            "Report faults by file and line, the gravest first, then the tests to run. Say what you did not check.",
            "Review {change} in this project.\n"
            "1. Find the definitions that it touches (`git diff`, cortex_read of each file).\n"
            "2. For each, cortex_uses, with depth 2 where its behaviour changes: look at the places that may break.\n"
            "3. cortex_search with the changed lines: similar code that needs the same change, tests to run, "
            "documents to update.\n"
            "Report faults by file and line, the gravest first, then the tests to run. Say what you did not check.",
        ),
        Prompt(
            "explain-module",
            "Explain a module",
            "Explain the purpose of a file or folder, how it works, and its users.",
            (Argument("module", "a file or folder", True, "path"),),
            "Explain {module} of this project to somebody who is new to it.\n"
            '1. cortex_outline {{"path": MODULE}}: its contents, the most referenced first.\n'
            "2. cortex_search for its purpose and how it works; documents count.\n"
            '3. cortex_graph "dependents" and "dependencies": its users, and its needs.\n'
            "Explain its purpose, how a typical call goes through it, and what to know before changing it, with files "
            "and lines.",
            "Explain {module} of this project to somebody who is new to it.\n"
            '1. cortex_read {{"places": [MODULE]}}: its outline; then its most important definitions.\n'
            "2. cortex_search for its purpose and how it works; documents count.\n"
            '3. cortex_uses of these definitions: their users, and with direction "callees" their needs.\n'
            "Explain its purpose, how a typical call goes through it, and what to know before changing it, with files "
            "and lines.",
        ),
        Prompt(
            "find-bug",
            "Find a bug",
            "Find the cause of a symptom.",
            (
                Argument("symptom", "a message, a stack trace, or a description", True),
                Argument("near", "a function or type near the cause", False, "symbol"),
            ),
            "Find the cause of this in the project:\n\n{symptom}\n\nNear: {near}\n\n"
            "1. cortex_search with the text above, unchanged; cortex_exact for the literal words of a message.\n"
            '2. cortex_graph "callers" and "callees" of what you find: the way there, and the arguments.\n'
            "3. find_related: similar code that is correct, and tests near it.\n"
            "Name the file and line of the cause, explain it, and describe a test that would fail. If you are not "
            "sure, say what would decide it.",
            "Find the cause of this in the project:\n\n{symptom}\n\nNear: {near}\n\n"
            "1. cortex_search with the text above, unchanged; cortex_exact for the literal words of a message.\n"
            '2. cortex_uses of what you find, also with direction "callees": the way there, and the arguments.\n'
            "3. cortex_search for similar code that is correct, and for tests near it.\n"
            "Name the file and line of the cause, explain it, and describe a test that would fail. If you are not "
            "sure, say what would decide it.",
        ),
    )
}
#: values of missing optional arguments
DEFAULTS = {"change": "what `git diff` shows", "near": "not known"}


def list_prompts() -> dict[str, Any]:
    return {
        "prompts": [
            {
                "arguments": [
                    {
                        "description": argument.description,
                        "name": argument.name,
                        "required": argument.required,
                    }
                    for argument in prompt.arguments
                ],
                "description": prompt.description,
                "name": prompt.name,
                "title": prompt.title,
            }
            for prompt in PROMPTS.values()
        ]
    }


def get_prompt(
    name: str, arguments: Mapping[str, str] | None, audience: Audience = "program"
) -> types.GetPromptResult:
    """Return a prompt with its arguments filled in, and the tools of an audience.

    Raises BadRequest for an unknown prompt and a missing required argument.
    """
    import mcp_types as types

    prompt = PROMPTS.get(name)
    if prompt is None:
        raise BadRequest(f"There is no prompt {name!r}; there are: {', '.join(PROMPTS)}.")
    values = {key: value.strip() for key, value in (arguments or {}).items()}
    for argument in prompt.arguments:
        if argument.required and not values.get(argument.name):
            raise BadRequest(f"The prompt {name} needs `{argument.name}`: {argument.description}.")
    text = (prompt.agent_text if audience == "agent" else prompt.text).format(
        **{
            argument.name: values.get(argument.name) or DEFAULTS.get(argument.name, "")
            for argument in prompt.arguments
        }
    )
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
