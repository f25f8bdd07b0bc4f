"""The lines of chunks in which a keyword query matches: which, where they begin, their numbers.
Pure; thousands of lines are arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from cortex.engines.text.highlight import Span, line_numbers
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.records import covers
from ipc.messages import Hit

#: characters of a line that are shown; a longer one (minified code) is cut
LINE_CHARS = 200
#: between the texts of two chunks: nothing that is looked for matches across it
BORDER = f"\n{tokens.UNDERSCORE}\n"
#: the lines of a file are the low bits of a (file, line) number
_LINE_BITS = 32


@dataclass(frozen=True)
class JoinedTexts:
    """Texts one after the other, with BORDER between them."""

    text: str
    starts: Array  #: i64: where each of them begins

    @cached_property
    def line_ends(self) -> Array:
        """I64: where the lines end."""
        return np.append(_line_feeds(self.text), len(self.text))

    def lines_at(self, places: Array) -> Array:
        """I64: the line of the whole text, 0-based, that each place lies in."""
        return np.searchsorted(self.line_ends, places)

    def chunks_at(self, places: Array) -> Array:
        """I64: the one that each place of the text lies in."""
        return np.searchsorted(self.starts, places, side="right") - 1

    def chunk_text(self, at: int) -> str:
        last = at + 1 == len(self.starts)
        return self.text[self.starts[at] : None if last else self.starts[at + 1] - len(BORDER)]

    def line(self, place: int) -> str:
        """The line that begins at `place`, as it is shown."""
        end = self.text.find("\n", place)
        return self.text[place : end if end >= 0 else len(self.text)].strip()[:LINE_CHARS]


def join_texts(texts: Sequence[str]) -> JoinedTexts:
    sizes = np.array([len(text) + len(BORDER) for text in texts], np.int64)
    return JoinedTexts(BORDER.join(texts), np.cumsum(sizes) - sizes)


@dataclass(frozen=True, slots=True)
class Body:
    """Chunks with their texts."""

    texts: JoinedTexts
    hits: Sequence[Hit]
    scores: Sequence[float]
    ordinals: Array  #: i64 [chunks]

    @property
    def text(self) -> str:
        return self.texts.text


@dataclass(frozen=True, slots=True)
class Marked:
    """The lines of a body that are marked, each line of a file once, chunk by chunk."""

    chunks: Array  #: i64: the chunk
    lines: Array  #: i64: the line in the body's text
    numbers: Array  #: i64: the line in its file; 0 where it is none of it
    begins: Array  #: i64: where the line begins in the body's text
    starts: Array  #: i64: where its first span begins
    ends: Array  #: i64: and ends

    def __len__(self) -> int:
        return len(self.chunks)


def marked_lines(body: Body, spans: Iterable[Span]) -> Marked:
    """The lines that have a span; of a chunk that has none, its first one that says anything."""
    starts = body.texts.starts
    ends = body.texts.line_ends
    pairs = np.fromiter(chain.from_iterable(spans), np.int64).reshape(-1, 2)
    pairs = pairs[np.lexsort((-pairs[:, 1], pairs[:, 0]))]
    unmarked = np.setdiff1d(np.arange(len(body.hits)), body.texts.chunks_at(pairs[:, 0]))
    if len(unmarked):
        first_lines = np.array([_first_line(body, chunk) for chunk in unmarked.tolist()], np.int64)
        pairs = np.concatenate([pairs, np.stack((first_lines, first_lines), axis=1)])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    lines, first = np.unique(body.texts.lines_at(pairs[:, 0]), return_index=True)
    pairs = pairs[first]
    chunks = body.texts.chunks_at(pairs[:, 0])
    numbers = _file_numbers(body, chunks, lines - np.searchsorted(ends, starts)[chunks])
    paths: dict[str, int] = {}
    files = np.array([paths.setdefault(hit.path, len(paths)) for hit in body.hits], np.int64)[chunks]
    same = np.where(numbers > 0, files << _LINE_BITS | numbers, -1 - lines)  # what has none is itself
    _, once = np.unique(same, return_index=True)
    once.sort()
    begins = np.where(lines > 0, ends[lines - 1] + 1, 0)
    return Marked(chunks[once], lines[once], numbers[once], begins[once], *pairs[once].T)


def _line_feeds(text: str) -> Array:
    """I64: where the line feeds are."""
    if text.isascii():
        return np.flatnonzero(np.frombuffer(text.encode("ascii"), np.uint8) == ord("\n"))
    return np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == ord("\n"))


def _first_line(body: Body, chunk: int) -> int:
    text = body.texts.chunk_text(chunk)
    place = len(text) - len(text.lstrip()) if text.strip() else 0
    return int(body.texts.starts[chunk]) + text.rfind("\n", 0, place) + 1


def _file_numbers(body: Body, chunks: Array, lines: Array) -> Array:
    """The line in the file of each line of a chunk; 0 where it is none of it."""
    tiles = np.array([covers(hit.chunk_type) for hit in body.hits], bool)
    firsts = np.array([max(hit.start_line, 1) for hit in body.hits], np.int64)
    numbers: Array = firsts[chunks] + lines
    views = np.flatnonzero(~tiles[chunks])
    view_numbers: dict[int, list[int]] = {}
    for at in views.tolist():
        chunk = int(chunks[at])
        if chunk not in view_numbers:
            hit = body.hits[chunk]
            view_numbers[chunk] = line_numbers(body.texts.chunk_text(chunk), hit.chunk_type, hit.start_line)
        numbers[at] = view_numbers[chunk][lines[at]]
    return numbers
