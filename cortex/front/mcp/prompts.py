"""The prompts: questions that people put to their agent by name, answered with Cortex's tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex.system.errors import BadRequest

if TYPE_CHECKING:
    import mcp_types as types


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool
    #: what completes it: a name of workers' NameSearch, "" for nothing
    completes: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`text` takes the arguments by their names."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "review-change",
            "Review a change",
            "What a change touches, what it may break, which tests to run.",
            (
                Argument(
                    "change", "a file, or the name of what was changed; the diff by default", False, "path"
                ),
            ),
            "Review {change} in this project.\n"
            "1. Find the definitions that it touches (`git diff`, cortex_outline of each file).\n"
            '2. For each, cortex_graph {{"operation": "impact", "target": NAME, "depth": 2}}: what may break, and '
            "look at those places.\n"
            "3. find_related of the changed lines: similar code that needs the same change, tests to run, documents "
            "to keep true.\n"
            "Report faults by file and line, the gravest first, then the tests to run. Say what you did not check.",
        ),
        Prompt(
            "explain-module",
            "Explain a module",
            "What a file or folder is for, how it works, and who uses it.",
            (Argument("module", "a file or folder", True, "path"),),
            "Explain {module} of this project to somebody who is new to it.\n"
            '1. cortex_outline {{"path": MODULE}}: what is in it, the most referred-to first.\n'
            "2. cortex_search for what it is for and how it does it; documents count.\n"
            '3. cortex_graph "dependents" and "dependencies": who uses it, and what it needs.\n'
            "Say what it is for, how a typical call goes through it, and what to know before changing it, with files "
            "and lines.",
        ),
        Prompt(
            "find-bug",
            "Find a bug",
            "Where the cause of a symptom is.",
            (
                Argument("symptom", "what goes wrong: a message, a stack trace, or in words", True),
                Argument("near", "a function or type that is near it", False, "symbol"),
            ),
            "Find the cause of this in the project:\n\n{symptom}\n\nNear: {near}\n\n"
            "1. cortex_search with the text above as it is; cortex_exact for the literal words of a message.\n"
            '2. cortex_graph "callers" and "callees" of what you find: how one gets there, and with what.\n'
            "3. find_related: similar code that is right, and tests that come close.\n"
            "Name the file and line of the cause, why it does this, and a test that would fail. If you are not sure, "
            "say what would decide it.",
        ),
    )
}
#: what stands for an optional argument that was not given
DEFAULTS = {"change": "what `git diff` shows", "near": "not known"}


def list_prompts() -> dict[str, Any]:
    """The answer of prompts/list."""
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


def get_prompt(name: str, arguments: Mapping[str, str] | None) -> types.GetPromptResult:
    """Raises BadRequest for a prompt that does not exist, and without an argument that it needs."""
    import mcp_types as types

    prompt = PROMPTS.get(name)
    if prompt is None:
        raise BadRequest(f"There is no prompt {name!r}; there are: {', '.join(PROMPTS)}.")
    values = {key: value.strip() for key, value in (arguments or {}).items()}
    for argument in prompt.arguments:
        if argument.required and not values.get(argument.name):
            raise BadRequest(f"The prompt {name} needs `{argument.name}`: {argument.description}.")
    text = prompt.text.format(
        **{
            argument.name: values.get(argument.name) or DEFAULTS.get(argument.name, "")
            for argument in prompt.arguments
        }
    )
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
