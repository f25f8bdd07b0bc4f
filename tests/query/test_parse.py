"""The keyword language: the meaning of each query, its compiled form, and that any input is
answered or refused.
"""

import os
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex.engines.text.index.schema import make_schema
from cortex.engines.text.matches.compile import Target, compile_query
from cortex.query.check import QUERY_BYTES_MAX
from cortex.query.leaf import literal
from cortex.query.lex import DEPTH_MAX, TERMS_MAX
from cortex.query.parse import Parsed, parse
from cortex.query.rewrite import WORDS_MAX
from cortex.query.tree import (
    And,
    Anything,
    Boost,
    Fuzzy,
    Not,
    Or,
    Phrase,
    Range,
    Regex,
    Term,
    Wildcard,
    leaves,
)
from cortex.system.errors import BadRequest
from tests.drawn_examples import scaled

GOLDEN = Path(__file__).parents[1] / "golden" / "exact_queries.txt"
SCHEMA = make_schema()
FIELDS = re.findall(
    r"\w+",
    "key slot bits_low bits_high row text parts title symbols file_path path tags chunk_type language defx start_line joined lane_body "
    "lane_path lane_defs lane_comments",
)


def node(query, match_type=None):
    return strip(parse(query, match_type).node)


def strip(tree):
    """Return the tree without positions."""
    match tree:
        case And(children):
            return And(tuple(map(strip, children)))
        case Or(children, required, excluded):
            return Or(tuple(map(strip, children)), tuple(map(strip, required)), tuple(map(strip, excluded)))
        case Not(child):
            return Not(strip(child))
        case Boost(child, factor):
            return Boost(strip(child), factor)
        case Anything():
            return tree
    return type(tree)(**{name: getattr(tree, name) for name in tree.__slots__ if name != "position"})


def t(text, field="text"):
    return Term(field, text)


def render(query):
    """Return a compiled query in a readable form."""
    text = re.sub(
        r'Regex\("([^\n]*)"\)\n.*?\n, field: Field\((\d+)\)',
        r"/\1/ in Field(\2)",
        repr(query),
        flags=re.DOTALL,
    )
    text = re.sub(
        r"Term\(field=(\d+), type=(?:Str|U64), ([^)]*)\)", lambda m: f"{FIELDS[int(m[1])]}:{m[2]}", text
    )
    text = re.sub(r"Field\((\d+)\)", lambda m: FIELDS[int(m[1])], text)
    text = re.sub(r"BooleanQuery \{ subqueries: |, minimum_number_should_match: \d+ (?=\})", "", text)
    return text.removeprefix("Query(").removesuffix(")")


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        ("Provider", t("Provider")),
        ("a b", And((t("a"), t("b")))),
        ("a AND b OR c", Or((And((t("a"), t("b"))), t("c")))),
        ("a b OR c d", Or((And((t("a"), t("b"))), And((t("c"), t("d")))))),
        ("a OR b AND NOT c", Or((t("a"), And((t("b"), Not(t("c"))))))),
        ("NOT a b", And((Not(t("a")), t("b")))),
        ("+a -b", And((t("a"), Not(t("b"))))),
        ("a AND b -c OR d", Or((And((t("a"), t("b"), Not(t("c")))), t("d")))),
        ("a OR b -c OR +d", Or((t("a"), And((t("b"), Not(t("c"))))), (t("d"),))),
        ("a AND b TO OR c", Or((And((t("a"), t("b"), t("TO"))), t("c")))),
        ("a OR +b OR -c", Or((t("a"),), (t("b"),), (t("c"),))),
        ("-file_path:test", Not(t("test", "file_path"))),
        ("NOT -a", t("a")),
        ("tags:(go OR python)", Or((t("go", "tags"), t("python", "tags")))),
        ("tags:(go title:x)", And((t("go", "tags"), t("x", "title")))),
        ("(a OR b)^2", Boost(Or((t("a"), t("b"))), 2.0)),
        ("term^2.5", Boost(t("term"), 2.5)),
        ('"error handling"', Phrase("text", "error handling")),
        ('"near words"~3', Phrase("text", "near words", 3)),
        ('a"b c"', And((t("a"), Phrase("text", "b c")))),
        ("Prov*", Wildcard("text", ("Prov", "*"))),
        ("get*Name", Wildcard("text", ("get", "*", "Name"))),
        ("wh?t", Wildcard("text", ("wh", "?", "t"))),
        ("Some(x)?", t("Some(x)?")),
        (r"a\*b", t("a*b")),
        (r"\*a", t("*a")),
        (r"\*", Regex(r"\*")),
        (r"a\ b", t("a b")),
        ("a\\\nb", t("a\nb")),
        ('"a\\\nb"', Phrase("text", "a\nb")),
        ("Provdier~1", Fuzzy("text", "Provdier", 1)),
        ("Provdier~", Fuzzy("text", "Provdier", 2)),
        ("abc~", Fuzzy("text", "abc", 1)),
        ("abc ~1 ^2", Boost(Fuzzy("text", "abc", 1), 2.0)),
        ("TO~1", Fuzzy("text", "TO", 1)),
        ("~Destructor", t("~Destructor")),
        ("start_line:[10 TO 50]", Range("start_line", 10, 50)),
        ("start_line:{10 TO 50}", Range("start_line", 11, 49)),
        ("start_line:[10 TO *]", Range("start_line", 10, None)),
        ("start_line:>10", Range("start_line", 11, None)),
        ("start_line:<=10", Range("start_line", None, 10)),
        ("start_line:7", Range("start_line", 7, 7)),
        ("/get.*Name/", Regex("get.*Name")),
        (r"/a\/b/", Regex("a/b")),
        ("/usr/bin", t("/usr/bin")),
        ("std::vector", t("std::vector")),
        ("a std::vector foo:bar", And((t("a"), t("std::vector"), t("foo:bar")))),
        ("foo()", t("foo()")),
        ("(foo(a b) OR c)", Or((And((t("foo(a"), t("b)"))), t("c")))),
        ("->next", t("->next")),
        ("x->next", t("x->next")),
        ("@decorator", t("@decorator")),
        ("#include <stdio.h>", And((t("#include"), t("<stdio.h>")))),
        ("a[0]", t("a[0]")),
        ("[]byte", t("[]byte")),
        ("C++", t("C++")),
        ("--flag", t("--flag")),
        ("a - b", And((t("a"), t("-"), t("b")))),
        ("it's", t("it's")),
        ("a\\", t("a\\")),
        ('"unknown: field"', Phrase("text", "unknown: field")),
        ("and or not", And((t("and"), t("or"), t("not")))),
        ("TO", t("TO")),
        ("*", Anything()),
        ("title:*", Anything()),
    ],
)
def test_a_query_is_parsed_to_its_meaning(query, meaning):
    assert node(query) == meaning


@pytest.mark.parametrize(
    ("query", "match_type", "echo", "meaning"),
    [
        ("Provider", None, "exact", t("Provider")),
        ("Provider", "exact", "exact", t("Provider")),
        ("error handling", "phrase", "phrase", Phrase("text", "error handling")),
        ("Prov", "prefix", "prefix", Wildcard("text", ("Prov", "*"))),
        ("Provdier", "fuzzy", "fuzzy", Fuzzy("text", "Provdier", 2)),
        ("text:Prov", "prefix", "prefix", Wildcard("text", ("Prov", "*"))),
        ("Prov*", None, "prefix", Wildcard("text", ("Prov", "*"))),
        ("a AND b", "prefix", "boolean", And((t("a"), t("b")))),
        ("-a", "fuzzy", "boolean", Not(t("a"))),
        ("foo(", "substring", "substring", Regex(r"foo\(")),
        ("(a", "regex", "regex", Regex("(a")),
    ],
)
def test_match_type_applies_to_bare_terms_and_operators_win(query, match_type, echo, meaning):
    parsed = parse(query, match_type)
    assert (parsed.match_type, strip(parsed.node)) == (echo, meaning)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("a\0b", "NUL character at position 2"),
        ("a" * (QUERY_BYTES_MAX + 1), f"{QUERY_BYTES_MAX + 1} bytes long; at most {QUERY_BYTES_MAX}"),
        ('say "hello', "quote at position 5"),
        ("(a OR b", "parenthesis at position 1"),
        ("a)", "parenthesis at position 2"),
        ("colour:red tags:go", "`colour:` at position 1"),
        ("a titel:b", "did you mean `title:`"),
        ("title:", "Nothing follows `title:`"),
        ("a OR", "ends at position 4, where a term should follow"),
        ("AND a", "cannot be read at position 1"),
        ("a AND OR b", "position 7"),
        ("a~3", "0, 1 or 2"),
        ("a~30", "~30 at position 1"),
        (" " + "a~2 " * 65, "position 258"),
        ('"a b"~1.5', "~1.5 at position 1: the words of a phrase are a whole number of words apart"),
        ("(a) ~1", "cannot be read at position 5"),
        ("a^2 ^3", "cannot be read at position 5"),
        ("start_line:[-1 TO 5]", "takes a number"),
        ("start_line:>=5~1", "cannot be read at position 15"),
        ("a^0", "boost"),
        ("start_line:x", "takes a number"),
        ("start_line:[a TO b]", "takes a number"),
        ("title:[a TO b]", "start_line only"),
        ("title:/a/", "searches the text"),
        ('"a b"~1000', "too far"),
        ("(" * 60 + "a" + ")" * 60, "groups inside each other"),
        (
            "a " * (TERMS_MAX + 1),
            f"more than {TERMS_MAX} terms (the next is at position {2 * TERMS_MAX + 1})",
        ),
        ("-a " * (TERMS_MAX + 1), f"more than {TERMS_MAX} terms"),
        ("(NOT a OR b) " * TERMS_MAX, f"more than {TERMS_MAX} terms"),
        ('"' + "a " * (WORDS_MAX + 1) + '"', f"more than {WORDS_MAX} words (the next are at position 1)"),
        ('b NOT "' + "a " * WORDS_MAX + '"', "more than"),
        ("a." * (WORDS_MAX + 1), "more than"),
        ('"' + "self " * 12 + '"~100', "~100 at position 1 is too far for 12 words; at most ~4"),
        ('x "a b c d"~21', "~21 at position 3 is too far for 4 words; at most ~20"),
        ("\ud800", "surrogate at position 1"),
        ("a~2 " * 65, "more than 64 words with wildcards or ~ (the next is at position 257)"),
        ("a " + "b." * 65 + "~2", "more than 64 words with wildcards or ~ (the next is at position 3)"),
        (("a" * 200 + "~2 ") * 6, "more than 1024 letters (the next is at position 1016)"),
        ("中" * 65 + "~", "more than 64 words with wildcards"),
        ("a." * 65 + "b*", "more than 64 words with wildcards"),
        ("中" * (WORDS_MAX + 1), "more than 1024 words"),
        ('"' + "中" * (WORDS_MAX + 1) + '"~1', "more than 1024 words"),
        ("aB" * WORDS_MAX, "more than 1024 words"),
        ("aB" * WORDS_MAX + "*", "more than 1024 words"),
        ("a_" * (WORDS_MAX + 1) + "~1", "more than 1024 words"),
    ],
)
def test_a_query_that_cannot_be_read_is_refused_with_the_place(query, sentence):
    with pytest.raises(BadRequest, match=re.escape(sentence)):
        parse(query)


@pytest.mark.parametrize("match_type", ["fuzzy", "prefix"])
@pytest.mark.parametrize("word", ["text::", "中", "a."])
def test_a_word_of_too_many_parts_is_refused_for_every_match_type(word, match_type):
    """Three thousand parts took gigabytes."""
    with pytest.raises(BadRequest, match="more than 64 words"):
        parse(word * 65, match_type)
    parse(word * 63, match_type)


@pytest.mark.parametrize(
    "query",
    ["NOT " * 1000, "(" * 10_000 + "a" + ")" * 10_000, "(NOT " * 9000, "a" + " ^2" * 10_000, "-(" * 9000],
)
def test_a_query_nested_too_deeply_is_refused_with_the_place(query):
    with pytest.raises(BadRequest, match="position"):
        parse(query)


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        ("NOT " * 10_001 + "a", Not(t("a"))),
        ("-NOT " * 10_000 + "a", t("a")),
        ("NOT text:" * 5001 + "a", Not(t("a"))),
        ("f(" * 1000, t("f(" * 1000)),
    ],
)
def test_a_flat_query_that_looks_nested_is_read_at_any_length(query, meaning):
    assert node(query) == meaning


def test_groups_as_deep_as_allowed_compile():
    compile_query(parse("(NOT a OR b " * DEPTH_MAX + ")" * DEPTH_MAX).node, Target(SCHEMA))


@st.composite
def conditions(draw, depth=2):
    """Return a query and its equivalent in Python, where `not`, `and` and `or` bind the
    same way.
    """
    lists = []
    for _ in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 3))
        operands, python = [], []
        for at in range(count):
            query = meaning = draw(st.sampled_from("abcd"))
            if depth and draw(st.booleans()):
                query, meaning = (f"({operand})" for operand in draw(conditions(depth=depth - 1)))
            # In a list joined by OR, a single + or - has a special meaning.
            sign = draw(st.sampled_from(["", "NOT ", "+", "-"] if count > 1 else ["", "NOT "]))
            operands += [draw(st.sampled_from([" ", " AND "])) if at else "", sign + query]
            python.append("not " * (sign in ("NOT ", "-")) + meaning)
        lists.append(("".join(operands), " and ".join(python)))
    return " OR ".join(query for query, _ in lists), " or ".join(python for _, python in lists)


def holds(tree, truth):
    match tree:
        case Term(text=text):
            return truth[text]
        case Not(child=child):
            return not holds(child, truth)
        case And(children=children):
            return all(holds(child, truth) for child in children)
        case Or(children=children):
            return any(holds(child, truth) for child in children)
    raise AssertionError(tree)


@settings(max_examples=scaled(300), deadline=None)
@given(conditions())
@example(("a AND b -c OR d", "a and b and not c or d"))
def test_operators_bind_as_they_do_in_python(condition):
    query, python = condition
    for values in product([False, True], repeat=4):
        truth = dict(zip("abcd", values, strict=True))
        assert holds(parse(query).node, truth) == eval(python, {}, truth)


@pytest.mark.parametrize(
    ("query", "literally"),
    [
        ("->", "->"), ("=>", "=>"), ("&&", "&&"), (":=", ":="), ("-> ::", "-> ::"), ('"->"', "->"), ("<<", "<<"),
        ("()", "()"), (")", ")"), ("(", "("), ('"', '"'), ("\\*", "*"), ("\\", "\\"), ("\U0001f680", "\U0001f680"),
        (" ?. ", "?."), ("~", "~"), ("-", "-"), ("[]", "[]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("match_type", [None, "exact", "phrase", "prefix", "fuzzy"])
def test_a_query_of_punctuation_alone_is_a_literal(query, literally, match_type):
    assert parse(query, match_type) == Parsed(Regex(literal(literally)), "substring")


def test_punctuation_beside_words_that_are_none_is_refused_when_it_is_compiled():
    with pytest.raises(BadRequest, match="only punctuation"):
        compile_query(parse("title:->").node, Target(SCHEMA))


@pytest.mark.parametrize(
    "text",
    [
        "App\\Http\\Controller",
        "\\App\\Http",
        "src\\auth\\session.ts",
        "\\begin{figure}",
        "CORP\\ada",
        "C:\\src\\a.py",
    ],
)
def test_a_backslash_before_a_letter_escapes_nothing(text):
    assert parse(text).node == Term("text", text)
    assert parse(f'"{text}"').node == Phrase("text", text, 0)


@pytest.mark.parametrize("query", ["caf\u00e9", "cafe\u0301"])
def test_a_letter_with_a_mark_is_sought_as_one_character_and_as_two(query):
    texts = {leaf.text for leaf in leaves(parse(query).node)}
    assert texts == {"caf\u00e9", "cafe\u0301"}
    assert parse(query).match_type == "exact"
    assert set(parse(query, "substring").node.pattern.split("|")) == texts
    assert parse("\ud55c\uae00").node == Term("text", "\ud55c\uae00")


def test_a_thousand_clauses_compile():
    compile_query(parse(" OR ".join(f"w{n}" for n in range(1000))).node, Target(SCHEMA))


GOLDEN_QUERIES = [
    "provider", "getUserById", "sync.RWMutex", '"error handling"', '"near words"~3', "Prov*", "get*Name", "sync.RW*",
    "Provdier~1", "foo~2", "a -b", "-a", "a OR +b OR -c", "a OR b c", "term^2", "tags:Go", "tags:(go OR python)",
    "title:FooBar", "file_path:src/auth", "file_path:*_test.go", "symbols:Foo", "chunk_type:code", "language:Go*",
    "start_line:[10 TO 50]", "start_line:>=5", "-> foo", "中文 größe", "*", "/x/ foo",
]  # fmt: skip


def test_queries_compile_as_in_the_golden_file():
    lines = []
    for query in GOLDEN_QUERIES:
        try:
            compiled = render(compile_query(parse(query).node, Target(SCHEMA)))
        except BadRequest as error:
            compiled = f"BadRequest: {error}"
        lines.append(f"{query}\n    {compiled}\n")
    compiled_text = "\n".join(lines)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(compiled_text, encoding="utf-8")
    assert compiled_text == GOLDEN.read_text(encoding="utf-8")


PIECES = st.sampled_from(
    ["a", "Foo", "_x", " ", "  ", "AND", "OR", "NOT", "TO", "(", ")", '"', "'", "+", "-", "~", "~1", "^", "^2", "*", "?",
     ":", "::", "text:", "tags:", "start_line:", "[", "]", "{", "}", "[1 TO 5]", ">", "<=3", "/", "\\", "中", "é", "\n",
     ".", "->", "&&", "||", "!", "#", "@", "1", "0x1F", "\x1f", "\u2028", "İ"]
)  # fmt: skip


@settings(max_examples=scaled(400), deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join)))
@example('a" OR (b')
@example("a^^2~~1")
@example("T12:30")
@example("0~.")
@example("(a)^..")
def test_any_input_is_compiled_or_refused(query):
    for match_type in (None, "phrase", "prefix", "fuzzy"):
        try:
            compile_query(parse(query, match_type).node, Target(SCHEMA))
        except BadRequest as error:
            outcome = str(error)
        else:
            outcome = "compiled"
        assert outcome
