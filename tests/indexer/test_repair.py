"""Files with syntax that a grammar does not know: definitions behind it, and the remark on it."""

from __future__ import annotations

import time

import pytest

from cortex.graph.facts.tables import head_of
from cortex.indexer.chunkers import cut
from cortex.indexer.syntax import parse as parse_module
from cortex.indexer.syntax.parse import parse, repaired
from cortex.indexer.syntax.source import decode
from cortex.terms.languages import language_of
from tests.graph.small_graphs import calls_in, facts_in, project_of

KOTLIN = {
    "Kotlin guard": "fun kind(x: Any): Int = when (x) {\n    is String if x.length > 1 -> 1\n    else -> 3\n}\n",
    "Kotlin context parameters": "context(log: Logger)\nfun kind(a: Int): Int = a\n",
    "Kotlin explicit backing field": "class Kept {\n    val city: StateFlow<String>\n        field = MutableStateFlow(1)\n}\n",
    "Kotlin named destructuring": "fun kind(p: P) {\n    val (val name, val age) = p\n    (val q, val w) = p\n}\n",
}


def outline(path: str, text: str) -> list[str]:
    symbols = parse(decode(path, text.encode()), language_of(path)).symbols
    return [f"{symbol.scope}.{symbol.name}".lstrip(".") for symbol in symbols]


def remarks(path: str, text: str) -> tuple[str, ...]:
    return cut(decode(path, text.encode()), len, 1000).remarks


def calls(path: str, text: str) -> set[tuple[str, str]]:
    edges = calls_in(project_of({path: text}), path)
    return {(edge.source.partition(":")[2], edge.target.partition(":")[2]) for edge in edges if edge.target}


@pytest.mark.parametrize("name", KOTLIN)
def test_new_syntax_of_kotlin_hides_nothing_behind_it(name):
    text = (
        f"package shop\n\nfun before(): Int = 1\n\n{KOTLIN[name]}\nfun after(): Int = before()\n\n"
        "class Cart { fun total(): Int = after() }\n"
    )
    names = outline("shop.kt", text)
    assert {"before", "after", "Cart", "Cart.total"} <= set(names)
    assert ("Kept" if "class Kept" in text else "kind") in names
    assert {("after", "before"), ("Cart.total", "after")} <= calls("shop.kt", text)
    (remark,) = remarks("shop.kt", text)
    assert f"not understood ({name})" in remark
    assert remark.startswith("syntax errors: line")


def test_extension_blocks_of_csharp_belong_to_their_class():
    text = """namespace Shop;
public static class Texts {
  public static int Before() { return 1; }
  extension<T>(IEnumerable<T> source) where T : class {
    public int Once() { return Before(); }
  }
  extension(string s)
  {
    public bool IsBlank => s.Length == 0 || s == "}";
    public int Twice() { return Before() * 2; }
  }
  public static int After() { return Before(); }
}
"""
    assert outline("Ext.cs", text) == [
        "Texts", "Texts.Before", "Texts.Once", "Texts.IsBlank", "Texts.Twice", "Texts.After",
    ]  # fmt: skip
    assert calls("Ext.cs", text) == {
        (f"Texts.{caller}", "Texts.Before") for caller in ("Once", "Twice", "After")
    }
    assert remarks("Ext.cs", text) == (
        "syntax errors: lines 4, 7 of this file were not understood (C# extension block)",
    )


UNKNOWN = {
    "a.kt": "fun before() = 1\nfun odd(x: Int) {\n    frob <<< x ~> 3 ;;\n}\nfun after() = before()\nclass Cart {\n"
    "    fun a() = 1\n    frobnicate total { ~~ }\n    fun b() = after()\n}\nfun last() = after()\n",
    "a.ts": "export function before() { return 1 }\npipeline |> frob(%) {\nexport function after() { return before() }\n"
    "export class B extends A { n() { return after() } }\nexport function last() { return after() }\n",
    "a.rs": "fn before() -> i32 { 1 }\nvirtual frob odd<<>> -> {\nfn after() -> i32 { before() }\nfn last() { after(); }\n",
    "a.go": "package a\n\nfunc before() int { return 1 }\n\nfunc odd(x int) {\n\tmatch x { case 1 => 2 }}}\n\n"
    "func after() int { return before() }\n\nfunc last() int { return after() }\n",
    "a.swift": "func before() -> Int { 1 }\nfunc odd(x: Int) {\n    when x ~ 3 { => }}\n}\nfunc after() -> Int { before() }\n"
    "func last() -> Int { after() }\n",
    "a.py": "def before(): return 1\ndef odd(x):\n    lazy import foo from (bar\n    return x\ndef after(): return before()\n"
    "def last(): return after()\n",
    "a.scala": "def before(): Int = 1\ndef odd(x: Int) = {\n  x |~| { ) => }\n}\ndef after(): Int = before()\ndef last(): Int = after()\n",
    "A.java": "public class A {\n    public int before() { return 1; }\n    public int odd(Object x) {\n"
    "        return x with { a = 1; } ?? ((3;\n    }\n    public int after() { return before(); }\n"
    "    public static <T> int last(T x) { return after(); }\n}\n",
    "C.cs": "namespace Shop;\npublic class C {\n  public int before() { return 1; }\n  public frob int X => { get; } field ~> 3;\n"
    "  public int after() { return before(); }\n  public static int last() { return after(); }\n}\n",
    "a.php": "<?php\nfunction before() { return 1; }\nfunction odd($x) {\n    $x |>> (fn 3;\n}\nfunction after() { return before(); }\n"
    "function last() { return after(); }\n",
    "a.rb": "def before\n  1\nend\ndef odd(x)\n  x ~>> (3 {\nend\ndef after\n  before\nend\ndef last\n  after\nend\n",
}  # fmt: skip


@pytest.mark.parametrize("path", UNKNOWN)
def test_definitions_behind_unknown_syntax_are_found_and_the_lines_named(path):
    text = UNKNOWN[path]
    names = {name.rpartition(".")[2] for name in outline(path, text)}
    assert {"before", "after", "last"} <= names
    graph = {definition.name for definition in head_of(facts_in(path, text)).definitions}
    assert {"before", "after", "last"} <= graph
    (remark,) = remarks(path, text)
    assert "not understood" in remark


@pytest.mark.parametrize("path", UNKNOWN)
def test_lines_of_symbols_and_chunks_are_those_of_the_file(path):
    text = "// grö\n".replace("//", "#" if path.endswith((".py", ".rb")) else "//") + UNKNOWN[path]
    if path == "a.php":
        text = UNKNOWN[path]
    lines = text.split("\n")
    for symbol in parse(decode(path, text.encode()), language_of(path)).symbols:
        assert symbol.name in lines[symbol.start_line - 1]
        assert symbol.end_line <= len(lines)
    chunks = cut(decode(path, text.encode()), len, 1000).chunks
    code = [chunk for chunk in chunks if chunk.chunk_type == "code"]
    assert "\n".join(chunk.text for chunk in code).split() == text.split()


def test_definitions_in_comments_and_texts_are_none():
    text = '"""\ndef quoted(): pass\n"""\n# def remark(): pass\ndef real():\n    odd odd (\n\ndef last(): return 1\n'
    names = outline("a.py", text)
    assert "quoted" not in names
    assert "remark" not in names


def test_a_large_file_full_of_errors_is_read_in_bounded_time():
    text = "".join(
        f"fun f{n}(x: Int) {{ frob <<< x ~> {n} ;; }} }}\nval (val a{n}) = ~\n" for n in range(3000)
    )
    source = decode("a.kt", text.encode())
    began = time.process_time()
    repaired(source, language_of("a.kt"))
    assert time.process_time() - began < 5


def test_a_file_without_errors_is_its_own_repair():
    source = decode("a.kt", b"fun a() = when (x) { 1 -> 2\n else -> 3 }\n")
    assert repaired(source, language_of("a.kt")).source is source


def test_conditions_around_half_of_a_statement_leave_the_class_of_csharp_whole():
    text = """namespace Shop
{
    public class Reader : ReaderBase
    {
        private void Start(int kind)
        {
            if (kind > 0)
            {
                Step();
            }
#if HAVE_ASYNC
            else
            {
                Step();
            }
#endif
        }

        private void Step() { }

        public override bool Read() { Start(1); return true; }
    }
}
"""
    symbols = parse(decode("Reader.cs", text.encode()), language_of("Reader.cs")).symbols
    assert [(symbol.name, symbol.start_line, symbol.end_line) for symbol in symbols] == [
        ("Reader", 3, 22),
        ("Start", 5, 17),
        ("Step", 19, 19),
        ("Read", 21, 21),
    ]
    assert not remarks("Reader.cs", text)
    assert {("Reader.Start", "Reader.Step"), ("Reader.Read", "Reader.Start")} == calls("Reader.cs", text)


def test_no_part_of_a_file_is_parsed_twice_in_search_of_unknown_syntax(monkeypatch):
    parsed = list[bytes]()
    parse_places = parse_module._parse_places
    monkeypatch.setattr(
        parse_module,
        "_parse_places",
        lambda parser, raw, count: parsed.append(raw[:count]) or parse_places(parser, raw, count),
    )
    unknown = "fun lost(a: Int) {\n    val x = a @@ 1 {\n    when { == }\n}\n\n"
    text = f"package shop\n\n{unknown}fun after(): Int = before()\n\nfun before(): Int = 1\n"
    outline("shop.kt", text)
    assert len(parsed) > 5
    assert len(parsed) == len(set(parsed))


def test_attributes_of_jsx_may_be_words_of_javascript():
    text = (
        'export function Field(props) {\n  return (\n    <label for={props.id} class="field">\n      {label(props)}\n'
        '      <svg:rect xlink:for="x"\n        class={props.css}\n        in="a" />\n    </label>\n  );\n}\n\n'
        "export function label(props) {\n  return props.text;\n}\n"
    )
    assert outline("field.jsx", text) == ["Field", "label"]
    assert calls("field.jsx", text) == {("Field", "label")}
    assert remarks("field.jsx", text) == ()
    assert head_of(facts_in("field.jsx", text)) is not None


def test_an_error_of_another_kind_beside_such_an_attribute_is_named():
    text = 'const a = <p class="x">y</p>;\n\nfunction broken( {\n}\n'
    (remark,) = remarks("field.jsx", text)
    assert "not understood" in remark
    assert "1" not in remark.partition("this file")[0]
