"""Types of the parameters of unnamed functions, by the function that gets them (Java, C#)."""

import re
from collections.abc import Callable, Collection, Sequence

from cortex.graph.facts.declared.generics import split_generic
from cortex.graph.facts.facts import DEFAULT, MANY, Definition
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values, merge_values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import leading_parameters, type_parameter_names
from cortex.graph.resolution.types.function_types import stands_for
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: a link for the parameter of an unnamed function: the numbers of the argument and of the
#: parameter, and the count of parameters
_LINK = re.compile(r"\(~(\d+)_(\d+)_(\d+)\)")
_WORD = re.compile(r"\w+")
#: (name, type arguments) of a library's function type → its parameters' types; None for others
LibraryTypes = Callable[[str, Sequence[str]], Sequence[str] | None]


def function_takers(_evaluator: Evaluator, owners: Values, members: Values) -> Values:
    """Return the callees that get a function: `members` if the project has them, else containers
    among `owners`, which pass their elements.
    """
    functions = tuple(member for member in members if member.tag == "def")
    return functions or tuple(owner for owner in owners if owner.tag == "list")


def passed_parameter(  # noqa: PLR0917 - the hook's arguments
    evaluator: Evaluator,
    value: Value,
    link: str,
    owners: Values,
    place: tuple[str, int],
    library_types: LibraryTypes,
) -> Values:
    """Return the values of the parameter that `link` names, of a function passed to `value`.

    () if no type tells them, and for a type parameter of the called function.
    """
    match = _LINK.fullmatch(link)
    if match is None:
        return ()
    argument, number, count = map(int, match.groups())
    if value.tag == "list":
        is_element = not argument and count == 1
        return evaluator.results.element(value) if is_element else ()
    if value.tag != "def":
        return ()
    project, outcomes = evaluator.project, list[Values]()
    definition = project.definition(value.ref)
    for ref in _callees(evaluator, value, definition):
        callee = project.definition(ref)
        is_receiver = "extension" in callee.flags and not any(owner.tag == "def" for owner in owners)
        parameters = leading_parameters(callee)[argument + is_receiver :]
        if parameters:
            text = parameters[0].type.removeprefix(MANY).removesuffix(DEFAULT).strip()
            outcomes.append(_parameter(evaluator, ref, text, (number, count), owners, place, library_types))
    return merge_values(outcomes)


def _callees(evaluator: Evaluator, value: Value, definition: Definition) -> list[Ref]:
    """Return the function, or the constructors of a type."""
    if definition.kind in CALLABLE_KINDS:
        return [value.ref]
    if definition.kind not in TYPE_KINDS:
        return []
    project = evaluator.project
    members = project.members_of(project.home(value.path), definition.qualified)
    return list(members.get(definition.name, ()))


def _parameter(  # noqa: PLR0917
    evaluator: Evaluator,
    ref: Ref,
    text: str,
    parameter: tuple[int, int],
    owners: Values,
    place: tuple[str, int],
    library_types: LibraryTypes,
) -> Values:
    """Return the values of a parameter (its number, their count) of a function of type `text`."""
    project, generics = evaluator.project, evaluator.generics
    number, count = parameter
    name, arguments = split_generic(text)
    of_receiver = _of_receiver(evaluator, project.definition(ref), owners, library_types)
    type_arguments = {**generics.of_call(Value("def", *ref), owners, place), **of_receiver}
    if _is_told_elsewhere(project.definition(ref), text, of_receiver):
        return ()
    instances = evaluator.declared(text, *ref, type_arguments)
    is_own = any(instance.tag == "inst" for instance in instances)
    types = library_types(name, arguments) if not is_own else None
    if types is not None:
        if (
            len(types) != count
            or not types[number]
            or types[number] in _free(project, ref) - {*type_arguments}
        ):
            return ()
        return evaluator.declared(types[number], *ref, type_arguments)
    for instance in instances:
        method = (
            stands_for(project, evaluator, instance.ref)[1]
            if instance.tag == "inst" and project.definition(instance.ref).kind in TYPE_KINDS
            else None
        )
        taken = leading_parameters(project.definition(method)) if method is not None else ()
        if method is None or len(taken) != count:
            continue
        holder = (method[0], project.definition(method).parent)
        filled = generics.type_arguments(instance, holder)
        if taken[number].type in _free(project, method) - {*filled}:
            return ()
        return evaluator.declared(taken[number].type, *method, filled)
    return ()


def _of_receiver(
    evaluator: Evaluator, definition: Definition, owners: Values, library_types: LibraryTypes
) -> dict[str, Values]:
    """Return the values of the type parameter that an extension's receiver alone tells: of `T` in
    `this T disk`, `this IEnumerable<T> disks`.
    """
    if "extension" not in definition.flags or not definition.parameters or not owners:
        return {}
    name, arguments = split_generic(definition.parameters[0].type.strip().rstrip("?"))
    free = {parameter.rpartition(" ")[2] for parameter in type_parameter_names(definition)}
    for parameter in definition.parameters[1:]:  # a further value has a type of its own
        if library_types(*split_generic(parameter.type.removesuffix(DEFAULT).strip())) is None:
            free.difference_update(_WORD.findall(parameter.type))
    if name in free and all(owner.tag in ("inst", "list", "map") for owner in owners):
        return {name: owners}
    if len(arguments) == 1 and arguments[0] in free and all(owner.tag == "list" for owner in owners):
        return {arguments[0]: merge_values(evaluator.results.element(owner) for owner in owners)}
    return {}


def _is_told_elsewhere(definition: Definition, text: str, inferred: Collection[str]) -> bool:
    """Return True if type `text` mentions a type parameter of a function that further parameters
    mention: their arguments tell it, not its bound. `inferred`: parameters with known values.
    """
    words = [word for parameter in definition.parameters for word in _WORD.findall(parameter.type)]
    mentioned = _WORD.findall(text)
    names = {name.rpartition(" ")[2] for name in type_parameter_names(definition)}
    open_names = names.intersection(mentioned).difference(inferred)
    return any(words.count(name) > mentioned.count(name) for name in open_names)


def _free(project: Project, ref: Ref) -> set[str]:
    """Return the type parameters of a function and of the types around it."""
    at, names = ref[1], list[str]()
    while at >= 0:
        definition = project.definition((ref[0], at))
        names += type_parameter_names(definition)
        at = definition.parent
    return {name.rpartition(" ")[2] for name in names}
