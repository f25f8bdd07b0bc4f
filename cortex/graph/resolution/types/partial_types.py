"""Types in several parts or opened again, and C#'s choice by type arguments and `using`."""

from collections.abc import Sequence

from cortex.graph.facts.facts import EXPLICIT
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import is_inferred, type_parameter_names
from cortex.terms.kinds import TYPE_KINDS


def first_parts(project: Project, refs: Sequence[Ref]) -> list[Ref]:
    """Return one part of each type, the one with its constructor; other definitions remain.

    C's and C++'s other names of a type have no parts: they are in branches of a condition.
    """
    is_c = len(refs) > 1 and project.home(refs[0][0]) == C_HOME
    if len(refs) < 2 or (is_c and all(project.definition(ref).kind == "type" for ref in refs)):
        return list(refs)
    by_type: dict[object, Ref] = {}
    for ref in refs:
        name = _type_name(project, ref)
        if name not in by_type or (
            _has_constructor(project, ref) and not _has_constructor(project, by_type[name])
        ):
            by_type[name] = ref
    return list(by_type.values())


def of_arity(project: Project, refs: list[Ref], types: int) -> list[Ref]:
    """Return the definitions with as many type parameters as the reference has type arguments.

    Without type arguments, those whose type parameters are inferred.
    """
    if len(refs) > 1:  # explicit interface members come last
        refs = [ref for ref in refs if EXPLICIT not in project.definition(ref).flags] or refs
    if len(refs) == 1 and (definition := project.definition(refs[0])).kind in TYPE_KINDS:
        refs = first_parts(project, list(project.types_named(project.home(refs[0][0]), definition.qualified)))
    if types > 0:
        return [ref for ref in refs if len(type_parameter_names(project.definition(ref))) == types] or refs
    return [ref for ref in refs if is_inferred(project.definition(ref))] or refs


def of_same_type(project: Project, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members in parts of a type, which have as many type parameters."""
    count = len(type_parameter_names(project.definition(owner)))
    parents = ((ref, project.definition(ref).parent) for ref in refs)
    return [
        ref
        for ref, at in parents
        if at >= 0 and len(type_parameter_names(project.definition((ref[0], at)))) == count
    ] or refs


def extensions_in_use(project: Project, path: str, refs: Sequence[Ref]) -> list[Ref]:
    """Return the C# extensions that a file may call by their names alone."""
    extensions = (ref for ref in refs if "extension" in project.definition(ref).flags)
    return [ref for ref in extensions if is_in_use(project, path, ref)]


def is_in_use(project: Project, path: str, ref: Ref) -> bool:
    """Return True if C#'s file is in the namespace of a definition, in one below it, or uses it."""
    space, own_space = project.home(ref[0]).partition(":")[2], project.home(path).partition(":")[2]
    if not space or own_space == space or own_space.startswith(f"{space}."):
        return True
    package = f"@{project.home(ref[0])}|"
    keys = package, f"{package}{project.definition(ref).scope}"
    return any(project.find_module(star.module, path) in keys for star in project.index(path).star_imports)


def _has_constructor(project: Project, ref: Ref) -> bool:
    definition = project.definition(ref)
    members = project.index(ref[0]).children.get((ref[1], definition.name), ())
    return any(project.definition((ref[0], at)).is_constructor for at in members)


def _type_name(project: Project, ref: Ref) -> object:
    """Return a key that is equal for the parts of one type; other definitions have their own."""
    definition = project.definition(ref)
    if definition.kind not in TYPE_KINDS:
        return ref
    return (project.home(ref[0]), definition.qualified, len(type_parameter_names(definition)))
