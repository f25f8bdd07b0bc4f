"""Which of several C or C++ definitions of one name a file can mean: what it reads, what others
keep to themselves, which of them is near, and which declarations are those of a body.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from cortex.graph.facts.facts import DEFAULT, SPECIALIZED, Definition
from cortex.graph.resolution.conversions import of_cpp
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value, near
from cortex.terms.kinds import TYPE_KINDS

#: files that others read
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")


def linked(project: Project, refs: list[Ref], path: str) -> list[Ref]:
    """Without what other files keep to themselves and what this one does not read, and the nearest
    of several by their folders (`unix/x.c` for `unix/y.c`; both `unix/x.c` and `win/x.c` for a file
    above them).
    """
    seen = [ref for ref in refs if not _is_private(project, ref)]
    if len(seen) < len(refs):
        read = project.includes.direct(path)
        seen = [ref for ref in refs if ref in seen or ref[0] in read]
    if len(seen) < 2:
        return seen
    seen = reachable(project, seen, path)
    types = [ref for ref in seen if project.definition(ref).kind in TYPE_KINDS]
    return [*near(types, path), *near([ref for ref in seen if ref not in types], path)]


def reachable(project: Project, refs: list[Ref], path: str) -> list[Ref]:
    """Of what several files define that in what `path` reads, and in sources that read a file of
    the project that it reads as well; all where none is.
    """
    if len(refs) < 2 or len({ref[0] for ref in refs}) < 2:
        return refs
    read = project.includes.read_by(path)
    kept = [ref for ref in refs if ref[0] in read or _is_source_of(project, ref[0], read)]
    return kept or refs


def seen_from(project: Project, values: tuple[Value, ...], path: str) -> tuple[Value, ...]:
    """As `reachable`, of what a name may stand for."""
    refs = [value.ref for value in values if value.tag == "def"]
    kept = reachable(project, refs, path)
    return values if kept is refs else tuple(v for v in values if v.tag != "def" or v.ref in kept)


def of_type(project: Project, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Of members of types of one name those of `owner`: in its file, or in one that reads it."""
    if len(refs) > 1 and SPECIALIZED in project.definition(owner).flags:
        inside = [ref for ref in refs if ref[0] == owner[0] and project.definition(ref).parent == owner[1]]
        refs = inside or refs
    if len({ref[0] for ref in refs}) < 2:
        return refs
    kept = [ref for ref in refs if ref[0] == owner[0] or owner[0] in project.includes.read_by(ref[0])]
    return kept or refs


def _is_source_of(project: Project, path: str, read: frozenset[str]) -> bool:
    return not path.endswith(HEADERS) and not read.isdisjoint(project.includes.direct(path))


def _is_private(project: Project, ref: Ref) -> bool:
    """`static` functions and macros, unless in a header."""
    if ref[0].endswith(HEADERS):
        return False
    flags = project.definition(ref).flags
    return "static" in flags or "macro" in flags


def bodies(project: Project, refs: list[Ref]) -> list[Ref]:
    """Without the declarations of what is defined as well: those that take the same, or as many
    things where no fewer bodies do.
    """
    declared = [ref for ref in refs if "declared" in project.definition(ref).flags]
    if not declared or len(declared) == len(refs):
        return refs
    whole = [ref for ref in refs if ref not in declared]
    shapes = {_shape(project, ref) for ref in whole}
    counts = Counter(_size(project, ref) for ref in whole)
    wanted = Counter(_size(project, ref) for ref in declared)
    sizes = {size for size, count in wanted.items() if counts[size] >= count}
    left = {
        ref for ref in declared if _size(project, ref) not in sizes and _shape(project, ref) not in shapes
    }
    return [ref for ref in refs if ref in left or ref not in declared]


def signature(project: Project, ref: Ref) -> Definition:
    """A definition, of C++ with the defaults that only its declaration says."""
    one = project.definition(ref)
    if not one.parameters or "declared" in one.flags or project.language(ref[0]) != "cpp":
        return one
    for other in project.members_of(project.home(ref[0]), one.scope).get(one.name, ()):
        said = project.definition(other)
        says = "declared" in said.flags and any(each.type.endswith(DEFAULT) for each in said.parameters)
        if says and _shape(project, other) == _shape(project, ref):
            return msgspec.structs.replace(one, parameters=said.parameters)
    return one


def _shape(project: Project, ref: Ref) -> tuple[str, ...]:
    one = project.definition(ref)
    return one.qualified, *(of_cpp(each.type.removesuffix(DEFAULT)) for each in one.parameters)


def _size(project: Project, ref: Ref) -> tuple[str, int]:
    one = project.definition(ref)
    return one.qualified, len(one.parameters)
