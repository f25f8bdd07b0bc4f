"""Small in-memory projects, and the calls that the graph finds in them."""

from __future__ import annotations

from collections.abc import Mapping

from cortex.graph.facts.tables import Packed
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest


def facts_in(path: str, text: str) -> Packed | None:
    return facts_of(decode(path, text.encode()), digest(text.encode()))


def project_of(texts: Mapping[str, str]) -> Project:
    """`texts`: path → text."""
    project = Project(LANGUAGES)
    project.update({path: facts_in(path, text) for path, text in texts.items()})
    return project


def calls_in(project: Project, path: str) -> list[Edge]:
    return [edge for edge in edges_of(project, Evaluator(project), path) if edge.type == "calls"]
