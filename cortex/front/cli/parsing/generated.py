"""Commands made from the tools: each argument becomes an option of its name, and the words come
from FORMS.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from cortex.ask.query_context import Audience
from cortex.front.audience import answering
from cortex.front.cli.parsing.command_names import ALIASES as HIDDEN
from cortex.front.cli.parsing.command_names import MEMORY, NAMES, command_name
from cortex.front.cli.parsing.parser import DATA_DIR, Command, Parser, absolute
from cortex.front.cli.rendering import answers, memory, memory_candidates, memory_history, streams
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.rendering.paging import paged
from cortex.front.cli.rendering.paint import print_page
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
from cortex.front.project_selection import asks_projects
from cortex.front.text import draw
from cortex.front.tool import Tool
from cortex.front.tools import PEOPLE, TOOLS
from cortex.settings import config as configuration
from cortex.system import hosts
from cortex.system.errors import (
    EXIT_NOTHING,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    BadRequest,
    CortexError,
)
from cortex.terms.observations import REQUIRED, ROWS, fields_of
from cortex.terms.text.suggestions import hint_for

if TYPE_CHECKING:
    from cortex.front.link import Link

#: seconds that a command waits for memory, whose worker may have to start; and for long work
PATIENCE_S, LONG_S = 30.0, 3_600.0
LONG = {
    f"memory_{name}"
    for name in (
        "import",
        "export",
        "doctor",
        "forget",
        "backup",
        "restore",
        "migrate",
        "consolidate",
        "maintain",
    )
}
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
    "file": "path",
    "path": "path",
    "paths": "path",
    "scope": "path",
    "exclude_paths": "path",
    "target": "symbol",
    "to": "symbol",
    "symbol": "symbol",
}


@dataclass(frozen=True, slots=True)
class Word:
    """An argument that can be a plain word of the command line; `people` is its name in the
    usage.
    """

    argument: str
    people: str
    optional: bool = False
    #: value of another argument with which the word may be missing
    spared_by: str = ""
    #: the argument that gets the word instead where `is_other` is true
    other: str = ""
    is_other: Callable[[str], bool] = lambda _word: False
    #: the kind of name that completes it: path or symbol
    completes: str = ""
    #: whether the argument takes all words from this one on
    many: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """The command line of a tool and the output of its answer. The tool defines everything else."""

    #: an answer without a list of results is never empty
    has_hits: Callable[[dict[str, Any]], bool] = lambda answer: bool(answer.get("results", True))
    #: prints an answer that only people get; None: the text of cortex.front.text
    show: Callable[[dict[str, Any]], None] | None = None
    #: exit code of an empty answer
    not_found: int = EXIT_NOTHING
    words: tuple[Word, ...] = ()
    #: arguments whose defaults differ from those for programs
    for_people: Mapping[str, Any] = field(default_factory=dict)
    #: whether --jsonl can print the places of its results
    places: bool = False
    #: the argument that reads standard input when its option has no value, or "-"
    piped: str = ""
    #: the same, for "-" only
    text: str = ""
    #: direction of the file in the argument `file`; "-" is then a stream
    way: streams.Way = ""


def _is_id(word: str) -> bool:
    """Whether a word is a chunk id, which begins with the chunk's kind; an existing file of that
    name wins.
    """
    return word.startswith(("code-", "doc-")) and not Path(word.partition(":")[0]).exists()


_QUESTION = Word("query", "question")
_NOTE = Word("node_id", "note")
_PLACE = Word("file", "place", other="chunk_id", is_other=_is_id, completes="path")

#: tool → its form; other tools take options alone
FORMS = {
    "cortex_explore": Form(
        has_hits=lambda answer: bool(answer["functions"]),
        words=(Word("query", "question", other="diff"),),
        piped="diff",
    ),
    "cortex_search": Form(
        has_hits=lambda answer: bool(answer.get("results") or answer.get("map") or answer.get("sites")),
        words=(_QUESTION,),
        places=True,
    ),
    "cortex_exact": Form(words=(Word("query", "question", completes="symbol"),), places=True),
    "cortex_graph": Form(
        words=(Word("operation", "operation"), Word("target", "target", spared_by="routes")),
        for_people={"context_lines": 0},
    ),
    "cortex_read": Form(
        has_hits=lambda answer: bool(answer.get("code") or answer.get("map")),
        words=(Word("places", "place", completes="path", many=True),),
    ),
    "cortex_uses": Form(
        has_hits=lambda answer: bool(answer.get("sites")),
        words=(Word("symbol", "symbol", completes="symbol"),),
    ),
    "cortex_outline": Form(words=(Word("path", "path", optional=True, completes="path"),)),
    "cortex_pattern": Form(words=(Word("pattern", "pattern"), Word("language", "language"))),
    "code_context": Form(has_hits=lambda answer: bool(answer["hits"]), words=(_QUESTION,)),
    "find_related": Form(has_hits=answers.has_related, words=(_PLACE,)),
    "cortex_store": Form(words=(Word("title", "title", optional=True),), text="body"),
    "cortex_recall": Form(words=(_QUESTION,)),
    "cortex_briefing": Form(),
    "cortex_traverse": Form(words=(_NOTE,)),
    "cortex_relate": Form(
        words=(
            Word("from_id", "note"),
            Word("to_id", "other note"),
            Word("relation", "relation", optional=True),
        ),
    ),
    "memory_search": Form(words=(_QUESTION,)),
    "memory_timeline": Form(
        show=memory.print_timeline,
        has_hits=lambda answer: bool(answer["items"]),
        words=(Word("query", "question", optional=True, other="anchor", is_other=str.isdecimal),),
    ),
    "memory_undo": Form(show=memory.print_undone, words=(Word("undone", "operation", optional=True),)),
    "memory_history": Form(
        show=memory_history.print_history, words=(Word("node_id", "note", optional=True),)
    ),
    "memory_session": Form(show=memory_history.print_session, words=(Word("session_id", "session"),)),
    "memory_list": Form(show=memory.print_timeline, has_hits=lambda answer: bool(answer["items"])),
    "memory_edit": Form(words=(_NOTE,), text="body"),
    "memory_show": Form(show=memory.print_node, words=(_NOTE,)),
    "memory_forget": Form(words=(_NOTE,)),
    "memory_rate": Form(words=(_NOTE, Word("value", "value", optional=True))),
    "memory_link": Form(show=memory.print_link, words=(Word("other", "other", optional=True),)),
    "memory_candidates": Form(show=memory_candidates.print_candidates),
    "memory_accept": Form(
        show=memory_candidates.print_waiting,
        words=(Word("numbers", "note", optional=True, many=True),),
    ),
    "memory_closed": Form(show=memory_candidates.print_closed),
    "memory_past_sessions": Form(
        show=memory_candidates.print_past_sessions,
        words=(Word("answer", "answer", optional=True),),
    ),
    "memory_import": Form(
        show=memory.print_imported, has_hits=memory.has_imported, words=(Word("file", "file"),), way="in"
    ),
    "memory_export": Form(show=memory.print_exported, words=(Word("file", "file"),), way="out"),
    "memory_backup": Form(show=memory.print_backed_up),
    "memory_restore": Form(show=memory.print_restored, words=(Word("file", "file", optional=True),)),
    "memory_migrate": Form(show=memory.print_migrated),
    "memory_doctor": Form(
        show=memory.print_findings,
        has_hits=lambda answer: bool(answer["healthy"]),
        not_found=EXIT_UNAVAILABLE,
    ),
    "memory_consolidate": Form(show=memory.print_upkeep),
    "memory_maintain": Form(show=memory.print_upkeep),
    "memory_stats": Form(show=memory.print_stats),
}
PLAIN = Form(has_hits=lambda _answer: True)
FORMS |= {
    name: replace(
        PLAIN,
        words=tuple(
            Word(argument, argument.replace("_", " "), optional=default is not REQUIRED)
            for argument, _, default in fields_of(name)
            if default is REQUIRED or argument == "query"
        ),
    )
    for name in ROWS
}
FORMS["timeline"] = replace(
    PLAIN, words=(Word("query", "query", optional=True, other="anchor_id", is_other=str.isdecimal),)
)


class _Choices(tuple[str, ...]):
    """Choices for completion.

    The parser refuses none of them: the tool's own check gives a better message.
    """

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
        patience_s = max(config.server.deadline_s, LONG_S if tool.name in LONG else PATIENCE_S)
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
    form = FORMS.get(tool.name, PLAIN)
    words = [f"[{word.people.upper()}]" if word.optional else word.people.upper() for word in form.words]
    return Command(
        name=command_name(tool.name),
        help=f"{tool.title}.",
        run=functools.partial(_run, tool, form, ask),
        declare=functools.partial(_declare, tool, form),
        description=description_for_people(tool, [word.argument for word in form.words]),
        usage=" ".join((*words, "[options]")),
    )


def _declare(tool: Tool, form: Form, parser: Parser) -> None:
    properties = tool.schema["properties"]
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
    parser.add_argument("--json", dest="as_json", action="store_true", help="print the tool's answer as JSON")
    if form.places:
        jsonl_help = "print a line of JSON for each result: file, start, end, score"
        parser.add_argument("--jsonl", dest="as_jsonl", action="store_true", help=jsonl_help)


def _option_settings(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the parser settings for the option of one argument.

    Values stay text: the tool's own check converts them to numbers.
    """
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


def _run(tool: Tool, form: Form, ask: Ask, options: Namespace) -> int:
    """Call the tool and print its answer; return 0 with results, 1 without."""
    arguments = _arguments(tool, form, options)
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
            answers.print_jsonl(answer)
        else:
            answer = answer_for_people(answer, tool, arguments)
            with paged():
                if form.show is not None:
                    form.show(answer)
                else:
                    print_page(draw(tool.name, answer, arguments=arguments, for_person=True))
    return EXIT_OK if form.has_hits(answer) else form.not_found


def _arguments(tool: Tool, form: Form, options: Namespace) -> dict[str, Any]:
    """Return the tool's arguments from the options and words. Raises BadRequest."""
    values = vars(options)
    places = {name: _dest(name) for name in tool.schema["properties"]}
    arguments = {name: values[place] for name, place in places.items() if place in values}
    for name in filter(None, (form.piped, form.text)):
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
            raise BadRequest(_say_skipped(tool, form, arguments) or _say_missing(tool, word))
    if words:
        raise BadRequest(_say_extra(tool, form, arguments))
    return arguments


def _say_skipped(tool: Tool, form: Form, arguments: dict[str, Any]) -> str:
    """Return the sentence for a first word that is none of its choices, and so the next one; ""
    where it is a choice, perhaps misspelled.
    """
    first = form.words[0]
    choices = tool.schema["properties"][first.argument].get("enum", ())
    typed = str(arguments.get(first.argument, ""))
    if not choices or not typed or hint_for(typed, choices):
        return ""
    words = [word.argument for word in form.words]
    command = f"cortex {command_name(tool.name)} {example_arguments(tool, words)[first.argument]} {typed}"
    return f"The {first.people} is missing, as in `{command}`. It is one of: {', '.join(choices)}."


def _say_extra(tool: Tool, form: Form, arguments: dict[str, Any]) -> str:
    """Return the sentence for a word too many."""
    if form.text:
        empty = [name for name in ("title", form.text) if name not in arguments]
        return f"New text goes in {' or '.join(map(_option, empty or [form.text]))}."
    return f"{_say_missing(tool, form.words[-1])} Put several words in quotes."


def _read_stdin(argument: str) -> str:
    """Read standard input. Raises BadRequest for a terminal, and for more than STDIN_BYTES_MAX
    bytes.
    """
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
