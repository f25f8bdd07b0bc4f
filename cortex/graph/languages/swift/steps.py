"""Swift's steps of calls, and members from its extensions: of library types, and of types in
`where Self: P`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.expressions.labels import ANY_LABEL, BLOCK, first_labels, label_of
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import ACCESSOR, Binding, Definition, Reference
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import OVERLOADS_MAX, Value, Values, merge_values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.languages import family_of

#: operators, which are functions of the same names
OPERATORS = {sign: sign for sign in "+ - * / % == != < > <= >= += -= *= /= %=".split()}
OPERATORS |= {f"{sign}_": sign for sign in "- + ! ~".split()} | {"_++": "++", "_--": "--"}
OPERATORS |= {ELEMENT: f"{ACCESSOR}subscript", SET_ELEMENT: f"subscript{ACCESSOR}"}
#: all but the last name of a parameter's type
_PLAIN_TYPE = re.compile(r"^.*[ .](?=\w+\W*$)|\W+$|<.*")
#: receiver of a call on a text
_TEXT = "String()"
_COLLECTIONS = frozenset({"BidirectionalCollection", "Collection", "Sequence"})
_TEXTS = frozenset({"String", "StringProtocol"}) | _COLLECTIONS
_LISTS = frozenset({"Array", "MutableCollection", "RandomAccessCollection"}) | _COLLECTIONS
#: containers that types.py does not distinguish from an array
_OTHERS = frozenset({"Set", "Dictionary"})


def find_module(project: Project, module: str, importer: str) -> str:
    """Return the key of the project's names for one of its modules, `Sources/Shop/` or `Shop/`."""
    home = project.home(importer)
    paths = project.homes.get(home, [])
    for folder in (f"Sources/{module}/", f"{module}/"):
        if paths[(at := bisect_left(paths, folder)) : at + 1] and paths[at].startswith(folder):
            return f"@{home}|"
    return ""


def take_where_clause(calls: Calls, callee: Callee) -> None:
    """Take a member of the protocol in an extension's `where Self: P`."""
    if not calls.targets.callable_refs(callee.values, -1):
        members = where_clause_members(calls.evaluator, callee.name, calls.path, callee.reference.scope)
        callee.values, callee.confidence = members or callee.values, "receiver"


def drop_types_without_closure(calls: Calls, callee: Callee) -> None:
    """Drop the types none of whose initializers takes a trailing closure as it is passed: a model
    `List(id:)` is not the `List { … }` of a library.
    """
    if BLOCK not in callee.reference.passed:
        return
    callee.values = tuple([value for value in callee.values if not _refuses(calls, callee.reference, value)])


def _refuses(calls: Calls, reference: Reference, value: Value) -> bool:
    if value.tag != "def" or calls.project.definition(value.ref).kind not in TYPE_KINDS:
        return False
    members = calls.evaluator.attribute(value, "init")
    refs = [member.ref for member in members if member.tag == "def"]
    return bool(refs) and not any(calls.targets.accepts(ref, reference) for ref in refs)


def call_extension(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call of a library type's extension, or take a member of `Self`."""
    if calls.targets.callable_refs(callee.values, -1):
        return None
    reference, name = callee.reference, callee.name
    receiver = _TEXT if _is_text(calls, callee) else callee.receiver
    if own_refs := of_own_type(calls.evaluator, name, receiver, callee.owners):
        return calls.targets.edges_of_call(reference, [*own_refs], "receiver")
    if callee.receiver in calls.rules.self_names:
        members = where_clause_members(calls.evaluator, name, calls.path, reference.scope)
        callee.values = members or callee.values
    return None


def _is_text(calls: Calls, callee: Callee) -> bool:
    """Return True for a variable of the library's text type whose extension a call may mean."""
    if any(owner.tag == "inst" for owner in callee.owners) or not callee.receiver.isidentifier():
        return False
    methods = calls.evaluator.helper(_Extensions).methods(callee.name)
    if methods.keys().isdisjoint(_TEXTS) or callee.receiver in calls.rules.self_names:
        return False
    place = callee.reference.scope, callee.reference.at
    return calls.targets.overloads.type_of(callee.receiver, *place) == "String"


def methods_with_labels(calls: Calls, reference: Reference, refs: list[Ref]) -> list[Ref]:
    if reference.arguments < 0:
        return refs
    calls.targets.narrowed = True
    return [ref for ref in refs if calls.targets.accepts(ref, reference)]


def is_operand(_calls: Calls, _reference: Reference, _operand: str) -> bool:
    """Return False: `operator_functions` has the operators of types as well."""
    return False


def operator_functions(calls: Calls, reference: Reference, name: str) -> list[Ref]:
    """Return the operators in the types of both operands and outside of types, if a parameter has
    the type of the operand in its place, and none has another.
    """
    if ACCESSOR in name and "subscript" in name:
        return _subscripts(calls, reference, name)
    place, types, refs = (calls.path, reference.scope, reference.at), list[str](), dict[Ref, None]()
    for operand in reference.passed:
        owners = calls.evaluator.evaluate(operand, *place) if operand[0] not in "#:?" else ()
        values = [value for value in owners if value.tag == "inst"]
        types.append(calls.project.definition(values[0].ref).name if len(values) == len(owners) == 1 else "")
        for value in values:
            refs |= dict.fromkeys(member.ref for member in calls.evaluator.attribute(value, name))
    if not any(types):
        return []
    named, _ = calls.evaluator.scopes.lookup(name, calls.path, -1)
    refs |= dict.fromkeys(value.ref for value in named if value.tag == "def")
    return [ref for ref in refs if _takes_operands(calls.project.definition(ref), types)]


def _subscripts(calls: Calls, reference: Reference, name: str) -> list[Ref]:
    """Return the accessors of a subscript with the labels of the arguments, in the type of the
    receiver or in an extension of its container.
    """
    receiver = split_chain(reference.chain)[0]
    owners = calls.evaluator.evaluate(receiver, calls.path, reference.scope, reference.at)
    refs = [
        member.ref
        for owner in owners
        if owner.tag == "inst"
        for member in calls.evaluator.attribute(owner, name)
        if member.tag == "def"
    ]
    refs = refs or [*of_own_type(calls.evaluator, name, receiver, owners, reference.passed)]
    return [ref for ref in dict.fromkeys(refs) if calls.targets.accepts(ref, reference)]


def _takes_operands(definition: Definition, types: list[str]) -> bool:
    wanted = [_PLAIN_TYPE.sub("", parameter.type) for parameter in definition.parameters]
    if len(wanted) != len(types) or definition.kind not in CALLABLE_KINDS:
        return False
    owner = definition.scope.rpartition(".")[2]
    pairs = [(owner if want == "Self" else want, actual) for want, actual in zip(wanted, types, strict=True)]
    return any(want == actual != "" for want, actual in pairs) and all(
        actual in ("", want) for want, actual in pairs
    )


def of_own_type(
    evaluator: Evaluator, name: str, receiver: str, owners: Sequence[Value], passed: Sequence[str] = ()
) -> Sequence[Ref]:
    """Return the methods that extensions add to a string, `"x".save()`, or to an array; if
    arguments are `passed`, those with their first label, unless those are too many.

    () if an extension of another container has the name too.
    """
    if receiver == _TEXT:
        wanted, unsure = _TEXTS, frozenset[str]()
    elif owners and all(owner.tag == "list" for owner in owners):
        wanted, unsure = _LISTS, _OTHERS
    else:
        return ()
    extensions = evaluator.helper(_Extensions)
    if not unsure.isdisjoint(extensions.methods(name)):
        return ()
    by_label = extensions.outside_types(name, wanted)
    if not passed:
        return by_label[ANY_LABEL]
    refs = by_label.get(label_of(passed[0]), ())
    return refs if len(refs) <= OVERLOADS_MAX else ()


class _Extensions:
    """The methods of a name by their type: each element of a list asks for those of `subscript`."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._by_name: dict[str, dict[str, list[Ref]]] = {}
        self._by_label: dict[tuple[str, frozenset[str]], dict[str, list[Ref]]] = {}

    def methods(self, name: str) -> dict[str, list[Ref]]:
        if (by_type := self._by_name.get(name)) is None:
            by_type = self._by_name[name] = {}
            for ref in self._evaluator.methods_named(family_of("swift"), name):
                by_type.setdefault(self._project.definition(ref).scope, []).append(ref)
        return by_type

    def outside_types(self, name: str, types: frozenset[str]) -> dict[str, list[Ref]]:
        """Return first label → the methods of a name that extensions add to `types`; of ANY_LABEL
        all of them.
        """
        if (by_label := self._by_label.get((name, types))) is None:
            by_type = self.methods(name)
            refs = sorted(ref for scope in types.intersection(by_type) for ref in by_type[scope])
            refs = [ref for ref in refs if self._project.definition(ref).parent < 0]
            by_label = self._by_label[name, types] = {ANY_LABEL: refs}
            for ref in refs:
                for label in first_labels(self._project.definition(ref).flags):
                    by_label.setdefault(label, []).append(ref)
        return by_label


def where_clause_members(evaluator: Evaluator, name: str, path: str, scope: int) -> Values:
    """The member of the protocol in an extension's `where Self: P`, for code in its methods."""
    index = evaluator.project.index(path)
    while scope >= 0:
        for place in index.places(scope, "Self"):
            if isinstance(place, Binding):
                types = evaluator.declared(place.value[1:], path, scope)
                return merge_values(
                    evaluator.attribute(instance, name) for instance in types if instance.tag == "inst"
                )
        scope = index.outer(scope)
    return ()
