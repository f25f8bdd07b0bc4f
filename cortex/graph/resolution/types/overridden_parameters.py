"""Types of parameters that a Python method does not declare: those of the method that it
overrides.
"""

from cortex.graph.resolution.evaluation.values import ChainEvaluator, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import CALLABLE_KINDS


def overridden_parameter(
    project: Project, meanings: ChainEvaluator, owner: Ref | None, place: tuple[str, str, int]
) -> Values:
    """Return the values of an untyped parameter of a method of type `owner`.

    `place`: the parameter's name, and (file, index) of the method.
    """
    name, path, scope = place
    definition = project.definition((path, scope))
    if (
        owner is None
        or definition.kind != "method"
        or all(parameter.name != name for parameter in definition.parameters[1:])
    ):
        return ()
    for value in meanings.member(owner, definition.name, past=True):
        if value.tag != "def" or project.definition(value.ref).kind not in CALLABLE_KINDS:
            continue
        types = (
            parameter.type for parameter in project.definition(value.ref).parameters if parameter.name == name
        )
        if text := next(types, "").partition(" =")[0]:
            return meanings.evaluate(f":{text}", *value.ref)
    return ()
