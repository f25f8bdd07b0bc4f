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


@pytest.mark.parametrize("call", CALLS)
def test_labels_choose_among_functions_of_one_name(call):
    raw = f"{_TYPES}func f(d: Disk) {{\n  {call}\n}}\n".encode()
    project = Project(LANGUAGES)
    project.update({"a.swift": facts_of(decode("a.swift", raw), digest(raw))})
    places = {
        project.id_of(("a.swift", at)): definition.line
        for at, definition in enumerate(project.index("a.swift").facts.definitions)
    }
    edges = [edge for edge in edges_of(project, Evaluator(project), "a.swift") if edge.type == "calls"]
    assert [places.get(edge.target) for edge in edges] == [CALLS[call]] * bool(CALLS[call])


def test_a_function_without_parameters_accepts_no_argument():
    assert accepts("(", ())
    assert not accepts("(", ("#",))
    assert not accepts("(to", ())
