"""The lines of a definition that an answer shows: all of it, or its signature, an outline of its
blocks, and the blocks that answer. A statement is shown whole or not at all.

A block inside others is shown with their own lines: `if`, `else`, `except` and closing brackets, so
that no line seems unconditional. Every other line with text is in a row of the outline. Pure.
"""

import functools
import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from cortex.ask.exploring.query_words import TermFinder
from cortex.ask.lines.indented_blocks import (
    SIGNATURE_LINES_MAX,
    Block,
    find_blocks,
    indentation_of,
    is_closing,
    signature_end,
)
from cortex.ranking.lines import comments_of

#: lines up to which a definition is shown whole, if it fits
WHOLE_LINES = 60
#: blocks of one definition that are shown, where the caller sets no bounds
BLOCKS_MAX = 5
#: lines that are gone through to find room for blocks: a table of 17 000 lines has 2 000 blocks
LINES_TRIED_MAX = 200_000
#: lines of an outline, likewise, and the letters of each
OUTLINE_MAX, OUTLINE_CHARS = 12, 72
#: lines of an outline that leaves room for a first block
SHORT_OUTLINES = (24, 8, 3)
#: ends of lines that go on in the next
_OPEN = ("(", "[", ",")
#: worth of a line that the question names; all words of the question are worth 1
FOCUS = 3.0
#: lines of a long docstring that are shown, up to its first blank line
DOC_LINES = 3
#: bytes of a line's number and of its end
NUMBER_BYTES = 6

#: beginnings of comments, decorators and attributes, which say little in an outline
_ASIDE = ("//", "/*", "*", "#", "@", "--")
#: depth of a block above the signature
DECORATOR = -1
#: beginnings of a docstring
_QUOTES = ('"""', "'''", 'r"""', "r'''")


class Row(NamedTuple):
    """A row of the outline: its first and last line, and the beginning of their code, indented."""

    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Pieces:
    """The shown lines: (first number, text) of each piece, ascending; `outline`: the rows of all
    other lines. `is_whole`: all code is shown; the rows are nested definitions and docstrings.
    """

    pieces: tuple[tuple[int, str], ...] = ()
    outline: tuple[Row, ...] = ()
    is_whole: bool = False

    @functools.cached_property
    def size(self) -> int:
        """Bytes of the text that an agent gets."""
        shown = sum(map(_bytes_of, (line for _, text in self.pieces for line in text.split("\n"))))
        return shown + sum(len(row.text.encode()) + 2 * NUMBER_BYTES for row in self.outline)

    def entry(self) -> dict[str, Any]:
        """Return the fields of an answer's entry."""
        fields: dict[str, Any] = {"pieces": [{"start": start, "text": text} for start, text in self.pieces]}
        if self.outline:
            fields["outline"] = [
                {"start": first, "end": last, "text": text} for first, last, text in self.outline
            ]
        return fields


@dataclass(frozen=True, slots=True)
class Bounds:
    """The blocks of one definition that are shown at most, and the lines of its outline: more only
    where lines are shown between them.
    """

    blocks: int = BLOCKS_MAX
    outline: int = OUTLINE_MAX
    #: share of the best block's worth that another needs
    share: float = 0.0
    #: lines up to which the definition is shown whole
    whole_lines: int = WHOLE_LINES
    #: whether blocks behind one that does not fit are left out
    in_order: bool = False


@dataclass(frozen=True)
class Body:
    """A definition to show: its `lines` by number, ascending; the line of its head; its blocks.
    `focus`: lines that the question names. `apart`: lines of nested definitions that are not shown.
    `doc_lines`: lines of a docstring from which on its beginning alone is shown; 0 for all of it.
    """

    lines: Mapping[int, str]
    head: int
    blocks: Sequence[Block] = ()
    focus: Sequence[int] = field(default=())
    apart: Collection[int] = frozenset()
    doc_lines: int = 0

    @functools.cached_property
    def own_lines(self) -> dict[int, str]:
        """The lines without those of nested definitions."""
        return {number: text for number, text in self.lines.items() if number not in self.apart}


class _View(NamedTuple):
    """A definition with its blocks by line, the rows of its outline at most, and the lines of its
    docstrings that are not shown, and of the decorators among its blocks.
    """

    body: Body
    blocks: Sequence[Block]
    outline: int
    doc_ends: Collection[int]
    decorators: Collection[int] = frozenset()

    def show(self, shown: Collection[int]) -> Pieces:
        """Return the pieces of the `shown` lines, and of the closing brackets right behind them."""
        gaps: list[list[int]] = []
        closing: list[list[int]] = []
        for gap in _gaps(self.body, shown):
            (closing if self._is_closing(gap, shown) else gaps).append(gap)
        numbers = sorted(set(shown).union(*closing))
        return Pieces(tuple(_runs(self.body.lines, _with_blanks(self.body, numbers))), _outline(self, gaps))

    def _is_closing(self, gap: Sequence[int], shown: Collection[int]) -> bool:
        """Whether a gap closes what the shown lines right above it have opened."""
        lines, before = self.body.lines, gap[0] - 1
        while not lines.get(before, "-").strip():
            before -= 1
        return before in shown and all(_is_end(lines[line]) for line in gap)


def show_whole(body: Body, outline: int = OUTLINE_MAX) -> Pieces:
    """Return all lines of a definition but the end of a long docstring."""
    return _show_all(_View(body, (), outline, _doc_ends(body)))


def _show_all(view: _View) -> Pieces:
    shown = view.body.own_lines.keys() - view.doc_ends
    return replace(view.show(shown), is_whole=True)


def choose_pieces(
    body: Body, words: Mapping[str, float], wanted: TermFinder, max_bytes: int, bounds: Bounds = Bounds()
) -> Pieces:
    """Return what fits into `max_bytes`: the whole definition, else its signature with an outline
    and its best blocks; nothing where not even those fit. `words`: word of the question → worth.
    """
    own_lines = body.own_lines
    view = _View(body, (), bounds.outline, _doc_ends(body))
    if (
        len(own_lines) <= bounds.whole_lines
        and _least_bytes(body, own_lines.keys() - view.doc_ends) <= max_bytes
    ):
        all_lines = _show_all(view)
        if all_lines.size <= max_bytes:
            return all_lines
    blocks = [
        block for block in body.blocks if any(line in own_lines for line in range(block[0], block[1] + 1))
    ]
    blocks = blocks or find_blocks(own_lines, body.head)
    if not blocks:
        all_lines = _show_all(view)
        return all_lines if all_lines.size <= max_bytes else Pieces()
    blocks = [*blocks, *_decorators(body, min(block[0] for block in blocks))]
    worth = _worth_of(body, own_lines, blocks, words, wanted)
    least = bounds.share * max(worth)
    order = sorted((at for at in range(len(blocks)) if worth[at] > 0), key=lambda at: (-worth[at], at))
    order = [at for at in order if worth[at] >= least]
    view = view._replace(
        blocks=sorted(blocks, key=lambda block: (block[0], block[2])),
        decorators={
            line for first, last, depth in blocks if depth == DECORATOR for line in range(first, last + 1)
        },
    )
    return _show_blocks(view, [blocks[at] for at in order], max_bytes, bounds)


def _show_blocks(view: _View, best: Sequence[Block], max_bytes: int, bounds: Bounds) -> Pieces:
    """Return the lines around the blocks, and as many of the `best` blocks as fit, each whole;
    the signature alone in place of those lines, where they leave no room for a block.
    """
    frame, signature = _frame_of(view)
    framed = view.show(frame)
    if framed.size <= max_bytes:
        pieces = _add_blocks(view, (framed, frame, signature), best, max_bytes, bounds)
        if pieces is not framed or not best or frame == signature:
            return pieces
    bare = view.show(signature)
    if bare.size > max_bytes:
        return Pieces()
    pieces = _add_blocks(view, (bare, signature, signature), best, max_bytes, bounds)
    return framed if pieces is bare and framed.size <= max_bytes else pieces


def _add_blocks(
    view: _View,
    start: tuple[Pieces, set[int], set[int]],
    best: Sequence[Block],
    max_bytes: int,
    bounds: Bounds,
) -> Pieces:
    """Return the pieces with as many blocks as fit. `start`: the pieces without them, their lines,
    and the signature's.
    """
    pieces, shown, signature = start
    count = tried = 0
    for block in best:
        numbers = _lines_in(view.body, block)
        if count == bounds.blocks or tried > LINES_TRIED_MAX:
            break
        if numbers & (shown - signature):
            continue
        numbers |= shown | _lines_around(view.body, view.blocks, block)
        outlines = [outline for outline in SHORT_OUTLINES if outline < view.outline and not count]
        fits = _least_bytes(view.body, numbers) <= max_bytes
        for outline in (view.outline, *outlines) if fits else ():
            shorter = view._replace(outline=outline)
            tried += len(view.body.lines)
            larger = shorter.show(numbers)
            if larger.size <= max_bytes:
                view, shown, pieces, count = shorter, numbers, larger, count + 1
                break
        else:
            inner = (other for other in best if other[2] > block[2])
            if bounds.in_order and not any(block[0] <= other[0] < block[1] for other in inner):
                break
    return pieces


def _frame_of(view: _View) -> tuple[set[int], set[int]]:
    """Return (the lines around the blocks of a definition: comments and decorators above it, its
    signature, the beginning of its docstring, closing brackets; the signature alone).
    """
    body = view.body
    numbers = [number for number in body.lines if number not in body.apart]
    begin = min(block[0] for block in view.blocks if block[2] != DECORATOR)
    signature = {number for number in numbers if body.head <= number < begin} or {body.head}
    signature = signature.difference(view.decorators)
    frame = signature | {number for number in numbers if number < body.head}
    for first, last in _docs_of(body):
        frame |= {number for number in range(first, last + 1) if number not in body.apart}
    if numbers[-1] > max(block[1] for block in view.blocks) and _is_end(body.lines[numbers[-1]]):
        is_last = indentation_of(body.lines[numbers[-1]]) <= indentation_of(body.lines[body.head])
        frame |= set(numbers[-1:] if is_last else ())
    return frame.difference(view.doc_ends), signature


def _decorators(body: Body, begin: int) -> list[Block]:
    """Return the statements above the last one before line `begin`, where these lines are many."""
    head = [number for number in range(body.head, begin) if body.lines.get(number, "").strip()]
    if len(head) <= SIGNATURE_LINES_MAX:
        return []
    margin = indentation_of(body.lines[body.head])
    starts = [
        number
        for number in head
        if indentation_of(body.lines[number]) <= margin and body.lines[number].strip()[0] not in ")]}{"
    ]
    return [(first, following - 1, DECORATOR) for first, following in pairwise(starts)]


def _is_end(text: str) -> bool:
    return not text.strip() or is_closing(text)


def _lines_in(body: Body, block: Block) -> set[int]:
    """Return the lines of a block that have text and are not those of nested definitions."""
    return {
        number
        for number in range(block[0], block[1] + 1)
        if body.lines.get(number, "").strip() and number not in body.apart
    }


def _lines_around(body: Body, blocks: Sequence[Block], inner: Block) -> set[int]:
    """Return the own lines of the blocks around a block, as `for each in all:`, `else:` and `}`."""
    lines: set[int] = set()
    for outer in blocks:
        if outer[2] < inner[2] and outer[0] <= inner[0] and inner[1] <= outer[1]:
            own_lines = _lines_in(body, outer)
            for first, last, depth in blocks:
                if depth == outer[2] + 1 and outer[0] <= first and last <= outer[1]:
                    own_lines.difference_update(range(first, last + 1))
            lines |= own_lines
    return lines


def _docs_of(body: Body) -> list[tuple[int, int]]:
    """Return (first line, last line) of the comments above a definition and of its docstring."""
    docs: list[tuple[int, int]] = []
    comments = sorted(_comments_above(body))
    for number in comments:
        if docs and docs[-1][1] == number - 1:
            docs[-1] = docs[-1][0], number
        else:
            docs.append((number, number))
    number = signature_end(body.lines, body.head) + 1
    while number in body.lines and not body.lines[number].strip():
        number += 1
    text = body.lines.get(number, "").strip()
    if text.startswith(_QUOTES):
        quote, last = text.removeprefix("r")[:3], number
        is_closed = text.removeprefix("r")[3:].rstrip().endswith(quote)
        while not is_closed and last + 1 in body.lines:
            last += 1
            is_closed = quote in body.lines[last]
        docs.append((number, last))
    return docs


def _comments_above(body: Body) -> set[int]:
    above = {number: text for number, text in body.lines.items() if number < body.head}
    comments = {
        number for number in comments_of(above) if not above[number].lstrip().startswith(("#[", "#!["))
    }
    inside = False
    for number, text in above.items():
        inside = inside or text.lstrip().startswith("/*")
        if inside:
            comments.add(number)
            inside = "*/" not in text
    return comments


def _doc_ends(body: Body) -> set[int]:
    """Return the lines of long docstrings below their first paragraph, or their first lines."""
    hidden: set[int] = set()
    for first, last in _docs_of(body) if body.doc_lines else ():
        if last - first + 1 < body.doc_lines or any(first <= line <= last for line in body.focus):
            continue
        shown, has_text = first, False
        while shown < first + DOC_LINES:
            is_text = any(letter.isalnum() for letter in body.lines[shown])
            if has_text and not is_text:
                break
            has_text, shown = is_text, shown + 1
        hidden.update(range(shown, last + 1))
    return hidden


def _outline(view: _View, unshown: Iterable[Sequence[int]]) -> tuple[Row, ...]:
    """Return the rows of the lines between shown ones."""
    rows = [(number, *row) for number, gap in enumerate(unshown) for row in _rows_of(view, gap)]
    joined = _join_rows(rows, len(rows) - view.outline)
    return tuple(
        Row(
            first,
            last,
            _label(view, first, last) + _say_more(view, [row for row in rows if first <= row[1] <= last]),
        )
        for first, last in joined
    )


def _say_more(view: _View, rows: Sequence[tuple[int, int, int, int]]) -> str:
    """Say how many definitions or decorators a row stands for, besides the one that it names."""
    named = [row for row in rows if row[1] in view.body.apart or row[1] in view.decorators]
    return f" (and {len(named) - 1} more)" if len(named) > 1 else ""


def _join_rows(rows: Sequence[tuple[int, int, int, int]], excess: int) -> list[tuple[int, int]]:
    """Return (first line, last line) of `excess` fewer rows, if so many can be joined: of the
    neighbours in one gap that begin equally far in, the two with the fewest lines become one.
    `rows`: (gap, first line, last line, indentation). A heap, for a table may have thousands.
    """
    lasts, before, after = [row[2] for row in rows], [*range(-1, len(rows) - 1)], [*range(1, len(rows) + 1)]
    pairs: list[tuple[int, int, int]] = []

    def add(at: int, other: int) -> None:
        if at >= 0 and other < len(rows) and rows[at][0::3] == rows[other][0::3]:
            heapq.heappush(pairs, (lasts[other] - rows[at][1], at, other))

    for at in range(len(rows) - 1):
        add(at, at + 1)
    while excess > 0 and pairs:
        lines, at, other = heapq.heappop(pairs)
        if after[at] != other or lines != lasts[other] - rows[at][1]:
            continue  # one of them has been joined since
        lasts[at], after[at], after[other] = lasts[other], after[other], 0
        if after[at] < len(rows):
            before[after[at]] = at
        add(before[at], at)
        add(at, after[at])
        excess -= 1
    return [(row[1], last) for row, last, other in zip(rows, lasts, after, strict=True) if other]


def _gaps(body: Body, shown: Collection[int]) -> Iterator[list[int]]:
    """Yield the numbers of lines between shown ones, from the first to the last with text."""
    gap: list[int] = []
    for number in [*body.lines, -1]:
        if number >= 0 and number not in shown:
            gap.append(number)
            continue
        if not gap:
            continue
        while gap and not body.lines[gap[-1]].strip():
            gap.pop()
        start = next((at for at, line in enumerate(gap) if body.lines[line].strip()), len(gap))
        if gap[start:]:
            yield gap[start:]
        gap = []


def _rows_of(view: _View, gap: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return (first line, last line, indentation) of each row of a gap: its largest blocks, nested
    definitions and ends of docstrings, each with the lines behind it.
    """
    body = view.body
    starts = {gap[0]}
    end = gap[0] - 1
    margin = indentation_of(body.lines[gap[0]])

    def is_outer(text: str) -> bool:
        return bool(text.strip()) and indentation_of(text) <= margin

    for first, last, _ in view.blocks:
        if gap[0] <= first and last <= gap[-1] and first > end:
            starts.add(first)
            end = last
    for before, number in pairwise(gap):
        for hidden in (body.apart, view.doc_ends):
            if (number in hidden) != (before in hidden):
                starts.add(number)
        if number in body.apart and not body.lines[before].strip() and is_outer(body.lines[number]):
            starts.add(number)
    rows = []
    cuts = [*sorted(starts & set(gap)), gap[-1] + 1]
    for first, following in pairwise(cuts):
        if filled := [line for line in range(first, following) if body.lines.get(line, "").strip()]:
            rows.append((filled[0], filled[-1], indentation_of(body.lines[filled[0]])))
    return rows


def _with_blanks(body: Body, numbers: Sequence[int]) -> list[int]:
    """Return the numbers with those of the blank lines between two of them that are neighbours."""
    joined: list[int] = []
    for number in numbers:
        between = range(joined[-1] + 1, number) if joined else range(0)
        if between and all(at in body.lines and not body.lines[at].strip() for at in between):
            joined += between
        joined.append(number)
    return joined


def _label(view: _View, first: int, last: int) -> str:
    """Return the beginning of a row's first line of code, with its indentation and the lines that
    it goes on with; the indentation alone for the end of a docstring.
    """
    body = view.body
    numbers = [number for number in range(first, last + 1) if body.lines.get(number, "").strip()]
    texts = [number for number in numbers if any(map(str.isalnum, body.lines[number]))] or numbers
    telling = [at for at in texts if not body.lines[at].strip().startswith(_ASIDE)]
    code = telling[0] if telling and first not in view.decorators else texts[0]
    line = body.lines[code]
    indentation = line[: len(line) - len(line.lstrip())]
    if first in view.doc_ends:
        return indentation
    label = line.strip()
    for number in numbers[numbers.index(code) + 1 :]:
        if len(label) > OUTLINE_CHARS or not label.endswith(_OPEN):
            break
        label += ("" if label.endswith("(") else " ") + body.lines[number].strip()
    return indentation + (label if len(label) <= OUTLINE_CHARS else label[: OUTLINE_CHARS - 1] + "…")


def _worth_of(
    body: Body,
    own_lines: Mapping[int, str],
    blocks: Sequence[Block],
    words: Mapping[str, float],
    wanted: TermFinder,
) -> list[float]:
    """Return how much of the question each block holds, for its length; named lines decide. Where
    all lines are named, the blocks are equal, and so in their order, texts last.
    """
    asks_all = len(body.focus) >= len(body.lines)
    words = {} if asks_all else words
    words_of: dict[int, list[str]] = {number: wanted.terms_in(text) for number, text in own_lines.items()}
    worth = []
    for first, last, _ in blocks:
        numbers = range(first, last + 1)
        words_here = {word for number in numbers for word in words_of.get(number, ())}
        share = sum(words.get(word, 0.0) for word in words_here)
        focus = (
            2 - own_lines.get(first, "").strip().startswith(_QUOTES)
            if asks_all
            else sum(first <= line <= last for line in body.focus)
        )
        worth.append((share + FOCUS * focus) / (1 if asks_all else (8 + len(numbers)) ** 0.5))
    return worth


def _runs(lines: Mapping[int, str], numbers: Iterable[int]) -> Iterable[tuple[int, str]]:
    """Yield (first number, text) of each run of neighbouring numbers, without blank ends."""
    run: list[int] = []
    for number in [*numbers, -1]:
        if run and number != run[-1] + 1:
            while run and not lines[run[-1]].strip():
                run.pop()
            if run:
                yield run[0], "\n".join(lines[at] for at in run)
            run = []
        if number >= 0 and (run or lines[number].strip()):
            run.append(number)


def _least_bytes(body: Body, numbers: Iterable[int]) -> int:
    """Return the bytes of these lines without blank ones: what their pieces have at least."""
    return sum(_bytes_of(line) for number in numbers if (line := body.lines[number]).strip())


def _bytes_of(line: str) -> int:
    return len(line.encode()) + NUMBER_BYTES
