"""C#'s modules, extensions and steps of calls, and its types in overloads."""

from collections.abc import Iterator, Mapping, Sequence

from cortex.graph.facts.declared.generics import split_generic
from cortex.graph.facts.facts import Definition, Parameter, Reference
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.calling.extended_calls import ExtendedCalls
from cortex.graph.resolution.calling.extension_index import ANY_RECEIVER, extension_home, receiver_name
from cortex.graph.resolution.calling.extensions import ROOT_TYPES, UNKNOWN_MAX
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import OVERLOADS_MAX, Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import type_parameter_names
from cortex.graph.resolution.types.lambda_parameters import passed_parameter
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.partial_types import extensions_in_use, is_in_use
from cortex.graph.resolution.types.plain_types import bare_csharp_type
from cortex.terms.kinds import TYPE_KINDS

#: extensions of everything enumerable
LINQ = frozenset(
    "Aggregate All Any Append AsEnumerable Average Cast Chunk Concat Contains Count DefaultIfEmpty Distinct "
    "DistinctBy ElementAt ElementAtOrDefault Except ExceptBy First FirstOrDefault GroupBy GroupJoin Intersect "
    "Join Last LastOrDefault LongCount Max MaxBy Min MinBy OfType Order OrderBy OrderByDescending Prepend "
    "Reverse Select SelectMany SequenceEqual Single SingleOrDefault Skip SkipLast SkipWhile Sum Take TakeLast "
    "TakeWhile ThenBy ThenByDescending ToArray ToDictionary ToHashSet ToList ToLookup Union UnionBy Where "
    "Zip".split()
)
#: delegates with a parameter of each type argument's type
DELEGATES = frozenset({"Action", "Predicate"})
#: names of the built-in types
CSHARP_TYPES = frozenset(
    "bool byte char decimal double float int long object sbyte short string uint ulong ushort".split()
)
#: characters of the longest name that counts as a type parameter without a declaration
_SHORT = 2


def find_module(project: Project, module: str, importer: str) -> str:
    """Return the key of a name space; `using Results;` in one is relative to those around it."""
    home, family = project.home(importer), project.rules(importer).family
    spaces = home.partition(":")[2].split(".")
    around = (".".join((*spaces[:count], module)) for count in range(len(spaces), 0, -1))
    keys = (project.package_key(family, name) for name in (module, *around))
    return next(filter(None, keys), "")


def is_outside(links: list[str]) -> bool:
    """Return True for an external type, or an inherited external member."""
    return links[0][:1].isupper() or links[0] in CSHARP_TYPES


def called_member(
    evaluator: Evaluator,
    links: list[str],
    number: int,
    path: str,
    _owners: Values,
    values: Values,
) -> Values:
    """Return `values`, or the extensions that a call may mean if `values` are external."""
    name = links[number]
    if name in LINQ or name in COMMON or any(value.tag != "ext" for value in values):
        return values
    project = evaluator.project
    named = evaluator.methods_named(project.rules(path).family, name)
    refs = extensions_in_use(project, path, named)
    return tuple(Value("def", *ref) for ref in refs[:OVERLOADS_MAX]) or values


def passed_to(
    evaluator: Evaluator, value: Value, link: str, owners: Values, place: tuple[str, int]
) -> Values:
    """Return the parameter of an unnamed function that a method gets."""
    return passed_parameter(evaluator, value, link, owners, place, _delegate_parameters)


def _delegate_parameters(name: str, arguments: Sequence[str]) -> Sequence[str] | None:
    """Return the parameters' types of the library's delegates; None for other types."""
    name = name.rpartition(".")[2]
    if name == "Expression" and len(arguments) == 1:
        return _delegate_parameters(*split_generic(arguments[0]))
    if name == "Func":
        return arguments[:-1]
    if name == "Comparison":
        return (*arguments, *arguments)
    if name == "EventHandler":
        return ("object", *arguments)
    return arguments if name in DELEGATES else None


def extended(definition: Definition) -> str | None:
    """Return the receiver type of an extension method; None for other definitions."""
    if "extension" not in definition.flags or not definition.parameters:
        return None
    name = receiver_name(definition.parameters[0].type)
    free = name in type_parameter_names(definition) or (len(name) <= _SHORT and name.isupper())
    return ANY_RECEIVER if free else name


def extensions_called(
    calls: ExtendedCalls, reference: Reference, receiver: str, name: str, owners: Values
) -> list[Ref]:
    """Return the extension methods in use that take the receiver and the arguments."""
    home = extension_home("", calls.project.rules(calls.path))
    unknown = (name in LINQ or name in COMMON) and not (
        _receiver_names(calls, owners)
        or _of_own_type(calls, owners, calls.project.extension_index.by_name(home, name))
    )
    if unknown or _is_foreign_type(calls, reference, receiver):
        return []
    return [
        ref
        for ref in _find(calls, name, owners)
        if calls.takes(ref, reference.arguments + 1) and is_in_use(calls.project, calls.path, ref)
    ]


def _find(calls: ExtendedCalls, name: str, owners: Sequence[Value]) -> list[Ref]:
    """Return the extensions of that name, by the receiver if all its types belong to the project.

    [] if too many are possible, or if it may be a member of an unknown receiver.
    """
    project, evaluator = calls.project, calls.evaluator
    rules = project.rules(calls.path)
    by_receiver = project.extension_index.by_name(extension_home("", rules), name)
    count = sum(map(len, by_receiver.values()))
    if not owners and count < len(evaluator.methods_named(rules.family, name)):
        return []
    if type_names := _receiver_names(calls, owners):
        return sorted(
            {ref for type_name in (*type_names, ANY_RECEIVER) for ref in by_receiver.get(type_name, ())}
        )
    if own_refs := _of_own_type(calls, owners, by_receiver):
        return own_refs
    return sorted(ref for refs in by_receiver.values() for ref in refs) if count <= UNKNOWN_MAX else []


def _receiver_names(calls: ExtendedCalls, owners: Sequence[Value]) -> tuple[str, ...]:
    """Return the type names of a receiver, supertypes included; () if they are not all known."""
    names = dict.fromkeys(ROOT_TYPES)
    for owner in owners:
        if owner.tag != "inst":
            return ()
        supers = calls.evaluator.supertypes.of(owner.ref)
        if not supers.complete:
            return ()
        names |= dict.fromkeys(calls.project.definition(ref).name for ref in (owner.ref, *supers.types))
    return tuple(names) if owners else ()


def _of_own_type(
    calls: ExtendedCalls, owners: Sequence[Value], by_receiver: Mapping[str, Sequence[Ref]]
) -> list[Ref]:
    """Return the extensions of the very types of a receiver, whatever its unknown bases have."""
    if not owners or any(owner.tag != "inst" for owner in owners):
        return []
    names = {calls.project.definition(owner.ref).name for owner in owners}
    return sorted(ref for name in names for ref in by_receiver.get(name, ()))


def _is_foreign_type(calls: ExtendedCalls, reference: Reference, receiver: str) -> bool:
    """Return True if a receiver is the name of an external type: extensions need an instance."""
    if receiver in CSHARP_TYPES:
        return True
    if not receiver.isidentifier() or not receiver[0].isupper():
        return False
    scopes = calls.evaluator.scopes
    return not scopes.lookup(receiver, calls.path, reference.scope, reference.at)[0]


def is_member_called(calls: Calls, refs: list[Ref], reference: Reference) -> bool:
    """Return True if a member takes the arguments and type arguments: else an extension is
    called.
    """
    if not refs or reference.arguments < 0:
        return bool(refs)
    taking = [ref for ref in refs if calls.targets.takes(ref, reference.arguments)]
    if reference.types > 0:
        counts = {ref: len(type_parameter_names(calls.project.definition(ref))) for ref in taking}
        taking = [ref for ref in taking if counts[ref] == reference.types]
    if not taking or not reference.passed:
        return bool(taking)
    calls.targets.narrowed = True
    return calls.targets.overloads.may_take(taking, reference)


def make_in_namespace(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of `new Events.Opened()` by a name space, `Events`: no type has the name."""
    if any(value.tag != "ext" for value in (*callee.values, *callee.owners)) or "(" in callee.receiver:
        return None
    reference = callee.reference
    values = calls.evaluator.evaluate(reference.chain, calls.path, reference.scope, reference.at)
    refs = [ref for ref in calls.targets.callable_refs(values, -1) if _is_type(calls.project, ref)]
    return calls.targets.edges_of_call(reference, refs, "import") if refs else None


def _is_type(project: Project, ref: Ref) -> bool:
    return project.definition(ref).kind in TYPE_KINDS


def take_of_arity(calls: Calls, callee: Callee) -> None:
    """Take the methods with as many type parameters as the call has type arguments."""
    count, definition = callee.reference.types, calls.project.definition
    if count <= 0 or len(callee.values) < 2:
        return
    fitting = tuple(
        value
        for value in callee.values
        if value.tag == "def" and len(type_parameter_names(definition(value.ref))) == count
    )
    callee.values = fitting or callee.values


def parameter_types(
    overloads: Overloads, ref: Ref, parameters: Sequence[Parameter], arguments: Sequence[str]
) -> list[str]:
    """Return the plain types of parameters for the types of their arguments."""
    free = overloads.type_parameters(ref)
    return [
        bare_csharp_type(parameter.type, other, free)
        for parameter, other in zip(parameters, arguments, strict=True)
    ]
