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
