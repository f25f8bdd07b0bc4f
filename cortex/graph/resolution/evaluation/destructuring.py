"""Parts of a value that a pattern destructures by the parameters of its class's constructor."""

from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.project import Project

#: begins the names of the functions that destructure a value
COMPONENT = "component"


def component_name(project: Project, value: Value, name: str) -> str:
    """Return the name of the part that `val (a, b) = x` takes: `component2` is the second
    constructor parameter.
    """
    number = name.removeprefix(COMPONENT)
    if value.tag != "inst" or not number.isdecimal() or not project.rules(value.path).components:
        return name
    facts = project.index(value.path).facts
    names = [binding.name for binding in facts.bindings if binding.scope == value.at][: int(number)]
    return names[-1] if names and len(names) == int(number) else name
