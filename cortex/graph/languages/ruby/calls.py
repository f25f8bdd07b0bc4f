"""Calls of Ruby: bare names of mixins, receivers named like a type."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import Reference
from cortex.graph.languages.ruby.blocks import METHODS
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.languages import family_of
from cortex.terms.paths import is_example, is_test

#: a receiver's last name
_LAST_NAME = re.compile(r"[a-z]\w*(?=(?:\(\))?$)")
#: methods of one name among which those of heirs are searched
HEIRS_MAX = 12
#: methods that every object has: an heir overrides them
_OF_OBJECTS = frozenset(
    "puts print printf putc p pp format sprintf raise fail warn require require_relative load lambda proc loop "
    "sleep rand exit abort system exec open gets catch throw send public_send method methods freeze dup clone "
    "tap hash inspect to_s instance_of? is_a? kind_of? respond_to? nil? object_id extend".split()
)
#: methods that every object has, named like the types to which they convert
_CONVERSIONS = frozenset(
    "Array BigDecimal Complex Float Hash Integer JSON Pathname Rational String URI".split()
)
#: makes an instance without a constructor
ALLOCATE = "allocate"
#: ends the name of a variable that holds a class
_CLASS_NAME = re.compile(r"(?:class|klass|base|type|mod|module|[A-Z]\w*)\b[?!()]*$")
#: types of Ruby itself, in lower case: a variable of that name has no type of the project
_CORE_TYPES = frozenset(
    "string hash array integer float symbol time date datetime set class proc method range regexp file io "
    "dir object module process thread queue data struct logger exception error uri path pathname json yaml "
    "csv http socket mutex encoding lock match stringio tempfile".split()
)
#: the class of an instance, as a receiver
_CLASS = "self.class"
#: a module: Rails gives its methods to the class that includes the module around it
CLASS_METHODS = "ClassMethods"
#: a path of code that is made for tests, `testing_support/`
_FOR_TESTS = re.compile(r"(?<![a-z])(?:test|spec)", re.IGNORECASE)
#: modules between a type and one that it includes
_DEPTH_MAX = 3


def call_added(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a method that a running program added to a type, by its name."""
    supertypes = calls.evaluator.supertypes
    if callee.values or not all(
        owner.tag == "inst" and supertypes.of(owner.ref).complete for owner in callee.owners
    ):
        return None
    return calls.call_by_name(callee.reference, callee.name)


def call_of_each(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call on a value of several types, `loud ? Bell.new : Lamp.new`: the
    method of each type, as for a variant of a function in each branch of a condition.
    """
    if len(callee.owners) < 2 or len(callee.values) < 2:
        return None
    definition, targets = calls.project.definition, calls.targets
    types = {(owner.tag, definition(owner.ref).qualified): owner for owner in callee.owners if owner.at >= 0}
    if len(types) < 2:
        return None
    arguments, attribute = callee.reference.arguments, calls.evaluator.attribute
    of_types = (targets.callable_refs(attribute(owner, callee.name), arguments) for owner in types.values())
    refs = dict.fromkeys(
        ref for refs in of_types for ref in refs if is_test(calls.path) or not is_test(ref[0])
    )
    return chain.from_iterable(
        targets.edges_of_call(callee.reference, [ref], callee.confidence) for ref in refs
    )


def no_class(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return no edges for a bare name of a class in a variable, `kind = Class.new do … end`."""
    types = (v.tag == "def" and calls.project.definition(v.ref).kind in TYPE_KINDS for v in callee.values)
    return iter(()) if callee.name[:1].islower() and not callee.is_receiver and any(types) else None


def call_mixin(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call of a module's method, if the type around may include it.

    A module's own calls may mean any method. Not of a name without arguments in a type: it may be a
    reader (`attr_reader`).
    """
    name, evaluator = callee.name, calls.evaluator
    around = evaluator.owners.type_around(calls.path, callee.reference.scope)
    if around and evaluator.scopes.is_in_group(calls.path, around[1], callee.reference.at):
        around = None
    if around and not callee.values and (of_heirs := _methods_of_heirs(calls, around, callee)):
        return chain.from_iterable(
            calls.targets.edges_of_call(callee.reference, [ref], "receiver") for ref in of_heirs
        )
    definition = calls.project.definition(around) if around else None
    is_module = definition is not None and definition.kind == "trait"
    if callee.values or (callee.reference.arguments == 0 and around is not None and not is_module):
        return None
    if (
        name in COMMON
        or name in _CONVERSIONS
        or (definition is not None and not is_module and not definition.bases)
    ):
        return None
    mixed_in = _past_delegators(calls, evaluator.mixin_methods(calls.rules.family, name))
    refs = tuple(ref for ref in mixed_in if _may_be_mixed_in(calls, callee, ref))
    if not refs and name not in METHODS and not _is_of_framework(calls, name):
        named = evaluator.methods_named(calls.rules.family, name)
        refs = tuple(
            ref
            for ref in named
            if not evaluator.scopes.is_static(ref)
            and (is_test(calls.path) or not is_test(ref[0]))
            and (is_module or _is_unowned(calls.project, evaluator.owners.of(*ref)))
        )
    return calls.targets.edges_of_call(callee.reference, [*refs], "name")


def _is_of_framework(calls: Calls, name: str) -> bool:
    """Return whether a framework that the project uses, or a library for its tests, has methods of
    that name: a receiver of an unknown type has rather these.
    """
    named = calls.project.named[calls.rules.family]
    return any(name in names and named.get(mark) for mark, names in calls.rules.framework_methods.items())


def _may_be_mixed_in(calls: Calls, callee: Callee, ref: Ref) -> bool:
    """Return whether a bare name may be a module's method: of a module for tests in tests alone, of
    another in a test that names it, and rather a library's; of `ClassMethods` on a class.
    """
    project = calls.project
    if _FOR_TESTS.search(ref[0]):
        return bool(_FOR_TESTS.search(calls.path))
    module = project.definition(ref).scope.rpartition(".")[2]
    if _is_of_framework(calls, callee.name):
        return False
    if is_test(calls.path):
        return module != CLASS_METHODS and project.mentions(calls.path, module)
    scope = callee.reference.scope
    around = project.definition((calls.path, scope)) if scope >= 0 else None
    on_class = around is not None and (around.kind in TYPE_KINDS or "static" in around.flags)
    return on_class or module != CLASS_METHODS


def _methods_of_heirs(calls: Calls, around: Ref, callee: Callee) -> list[Ref]:
    """Return the methods of that name that the heirs of a type define, where the type calls
    `prepare` on itself and leaves it to them: no base outside of the project may have it. Heirs in
    tests count for types in tests.
    """
    evaluator, arguments = calls.evaluator, callee.reference.arguments
    if callee.name in _OF_OBJECTS or not evaluator.supertypes.of(around).complete:
        return []

    def qualified(ref: Ref) -> str:  # equal for the parts of a type
        return calls.project.definition(ref).qualified

    static = "static" in calls.project.definition((calls.path, callee.reference.scope)).flags
    candidates = evaluator.methods_named(calls.rules.family, callee.name)
    if len(candidates) > HEIRS_MAX:
        return []
    owners = ((ref, evaluator.owners.of(*ref)) for ref in candidates)
    return [
        ref
        for ref, owner in owners
        if owner
        and static == evaluator.scopes.is_static(ref)
        and (is_test(calls.path) or not is_test(ref[0]))
        and (arguments < 0 or accepts_count(calls.project.definition(ref), arguments))
        and any(qualified(above) == qualified(around) for above in evaluator.supertypes.of(owner).types)
    ]


def of_named_receiver(calls: Calls, reference: Reference, refs: list[Ref]) -> list[Ref]:
    """Return the methods that take as few arguments as a call without any, of an instance no class
    methods; of several those whose type has the receiver's name: `parse_context.locale`.
    """
    refs = _past_delegators(calls, refs) or refs
    is_static = calls.evaluator.scopes.is_static
    if any(map(is_static, refs)):
        receiver = split_chain(reference.chain)[0]
        values = calls.evaluator.evaluate(receiver, calls.path, reference.scope, reference.at)
        of_instances = [ref for ref in refs if not is_static(ref)]
        if values and all(value.tag == "inst" for value in values):
            refs = of_instances
        elif not values and not _CLASS_NAME.search(receiver):
            refs = of_instances or refs
    if reference.arguments < 1 and not reference.chain.endswith("="):
        refs = [ref for ref in refs if accepts_count(calls.project.definition(ref), 0)]
    last_name = _LAST_NAME.search(reference.chain.rpartition(".")[0]) if refs else None
    of_library = bool(refs) and _is_of_framework(calls, calls.project.definition(refs[0]).name)
    if last_name is None:
        return [] if of_library else refs
    refs = _without_those_of_others(calls, last_name[0], refs)
    if len(refs) < 2 and not of_library:
        return refs
    owners = [(ref, calls.evaluator.owners.of(*ref)) for ref in refs]
    definitions = [(ref, calls.project.definition(owner)) for ref, owner in owners if owner]
    types = {ref: type_.name.lower() for ref, type_ in definitions if type_.kind != "trait"}  # no instances
    words = last_name[0].split("_")
    for first in range(len(words)):  # of `new_entry` also `Entry`
        if named := [ref for ref in refs if types.get(ref) == "".join(words[first:])]:
            return named
    return [] if of_library else refs


def _without_those_of_others(calls: Calls, receiver: str, refs: list[Ref]) -> list[Ref]:
    """Return the methods that a receiver may have which is named like a type of the project: its
    type has no other type's methods, `order.number` of a table's column none of `CreditCard`.
    """
    type_name = "".join(word.capitalize() for word in receiver.strip("_").split("_"))
    project, evaluator, home = calls.project, calls.evaluator, calls.project.home(calls.path)
    if not refs or not project.named[calls.rules.family].get(type_name):
        return refs
    scopes = [project.definition(ref).scope for ref in refs]
    if any(scope.rpartition(".")[2] == type_name for scope in scopes):
        return refs
    spaces = dict.fromkeys(["", *(space for scope in scopes for space in _spaces_around(scope))])
    types = [
        ref
        for space in spaces
        for ref in project.types_named(home, f"{space}.{type_name}".lstrip("."))
        if project.definition(ref).kind != "trait"
    ]
    name = project.definition(refs[0]).name
    members = {value.ref for ref in types for value in evaluator.member(ref, name) if value.tag == "def"}
    return [ref for ref in refs if ref in members or _is_of_heir(evaluator, ref, types)] if types else refs


def _is_of_heir(evaluator: Evaluator, method: Ref, types: Sequence[Ref]) -> bool:
    owner = evaluator.owners.of(*method)
    return owner is not None and not set(types).isdisjoint(evaluator.supertypes.of(owner).types)


def _spaces_around(scope: str) -> Iterator[str]:
    while scope := scope.rpartition(".")[0]:
        yield scope


def _past_delegators(calls: Calls, refs: Sequence[Ref]) -> list[Ref]:
    """Return the methods but those of modules that only call the same method of something else."""
    definition, owner = calls.project.definition, calls.evaluator.owners.of

    def delegates(ref: Ref) -> bool:
        returns = definition(ref).returns
        if not (returns[:1].islower() and returns.endswith(f".{definition(ref).name}()")):
            return False
        module = owner(*ref)
        return module is not None and definition(module).kind == "trait"

    return [ref for ref in refs if not delegates(ref)]


def of_namesake(calls: Calls, reference: Reference, method: str) -> list[Ref]:
    """Return the instance methods of the one type that the receiver is named like: `parser.parse`.

    A plural may be a list.
    """
    last_name = _LAST_NAME.search(reference.chain.rpartition(".")[0])
    name = last_name[0].replace("_", "") if last_name else ""
    if not name or name in _CORE_TYPES or name.endswith("s"):
        return []
    types = calls.evaluator.helper(_Namesakes).methods(method).get(name, {})
    refs = next(iter(types.values())) if len(types) == 1 else []
    return [ref for ref in refs if is_example(calls.path) or not is_example(ref[0])]


class _Namesakes:
    """The instance methods of a name: by that of their type in lower case, and the type."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._by_name: dict[str, dict[str, dict[str, list[Ref]]]] = {}

    def methods(self, name: str) -> dict[str, dict[str, list[Ref]]]:
        if (by_type := self._by_name.get(name)) is None:
            by_type = self._by_name[name] = {}
            for ref in self._evaluator.methods_named(family_of("ruby"), name):
                owner = self._evaluator.owners.of(*ref)
                if owner and not self._evaluator.scopes.is_static(ref):
                    definition = self._project.definition(owner)
                    types = by_type.setdefault(definition.name.lower(), {})
                    types.setdefault(definition.qualified, []).append(ref)
        return by_type


def _is_unowned(project: Project, owner: Ref | None) -> bool:
    """Return True for no known owner, and for an outside class that the project reopens, `class
    Minitest::Test`.
    """
    if owner is None:
        return True
    definition = project.definition(owner)
    space = definition.scope.partition(".")[0]
    inside = any(project.types_named(project.home(owner[0]), space))
    return bool(space) and not definition.bases and not inside


def call_in_body(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of `self.save` in the body of a type: its class methods."""
    scope = callee.reference.scope
    if callee.receiver != "self" or scope < 0:
        return None
    if calls.project.definition((calls.path, scope)).kind not in TYPE_KINDS:
        return None
    values = calls.evaluator.member_of_kind((calls.path, scope), callee.name, static=True)
    refs = calls.targets.callable_refs(values, callee.reference.arguments)
    return calls.targets.edges_of_call(callee.reference, refs, "receiver") if refs else None


def no_edges(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return no edges for `self.class`, and for the `allocate` that every class has."""
    if callee.name not in ("class", ALLOCATE):
        return None
    kinds = {calls.project.definition(value.ref).kind for value in callee.values if value.at >= 0}
    return iter(()) if callee.name == "class" or (kinds and kinds <= TYPE_KINDS) else None


class Includers:
    """The types that include each module. Valid while the project does not change."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._of: dict[str, tuple[Ref, ...]] = {}

    def of(self, module: Ref) -> tuple[Ref, ...]:
        """Return the classes that include a module, also through other modules."""
        qualified = self._project.definition(module).qualified
        if qualified not in self._of:
            self._of[qualified] = tuple(dict.fromkeys(self._classes(module, _DEPTH_MAX)))
        return self._of[qualified]

    def _classes(self, module: Ref, depth: int) -> Iterator[Ref]:
        definition, supertypes = self._project.definition, self._evaluator.supertypes
        name, qualified = definition(module).name, definition(module).qualified
        for path in self._project.paths_mentioning(name, module[0]):
            for at, type_definition in enumerate(self._project.index(path).facts.definitions):
                for base in type_definition.bases:
                    is_included = base.relation == "embeds" and not base.arguments
                    if not is_included or base.chain.rpartition(".")[2] != name:
                        continue
                    if not any(
                        definition(ref).qualified == qualified
                        for ref in supertypes.base((path, at), base.chain)
                    ):
                        continue
                    if type_definition.kind != "trait":
                        yield path, at
                    elif depth:
                        yield from self._classes((path, at), depth - 1)


def call_class_of_includers(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of `self.class.load` in a module that has no such method: the class methods
    of the types that include it.
    """
    if callee.receiver != _CLASS or callee.values:
        return None
    evaluator, reference = calls.evaluator, callee.reference
    around = evaluator.owners.type_around(calls.path, reference.scope)
    if around is None or calls.project.definition(around).kind != "trait":
        return None
    types = [
        ref for ref in evaluator.helper(Includers).of(around) if is_test(calls.path) or not is_test(ref[0])
    ]
    if len(types) > HEIRS_MAX:
        return None
    of_types = (evaluator.member_of_kind(ref, callee.name, static=True) for ref in types)
    refs = dict.fromkeys(
        ref for values in of_types for ref in calls.targets.callable_refs(values, reference.arguments)
    )
    if not refs:
        return None
    return (edge for ref in refs for edge in calls.targets.edges_of_call(reference, [ref], "receiver"))
