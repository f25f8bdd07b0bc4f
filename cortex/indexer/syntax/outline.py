"""What is known of one file beside its lines, and the words of comments. Data only; parse.py and
keys.py fill it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cortex.terms.records import Symbol

#: characters of a signature that are kept; a type's whole body counts as one
SIGNATURE_CHARS_MAX = 6000

_MARKERS = re.compile(
    r"^\s*(?:///?!?|/\*+!?|\*+/|\*|#+[!:]?|<!--+|--+(?:\s*\||\s*\^)?|\{-+\s*\|?|;+|@\w*doc\s+(?:~[sS])?(?:\"\"\"|\")"
    r"|\"\"\"|'''|[rbuf]{1,2}\"\"\"|[rbuf]{1,2}''')[ \t]?",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:\*+/|-+\}|--+>|\"\"\"|''')\s*$")
#: the characters that those end with: most lines have none, and are not searched
_LAST = ("/", "}", ">", '"', "'")


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of something, 1-based and inclusive, with its text where it is of use."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of one file beside its lines. `symbols` and `comments` are in order of their
    first line; `imports` are the names of what the file imports, as they are written.
    """

    symbols: tuple[Symbol, ...] = ()
    comments: tuple[Span, ...] = ()
    attached: tuple[Span, ...] = ()
    splits: tuple[Span, ...] = ()
    headings: tuple[Span, ...] = ()
    fences: tuple[Span, ...] = ()
    imports: tuple[str, ...] = ()
    imports_count: int = 0
    package: str = ""
    #: whether the parser met text that it could not read
    errors: bool = False


def dedent(text: str) -> str:
    """`text` without the blanks that all its lines begin with (the first line's count where it is
    the least).
    """
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] if line.strip() else "" for line in lines) if margin else text


def plain_comment(text: str) -> str:
    """The words of a comment or docstring: without markers, blank lines and indentation."""
    return "\n".join(bare for line in text.split("\n") if (bare := _strip_markers(line)))


def _strip_markers(line: str) -> str:
    match = _MARKERS.match(line)
    line = (line[match.end() :] if match else line).rstrip()
    return (_ENDS.sub("", line) if line.endswith(_LAST) else line).strip()
