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


#: name → (text of a file, the targets of calls in its last function, by name and line)
CALLS = {
    "a call on the result of an extension of an outside type": (
        """package shop
import flows.flowOf
interface Reader {
  fun next(): Int
  fun close()
}
fun Flow<Int>.track(n: Int = 0): Reader = TODO()
fun Channel.next(): Int = 1
fun f() {
  val one = flowOf(1).track()
  one.next()
  flowOf(1).track(2).close()
}
""",
        {"Flow.track", "Reader.next", "Reader.close"},
    ),
    "a library's function of that name is no extension": (
        """package shop
import flows.flowOf
interface Reader {
  fun size(): Int
}
fun Flow<Int>.map(n: Int = 0): Reader = TODO()
class Tape {
  fun size(): Int = 1
}
fun f() {
  flowOf(1).map(1).size()
}
""",
        set(),
    ),
    "a member that takes other numbers of arguments hides no function outside": (
        """package shop
fun limit(size: Int, block: () -> Unit) {}
class Disk {
  fun limit(block: () -> Unit) {}
  fun f() {
    limit(1) { }
  }
}
""",
        {"limit"},
    ),
    "a member that takes the arguments does": (
        """package shop
fun limit(block: () -> Unit) {}
class Disk {
  fun limit(size: Int = 0, block: () -> Unit) {}
  fun f() {
    limit { }
  }
}
""",
        {"Disk.limit"},
    ),
    "neither takes them": (
        """package shop
fun limit(a: Int, b: Int, c: Int) {}
class Disk {
  fun limit(block: () -> Unit) {}
  fun f() {
    limit(1, 2)
  }
}
""",
        set(),
    ),
    "a private constructor is called in its class": (
        """package shop
class Disk private constructor(size: Int) {
  companion object {
    operator fun invoke(size: Int): Disk {
      return Disk(size)
    }
  }
}
""",
        {"Disk"},
    ),
    "the companion's function is called outside of its class": (
        """package shop
class Disk private constructor(size: Int) {
  companion object {
    operator fun invoke(size: Int): Disk = TODO()
  }
}
fun f() {
  Disk(1)
}
""",
        {"Disk.invoke"},
    ),
    "and in its class if the constructor takes no such arguments": (
        """package shop
class Disk private constructor(size: Int, name: String) {
  companion object {
    operator fun invoke(size: Int): Disk = TODO()
  }
  fun f() {
    Disk(1)
  }
}
""",
        {"Disk.invoke"},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_nearest_function_that_can_take_a_call_is_called(name):
    text, targets = CALLS[name]
    calls = {edge.target.partition(":")[2] for edge in calls_in(project_of({"a.kt": text}), "a.kt")}
    assert calls == targets
