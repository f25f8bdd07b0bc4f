"""Kotlin values from branches, blocks, getters, destructuring and functions; members by delegation
and by a companion's name. Two types have a method of one name.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

_TYPES = """interface Store {
  fun put()
}
interface Shelf {
  fun put()
}
class Tape {
  fun save() {}
}
class Disk {
  val tape = Tape()
  fun save() {}
  fun other(): Tape = Tape()
}
class Held(store: Store) : Store by store
class Maker {
  companion object Own {
    fun of(): Disk = Disk()
  }
}
data class Both(val disk: Disk, val tape: Tape)
class Row {
  operator fun get(at: Int): Tape = Tape()
}
fun make(): Disk = Disk()
"""
#: body of a class's function → the only method that its last line calls
LINES = {
    "held.put()": "Store.put",
    "Maker.Own.of().save()": "Disk.save",
    "val z = if (a) make() else Disk()|z.save()": "Disk.save",
    "val z = if (a) make() else return|z.save()": "Disk.save",
    "val z = if (a) make() else Tape()|z.save()": "",
    "val z = if (a) make() else unknown()|z.save()": "",
    "val z = when (a) {|1 -> make()|else -> Disk()|}|z.save()": "Disk.save",
    "val z = try {|make()|} catch (e: Exception) {|Disk()|}|z.save()": "Disk.save",
    "val z = make().let { it.other() }|z.save()": "Tape.save",
    "val z = make().let { one -> one.other() }|z.save()": "Tape.save",
    "val z = make().let { val one = 1; one.other() }|z.save()": "",
    "val z = run { make() }|z.save()": "Disk.save",
    "val (one, two) = both|two.save()": "Tape.save",
    "maker().save()": "Disk.save",
    "lazily.save()": "Disk.save",
    "got.save()": "Tape.save",
    "row[0].save()": "Tape.save",
    "val z = mutableListOf<Disk>()|z[0].save()": "Disk.save",
    "disks.sortedBy { 1 }.firstOrNull()?.save()": "Disk.save",
    "disks.forEachIndexed { at, one -> one.save() }": "Disk.save",
    "when {|x is Tape -> x.save()|else -> 1|}": "Tape.save",
    "while (x is Tape) {|x.save()|}": "Tape.save",
    "object : Runnable {|override fun run() {|this@A.check()|}|}": "A.check",
}
_CLASS = """class A(val held: Held, val both: Both, val row: Row, val maker: () -> Disk, val disks: List<Disk>) {
  val lazily by lazy { make() }
  val got get() = make().tape
  fun check() {}
  fun f(x: Any, a: Boolean) {
    LINES
  }
}
class B {
  fun check() {}
}
"""


@pytest.mark.parametrize("line", LINES)
def test_a_values_type_comes_from_its_initialiser(line):
    text = _TYPES + _CLASS.replace("LINES", "\n".join(line.split("|")))
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({"a.kt": facts_of(decode("a.kt", raw), digest(raw))})
    methods = {"save", "put", "check"}
    first = text[: text.index("fun f(x")].count("\n") + 1
    targets = [
        edge.target.partition(":")[2]
        for edge in edges_of(project, Evaluator(project), "a.kt")
        if edge.type == "calls" and edge.location.line > first
    ]
    assert [name for name in targets if name.rpartition(".")[2] in methods] == [LINES[line]] * bool(
        LINES[line]
    )


OVERLOADS = """open class Finder {
  open fun find(x: Int, y: Int = 1) {}
}
class Own : Finder() {
  override fun find(x: Int, y: Int) {}
}
open class Parser {
  companion object {
    operator fun invoke(x: Int): Parser = Parser()
  }
  fun <T> parse(text: String) {}
  fun <T> parse(count: Int) {}
  fun <T> parse() {}
}
class Json(x: Int) : Parser()
"""
#: a call → the line above its target
CALLS = {
    'x.parse<Any>("a")': 11,
    "x.parse<Map<String, Int>>(1)": 12,
    "x.parse<Any>()": 13,
    "own.find(1)": 5,
    "Json(1)": 15,
    "Parser(1)": 9,
}


@pytest.mark.parametrize("call", CALLS)
def test_type_arguments_defaults_and_companions_lead_to_one_function(call):
    raw = f"{OVERLOADS}fun f(x: Parser, own: Own) {{\n  {call}\n}}\n".encode()
    project = Project(LANGUAGES)
    project.update({"a.kt": facts_of(decode("a.kt", raw), digest(raw))})
    places = {
        project.id_of(("a.kt", at)): definition.line
        for at, definition in enumerate(project.index("a.kt").facts.definitions)
    }
    calls = [edge for edge in edges_of(project, Evaluator(project), "a.kt") if edge.type == "calls"]
    assert [places.get(edge.target) for edge in calls if edge.location.line == 17] == [CALLS[call]]


def test_arguments_distinguish_a_class_from_a_function_of_its_name():
    text = (
        "fun Disk(x: Int = 1): Disk = TODO()\nclass Disk(val x: String, y: Int)\nfun f(z: Int) {\n  Disk()\n  Disk(z)\n"
        '  Disk("a", z)\n  val json = """a"""\n  put(json)\n}\nfun put(x: Int) {}\nfun put(x: String) {}\n'
    )
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({"a.kt": facts_of(decode("a.kt", raw), digest(raw))})
    edges = edges_of(project, Evaluator(project), "a.kt")
    calls = [(edge.location.line, edge.target) for edge in edges if edge.type == "calls"]
    assert calls == [(4, "a:Disk"), (5, "a:Disk"), (6, "a:Disk~2"), (8, "a:put~2")]
