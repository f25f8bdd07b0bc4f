"""Texts of tools in the words of a shell: a tool becomes its command, an argument its option.

Tools write their texts for agents. The command line converts them where it prints them.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from cortex.front.cli.parsing.command_names import command_name
from cortex.front.tool import Tool
from cortex.front.tools import PEOPLE, TOOLS
from cortex.system.errors import BadRequest
from cortex.terms.text.suggestions import IDS_HINT

#: argument → its option, where the usual name is taken in every command
OPTIONS = {"project": "--of-project"}
#: text for agents → the same for people
_PHRASES = (
    (IDS_HINT, "`cortex memory list` shows the notes with their numbers"),
    ("see `candidates`", "--json lists them"),
    ("type_usages lists its uses", "`cortex graph type_usages` lists its uses"),
)
#: a word of a text, not a part of a path, a symbol or a longer word
_WORD = re.compile(r"(?<![\w./:`-])(`?)([a-z]+(?:_[a-z]+)*)\1(?![\w/(`-]|[.:]\w)")
#: a bare word without an underscore is English, but this one in front of a number
_NUMBERED = re.compile(r"\b(offset)(?= \d)")
#: a filter with its value, as the suggestion for an empty answer shows it
_FILTER = re.compile(r'(?<= )([a-z_]+)=(?=["\[\d])')
_SUGGESTED = "did you mean "
#: keys of an answer with sentences for its reader
_SENTENCES = ("suggestion", "next", "note")
_BOUNDS = re.compile(r"\b(\d+) to (\d+)\b")
_INTEGER, _NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.0*)?"), re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
#: characters that a shell reads within double quotes
_SPECIAL = re.compile(r'["$`\\!]')


def option(argument: str) -> str:
    return OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def for_people(text: str, tool: Tool, arguments: Mapping[str, Any] | None = None) -> str:
    """Return a tool's text with commands and options in place of tools and arguments.

    Names in the values of the call's `arguments` stay: the text quotes them.
    """
    for phrase, replacement in _PHRASES:
        text = text.replace(phrase, replacement)
    quoted = " ".join(map(str, (arguments or {}).values()))

    def convert(match: re.Match[str]) -> str:
        quote, name = match[1], match[2]
        if text.endswith(_SUGGESTED, 0, match.start()) or re.search(rf"\b{name}\b", quoted):
            return match[0]
        if "_" in name and (name in TOOLS or name in PEOPLE):
            return f"`cortex {command_name(name)}`"
        if name in tool.schema["properties"] and (quote or "_" in name):
            return option(name)
        return match[0]

    converted = _WORD.sub(convert, text)
    if "offset" in tool.schema["properties"]:
        converted = _NUMBERED.sub(lambda match: option(match[1]), converted)
    converted = _FILTER.sub(
        lambda match: f"{option(match[1])}=" if match[1] in tool.schema["properties"] else match[0], converted
    )
    return re.sub(r"(?:The|the) argument (?=--)", "", converted)


def answer_for_people(answer: dict[str, Any], tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer with its sentences converted by `for_people`."""
    converted: dict[str, Any] = {
        name: for_people(answer[name], tool, arguments)
        for name in _SENTENCES
        if isinstance(answer.get(name), str)
    }
    if isinstance(warnings := answer.get("warnings"), list):
        converted["warnings"] = [for_people(str(warning), tool, arguments) for warning in warnings]
    return answer | converted


def description_for_people(tool: Tool, words: Sequence[str]) -> str:
    """Return a tool's description with its example as a command; `words` are the arguments that
    are plain words of the command, in their order.
    """
    lines = []
    for line in tool.description.splitlines():
        before, example, _call = line.partition("Example: ")
        lines.append(before + example + example_command(tool, words) if example else for_people(line, tool))
    return "\n".join(lines)


def example_arguments(tool: Tool, words: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of the example in a tool's description; {} without an example."""
    call = tool.description.partition("Example: ")[2].partition("\n")[0].strip()
    if not call.startswith("{"):
        return {words[0]: call} if call and words else {}
    arguments: dict[str, Any] = json.loads(call)
    return arguments


def example_command(tool: Tool, words: Sequence[str]) -> str:
    """Return the example of a tool's description as a command."""
    arguments = example_arguments(tool, words)
    parts = ["cortex", command_name(tool.name)]
    for word in words:
        if word not in arguments:
            break
        value = arguments.pop(word)
        parts += [_quote(str(item)) for item in (value if isinstance(value, list) else [value])]
    for name, value in arguments.items():
        if isinstance(value, bool):
            parts.append(option(name) if value else f"--no-{option(name)[2:]}")
            continue
        for item in value if isinstance(value, list) else [value]:
            parts += [option(name), _quote(str(item))]
    return " ".join(parts)


def _quote(word: str) -> str:
    return f'"{word}"' if " " in word and not _SPECIAL.search(word) else shlex.quote(word)


def check_numbers(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raise BadRequest for a number outside of the bounds in its argument's description.

    An agent's number is clamped: a person has a mistake to mend.
    """
    for name, value in arguments.items():
        schema = tool.schema["properties"][name]
        if schema["type"] not in ("integer", "number") or not isinstance(value, str):
            continue
        is_whole = schema["type"] == "integer"
        bounds = _BOUNDS.search(schema["description"])
        is_number = (_INTEGER if is_whole else _NUMBER).fullmatch(value.strip())
        if is_number and not (bounds and not int(bounds[1]) <= float(value) <= int(bounds[2])):
            continue
        kind = "a whole number" if is_whole else "a number"
        within = f" from {bounds[1]} to {bounds[2]}" if bounds else ""
        raise BadRequest(f"{option(name)} must be {kind}{within}, not {value[:80]!r}.")
