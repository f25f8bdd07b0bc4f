"""Commands made from the tools: each argument becomes an option of its name, and the words come
from the tool's form.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from cortex.ask.query_context import Audience
from cortex.front.audience import answering
from cortex.front.cli.parsing.command_names import ALIASES as HIDDEN
from cortex.front.cli.parsing.command_names import MEMORY, NAMES, command_name
from cortex.front.cli.parsing.parser import DATA_DIR, Command, Parser, absolute
from cortex.front.cli.rendering import streams
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.rendering.answers import print_jsonl, print_page
from cortex.front.cli.rendering.paging import paged
from cortex.front.cli.rendering.render import show_wait
from cortex.front.cli.rendering.shell_words import (
    OPTIONS,
    answer_for_people,
    check_numbers,
    description_for_people,
    example_arguments,
    for_people,
)
from cortex.front.cli.rendering.shell_words import option as _option
from cortex.front.first_index import STARTED_S, call_with_index
from cortex.front.form import Word
from cortex.front.project_selection import asks_projects
from cortex.front.text import draw
from cortex.front.tool import Tool
from cortex.front.tools import PEOPLE, TOOLS
from cortex.settings import config as configuration
from cortex.system import hosts
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, BadRequest, CortexError
from cortex.terms.text.suggestions import hint_for

if TYPE_CHECKING:
    from cortex.front.link import Link

#: seconds that a command waits for memory, whose worker may have to start; and for long work
PATIENCE_S, LONG_S = 30.0, 3_600.0
#: the value of an option that reads standard input, and the bytes that are read
STDIN, STDIN_BYTES_MAX = "-", 8_000_000
#: argument → other names of its option, in every tool
ALIASES = {
    "query": ("-q",),
    "limit": ("-k",),
    "k": ("-k", "--limit"),
    "max_results": ("-k", "--limit"),
    "max_per_level": ("--per-level",),
    "chunk_types": ("--type",),
    "tags": ("--tag",),
    "paths": ("--path",),
    "exclude_paths": ("--exclude-path",),
    "exclude_patterns": ("--exclude",),
    "match_type": ("--match",),
}
#: argument → the kind of name that completes it, in every tool
COMPLETES = {
    **dict.fromkeys("file path paths scope exclude_paths".split(), "path"),
    **dict.fromkeys("target to symbol".split(), "symbol"),
}


class _Choices(tuple[str, ...]):
    """Choices for completion; the parser refuses none, as the tool's check has a better message."""

    __slots__ = ()

    def __contains__(self, _word: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of a call: the project's and memory's; None for the default."""

    project: str | None = None
    data_dir: str | None = None


#: (tool, its arguments, folders) → the answer as JSON
Ask = Callable[[Tool, dict[str, Any], Folders], bytes]


def ask_workers(tool: Tool, arguments: dict[str, Any], where: Folders) -> bytes:
    """Ask the project's workers, or memory's; starts them if needed. Raises CortexError."""
    config = configuration.load(
        where.project, {"memory": {"data_dir": where.data_dir}} if where.data_dir else None
    )
    checked = tool.check(arguments)  # before any worker is started
    memory = tool.asks(msgspec.structs.asdict(checked)) == "memory"
    if asks_projects(tool, arguments) or config.store:
        config = replace(config, server=replace(config.server, deadline_s=STARTED_S))
    if memory:
        patience_s = max(config.server.deadline_s, LONG_S if tool.form.is_long else PATIENCE_S)
        config = replace(config, server=replace(config.server, deadline_s=patience_s))

    async def ask() -> bytes:
        from cortex.front.link import Link

        link = Link(config, channel="cli")
        if asks_projects(tool, arguments):
            return orjson.dumps(await _answer_of_projects(link, tool, arguments))
        if not memory:
            link.open()
        try:
            return orjson.dumps(
                await (
                    link.call(tool, arguments)
                    if memory
                    else call_with_index(link, tool, arguments, show_wait)
                )
            )
        finally:
            await link.close()

    return hosts.run(ask())


async def _answer_of_projects(link: Link, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the answer for all projects that the arguments select. Raises CortexError."""
    from cortex.front.open_projects import OpenProjects

    projects = OpenProjects(link, make=functools.partial(type(link), channel="cli"))
    try:
        return await projects.call(tool, arguments)
    finally:
        await projects.close()


def make_command(tool: Tool, ask: Ask = ask_workers) -> Command:
    """Return the command of a tool: `cortex_search` is `cortex search`."""
    form = tool.form
    words = [f"[{word.people.upper()}]" if word.optional else word.people.upper() for word in form.words]
    return Command(
        name=command_name(tool.name),
        help=f"{tool.title}.",
        run=functools.partial(_run, tool, ask),
        declare=functools.partial(_declare, tool),
        description=description_for_people(tool, [word.argument for word in form.words]),
        usage=" ".join((*words, "[options]")),
    )


def _declare(tool: Tool, parser: Parser) -> None:
    form, properties = tool.form, tool.schema["properties"]
    if form.words:
        choices = [value for word in form.words for value in properties[word.argument].get("enum", ())]
        parser.add_completed(
            "" if choices else next((word.completes for word in form.words if word.completes), ""),
            "words",
            nargs="*",
            metavar=" ".join(word.people.upper() for word in form.words),
            choices=_Choices(choices) if choices else None,
            help=f"or by option: {', '.join(_option(word.argument) for word in form.words)}",
        )
    for name, schema in properties.items():
        parser.add_completed(
            COMPLETES.get(name, "") if tool.name not in MEMORY else "",
            _option(name),
            *ALIASES.get(name, ()),
            dest=_dest(name),
            default=argparse.SUPPRESS,
            help=_help(tool, schema),
            **_option_settings(name, schema),
            **({"nargs": "?", "const": STDIN} if name == form.piped else {}),
        )
    if tool.name in MEMORY:
        parser.add_folder("--data-dir", metavar="DIR", type=absolute, help=DATA_DIR)
    parser.add_flag("--json", help="print the tool's answer as JSON", dest="as_json")
    if form.places:
        jsonl_help = "print a line of JSON for each result: file, start, end, score"
        parser.add_flag("--jsonl", help=jsonl_help, dest="as_jsonl")


def _option_settings(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return one option's parser settings. Values stay text, which the tool's check converts."""
    if schema["type"] == "boolean":
        negatable = schema.get("default", False)
        return {"action": argparse.BooleanOptionalAction if negatable else "store_true"}
    offered = schema.get("items", schema).get("enum")
    kind: dict[str, Any] = {"metavar": name.upper()}
    if offered:
        kind["choices"] = _Choices(offered)
    return kind | {"action": "append"} if schema["type"] == "array" else kind


def _help(tool: Tool, schema: dict[str, Any]) -> str:
    help_text = for_people(schema["description"], tool)
    if offered := schema.get("enum"):
        help_text += f" One of: {', '.join(offered)}."
    if schema["type"] == "array":
        help_text += " May be repeated."
    elif schema["type"] != "boolean" and schema.get("default", "") != "":
        help_text += f" (default: {schema['default']})"
    return help_text.replace("%", "%%")


def _run(tool: Tool, ask: Ask, options: Namespace) -> int:
    """Call the tool and print its answer; return 0 with results, 1 without."""
    form, arguments = tool.form, _arguments(tool, options)
    if form.piped and not str(arguments.get(form.piped, form.piped)).strip():
        print(f"The {form.piped} is empty: nothing has changed.", file=sys.stderr)
        return EXIT_NOTHING
    check_numbers(tool, arguments)
    as_json, as_jsonl = options.as_json, getattr(options, "as_jsonl", False)
    if not (as_json or as_jsonl):
        arguments = {**form.for_people, **arguments}
    audience: Audience = "program" if as_json or as_jsonl else "agent"
    where = Folders(options.project, getattr(options, "data_dir", None))
    working = slow_notice(f"`cortex {command_name(tool.name)}`")
    spool = streams.spool_stream(form.way, arguments, where.data_dir)
    with spool as call_arguments, working, answering(audience):
        try:
            raw = ask(tool, call_arguments, where)
        except CortexError as error:
            raise type(error)(for_people(str(error), tool, arguments)) from error
    answer = orjson.loads(raw)
    is_streamed = form.way == "out" and call_arguments is not arguments
    if is_streamed:  # standard output has the notes
        raw = orjson.dumps(answer := answer | {"file": streams.STREAM})
    with contextlib.redirect_stdout(sys.stderr if is_streamed else sys.stdout):
        if as_json:
            print(raw.decode())
        elif as_jsonl:
            print_jsonl(answer)
        else:
            answer = answer_for_people(answer, tool, arguments)
            with paged():
                print_page(draw(tool.name, answer, arguments=arguments, for_person=True))
    return EXIT_OK if form.has_hits(answer) else form.not_found


def _arguments(tool: Tool, options: Namespace) -> dict[str, Any]:
    """Return the tool's arguments from the options and words. Raises BadRequest."""
    form, values = tool.form, vars(options)
    places = {name: _dest(name) for name in tool.schema["properties"]}
    arguments = {name: values[place] for name, place in places.items() if place in values}
    for name in filter(None, (form.piped, form.from_stdin)):
        if arguments.get(name) == STDIN:
            arguments[name] = _read_stdin(name)
    words = list(values.get("words", ()))
    for word in form.words:
        if not {word.argument, word.other}.isdisjoint(arguments):
            continue
        if words and word.many:
            arguments[word.argument], words = words, []
        elif words:
            text = words.pop(0)
            arguments[word.other if word.is_other(text) else word.argument] = text
        elif not (word.optional or (word.spared_by and word.spared_by in arguments.values())):
            raise BadRequest(_say_skipped(tool, arguments) or _say_missing(tool, word))
    if words:
        raise BadRequest(_say_extra(tool, arguments))
    return arguments


def _say_skipped(tool: Tool, arguments: dict[str, Any]) -> str:
    """Return the sentence for a first word that is none of its choices, and so the next one; ""
    where it is a choice, perhaps misspelled.
    """
    first = tool.form.words[0]
    choices = tool.schema["properties"][first.argument].get("enum", ())
    typed = str(arguments.get(first.argument, ""))
    if not choices or not typed or hint_for(typed, choices):
        return ""
    words = [word.argument for word in tool.form.words]
    command = f"cortex {command_name(tool.name)} {example_arguments(tool, words)[first.argument]} {typed}"
    return f"The {first.people} is missing, as in `{command}`. It is one of: {', '.join(choices)}."


def _say_extra(tool: Tool, arguments: dict[str, Any]) -> str:
    if name := tool.form.from_stdin:
        empty = [argument for argument in ("title", name) if argument not in arguments]
        return f"New text goes in {' or '.join(map(_option, empty or [name]))}."
    return f"{_say_missing(tool, tool.form.words[-1])} Put several words in quotes."


def _read_stdin(argument: str) -> str:
    """Read standard input. Raises BadRequest for a terminal and above STDIN_BYTES_MAX bytes."""
    if sys.stdin.isatty():
        raise BadRequest(
            f"Pipe in the text for {_option(argument)}, as in `git diff | cortex explore --diff`."
        )
    read = sys.stdin.buffer.read(STDIN_BYTES_MAX + 1)
    if len(read) > STDIN_BYTES_MAX:
        raise BadRequest(f"Standard input holds more than {STDIN_BYTES_MAX} bytes; pass less of it.")
    return read.decode("utf-8", "replace")


def _dest(argument: str) -> str:
    """Return the name of the option's value in the parsed options."""
    return f"argument_{argument}" if argument in OPTIONS else argument


def _say_missing(tool: Tool, word: Word) -> str:
    option = next(iter(ALIASES.get(word.argument, ())), _option(word.argument))
    name = command_name(tool.name)
    return f"For `cortex {name}` pass one {word.people}, as an argument or with {option}."


def find(name: str) -> Command | None:
    """Return the command of this name or hidden alias; loads only its tool."""
    tool = NAMES.get(name) or HIDDEN.get(name)
    return make_command(PEOPLE[tool] if tool in PEOPLE else TOOLS[tool]) if tool else None
