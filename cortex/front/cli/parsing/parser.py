"""The argument parser of `cortex`, and the class of its commands.

Commands declare their options on it.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from cortex.front.cli.rendering.paging import VARIABLE as PAGER
from cortex.settings.folders.home import REALLY
from cortex.system.errors import BadRequest
from cortex.terms.text.suggestions import hint_for

#: help of --data-dir in every command
DATA_DIR = "folder of memory (default: memory.data_dir)"

#: seconds of the units of a duration
_UNITS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
#: argparse's messages for a word outside of its choices, and for an undeclared option
_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)$")
_OPTION = re.compile(r"unrecognized arguments: (--[\w-]+)")
_WORD = re.compile(r"[\w-]+")
_TIME = re.compile(r"(\d{1,5})([hdw])")


class _Listing(argparse.RawDescriptionHelpFormatter):
    """Commands and their help lines in two columns, also for long names."""

    def __init__(self, *names: Any, **settings: Any) -> None:
        super().__init__(*names, **{**settings, "max_help_position": 38})


class Parser(argparse.ArgumentParser):
    """An argument parser with options in any place among the words, values that begin with a dash,
    and no abbreviations.
    """

    def __init__(self, **settings: Any) -> None:
        self._valued: set[str] = set()
        #: options and words that are folders, for completion
        self.folders: list[argparse.Action] = []
        #: options and words that a path or symbol of the project completes, with that kind
        self.completions: list[tuple[argparse.Action, str]] = []
        #: heading → commands under it, where the help lists commands
        self.headings: dict[str, list[str]] = {}
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        action = super().add_argument(*names, **settings)
        if action.nargs is None:
            self._valued.update(action.option_strings)
        return action

    def add_flag(self, *names: str, **settings: Any) -> None:
        """Like add_argument, for an option without a value."""
        self.add_argument(*names, action="store_true", **settings)

    def add_folder(self, *names: str, **settings: Any) -> None:
        """Like add_argument, for a folder of the file system."""
        self.folders.append(self.add_argument(*names, **settings))

    def add_completed(self, kind: str, *names: str, **settings: Any) -> None:
        """Like add_argument, for a "path" or "symbol" of the project; kind "" completes nothing."""
        action = self.add_argument(*names, **settings)
        if kind:
            self.completions.append((action, kind))

    def add_commands(self, headings: dict[str, list[str]]) -> Any:
        """Return the group for the parsers of the commands; `headings` order the help."""
        self.headings = headings
        self.formatter_class = _Listing
        return self.add_subparsers(metavar="COMMAND", title="commands", parser_class=Parser)

    def format_help(self) -> str:
        """Return the help; commands are under headings where there are any."""
        if not self.headings or self._subparsers is None:
            return super().format_help()
        [commands] = self._subparsers._group_actions  # noqa: SLF001 - argparse has no other list of them
        lines = {line.dest: line for line in commands._choices_actions}  # type: ignore[attr-defined]  # noqa: SLF001
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for heading, words in self.headings.items():
            formatter.start_section(heading)
            formatter.add_arguments([lines[word] for word in words])
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments(self._get_optional_actions())
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """End the process with a message; suggest a similar word or option."""
        super().error(message + self._hint(message))

    def _hint(self, message: str) -> str:
        if match := _CHOICE.search(message):
            choices = tuple(_WORD.findall(match[2]))
        elif match := _OPTION.search(message):
            choices = tuple(self._option_string_actions)
        else:
            return ""
        return hint_for(match[1], choices)

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the options. Ends the process with a usage message if wrong (SystemExit, 2)."""
        options, words = self._split(arguments)
        parsed, extra = self.parse_known_args([*options, "--", *words] if words else options)
        if words and "--" in extra:  # the one above: argparse leaves it where no words are declared
            extra.remove("--")
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}")
        return parsed

    def _split(self, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return (options, words); a value is joined to its option, as in `-q=-test`.

        argparse alone accepts neither all words between options, nor values that begin with a dash.
        """
        options: list[str] = []
        words: list[str] = []
        remaining = iter(arguments)
        for argument in remaining:
            if argument == "--":
                words += remaining
            elif not argument.startswith("-") or argument == "-":
                words.append(argument)
            elif argument in self._valued and (value := next(remaining, None)) is not None:
                options.append(f"{argument}={value}")
            else:
                options.append(argument)
        return options, words


def absolute(folder: str) -> str:
    """Return a typed folder as an absolute path from the working folder."""
    return str(Path(folder).expanduser().absolute())


def seconds_of(duration: str, option: str) -> float:
    """Return the seconds of an option's duration. Raises BadRequest."""
    match = _TIME.fullmatch(duration)
    if match is None:
        raise BadRequest(f"{option} cannot be {duration!r}; say it as 12h, 30d or 8w.")
    return float(int(match[1]) * _UNITS[match[2]])


class _Setting(argparse.Action):
    """Sets the variable `const`, (name, value), for all configurations of this process tree."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(nargs=0, **settings)

    def __call__(self, *_: Any) -> None:
        name, value = self.const
        os.environ[name] = value


def declare_sandbox(parser: Parser) -> None:
    """Declare --sandbox, for commands that may start workers."""
    setting = ("CORTEX_SECURITY_SANDBOX", "1")
    parser.add_argument(
        "--sandbox", action=_Setting, const=setting, help="start the workers in a sandbox (security.sandbox)"
    )


@dataclass(frozen=True, slots=True)
class Command:
    """One command, `name` in one or more words; `run` returns the exit code, raises CortexError."""

    name: str
    help: str
    run: Callable[[argparse.Namespace], int]
    declare: Callable[[Parser], None] = lambda _parser: None
    #: text between the usage and the options; "": `help`
    description: str = ""
    #: words after the command's name in its usage; None: made from the declared options
    usage: str | None = None
    #: whether --project needs no folder; the default is the project of the working folder
    bare_project: bool = False

    def parser(self) -> Parser:
        """Return a parser of this command alone: the others need not be made."""
        parser = Parser(**self._settings(f"cortex {self.name}"))
        self._fill(parser)
        return parser

    def add_to(self, group: Any) -> Parser:
        """Add the command to `group`, which `add_subparsers` returns."""
        name = self.name.rpartition(" ")[2]
        prog = f"cortex {self.name}"
        parser: Parser = group.add_parser(name, help=self.help.replace("%", "%%"), **self._settings(prog))
        self._fill(parser)
        return parser

    def _settings(self, prog: str) -> dict[str, Any]:
        usage = None if self.usage is None else f"{prog} {self.usage}"
        return {"prog": prog, "description": self.description or self.help, "usage": usage}

    def _fill(self, parser: Parser) -> None:
        self.declare(parser)
        project: dict[str, Any] = {"nargs": "?", "const": ".", "metavar": "=DIR"} if self.bare_project else {}
        parser.add_folder(
            "--project",
            help="folder of the project (default: searched upwards from the working folder)",
            **project,
        )
        parser.add_argument(
            "--yes-really",
            action=_Setting,
            const=(REALLY, "1"),
            help="accept / or the home folder as a project",
        )
        described = "do not page long answers on a terminal"
        parser.add_argument("--no-pager", action=_Setting, const=(PAGER, ""), help=described)


def make_tree(
    commands: Iterable[Command], groups: Mapping[str, str], headings_of: Callable[[str], dict[str, list[str]]]
) -> tuple[Parser, list[Parser]]:
    """Return (a parser of all commands, the parser of each command), for help and completion.

    `groups`: group → its help line; `headings_of`: group → the headings of its help. `shown` of the
    parsed arguments is the parser of the group.
    """
    root = Parser(
        prog="cortex",
        description="A local context engine for coding agents.",
        epilog="`cortex help COMMAND` shows the options of a command. CORTEX_HOME moves the cache and "
        "the notes, CORTEX_MEMORY_DATA_DIR the notes alone.",
    )
    root.add_argument("-v", "--version", action="store_true", help="print the version")
    root.set_defaults(shown=root)
    places = {"": root.add_commands(headings_of(""))}

    def place_of(group: str) -> Any:
        if group not in places:
            outer, _, word = group.rpartition(" ")
            parser = place_of(outer).add_parser(
                word, prog=f"cortex {group}", help=groups[group], description=groups[group]
            )
            parser.set_defaults(shown=parser)
            places[group] = parser.add_commands(headings_of(group))
        return places[group]

    return root, [command.add_to(place_of(command.name.rpartition(" ")[0])) for command in commands]
