"""The outline of one file, and the words of comments. Data only; parse.py and keys.py fill it."""

import re
from dataclasses import dataclass

from cortex.terms.records import Symbol

#: longest signature in characters; a type's complete body counts as its signature
SIGNATURE_CHARS_MAX = 6000

_MARKERS = re.compile(
    r"^\s*(?:///?!?|/\*+!?|\*+/|\*|#+[!:]?|<!--+|--+(?:\s*\||\s*\^)?|\{-+\s*\|?|;+|@\w*doc\s+(?:~[sS])?(?:\"\"\"|\")"
    r"|\"\"\"|'''|[rbuf]{1,2}\"\"\"|[rbuf]{1,2}''')[ \t]?",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:\*+/|-+\}|--+>|\"\"\"|''')\s*$")
#: last characters of the ends: most lines have none, and are not searched
_LAST = ("/", "}", ">", '"', "'")


@dataclass(frozen=True, slots=True)
class Span:
    """A range of lines, 1-based and inclusive, with its text where needed."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """A file's structure: `symbols` and `comments` by first line; `imports`: names as written."""

    symbols: tuple[Symbol, ...] = ()
    comments: tuple[Span, ...] = ()
    attached: tuple[Span, ...] = ()
    splits: tuple[Span, ...] = ()
    headings: tuple[Span, ...] = ()
    fences: tuple[Span, ...] = ()
    imports: tuple[str, ...] = ()
    imports_count: int = 0
    package: str = ""
    #: whether the parser found syntax errors, and a sentence about the lines that it did not read
    errors: bool = False
    unread: str = ""


def dedent(text: str) -> str:
    """Return `text` without its lines' common indentation (the first's if it is the least)."""
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] if line.strip() else "" for line in lines) if margin else text


def plain_comment(text: str) -> str:
    """Return the words of a comment or docstring: without markers, blank lines and indentation."""
    return "\n".join(bare for line in text.split("\n") if (bare := _strip_markers(line)))


def _strip_markers(line: str) -> str:
    match = _MARKERS.match(line)
    line = (line[match.end() :] if match else line).rstrip()
    return (_ENDS.sub("", line) if line.endswith(_LAST) else line).strip()
