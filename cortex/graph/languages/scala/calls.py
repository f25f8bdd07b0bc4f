"""Scala's calls besides members: `apply` of companions, constructors as `this(1)`, parameters of
unnamed functions, package objects, and package names relative to outer packages.
"""

import re

from cortex.graph.facts.declared.types import split_top_level
from cortex.graph.facts.facts import CASE, COMPANION, DEFAULT, LATER, Reference
from cortex.graph.resolution.evaluation.values import EXTERNAL, ChainEvaluator, Value, Values
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.types.arity import accepts_count, leading_parameters
from cortex.graph.resolution.types.generics import TypeEvaluator
from cortex.graph.resolution.types.plain_types import FUNCTIONS, first_arrow
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: a link for the parameter of an unnamed function: index of the argument, index of the parameter
_ARGUMENT_LINK = re.compile(r"\(~(\d+)_(\d+)\)")


class Scala:
    """Scala's calls. Valid while the project does not change."""

    def __init__(self, project: Project, values: TypeEvaluator) -> None:
        self._project, self._values = project, values

    def function_takers(self, owners: Values, members: Values) -> Values:
        """Return the callees that take a function on `owners`: `members` if these are functions,
        else the elements of `owners`.
        """
        functions = tuple(member for member in members if member.tag == "def")
        return functions or tuple(element for owner in owners for element in self._unapplied_value(owner))

    def _unapplied_value(self, value: Value) -> Values:
        """Return a value; for a method without parameters its result."""
        if value.tag == "def":
            definition = self._project.definition(value.ref)
            return (
                self._values.called(value)
                if definition.kind in CALLABLE_KINDS and not leading_parameters(definition)
                else ()
            )
        return (value,) if value.tag in ("list", "inst", "ext") else ()

    def passed_to(self, value: Value, link: str, owners: Values, place: tuple[str, int]) -> Values:
        """The parameter of an unnamed function passed to `value`, a function or a container."""
        match = _ARGUMENT_LINK.fullmatch(link)
        if match is None:
            return ()
        argument, number = int(match[1]), int(match[2])
        if value.tag == "list":
            inner = value.depth - 1
            element = value._replace(tag="list" if inner > 0 else "inst", depth=max(0, inner))
            return (element,) if not number else ()
        if value.tag != "def":  # an `Option`: its value acts as its content
            return (value,) if not number and value.tag == "inst" else (EXTERNAL,)
        definition = self._project.definition(value.ref)
        parameters = (
            leading_parameters(definition)[argument : argument + 1]
            if definition.kind in CALLABLE_KINDS
            else ()
        )
        for parameter in parameters:
            parameter_types = function_parameters(parameter.type.removesuffix(DEFAULT).removesuffix(LATER))
            if number < len(parameter_types):
                type_arguments = self._values.generics.of_call(value, owners, place)
                return self._values.declared(parameter_types[number], *value.ref, type_arguments)
        return ()

    def applied_values(self, value: Value, count: int) -> Values:
        """Return the result of a call of a type's name, if all `apply` candidates agree.

        () for other values, and if the class itself is called.
        """
        callees = apply_candidates(self._project, self._values, (value,), count) if value.tag == "def" else ()
        gives = {callee.ref: self._values.called(callee) for callee in callees}
        outcomes = list(gives.values())
        return outcomes[0] if outcomes and all(outcome == outcomes[0] for outcome in outcomes) else ()


def function_parameters(text: str) -> list[str]:
    """The parameter types of a function type: `A => B`, `(A, B) => C`, `PartialFunction[A, B]`."""
    text = text.strip().removeprefix("=>").strip()
    at = first_arrow(text)
    if at < 0:
        arguments = next((text[len(prefix) : -1] for prefix in FUNCTIONS if text.startswith(prefix)), "")
        return split_top_level(arguments, ",")[:-1]
    taken_by = text[:at].strip()
    if taken_by.startswith("(") and taken_by.endswith(")"):
        return split_top_level(taken_by[1:-1], ",")
    return [taken_by]


def apply_candidates(project: Project, meanings: ChainEvaluator, values: Values, count: int) -> Values:
    """Return the definitions that a call of a type's name with `count` arguments may mean.

    They are each `apply` with so many parameters, and a case class itself.
    """
    if len(values) != 1 or values[0].tag != "def":
        return ()
    definition = project.definition(values[0].ref)
    if definition.kind not in TYPE_KINDS:
        return ()
    object_ref = object_of(project, values[0]).ref
    every = (*meanings.member(object_ref, "apply"), *meanings.member(object_ref, "apply", past=True))
    fitting = [v for v in dict.fromkeys(every) if v.tag == "def" and _is_apply_of(project, v, values[0])]
    fitting = [v for v in fitting if accepts_count(project.definition(v.ref), count)]
    if fitting and CASE in definition.flags and accepts_count(definition, count):
        return (*fitting, values[0])
    return tuple(fitting)


def object_of(project: Project, value: Value) -> Value:
    """Return the companion object of a class, or `value` without one."""
    definition = project.definition(value.ref)
    for at in project.index(value.path).children.get((definition.parent, definition.name), ()):
        if COMPANION in project.definition((value.path, at)).flags:
            return value._replace(at=at)
    return value


def _is_apply_of(project: Project, value: Value, on: Value) -> bool:
    """Return True if a method belongs to the object of a type's name, or is inherited by it."""
    parent = project.definition(value.ref).parent
    if parent < 0:
        return False
    around, definition = project.definition((value.path, parent)), project.definition(on.ref)
    is_own = around.qualified == definition.qualified and project.home(value.path) == project.home(on.path)
    has_object = COMPANION in project.definition(object_of(project, on).ref).flags
    return COMPANION in around.flags if is_own else COMPANION not in around.flags and has_object


def constructed_classes(project: Project, values: Values, reference: Reference) -> Values:
    """Return the case class that a bare `apply(1)` in its companion may make."""
    for value in values if reference.chain == "apply" else ():
        parent = project.definition(value.ref).parent if value.tag == "def" else -1
        around = project.definition((value.path, parent)) if parent >= 0 else None
        if around is None or COMPANION not in around.flags:
            continue
        for at in project.index(value.path).children.get((around.parent, around.name), ()):
            definition = project.definition((value.path, at))
            if CASE in definition.flags and COMPANION not in definition.flags:
                return (
                    (Value("def", value.path, at),)
                    if accepts_count(definition, max(0, reference.arguments))
                    else ()
                )
    return ()


def constructor_target(project: Project, path: str, reference: Reference, receiver: Value) -> Value:
    """Return the target of `this(1)` in a constructor: the class."""
    definitions = project.index(path).facts.definitions
    in_constructor = reference.scope >= 0 and definitions[reference.scope].name == reference.chain == "this"
    return receiver._replace(tag="def") if in_constructor else receiver
