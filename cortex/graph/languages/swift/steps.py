"""Swift's steps of calls."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from cortex.graph.facts.facts import Reference
from cortex.graph.languages.swift.extensions import of_own_type, where_clause_members
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.project import Project, Ref


def find_module(project: Project, module: str, importer: str) -> str:
    """Return the key of the project's names for one of its modules, `Sources/Shop/` or `Shop/`."""
    home = project.home(importer)
    paths = project.homes.get(home, [])
    for folder in (f"Sources/{module}/", f"{module}/"):
        if paths[(at := bisect_left(paths, folder)) : at + 1] and paths[at].startswith(folder):
            return f"@{home}|"
    return ""


def take_where_clause(calls: Calls, callee: Callee) -> None:
    """Take a member of the protocol in an extension's `where Self: P`."""
    if not calls.targets.callable_refs(callee.values, -1):
        members = where_clause_members(calls.evaluator, callee.name, calls.path, callee.reference.scope)
        callee.values, callee.confidence = members or callee.values, "receiver"


def call_extension(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call of a library type's extension, or take a member of `Self`."""
    if calls.targets.callable_refs(callee.values, -1):
        return None
    reference, name = callee.reference, callee.name
    if own_refs := of_own_type(calls.evaluator, name, callee.receiver, callee.owners):
        return calls.targets.edges_of_call(reference, own_refs, "receiver")
    if callee.receiver in calls.rules.self_names:
        members = where_clause_members(calls.evaluator, name, calls.path, reference.scope)
        callee.values = members or callee.values
    return None


def methods_with_labels(calls: Calls, reference: Reference, refs: list[Ref]) -> list[Ref]:
    if reference.arguments < 0:
        return refs
    calls.targets.narrowed = True
    return [ref for ref in refs if calls.targets.accepts(ref, reference)]
