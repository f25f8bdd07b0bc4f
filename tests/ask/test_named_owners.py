"""A member that a symbol names behind its type is that of no other type."""

import asyncio

import pytest

from cortex.ask.lines.code_words import find_declaration, words_in_code
from cortex.ask.lines.receivers import Owner, Receivers
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.front.text import render
from tests.ask.searched import write

FILES = {
    "app/Shop.java": "package app;\n\npublic class Shop extends Base {\n  void run() {}\n}\n",
    "app/Base.java": "package app;\n\npublic class Base implements Api {\n  void own() {}\n}\n",
    "app/Api.java": "package app;\n\npublic interface Api {\n  default void call() {}\n}\n",
    "app/Other.java": (
        "package app;\n\npublic class Other {\n  void call() {}\n  void path() {}\n"
        "  void run() {\n    new Other().path();\n  }\n}\n"
    ),
    "app/Req.java": (
        "package app;\n\nrecord Req(String path, int size) {}\n\n"
        "class Reader {\n  String read(Req req) {\n    return req.path();\n  }\n}\n"
    ),
    "app/Problem.java": "package app;\n\nclass Problem {\n  enum Severity {\n    FATAL, ERROR\n  }\n}\n",
    "app/Fault.java": "package app;\n\nclass Fault {\n  enum Severity {\n    FATAL, ERROR\n  }\n}\n",
    "app/Run.java": (
        "package app;\n\nclass Run {\n  Object problem() {\n    return Problem.Severity.FATAL;\n  }\n"
        "  Object fault() {\n    return Fault.Severity.FATAL;\n  }\n}\n"
    ),
    "app/Lombok.java": "package app;\n\n@Getter\nclass Lombok {\n  private String name;\n}\n",
    "app/User.java": "package app;\n\nclass User {\n  String f(Lombok a) {\n    return a.getName();\n  }\n}\n",
    "src/part.rs": "pub struct Foo;\n\nimpl Foo {\n    pub const MAX: u32 = 3;\n}\n",
    "cs/First.cs": "namespace N;\npublic partial class Part\n{\n  int one;\n}\n",
    "cs/Second.cs": "namespace N;\npublic partial class Part\n{\n  int limit;\n}\n",
    "src/point.swift": "struct Point {\n  var x: Int\n}\nextension Point {\n  static let zero = 0\n}\n",
    "src/account.rb": "class Account\n  LIMIT = 3\nend\n\nclass Account\n  OTHER = 4\nend\n",
    "src/person.scala": "case class Person(name: String)\nobject Person { val Max = 3 }\n",
    "src/panel.ts": "interface Panel {\n  first: string;\n}\ninterface Panel {\n  second: string;\n}\n",
    "src/page.php": "<?php\nclass Page {\n  public $title = 1;\n}\n",
    "src/lib.rs": (
        "pub enum Setting {\n    Required,\n    Hidden,\n}\n\npub enum Mode {\n    Required,\n}\n\n"
        "impl Setting {\n    fn a(&self) -> bool {\n        matches!(self, Self::Required)\n    }\n}\n\n"
        "impl Mode {\n    fn a(&self) -> bool {\n        matches!(self, Self::Required)\n    }\n}\n\n"
        "pub struct Arg;\n\nimpl Arg {\n    pub fn required(&self) -> bool { self.is(Setting::Required) }\n"
        "    pub fn other(&self) -> bool {\n        x(Mode::Required)\n    }\n}\n\n"
        "fn use_it(arg: Arg) -> bool {\n    arg.required()\n}\n"
    ),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("owners")
    write(root, FILES)
    return serve(root)


def ask(served, symbol):
    return asyncio.run(uses(served.context(), UsesQuestion(symbol)))


def sites(answer):
    return {
        f"{file['file']}:{site['line']}"
        for block in answer["sites"]
        for file in block["files"]
        if not file.get("unsure")
        for site in file["sites"]
    }


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("Setting::Required", {"src/lib.rs:12", "src/lib.rs:25"}),
        ("Mode::Required", {"src/lib.rs:18", "src/lib.rs:27"}),
        ("Problem.Severity.FATAL", {"app/Run.java:5"}),
        ("Fault.Severity.FATAL", {"app/Run.java:8"}),
        ("Req.path", {"app/Req.java:7"}),
    ],
)
def test_a_variant_or_component_has_the_lines_of_its_own_type(served, symbol, expected):
    answer = ask(served, symbol)
    assert (sites(answer), answer["suggestion"]) == (expected, "")
    owner = ".".join(symbol.replace("::", ".").split(".")[-2:])
    assert render("cortex_uses", answer).startswith(f"lines with {owner}, {answer['sites'][0]['at']}: ")


def test_a_member_that_its_type_lacks_is_said_to_be_missing(served):
    answer = ask(served, "Setting::required")
    assert not sites(answer)
    assert answer["suggestion"] == (
        "Setting (src/lib.rs:1) has no member 'required' of its own in the graph; it may inherit or generate "
        "one, or declare it elsewhere; like it: Arg.required (src/lib.rs:25)."
    )


def test_an_inherited_member_is_that_of_the_type_which_has_it(served):
    (block,) = ask(served, "Shop.call")["sites"]
    assert (block["of"], block["at"]) == ("Api.call", "app/Api.java:4")
    (block,) = ask(served, "Shop.own")["sites"]
    assert block["of"] == "Base.own"


def test_the_lines_of_a_member_that_its_type_inherits_or_generates_are_among_the_others(served):
    answer = ask(served, "Lombok.getName")
    assert "Lombok (app/Lombok.java:3) has no member" in answer["suggestion"]
    (file,) = answer["elsewhere"]["files"]
    assert (file["file"], [site["line"] for site in file["sites"]]) == ("app/User.java", [5])


@pytest.mark.parametrize("symbol", ["a|b", "*", "foo bar"])
def test_text_that_is_no_name_has_no_lines(served, symbol):
    answer = ask(served, symbol)
    assert not answer["sites"]
    assert answer["suggestion"].startswith("There is no ")


@pytest.mark.parametrize(
    ("symbol", "declared"),
    [
        ("Foo::MAX", "src/part.rs:4"),
        ("Part.limit", "cs/Second.cs:4"),
        ("Point.zero", "src/point.swift:5"),
        ("Account::OTHER", "src/account.rb:6"),
        ("Person.Max", "src/person.scala:2"),
        ("Panel.second", "src/panel.ts:5"),
        ("Page.title", "src/page.php:3"),
    ],
)
def test_a_member_of_another_part_of_a_type_is_declared(served, symbol, declared):
    answer = ask(served, symbol)
    assert (answer["sites"][0]["at"], answer["suggestion"]) == (declared, "")


def test_an_owner_that_nobody_defines_is_said(served):
    answer = ask(served, "NoSuch.call")
    assert [block["of"] for block in answer["sites"]] == ["Api.call", "Other.call"]
    assert "There is no 'NoSuch.call'; read by its last part." in answer["notes"]


#: two constants of one name, one of which the graph links nowhere, and a record beside a class
NAMESAKES = {
    "one/src/lib.rs": 'macro_rules! show {\n    ($x:expr) => {\n        $x\n    };\n}\n\nconst FAULT: &str = "a";\n',
    "one/src/run.rs": "fn run() {\n    show!(FAULT);\n}\n",
    "two/src/lib.rs": 'const FAULT: &str = "b";\n',
    "two/src/run.rs": "fn run() {\n    show!(FAULT);\n    show!(FAULT);\n}\n",
}


def test_lines_with_a_name_are_those_of_the_nearest_definition(tmp_path, serve):
    for name, text in NAMESAKES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    served = serve(tmp_path)
    answer = asyncio.run(uses(served.context(), UsesQuestion("FAULT")))
    lines = {
        block["at"]: [(file["file"], site["line"]) for file in block["files"] for site in file["sites"]]
        for block in answer["sites"]
    }
    assert lines == {
        "one/src/lib.rs:7": [("one/src/run.rs", 2)],
        "two/src/lib.rs:1": [("two/src/run.rs", 2), ("two/src/run.rs", 3)],
    }


@pytest.mark.parametrize(
    ("path", "line", "means"),
    [
        ("a.rs", "x(Kind::BIG)", True),
        ("a.rs", "x(Sort::BIG)", False),
        ("a.rs", "x(sort::BIG)", False),
        ("a.rs", "x(sort.BIG)", None),
        ("a.rs", "use app::Kind as K; x(K::BIG)", True),
        ("a.rs", "x(Kind::<T>::BIG)", True),
        ("A.java", "x(Kind.BIG)", True),
        ("A.java", "x(Sort.BIG)", False),
        ("A.java", "x(sort.BIG)", None),
        ("A.java", "x(sort().BIG)", None),
        ("A.java", "x(SORT.BIG)", None),
        ("A.java", "class B extends Kind {}; x(B.BIG)", True),
        ("a.cs", "x(options.Sort.BIG)", None),
        ("a.go", "x(options.Sort.BIG)", None),
        ("a.ts", "import { Kind as K } from './kind'; x(K.BIG)", True),
        ("a.php", "x(Kind::BIG)", True),
        ("a.php", "x(Sort::BIG)", False),
        ("a.c", "void f(struct Sort *a, const Kind *b) { x(b->BIG", True),
        ("a.c", "void f(struct Sort *a, const Kind *b) { x(a->BIG", False),
        ("a.c", "void f(a, b) { struct Kind one, *two; x(two->BIG", True),
        ("a.c", "void f(kind_t *a) { x(a->BIG", True),
        ("a.c", "void f(struct kind_t *a) { x(a->BIG", False),
        ("a.c", "void f() { Kind a; }\nint g;\n}\nvoid h(int a) { x(a.BIG", False),
        ("a.c", "void f(Kind a) {\n}\nvoid h() { x(a.BIG", None),
        ("a.c", "void f(void *a) { return a; x(make(a)->BIG", None),
        ("a.c", "struct Kind all[] = {{.SMALL = {1, 2}, .BIG", True),
        ("a.c", "struct Kind one = {.SMALL = 1, .BIG", True),
        ("a.c", "struct Sort one = {.SMALL = 1, .BIG", False),
        ("a.c", "f(&(struct Kind){.BIG", True),
        ("a.c", "struct { int BIG; } one = {.BIG", None),
        ("a.cpp", "void f(const app::Kind& a) { x(a.BIG", True),
        ("a.cpp", "void f(QPointer<Kind> a) { x(a->BIG", True),
        ("a.cpp", "void f(Sort* a) { x(a->BIG", False),
        ("a.cpp", "class Big : public Kind {}; void f(Big* a) { x(a->BIG", True),
        ("a.cpp", "template <class T> void f(T* a) { x(a->BIG", None),
        ("a.cpp", "void f() { auto a = g(); x(a->BIG", None),
        ("a.cpp", "x(Sort::BIG", False),
        ("a.cpp", "void Kind::f() {\n    x(this->BIG", True),
        ("a.cpp", "void Sort::f() {\n    x(this->BIG", False),
        ("a.cpp", "class Sort { void f() { x(this->BIG", None),
    ],
)
def test_a_receiver_means_the_owner_by_its_name(path, line, means):
    assert Receivers(path, line, Owner("Kind", "kind.rs", 1, 3)).mean_owner(line.rindex("BIG")) is means


@pytest.mark.parametrize(
    ("path", "text", "declared"),
    [
        ("a.rs", "enum A {\n    size,\n}", True),
        ("a.rs", "enum A {\n    Other(size),\n}", False),
        ("A.java", "record A(int size, int other) {}", True),
        ("A.java", "class A {\n  int f(int size) { return size + 1; }\n}", False),
        ("A.java", "class size extends B {}", False),
        ("a.go", "type A struct {\n\tsize int\n}", True),
        ("a.cs", "class A {\n  int size { get; }\n}", True),
        ("a.swift", "enum A {\n  case other, size\n}", True),
        ("a.py", "class A:\n    X = {'a': (size)}", False),
        ("a.rs", "struct A;\n\n\nimpl A {\n    fn f() { let size = 1; }\n}", False),
        ("a.rs", "struct A;\n\n\nimpl B for A {\n    const size: u8 = 1;\n}", True),
        ("a.rs", "struct A;\n\n\nimpl A for B {\n    const size: u8 = 1;\n}", False),
    ],
)
def test_a_type_declares_variants_components_and_properties(path, text, declared):
    assert bool(find_declaration(path, text, "size", Owner("A", path, 1, 3))) == declared


#: long texts whose cost was their length squared: minutes for each
HOSTILE = {
    "identifier": ("a.java", "x.BIG;" + "a" * 300_000),
    "heads of types": ("a.java", "x.BIG;" + "class a " * 40_000),
    "receivers": ("a.rs", "Kind::BIG;\n" * 30_000),
    "receivers of C": ("a.c", "".join(f"Kind *a{n}; a{n}->BIG;\n" for n in range(20_000))),
    "brackets of C": ("a.c", "{{.BIG = 1},\n" * 20_000),
    "heads of C": ("a.cpp", "Sort Kind::f(a, a->BIG)\n" * 20_000),
    "names of C": ("a.cpp", "x" * 200_000 + "a::b->BIG" + " a, b" * 50_000),
    "implementations": ("a.rs", "impl Kind { x(Self::BIG) }\n" * 20_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_receivers_in_a_long_text_are_read_once(name):
    path, text = HOSTILE[name]
    owner = Owner("Kind", "kind.rs", 1, 3, "outer", frozenset(("other", "another")))
    assert len(list(words_in_code(path, text, "BIG", owner))) == text.count("BIG")


def test_a_declaration_is_found_behind_many_words_of_its_name():
    text = "class A {\n" + "f(size);\n" * 50_000 + "int size() }"
    assert find_declaration("A.java", text, "size", Owner("A", "A.java", 1, 60_000)) == 50_002
