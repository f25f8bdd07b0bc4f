"""The blocks of long definitions: whole statements, in every language."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import pytest
from tree_sitter import Node

from cortex.embedders.protocol import estimate_tokens
from cortex.indexer import chunkers
from cortex.indexer.syntax import parse as parsing
from cortex.indexer.syntax.blocks import DEPTH_MAX, GROUP_LINES, LONG_LINES
from cortex.indexer.syntax.parse import parse, syntax_tree
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import PARSED, language_of
from cortex.terms.records import Symbol

#: nodes that hold statements, and so are no part of a statement without others
_HOLDS_STATEMENTS = re.compile(
    r"block|case_|_body$|body_|compound_statement|statement_list|^then$|^else|^do|declaration_list"
)
_STATEMENT = re.compile(
    r"statement$|declaration$|assignment|^call|_call$|command$|call_expression$|invocation"
)


CODE = [language for language in PARSED if language.kind == "code" and language.query not in ("html", "json")]


@dataclass(frozen=True)
class Dialect:
    """The words of one language; `{}` in them is a number."""

    path: str
    head: str
    tail: str
    step: str
    call: str
    when: str
    otherwise: str
    loop: str
    end: str
    closure: tuple[str, str]
    comment: str = "//"


_BRACES = {"when": "if (ready) {", "otherwise": "} else {", "end": "}"}
DIALECTS = [
    Dialect(
        "a.py",
        "class Shop:\n    def total(self, items):",
        "",
        "step{} = {}",
        "send(\n    {},\n    name,\n    items,\n)",
        "if ready:",
        "else:",
        "for item in items:",
        "",
        ("with opened() as file:", ""),
        "#",
    ),
    Dialect(
        "a.ts",
        "export function total(items: string[]): number {",
        "}",
        "const step{} = {};",
        "send(\n    {},\n    name,\n    items,\n);",
        loop="for (const item of items) {",
        closure=("items.forEach((item) => {", "});"),
        **_BRACES,
    ),
    Dialect(
        "a.js",
        "exports.total = function (items) {",
        "};",
        "step = {};",
        "send(\n    {},\n    name,\n    items\n);",
        loop="while (items) {",
        closure=("describe('it', function () {", "});"),
        **_BRACES,
    ),
    Dialect(
        "a.go",
        "package a\n\nfunc (shop *Shop) Total(items []string) int {",
        "}",
        "step{} := {}",
        "send(\n    {},\n    name,\n    items,\n)",
        "if ready {",
        "} else {",
        "for _, item := range items {",
        "}",
        ("run(func() {", "})"),
    ),
    Dialect(
        "a.rs",
        "impl Shop {\n    pub fn total(&self, items: &[Item]) -> u64 {",
        "    }\n}",
        "let step{} = {};",
        "send(\n    {},\n    name,\n    items,\n);",
        "if ready {",
        "} else {",
        "for item in items {",
        "}",
        ("items.iter().map(|item| {", "}).count();"),
    ),
    Dialect(
        "A.java",
        "class Shop {\n    int total(List<Item> items) {",
        "    }\n}",
        "int step{} = {};",
        "send(\n    {},\n    name,\n    items\n);",
        loop="for (Item item : items) {",
        closure=("items.forEach(item -> {", "});"),
        **_BRACES,
    ),
    Dialect(
        "a.c",
        "static int total(struct item *items)\n{",
        "}",
        "int step{} = {};",
        "send(\n    {},\n    name,\n    items\n);",
        loop="while (items) {",
        closure=("switch (items) {\ncase 1:", "}"),
        **_BRACES,
    ),
    Dialect(
        "a.cpp",
        "int Shop::total(const Items &items) {",
        "}",
        "int step{} = {};",
        "send(\n    {},\n    name,\n    items\n);",
        loop="for (auto &item : items) {",
        closure=("run([&](auto item) {", "});"),
        **_BRACES,
    ),
    Dialect(
        "a.cs",
        "class Shop\n{\n    int Total(Item[] items)\n    {",
        "    }\n}",
        "var step{} = {};",
        "Send(\n    {},\n    name,\n    items\n);",
        "if (ready)\n{",
        "}\nelse\n{",
        "foreach (var item in items)\n{",
        "}",
        ("items.ForEach(item =>\n{", "});"),
    ),
    Dialect(
        "a.rb",
        "class Shop\n  def total(items)",
        "  end\nend",
        "step{} = {}",
        "send_it(\n    {},\n    name,\n    items\n)",
        "if ready",
        "else",
        "while items do",
        "end",
        ("items.each do |item|", "end"),
        "#",
    ),
    Dialect(
        "a.php",
        "<?php\nfunction total($items) {",
        "}",
        "$step = {};",
        "send(\n    {},\n    $name,\n    $items\n);",
        "if ($ready) {",
        "} else {",
        "foreach ($items as $item) {",
        "}",
        ("run(function ($item) {", "});"),
    ),
    Dialect(
        "a.kt",
        "fun total(items: List<Item>): Int {",
        "}",
        "val step{} = {}",
        "send(\n    {},\n    name,\n    items\n)",
        loop="for (item in items) {",
        closure=("items.forEach { item ->", "}"),
        **_BRACES,
    ),
    Dialect(
        "a.lua",
        "function total(items)",
        "end",
        "local step{} = {}",
        "send(\n    {},\n    name,\n    items\n)",
        "if ready then",
        "else",
        "for item in items do",
        "end",
        ("run(function(item)", "end)"),
        "--",
    ),
    Dialect(
        "a.sh",
        "total() {",
        "}",
        "step{}={}",
        "send {} \\\n    name \\\n    items",
        "if ready; then",
        "else",
        "for item in items; do",
        "fi",
        ("while true; do", "done"),
        "#",
    ),
]


def sample(dialect: Dialect) -> str:
    """Return a function with each kind of statement: short, long, commented, nested."""
    numbers = iter(range(1, 1000))

    def steps(count: int) -> str:
        return "\n".join(dialect.step.format(*[number] * 2) for number in islice(numbers, count))

    def call() -> str:
        return dialect.call.format(next(numbers))

    def enclose(head: str, body: str, end: str) -> str:
        return "\n".join(filter(None, (head, indent(body), end)))

    loop_end = "done" if dialect.path == "a.sh" else dialect.end
    note = f"{dialect.comment} a note about what follows"
    loop = enclose(
        dialect.loop, "\n".join((note, steps(5), call(), "", steps(6), note, call(), steps(2))), loop_end
    )
    branch = "\n".join(
        filter(
            None,
            (
                dialect.when,
                indent("\n".join((steps(2), loop))),
                dialect.otherwise,
                indent("\n".join((note, call(), steps(12)))),
                dialect.end,
            ),
        )
    )
    guard = enclose(dialect.when, steps(1), dialect.end)
    inner = enclose(
        dialect.closure[0], "\n".join((call(), steps(3), guard, call(), steps(9))), dialect.closure[1]
    )
    body = "\n".join(
        (steps(3), note, note, call(), "", steps(12), guard, branch, "", note, "", call(), inner, steps(1))
    )
    return "\n".join(filter(None, (dialect.head, indent(indent(body)), dialect.tail))) + "\n"


def indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


@pytest.mark.parametrize("language", CODE, ids=lambda language: language.name)
def test_every_query_names_nodes_of_its_grammar_that_hold_statements(language):
    kinds = parsing._statement_lists(language)
    grammar = parsing._grammar(language.grammar)
    assert kinds
    assert not [kind for kind in kinds if grammar.id_for_node_kind(kind, True) is None]


def source_of(path: str, text: str) -> Source:
    return Source(path, tuple(text.removesuffix("\n").split("\n")))


def long_symbol(path: str, text: str) -> Symbol:
    symbols = parse(source_of(path, text), language_of(path)).symbols
    return next(symbol for symbol in symbols if symbol.name.lower() == "total")


def leaves(node: Node) -> Iterator[tuple[int, int]]:
    """Yield the lines of the statements of several lines that hold no others."""
    first, last = node.start_point[0] + 1, node.end_point[0] + (node.end_point[1] > 0)
    if last <= first:
        return
    if _STATEMENT.search(node.type) and not holds_statements(node):
        yield first, last
    for child in node.children:
        yield from leaves(child)


def holds_statements(node: Node) -> bool:
    return bool(_HOLDS_STATEMENTS.search(node.type)) or any(map(holds_statements, node.children))


def assert_whole(blocks: tuple[tuple[int, int, int], ...], statements: list[tuple[int, int]]) -> None:
    for first, last in statements:
        for low, high, depth in blocks:
            assert not first < low <= last, f"block {low}-{high} ({depth}) begins inside {first}-{last}"
            assert not first <= high < last, f"block {low}-{high} ({depth}) ends inside {first}-{last}"


def assert_ordered(symbol: Symbol) -> None:
    assert list(symbol.blocks) == sorted(symbol.blocks, key=lambda block: (block[0], block[2]))
    ends: dict[int, int] = {}
    for first, last, depth in symbol.blocks:
        assert symbol.start_line <= first <= last <= symbol.end_line
        assert 0 <= depth <= DEPTH_MAX
        assert first > ends.get(depth, 0), "blocks of one depth overlap"
        if depth:
            assert any(
                low <= first and last <= high for low, high, outer in symbol.blocks if outer == depth - 1
            )
        ends[depth] = last


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.path)
def test_blocks_are_whole_statements_in_order(dialect):
    text = sample(dialect)
    source = source_of(dialect.path, text)
    raw, tree = syntax_tree(source, language_of(dialect.path))
    assert not tree.root_node.has_error, raw.decode()
    symbol = long_symbol(dialect.path, text)
    assert_ordered(symbol)
    statements = list(leaves(tree.root_node))
    assert len(statements) >= 6
    assert_whole(symbol.blocks, statements)
    assert {depth for _, _, depth in symbol.blocks} >= {0, 1, 2}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.path)
def test_blocks_of_depth_0_hold_the_body(dialect):
    text = sample(dialect)
    symbol = long_symbol(dialect.path, text)
    lines = text.split("\n")
    covered = {line for low, high, depth in symbol.blocks if not depth for line in range(low, high + 1)}
    for number in range(min(covered), symbol.end_line + 1):
        is_end = not re.search(r"\w", lines[number - 1]) or lines[number - 1].strip() == "end"
        assert number in covered or is_end, lines[number - 1]
    assert not any(re.search("total", lines[line - 1], re.IGNORECASE) for line in covered)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.path)
def test_a_comment_is_in_the_block_of_the_statement_below(dialect):
    text = sample(dialect)
    symbol = long_symbol(dialect.path, text)
    lines = text.split("\n")
    for low, high, _ in symbol.blocks:
        assert "a note" not in lines[high - 1]
        assert lines[low - 1].strip()
        assert "a note" not in lines[low - 2] or low - 1 == symbol.start_line


@pytest.mark.parametrize("module", [argparse, ast, inspect, subprocess], ids=lambda module: module.__name__)
def test_blocks_agree_with_another_parser(module):
    text = inspect.getsource(module)
    symbols = parse(source_of("a.py", text), language_of("a.py")).symbols
    statements = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt)
        and not any(isinstance(inner, ast.stmt) for inner in ast.walk(node) if inner is not node)
    ]
    long = [
        symbol
        for symbol in symbols
        if symbol.end_line - symbol.start_line + 1 >= LONG_LINES
        and symbol.kind in ("class", "method", "function")
    ]
    assert len(long) > 3
    for symbol in long:
        assert symbol.blocks, symbol
        assert_ordered(symbol)
        assert_whole(symbol.blocks, statements)
        covered = {line for low, high, depth in symbol.blocks if not depth for line in range(low, high + 1)}
        assert all(
            line in covered
            for first, last in statements
            if symbol.start_line < first and last <= symbol.end_line
            for line in range(first, last + 1)
        )


def test_short_statements_share_a_block_up_to_a_blank_line():
    steps = [f"    step{number} = {number}" for number in range(20)]
    guard = ["    if step1:", "        return"]
    text = "\n".join(["def total(items):", *steps, "", *steps[:2], *guard, *steps[:10], *steps[:10]])
    blocks = long_symbol("a.py", text).blocks
    assert blocks[0] == (2, 1 + GROUP_LINES, 0)
    assert all(high - low < GROUP_LINES for low, high, _ in blocks)
    assert (18, 21, 0) in blocks
    assert any(low == 23 and high >= 26 for low, high, _ in blocks), "the guard is not with its call"


def test_a_definition_inside_is_one_block_with_blocks_of_its_own():
    inner = ["    def inner():", *(f"        step{number} = {number}" for number in range(50))]
    text = "\n".join(["def total(items):", *inner, *(f"    step{number} = {number}" for number in range(9))])
    outline = parse(source_of("a.py", text), language_of("a.py"))
    outer, nested = outline.symbols
    assert outer.blocks[0] == (2, 52, 0)
    assert {depth for _, _, depth in outer.blocks} == {0}
    assert nested.blocks[0] == (3, 10, 0)


def test_short_definitions_and_data_have_no_blocks():
    body = "\n".join(f"    step{number} = {number}" for number in range(LONG_LINES - 2))
    assert long_symbol("a.py", f"def total():\n{body}").blocks == ()
    assert long_symbol("a.py", f"def total():\n{body}\n    return 1").blocks != ()
    names = "\n".join(f"    '{number}'," for number in range(60))
    assert long_symbol("a.py", f"TOTAL = [\n{names}\n]").blocks == ()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.path)
def test_comments_at_both_ends_of_a_body_are_in_its_blocks(dialect):
    note = f"{dialect.comment} a remark"
    steps = [dialect.step.format(*[number] * 2) for number in range(50)]
    body = "\n".join([note, note, *steps, note])
    text = "\n".join(filter(None, (dialect.head, indent(indent(body)), dialect.tail))) + "\n"
    symbol = long_symbol(dialect.path, text)
    lines = text.split("\n")
    covered = {line for low, high, depth in symbol.blocks if not depth for line in range(low, high + 1)}
    notes = [
        number for number, line in enumerate(lines, 1) if line.strip() == note and number <= symbol.end_line
    ]
    assert set(notes) <= covered
    assert len(notes) >= 2


def test_the_members_of_a_type_are_its_blocks():
    fields = "\n".join(f"\tField{number} int\n" for number in range(30))
    blocks = long_symbol("a.go", f"package a\n\ntype Total struct {{\n{fields}}}\n").blocks
    assert len(blocks) == 30


def test_the_clauses_of_a_function_are_its_blocks():
    clauses = "\n\n".join(f"  def total({number}) do\n    run()\n    {number}\n  end" for number in range(12))
    blocks = long_symbol("a.ex", f"defmodule Shop do\n{clauses}\nend\n").blocks
    assert [high - low for low, high, _ in blocks] == [3] * 12


def test_a_chain_of_any_length_is_read():
    chain = "\n".join(f"    .with(a{number})" for number in range(3000))
    blocks = long_symbol("a.rs", f"fn total() {{\n    let a = b\n{chain};\n    c();\n}}\n").blocks
    assert blocks[0][:2] == (2, 3002)


def test_code_chunks_have_the_blocks_and_views_do_not():
    text = sample(DIALECTS[0])
    cut = chunkers.cut(source_of("a.py", text), estimate_tokens, 100).chunks
    kinds = {
        chunk.chunk_type
        for chunk in cut
        for definition in chunk.metadata["definitions"]
        if definition["name"] == "total" and "blocks" in definition
    }
    assert kinds == {"code"}


def test_blocks_of_a_notebook_are_lines_of_its_file():
    steps = ",\n".join(f'    "    step{number} = {number}\\n"' for number in range(50))
    text = (
        '{"metadata": {"language_info": {"name": "python"}}, "cells": [\n'
        '  {"cell_type": "code", "source": [\n    "def total():\\n",\n' + steps + "]}]}"
    )
    (entry,) = (
        definition
        for chunk in chunkers.cut(source_of("a.ipynb", text), estimate_tokens, 2000).chunks
        for definition in chunk.metadata["definitions"]
    )
    assert (entry["start_line"], entry["end_line"]) == (3, 53)
    assert entry["blocks"][0] == [4, 11, 0]
    assert entry["blocks"][-1][1] == 53
