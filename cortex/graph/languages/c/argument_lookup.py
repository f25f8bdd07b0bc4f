"""Argument-dependent lookup of C++: functions in the name spaces of a call's argument types.
Pure.
"""

from __future__ import annotations

from cortex.graph.facts.expressions.chains import ADDRESS
from cortex.graph.facts.facts import Reference
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.package_names import in_scope
from cortex.graph.resolution.project import Project


def associated_functions(
    project: Project, evaluator: Evaluator, path: str, reference: Reference
) -> tuple[Value, ...]:
    """Return the functions that `save(disk)` may mean if no scope around the call has the name."""
    values: dict[Value, None] = {}
    for chain in reference.passed:
        if chain[:1] in "#?":
            continue
        for value in evaluator.evaluate(chain.removesuffix(ADDRESS), path, reference.scope, reference.at):
            if value.tag == "inst" and project.home(value.path) == C_HOME:
                name_space = _space_of(project, project.definition(value.ref).scope)
                values.update(dict.fromkeys(in_scope(project, C_HOME, name_space, reference.chain, path)))
    return tuple(values)


def _space_of(project: Project, scope: str) -> str:
    """Return the name space of a scope, which may be a type's."""
    while scope and any(project.types_named(C_HOME, scope)):
        scope = scope.rpartition(".")[0]
    return scope
