"""The lines of a definition that an answer shows: whole statements, within the bytes."""

import random
import sys
from itertools import pairwise

import pytest

from cortex.ask.exploring.query_words import get_term_finder
from cortex.ask.lines import code_pieces
from cortex.ask.lines.code_pieces import (
    BLOCKS_MAX,
    OUTLINE_MAX,
    WHOLE_LINES,
    Body,
    Bounds,
    _join_rows,
    choose_pieces,
)
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
    blocks = [(first, first + 9, 0) for first in range(12, 112, 10)]
    body = make_body(101, blocks=blocks)
    body.lines[55] = "    retry(socket)"  # type: ignore[index]
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    assert shown(body, pieces) == [11, *range(52, 62)]
    assert [(first, last) for first, last, _ in pieces.outline] == [
        (first, last) for first, last, _ in blocks if first != 52
    ]


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
    gaps = sum(number - 1 not in numbers for number in body.lines if number not in numbers)
    assert len(pieces.outline) <= max(OUTLINE_MAX, 2 * gaps)
    chosen = [block for block in blocks if set(range(block[0], block[1] + 1)) <= numbers]
    covered = {11}.union(*(range(first, last + 1) for first, last, _ in chosen))
    frames = {number for first, last, depth in blocks if depth == 0 for number in (first, last)}
    assert covered <= numbers <= covered | frames
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


#: lines above the head, the head, the docstring inside, the lines of text that are shown
DOCS = {
    "python": ("", "def run(self):", '    """Run it.\n\n    Longer.\n' + "    More.\n" * 8 + '    """', [2]),
    "python, one paragraph": (
        "",
        "def run(self):",
        '    """\n    Run it\n    in order\n' + "    and more\n" * 8 + '    """',
        [2, 3, 4],
    ),
    "javascript": ("/**\n * Runs it.\n *\n" + " * @param a\n" * 9 + " */", "function run(a) {", "", [1, 2]),
    "go": ("// Run runs\n// it\n// all\n// of it\n" + "// and more\n" * 8, "func Run() {", "", [1, 2, 3]),
    "rust": ("/// Runs it.\n///\n" + "/// More.\n" * 9 + "#[inline]", "fn run() {", "", [1]),
    "java": (
        "/**\n * Runs it.\n * <p>\n" + " * more\n" * 9 + " */\n@Override",
        "void run() {",
        "",
        [1, 2, 3],
    ),
}


def documented(name: str, doc_lines: int, focus: tuple[int, ...] = (), steps: int = 3) -> Body:
    above, head, inside, _ = DOCS[name]
    body = "\n".join(f"    step_{at} = {at}" for at in range(steps))
    text = "\n".join(filter(None, (above.strip("\n"), head, inside, body)))
    lines = dict(enumerate(text.split("\n"), 1))
    at = next(number for number, line in lines.items() if line == head)
    return Body(lines, at, focus=focus, doc_lines=doc_lines)


@pytest.mark.parametrize("name", DOCS)
@pytest.mark.parametrize("steps", [3, WHOLE_LINES + 20])
def test_a_long_docstring_is_its_first_paragraph_and_a_row(name: str, steps: int) -> None:
    body = documented(name, 7, steps=steps)
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    numbers = shown(body, pieces)
    first, last, text = pieces.outline[0]
    paragraph = DOCS[name][3]
    docs = {number for number in range(paragraph[0], first) if body.lines[number].strip()}
    assert set(paragraph) <= docs <= set(numbers)
    assert len(docs) <= 3
    assert not text.strip()
    assert not set(numbers) & set(range(first, last + 1))
    assert {body.head, body.head - 1} & set(numbers)
    if steps == 3:
        assert len(pieces.outline) == 1
        assert pieces.is_whole
        texts = {number for number, line in body.lines.items() if line.strip()}
        assert texts - set(numbers) == texts & set(range(first, last + 1))


@pytest.mark.parametrize("name", DOCS)
def test_a_docstring_is_whole_if_it_is_short_or_a_line_of_it_is_asked(name: str) -> None:
    for body in (documented(name, 0), documented(name, 14), documented(name, 7, focus=(6,))):
        assert shown(body, choose_pieces(body, WORDS, WANTED, 100_000)) == list(body.lines)


def test_a_nested_definition_is_one_row() -> None:
    body = make_body(40)
    inner = range(20, 31)
    body.lines.update({20: "    def inner():"} | {at: f"        inner_{at}()" for at in inner[1:]})  # type: ignore[attr-defined]
    body = Body(body.lines, body.head, apart=frozenset(inner))
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    assert pieces.is_whole
    assert pieces.outline == ((20, 30, "    def inner():"),)
    assert shown(body, pieces) == [number for number in body.lines if number not in inner]


def test_a_row_is_indented_as_its_code() -> None:
    blocks = [(12, 110, 0), (13, 40, 1), (41, 60, 1), (61, 109, 1)]
    body = make_body(120, blocks=[*blocks, (111, 130, 0)])
    body.lines.update({12: "    if retry:", 110: "    }", 61: "        socket.retry()"})  # type: ignore[attr-defined]
    body.lines.update({13: "\t\tfirst(", 14: "\t\t\tall)", 41: "        other()"})  # type: ignore[attr-defined]
    pieces = choose_pieces(body, WORDS, WANTED, 3_000, Bounds(blocks=1))
    assert [number for number in shown(body, pieces) if not 61 <= number <= 109] == [11, 12, 110]
    assert [row.text for row in pieces.outline] == ["\t\tfirst(all)", "        other()", "    step_100 = 100"]


def test_the_signature_below_a_long_decorator_is_shown() -> None:
    rows = "".join(f"        ({at}, {at}),\n" for at in range(40))
    steps = "\n".join(f"    step_{at} = {at}" for at in range(70))
    text = f"@parametrize(\n    [\n{rows}    ]\n)\ndef test_run(\n    self,\n) -> None:\n{steps}"
    lines = dict(enumerate(text.split("\n"), 1))
    head = next(number for number, line in lines.items() if line.startswith("def"))
    blocks = [(first, first + 9, 0) for first in range(head + 3, head + 73, 10)]
    for body in (Body(lines, 1, blocks, (90,)), Body(lines, 1, (), (90,))):
        pieces = choose_pieces(body, {}, WANTED, 1_500)
        numbers = shown(body, pieces)
        assert {head, head + 1, head + 2, 90} <= set(numbers)
        if body.blocks:
            assert pieces.outline[0][:2] == (1, head - 1)


@pytest.mark.parametrize("seed", range(200))
def test_rows_are_joined_where_they_span_the_fewest_lines(seed: int) -> None:
    chance = random.Random(seed)
    gaps: list[list[tuple[int, int, int]]] = []
    line = 1
    for _ in range(chance.randint(0, 5)):
        gaps.append([])
        for _ in range(chance.randint(1, 9)):
            last = line + chance.randint(0, 4)
            gaps[-1].append((line, last, chance.choice([0, 4, 4, 8])))
            line = last + chance.randint(1, 2)
    rows = [(number, *row) for number, gap in enumerate(gaps) for row in gap]
    excess = chance.randint(0, 20)
    joined = _join_rows(rows, excess)
    for _ in range(excess):  # all pairs are compared for each step
        pairs = [
            (after[1] - before[0], number, at)
            for number, gap in enumerate(gaps)
            for at, (before, after) in enumerate(pairwise(gap))
            if before[2] == after[2]
        ]
        if not pairs:
            break
        _, number, at = min(pairs)
        gaps[number][at : at + 2] = [(gaps[number][at][0], gaps[number][at + 1][1], gaps[number][at][2])]
    assert joined == [(first, last) for gap in gaps for first, last, _ in gap]


def test_a_table_of_many_blocks_is_gone_through_a_bounded_number_of_times(monkeypatch) -> None:
    lines = {number: f'    "name_{number}": "retry {number}",' for number in range(1, 1001)}
    body = Body({0: "TABLE = {"} | lines, 0, [(at, at + 7, 0) for at in range(1, 1000, 8)])
    passes = []
    gaps = code_pieces._gaps
    monkeypatch.setattr(code_pieces, "_gaps", lambda *arguments: passes.append(1) or gaps(*arguments))
    monkeypatch.setattr(code_pieces, "LINES_TRIED_MAX", 20 * len(lines))
    pieces = choose_pieces(body, WORDS, WANTED, 1_400)
    assert any("retry" in text for _, text in pieces.pieces)
    assert len(passes) < 30


def decorated(count: int) -> tuple[Body, list[int]]:
    """A function below `count` decorators of four lines, and the lines at which they begin."""
    texts = [
        line
        for at in range(count)
        for line in ("@option(", f"    '--name-{at}',", f"    help='text {at}',", ")")
    ]
    texts += ["def run(context):", *(f"    step_{at} = {at}" for at in range(60))]
    lines = dict(enumerate(texts, start=1))
    first = 4 * count + 2
    return Body(lines, 1, [(at, at + 9, 0) for at in range(first, first + 60, 10)]), [*range(1, 4 * count, 4)]


def test_of_many_decorators_the_one_with_the_words_is_shown() -> None:
    body, starts = decorated(30)
    body.lines[50] = "    help='retry a socket',"  # type: ignore[index]
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    assert shown(body, pieces) == [49, 50, 51, 52, 121]
    assert pieces.outline[0].text.startswith("@option(")
    assert all(row.first in starts or row.first > 121 for row in pieces.outline)


def test_a_row_of_several_definitions_says_how_many() -> None:
    lines = {1: "class Control:"} | {2: "    name = 'retry a socket'"}
    for at in range(40):
        lines |= {3 + 3 * at: f"    def call_{at}(self):", 4 + 3 * at: f"        return {at}", 5 + 3 * at: ""}
    apart = frozenset(lines) - {1, 2}
    rows = choose_pieces(Body(lines, 1, apart=apart), WORDS, WANTED, 100_000).outline
    named = [(row.text, row.last - row.first) for row in rows]
    assert any("def call_" in text and "more)" in text for text, _ in named)
    for text, size in named:
        more = int(text.rpartition("(and ")[2].split()[0]) if "(and " in text else 0
        assert size == 3 * more + 1


def test_few_decorators_are_shown_with_the_signature() -> None:
    body, _ = decorated(3)
    pieces = choose_pieces(body, WORDS, WANTED, 100_000)
    assert shown(body, pieces)[:13] == [*range(1, 14)]


def test_the_steps_for_an_outline_grow_with_its_blocks_and_no_faster() -> None:
    def steps(count: int) -> int:
        body, _ = decorated(count)
        profiled: list[str] = []
        sys.setprofile(lambda _frame, event, _called: profiled.append(event))
        try:
            choose_pieces(body, WORDS, WANTED, 100_000)
        finally:
            sys.setprofile(None)
        return len(profiled)

    assert steps(800) < 6 * steps(200)
