"""Modules, members and call signatures of scripts."""

from __future__ import annotations

from cortex.graph.facts.facts import CALLED
from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.modules.commonjs import ChainEvaluator
from cortex.graph.resolution.project import Project, Ref


def own_members(project: Project, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members of a type, without functions nested in a class of its name."""
    if project.definition(owner).kind == "module":
        return refs
    refs = [ref for ref in refs if project.definition(ref).kind != "function"]
    return project.inside_owner(owner, refs) if len(refs) > 1 else refs


def call_signatures(project: Project, values: ChainEvaluator, value: Value) -> tuple[Value, ...]:
    """Return the call signatures of an instance's type."""
    members = (member for member in values.member(value.ref, CALLED) if member.tag == "def")
    return tuple(member for member in members if CALLED in project.definition(member.ref).flags)
