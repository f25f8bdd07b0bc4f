"""The lines of a definition that an answer shows: all of it, or its signature, an outline of its
blocks, and the blocks that answer. A statement is shown whole or not at all. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.ask.query_words import TermFinder

#: lines up to which a definition is shown whole, if it fits
WHOLE_LINES = 60
#: blocks of one definition that are shown
BLOCKS_MAX = 3
#: lines of an outline, and the letters of each
OUTLINE_MAX, OUTLINE_CHARS = 12, 72
#: bytes of a line's number and of its end
NUMBER_BYTES = 6

#: first line, last line and depth of a block
Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The shown lines: (first number, text) of each piece, ascending; `outline`: first line, last
    line and beginning of each block that is left out.
    """

    pieces: tuple[tuple[int, str], ...] = ()
    outline: tuple[tuple[int, int, str], ...] = ()
    whole: bool = False

    @property
    def size(self) -> int:
        """Bytes of the text that an agent gets."""
        shown = sum(map(_bytes_of, (line for _, text in self.pieces for line in text.split("\n"))))
        return shown + sum(len(text.encode()) + 2 * NUMBER_BYTES for _, _, text in self.outline)

    def entry(self) -> dict[str, Any]:
        """Return the fields of an answer's entry."""
        fields: dict[str, Any] = {
            "pieces": [{"start": start, "text": text} for start, text in self.pieces]
        }
        if self.outline:
            fields["outline"] = [
                {"start": start, "end": end, "text": text} for start, end, text in self.outline
            ]
        return fields


@dataclass(frozen=True, slots=True)
class Body:
    """A definition to show: its `lines` by number, ascending; the line of its head; its blocks.
    `asked`: lines that the question names.
    """

    lines: Mapping[int, str]
    head: int
    blocks: Sequence[Block] = ()
    asked: Sequence[int] = field(default=())


def choose_pieces(body: Body, words: Mapping[str, float], wanted: TermFinder, max_bytes: int) -> Pieces:
    """Return what fits into `max_bytes`: the whole definition, else its signature with an outline
    and its best blocks; nothing where not even those fit. `words`: word of the question → worth.
    """
    numbers = list(body.lines)
    whole = Pieces(tuple(_runs(body.lines, numbers)), whole=True)
    if len(numbers) <= WHOLE_LINES and whole.size <= max_bytes:
        return whole
    blocks = [block for block in body.blocks if block[0] in body.lines] or _paragraphs(body)
    if not blocks:
        return whole if whole.size <= max_bytes else Pieces()
    signature = [number for number in numbers if body.head <= number < blocks[0][0]] or [body.head]
    return _show_blocks(body, signature, blocks, _worth_of(body, blocks, words, wanted), max_bytes)


def _show_blocks(
    body: Body, signature: list[int], blocks: Sequence[Block], worth: Sequence[float], max_bytes: int
) -> Pieces:
    """Return the signature, and as many of the best blocks as fit, each whole."""
    shown = set(signature)
    best = _make_pieces(body, shown, blocks)
    if best.size > max_bytes:
        return Pieces()
    count = 0
    for at in sorted(range(len(blocks)), key=lambda at: (-worth[at], at)):
        first, last, _ = blocks[at]
        numbers = {number for number in range(first, last + 1) if number in body.lines}
        if worth[at] <= 0 or count == BLOCKS_MAX:
            break
        if numbers & shown - set(signature):
            continue
        larger = _make_pieces(body, shown | numbers, blocks)
        if larger.size <= max_bytes:
            shown, best, count = shown | numbers, larger, count + 1
    return best


def _make_pieces(body: Body, shown: set[int], blocks: Sequence[Block]) -> Pieces:
    left_out = [
        block
        for block in blocks
        if block[2] == 0 and not any(number in shown for number in range(block[0], block[1] + 1))
    ]
    while len(left_out) > OUTLINE_MAX:  # neighbours become one entry
        at = min(range(len(left_out) - 1), key=lambda at: left_out[at + 1][1] - left_out[at][0])
        left_out[at : at + 2] = [(left_out[at][0], left_out[at + 1][1], 0)]
    outline = tuple((first, last, _label(body, first, last)) for first, last, _ in left_out)
    return Pieces(tuple(_runs(body.lines, sorted(shown))), outline)


def _label(body: Body, first: int, last: int) -> str:
    """Return the beginning of a block's first line of code."""
    texts = (body.lines.get(number, "").strip() for number in range(first, last + 1))
    label = next((text for text in texts if text and not text.startswith(("//", "/*", "*", "#", '"""'))), "")
    return label if len(label) <= OUTLINE_CHARS else label[: OUTLINE_CHARS - 1] + "…"


def _worth_of(
    body: Body, blocks: Sequence[Block], words: Mapping[str, float], wanted: TermFinder
) -> list[float]:
    """Return how much of the question each block holds, for its length; a named line decides."""
    found: dict[int, list[str]] = {number: wanted.terms_in(text) for number, text in body.lines.items()}
    worth = []
    for first, last, _ in blocks:
        numbers = range(first, last + 1)
        held = {word for number in numbers for word in found.get(number, ())}
        share = sum(words.get(word, 0.0) for word in held)
        asked = any(first <= line <= last for line in body.asked)
        worth.append(share / (8 + len(numbers)) ** 0.5 + 10 * asked)
    return worth


def _paragraphs(body: Body) -> list[Block]:
    """Return the pieces between blank lines that are followed by a line of least indentation, for a
    definition without known blocks.
    """
    inner = [number for number in body.lines if number > _signature_end(body)]
    written = [number for number in inner if body.lines[number].strip()]
    if not written:
        return []
    least = min(_indentation(body.lines[number]) for number in written[:-1] or written)
    starts = [
        number
        for number in written
        if number == written[0]
        or (not body.lines.get(number - 1, "").strip() and _indentation(body.lines[number]) <= least)
    ]
    ends = [*(start - 1 for start in starts[1:]), inner[-1]]
    return [(start, end, 0) for start, end in zip(starts, ends, strict=True)]


def _signature_end(body: Body) -> int:
    """Return the line that closes the brackets of the head, or of what is above it."""
    depth = 0
    for number in (number for number in body.lines if number >= body.head):
        text = body.lines[number]
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            return number
    return body.head


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


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
