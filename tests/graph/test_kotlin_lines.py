"""Kotlin whose line ends the grammar misreads has its definitions where they stand."""

from cortex.graph.facts.kotlin_lines import joined
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
    project = Project(Roots())
    project.update({"a.kt": packed})
    return project.index("a.kt")


def test_a_class_whose_constructor_begins_on_another_line_is_read():
    found = {(one.name, one.line) for one in _read(CLASS).facts.definitions}
    assert found == {("Disk", 3), ("save", 8)}


def test_a_call_of_get_behind_a_variable_is_a_call():
    calls = {(one.chain, one.line) for one in _read(GETTER).references if one.kind == "call"}
    assert ("get", 8) in calls
    assert ("answer", 8) in calls


def test_a_getter_stays_one():
    lines = GETTER.split("\n")
    assert joined(lines)[:3] == lines[:3]


def test_there_are_as_many_lines_as_before():
    assert len(joined(CLASS.split("\n"))) == CLASS.count("\n") + 1


def test_a_remark_about_a_class_above_a_constructor_is_none():
    lines = ["class Disk {", "  // Makes a class Disk", "  constructor(x: Int)", "}"]
    assert joined(lines) == lines


def test_what_goes_on_in_the_next_line_does_not_end_before_a_call_of_get():
    lines = ["val x = if (a)", '  get("a")', "else", '  get("b")']
    assert joined(lines) == lines


def test_types_that_a_call_is_told_are_taken_out_and_nothing_moves():
    lines = ["class Box<T>(x: T) : Base<T>(x)", "val y = disk.save<Disk>(x)", "if (a < b) c(d > (e))"]
    assert joined(lines) == [lines[0], "val y = disk.save      (x)", lines[2]]


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
    found = {(one.qualified, one.line) for one in _read("\n".join(lines)).facts.definitions}
    assert {("A", 1), ("A.f", 2), ("A.g", 3), ("X", 5), ("X.h", 5), ("E", 7), ("E.j", 7)} <= found
    assert {("B", 8), ("B.k", 8), ("C", 9), ("C.l", 9)} <= found
    read = _read("\n".join(lines))
    assert {one.line for one in read.references if one.kind == "call" and one.chain == "A.f"} == {6, 8}


def test_braces_that_close_no_type_and_empty_bodies_stay():
    lines = ["fun f() { g() }", "class A { }", "val x = A::class.let { it }", "class B { val x = 1; }"]
    assert joined(lines) == lines
