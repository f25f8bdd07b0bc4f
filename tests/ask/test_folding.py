"""What is left out of a long definition, in every language: the heads of branches are shown, no
statement is torn, and each line is shown or in a row of the outline.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import count

import pytest
from tree_sitter import Node

from cortex.ask.exploring.query_words import get_term_finder
from cortex.ask.lines.code_pieces import Body, Bounds, Pieces, choose_pieces
from cortex.ask.lines.indented_blocks import find_blocks, is_closing
from cortex.indexer.syntax.parse import _statement_lists, syntax_tree
from cortex.terms.languages import language_of
from tests.indexer.test_blocks import DIALECTS, leaves, long_symbol, sample, source_of

WORDS = get_term_finder(frozenset())


@dataclass(frozen=True)
class Chain:
    """A statement with branches: the lines that begin each of them, and its last line."""

    path: str
    heads: tuple[str, ...]
    end: str = "}"
    inner: int = 1


CHAINS = [
    Chain("a.py", ("try:", "except OSError as error:", "except (\n    KeyError,\n    ValueError,\n):", "else:", "finally:"), ""),
    Chain("a.py", ("if a:", "elif b:", "elif c:", "else:"), ""),
    Chain("a.py", ("for a in b:", "else:"), ""),
    Chain("a.py", ("match items:\n    case 1:", "    case [2, _]:", "    case _:"), "", 2),
    Chain("a.go", ("if a {", "} else if b {", "} else {")),
    Chain("a.go", ("switch a {\ncase 1:", "case 2:", "default:")),
    Chain("a.go", ("select {\ncase <-a:", "case b := <-c:", "default:")),
    Chain("a.ts", ("try {", "} catch (error) {", "} finally {")),
    Chain("a.ts", ("if (\n    a &&\n    b\n) {", "} else if (c) {", "} else {")),
    Chain("a.js", ("switch (a) {\n  case 1:", "  case 2:", "  default:"), "}", 2),
    Chain("a.js", ("try {", "}\ncatch (error) {", "}\nfinally {")),
    Chain("a.rs", ("match items {\n    1 => {", "    }\n    2 => {", "    }\n    _ => {"), "    }\n}", 2),
    Chain("a.rs", ("if let Some(a) = b {", "} else if c {", "} else {")),
    Chain("A.java", ("try {", "} catch (IOException error) {", "} finally {")),
    Chain("A.java", ("switch (a) {\n    case 1:", "    case 2:", "    default:"), "}", 2),
    Chain("a.c", ("switch (a) {\ncase 1:", "case 2:", "default:")),
    Chain("a.c", ("if (a)\n{", "}\nelse if (b)\n{", "}\nelse\n{")),
    Chain("a.cpp", ("try {", "} catch (const A& error) {", "} catch (...) {")),
    Chain("a.cs", ("try\n{", "}\ncatch (IOException error)\n{", "}\nfinally\n{")),
    Chain("a.cs", ("switch (a)\n{\n    case 1:", "    case 2:", "    default:"), "}", 2),
    Chain("a.rb", ("begin", "rescue IOError => error", "rescue ArgumentError", "else", "ensure"), "end"),
    Chain("a.rb", ("case items", "when 1", "when 2", "else"), "end"),
    Chain("a.rb", ("if a", "elsif b", "else"), "end"),
    Chain("a.php", ("try {", "} catch (A $error) {", "} finally {")),
    Chain("a.php", ("if ($a) {", "} elseif ($b) {", "} else {")),
    Chain("a.kt", ("try {", "} catch (error: A) {", "} finally {")),
    Chain("a.kt", ("when (a) {\n    1 -> {", "    }\n    2 -> {", "    }\n    else -> {"), "    }\n}", 2),
    Chain("a.lua", ("if a then", "elseif b then", "else"), "end"),
    Chain("a.sh", ("if a; then", "elif b; then", "else"), "fi"),
    Chain("a.sh", ("case $a in\n  1)", "    ;;\n  2)", "    ;;\n  *)"), "    ;;\nesac", 2),
]  # fmt: skip
DIALECT_OF = {dialect.path: dialect for dialect in DIALECTS}


def indent(text: str, times: int) -> str:
    return "\n".join(f"{'    ' * times}{line}" if line else "" for line in text.split("\n"))


def sample_of(chain: Chain, seed: int) -> str:
    """Return a function with the branches, in which each has several statements."""
    dialect, draw, numbers = DIALECT_OF[chain.path], random.Random(seed), count(1)

    def steps(most: int) -> str:
        return "\n".join(dialect.step.format(*[next(numbers)] * 2) for _ in range(draw.randint(1, most)))

    def branch() -> str:
        call = dialect.call.format(next(numbers))
        return "\n".join(draw.sample([steps(6), steps(12), call, f"{dialect.comment} a note\n{call}"], 3))

    parts = [steps(9)]
    for head in chain.heads:
        if head.startswith("case items"):  # a head without statements
            parts.append(head)
        else:
            parts += [head, indent(branch(), chain.inner)]
    parts += [chain.end] * bool(chain.end) + [steps(12), steps(9), "\n".join(steps(9) for _ in range(4))]
    body = indent("\n".join(parts), 2)
    return "\n".join(filter(None, (dialect.head, body, dialect.tail))) + "\n"


def body_of(path: str, text: str, *, indexed: bool) -> Body:
    symbol = long_symbol(path, text)
    lines = dict(enumerate(text.removesuffix("\n").split("\n"), 1))
    lines = {number: lines[number] for number in range(symbol.start_line, symbol.end_line + 1)}
    blocks = symbol.blocks if indexed else find_blocks(lines, symbol.start_line)
    assert blocks
    return Body(lines, symbol.start_line, blocks)


def shown_in(body: Body, pieces: Pieces) -> set[int]:
    shown: set[int] = set()
    for start, text in pieces.pieces:
        for number, line in enumerate(text.split("\n"), start):
            assert body.lines[number] == line
            shown.add(number)
    return shown


def check_complete(body: Body, pieces: Pieces) -> set[int]:
    """Each line with text is shown, or in one row; return the shown ones."""
    shown = shown_in(body, pieces)
    covered = sorted(number for first, last, _ in pieces.outline for number in range(first, last + 1))
    assert len(covered) == len(set(covered))
    assert shown.isdisjoint(covered)
    assert not [
        line for number, line in body.lines.items() if line.strip() and number not in {*shown, *covered}
    ]
    for first, last, text in pieces.outline:
        assert body.lines[first].strip()
        assert body.lines[last].strip()
        assert text.strip()
    return shown


def part_of(body: Body, pieces: Pieces) -> dict[int, int]:
    """Return number of a line → number of its row, 0 for shown ones."""
    parts = dict.fromkeys(body.lines, 0)
    for at, (first, last, _) in enumerate(pieces.outline, 1):
        parts |= dict.fromkeys(range(first, last + 1), at)
    return parts


def heads_of(node: Node, lists: frozenset[str]) -> list[tuple[int, int]]:
    """Return the lines of each statement that holds others, up to the first of them."""
    heads, last = [], node.start_point[0]
    for child in node.children if node.type not in lists else ():
        if holds(child, lists):
            is_opened = child.type in lists and child.children and not child.children[0].is_named
            last = max(last, child.start_point[0]) if is_opened else last
            heads.append((node.start_point[0] + 1, last + 1))
            break
        last = last if child.is_extra else child.end_point[0]
    return heads + [head for child in node.children for head in heads_of(child, lists)]


def holds(node: Node, lists: frozenset[str]) -> bool:
    return node.type in lists or any(holds(child, lists) for child in node.children)


def cases(body: Body) -> list[Pieces]:
    """Return what is chosen for each of some lines, and for all."""
    numbers = list(body.lines)
    focuses = [numbers[at : at + 1] for at in range(1, len(numbers), 7)]
    pieces = [
        choose_pieces(replace(body, focus=focus), {}, WORDS, most, Bounds(blocks=blocks))
        for focus in focuses
        for most, blocks in ((900, 1), (2_000, 3), (20_000, 3))
    ]
    pieces += [
        choose_pieces(replace(body, focus=numbers), {}, WORDS, most, Bounds(1_000, 60, in_order=True))
        for most in (500, 1_000, 1_500)
    ]
    return [choice for choice in pieces if choice.pieces]


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "by indentation"])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: f"{chain.path}: {chain.heads[0]}")
def test_the_head_of_each_branch_around_and_between_shown_lines_is_shown(chain, indexed):
    for seed in range(2):
        text = sample_of(chain, seed)
        body = body_of(chain.path, text, indexed=indexed)
        inner = [line.strip() for head in chain.heads for line in head.split("\n") if line.strip(" {}")]
        heads = [number for number, line in body.lines.items() if line.strip() in inner]
        end = max(number for number, line in body.lines.items() if "a note" in line or number in heads)
        choices = cases(body)
        assert any(not pieces.is_whole for pieces in choices)
        for pieces in choices:
            shown = check_complete(body, pieces)
            firsts = {row.first for row in pieces.outline}
            steps = [n for n in shown if heads[0] < n <= end and n not in heads and "a note" not in body.lines[n]
                     and not is_closing(body.lines[n]) and any(map(str.isalnum, body.lines[n]))]  # fmt: skip
            for step in steps:
                above = [head for head in heads if head < step]
                assert above[-1] in shown, (body.lines[step], pieces)
            for head in heads if steps else ():
                if head < max(steps):
                    row = next((row for row in pieces.outline if row.first <= head <= row.last), None)
                    assert head in shown or (row and {row.first, row.first + 1} & set(heads)), (head, firsts)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: f"{chain.path}: {chain.heads[0]}")
def test_no_statement_and_no_head_is_shown_in_part(chain):
    texts = [sample_of(chain, seed) for seed in range(2)]
    if chain is next(other for other in CHAINS if other.path == chain.path):
        texts.append(sample(DIALECT_OF[chain.path]))
    for text in texts:
        body = body_of(chain.path, text, indexed=True)
        language = language_of(chain.path)
        _, tree = syntax_tree(source_of(chain.path, text), language)
        assert not tree.root_node.has_error, text
        lists = frozenset(_statement_lists(language))
        statements = [*leaves(tree.root_node), *heads_of(tree.root_node, lists)]
        for pieces in cases(body):
            parts = part_of(body, pieces)
            for first, last in statements:
                if body.head <= first:
                    assert len({parts[line] for line in range(first, last + 1)}) == 1, (first, last, pieces)
