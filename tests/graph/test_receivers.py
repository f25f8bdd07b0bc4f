"""What a call is on where the text says it in an unusual way: casts, companions, what a class hands
on, and variables that have a method's name; small projects in which a guess would be wrong.
"""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

#: what is shown → (path, its text, lines and targets of all calls and references to methods)
CASES = {
    "casts in Java": (
        "A.java",
        (
            "class Disk { void save() {} }\nclass Tape { void save() {} void rewind() {} }\nclass A {\n  void f(Object x) {\n"
            "    ((Disk) x).save();\n    ((Tape) x).save();\n    ((Foreign) x).rewind();\n  }\n}\n"
        ),
        {(5, "A:Disk.save"), (6, "A:Tape.save")},
    ),
    "casts in TypeScript": (
        "a.ts",
        (
            "class Disk { save() {} }\nclass Tape { save() {} rewind() {} }\nfunction f(x: any) {\n  (x as Disk).save();\n"
            "  (<Tape>x).save();\n  (x as Request).rewind();\n  (x as any).rewind();\n}\n"
        ),
        {(4, "a:Disk.save"), (5, "a:Tape.save"), (7, "a:Tape.rewind")},
    ),
    "casts in C#": (
        "a.cs",
        (
            "class Disk { public void Save() {} }\nclass Tape { public void Save() {} }\nclass A {\n  void F(object x) {\n"
            "    ((Disk)x).Save();\n    (x as Tape).Save();\n  }\n}\n"
        ),
        {(5, "a:Disk.Save"), (6, "a:Tape.Save")},
    ),
    "casts in Kotlin": (
        "a.kt",
        "class Disk {\n  fun save() {}\n}\nclass Tape {\n  fun save() {}\n}\nfun f(x: Any) {\n  (x as Disk).save()\n}\n",
        {(8, "a:Disk.save")},
    ),
    "casts in Swift": (
        "a.swift",
        "class Disk { func save() {} }\nclass Tape { func save() {} }\nfunc f(x: Any) {\n  (x as! Disk).save()\n}\n",
        {(4, "a:Disk.save")},
    ),
    "type assertions in Go": (
        "a.go",
        (
            "package a\ntype Disk struct{}\nfunc (d *Disk) Save() {}\ntype Tape struct{}\nfunc (t Tape) Save() {}\n"
            "func f(x any) {\n\tx.(*Disk).Save()\n\tx.(Tape).Save()\n}\n"
        ),
        {(7, "a:Disk.Save"), (8, "a:Tape.Save")},
    ),
    "casts in C++": (
        "a.cpp",
        "struct Disk { void save() {} };\nstruct Tape { void save() {} };\nvoid f(void* x) {\n  ((Disk*) x)->save();\n}\n",
        {(4, "a:Disk.save")},
    ),
    "what a Ruby class hands on": (
        "a.rb",
        (
            "class Store\n  def save(x)\n  end\n  def drop(x)\n  end\nend\nclass Other\n  def save(x)\n  end\n  def drop(x)\n  end\nend\n"
            "class Repo\n  delegate :save, to: :store\n  def_delegators :@store, :drop\n  def initialize\n    @store = Store.new\n"
            "  end\n  def run\n    save(1)\n  end\nend\nclass App\n  def go\n    repo = Repo.new\n    repo.save(1)\n    repo.drop(2)\n  end\nend\n"
        ),
        {(20, "a:Store.save"), (26, "a:Store.save"), (27, "a:Store.drop")},
    ),
    "a class after its object in Scala": (
        "a.scala",
        (
            "package p\nobject Disk {\n  def make(): Disk = new Disk\n}\nclass Disk { def save(): Unit = {} }\n"
            "class User {\n  def run() = {\n    Disk.make().save()\n  }\n}\n"
        ),
        {(3, "a:Disk~2"), (8, "a:Disk.make"), (8, "a:Disk.save")},
    ),
    "a class before its object in Scala": (
        "a.scala",
        "package p\nclass Disk { def save(): Unit = {} }\nobject Disk {\n  def make(): Disk = new Disk\n}\n",
        {(4, "a:Disk")},
    ),
    "default methods of a Swift protocol": (
        "a.swift",
        (
            "protocol Store { func save() }\nextension Store {\n  func reset() { save() }\n}\nclass Other { func reset() {} }\n"
            "struct Disk: Store { func save() {} }\nfunc run(d: Disk) {\n  d.reset()\n}\n"
        ),
        {(3, "a:Store.save"), (8, "a:Store.reset")},
    ),
    "companions in Kotlin": (
        "a.kt",
        (
            "class Disk {\n  companion object {\n    fun make(): Disk = TODO()\n  }\n  fun save() {}\n}\nclass Tape {\n  fun save() {}\n}\n"
            "fun run() {\n  Disk.make().save()\n}\n"
        ),
        {(11, "a:Disk.make"), (11, "a:Disk.save")},
    ),
    "a variable with a method's name in Kotlin": (
        "a.kt",
        (
            "class Disk {\n  fun count(): Int = 1\n  fun total(count: Int): Int = count() + count\n"
            "  fun other(count: () -> Int): Int = count()\n}\n"
        ),
        {(3, "a:Disk.count")},
    ),
    "selectors in Swift": (
        "a.swift",
        (
            "class Page {\n  func go() {\n    add(#selector(tap))\n    add(#selector(Page.tap))\n    add(#selector(tap(_:)))\n  }\n"
            "  @objc func tap() {}\n}\n"
        ),
        {(3, "a:Page.tap, a value"), (4, "a:Page.tap, a value"), (5, "a:Page.tap, a value")},
    ),
    "functions by a text in PHP": (
        "a.php",
        (
            "<?php\nnamespace App;\nfunction cut($x) {}\nclass Disk { static function save($x) {} }\nfunction run($x) {\n"
            "  array_map('App\\cut', $x);\n  array_map(\"App\\\\Disk::save\", $x);\n  label('App\\cut');\n  usort($x, 'cut');\n}\n"
        ),
        {(6, "a:cut, a value"), (7, "a:Disk.save, a value")},
    ),
}


#: types that calls make; what they are called on is the question
_MADE = {"a:Repo", "a:Store"}


@pytest.mark.parametrize("shown", CASES)
def test_a_call_leads_to_what_its_receiver_is_said_to_be(shown):
    path, text, wanted = CASES[shown]
    raw = text.encode()
    project = Project()
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    found = {
        (edge.location.line, edge.target + ", a value" * (edge.type == "references"))
        for edge in edges_of(project, Evaluator(project), path)
        if edge.type in ("calls", "references") and edge.target not in _MADE
    }
    assert found == wanted
