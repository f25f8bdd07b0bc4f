"""Types for which a function may stand: an interface with one method, a type with a call signature,
a name of a function type.
"""

from collections.abc import Mapping

from cortex.graph.facts.facts import ABSTRACT
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.generics import TypeEvaluator
from cortex.terms.kinds import TYPE_KINDS

#: how `Rules.functions_as` names them: by the one method without a body, or by a name alone; any
#: other text is the name of the method that a call of a value means
ONE_METHOD, NAME_ALONE = "method", "type"
#: methods that every object has: an interface may repeat them
_OF_OBJECTS = frozenset({"equals", "hashCode", "toString"})


def stands_for(project: Project, evaluator: TypeEvaluator, ref: Ref) -> tuple[bool, Ref | None]:
    """Return whether a function may stand for a type, and the method that a call of it then means,
    if the project has it.
    """
    how, kind = project.rules(ref[0]).functions_as, project.definition(ref).kind
    if not how or kind not in TYPE_KINDS:
        return False, None
    if how == NAME_ALONE or (how == ONE_METHOD and kind == "type"):
        return kind == "type", None
    if how == ONE_METHOD and kind not in ("interface", "trait"):
        return False, None
    supers = evaluator.supertypes.of(ref)
    owners = (ref, *supers.types)
    if how == ONE_METHOD:
        methods = _methods_without_body(project, owners)
        if len(methods) == 1:
            return True, methods[0]
        return not (methods or supers.complete), None
    method = next((refs[0] for owner in owners if (refs := _members(project, owner).get(how))), None)
    bases = {base.chain.rpartition(".")[2] for base in project.definition(ref).bases}
    promised = bases & project.rules(ref[0]).abstract_bases or not project.rules(ref[0]).abstract_bases
    return bool(method and promised), method


def _members(project: Project, owner: Ref) -> Mapping[str, list[Ref]]:
    return project.members_of(project.home(owner[0]), project.definition(owner).qualified)


def _methods_without_body(project: Project, owners: tuple[Ref, ...]) -> list[Ref]:
    """Return the methods that an implementation has to define; nearer owners come first."""
    methods: dict[str, Ref] = {}
    for owner in owners:
        for name, refs in _members(project, owner).items():
            if project.definition(refs[0]).kind == "method" and name not in _OF_OBJECTS:
                methods.setdefault(name, refs[0])
    return [ref for ref in methods.values() if ABSTRACT in project.definition(ref).flags]
