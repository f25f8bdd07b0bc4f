"""Edges of calls: a name in its scopes, a member of the receiver, an extension, or the only method
of its name. Reads one file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import msgspec

from cortex.graph.facts.declared.unnamed_types import UNNAMED
from cortex.graph.facts.expressions.chains import ROOT_MARK, split_chain
from cortex.graph.facts.expressions.operators import CONVERSION
from cortex.graph.facts.facts import OPERATOR, TYPE_ONLY, Reference, module_of
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.calling.targets import CANDIDATES_MAX, Targets, plausible_methods
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values, unique
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.overloads import CERTAIN
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.paths import is_built, is_foreign

#: a name that is a type's in languages where constants have no small letter
_TYPE_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")
ROOT_NAME = re.compile(r"[^.\[\]():]+")
#: tags of instances, and of definitions
_TYPED = frozenset({"inst", "def"})


@dataclass(slots=True)
class Callee:
    """The callee of one call, which a language's steps change in turn.

    A step that returns edges ends the call. `is_receiver`: the name is that of a method's receiver.
    """

    reference: Reference
    name: str
    values: Values
    confidence: str
    receiver: str = ""
    owners: Values = ()
    is_receiver: bool = False


class Calls:
    """The calls of one file."""

    def __init__(
        self, project: Project, evaluator: Evaluator, path: str, edges: Edges, targets: Targets
    ) -> None:
        self.project, self.evaluator, self.path = project, evaluator, path
        self.edges, self.targets = edges, targets
        self.index = project.index(path)
        self._definitions = self.index.facts.definitions
        self.language = project.language(path)
        self.rules = self.language.rules

    def edges_of(self, reference: Reference) -> Iterator[Edge]:
        receiver, name = split_chain(reference.chain)
        if reference.types == OPERATOR:
            return self._operator_call(reference, receiver, name)
        if name[-1:] == self.rules.macro_mark != "":
            return self.targets.edges_of_call(
                reference, *self.evaluator.exports.crates.macros(reference.chain, self.path)
            )
        if receiver:
            return self._member_call(reference, receiver, name)
        if name in self.rules.super_names:
            return self._super_call(reference)
        return self._bare_call(reference, name)

    def _bare_call(self, reference: Reference, name: str) -> Iterator[Edge]:
        """Yield the edges of `save()`, by the language's steps."""
        evaluator, place = self.evaluator, (self.path, reference.scope)
        values, how = evaluator.scopes.lookup(name, *place, reference.at)
        callee = Callee(reference, name, values, how)
        if types := evaluator.hidden_types(name, values, place):
            near = self.project.home(types[0].path) == self.project.home(self.path)
            callee.values, callee.confidence = types, "exact" if near else "import"
        elif any(value.tag == "inst" for value in values):  # an instance that can be called
            callee.confidence = "receiver"
        if module_of(name):  # `require("x")()`
            callee.values, callee.confidence = evaluator.evaluate(name, *place), "import"
        receiver = evaluator.owners.receiver(name, *place)  # Python's `cls()`
        if receiver is not None:
            callee.values, callee.confidence, callee.is_receiver = (receiver,), "receiver", True
        for step in self.language.bare_call:
            if (edges := step(self, callee)) is not None:
                yield from edges
                return
        count = -1 if reference.types == TYPE_ONLY else reference.arguments
        yield from self.targets.edges_of_call(
            callee.reference, self.targets.callable_refs(callee.values, count), callee.confidence
        )

    def _member_call(self, reference: Reference, receiver: str, name: str) -> Iterator[Edge]:
        """Yield the edges of `disk.save()`, by the language's steps."""
        evaluator, targets = self.evaluator, self.targets
        owners = evaluator.drop_pure_types(
            evaluator.evaluate(receiver, self.path, reference.scope, reference.at)
        )
        owners = tuple([owner for owner in owners if not targets.is_constant(owner)])
        if name in self.rules.calling_methods and targets.callable_refs(owners, -1):
            yield from self._function_method_call(reference, receiver, targets.callable_refs(owners, -1))
            return
        if evaluator.exports.dotted_import(reference.chain, self.path):
            return
        members = unique([v for owner in owners for v in evaluator.attribute(owner, name)])
        callee = Callee(reference, name, members, "receiver", receiver, owners)
        if any(owner.tag == "mod" for owner in owners) or self._is_below(callee.values):
            callee.confidence = "import"
        for step in self.language.member_call:
            if (edges := step(self, callee)) is not None:
                yield from edges
                return
        extended: list[Ref] = []
        if not self._is_member_called(callee.values, reference) and (
            owners or "()" in receiver or not self.is_outside(reference.chain)
        ):
            extended = targets.extended.called(reference, receiver, name, owners)
            targets.narrowed = targets.narrowed or len(extended) > 1
        is_platform = len(extended) == 1 and name in self.rules.platform_methods
        if is_platform and not any(owner.tag in _TYPED for owner in owners):
            yield self.edges.ambiguous(reference, extended, "name")
        elif not owners:
            yield from self._on_unknown_receiver(reference, name, extended)
        elif extended:
            are_typed = self.rules.extension_functions and all(owner.tag in _TYPED for owner in owners)
            yield from targets.edges_of_call(
                reference, extended, "receiver" if are_typed else "name", of_receiver=True
            )
        else:
            callee.values = self.inherited_overloads(callee.values, reference, owners)
            for step in self.language.called_member_values:
                if (edges := step(self, callee)) is not None:
                    yield from edges
                    return
            refs = targets.callable_refs(callee.values, reference.arguments)
            yield from targets.edges_of_call(callee.reference, refs, callee.confidence)

    def _operator_call(self, reference: Reference, receiver: str, name: str) -> Iterator[Edge]:
        """Return the edges of `disk + 1`, `disk[0]`, if the type of `disk` has such a method; of
        operators with two parameters, the type of either operand.
        """
        place = self.path, reference.scope, reference.at
        names = filter(None, (name, self.rules.fallback_operators.get(name)))
        operands = dict.fromkeys((receiver, *reference.passed))
        is_operand, functions = self.language.is_operand, self.language.operator_functions
        self.targets.narrowed |= bool(reference.passed)  # the types of all operands decide
        call = reference
        if reference.passed and is_operand is not None:  # C++: a member takes the right operand
            operands = dict.fromkeys(reference.passed[:1])
            more = reference.passed[1:]
            call = msgspec.structs.replace(reference, arguments=len(more), passed=more)
        for method, operand in product(names, operands):
            if operand[0] in "#:?" or (is_operand is not None and not is_operand(self, reference, operand)):
                continue
            owners = self.evaluator.evaluate(operand, *place)
            members = tuple(
                v for owner in owners if owner.tag == "inst" for v in self.evaluator.attribute(owner, method)
            )
            refs = self.targets.callable_refs(members, call.arguments)
            if reference.passed:
                refs = [ref for ref in refs if self.targets.takes(ref, call.arguments)]
            least = CERTAIN if method.startswith(CONVERSION) else 0.0  # else a cast of an outside type
            if refs and (not call.passed or self.targets.overloads.may_take(refs, call, least)):
                return self.targets.edges_of_call(call, refs, "receiver")
        refs = functions(self, reference, name) if functions is not None else []
        if self.rules.labels:  # operators have none
            reference = msgspec.structs.replace(reference, arguments=-1)
        return self.targets.edges_of_call(reference, refs, "receiver")

    def _function_method_call(self, reference: Reference, receiver: str, refs: list[Ref]) -> Iterator[Edge]:
        """Yield the edges of a function's `call` or `apply`, `save.call(disk)`.

        The location is the name before the method's name.
        """
        home = self.project.home
        same = all(home(ref[0]) == home(self.path) for ref in refs)
        column = reference.column - len(split_chain(receiver)[1].encode()) - 1
        moved = msgspec.structs.replace(reference, column=max(0, column))
        return self.targets.edges_of_call(moved, refs, "exact" if same else "import")

    def _on_unknown_receiver(self, reference: Reference, name: str, extended: list[Ref]) -> Iterator[Edge]:
        """Yield the edges of a call on an unknown receiver."""
        values = self.evaluator.evaluate(reference.chain, self.path, reference.scope, reference.at)
        if values and "()" not in reference.chain:  # a function by its full name
            return self.targets.edges_of_call(
                reference, self.targets.callable_refs(values, reference.arguments), "import"
            )
        if extended:
            return self.targets.edges_of_call(reference, extended, "name", of_receiver=True)
        return self.call_by_name(reference, name)

    def _is_member_called(self, values: Values, reference: Reference) -> bool:
        """Return True if a member is called, and no extension."""
        refs = self.targets.callable_refs(values, -1)
        is_called = self.language.is_member_called
        return is_called(self, refs, reference) if is_called is not None else bool(refs)

    def _is_below(self, values: Values) -> bool:
        r"""Return True if PHP's `new A\B` names a type in a name space that shares its name with a
        class.
        """
        types = (v.tag == "def" and self.project.definition(v.ref).kind in TYPE_KINDS for v in values)
        return self.rules.classes_as_spaces and bool(values) and all(types)

    def methods_past_locals(self, name: str, scope: int) -> Values:
        """Return the methods of that name in the types around a place: variables do not hide
        them.
        """
        while scope >= 0:
            definition = self._definitions[scope]
            values = self.evaluator.member((self.path, scope), name) if definition.kind in TYPE_KINDS else ()
            if self.targets.callable_refs(values, -1):
                return values
            scope = definition.parent
        return ()

    def _super_call(self, reference: Reference) -> Iterator[Edge]:
        """Yield the edges of Ruby's bare `super`: the inherited method with the name of the one
        around it.
        """
        if not self.rules.bare_super or reference.scope < 0:
            return
        if (owner := self.evaluator.owners.of(self.path, reference.scope)) is not None:
            values = self.evaluator.member(owner, self._definitions[reference.scope].name, past=True)
            yield from self.targets.edges_of_call(
                reference, self.targets.callable_refs(values, -1), "receiver"
            )

    def inherited_overloads(self, values: Values, reference: Reference, owners: Values = ()) -> Values:
        """Return `values`, members of `owners`, or inherited overloads if those of the type do not
        take the arguments.
        """
        methods = [value.ref for value in values if value.tag == "def"]
        methods = [ref for ref in methods if self.project.definition(ref).kind in CALLABLE_KINDS]
        if reference.arguments < 0 or not methods or not self.rules.inherits_overloads:
            return values
        taking = [ref for ref in methods if self.targets.takes(ref, reference.arguments)]
        if taking and (not reference.passed or self.rules.hides_overloads):
            return values  # in C++ members hide those of base classes
        owner = self.evaluator.owners.of(*methods[0])
        name = self.project.definition(methods[0]).name
        more = self.evaluator.member(owner, name, past=True) if owner else ()
        fitting = [v for v in more if v.tag == "def" and self.targets.takes(v.ref, reference.arguments)]
        if self.rules.inherited_defaults and taking:  # not overridden ones
            signatures = {self._parameter_names(ref) for ref in taking}
            fitting = [v for v in fitting if self._parameter_names(v.ref) not in signatures]
        if not fitting and not taking:  # of a base beside the nearest one
            fitting = [
                v
                for v in self._members_of_bases(owners, name)
                if self.targets.takes(v.ref, reference.arguments)
            ]
        if not fitting or not taking:
            return tuple(fitting) or values
        self.targets.narrowed = True
        refs = [value.ref for value in fitting]
        other = not self.targets.overloads.may_take(taking, reference) and self.targets.overloads.may_take(
            refs, reference
        )
        return tuple(fitting) if other else values

    def _members_of_bases(self, owners: Values, name: str) -> list[Value]:
        """Return the methods of one name of all supertypes of instances."""
        supers = (self.evaluator.supertypes.of(owner.ref).types for owner in owners if owner.tag == "inst")
        values = [value for types in supers for ref in types for value in self.evaluator.member(ref, name)]
        return [value for value in dict.fromkeys(values) if value.tag == "def"]

    def _parameter_names(self, ref: Ref) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.project.definition(ref).parameters)

    def is_outside(self, chain: str) -> bool:
        """Return True if an unresolved chain begins outside of the project.

        It begins with a global that the file does not bind (`console`, `JSON`), or with a type that
        the project does not define (`Math`).
        """
        root = ROOT_NAME.match(chain.lstrip(ROOT_MARK))
        name = root[0] if root else "?"
        if name[0] in "?#" or name in self.rules.self_names | self.rules.super_names | self.rules.type_names:
            return False
        if self.index.may_bind(name):
            return False
        is_type = name[0].isupper() and (self.rules.capitals_are_types or self.rules.includes)
        if self.index.star_imports and not is_type:  # also C++: `QTest::addColumn()`
            return False
        return name[0].isupper() or self.rules.global_names

    def _is_hidden(self, ref: Ref) -> bool:
        """Return True for a member of a value that is local to a function of another file."""
        path, at = ref
        definitions = self.project.index(path).facts.definitions
        around = definitions[at].parent
        return (
            path != self.path
            and around >= 0
            and definitions[around].kind in CALLABLE_KINDS
            and definitions[at].scope != definitions[around].qualified
        )

    def _are_of_one_type(self, refs: Sequence[Ref]) -> bool:
        return len({(self.project.home(ref[0]), self.project.definition(ref).scope) for ref in refs}) == 1

    def call_by_name(self, reference: Reference, name: str) -> Iterator[Edge]:
        """Yield the edges of a call that only its name tells."""
        if len(name) < 3 or self.is_outside(reference.chain):
            return
        is_common = name in COMMON or name in self.rules.library_methods
        if not is_common:
            methods: Sequence[Ref] = self.evaluator.methods_named(self.rules.family, name)
        elif self.language.common_methods is not None:
            methods = self.language.common_methods(self, reference, name)
        else:
            return
        refs = plausible_methods(self.project, self.path, reference, methods)
        if is_foreign(self.path) or is_built(self.path):  # made elsewhere, mostly of one file
            refs = [ref for ref in refs if ref[0] == self.path]
        type_name = split_chain(reference.chain)[0].rpartition(".")[2]
        if self.rules.capitals_are_types and _TYPE_NAME.fullmatch(type_name):  # of a type that is not here
            refs = [ref for ref in refs if self.project.definition(ref).scope.rpartition(".")[2] == type_name]
        for step in self.language.methods_by_name:
            refs = step(self, reference, refs)
        if len(refs) > 1 and reference.passed and self.rules.overloads and self._are_of_one_type(refs):
            refs, self.targets.narrowed = self.targets.overloads.choose(refs, reference), True
        if len(refs) > CANDIDATES_MAX:  # those of unnamed classes override others of that name
            refs = [
                ref for ref in refs if UNNAMED not in self.project.definition(ref).scope.rpartition(".")[2]
            ]
        if len(refs) == 1 or (self.rules.named_twins and self.targets.are_twins(refs)):
            if name in self.rules.platform_methods:
                if near := [ref for ref in refs if not self._is_hidden(ref)]:
                    yield self.edges.ambiguous(reference, near, "name")
                return
            if reference.scope >= 0 and refs[0] == (self.path, reference.scope):
                return  # rather a wrapper of another function of that name than recursion
            for ref in refs:
                yield self.edges.call(reference, ref, "name")
        elif 1 < len(refs) <= CANDIDATES_MAX:
            yield self.edges.ambiguous(reference, refs, "name")
