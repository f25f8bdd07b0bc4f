"""Types that are written in parts or opened again; what C#'s type arguments and `using` say of
which type or function a name means.
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.facts import EXPLICIT
from cortex.graph.resolution.arity import is_inferred, type_parameter_names
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS


def first_parts(project: Project, refs: Sequence[Ref]) -> list[Ref]:
    """One part of each type, the one with its constructor; whatever is no type stays."""
    if len(refs) < 2:
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
    """Those with as many type parameters as type arguments are written; where none are, those
    whose type parameters the arguments tell.
    """
    if len(refs) > 1:  # what only an interface is called by stands behind what has the name itself
        refs = [ref for ref in refs if EXPLICIT not in project.definition(ref).flags] or refs
    if len(refs) == 1 and (definition := project.definition(refs[0])).kind in TYPE_KINDS:
        refs = first_parts(project, list(project.types_named(project.home(refs[0][0]), definition.qualified)))
    if types:
        return [ref for ref in refs if len(type_parameter_names(project.definition(ref))) == types] or refs
    return [ref for ref in refs if is_inferred(project.definition(ref))] or refs


def extensions_in_use(project: Project, path: str, refs: Sequence[Ref]) -> list[Ref]:
    """Those that are extensions of C# and may be called in a file by their names alone."""
    extensions = (ref for ref in refs if "extension" in project.definition(ref).flags)
    return [ref for ref in extensions if is_in_use(project, path, ref)]


def is_in_use(project: Project, path: str, ref: Ref) -> bool:
    """Whether C#'s file is in the namespace of a definition, in one below it, or uses it."""
    space, own_space = project.home(ref[0]).partition(":")[2], project.home(path).partition(":")[2]
    if not space or own_space == space or own_space.startswith(f"{space}."):
        return True
    keys = f"@csharp:{space}|", f"@csharp:{space}|{project.definition(ref).scope}"
    return any(project.find_module(star.module, path) in keys for star in project.index(path).star_imports)


def _has_constructor(project: Project, ref: Ref) -> bool:
    definition = project.definition(ref)
    members = project.index(ref[0]).children.get((ref[1], definition.name), ())
    return any(project.definition((ref[0], at)).is_constructor for at in members)


def _type_name(project: Project, ref: Ref) -> object:
    """The same for every part of one type; a thing of its own for anything else."""
    definition = project.definition(ref)
    if definition.kind not in TYPE_KINDS:
        return ref
    return (project.home(ref[0]), definition.qualified, len(type_parameter_names(definition)))
