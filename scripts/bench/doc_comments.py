"""Questions out of a file's own comments: the first sentence above a definition (or of its
docstring) asks for that definition, and its lines are blank in the copy that is indexed. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain

from cortex.indexer.syntax.outline import Outline, Span
from cortex.indexer.syntax.parse import TooComplex, parse
from cortex.indexer.syntax.source import Source, decode
from cortex.terms.languages import language_of
from cortex.terms.records import Symbol

#: words of a sentence that is asked
WORDS = range(6, 21)
#: questions of one file, and of one repository
FILE_MAX, REPOSITORY_MAX = 3, 40
#: lines that a definition has at least: of a shorter one a comment is most of what is known
LINES_MIN = 3
#: letters by which a sentence is known again: in a comment, lines have marks between them
COPIED = 30
_KINDS = frozenset("function method class struct interface trait enum type module".split())

_SENTENCE = re.compile(r"(.+?[.!?:])(?:\s|$)", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w'-]*")
#: what a comment says that is no sentence about what the definition does
_REFUSED = re.compile(
    r"@\w|\\\w|https?:|\b(?:todo|fixme|copyright|licen[cs]e|deprecated|see also|inherit\w*)\b|^[-=*#:>|]|[{}<>;=]|::",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DescribedDefinition:
    """A question for the definition in lines `start` to `end` of `path`; `blank` are the lines of
    its comment.
    """

    query: str
    path: str
    start: int
    end: int
    blank: tuple[int, ...]


def outline_of(path: str, raw: bytes) -> tuple[Source, Outline] | None:
    """The lines and the outline of a file of code; None where there is none."""
    source = decode(path, raw)
    if isinstance(source, str):
        return None
    try:
        return source, parse(source, language_of(path))
    except TooComplex:
        return None


def first_sentence(doc: str, name: str) -> str:
    """The first sentence of a comment, without the name of what it describes at its begin; "" for
    one that nobody would ask.
    """
    paragraph = " ".join(doc.split("\n\n", maxsplit=1)[0].split())
    match = _SENTENCE.match(paragraph)
    text = (match[1] if match else paragraph).rstrip(".!:").replace("`", "").strip()
    first, _, remainder = text.partition(" ")
    if first.strip("*_()").rpartition(".")[2] == name:
        text = remainder
    if _REFUSED.search(text) or not text.isascii() or len(_WORD.findall(text)) not in WORDS:
        return ""
    return text


def described_definitions(source: Source, outline: Outline) -> list[DescribedDefinition]:
    """Every definition of a file that a comment of its own describes in a sentence."""
    questions = []
    for symbol in outline.symbols:
        if symbol.kind not in _KINDS or symbol.end_line - symbol.start_line + 1 < LINES_MIN:
            continue
        query = first_sentence(symbol.doc, symbol.name)
        blank = _lines_of(symbol, outline.comments, source.lines) if query else ()
        if blank and symbol.name.lower() not in query.lower().split():
            questions.append(
                DescribedDefinition(query, source.path, symbol.start_line, symbol.end_line, blank)
            )
    return questions


def _lines_of(symbol: Symbol, comments: Iterable[Span], lines: tuple[str, ...]) -> tuple[int, ...]:
    """The lines of the comment that says `symbol.doc`, empty where it does not stand alone."""
    doc = symbol.doc.split("\n")
    near = range(symbol.start_line - 2 * len(doc) - 2, symbol.start_line + symbol.signature.count("\n") + 3)
    spans = [span for span in comments if span.start in near and span.text and span.text in symbol.doc]
    comment_lines = sorted(set(chain.from_iterable(range(span.start, span.end + 1) for span in spans)))
    text = "\n".join(lines[line - 1] for line in comment_lines)
    is_complete = all(doc_line.strip() in text for doc_line in doc if doc_line.strip())
    alone = all(_is_comment(lines[line - 1]) or _is_inside(line, spans) for line in comment_lines)
    return tuple(comment_lines) if is_complete and alone else ()


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] in ("#", "/", "*", '"', "'", "-", "{", "@", ";", "r", "")


def _is_inside(line: int, spans: Iterable[Span]) -> bool:
    return any(span.start < line <= span.end for span in spans)


def is_repeated(question: DescribedDefinition, texts: Mapping[str, str]) -> bool:
    """Whether another file's text, its blanks single, has the sentence too: there it stays."""
    begin = question.query[:COPIED]
    return any(begin in text for path, text in texts.items() if path != question.path)


def choose(candidates: Iterable[DescribedDefinition]) -> list[DescribedDefinition]:
    """FILE_MAX of each file, REPOSITORY_MAX in all: an even choice that is always the same."""
    order = sorted(
        candidates, key=lambda question: sha256(f"{question.path}\0{question.query}".encode()).digest()
    )
    choice: list[DescribedDefinition] = []
    queries: set[str] = set()
    for question in order:
        fits = sum(other.path == question.path for other in choice) < FILE_MAX
        if fits and question.query.lower() not in queries:
            queries.add(question.query.lower())
            choice.append(question)
    return choice[:REPOSITORY_MAX]


def blank_lines(raw: bytes, lines: Iterable[int]) -> bytes:
    """A file whose `lines` are empty; all other lines keep their numbers."""
    parts = raw.split(b"\n")
    for line in lines:
        parts[line - 1] = b""
    return b"\n".join(parts)
