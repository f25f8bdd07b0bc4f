"""Targets of Kotlin calls after operators, type tests and other extensions, in one small project in
which two types have a method of one name.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

_TYPES = (
    "class Disk {\n  fun save() {}\n}\nclass Tape {\n  fun save() {}\n}\noperator fun Disk.plus(x: Int): Tape = Tape()\n"
    "fun make(): Disk = Disk()\nfun ok(): Boolean = true\nfun Char.twice() {}\n"
)
#: body of a function in `class A(val box: Any, val own: Disk)` → its calls
LINES = {
    "if (!ok()) return": ["ok"],
    "if (!check()) return": ["A.check"],
    "z!!.save()": ["Disk.save"],
    "(z ?: Tape()).save()": ["Disk.save"],
    "val w = make() + 1; w.save()": ["Tape.save"],
    "'a'.twice()": ["Char.twice"],
    "if (x is Disk) x.save()": ["Disk.save"],
    "if (x is Tape && ok()) { x.save() }": ["Tape.save"],
    "ok() && x is Tape && x.save()": [],
    "x is Tape && x.save()": ["Tape.save"],
    "when (x) { is Disk -> z.save() }": ["Disk.save"],
    "when (x) { is Tape -> { x.save() } }": ["Tape.save"],
    "if (this.box is Tape) { this.box.save() }": ["Tape.save"],
    "if (x !is Tape) return; x.save()": ["Tape.save"],
    "if (x is Disk) ok() else x.save()": [],
}
#: calls that the results leave out
_UNCOMPARED = {"Disk", "Tape", "make"}


def calls_of(text: str) -> list[str]:
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({"a.kt": facts_of(decode("a.kt", raw), digest(raw))})
    edges = [edge for edge in edges_of(project, Evaluator(project), "a.kt") if edge.type == "calls"]
    first = _TYPES.count("\n")
    names = [edge.target.partition(":")[2] for edge in edges if edge.location.line > first and edge.target]
    return [name for name in names if name not in _UNCOMPARED]


@pytest.mark.parametrize("line", LINES)
def test_operators_and_type_tests_decide_the_receiver(line):
    inside = "\n".join(line.split("; "))
    body = f"class A(val box: Any, val own: Disk) {{\n  fun check() = true\n  fun f(x: Any, z: Disk?) {{\n{inside}\n  }}\n}}\n"
    wanted = LINES[line]
    assert [name for name in calls_of(_TYPES + body) if name in wanted or name.endswith("save")] == wanted


def test_an_extension_in_a_class_knows_that_classs_members():
    text = (
        _TYPES
        + "class Box {}\nclass A(val own: Disk) {\n  fun check() {}\n  fun Box.more() {\n    own.save()\n"
        "    check()\n  }\n}\n"
    )
    assert {"Disk.save", "A.check"} <= set(calls_of(text))


def test_an_argument_of_a_platform_type_chooses_the_overload():
    text = (
        "expect class Disk\nfun load(): Disk = TODO()\nclass Store {\n  fun put(x: Disk) {}\n  fun put(x: String) {}\n}\n"
        "actual class Disk\nfun f(x: Store) {\n  x.put(load())\n}\n"
    )
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({"a.kt": facts_of(decode("a.kt", raw), digest(raw))})
    targets = [
        edge.target for edge in edges_of(project, Evaluator(project), "a.kt") if edge.location.line == 9
    ]
    assert "a:Store.put" in targets
    assert "" not in targets


def test_a_call_of_a_name_in_backticks_has_the_target_of_this_name():
    text = (
        _TYPES
        + "class ShopTest {\n  fun `returns nothing at all`() {}\n  fun `is`() {}\n"
        + "  fun all(o: ShopTest) { `returns nothing at all`(); o.`is`(); this.`returns nothing at all`() }\n}\n"
    )
    assert calls_of(text) == [
        "ShopTest.returns nothing at all",
        "ShopTest.is",
        "ShopTest.returns nothing at all",
    ]
