"""Kotlin's calls of functions with named function parameters, and of extensions of companions,
objects and external bounds.
"""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

_SHOP = """package shop
class Disk {
  fun put(a: Int, each: (x: Int, y: Int) -> Int) {}
  fun last(each: suspend Disk.(x: Int) -> Unit) {}
}
interface Parser {
  companion object {
    fun default() = 1
  }
}
object Tape
fun Parser.Companion.quick(): Parser = TODO()
fun Tape.wind() {}
private fun <A : Appendable> A.tell(x: String): A = this
"""
#: body of a function → its calls
LINES = {
    "d.put(1) { x, y -> x }": ["Disk.put"],
    "d.put(1, { x: Int, y: Int -> x })": ["Disk.put"],
    "with(d) { put(1, { x, y -> x }) }": ["Disk.put"],
    "d.last { x -> }": ["Disk.last"],
    "d.put(1, { x: Disk, y: Int -> x.last {} })": ["Disk.put", "Disk.last"],
    "with(d) { put(1, { x: Disk, y: Int -> x.last {} }) }": ["Disk.put", "Disk.last"],
    "Parser.quick()": ["Parser.Companion.quick"],
    "Parser.Companion.quick()": ["Parser.Companion.quick"],
    "d.quick()": [],
    "s.quick()": [],
    "Tape.wind()": ["Tape.wind"],
    's.tell("")': ["A.tell"],
    'd.tell("")': [],
}


@pytest.mark.parametrize("line", LINES)
def test_receivers_and_passed_functions_decide_a_call(line):
    project = project_of({"a.kt": f"{_SHOP}fun f(d: Disk, s: Appendable) {{\n  {line}\n}}\n"})
    targets = [edge.target.partition(":")[2] for edge in calls_in(project, "a.kt")]
    assert [name for name in targets if name != "f"] == LINES[line]


_TURBINE = """package shop
import kotlinx.coroutines.flow.flowOf
interface Turbine<T> { fun item(): T
}
fun <T> Turbine(name: String? = null): Turbine<T> = TODO()
suspend fun <T> Flow<T>.collected(wait: Int = 0, check: suspend Turbine<T>.() -> Unit) {}
class FlowTest {
  fun item() {}
  fun runs() {
    flowOf(1).collected { item() }
    Turbine<Int>().item()
  }
}
"""


def test_the_receiver_of_a_block_of_an_extension_of_an_outside_type_hides_members_around():
    edges = calls_in(project_of({"a.kt": _TURBINE}), "a.kt")
    targets = {(edge.location.line, edge.target.partition(":")[2]) for edge in edges}
    assert {(10, "Flow.collected"), (10, "Turbine.item"), (11, "Turbine.item")} <= targets
    assert (10, "FlowTest.item") not in targets


def test_a_function_with_the_name_of_an_interface_is_called():
    project = project_of({"a.kt": _TURBINE})
    lines = {
        project.id_of(("a.kt", at)): definition.line
        for at, definition in enumerate(project.index("a.kt").facts.definitions)
    }
    targets = [edge.target for edge in calls_in(project, "a.kt") if edge.location.line == 11]
    assert 5 in [lines[target] for target in targets]
    assert 2 not in [lines[target] for target in targets]
