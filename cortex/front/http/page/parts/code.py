"""Code for the page: lines of pieces, each with the class of its colour, matches marked.

There is no markup here: the templates write it, and escape every piece.
"""

import bisect
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

#: maximum of characters of a coloured text: lexers may be slow; longer ones are plain
COLOURED_MAX = 20_000
#: the same for a whole file, which is coloured once, in a thread
FILE_COLOURED_MAX = 400_000
#: our names of languages → Pygments'
NAMES = {"csharp": "c#", "tsx": "tsx", "shell": "bash", "vue": "html", "protobuf": "protobuf"}
#: delimiter of strings over several lines
QUOTES = '"""'
#: minimum of characters of a marked word
WORD_MIN = 3

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line; `css`: class of its colour, "" for none."""

    text: str
    css: str
    marked: bool


@dataclass(frozen=True, slots=True)
class CodeLine:
    number: int
    pieces: tuple[Piece, ...]
    hit: bool


def lines_of(
    text: str, language: str, first: int, spans: Iterable[Span] = (), *, is_file: bool = False
) -> list[CodeLine]:
    """Return numbered lines; `spans`: marked (start, end); `is_file`: `text` begins the file."""
    marks = _merge_spans(spans)
    lines: list[CodeLine] = []
    pieces: list[Piece] = []
    for piece in _pieces(_colour(text, language, is_file=is_file), text, marks):
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
    """Return the places of `words` in `text`, in any case; `includes_short`: below WORD_MIN too."""
    wanted = sorted({re.escape(word) for word in words if includes_short or len(word) >= WORD_MIN}, key=len)
    if not wanted:
        return []
    return [match.span() for match in re.finditer("|".join(reversed(wanted)), text, re.IGNORECASE)]


def _line(number: int, pieces: list[Piece]) -> CodeLine:
    return CodeLine(number, tuple(pieces), any(piece.marked for piece in pieces))


def _pieces(coloured: Iterable[tuple[str, str]], text: str, marks: list[Span]) -> Iterator[Piece]:
    starts = [start for start, _ in marks]
    at = 0
    for css, segment in coloured:
        begin, end = at, at + len(segment)
        at = end
        while begin < end:
            index = bisect.bisect_right(starts, begin) - 1
            marked = index >= 0 and begin < marks[index][1]
            until = marks[index][1] if marked else starts[index + 1] if index + 1 < len(starts) else end
            until = min(until, end)
            yield Piece(text[begin:until], css, marked)
            begin = until


def _colour(text: str, language: str, *, is_file: bool) -> Iterator[tuple[str, str]]:
    """Yield (class, piece) for all of `text`."""
    if len(text) > (FILE_COLOURED_MAX if is_file else COLOURED_MAX):
        yield "", text
        return
    before = "" if is_file else _opened_before(text)
    left = len(before)
    for kind, segment in _lexer(language).get_tokens(before + text):
        if len(segment) > left:
            yield _css(kind), segment[left:]
        left = max(0, left - len(segment))


def _opened_before(text: str) -> str:
    """Return the opening delimiter of the string or comment in which `text` begins, "" for none."""
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
    """Return a pygments.lexer.Lexer; imported here, as a server without visitors needs none."""
    from pygments.lexers import get_lexer_by_name
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    options = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(NAMES.get(language, language or "text"), **options)
    except ClassNotFound:
        return TextLexer(**options)


def _css(kind: Any) -> str:
    """Return the class of the token type, or of its nearest parent with a class."""
    from pygments.token import STANDARD_TYPES

    while kind is not None and kind not in STANDARD_TYPES:
        kind = kind.parent
    css: str = STANDARD_TYPES.get(kind, "")
    return css


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans sorted, overlapping ones merged."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged
