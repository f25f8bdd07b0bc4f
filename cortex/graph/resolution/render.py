"""Nodes of the graph files, made from definitions. They hold no source text."""

from collections import Counter
from typing import Any

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.facts import DEFAULT, DERIVED, LATER, REQUIRED, Definition
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.function_types import stands_for
from cortex.graph.resolution.types.structural_types import MethodSets
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS


def nodes_of(project: Project, sets: MethodSets, path: str) -> list[dict[str, Any]]:
    """Return the file's node, and then those of its definitions and its further members, in order.

    The first file of a package adds the package's node.
    """
    index = project.index(path)
    facts = index.facts
    nodes: list[dict[str, Any]] = []
    if project.rules(path).shared == "folder":
        home = project.home(path)
        if path == project.homes[home][0]:
            folder = home.partition(":")[2].rstrip("/")
            nodes.append(_node(folder or ".", facts.package, "package", path, (1, facts.lines)))
    module = project.module_id(path)
    nodes.append(_node(module, module.rpartition("/")[2], "module", path, (1, max(1, facts.lines))))
    for number, definition in enumerate(facts.definitions):
        node = _node(
            project.id_of((path, number)),
            index.shown(number),
            "property" if definition.is_accessor else definition.kind,
            path,
            (definition.start_line, definition.end_line),
        )
        if definition.kind in CALLABLE_KINDS and not definition.is_accessor:
            node |= _signature(definition)
        elif definition.kind in TYPE_KINDS:
            node |= _type_members(project, sets, (path, number))
        nodes.append(node)
    counts = Counter(map(index.shown, range(len(facts.definitions))))
    for member in facts.members:
        name = f"{member.scope}.{member.name}"
        counts[name] += 1
        overload = f"~{counts[name]}" if counts[name] > 1 else ""
        lines = member.start_line, member.end_line
        nodes.append(_node(f"{module}:{name}{overload}", name, member.kind, path, lines))
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


def _signature(definition: Definition) -> dict[str, Any]:
    returns = definition.returns.removeprefix(":") if definition.returns.startswith(":") else ""
    return {
        "parameters": [
            {
                "name": parameter.name,
                "type": _type_node(parameter.type.removesuffix(DEFAULT).removesuffix(LATER)),
            }
            for parameter in definition.parameters
        ],
        "returns": [_type_node(returns)] if returns else [],
    }


def _type_node(text: str) -> dict[str, str]:
    """Return a declared type as written, and the package that it names."""
    names = alternatives(text)
    package = names[0].rstrip("*").rpartition(".")[0] if names else ""
    return {"name": " ".join(text.split()), "package": package}


def _type_members(project: Project, sets: MethodSets, ref: Ref) -> dict[str, Any]:
    definition = project.definition(ref)
    members = project.members_of(project.home(ref[0]), definition.qualified)
    methods = [
        method
        for method in map(project.definition, sorted(refs[0] for refs in members.values()))
        if method.kind == "method" and not method.is_accessor
    ]
    _, called = stands_for(project, sets.evaluator, ref)
    return {
        **({"called": project.definition(called).name} if called is not None else {}),
        "methods": [{"name": method.name, **_signature(method)} for method in methods],
        "embedded_types": [
            base.chain for base in definition.bases if base.relation not in (DERIVED, REQUIRED)
        ],
        "resolved_methods": sorted(sets.of(ref)),
    }
