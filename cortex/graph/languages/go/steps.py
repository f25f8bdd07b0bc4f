"""Modules of Go, and definitions that are built together."""

from __future__ import annotations

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.modules.builds import built_with
from cortex.graph.resolution.project import Project, Ref


def own_members(project: Project, owner: Ref, refs: list[Ref]) -> list[Ref]:
    return built_with(project, refs, owner[0])


def visible(project: Project, _evaluator: Evaluator, refs: list[Ref], path: str) -> list[Ref]:
    return built_with(project, refs, path) if len(refs) > 1 else refs
