"""Lines of a rendered answer, with styles for a terminal, and single values in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.system.terminal import escape_controls, escape_in_line

Answer = Mapping[str, Any]
#: (text, its style in rich's words)
Span = tuple[str, str]

#: left-out lines of code; a token with its line break, where ⋯ takes four
GAP = "…"
STALE = "changed since it was indexed"
PATH, NUMBER, FAINT, STRONG, WARNING = "bold cyan", "green", "dim", "bold", "yellow"


class StyledLine:
    """One line of styled parts; a part without a style is plain text."""

    def __init__(self, *spans: str | Span) -> None:
        self.spans: list[Span] = [(span, "") if isinstance(span, str) else span for span in spans]

    def append(self, text: str, style: str = "") -> None:
        self.spans.append((text, style))

    def text(self) -> str:
        return "".join(text for text, _ in self.spans)


@dataclass
class Page:
    """A rendered answer: `body`, then sentences about it in `notes`."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    for_person: bool = False
    body: list[StyledLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *spans: str | Span) -> None:
        self.body.append(StyledLine(*spans))

    def note(self, *sentences: str) -> None:
        """Add the sentences that are not empty and not there yet."""
        for sentence in (sentence.replace("⋯", GAP) for sentence in sentences):
            if sentence and sentence not in self.notes:
                self.notes.append(sentence)

    def option(self, argument: str) -> str:
        """Return an argument's name as its reader types it."""
        return f"--{argument.replace('_', '-')}" if self.for_person else f"`{argument}`"

    def text(self) -> str:
        """Return all lines, with control characters as numbers."""
        return escape_controls("\n".join([*(line.text().rstrip() for line in self.body), *self.notes]))


def place(path: str, first: int, last: int = 0) -> list[Span]:
    """Return `path:a-b`, or `path:a` for one line, or the path without a known line."""
    path = escape_in_line(path)
    if not first:
        return [(path, PATH)]
    return [(path, PATH), (f":{first}-{last}" if last > first else f":{first}", NUMBER)]


def head(page: Page, entry: Sequence[Span], name: str = "", *more: str, stale: bool = False) -> None:
    """Add the line above a piece of code: its place, its name, further words."""
    spans: list[str | Span] = [*entry]
    if name:
        spans.append(f"  {name}")
    spans += [(f"  {word}", FAINT) for word in more if word]
    if stale:
        spans.append((f"  {STALE}", WARNING))
    page.add(*spans)


def numbered(
    page: Page, lines: Iterable[tuple[int, str]], marked: Iterable[int] = (), margin: str = ""
) -> None:
    """Add lines (number, text) as an agent's own reader prints them, with a mark at each gap.
    Number 0: the text alone, indented, so that it does not look like a line of Cortex.

    Numbers are not padded, and a blank line has none: that would cost 2 % of an answer's tokens.
    """
    marks, before = frozenset(marked), 0
    for number, text in lines:
        if before and number > before + 1:
            page.add((f"{margin}{GAP}", FAINT))
        style = "bold yellow" if number and number in marks else ""
        label = f"{number}" if number and text.strip() else ""
        page.add(margin, (label, NUMBER), (f"  {text}", style))
        before = number


def count(number: int, name: str) -> str:
    """Return `1 note`, `2 notes`."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, tuple, Mapping)) and not value)


def flat(value: Any) -> str:
    """Return a value in one line, as `key value, key value`."""
    if isinstance(value, Mapping):
        present = ((name, inner) for name, inner in value.items() if not is_empty(inner))
        return ", ".join(f"{str(name).replace('_', ' ')} {flat(inner)}" for name, inner in present)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(flat, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("\n", " ")
