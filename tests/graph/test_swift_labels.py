"""Argument labels choose among Swift functions of one name."""

from __future__ import annotations

import pytest

from cortex.graph.facts.expressions.labels import accepts
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

_TYPES = """class Disk {
  func save(to path: String) {}
  func save(from path: String, quick: Bool = true) {}
  func save(_ path: String) {}
  func save(all paths: String...) {}
  func save(when ready: Bool, then: () -> Void) {}
}
"""
#: a call → the line of its only target, 0 for none
CALLS = {
    'd.save(to: "a")': 2,
    'd.save(from: "a")': 3,
    'd.save(from: "a", quick: false)': 3,
    'd.save("a")': 4,
    'd.save(all: "a", "b", "c")': 5,
    "d.save(when: true) { }": 6,
    "d.save(when: true, then: work)": 6,
    'd.save(into: "a")': 0,
    "let one = d.save(to:)": 2,
    "let one = d.save(from:quick:)": 3,
    "let one = d.save(_:)": 4,
    "let one = d.save(from:)": 0,
    "d.save(-)": 4,  # an operator as an argument
    "d.save(from: <)": 3,
    'unknown.save(to: "a")': 2,
}


MODELS = """struct List { let id: String
  init(id: String, title: String, note: String? = nil) { self.id = id } }
struct Task { let work: () -> Void
  init(priority: Int = 0, work: @escaping () -> Void) { self.work = work } }
struct Plain { let name: String }
struct Later { let name: String }
extension Later { init(_ work: () -> Void) { name = "" } }
struct Made: Makes { let name: String
  init(name: String) { self.name = name } }
protocol Makes {}
extension Makes { init(_ work: () -> Void) { work() } }
"""
#: a call that may make a type → the line of the type, 0 for none
CONSTRUCTIONS = {
    'List(id: "a", title: "b")': 1,
    "List { }": 0,
    "List(items) { item in }": 0,
    "List.init { }": 0,
    "Task { }": 3,
    "Task(priority: 1) { }": 3,
    "Plain { }": 5,  # its initializers may come from outside
    "Later { }": 6,
    "Made { }": 8,
}


@pytest.mark.parametrize("call", CONSTRUCTIONS)
def test_a_type_is_made_with_a_closure_if_an_initializer_takes_one(call):
    targets = targets_of(f"{MODELS}func f() {{\n  {call}\n}}\n")
    lines = [line for line, name in targets]
    assert lines == [CONSTRUCTIONS[call]] * bool(CONSTRUCTIONS[call])


@pytest.mark.parametrize("call", CALLS)
def test_labels_choose_among_functions_of_one_name(call):
    targets = targets_of(f"{_TYPES}func f(d: Disk) {{\n  {call}\n}}\n")
    assert [line for line, _ in targets] == [CALLS[call]] * bool(CALLS[call])


def targets_of(text):
    """Return (line, name) of each definition that the only file calls."""
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({"a.swift": facts_of(decode("a.swift", raw), digest(raw))})
    places = {
        project.id_of(("a.swift", at)): definition.line
        for at, definition in enumerate(project.index("a.swift").facts.definitions)
    }
    definitions = project.index("a.swift").facts.definitions
    names = {project.id_of(("a.swift", at)): definition.name for at, definition in enumerate(definitions)}
    edges = [edge for edge in edges_of(project, Evaluator(project), "a.swift") if edge.type == "calls"]
    return [(places.get(edge.target), names.get(edge.target)) for edge in edges]


def test_a_function_without_parameters_accepts_no_argument():
    assert accepts("(", ())
    assert not accepts("(", ("#",))
    assert not accepts("(to", ())
