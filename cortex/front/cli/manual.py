"""`cortex manual`: the manual page, made from the current help of each command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator

from cortex import __version__
from cortex.front.cli.parser import Command, Parser

#: the page before the commands, and after them
_HEAD = """.TH CORTEX 1 "" "cortex {version}" "User Commands"
.SH NAME
cortex \\- a local context engine for coding agents
.SH SYNOPSIS
.B cortex
.I COMMAND
[options]
.SH DESCRIPTION
Answers questions about the code and documents of a project: by meaning, by keyword, by structure, offline. Options may
stand in any place; "\\-\\-" ends them.
.PP
Every command takes \\-\\-yes\\-really (the folder may be / or the home folder) and \\-\\-no\\-pager (answers are printed as they are)."""
_TAIL = """.SH EXIT STATUS
.TP
0
Success; a question had results.
.TP
1
The answer is empty, or an unexpected error occurred.
.TP
2
Wrong usage or configuration.
.TP
3
A process that the command needs does not answer.
.SH ENVIRONMENT
.TP
CORTEX_HOME
The cache folder; ~/.cache/cortex where it is not set.
.TP
CORTEX_PAGER, PAGER
The program that shows answers longer than the terminal; less where none is set, none where it is empty or "cat".
.TP
NO_COLOR, FORCE_COLOR
No colours, or colours also where the output is no terminal."""

#: options of every command, described once in the head
_EVERYWHERE = (["--yes-really"], ["--no-pager"])


def page(commands: Iterable[Command]) -> str:
    """Return the page in the language of man(7)."""
    lines = [_HEAD.format(version=__version__), ".SH COMMANDS"]
    for command in commands:
        lines += _section(command)
    return "\n".join([*lines, _TAIL]) + "\n"


def _section(command: Command) -> Iterator[str]:
    parser = command.parser()
    yield f".SS cortex {_escape(command.name)}"
    yield _format_paragraphs(command.description or command.help)
    yield ".PP"
    yield ".nf"
    yield _escape(_usage(parser))
    yield ".fi"
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
        if action.help and action.help != argparse.SUPPRESS and action.option_strings not in _EVERYWHERE:
            yield ".TP"
            yield f"\\fB{_escape(', '.join(action.option_strings) or str(action.metavar or action.dest))}\\fR"
            yield _format_paragraphs(parser.expanded(action))


def _usage(parser: Parser) -> str:
    return parser.format_usage().removeprefix("usage: ").rstrip()


def _format_paragraphs(text: str) -> str:
    """Return text as paragraphs; no line is a troff request."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n.PP\n".join(_escape(" ".join(paragraph.split())) for paragraph in paragraphs)


def _escape(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", escaped)
