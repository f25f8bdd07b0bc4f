"""The lines of a definition that an answer shows: all of it, or its signature, an outline of its
blocks, and the blocks that answer. A statement is shown whole or not at all. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.ask.indented_blocks import Block, find_blocks
from cortex.ask.query_words import TermFinder

#: lines up to which a definition is shown whole, if it fits
WHOLE_LINES = 60
#: blocks of one definition that are shown, where the caller sets no bounds
BLOCKS_MAX = 5
#: lines of an outline, likewise, and the letters of each
OUTLINE_MAX, OUTLINE_CHARS = 6, 72
#: ends of lines that go on in the next
_OPEN = ("(", "[", ",")
#: worth of a line that the question names; all words of the question are worth 1
FOCUS = 3.0
#: share of the worth of a block that is a text about the definition: code is asked for
PROSE = 0.3
#: lines of the head of a block that is shown in part
HEAD_LINES = 8
#: bytes of a line's number and of its end
NUMBER_BYTES = 6

#: beginnings of comments, decorators and attributes, which say little in an outline
_ASIDE = ("//", "/*", "*", "#", "@", "--")


@dataclass(frozen=True, slots=True)
class Pieces:
    """The shown lines: (first number, text) of each piece, ascending; `outline`: first line, last
    line and beginning of each block that is left out.
    """

    pieces: tuple[tuple[int, str], ...] = ()
    outline: tuple[tuple[int, int, str], ...] = ()
    is_whole: bool = False

    @property
    def size(self) -> int:
        """Bytes of the text that an agent gets."""
        shown = sum(map(_bytes_of, (line for _, text in self.pieces for line in text.split("\n"))))
        return shown + sum(len(text.encode()) + 2 * NUMBER_BYTES for _, _, text in self.outline)

    def entry(self) -> dict[str, Any]:
        """Return the fields of an answer's entry."""
        fields: dict[str, Any] = {"pieces": [{"start": start, "text": text} for start, text in self.pieces]}
        if self.outline:
            fields["outline"] = [
                {"start": start, "end": end, "text": text} for start, end, text in self.outline
            ]
        return fields


@dataclass(frozen=True, slots=True)
class Bounds:
    """The blocks of one definition that are shown at most, and the lines of its outline."""

    blocks: int = BLOCKS_MAX
    outline: int = OUTLINE_MAX
    #: share of the best block's worth that another needs
    share: float = 0.0
    #: whether blocks behind one that does not fit are left out
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """A definition to show: its `lines` by number, ascending; the line of its head; its blocks.
    `focus`: lines that the question names. `labels`: a memo of `_label`.
    """

    lines: Mapping[int, str]
    head: int
    blocks: Sequence[Block] = ()
    focus: Sequence[int] = field(default=())
    labels: dict[tuple[int, int], str] = field(default_factory=dict, compare=False, repr=False)


def show_whole(body: Body) -> Pieces:
    """Return all lines of a definition."""
    return Pieces(tuple(_runs(body.lines, list(body.lines))), is_whole=True)


def choose_pieces(
    body: Body,
    words: Mapping[str, float],
    wanted: TermFinder,
    max_bytes: int,
    bounds: Bounds = Bounds(),
) -> Pieces:
    """Return what fits into `max_bytes`: the whole definition, else its signature with an outline
    and its best blocks; nothing where not even those fit. `words`: word of the question → worth.
    """
    numbers = list(body.lines)
    all_lines = show_whole(body)
    if len(numbers) <= WHOLE_LINES and all_lines.size <= max_bytes:
        return all_lines
    blocks = [block for block in body.blocks if block[0] in body.lines] or find_blocks(body.lines, body.head)
    if not blocks:
        return all_lines if all_lines.size <= max_bytes else Pieces()
    signature = [number for number in numbers if body.head <= number < blocks[0][0]] or [body.head]
    worth = _worth_of(body, blocks, words, wanted)
    least = bounds.share * max(worth)
    order = sorted((at for at in range(len(blocks)) if worth[at] > 0), key=lambda at: (-worth[at], at))
    order = [at for at in order if worth[at] >= least]
    return _show_blocks(body, signature, blocks, [blocks[at] for at in order], (max_bytes, bounds))


def _show_blocks(
    body: Body,
    signature: list[int],
    blocks: Sequence[Block],
    best: Sequence[Block],
    most: tuple[int, Bounds],
) -> Pieces:
    """Return the signature, and as many of the `best` blocks as fit, each whole. `most`: bytes and
    bounds.
    """
    max_bytes, bounds = most
    shown = set(signature)
    pieces = _make_pieces(body, shown, blocks, bounds)
    if pieces.size > max_bytes:
        return Pieces()
    count = 0
    for block in best:
        numbers = {number for number in range(block[0], block[1] + 1) if number in body.lines}
        if count == bounds.blocks:
            break
        if numbers & shown - set(signature):
            continue
        numbers |= _heads_around(body, blocks, block)
        larger = _make_pieces(body, shown | numbers, blocks, bounds)
        if larger.size <= max_bytes:
            shown, pieces, count = shown | numbers, larger, count + 1
        elif bounds.in_order and not any(
            block[0] <= other[0] < block[1] for other in best if other[2] > block[2]
        ):
            break
    return pieces


def _heads_around(body: Body, blocks: Sequence[Block], inner: Block) -> set[int]:
    """Return the lines that lead to a block inside of others, as `for each in all:` and `else:`."""
    heads: set[int] = set()
    around = [
        block for block in blocks if block[2] < inner[2] and block[0] <= inner[0] and inner[1] <= block[1]
    ]
    for outer in sorted(around, key=lambda block: -block[2]):
        inside = [block for block in blocks if block[2] == inner[2] and outer[0] <= block[0] <= outer[1]]
        before = max((block[1] for block in inside if block[1] < inner[0]), default=outer[0] - 1)
        for first, last in ((outer[0], min(block[0] for block in inside)), (before + 1, inner[0])):
            if last - first <= HEAD_LINES:
                heads |= {number for number in range(first, last) if number in body.lines}
        inner = outer
    return heads


def _make_pieces(body: Body, shown: set[int], blocks: Sequence[Block], bounds: Bounds) -> Pieces:
    left_out = _left_out(shown, blocks)
    while len(left_out) > bounds.outline:  # neighbours become one entry
        at = min(range(len(left_out) - 1), key=lambda at: left_out[at + 1][1] - left_out[at][0])
        left_out[at : at + 2] = [(left_out[at][0], left_out[at + 1][1], 0)]
    outline = tuple((first, last, _label(body, first, last)) for first, last, _ in left_out)
    return Pieces(tuple(_runs(body.lines, _with_blanks(body, sorted(shown)))), outline)


def _with_blanks(body: Body, numbers: Sequence[int]) -> list[int]:
    """Return the numbers with those of the blank lines between two of them that are neighbours."""
    joined: list[int] = []
    for number in numbers:
        between = range(joined[-1] + 1, number) if joined else range(0)
        if between and all(at in body.lines and not body.lines[at].strip() for at in between):
            joined += between
        joined.append(number)
    return joined


def _left_out(shown: set[int], blocks: Sequence[Block]) -> list[Block]:
    """Return the largest blocks without a shown line, by line."""
    left_out: list[Block] = []
    for block in sorted(blocks, key=lambda block: (block[0], block[2])):
        is_inside = bool(left_out) and block[1] <= left_out[-1][1]
        if not is_inside and shown.isdisjoint(range(block[0], block[1] + 1)):
            left_out.append(block)
    return left_out


def _label(body: Body, first: int, last: int) -> str:
    """Return the beginning of a block's first line of code, with the lines that it goes on with."""
    if (first, last) not in body.labels:
        body.labels[first, last] = _make_label(body, first, last)
    return body.labels[first, last]


def _make_label(body: Body, first: int, last: int) -> str:
    texts = [body.lines.get(number, "").strip() for number in range(first, last + 1)]
    code = next((at for at, text in enumerate(texts) if text and not text.startswith(_ASIDE)), None)
    if code is None:
        return next((text for text in texts if text), "")[:OUTLINE_CHARS]
    label = texts[code]
    for text in texts[code + 1 :]:
        if len(label) > OUTLINE_CHARS or not label.endswith(_OPEN):
            break
        label += text if label.endswith("(") else f" {text}"
    return label if len(label) <= OUTLINE_CHARS else label[: OUTLINE_CHARS - 1] + "…"


def _is_prose(line: str) -> bool:
    """Whether a block that begins with the line is a text about the definition."""
    return line.strip().startswith(('"""', "'''", 'r"""'))


def _worth_of(
    body: Body, blocks: Sequence[Block], words: Mapping[str, float], wanted: TermFinder
) -> list[float]:
    """Return how much of the question each block holds, for its length; named lines decide. Where
    all lines are named, the blocks are equal, and so in their order, texts last.
    """
    asks_all = len(body.focus) >= len(body.lines)
    words = {} if asks_all else words
    words_of: dict[int, list[str]] = {number: wanted.terms_in(text) for number, text in body.lines.items()}
    worth = []
    for first, last, _ in blocks:
        numbers = range(first, last + 1)
        words_here = {word for number in numbers for word in words_of.get(number, ())}
        is_prose = _is_prose(body.lines.get(first, ""))
        share = sum(words.get(word, 0.0) for word in words_here) * (PROSE if is_prose else 1.0)
        focus = 2 - is_prose if asks_all else sum(first <= line <= last for line in body.focus)
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


def _bytes_of(line: str) -> int:
    return len(line.encode()) + NUMBER_BYTES
