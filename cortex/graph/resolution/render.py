"""Definitions → the nodes of the graph files. No source text in them."""

from __future__ import annotations

from typing import Any

from cortex.graph.facts.facts import DEFAULT, LATER, Definition
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.types import alternatives
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.structural_types import MethodSets
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS


def nodes_of(project: Project, sets: MethodSets, path: str) -> list[dict[str, Any]]:
    """The file's own node (and its package's, from the first file of it), then its definitions in
    order.
    """
    facts = project.index(path).facts
    nodes: list[dict[str, Any]] = []
    if RULES[facts.language].shared == "folder":
        home = project.home(path)
        if path == project.homes[home][0]:
            folder = home.partition(":")[2].rstrip("/")
            nodes.append(_node(folder or ".", facts.package, "package", path, (1, facts.lines)))
    module = project.module_id(path)
    nodes.append(_node(module, module.rpartition("/")[2], "module", path, (1, max(1, facts.lines))))
    for index, one in enumerate(facts.definitions):
        node = _node(
            project.id_of((path, index)), one.qualified, one.kind, path, (one.start_line, one.end_line)
        )
        if one.kind in CALLABLE_KINDS:
            node |= _signature(one)
        elif one.kind in TYPE_KINDS:
            node |= _members(project, sets, (path, index))
        nodes.append(node)
    return nodes


def _node(node_id: str, name: str, kind: str, path: str, lines: tuple[int, int]) -> dict[str, Any]:
    return {
        "id": node_id,
        "name": name,
        "kind": kind,
        "file": path,
        "start_line": lines[0],
        "end_line": max(lines),
    }


def _signature(one: Definition) -> dict[str, Any]:
    returns = one.returns.removeprefix(":") if one.returns.startswith(":") else ""
    return {
        "parameters": [
            {"name": each.name, "type": _type(each.type.removesuffix(DEFAULT).removesuffix(LATER))}
            for each in one.parameters
        ],
        "returns": [_type(returns)] if returns else [],
    }


def _type(text: str) -> dict[str, str]:
    """A declared type as written, and the package that it names."""
    names = alternatives(text)
    package = names[0].rstrip("*").rpartition(".")[0] if names else ""
    return {"name": " ".join(text.split()), "package": package}


def _members(project: Project, sets: MethodSets, ref: Ref) -> dict[str, Any]:
    one = project.definition(ref)
    own = project.members_of(project.home(ref[0]), one.qualified)
    methods = [
        one
        for one in map(project.definition, sorted(refs[0] for refs in own.values()))
        if one.kind == "method"
    ]
    return {
        "methods": [{"name": each.name, **_signature(each)} for each in methods],
        "embedded_types": [base.chain for base in one.bases],
        "resolved_methods": sorted(sets.of(ref)),
    }
