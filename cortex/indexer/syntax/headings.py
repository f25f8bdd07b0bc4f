"""Headings of documents, for Markdown from the outline, for reStructuredText and AsciiDoc without a
grammar. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cortex.indexer.syntax.outline import Outline, Span

_MARKDOWN = re.compile(r"^\s{0,3}(#{1,6})(?:\s+|$)(.*?)(?:\s+#+)?\s*$")
_UNDERLINE = re.compile(r"^\s{0,3}(=+|-+)\s*$")
#: marks of the lists and quotes around a line of Markdown
_CONTAINERS = re.compile(r"^\s*(?:(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s))\s*)+")
#: characters of a title: it stands in each chunk of its section
TITLE_CHARS_MAX = 200
_ASCIIDOC = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$")
#: delimiters of AsciiDoc blocks without headings
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|`{3,}|\|={3,})\s*$")
_ORNAMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """`start` is its first line, 1-based; `body` the 0-based line of the text after it."""

    start: int
    level: int
    title: str
    body: int


def headings(language: str, lines: Sequence[str], outline: Outline) -> list[Heading]:
    """Return the headings in order; none for plain text."""
    all_headings: Iterable[Heading]
    if language == "restructuredtext":
        all_headings = _restructuredtext(lines)
    elif language == "asciidoc":
        all_headings = _asciidoc(lines)
    else:
        all_headings = (_markdown(lines, span) for span in outline.headings)
    return [replace(heading, title=heading.title[:TITLE_CHARS_MAX].rstrip()) for heading in all_headings]


def _markdown(lines: Sequence[str], span: Span) -> Heading:
    """Return the heading at a span: one line (ATX), or up to the underline (setext)."""
    start = span.start
    inner = [_CONTAINERS.sub("", line).strip() for line in lines[start - 1 : span.end]]
    if match := _MARKDOWN.match(inner[0]):
        return Heading(start, len(match[1]), match[2], start)
    last = next((at for at, line in enumerate(inner) if at and _UNDERLINE.match(line)), 1)
    level = 1 if inner[last : last + 1] and inner[last].startswith("=") else 2
    return Heading(start, level, " ".join(" ".join(inner[:last]).split()), min(start + last, len(lines)))


def _asciidoc(lines: Sequence[str]) -> Iterator[Heading]:
    inside = ""
    for number, line in enumerate(lines, 1):
        if delimiter := _DELIMITER.match(line):
            inside = "" if inside == delimiter[1] else inside or delimiter[1]
        elif not inside and (match := _ASCIIDOC.match(line)):
            yield Heading(number, len(match[1]), match[2], number)


def _restructuredtext(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings. A title has a line of one repeated punctuation character below it, as
    long as the title, and perhaps the same above; the order in which such ornaments first occur
    gives the levels. Titles begin at the left margin.
    """
    levels: list[tuple[str, bool]] = []
    at = 0
    while at < len(lines):
        over = _ornament(lines, at)
        if over and _is_title(lines, at + 1, over) and _ornament(lines, at + 2) == over:
            title, start, body = lines[at + 1], at + 1, at + 3
        elif not over and _is_title(lines, at, below := _ornament(lines, at + 1)) and _blank(lines, at - 1):
            title, start, body, over = lines[at], at + 1, at + 2, below[0]
        else:
            at += 1
            continue
        style = (over[0], len(over) > 1)
        if style not in levels:
            levels.append(style)
        yield Heading(start, levels.index(style) + 1, title.strip(), body)
        at = body


def _ornament(lines: Sequence[str], at: int) -> str:
    line = lines[at].rstrip() if 0 <= at < len(lines) else ""
    return line if _ORNAMENT.match(line) else ""


def _is_title(lines: Sequence[str], at: int, ornament: str) -> bool:
    if not ornament or at >= len(lines) or not lines[at].strip() or _ORNAMENT.match(lines[at]):
        return False
    margin = len(ornament) > 0 and lines[at][:1].isspace() and _ornament(lines, at - 1) != ornament
    return not margin and len(ornament) >= len(lines[at].rstrip())


def _blank(lines: Sequence[str], at: int) -> bool:
    return at < 0 or not lines[at].strip()
