"""The lines of a definition that an answer shows: whole statements, within the bytes."""

import random

import pytest

from cortex.ask.code_pieces import BLOCKS_MAX, OUTLINE_MAX, WHOLE_LINES, Body, Bounds, choose_pieces
from cortex.ask.query_words import get_term_finder
from cortex.terms import tokens

WORDS = dict(zip(tokens.lane_words("retry socket"), (0.6, 0.4), strict=True))
WANTED = get_term_finder(frozenset(WORDS))


def make_body(count: int, start: int = 11, blocks: list[tuple[int, int, int]] | None = None) -> Body:
    lines = {start: "def run(self, socket):"}
    lines |= {start + at: f"    step_{at} = {at}" for at in range(1, count)}
    return Body(lines, start, blocks or [])


def shown(body: Body, pieces) -> list[int]:
    numbers = []
    for start, text in pieces.pieces:
        rows = text.split("\n")
        assert [body.lines[start + at] for at in range(len(rows))] == rows
        numbers += range(start, start + len(rows))
    return numbers


def test_a_short_definition_is_whole() -> None:
    body = make_body(WHOLE_LINES)
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    assert pieces.is_whole
    assert shown(body, pieces) == list(body.lines)
    assert not pieces.outline


def test_a_long_definition_has_its_signature_its_best_block_and_an_outline() -> None:
    blocks = [(first, first + 9, 0) for first in range(12, 82, 10)]
    body = make_body(71, blocks=blocks)
    body.lines[55] = "    retry(socket)"  # type: ignore[index]
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    assert shown(body, pieces) == [11, *range(52, 62)]
    assert [(first, last) for first, last, _ in pieces.outline] == [
        (first, last) for first, last, _ in blocks if first != 52
    ]


def test_code_comes_before_a_text_about_the_definition() -> None:
    blocks = [(first, first + 9, 0) for first in range(12, 112, 10)]
    body = make_body(101, blocks=blocks)
    body.lines[12] = '    """Retry on a socket.'  # type: ignore[index]
    body.lines[55] = "    retry(socket)"  # type: ignore[index]
    alone = choose_pieces(body, WORDS, WANTED, 100_000, Bounds(blocks=1))
    assert 55 in shown(body, alone)
    assert 12 not in shown(body, alone)


def test_a_definition_without_the_lines_of_others_has_blocks() -> None:
    body = make_body(120)
    for number in range(60, 90):  # lines of another unit
        del body.lines[number]  # type: ignore[attr-defined]
    body.lines[100] = "    retry(socket)"  # type: ignore[index]
    pieces = choose_pieces(body, WORDS, WANTED, 1_500)
    assert 100 in shown(body, pieces)
    assert not set(range(60, 90)) & set(shown(body, pieces))


def test_a_named_line_decides() -> None:
    blocks = [(first, first + 9, 0) for first in range(12, 112, 10)]
    body = make_body(101, blocks=blocks)
    body.lines[55] = "    retry(socket)"  # type: ignore[index]
    focused = Body(body.lines, body.head, blocks, focus=(80,))
    numbers = shown(focused, choose_pieces(focused, WORDS, WANTED, 1_500))
    assert set(range(72, 82)) <= set(numbers)


@pytest.mark.parametrize("seed", range(30))
def test_blocks_are_whole_and_the_bytes_suffice(seed: int) -> None:
    draw = random.Random(seed)
    blocks, line = [], 12
    while line < 200:
        last = line + draw.randrange(1, 30)
        blocks.append((line, last, 0))
        if last - line > 15:
            middle = draw.randrange(line + 2, last - 2)
            blocks += [(line + 1, middle, 1), (middle + 1, last - 1, 1)]
        line = last + 1
    body = make_body(line - 11, blocks=blocks)
    for number in draw.sample(list(body.lines), 12):
        body.lines[number] = f"    {draw.choice(['retry', 'socket'])}()"  # type: ignore[index]
    most = draw.randrange(100, 4_000)
    pieces = choose_pieces(body, WORDS, WANTED, most)
    numbers = set(shown(body, pieces))
    if not numbers:
        return
    assert pieces.size <= most
    assert len(pieces.outline) <= OUTLINE_MAX
    chosen = [block for block in blocks if set(range(block[0], block[1] + 1)) <= numbers]
    covered = {11}.union(*(range(first, last + 1) for first, last, _ in chosen))
    heads = {
        number
        for first, last, depth in blocks
        if depth == 0
        for number in (first, first + 1)
        if number <= last
    }
    assert covered <= numbers <= covered | heads
    assert len([block for block in chosen if block[2] == 0]) <= BLOCKS_MAX


def test_without_blocks_a_definition_is_cut_at_blank_lines() -> None:
    body = make_body(120)
    for number in (40, 80, 100):
        body.lines[number] = ""  # type: ignore[index]
    body.lines[85] = "    retry()"  # type: ignore[index]
    numbers = shown(body, choose_pieces(body, WORDS, WANTED, 2_000))
    assert set(range(81, 89)) <= set(numbers)
    assert 60 not in numbers


def test_nothing_fits() -> None:
    assert not choose_pieces(make_body(100), WORDS, WANTED, 10).pieces
