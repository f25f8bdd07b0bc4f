"""The chunkers: golden files for each language, and properties that hold for every text."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Parser

from cortex.embedders.protocol import estimate_tokens
from cortex.indexer import chunkers
from cortex.indexer.chunkers.documentation import front_matter
from cortex.indexer.chunkers.frame import origin
from cortex.indexer.chunkers.tiles import NEVER, split_to_budget, tile
from cortex.indexer.syntax import parse as parsing
from cortex.indexer.syntax.headings import TITLE_CHARS_MAX
from cortex.indexer.syntax.parse import TooComplex, parse
from cortex.indexer.syntax.source import Source, decode
from cortex.terms.languages import KEYED, PARSED, WINDOWED, language_of, sniff
from cortex.terms.passages import embed_text
from cortex.terms.records import Chunk, covers
from tests.drawn_examples import scaled

GOLDEN = Path(__file__).parents[1] / "golden" / "indexer"
FILES = GOLDEN / "files"
#: small, so that small files have several chunks
BUDGET = 100
NAMES = sorted(path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file())
SUFFIXES = [language.suffixes[0] for language in PARSED + KEYED] + [".txt", ".rst", ".adoc", ".ipynb", ""]


def cut(path: str, text: str, budget: int = BUDGET) -> list[Chunk]:
    source = decode(path, text.encode())
    assert isinstance(source, Source), source
    return chunkers.cut(source, estimate_tokens, budget).chunks


def as_json(chunks: list[Chunk]) -> list[dict[str, object]]:
    return [
        {
            "id": c.id,
            "chunk_type": c.chunk_type,
            "title": c.title,
            "text": c.text,
            "tags": c.tags,
            "metadata": c.metadata,
        }
        for c in chunks
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_each_language_gives_the_expected_chunks(name):
    chunks = cut(name, (FILES / name).read_text("utf-8"))
    raw = orjson.dumps(as_json(chunks), option=orjson.OPT_INDENT_2) + b"\n"
    golden = GOLDEN / f"{name.replace('/', '_')}.json"
    if os.environ.get("CORTEX_UPDATE_GOLDEN"):
        golden.write_bytes(raw)
    assert orjson.loads(raw) == orjson.loads(golden.read_bytes())


def test_every_language_has_a_golden_file():
    documents = {"restructuredtext", "asciidoc", "text", "notebook"}
    assert {language.name for language in PARSED + KEYED} | documents <= {
        language_of(name).name for name in NAMES
    }


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(".ipynb")])
@pytest.mark.parametrize("budget", [32, 300])
def test_the_covering_chunks_tile_every_line(name, budget):
    text = (FILES / name).read_text("utf-8")
    assert_tiles(cut(name, text, budget), text)


def assert_tiles(chunks: list[Chunk], text: str) -> None:
    lines = text.removesuffix("\n").split("\n")
    covering = [c for c in chunks if covers(c.chunk_type)]
    spans: dict[tuple[int, int], str] = {}
    for chunk in covering:
        place = (chunk.metadata["start_line"], chunk.metadata["end_line"])
        spans[place] = spans.get(place, "") + chunk.text
    at = 1
    for (start, end), covered_text in sorted(spans.items()):
        assert start == at
        assert covered_text.replace("\n", "") == "".join(lines[start - 1 : end]).replace("\n", "")
        at = end + 1
    assert at == (len(lines) + 1 if text.strip() else 1)


LINE = st.one_of(
    st.sampled_from(
        [
            "",
            "    ",
            "def f(x):",
            "    return 1",
            "class A {",
            "}",
            "# heading",
            "```",
            "- item",
            "x = [",
            "]",
            "*/",
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=60),
)


@settings(max_examples=scaled(150), deadline=None)
@given(
    lines=st.lists(LINE, min_size=1, max_size=40), suffix=st.sampled_from(SUFFIXES), budget=st.integers(8, 60)
)
def test_any_text_is_tiled_within_the_budget(lines, suffix, budget):
    text = "\n".join(lines) + "\n"
    if text[0] == "\ufeff" or text.encode()[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    chunks = cut(f"a/file{suffix}", text, budget)
    assert bool(chunks) == bool(text.strip())
    assert_tiles(chunks, text)
    assert all(estimate_tokens(c.text) <= budget for c in chunks)
    assert len({c.id for c in chunks}) == len(chunks)


@settings(max_examples=scaled(200), deadline=None)
@given(st.data())
def test_tiles_cover_in_order_and_keep_to_the_budget(data):
    tokens = data.draw(st.lists(st.integers(0, 12), max_size=60))
    costs = data.draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, NEVER]), min_size=len(tokens), max_size=len(tokens))
    )
    tiles = tile(tokens, costs, 20)
    assert [line for low, high in tiles for line in range(low, high)] == list(range(len(tokens)))
    for low, high in tiles:
        forced = all(cost == NEVER for cost in costs[low + 1 : high])
        assert sum(tokens[low:high]) <= 20 or forced


@given(st.text(max_size=300), st.integers(1, 20))
def test_parts_lose_nothing_but_line_ends(text, budget):
    pieces = split_to_budget(text, estimate_tokens, budget)
    assert "".join(pieces).replace("\n", "") == text.replace("\n", "")
    assert all(estimate_tokens(piece) <= budget for piece in pieces)


@given(st.lists(st.text(max_size=30), max_size=10))
def test_a_text_counts_no_more_than_the_sum_of_its_lines(lines):
    assert estimate_tokens("\n".join(lines)) <= sum(map(estimate_tokens, "\n".join(lines).split("\n")))


def test_a_comment_stays_with_the_code_below_it():
    body = "\n".join(f"    x{n} = compute_something({n}, {n})" for n in range(12))
    text = "\n\n".join(f"# explains {name}\ndef {name}():\n{body}" for name in ("one", "two", "three")) + "\n"
    code = [chunk.text for chunk in cut("a.py", text) if chunk.chunk_type == "code" and "def " in chunk.text]
    assert [code_text.lstrip().startswith("# explains") for code_text in code] == [True] * 3


def test_line_numbers_are_in_no_id():
    text = (FILES / "shop/cart.py").read_text()
    moved = cut("shop/cart.py", "\n\n\n" + text)
    assert [c.id for c in cut("shop/cart.py", text)] == [c.id for c in moved]


def test_syntax_errors_give_a_partial_outline():
    chunks = cut("a.py", "def good():\n    return 1\n\ndef bad(:\n    ((\n\nclass Fine:\n    pass\n")
    assert "good" in {name for c in chunks for name in c.metadata.get("symbols", ())}


def test_definitions_of_cpp_behind_macros_are_in_the_outline():
    text = (
        'class SHOP_VISIBILITY("default") Fault : public std::exception {\n public:\n'
        "  int part() LOCKS_EXCLUDED(m);  // é\n  bool open(int n) {\n#ifdef WIDE\n    if (n > 1) {\n#else\n    if (n) {\n#endif\n"
        "      return true;\n    }\n    return false;\n  }\n};\n"
    )
    source = decode("fault.hpp", text.encode())
    assert isinstance(source, Source)
    outline = parse(source, sniff("fault.hpp", source.lines))
    assert [(s.scope, s.name, s.start_line, s.end_line) for s in outline.symbols] == [
        ("", "Fault", 1, 14),
        ("Fault", "part", 3, 3),
        ("Fault", "open", 4, 13),
    ]
    assert outline.symbols[1].signature == "int part() LOCKS_EXCLUDED(m);"
    assert not outline.errors


def test_a_long_line_is_cut_into_parts():
    chunks = cut("a.py", "x = '" + "abcdefgh" * 400 + "'\n")
    code = [c for c in chunks if c.chunk_type == "code"]
    assert [c.id for c in code] == [f"code-a.py#x~1-p{n}" for n in range(1, len(code) + 1)]
    assert len(code) > 1


LATER = "\n\n".join(f"Paragraph {n} of the text that follows." for n in range(40))


@pytest.mark.parametrize(
    ("text", "trail"),
    [
        ("- ### set-cookie\n    - When a cookie is set.", ["T", "Reply", "set-cookie"]),
        ("* ### set-cookie ###\n  text", ["T", "Reply", "set-cookie"]),
        ("1. ### set-cookie\n   text", ["T", "Reply", "set-cookie"]),
        ("- a\n  - ### set-cookie\n    text", ["T", "Reply", "set-cookie"]),
        ("> ### set-cookie\n> text", ["T", "Reply", "set-cookie"]),
        ("> - ### set-cookie\n>   text", ["T", "Reply", "set-cookie"]),
        ("- Cookies\n  that are set\n  ---\n  text", ["T", "Cookies that are set"]),
        ("> Cookies\n> =======\n> text", ["Cookies"]),
    ],
)
def test_a_heading_in_a_list_or_quote_is_its_own_line(text, trail):
    chunks = cut("a.md", f"# T\n\n## Reply\n\nIntro.\n\n{text}\n\n### Next\n{LATER}\n")
    trails = [chunk.metadata["headings"] for chunk in chunks]
    distinct = [names for at, names in enumerate(trails) if names not in trails[:at]]
    assert distinct == [["T", "Reply"], trail, [*trail[:2], "Next"]]


def test_a_title_is_bounded():
    long_name = "word " * 2000
    for name, text in (("a.md", f"# {long_name}\n\nText.\n"), ("a.adoc", f"= {long_name}\n\nText.\n")):
        chunk = cut(name, text)[0]
        assert len(chunk.metadata["scope"]) <= TITLE_CHARS_MAX
        assert len(chunk.title) <= 2 * TITLE_CHARS_MAX


def test_headings_inside_a_fence_cut_nothing():
    chunks = cut("a.md", "# One\n\n```sh\n# not a heading\n```\n\n# Two\n\ntext\n")
    assert [c.id for c in chunks] == ["doc-a.md-s0", "doc-a.md-s1"]


def test_a_notebook_is_its_cells_at_the_lines_of_their_source():
    name = "shop/sales.ipynb"
    text = (FILES / name).read_text("utf-8")
    lines = text.split("\n")
    chunks = cut(name, text)
    assert [(c.chunk_type, c.metadata["cell"]) for c in chunks] == [
        ("documentation", 1),
        ("code", 2),
        ("code", 3),
    ]
    load = chunks[1].metadata["definitions"][0]
    assert "def load(path)" in lines[load["start_line"] - 1]
    assert not any("12 rows" in c.text for c in chunks)


@pytest.mark.parametrize("text", ["{}", "[]", '{"cells": 3}', '{"cells": [1, {}]}', "not json"])
def test_a_notebook_that_is_none_is_plain_text(text):
    assert "".join(c.text for c in cut("a.ipynb", text)) == text


def test_headings_of_restructuredtext_take_their_levels_from_their_order():
    text = "Tt\n==\n\na\n\nUu\n--\n\nb\n\nVv\n~~\n\nc\n\nWw\n--\n\nd\n\n  Xx\n  ==\n"
    assert [c.metadata["headings"] for c in cut("a.rst", text)] == [
        ["Tt"], ["Tt", "Uu"], ["Tt", "Uu", "Vv"], ["Tt", "Ww"],
    ]  # fmt: skip


def test_the_parts_of_a_page_are_read_in_their_own_languages():
    chunks = cut("a.vue", (FILES / "shop/ArticleCard.vue").read_text("utf-8"), 300)
    kinds = {d["name"]: d["kind"] for c in chunks for d in c.metadata["definitions"]}
    assert kinds == {
        "Article": "interface", "props": "variable", "price": "variable", "formatPrice": "function", ".card": "type",
    }  # fmt: skip


def test_the_clauses_of_a_function_are_one_definition():
    chunks = cut("a.hs", "module A where\n\nf :: Int -> Int\nf 0 = 1\nf n = n\n\ng x = x\n")
    definitions = [(d["name"], d["start_line"], d["end_line"]) for d in chunks[0].metadata["definitions"]]
    assert definitions == [("f", 3, 5), ("g", 7, 7)]


def test_front_matter_and_hashtags_become_tags():
    chunks = cut(
        "a.md",
        "---\ntags: [alpha, beta]\n---\n# T\n\nsee #gamma, not #fff or `#code` or [x](#anchor)\n\n```\n#fence\n```\n",
    )
    assert {"alpha", "beta", "gamma"} <= set(chunks[-1].tags)
    assert not {"fff", "code", "fence", "anchor"} & {tag for c in chunks for tag in c.tags}


def test_a_key_in_another_spelling_is_read():
    assert front_matter(("---", '"t\\u0061gs": [a, b]', "---")) == (("a", "b"), 3)
    assert front_matter(("---", "title: x: y", "---")) == ((), 3)


@pytest.mark.parametrize("text", ["---\ntags: [a\n---\n", "---\nnever closed\n", "---\n- list\n---\n"])
def test_bad_front_matter_is_only_text(text):
    assert front_matter(tuple(text.split("\n")))[0] == ()


def test_path_scope_and_signature_are_embedded_but_not_shown():
    metadata = {"file_path": "a/b/c/d.py", "scope": "Cart.add", "signature": "def add(self):"}
    assert embed_text(metadata, "return 1") == "b c d py Cart.add def add(self):\nreturn 1"
    assert embed_text(metadata, "def add(self):\n  return 1").startswith("b c d py Cart.add\n")


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"a\r\nb\r\n", ("a", "b")),
        (b"a\rb", ("a", "b")),
        (b"\xef\xbb\xbfa\n", ("a",)),
        ("añ\n".encode("latin-1"), ("añ",)),
        ("añ\n".encode("utf-16"), ("añ",)),
        (b" \n\n", ()),
        (b"", ()),
        (b"a\x0cb\xe2\x80\xa8c\n", ("a\x0cb\u2028c",)),
    ],
)
def test_any_encoding_and_line_end_is_read(raw, lines):
    source = decode("a.txt", raw)
    assert isinstance(source, Source)
    assert source.lines == lines


@pytest.mark.parametrize("raw", [b"\0\1\2", b"\xff\xfe\x00\xd8\x00"])
def test_binary_is_refused(raw):
    assert decode("a", raw) == "binary"


def test_minified_text_is_refused():
    assert "minified" in str(decode("a.js", b"x" * 30_000))


def test_content_tells_the_language_where_the_name_does_not():
    assert sniff("bin/run", ["#!/usr/bin/env python3"]).name == "python"
    assert sniff("bin/run", ["hello"]).name == "text"
    assert sniff("a.h", ["int x;"]).name == "c"
    assert sniff("a.h", ["#pragma once", "namespace a {"]).name == "cpp"


@pytest.mark.parametrize("language", PARSED, ids=lambda language: language.name)
def test_every_query_fits_its_grammar_and_an_empty_file(language):
    assert parse(Source("x", ()), language).symbols == ()
    assert parse(Source("x", ("",)), language).symbols == ()


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.cpp",
            """\
Disk& Disk::operator=(const Disk& other) { return *this; }
bool Disk::operator==(const Disk& other) const { return true; }
Disk& Disk::operator+=(int size) { return *this; }
Disk& Disk::operator<<=(int size) { return *this; }
bool operator<=(const Disk& one, const Disk& other) { return true; }
""",
            ["operator=", "operator==", "operator+=", "operator<<=", "operator<="],
        ),
        (
            "a.rb",
            """\
class Disk
  def ==(other) = true
  def []=(at, value) = value
  def size=(value)
    @size = value
  end
end
""",
            ["Disk", "==", "[]=", "size"],
        ),
        (
            "a.scala",
            """\
class Disk {
  def ==(other: Disk) = true
  def size_=(value: Int) = ()
  def +=(one: Int) = ()
}
""",
            ["Disk", "==", "size_=", "+="],
        ),
    ],
)
def test_operators_keep_their_sign_of_equality(path, text, expected):
    symbols = parse(Source(path, tuple(text.split("\n"))), language_of(path)).symbols
    assert [symbol.name for symbol in symbols] == expected


@pytest.mark.parametrize(
    ("path", "first", "expected"),
    [
        ("vendor/a/b.go", "package b", ("vendored", "below vendor/")),
        ("api/orders.pb.go", "package api", ("generated", "named orders.pb.go")),
        ("api/zz_generated.deepcopy.go", "package api", ("generated", "named zz_generated.deepcopy.go")),
        ("a.go", "// Code generated by mockery v2. DO NOT EDIT.", ("generated", "says so on line 1")),
        ("a.py", "# This file was automatically generated by SWIG", ("generated", "says so on line 1")),
        ("a.js", "/** @generated SignedSource<<1>> */", ("generated", "says so on line 1")),
        ("a.py", "print('DO NOT EDIT')", ("", "")),
        ("a.py", "# how values are generated", ("", "")),
        ("src/vendoring.py", "x = 1", ("", "")),
    ],
)
def test_generated_and_vendored_files_are_marked_with_the_reason(path, first, expected):
    assert origin(path, [first]) == expected
    for chunk in cut(path, first + "\n"):
        assert (chunk.metadata.get("origin", ""), chunk.metadata.get("origin_reason", "")) == expected
        assert (expected[0] in chunk.tags) == bool(expected[0])


_LICENCE = "\n".join(f"you may use this in way {at}" for at in range(40))
_MARK = "Code generated by gen. DO NOT EDIT."


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.go", f"/*\n{_LICENCE}\n*/\n\n// {_MARK}\n\npackage a", 44),
        ("a.go", f"// {_LICENCE.replace(chr(10), chr(10) + '// ')}\n\n// {_MARK}\npackage a", 42),
        (
            "a.c",
            f"/*\n * {_LICENCE.replace(chr(10), chr(10) + ' * ')}\n * @generated from a.y\n */\nint a;",
            42,
        ),
        ("a.cs", f"<!--\n{_LICENCE}\n-->\n// <auto-generated/>\n", 43),
        ("a.go", f"/*\n{_LICENCE}\n*/\npackage a\n\n// {_MARK}", 0),  # below the code
        ("a.go", f"/*\n{_LICENCE}\n*/\n\n// It writes: {_MARK}\npackage a", 0),
        ("a.go", f"/*\n{_LICENCE}\n*/\n\n// {_MARK} But you may.\npackage a", 0),
        ("a.go", f"/*\n{_LICENCE}\n*/\n\n// This file is generated by hand\npackage a", 0),  # a weak mark
        ("a.go", f"/*\n{_LICENCE}\n{_LICENCE}\n{_LICENCE}\n*/\n\n// {_MARK}\npackage a", 0),
        ("a.go", f"/* {'x' * 299}\n" * 40 + f"*/\n// {_MARK}\npackage a", 0),  # as long as a book
    ],
)
def test_a_mark_of_a_generator_may_follow_a_licence(path, text, line):
    assert origin(path, text.split("\n")) == (("generated", f"says so on line {line}") if line else ("", ""))


def test_a_script_of_long_lines_is_minified():
    assert "minified: 400 characters a line" in str(decode("a.js", (b"x" * 399 + b"\n") * 30))
    assert isinstance(decode("a.py", (b"x" * 399 + b"\n") * 30), Source)


def test_every_chunk_names_the_chunk_that_encloses_it():
    method = "\n".join(f"        total_{n} = compute(value, {n})" for n in range(60))
    chunks = cut(
        "a/b.py",
        f"import os\n\n\nclass Cart:\n    def add(self, value):\n{method}\n\n    def drop(self):\n        return 1\n",
    )
    parents = {c.id: c.metadata.get("parent") for c in chunks}
    code = [c.id for c in chunks if c.id.startswith("code-a/b.py#Cart.add~")]
    assert len(code) > 2
    assert {parents[chunk_id] for chunk_id in code[1:]} == {code[0]}
    assert set(filter(None, parents.values())) <= parents.keys()
    assert parents["code-definitions-a/b.py"] == "code-symbols-a/b.py"
    assert next(c for c in chunks if c.chunk_type == "symbols").metadata["imports"] == ["import os"]


def test_metadata_of_an_unparsed_file_has_neither_definitions_nor_comments():
    suffix = next(language.suffixes[0] for language in WINDOWED if language.kind == "code")
    (window, *_) = cut(f"a{suffix}", "# what it does\nfunction go(x)\n    x\nend\n")
    assert not {"definitions", "comment_text"} & window.metadata.keys()
    (read, *_) = [chunk for chunk in cut("a.py", "x()\n") if chunk.chunk_type == "code"]
    assert (read.metadata["definitions"], read.metadata["comment_text"]) == ([], "")


def test_a_section_names_the_section_above_it():
    chunks = cut("a.md", "# One\n\na\n\n## Two\n\nb\n\n### Three\n\nc\n\n## Four\n\nd\n")
    assert [c.metadata.get("parent") for c in chunks] == [None, "doc-a.md-s0", "doc-a.md-s1", "doc-a.md-s0"]


def test_a_kilobyte_over_which_a_grammar_would_sit_for_an_hour_is_given_up():
    text = Path(__file__).with_name("hang.kt.bin").read_bytes()
    source = decode("hang.kt", text)
    language = language_of("hang.kt")
    assert language is not None
    with pytest.raises(TooComplex):
        parse(source, language)


def test_what_parsers_read_is_let_go():
    language = language_of("a.py")
    assert language is not None
    before = resident()
    for number in range(40):
        assert parse(Source("a.py", (f"x{number} = 1", f"# {'y' * 1_000_000}{number}")), language).symbols
    assert resident() - before < 20_000_000


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("name", ["a.c", "a.cpp"])
def test_a_tree_with_errors_is_that_of_a_parser_that_reads_the_file_at_once(name):
    lines = [
        "LIST_HEAD(heads, head) all = LIST_INIT(all);",
        "static int f(MAYBE(int x), y) { EACH(one, &all) if(one) { return DO(1) } return 0; }",
        "#if A",
        "void g(void) { if(x) {",
        "#else",
        "void g(int y) { {",
        "#endif",
        "}}",
        "struct s FOO { int a BAR; };",
    ]
    source, language = Source(name, tuple(lines) * 20), language_of(name)
    raw, tree = parsing.syntax_tree(source, language)
    complete_tree = Parser(parsing._grammar(language.grammar)).parse(raw)
    assert complete_tree.root_node.has_error

    def nodes(of):
        return [(node.type, node.byte_range, node.is_missing) for node in walked(of.root_node)]

    assert nodes(tree) == nodes(complete_tree)


def walked(node):
    yield node
    for child in node.children:
        yield from walked(child)


RUST = """pub struct Assets;

impl Assets {
    pub fn syntax_for(&self) -> u8 {
        let first = 1;
        let second = 2;
        first + second + self.further_lines_of_this_function_to_fill_its_chunk(first, second)
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    /// A comment.
    #[test]
    #[should_panic]
    fn the_syntax_is_chosen_for_an_input_file() {
        let made = Assets;
        assert_eq!(made.syntax_for(), 3, "a message that is long enough to fill this chunk alone");
    }
}

#[tokio::test]
async fn alone() {
    let made = Assets;
    assert_eq!(made.syntax_for(), 3, "another message that is long enough to fill this chunk alone");
}
"""


def test_tests_inside_a_file_of_shipped_code_are_tagged():
    chunks = [chunk for chunk in cut("src/lib.rs", RUST, 60) if chunk.chunk_type == "code"]
    tagged = "\n".join(chunk.text for chunk in chunks if "test" in chunk.tags)
    others = "\n".join(chunk.text for chunk in chunks if "test" not in chunk.tags)
    assert {"is_chosen" in tagged, "fn alone" in tagged, "#[tokio::test]" in tagged} == {True}
    assert "syntax_for(&self)" in others
    assert "fn " not in others.replace("fn syntax_for", "")
    assert all(chunk.metadata["is_test"] is ("test" in chunk.tags) for chunk in chunks)
