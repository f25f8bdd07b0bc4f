"""Lines of chunks that match a keyword query: marked in the texts, with their places and numbers.
Pure; arrays, because thousands of lines may match.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cortex.engines.chunks.source import code_points
from cortex.engines.text.matches.highlight import Needle, check_match, find_spans, line_numbers
from cortex.engines.text.matches.scan import LINE_MARKS_MAX, mark_matches
from cortex.engines.text.matches.verify import Expression, Span, all_matches
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.records import covers
from ipc.messages import Hit

#: characters of a line in an answer; a longer one (minified code) is cut
LINE_CHARS = 200
#: most chunks that are marked between two checks of the clock
PORTION = 100
#: text between two chunks, which no match crosses
BORDER = f"\n{tokens.UNDERSCORE}\n"
#: the lines of a file are the low bits of a (file, line) number
_LINE_BITS = 32
#: kinds of letters of words; letters beyond ASCII are looked at one by one
_LOWER, _UPPER, _DIGIT, _WIDE = 1, 2, 3, 9


def _kind_of(letter: str) -> int:
    """The kind of a letter; 0 for one outside of the parts of words, as the underscore."""
    if not letter.isalnum():
        return 0
    if not letter.isascii():
        return _WIDE
    return _DIGIT if letter.isdigit() else _UPPER if letter.isupper() else _LOWER


#: code point up to 255 → its kind; all above count as 255
_LETTER_KINDS = np.array([_kind_of(chr(at)) for at in range(256)], np.uint8)


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


def mark_texts(
    raws: Sequence[bytes],
    expressions: Sequence[Expression],
    needles: list[list[Needle]],
    known_spans: Mapping[int, list[Span]],
    until: float,
) -> tuple[list[str], list[Array]]:
    """Mark matches in chunks until the time `until`, in the first chunk at least.

    Returns (texts of the marked chunks; for each of `expressions`, none of them excluded, and then
    of `needles` its spans, i64 [n, 2], in those texts, joined by `join_texts`). `raws`: the texts
    as stored; `known_spans`: index of a chunk → spans in its bytes that its text alone does not
    show.
    """
    marks: list[list[Array]] = [[np.zeros((0, 2), np.int64)] for _ in range(len(expressions) + len(needles))]
    texts: list[str] = []
    place = 0
    in_words = not expressions and all(needle.source for leaf_needles in needles for needle in leaf_needles)
    in_lines = not (needles or known_spans) and all(expression.by_lines for expression in expressions)
    while len(texts) < len(raws) and (not texts or time.monotonic() < until):
        done = len(texts)
        size = max(1, min(done, PORTION)) if in_words or in_lines else 1
        some = raws[done : done + size]
        new_texts = [raw[:-1].decode() for raw in some]
        if in_lines:
            new_marks = _mark_lines(some, expressions)
        elif in_words:
            new_marks = find_in_all(join_texts(new_texts), needles)
        else:
            spans = _mark_text(new_texts[0], expressions, needles, known_spans.get(done, []))
            new_marks = [np.array(leaf_spans, np.int64).reshape(-1, 2) for leaf_spans in spans]
        for leaf_marks, more in zip(marks, new_marks, strict=True):
            leaf_marks.append(more + place)
        texts += new_texts
        place += sum(map(len, new_texts)) + len(new_texts) * len(BORDER)
    return texts, list(map(np.concatenate, marks))


def _mark_text(
    text: str, expressions: Sequence[Expression], needles: list[list[Needle]], known_spans: list[Span]
) -> list[list[Span]]:
    marks = mark_matches(text, expressions, known_spans, LINE_MARKS_MAX)
    over = marks[len(expressions) :]  # matches that cross the end of a chunk, of any expression
    marks = [
        [*leaf_marks, *(span for extra in over for span in extra)] for leaf_marks in marks[: len(expressions)]
    ]
    return marks + find_spans(text, needles, lines=LINE_MARKS_MAX, most=LINE_MARKS_MAX)


def _mark_lines(raws: Sequence[bytes], expressions: Sequence[Expression]) -> list[Array]:
    """For each expression its spans in texts that are searched side by side."""
    data = b"".join(raws)
    ends = np.cumsum([len(raw) for raw in raws], dtype=np.int64)
    before = np.zeros(len(data) + 1, np.int64)  # characters before each byte
    np.cumsum(np.frombuffer(data, np.uint8) & 0xC0 != 0x80, out=before[1:])
    # in the joined text each text loses a line feed and gains a border
    shift = np.arange(len(raws)) * (len(BORDER) - 1)
    out: list[Array] = []
    for expression in expressions:
        spans: Array = all_matches(expression, data, ends, LINE_MARKS_MAX)
        rows = np.searchsorted(ends, spans[:, 0], side="right")
        out.append(before[spans] + shift[rows, None])
    return out


def find_in_all(texts: JoinedTexts, leaves: list[list[Needle]]) -> list[Array]:
    """For each leaf the spans (i64 [n, 2]) that its needles, which all have a source, mark in the
    joined texts of several chunks.
    """
    every: list[Array] = []
    for needles in leaves:
        out = [np.zeros((0, 2), np.int64)]
        has_match = np.zeros(len(texts.parts), bool)
        for needle in needles:
            chunks = (~has_match).nonzero()[0] if needle.spare else np.arange(len(has_match))
            if not len(chunks) or needle.source is None:
                continue
            some = join_texts([texts.parts[at] for at in chunks.tolist()]) if needle.spare else texts
            matches = _find_matches(needle, needle.source, some)
            place = some.chunks_at(matches[:, 0])
            has_match[chunks[place]] = True
            out.append(matches + (texts.starts[chunks] - some.starts)[place, None])
        every.append(np.concatenate(out))
    return every


def _find_matches(needle: Needle, source: re.Pattern[str], texts: JoinedTexts) -> Array:
    """The spans that a needle marks, i64 [n, 2], in any order; the edges of words are compared as
    arrays.
    """
    text = texts.text
    matches = [match.span() for match in source.finditer(texts.lower)]
    pairs = np.array(matches, np.int64).reshape(-1, 2)
    is_word = np.array([text[start:end].isalnum() for start, end in matches], bool)
    hard, easy = ~is_word, is_word
    if needle.parts and matches:
        inside, at_edge, unsure = _edges(np.minimum(code_points(text), 255), pairs)
        hard = ~is_word | unsure.any(axis=1) | (inside[:, 1] & needle.prefix)
        easy = ~hard & at_edge.all(axis=1)
    spans = [span for at in hard.nonzero()[0].tolist() for span in check_match(needle, text, *matches[at])]
    return np.concatenate([pairs[easy], np.array(spans, np.int64).reshape(-1, 2)])


def _edges(letters: Array, places: Array) -> tuple[Array, Array, Array]:
    """Whether each of the places is inside a word, whether a part of a word may begin or end there,
    and whether that depends on letters beyond ASCII.
    """
    padded = np.concatenate([[0], _LETTER_KINDS[letters], [0, 0]])
    before, here, after = padded[places], padded[places + 1], padded[places + 2]
    inside = (before > 0) & (here > 0)
    changes = (before != here) & ~((before == _UPPER) & (here == _LOWER))
    ends_capitals = (before == _UPPER) & (here == _UPPER) & (after == _LOWER)
    unsure = inside & (np.maximum(np.maximum(before, here), after) == _WIDE)
    return inside, ~inside | changes | ends_capitals, unsure


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
