"""The kind of a line that matches a query: by the syntax tree, else by the line."""

import random
import re

import numpy as np
import orjson
import pytest

from cortex.engines.text.matches import kinds as kinds_module
from cortex.engines.text.matches.highlight import check_match, make_needles
from cortex.engines.text.matches.kinds import KINDS, find_kinds
from cortex.engines.text.matches.line_matches import Body, find_in_all, join_texts, marked_lines
from cortex.query.parse import parse
from cortex.query.tree import leaves
from cortex.terms import tokens
from ipc.messages import Hit


def kinds_of(path, text, word, **definitions):
    """The kinds of the lines of a file with `word`; definitions as name=(kind, line)."""
    hit = Hit(1, "a", "code", path, 1, text.count("\n") + 1)
    body = Body(join_texts([text]), [hit], [0.9], np.arange(1))
    spans = [match.span() for match in re.finditer(re.escape(word), text)]
    entries = [{"name": name, "kind": kind, "start_line": at} for name, (kind, at) in definitions.items()]
    raw_chunks = [orjson.dumps({"metadata": {"definitions": entries}})]
    return [KINDS[at] for at in find_kinds(body, marked_lines(body, [np.array(spans)]), raw_chunks).tolist()]


@pytest.mark.parametrize(
    ("path", "text", "word", "kinds"),
    [
        ("a.cs", 'return new Failed("No columns were selected");', "No", ["text"]),
        ("a.c", "drop(db, key, DB_FLAG_KEY_EXPIRED);", "DB_FLAG_KEY_EXPIRED", ["text"]),
        ("a.c", "checkAlreadyExpired(when);", "Expired", ["call"]),
        ("a.js", "return function isSame(url) {\n  isSame(url);", "isSame", ["definition", "call"]),
        ("a.h", "#define FIND_MAX 9\nint size = FIND_MAX;", "FIND_MAX", ["definition", "text"]),
        ("a.h", "/* Fields:\n - find (line 3251)\n - more */\nfind(3);", "find", ["comment", "call"]),
        ("a.h", " - find (line 9)\n - more */\nfind(3);", "find", ["comment", "call"]),
        ("a.js", 'find(1);\nglob("**/*.js");\n/* done */', "find", ["call"]),
        ("a.js", 'glob("src/**/*.js");\nfind(1);', "find", ["call"]),
        ("a.js", 'get("http://find");\nfind(1);  // find', "find", ["text", "call"]),
        ("a.go", "x := 1 // then find(x)", "find", ["comment"]),
        ("a.py", "x = 1  # then find(x)\ny = '# ' + find(1)", "find", ["comment", "call"]),
        (
            "a.py",
            'def f():\n    """Says\n\n    find (it).\n    """\n    find(1)',
            "find",
            ["comment", "call"],
        ),
        ("a.py", '    ends at find.\n    """\n    find(1)', "find", ["comment", "call"]),
        ("a.py", '    ends at find."""\n    x = """find\n"""', "find", ["comment", "text"]),
        ("a.py", '    x = 1\n    """\n    find it\n    """\n    find(1)', "find", ["comment", "call"]),
        ("a.py", 'SAID = """\\\nNo find(1): %s\n"""\nfind(1)', "find", ["text", "call"]),
        ("a.py", "raise Bad(f'''\nimport find\n''')\nfind(1)", "find", ["text", "call"]),
        ("a.py", '"""\nSays find.\n"""\nfind(1)', "find", ["comment", "call"]),
        ("a.rs", "fn go<'a>(one: &'a Find) -> &'a str {", "Find", ["type"]),
        ("a.sql", "-- find it\nselect find(1)", "find", ["comment", "call"]),
        ("a.erl", "% find it\nx() -> find(1).", "find", ["comment", "call"]),
        ("a.tf", "x = 1 # then find(x)\n", "find", ["comment"]),
        ("a.c", "--find;", "find", ["text"]),
    ],
)
def test_a_line_has_the_kind_of_its_matched_word(path, text, word, kinds):
    assert kinds_of(path, text, word) == kinds


def test_lines_of_tests_and_documents_are_not_inspected(
    monkeypatch,
):
    text = "find(1)\nx = Find\n"
    chunks = [("tests/test_a.py", "code"), ("a.py", "code"), ("docs/a.md", "documentation"), ("b.py", "code")]
    hits = [Hit(at, f"{at}", kind, path, 1, 3) for at, (path, kind) in enumerate(chunks)]
    body = Body(join_texts([text] * 4), hits, [0.9] * 4, np.arange(4))
    spans = [match.span() for match in re.finditer("find", body.text, re.IGNORECASE)]
    looked, ends = [], kinds_module._LineClassifier._word_bounds
    monkeypatch.setattr(
        kinds_module._LineClassifier, "_word_bounds", lambda *of: looked.append(of[1:]) or ends(*of)
    )
    kinds = [
        KINDS[at] for at in find_kinds(body, marked_lines(body, [np.array(spans)]), [b"{}"] * 4).tolist()
    ]
    assert kinds == ["test", "test", "call", "type", "text", "text", "call", "type"]
    assert looked == [spans[at] for at in (2, 3, 6, 7)]


def test_the_syntax_tree_decides_the_kind_of_a_name():
    text = "class store:\n    pass\n\n\nkept: store\n"
    assert kinds_of("a.py", text, "store", store=("class", 1)) == ["definition", "type"]
    text = "def Store():\n    pass\n\n\nmade = map(Store, x)\n"
    assert kinds_of("a.py", text, "Store", Store=("function", 1)) == ["definition", "text"]


def test_a_function_that_calls_itself_is_defined_once():
    text = "int find(int n) {\n    return n ? find(n - 1) : 0;\n}"
    assert kinds_of("a.c", text, "find", find=("function", 1)) == ["definition", "call"]


def test_the_value_of_a_constant_is_its_definition():
    text = 'const (\n  kept = "DESCRIPTIONS"\n)\nshow("DESCRIPTIONS")'
    assert kinds_of("a.go", text, "DESCRIPTIONS", kept=("constant", 1)) == ["definition", "text"]


def test_a_line_that_is_a_definition_in_one_file_is_one_in_its_copy():
    text = "var isSame = ok ? 1 : 2;"
    hits = [Hit(1, "a", "code", "a.js", 1, 1), Hit(2, "b", "code", "b.js", 1, 1)]
    body = Body(join_texts([text, "  " + text]), hits, [0.9, 0.8], np.arange(2))
    spans = [match.span() for match in re.finditer("isSame", body.text)]
    raw_chunks = [b'{"metadata":{"definitions":[{"name":"isSame","kind":"variable","start_line":1}]}}', b"{}"]
    kinds = [KINDS[at] for at in find_kinds(body, marked_lines(body, [np.array(spans)]), raw_chunks).tolist()]
    assert kinds == ["definition", "definition"]


@pytest.mark.parametrize("query", ["ab", "a*", "ab1", '"a b"', "Bé", "a_b"])
def test_marks_in_many_texts_are_those_of_each_text_alone(query):
    chance = random.Random(query)
    texts = ["".join(chance.choices("aAbBbé1_ É→ª-", k=chance.randrange(60))) for _ in range(300)]
    needles, *_ = make_needles(leaves(parse(query).node), lambda word, _: [word]).values()
    expected = set()
    joined = join_texts(texts)
    for text, start in zip(texts, joined.starts.tolist(), strict=True):
        spans = []
        for needle in needles:
            if not (needle.spare and spans):
                matches = needle.source.finditer(tokens.lowered(text))
                spans += [span for match in matches for span in check_match(needle, text, *match.span())]
        expected.update((start + begin, start + end) for begin, end in spans)
    assert {tuple(span) for span in find_in_all(joined, [needles])[0].tolist()} == expected
    assert expected
