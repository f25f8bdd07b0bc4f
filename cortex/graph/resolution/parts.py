"""Types that are written in parts or opened again, and what C#'s type arguments say of which type
or function a name means.
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.resolution.counts import generics, is_inferred
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS


def first_parts(project: Project, refs: Sequence[Ref]) -> list[Ref]:
    """One part of each type, the one with its constructor; whatever is no type stays."""
    if len(refs) < 2:
        return list(refs)
    found: dict[object, Ref] = {}
    for ref in refs:
        name = _type_name(project, ref)
        if name not in found or (_makes(project, ref) and not _makes(project, found[name])):
            found[name] = ref
    return list(found.values())


def of_arity(project: Project, refs: list[Ref], types: int) -> list[Ref]:
    """Those with as many type parameters as type arguments are written; where none are, those
    whose type parameters the arguments tell.
    """
    if len(refs) == 1 and (one := project.definition(refs[0])).kind in TYPE_KINDS:
        refs = first_parts(project, list(project.types_named(project.home(refs[0][0]), one.qualified)))
    if types:
        return [ref for ref in refs if len(generics(project.definition(ref))) == types] or refs
    return [ref for ref in refs if is_inferred(project.definition(ref))] or refs


def _makes(project: Project, ref: Ref) -> bool:
    one = project.definition(ref)
    own = project.index(ref[0]).children.get((ref[1], one.name), ())
    return any(project.definition((ref[0], at)).is_constructor for at in own)


def _type_name(project: Project, ref: Ref) -> object:
    """The same for every part of one type; a thing of its own for anything else."""
    one = project.definition(ref)
    if one.kind not in TYPE_KINDS:
        return ref
    return (project.home(ref[0]), one.qualified, len(generics(one)))
