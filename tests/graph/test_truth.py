"""Calls, inheritance and implementations in small projects of every language, written by hand.

The test compares all edges of these types: an extra edge fails as a missing one does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Roots
from cortex.graph.resolution.resolve import edges_of
from cortex.graph.resolution.types.structural_types import structural_edges
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source, decode, digest

PROJECTS = Path(__file__).parents[1] / "golden" / "graph"
COMPARED = ("calls", "implements", "extends", "embeds")


def load(files, roots=None):
    changes = {}
    for path, text in files.items():
        raw = text.encode()
        source = decode(path, raw)
        assert isinstance(source, Source)
        changes[path] = facts_of(source, digest(raw))
    project = Project(LANGUAGES, roots or Roots())
    project.update(changes)
    return project


def edge_lines(project):
    evaluator = Evaluator(project)
    structural = structural_edges(project, evaluator)
    lines = set()
    for path in project.packed:
        for edge in (*edges_of(project, evaluator, path), *structural.get(path, ())):
            if edge.type in COMPARED:
                target = edge.target or " | ".join(edge.candidates)
                lines.add(f"{edge.source} {edge.type} {target} [{edge.confidence}]")
    return lines


def expected(text):
    return {line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")}


@pytest.mark.parametrize("folder", sorted(PROJECTS.iterdir()), ids=lambda path: path.name)
def test_the_edges_of_a_project_are_those_written_by_hand(folder):
    files = {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "EDGES"
    }
    go = {"": "example.com/shop"} if "go" in folder.name else {}
    assert edge_lines(load(files, Roots(go=go))) == expected((folder / "EDGES").read_text())
