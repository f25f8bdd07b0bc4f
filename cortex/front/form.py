"""The form of a tool: its command line, the text of its answer, and its offer to agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cortex.system.errors import EXIT_NOTHING

if TYPE_CHECKING:  # a program that reads JSON needs no text
    from cortex.front.text.lines import Page
    from cortex.front.text.parts import Drawer

Way = Literal["", "in", "out"]


@dataclass(frozen=True, slots=True)
class Word:
    """An argument that can be a plain word of the command line, named `people` in the usage."""

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
class Offer:
    """The description of a tool for an agent, and the listed arguments with their descriptions."""

    description: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Form:
    """The command line of a tool, the text of its answer, its short form for agents."""

    #: an answer without a list of results is never empty
    has_hits: Callable[[dict[str, Any]], bool] = lambda answer: bool(answer.get("results", True))
    #: draws the answer as text; None: a line for each key
    text: Drawer | None = None
    #: draws the answer for people alone, in place of `text`
    people_text: Callable[[Page, Mapping[str, Any]], None] | None = None
    #: exit code of an empty answer
    not_found: int = EXIT_NOTHING
    words: tuple[Word, ...] = ()
    #: arguments whose defaults differ from those for programs
    for_people: Mapping[str, Any] = field(default_factory=dict)
    #: whether the call may take much longer than others
    is_long: bool = False
    #: whether --jsonl can print the places of its results
    places: bool = False
    #: the argument that reads standard input when its option has no value, or "-"
    piped: str = ""
    #: the same, for "-" only
    from_stdin: str = ""
    #: direction of the file in the argument `file`; "-" is then a stream
    way: Way = ""
    #: for a tool of the toolset `agent`
    offer: Offer | None = None


#: a tool without a form takes options alone
PLAIN = Form(has_hits=lambda _answer: True)
