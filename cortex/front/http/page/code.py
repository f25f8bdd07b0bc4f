"""Code as the page shows it: lines of pieces, each with its colour's class, matches marked.

Nothing here is markup: the templates write it out, and escape every piece.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

#: characters that are coloured; what is longer is shown plain, for a lexer may take its time
COLOURED_MAX = 20_000
#: our names of languages → Pygments', where they differ
NAMES = {"csharp": "c#", "tsx": "tsx", "shell": "bash", "vue": "html", "protobuf": "protobuf"}
#: what opens and closes a text over several lines
QUOTES = '"""'
#: words that are too short to be marked
WORD_MIN = 3

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line: `css` is the class of its colour, "" for none."""

    text: str
    css: str
    marked: bool


@dataclass(frozen=True, slots=True)
class CodeLine:
    number: int
    pieces: tuple[Piece, ...]
    hit: bool


def lines_of(text: str, language: str, first: int, spans: Iterable[Span] = ()) -> list[CodeLine]:
    """The lines of `text`, the first of which has the number `first`; `spans`: what is marked, as
    (start, end) in `text`.
    """
    marks = _merge_spans(spans)
    lines: list[CodeLine] = []
    pieces: list[Piece] = []
    for piece in _pieces(text, language, marks):
        for at, line_text in enumerate(piece.text.split("\n")):
            if at:
                lines.append(_line(first + len(lines), pieces))
                pieces = []
            if line_text:
                pieces.append(Piece(line_text, piece.css, piece.marked))
    lines.append(_line(first + len(lines), pieces))
    while len(lines) > 1 and not "".join(piece.text for piece in lines[-1].pieces).strip():
        lines.pop()
    return lines


def spans_of(text: str, words: Iterable[str], *, includes_short: bool = False) -> list[Span]:
    """Where `words` stand in `text`, in any case; `includes_short`: also where one is not alone."""
    wanted = sorted({re.escape(word) for word in words if includes_short or len(word) >= WORD_MIN}, key=len)
    if not wanted:
        return []
    return [match.span() for match in re.finditer("|".join(reversed(wanted)), text, re.IGNORECASE)]


def _line(number: int, pieces: list[Piece]) -> CodeLine:
    return CodeLine(number, tuple(pieces), any(piece.marked for piece in pieces))


def _pieces(text: str, language: str, marks: list[Span]) -> Iterator[Piece]:
    starts = [start for start, _ in marks]
    at = 0
    for css, segment in _colour(text, language):
        begin, end = at, at + len(segment)
        at = end
        while begin < end:
            index = bisect.bisect_right(starts, begin) - 1
            marked = index >= 0 and begin < marks[index][1]
            until = marks[index][1] if marked else starts[index + 1] if index + 1 < len(starts) else end
            until = min(until, end)
            yield Piece(text[begin:until], css, marked)
            begin = until


def _colour(text: str, language: str) -> Iterator[tuple[str, str]]:
    """(class, piece) of all of `text`."""
    if len(text) > COLOURED_MAX:
        yield "", text
        return
    before = _opened_before(text)
    left = len(before)
    for kind, segment in _lexer(language).get_tokens(before + text):
        if len(segment) > left:
            yield _css(kind), segment[left:]
        left = max(0, left - len(segment))


def _opened_before(text: str) -> str:
    """What opened the text or comment in whose middle `text` begins; "" where it begins in none."""
    if "*/" in text and not 0 <= text.find("/*") < text.find("*/"):
        return "/*"
    before_quotes, _, after = text.partition(QUOTES)
    line, _, below = after.partition("\n")
    if text.count(QUOTES) % 2 == 0 or line.strip():
        return ""
    follows_code = any(sign in below.partition("\n")[0] for sign in "=():[")
    return QUOTES if before_quotes.strip() or follows_code else ""


@functools.lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    """A pygments.lexer.Lexer, imported here: a server whose page nobody looks at needs none."""
    from pygments.lexers import get_lexer_by_name
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    options = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(NAMES.get(language, language or "text"), **options)
    except ClassNotFound:
        return TextLexer(**options)


def _css(kind: Any) -> str:
    """The class of the nearest kind that has one."""
    from pygments.token import STANDARD_TYPES

    while kind is not None and kind not in STANDARD_TYPES:
        kind = kind.parent
    css: str = STANDARD_TYPES.get(kind, "")
    return css


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """In their order, none over another."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged
