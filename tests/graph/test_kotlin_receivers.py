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
    "an inherited function that takes them goes before one outside": (
        """package shop
open class Drive {
  fun put(a: Int, b: Int) {}
}
fun put(a: Int, b: Int) {}
class Disk : Drive() {
  fun put(a: Int) {}
  fun f() {
    put(1, 2)
  }
}
""",
        {"Drive.put"},
    ),
    "a variable of a type of functions is called": (
        """package shop
import flows.Listener
typealias Handler = (Int) -> Unit
fun handler(x: Int) {}
fun listener(x: Int) {}
fun f(handler: Handler, listener: Listener) {
  handler(1)
  listener(1)
}
""",
        set(),
    ),
    "a test is called by its name": (
        """package shop
open class Tests {
  @Test
  open fun works() {}
}
class More : Tests() {
  @Test
  override fun works() {
    super.works()
  }
}
""",
        {"Tests.works"},
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


#: name → (text of a file, the targets of calls in it)
TYPES_CALLED = {
    "an interface is not made, a function of its name is called": (
        'interface Style {\n  val name: String\n}\nfun Style(name: String = ""): Style = TODO()\nfun f() = Style()\n',
        {"Style"},
        4,
    ),
    "nor is an abstract class, not even in its own code": (
        "sealed class Theme(size: Int) {\n  companion object {\n    val plain = Theme(1)\n  }\n}\nfun Theme(size: Int): Theme = TODO()\n",
        {"Theme"},
        6,
    ),
    "a class of that name with a public constructor is": (
        'class Style(name: String = "")\nfun Style(size: Int, name: String): Style = TODO()\nfun f() = Style()\n',
        {"Style"},
        1,
    ),
    "a class with a private constructor is not made elsewhere": (
        "class Items private constructor(names: List<String>)\nfun Items(names: List<String>): Items = TODO()\nfun f() = Items(emptyList())\n",
        {"Items"},
        2,
    ),
    "a second constructor is public": (
        "class Items private constructor(names: List<String>) {\n  constructor(size: Int) : this(emptyList())\n}\nfun f() = Items(2)\n",
        {"Items"},
        1,
    ),
    "an interface of one function takes a block": (
        "fun interface Task {\n  fun run()\n}\nfun f() = Task { }\n",
        {"Task"},
        1,
    ),
    "a public constructor goes before the companion's function": (
        "class Padding(size: Int) {\n  companion object {\n    operator fun invoke(block: () -> Unit): Padding = TODO()\n  }\n}\nfun f() = Padding(0)\n",
        {"Padding"},
        1,
    ),
    "which another type of argument means": (
        'class Money(cents: Long) {\n  companion object {\n    operator fun invoke(text: String): Money = TODO()\n  }\n}\nfun f() = Money("1.50")\n',
        {"Money.invoke"},
        3,
    ),
    "but not the constructor's": (
        "class Money(cents: Long) {\n  companion object {\n    operator fun invoke(text: String): Money = TODO()\n  }\n}\nfun f() = Money(5L)\n",
        {"Money"},
        1,
    ),
    "which takes a block that the constructor does not take": (
        "class Padding(size: Int) {\n  companion object {\n    operator fun invoke(block: () -> Unit): Padding = TODO()\n  }\n}\nfun f() = Padding { }\n",
        {"Padding.invoke"},
        3,
    ),
    "a hidden function is not called": (
        'class Terminal {\n  fun write(text: CharSequence) {}\n  @Deprecated("", level = DeprecationLevel.HIDDEN)\n  fun write(text: String) {}\n}\nfun f(t: Terminal) = t.write("")\n',
        {"Terminal.write"},
        2,
    ),
    "a test is no method of an unknown receiver": (
        "interface Color {\n  fun luminance() = 1\n}\nclass ColorTest {\n  @Test\n  fun luminance() = all { color -> color.luminance() }\n}\n",
        {"Color.luminance"},
        2,
    ),
    "a function without the mark of a test may be": (
        "class ColorTest {\n  fun luminance() = 1\n}\nfun f() = all { color -> color.luminance() }\n",
        {"ColorTest.luminance"},
        2,
    ),
    "a name in its own value is an outer one": (
        "fun alpha(text: String): Int = 1\nfun f(text: String): Int {\n  val alpha = alpha(text)\n  return alpha\n}\n",
        {"alpha"},
        1,
    ),
    "a variable that is no function hides no function": (
        "fun color(a: String, b: Int): Int = 1\nfun f(color: String) = color.let { color(it, 2) }\n",
        {"color"},
        1,
    ),
    "a function hides no type with members": (
        "interface Space {\n  class Gamma(size: Int)\n}\nfun Space(a: Int): Space = TODO()\nfun f() = Space.Gamma(1)\n",
        {"Space.Gamma"},
        2,
    ),
}


@pytest.mark.parametrize("name", TYPES_CALLED)
def test_a_call_means_what_its_code_can_call(name):
    text, targets, line = TYPES_CALLED[name]
    project = project_of({"a.kt": f"{text}"})
    lines = {
        project.id_of(("a.kt", at)): definition.line
        for at, definition in enumerate(project.index("a.kt").facts.definitions)
    }
    calls = [edge.target for edge in calls_in(project, "a.kt") if edge.target]
    assert {target.partition(":")[2].partition("~")[0] for target in calls} == targets
    assert {lines[target] for target in calls} == {line}


def test_a_property_of_an_object_is_imported_with_its_type():
    texts = {
        "a.kt": "package shop\nobject Disks {\n  val FIRST: Disk = TODO()\n  val SIZE: Int = 1\n}\nclass Disk {\n  fun save() {}\n}\n",
        "b.kt": "package app\nimport shop.Disks.FIRST\nimport shop.Disks.SIZE\nimport other.Disks.LAST\n"
        "fun f() {\n  FIRST.save()\n  SIZE.save()\n  LAST.save()\n}\n",
    }
    edges = calls_in(project_of(texts), "b.kt")
    assert [(edge.target, edge.location.line) for edge in edges] == [("a:Disk.save", 6)]
