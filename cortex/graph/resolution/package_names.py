"""Names of a home by themselves: what is defined in one of its scopes, and its name spaces."""

from __future__ import annotations

from bisect import bisect_left

from cortex.graph.facts.facts import COMPANION, SPECIALIZED
from cortex.graph.resolution.builds import of_package
from cortex.graph.resolution.includes import C_HOME
from cortex.graph.resolution.linkage import bodies, linked
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value

#: definitions of one name (a function for each system, overloads) that are told apart
TWINS_MAX = 12
#: what stands beside what is meant by its name: Scala's object beside a class
_BESIDE = frozenset({COMPANION, SPECIALIZED})


def in_scope(project: Project, home: str, scope: str, name: str, path: str) -> tuple[Value, ...]:
    """Definitions of `name` in one scope of a home; those of the same file where there are any,
    bodies before declarations.
    """
    refs = project.members_of(home, scope).get(name)
    if not refs:  # as most names in most scopes
        return ()
    found, whole = _of_name(project, (home, scope, name), refs)
    if found and home.startswith("go:"):
        mine = of_package(project, list(dict.fromkeys(ref[0] for ref in found)), path)
        found = [ref for ref in found if ref[0] in mine]
        whole = None
    # They are in the order of their paths.
    here = found[bisect_left(found, (path,)) : bisect_left(found, (f"{path}\0",))]
    found = bodies(project, here or found) if here or whole is None else whole
    if not here and path and home == C_HOME:
        found = linked(project, found, path)
    return tuple(Value("def", *ref) for ref in found[:TWINS_MAX])


def _of_name(
    project: Project, key: tuple[str, str, str], refs: list[Ref]
) -> tuple[list[Ref], list[Ref] | None]:
    """(What is meant of the definitions of one name; those without the declarations of others of
    them, where they are so many that this is remembered: each file may open a name space.)
    """
    known = project.named_often.get(key)
    if known is not None:
        return known
    found = [ref for ref in refs if project.definition(ref).kind != "constant"]
    if len(found) > 1:
        found = [ref for ref in found if not _BESIDE & {*project.definition(ref).flags}] or found
    if len(refs) <= TWINS_MAX:
        return found, None
    project.named_often[key] = known = found, bodies(project, found)
    return known


def space(project: Project, home: str, inside: str, name: str) -> Value | None:
    """The name space of that name, from `inside` outwards."""
    while inside:
        if project.has_scope(home, f"{inside}.{name}"):
            return Value("mod", f"@{home}|{inside}.{name}")
        inside = inside.rpartition(".")[0]
    return Value("mod", f"@{home}|{name}") if project.has_scope(home, name) else None


def below(project: Project, home: str, name: str) -> str:
    """PHP: the key of the name space `name` in that of `home`; "" when there is none."""
    inner = f"{home}.{name}" if home.partition(":")[2] else f"{home}{name}"
    return f"@{inner}|" if inner in project.homes else ""
