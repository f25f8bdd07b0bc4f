"""Definitions of Kotlin in files with line ends that the grammar misreads."""

import re

import pytest

from cortex.graph.facts.repairs.misread_lines import join_broken_lines
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project, Roots
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source

CLASS = """package a

public class Disk<T : Any>
@Inject
private constructor(
  private val store: Store,
) {
  fun save() = store.put()
}
"""
GETTER = """class Disk {
  val size: Int
    get() = 3

  fun routes() {
    val model = make()

    get("/") { answer(model) }
  }
}
"""


def _read(text):
    packed = facts_of(Source("a.kt", tuple(text.splitlines())), "0")
    assert packed is not None
    project = Project(LANGUAGES, Roots())
    project.update({"a.kt": packed})
    return project.index("a.kt")


def test_a_class_whose_constructor_begins_on_another_line_is_read():
    definitions = {(definition.name, definition.line) for definition in _read(CLASS).facts.definitions}
    assert definitions == {("Disk", 3), ("save", 8)}


def test_a_call_of_get_behind_a_variable_is_a_call():
    calls = {
        (reference.chain, reference.line)
        for reference in _read(GETTER).references
        if reference.kind == "call"
    }
    assert ("get", 8) in calls
    assert ("answer", 8) in calls


def test_a_getter_is_not_taken_for_a_call():
    lines = GETTER.split("\n")
    assert join_broken_lines(lines)[:3] == lines[:3]


def test_the_number_of_lines_stays():
    assert len(join_broken_lines(CLASS.split("\n"))) == CLASS.count("\n") + 1


def test_a_comment_about_a_class_above_a_constructor_stays():
    lines = ["class Disk {", "  // Makes a class Disk", "  constructor(x: Int)", "}"]
    assert join_broken_lines(lines) == lines


def test_a_continued_statement_does_not_end_before_a_call_of_get():
    lines = ["val x = if (a)", '  get("a")', "else", '  get("b")']
    assert join_broken_lines(lines) == lines


def test_type_arguments_of_calls_are_blanked_and_nothing_moves():
    lines = ["class Box<T>(x: T) : Base<T>(x)", "val y = disk.save<Disk>(x)", "if (a < b) c(d > (e))"]
    assert join_broken_lines(lines) == [lines[0], "val y = disk.save      (x)", lines[2]]


@pytest.mark.parametrize(
    "line",
    [
        "assertFails<Disk> { save() }",
        "val x = disk.use<Shop.Disk> { it }",
        "return Box<Disk>{ it }",
        "f(Box<Disk> {})",
    ],
)
def test_type_arguments_of_calls_with_a_block_are_blanked(line):
    (repaired,) = join_broken_lines([line])
    assert len(repaired) == len(line)
    assert "<" not in repaired
    assert repaired.split() == re.sub(r"<.*?>", "  ", line).split()
    (call,) = [
        reference
        for reference in _read(f"fun run() {{\n  {line}\n}}\n").references
        if reference.kind == "call" and reference.chain.endswith(("assertFails", "use", "Box"))
    ]
    assert call.arguments == 1


@pytest.mark.parametrize(
    "line",
    [
        "class box<T> {",
        "interface box<T> {",
        "class Box<T> {",
        "val x = object : Box<Disk> {",
        "fun disks(): List<Disk> {",
        "fun disks(): shop.List<Disk> {",
        "if (a < b || c > { 1 }()) {",
        "use<Disk, Int> { it }",
    ],
)
def test_types_before_a_body_stay(line):
    assert join_broken_lines([line]) == [line]


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        ('  @[Test JsName("x")]', "  @Test              "),
        ("  is Disk.Full if ready() -> stop()", "  is Disk.Full ,  ready() -> stop()"),
        ("  is Disk<Int> if it > { 1 }() -> 2", "  is Disk<Int> ,  it > { 1 }() -> 2"),
        ('val x = $$"""a"""', 'val x =   """a"""'),
        ("val x = list[if (a) 1 else 2]", None),
        ("val run = { x: Int -> if (x is Disk) 1 else 2 }", None),
        ("else if (x is Disk) { y -> 1 }", None),
        ('val x = "$$"', None),
        ('val x = "a $$"', None),
        ("@[Test", None),
        ("  inline = true", "  inlin_ = true"),
        ("  open(1)", "  ope_(1)"),
        ("  inline = true,", None),
        ("  inline fun run() = 1", None),
        ("  internal var x = 1", None),
        ("  private constructor(x: Int)", None),
        ("  disk.open(1)", None),
        ("  openDisk(1)", None),
    ],
)
def test_newer_forms_are_written_as_the_grammar_reads_them(line, repaired):
    assert join_broken_lines([line]) == [repaired or line]


def test_a_file_with_newer_forms_keeps_its_definitions_and_calls():
    text = """class DiskTest {
  @[Test JsName("a")]
  fun `saves it`() = when (disk) {
    is Full if ready() -> stop($$"x")
    else -> start()
  }
}
"""
    index = _read(text)
    assert [definition.qualified for definition in index.facts.definitions] == [
        "DiskTest",
        "DiskTest.saves it",
    ]
    calls = {
        (reference.chain, reference.column) for reference in index.references if reference.kind == "call"
    }
    assert calls == {("ready", 15), ("stop", 26), ("start", 12)}


def test_types_on_one_line_are_read():
    lines = [
        "class A {",
        "  companion object { fun f() = 1; val x = 2 }",
        "  fun g() { f() }",
        "}",
        'interface X { companion object { fun h(s: String = "}") {} } }',
        "val one = object : X { override fun i() = A.f() }",
        "enum class E { P, Q; fun j() = 1 }",
        "class B { fun k() { A.f() } }",
        "class C { fun l() {}; }",
    ]
    definitions = {
        (definition.qualified, definition.line) for definition in _read("\n".join(lines)).facts.definitions
    }
    assert {("A", 1), ("A.f", 2), ("A.g", 3), ("X", 5), ("X.h", 5), ("E", 7), ("E.j", 7)} <= definitions
    assert {("B", 8), ("B.k", 8), ("C", 9), ("C.l", 9)} <= definitions
    read = _read("\n".join(lines))
    assert {
        reference.line
        for reference in read.references
        if reference.kind == "call" and reference.chain == "A.f"
    } == {6, 8}


def test_braces_that_close_no_type_and_empty_bodies_stay():
    lines = ["fun f() { g() }", "class A { }", "val x = A::class.let { it }", "class B { val x = 1; }"]
    assert join_broken_lines(lines) == lines
