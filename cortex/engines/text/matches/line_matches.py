"""Lines of chunks that match a keyword query: their places and numbers. Pure; arrays, because
thousands of lines may match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cortex.engines.chunks.source import code_points
from cortex.engines.text.matches.highlight import line_numbers
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.records import covers
from ipc.messages import Hit

#: characters of a line in an answer; a longer one (minified code) is cut
LINE_CHARS = 200
#: text between two chunks, which no match crosses
BORDER = f"\n{tokens.UNDERSCORE}\n"
#: the lines of a file are the low bits of a (file, line) number
_LINE_BITS = 32


@dataclass(frozen=True)
class JoinedTexts:
    """Texts one after the other, with BORDER between them."""

    parts: Sequence[str]
    text: str
    starts: Array  #: i64: offset of each text

    @cached_property
    def lower(self) -> str:
        """`tokens.lowered` of the text, part by part: most are ASCII, but BORDER is not."""
        return BORDER.join(map(tokens.lowered, self.parts))

    @cached_property
    def line_ends(self) -> Array:
        """The offsets of the lines' ends, i64."""
        return np.append((code_points(self.text) == ord("\n")).nonzero()[0], len(self.text))

    def lines_at(self, places: Array) -> Array:
        """The 0-based line of the joined text at each place, i64."""
        return np.searchsorted(self.line_ends, places)

    def chunks_at(self, places: Array) -> Array:
        """The index of the text at each place, i64."""
        return np.searchsorted(self.starts, places, side="right") - 1


def join_texts(texts: Sequence[str]) -> JoinedTexts:
    sizes = np.array([len(text) + len(BORDER) for text in texts], np.int64)
    return JoinedTexts(texts, BORDER.join(texts), np.cumsum(sizes) - sizes)


@dataclass(frozen=True)
class Body:
    """Chunks with their texts."""

    texts: JoinedTexts
    hits: Sequence[Hit]
    scores: Sequence[float]
    ordinals: Array  #: i64 [chunks]

    @property
    def text(self) -> str:
        return self.texts.text

    @cached_property
    def files(self) -> list[str]:
        """The path of each chunk in its project."""
        return [hit.file for hit in self.hits]

    @cached_property
    def file_ranks(self) -> Array:
        """i64 [chunks]: the place of each chunk's path among the sorted paths."""
        paths = [hit.path for hit in self.hits]
        ranks = {path: rank for rank, path in enumerate(sorted(set(paths)))}
        return np.array(list(map(ranks.__getitem__, paths)), np.int64)


@dataclass(frozen=True, slots=True)
class Marked:
    """The marked lines of a body, each line of a file once, chunk by chunk."""

    chunks: Array  #: i64: index of the chunk
    lines: Array  #: i64: the line in the body's text
    numbers: Array  #: i64: the line in its file; 0 if it is not in the file
    begins: Array  #: i64: offset of the line in the body's text
    texts: Sequence[str]  #: the line, cut for an answer
    starts: Array  #: i64: begin of its first span
    ends: Array  #: i64: end of that span

    def __len__(self) -> int:
        return len(self.chunks)

    def at(self, body: Body, places: Sequence[int]) -> Iterator[tuple[str, int, str]]:
        """Yield (path, number, text) of the lines `places`: an array is read once for all."""
        paths = (body.hits[chunk].path for chunk in self.chunks[places].tolist())
        texts = map(self.texts.__getitem__, places)
        return zip(paths, self.numbers[places].tolist(), texts, strict=True)


def marked_lines(body: Body, spans: Iterable[Array]) -> Marked:
    """The lines with a span (each of `spans` is i64 [n, 2]); for a chunk without spans its first
    line that is not blank.
    """
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *spans])
    starts = body.texts.starts
    ends = body.texts.line_ends
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
    files = body.file_ranks[chunks]
    same = np.where(numbers > 0, files << _LINE_BITS | numbers, -1 - lines)  # unique without a number
    _, once = np.unique(same, return_index=True)
    once.sort()
    lines, text = lines[once], body.text
    begins = np.where(lines > 0, ends[lines - 1] + 1, 0)
    texts = [
        text[a:b].strip()[:LINE_CHARS] for a, b in zip(begins.tolist(), ends[lines].tolist(), strict=True)
    ]
    return Marked(chunks[once], lines, numbers[once], begins, texts, *pairs[once].T)


def _first_line(body: Body, chunk: int) -> int:
    text = body.texts.parts[chunk]
    place = len(text) - len(text.lstrip()) if text.strip() else 0
    return int(body.texts.starts[chunk]) + text.rfind("\n", 0, place) + 1


def _file_numbers(body: Body, chunks: Array, lines: Array) -> Array:
    """The line in the file of each line of a chunk; 0 if it is not in the file."""
    tiles = np.array([covers(hit.chunk_type) for hit in body.hits], bool)
    firsts = np.array([max(hit.start_line, 1) for hit in body.hits], np.int64)
    numbers: Array = firsts[chunks] + lines
    views = np.flatnonzero(~tiles[chunks])
    view_numbers: dict[int, list[int]] = {}
    for at in views.tolist():
        chunk = int(chunks[at])
        if chunk not in view_numbers:
            hit = body.hits[chunk]
            view_numbers[chunk] = line_numbers(body.texts.parts[chunk], hit.chunk_type, hit.start_line)
        numbers[at] = view_numbers[chunk][lines[at]]
    return numbers
