"""Type arguments of a receiver, in small projects in which two types have a method of one name: a
guess by name would be wrong.
"""

from __future__ import annotations

import pytest

from cortex.graph.facts.declared.generics import split_generic
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

_JAVA = (
    "class Disk { void save() {} }\nclass Tape { void save() {} }\n"
    "class Box<T> {\n  T held;\n  T get() { return held; }\n  Box<T> same() { return this; }\n"
    "  List<T> all() { return null; }\n  <T> T other(Class<T> type) { return null; }\n}\n"
)
_KOTLIN = (
    "class Disk { fun save() {} }\nclass Tape { fun save() {} }\n"
    "open class Box<T>(val held: T) {\n  fun get(): T = held\n  fun same(): Box<T> = this\n"
    "  fun all(): List<T> = listOf()\n  fun each(f: (T) -> Unit) {}\n}\n"
)
_SCALA = (
    "class Disk { def save(): Unit = {} }\nclass Tape { def save(): Unit = {} }\n"
    "trait Box[+T] {\n  def get: T\n  def made(): T\n  val held: T\n  def same: Box[T]\n  def all: List[T]\n}\n"
)
_CSHARP = (
    "class Disk { public void Save() {} }\nclass Tape { public void Save() {} }\n"
    "class Box<T> {\n  public T Held;\n  public T Value { get; set; }\n  public T Get() { return Held; }\n"
    "  public Box<T> Same() { return this; }\n  public List<T> All() { return null; }\n}\n"
)
_SELF_TYPED = (
    "class Disk { void save() {} }\nabstract class Tape<T, B extends Tape<T, B>> {\n  void save() {}\n"
    "  abstract T make();\n  B size(int x) { return null; }\n}\n"
    "class Own extends Tape<Disk, Own> { void save() {} }\n"
    "class A {\n  void f(Own x) {\n    x.size(1).size(2).save();\n    x.size(1).make().save();\n  }\n}\n"
)
#: subject → (path, its text, line → the receiver's type in a call of `save`)
CASES = {
    "declared types in Java": (
        "A.java",
        _JAVA + "class A {\n  void f(Box<Disk> a, Box<? extends Tape> b, Box<Box<Tape>> c, Box<String> d) {\n"
        "    a.get().save();\n    b.held.save();\n    c.get().same().get().save();\n    d.get().save();\n"
        "    for (var one : b.all()) { one.save(); }\n    var e = new Box<Disk>();\n    e.get().save();\n  }\n}\n",
        {12: "Disk", 13: "Tape", 14: "Tape", 16: "Tape", 18: "Disk"},
    ),
    "what a subclass fixes in Java": (
        "A.java",
        _JAVA
        + "class Disks extends Box<Disk> {\n  void f() {\n    get().save();\n    held.save();\n    super.get().save();\n"
        "    same().get().save();\n  }\n}\n",
        {12: "Disk", 13: "Disk", 14: "Disk", 15: "Disk"},
    ),
    "a type parameter that has to be the class itself, in Java": (
        "A.java",
        _SELF_TYPED,
        {10: "Own", 11: "Disk"},
    ),
    "a list of the project's own in Java": (
        "A.java",
        _JAVA
        + "class Many extends ArrayList<Tape> {}\nclass A {\n  void f(Many x) {\n    x.get(0).save();\n  }\n}\n",
        {13: "Tape"},
    ),
    "declared types in Kotlin": (
        "a.kt",
        _KOTLIN
        + "typealias Tapes = Box<Tape>\nfun f(a: Box<Disk>, b: Tapes, c: Box<out Disk>?) {\n  a.get().save()\n"
        "  b.held.save()\n  c?.get()?.save()\n  a.all().forEach { it.save() }\n  b.each { it.save() }\n"
        "  b.each { x -> x.save() }\n  for (x in a.same().all()) x.save()\n}\n",
        {11: "Disk", 12: "Tape", 13: "Disk", 14: "Disk", 15: "Tape", 16: "Tape", 17: "Disk"},
    ),
    "what a subclass fixes in Kotlin": (
        "a.kt",
        _KOTLIN + "class Disks : Box<Disk>(Disk()) {\n  fun f() {\n    get().save()\n    held.save()\n"
        "    each { it.save() }\n  }\n}\n",
        {11: "Disk", 12: "Disk", 13: "Disk"},
    ),
    "declared types in Scala": (
        "A.scala",
        _SCALA
        + "object A {\n  type Tapes = Box[Tape]\n  def f(a: Box[Disk], b: Tapes) = {\n    a.get.save()\n"
        "    b.made().save()\n    b.held.save()\n    a.same.get.save()\n    for (x <- a.all) x.save()\n  }\n}\n",
        {13: "Disk", 14: "Tape", 15: "Tape", 16: "Disk", 17: "Disk"},
    ),
    "what a subclass fixes in Scala": (
        "A.scala",
        _SCALA
        + "class Disks extends Box[Disk] {\n  def f() = {\n    made().save()\n    held.save()\n    get.save()\n  }\n}\n",
        {12: "Disk", 13: "Disk", 14: "Disk"},
    ),
    "declared types in C#": (
        "a.cs",
        _CSHARP
        + "class A<TItem> where TItem : Tape {\n  void F(Box<Disk> a, Box<Tape> b, Box<TItem> c) {\n    a.Get().Save();\n"
        "    b.Value.Save();\n    c.Get().Save();\n    foreach (var x in a.All()) { x.Save(); }\n"
        "    var e = new Box<Tape>();\n    e.Same().Get().Save();\n  }\n}\n",
        {12: "Disk", 13: "Tape", 14: "Tape", 15: "Disk", 17: "Tape"},
    ),
    "what a subclass fixes in C#": (
        "a.cs",
        _CSHARP
        + "class Disks : Box<Disk> {\n  void F() {\n    Get().Save();\n    Held.Save();\n    base.Get().Save();\n"
        "  }\n}\n",
        {12: "Disk", 13: "Disk", 14: "Disk"},
    ),
}


def calls_of(path: str, text: str) -> dict[int, str]:
    """Return line → the type whose `save` is called there, or several candidates."""
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    return {
        edge.location.line: edge.target.rpartition(".")[0].partition(":")[2]
        for edge in edges_of(project, Evaluator(project), path)
        if edge.type == "calls" and edge.target.lower().endswith("save")
    }


@pytest.mark.parametrize("case", CASES)
def test_the_receivers_type_decides_its_type_parameters(case):
    path, text, wanted = CASES[case]
    assert calls_of(path, text) == wanted


#: subject → (path, its text), with an unknown receiver of `save`
UNKNOWN = {
    "a function's own type parameter of the name of its class's": (
        "A.java",
        _JAVA + "class A {\n  void f(Box<Disk> x, Class<Tape> y) {\n    x.other(y).save();\n  }\n}\n",
    ),
    "anything": ("A.java", _JAVA + "class A {\n  void f(Box<?> x) {\n    x.get().save();\n  }\n}\n"),
    "fewer type arguments than parameters": (
        "a.kt",
        _KOTLIN + "fun f(x: Box<Disk, Tape>) {\n  x.get().save()\n}\n",
    ),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_type_parameter_gives_no_edge(case):
    assert calls_of(*UNKNOWN[case]) == {}


#: a type with a method that returns a deeper instance of it, and a type that is its type argument
ENDLESS = {
    "A.java": "class Box<T> {\n  Box<Box<T>> more() { return null; }\n  T get() { return null; }\n}\n"
    "class Disk { void save() {} }\nclass A {\n  void f(Box<Disk> x) {\n    x"
    + ".more()" * 40
    + ";\n  }\n}\n",
    "a.kt": "interface Own<T : Own<T>> {\n  fun same(): T\n}\nclass Loop : Own<Loop>\n"
    "fun f(x: Loop) {\n  x" + ".same()" * 40 + "\n}\n",
}


@pytest.mark.parametrize("path", ENDLESS)
def test_endlessly_nested_types_are_cut(path):
    raw = ENDLESS[path].encode()
    project = Project(LANGUAGES)
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    calls = [edge for edge in edges_of(project, Evaluator(project), path) if edge.type == "calls"]
    assert {edge.target.rpartition(".")[2] for edge in calls} <= {"more", "same"}
    assert len(calls) == 40


def test_type_arguments_are_read_as_they_are_written():
    assert split_generic("Box<Map<K, Disk>, ? extends Tape>") == ("Box", ("Map<K, Disk>", "Tape"))
    assert split_generic("Box[_, List[Disk]]") == ("Box", ("", "List[Disk]"))
    assert split_generic("Box<*, out Disk>?") == ("Box", ("", "Disk"))
    assert split_generic("Box<>") == ("Box", ())
    assert split_generic("Disk") == ("Disk", ())
