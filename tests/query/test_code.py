"""Queries that are pieces of code or log lines: the conditions for a literal search."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.query.leaf import literal
from cortex.query.parse import Parsed, parse, read_query
from cortex.query.tree import Regex
from cortex.system.errors import BadRequest
from tests.drawn_examples import scaled


@pytest.mark.parametrize(
    "query",
    [
        "http://localhost:8080",
        "file://x",
        "TODO: fix",
        "key: value",
        "colour:red",
        "error: cannot find",
        "T12:30",
        "std::vector<int>",
        "Map<String, Foo>",
        "a->b",
        "foo[0]",
        "x == y",
        "x = 5",
        "if err != nil {",
        "foo.bar(1, 2)",
        "a && b",
        "toFormData(",
        "while(x",
    ],
)
def test_code_and_lines_with_a_colon_are_literal_searches_with_a_note(query):
    readings = read_query(query)
    assert isinstance(readings.first.node, Regex)
    assert readings.first.match_type == "substring"
    assert readings.otherwise is not None
    assert f"literal text `{query}`" in readings.note


@pytest.mark.parametrize(
    "query",
    [
        "sync.RWMutex",
        "std::vector",
        "->next",
        "foo()",
        "[]byte",
        "Some(x)?",
        "#include <stdio.h>",
        "a b",
        "a OR b == c",
        "text:a->b",
        '"error handling"',
        '"sync.RWMutex"',
        '"a->b"~2',
        '"a->b" OR c',
        'title:"a->b"',
        '-"a->b"',
        '"->"',
        "-a->b",
        "a->b*",
        "a->b~1",
        "x\\ ==\\ y",
    ],
)
def test_valid_queries_keep_their_meaning(query):
    assert read_query(query).first == parse(query)
    assert read_query(query).note == ""


@pytest.mark.parametrize(
    "text", ["toFormData(", "f(x)", "a->b", "x == y", "if (a) {", "#define MAX", "!done"]
)
def test_quoted_code_is_the_text_between_the_quotes_and_its_words_if_there_is_none(text):
    readings = read_query(f'"{text}"')
    assert readings.first == Parsed(Regex(literal(text)), "substring")
    assert readings.otherwise == parse(f'"{text}"')
    assert f"literal text `{text}`" in readings.note


def test_quoted_code_and_the_other_terms_are_all_required():
    readings = read_query('tags:go "save(" store')
    tag, code, word = readings.first.node.children
    assert (tag.text, code.pattern, word.text) == ("go", literal("save("), "store")
    assert readings.first.match_type == readings.otherwise.match_type == "boolean"


@pytest.mark.parametrize(
    "query",
    [
        "titel:b",
        "a titel:b",
        "title:",
        "text: foo",
        "TODO: x AND y",
        "tags:go TODO: x",
        'say "TODO: x',
        "(a OR b",
    ],
)
def test_a_mistake_in_the_query_language_stays_an_error(query):
    with pytest.raises(BadRequest, match="position"):
        read_query(query)


@pytest.mark.parametrize("match_type", ["phrase", "prefix", "fuzzy", "regex", "substring"])
def test_a_match_type_that_was_asked_for_is_used(match_type):
    assert read_query("a->b", match_type).first == parse("a->b", match_type)


@settings(max_examples=scaled(300), deadline=None)
@given(st.text(max_size=60))
def test_every_query_that_parses_is_tried_as_parsed(query):
    try:
        parsed = parse(query)
    except BadRequest:
        return
    readings = read_query(query)
    assert isinstance(readings.first, Parsed)
    assert parsed in (readings.first, readings.otherwise)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("path:cortex print", "file_path:cortex print"),
        ('path:cortex "print("', 'file_path:cortex "print("'),
        ("-file:test handler", "-file_path:test handler"),
        ("lang:go handler", "language:go handler"),
        ("symbol:Save OR sym:Load", "symbols:Save OR symbols:Load"),
        ("tag:go content:handler", "tags:go text:handler"),
    ],
)
def test_fields_have_the_names_of_other_search_engines_too(written, meant):
    def describe(query):
        node = read_query(query).first.node
        return re.sub(r"position=\d+", "", repr(node))

    assert describe(written) == describe(meant)


@pytest.mark.parametrize("query", ["path: str", "file:///etc/hosts", "file:"])
def test_a_field_name_of_other_engines_in_code_stays_code(query):
    assert read_query(query).first.match_type == "substring"
