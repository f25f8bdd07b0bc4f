"""Linkage of C and C++: of several definitions of one name, those that a file can mean. By
includes, internal linkage, distance of folders, and pairs of declaration and body.
"""

from collections import Counter

import msgspec

from cortex.graph.facts.facts import DEFAULT, SPECIALIZED, Definition
from cortex.graph.resolution.evaluation.values import Values, nearest_definitions
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.conversions import bare_cpp_type
from cortex.terms.kinds import TYPE_KINDS

#: endings of header files
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")


def linked_definitions(project: Project, refs: list[Ref], path: str) -> list[Ref]:
    """Return the definitions that a file can link to, nearest first by folder.

    Without other files' internal definitions, and without files that this one does not include. For
    `unix/y.c` the nearest is `unix/x.c`; for a file above them both `unix/x.c` and `win/x.c` count.
    Overloads of C++ hide none with other parameters.
    """
    visible = [ref for ref in refs if not _is_private(project, ref)]
    if len(visible) < len(refs):
        read = project.includes.direct(path)
        visible = [ref for ref in refs if ref in visible or ref[0] in read]
    if len(visible) < 2:
        return visible
    visible = reachable_definitions(project, visible, path)
    groups: dict[tuple[str, ...], list[Ref]] = {}
    for ref in visible:
        is_type = project.definition(ref).kind in TYPE_KINDS
        overloads = project.rules(ref[0]).overloads and not is_type
        groups.setdefault(_shape(project, ref) if overloads else ("type",) * is_type, []).append(ref)
    return [ref for group in groups.values() for ref in nearest_definitions(group, path)]


def reachable_definitions(project: Project, refs: list[Ref], path: str) -> list[Ref]:
    """Return the definitions in files that `path` includes, and in sources that include a file of
    the project which `path` includes too; all if none is.
    """
    if len(refs) < 2 or len({ref[0] for ref in refs}) < 2:
        return refs
    read = project.includes.files_read_by(path)
    matching = [ref for ref in refs if ref[0] in read or _is_source_of(project, ref[0], read)]
    return matching or refs


def visible_values(project: Project, values: Values, path: str) -> Values:
    """Return the values that `reachable_definitions` allows."""
    refs = [value.ref for value in values if value.tag == "def"]
    matching = reachable_definitions(project, refs, path)
    return values if matching is refs else tuple(v for v in values if v.tag != "def" or v.ref in matching)


def members_of_type(project: Project, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members of `owner` among those of types of one name: in its file, in one that
    includes it, or bodies in one that includes nothing, a part of a source.
    """
    if len(refs) > 1 and SPECIALIZED in project.definition(owner).flags:
        inside = [ref for ref in refs if ref[0] == owner[0] and project.definition(ref).parent == owner[1]]
        refs = inside or refs
    if len({ref[0] for ref in refs}) < 2:
        return refs
    matching = [
        ref
        for ref in refs
        if ref[0] == owner[0]
        or owner[0] in project.includes.files_read_by(ref[0])
        or (project.definition(ref).parent < 0 and not project.includes.direct(ref[0]))
    ]
    return matching or refs


def _is_source_of(project: Project, path: str, read: frozenset[str]) -> bool:
    return not path.endswith(HEADERS) and not read.isdisjoint(project.includes.direct(path))


def _is_private(project: Project, ref: Ref) -> bool:
    """Return True for `static` functions and macros outside of headers."""
    if ref[0].endswith(HEADERS):
        return False
    flags = project.definition(ref).flags
    return "static" in flags or "macro" in flags


def drop_declarations(project: Project, refs: list[Ref]) -> list[Ref]:
    """Return `refs` without declarations whose body is among them.

    A body matches by parameter types; or by number, if there are at least as many bodies.
    """
    declared = [ref for ref in refs if "declared" in project.definition(ref).flags]
    if not declared or len(declared) == len(refs):
        return refs
    defined = [ref for ref in refs if ref not in declared]
    shapes = {_shape(project, ref) for ref in defined}
    counts = Counter(_size(project, ref) for ref in defined)
    wanted = Counter(_size(project, ref) for ref in declared)
    sizes = {size for size, count in wanted.items() if counts[size] >= count}
    left = {
        ref for ref in declared if _size(project, ref) not in sizes and _shape(project, ref) not in shapes
    }
    return [ref for ref in refs if ref in left or ref not in declared]


def signature(project: Project, ref: Ref) -> Definition:
    """Return a definition; in C++ with the defaults of its declaration."""
    definition = project.definition(ref)
    if (
        not definition.parameters
        or "declared" in definition.flags
        or not project.rules(ref[0]).declared_defaults
    ):
        return definition
    for other in project.members_of(project.home(ref[0]), definition.scope).get(definition.name, ()):
        declaration = project.definition(other)
        says = "declared" in declaration.flags and any(
            parameter.type.endswith(DEFAULT) for parameter in declaration.parameters
        )
        if says and _shape(project, other) == _shape(project, ref):
            return msgspec.structs.replace(definition, parameters=declaration.parameters)
    return definition


def _shape(project: Project, ref: Ref) -> tuple[str, ...]:
    definition = project.definition(ref)
    return definition.qualified, *(
        bare_cpp_type(parameter.type.removesuffix(DEFAULT)) for parameter in definition.parameters
    )


def _size(project: Project, ref: Ref) -> tuple[str, int]:
    definition = project.definition(ref)
    return definition.qualified, len(definition.parameters)
