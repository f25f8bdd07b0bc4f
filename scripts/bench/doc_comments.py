"""Questions from a file's own comments: the first sentence above a definition asks for it.

A docstring's too; the comment's lines are blank in the copy that is indexed. Pure.
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

#: words of a sentence that becomes a question
WORDS = range(6, 21)
#: questions about one file, and about one repository
FILE_MAX, REPOSITORY_MAX = 3, 40
#: least lines of a definition: in a shorter one, the comment is most of the text
LINES_MIN = 3
#: letters that identify a sentence: in a comment, lines have marks between them
COPIED = 30
_KINDS = frozenset("function method class struct interface trait enum type module".split())

_SENTENCE = re.compile(r"(.+?[.!?:])(?:\s|$)", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w'-]*")
#: comments that do not describe the purpose of a definition
_REFUSED = re.compile(
    r"@\w|\\\w|https?:|\b(?:todo|fixme|copyright|licen[cs]e|deprecated|see also|inherit\w*)\b|^[-=*#:>|]|[{}<>;=]|::",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DescribedDefinition:
    """A question for the definition in lines `start` to `end` of `path`.

    `blank` are the lines of its comment.
    """

    query: str
    path: str
    start: int
    end: int
    blank: tuple[int, ...]


def outline_of(path: str, raw: bytes) -> tuple[Source, Outline] | None:
    """Return the lines and the outline of a file of code, None if it has none."""
    source = decode(path, raw)
    if isinstance(source, str):
        return None
    try:
        return source, parse(source, language_of(path))
    except TooComplex:
        return None


def first_sentence(doc: str, name: str) -> str:
    """Return the first sentence of a comment, without the described name at its beginning.

    "" for a sentence that nobody would ask.
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
    """Return every definition of a file with a comment that describes it in a sentence."""
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
    """Return the lines of the comment `symbol.doc`, empty if code is on the same lines."""
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
    """Return whether the text of another file has the sentence too, where it would remain."""
    begin = question.query[:COPIED]
    return any(begin in text for path, text in texts.items() if path != question.path)


def choose(candidates: Iterable[DescribedDefinition]) -> list[DescribedDefinition]:
    """Choose FILE_MAX of each file, REPOSITORY_MAX in all: evenly, and always the same."""
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
    """Return a file with empty `lines`; all other lines keep their numbers."""
    parts = raw.split(b"\n")
    for line in lines:
        parts[line - 1] = b""
    return b"\n".join(parts)
