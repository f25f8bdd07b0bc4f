"""Modules, members and methods of Rust."""

from __future__ import annotations

from cortex.graph.facts.facts import Import, Reference
from cortex.graph.resolution.calling.calls import Calls
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.project import Project, Ref

#: methods of Option, Result, Rc and similar types, which types.py replaces by their content
_UNWRAPS = frozenset(
    {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "unwrap_or_default"}
)


def submodule(project: Project, key: str, name: str) -> str:
    """Return the key of a module inside a file, or of a file's child."""
    return f"{key}|{name}" if project.has_scope(key, name) else project.rust.child(key, name)


def imported_module(project: Project, statement: Import, path: str, _key: str) -> str:
    return project.find_module(f"{statement.module}.{statement.member}", path)


def deref_member(members: Members, value: Value, name: str) -> tuple[Value, ...]:
    """Return a member of the type that `deref` returns."""
    return members.deref_members(value, name) if value.tag == "inst" else ()


def unwrapped(_members: Members, value: Value, name: str) -> tuple[Value, ...]:
    """Return a getter of the value itself for a method that unwraps it."""
    return (Value("elem", value.path, value.at, 1),) if value.tag == "inst" and name in _UNWRAPS else ()


def methods_of_crate(calls: Calls, _reference: Reference, refs: list[Ref]) -> list[Ref]:
    """Return the methods of the caller's crate; all if it has none."""
    root = calls.project.rust.root
    return [ref for ref in refs if root(ref[0]) == root(calls.path)] or refs
