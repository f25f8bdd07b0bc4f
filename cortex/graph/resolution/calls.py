"""Edges of calls: a name in its scopes, a member of the receiver, an extension, or the only method
of its name. Reads one file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from cortex.graph.facts.chains import split_chain
from cortex.graph.facts.facts import TYPE_ONLY, Binding, Reference
from cortex.graph.facts.links import module_of
from cortex.graph.resolution.argument_lookup import associated_functions
from cortex.graph.resolution.common_names import COMMON, OWN_NAMES
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.kotlin_types import COMMON_EXTENSIONS
from cortex.graph.resolution.linkage import drop_declarations, linked_definitions, reachable_definitions
from cortex.graph.resolution.partial_types import of_arity
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.scala import apply_candidates, constructed_classes, constructor_target, object_of
from cortex.graph.resolution.swift import of_own_type, where_clause_members
from cortex.graph.resolution.targets import CANDIDATES_MAX, Targets
from cortex.graph.resolution.unknown_receivers import plausible_methods
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: families in which a type can have overloads
_OVERLOADING = frozenset({"jvm", "csharp", "c", "swift"})
_ROOT = re.compile(r"[^.\[\]():]+")
#: tags of instances, and of definitions
_TYPED = frozenset({"inst", "def"})


class Calls:
    def __init__(
        self, project: Project, evaluator: Evaluator, path: str, edges: Edges, targets: Targets
    ) -> None:
        self._project = project
        self._evaluator = evaluator
        self._path = path
        self._edges = edges
        self._targets = targets
        self._index = project.index(path)
        self._definitions = self._index.facts.definitions
        self._language = self._index.facts.language
        self._rules = self._index.rules

    def edges_of(self, reference: Reference) -> Iterator[Edge]:
        receiver, name = split_chain(reference.chain)
        if name[-1:] == "!" and self._rules.family == "rust":
            return self._targets.edges_of_call(
                reference, *self._evaluator.exports.crates.macros(reference.chain, self._path)
            )
        if receiver:
            return self._member_call(reference, receiver, name)
        return (
            self._super_call(reference)
            if name in self._rules.super_names
            else self._bare_call(reference, name)
        )

    def _bare_call(self, reference: Reference, name: str) -> Iterator[Edge]:
        """Yield the edges of `save()`."""
        evaluator, place = self._evaluator, (self._path, reference.scope)
        receiver = evaluator.owners.receiver(name, *place)  # Python's `cls()`
        values, how = evaluator.scopes.lookup(name, *place, reference.at)
        confidence: str = how
        if any(value.tag == "inst" for value in values):  # an instance that can be called
            confidence = "receiver"
        if not values and self._language == "ruby":
            yield from self._targets.edges_of_call(
                reference, self._mixin_methods(name, reference.scope), "name"
            )
        if module_of(name):  # `require("x")()`
            values, confidence = evaluator.evaluate(name, *place), "import"
        if receiver is not None:
            receiver = (
                constructor_target(self._project, self._path, reference, receiver)
                if self._language == "scala"
                else receiver
            )
            values, confidence = (receiver,), "receiver"
        if not values and self._language == "cpp" and reference.passed:
            values = associated_functions(self._project, evaluator, self._path, reference)
            self._targets.narrowed = True
        if self._language == "cpp":
            values = self._in_other_files(reference, name, values)
        if self._is_no_function(reference, name) and not self._targets.callable_refs(values, -1):
            values, confidence = self._methods_past_locals(name, reference.scope), "receiver"
        if self._language == "kotlin" and not self._targets.callable_refs(values, -1):
            bindings = [
                binding
                for binding in self._index.places(reference.scope, name)
                if isinstance(binding, Binding)
            ]
            are_instances = bool(values) and all(value.tag == "inst" for value in values)
            if are_instances or any(
                binding.until == 0 and binding.value.startswith(f"{name}(") for binding in bindings
            ):
                values = evaluator.kotlin.functions_past_variables(name, *place)
        if inner := evaluator.implicit_receivers.members(name, *place, reference.at, values):
            values, confidence = inner, "receiver"
        if self._language in ("java", "csharp"):
            values = self._inherited_overloads(values, reference)
        if self._language == "kotlin":
            values, confidence = self._implicit_call(reference, name, values, confidence)
        if self._language == "scala":
            values = (*values, *constructed_classes(self._project, values, reference))
            if made_by := self._scala_apply(reference, values):
                yield from self._object_call(reference, values[0], made_by, confidence)
                return
        if self._language == "swift" and not self._targets.callable_refs(values, -1):
            values, confidence = where_clause_members(evaluator, name, *place) or values, "receiver"
        count = -1 if reference.types == TYPE_ONLY else reference.arguments
        yield from self._targets.edges_of_call(
            reference, self._targets.callable_refs(values, count), confidence
        )

    def _in_other_files(
        self, reference: Reference, name: str, values: tuple[Value, ...]
    ) -> tuple[Value, ...]:
        """Return `values`, or C++ definitions of the same scope in other files that take the
        arguments.

        Those count if no definition of this file takes as many arguments: it does not hide them.
        """
        refs = [value.ref for value in values if value.tag == "def"]
        definitions = [self._project.definition(ref) for ref in refs]
        if (
            reference.arguments < 0
            or not refs
            or any(definition.kind != "function" for definition in definitions)
        ):
            return values
        if any(ref[0] != self._path or self._targets.takes(ref, reference.arguments) for ref in refs):
            return values
        scope_members = self._project.members_of(self._project.home(self._path), definitions[0].scope).get(
            name, ()
        )
        fitting = [
            ref
            for ref in linked_definitions(
                self._project, drop_declarations(self._project, [*scope_members]), self._path
            )
            if self._project.definition(ref).kind == "function"
            and self._targets.takes(ref, reference.arguments)
        ]
        return tuple(Value("def", *ref) for ref in fitting) or values

    def _scala_apply(self, reference: Reference, values: tuple[Value, ...]) -> list[Ref]:
        """Return the `apply` that a call of an object means, as a list with one definition.

        The list has the companion object itself if several remain, and is empty if the type is
        meant.
        """
        if reference.types == TYPE_ONLY or reference.chain == "this":
            return []
        candidates = apply_candidates(self._project, self._evaluator, values, max(0, reference.arguments))
        refs = list(dict.fromkeys(value.ref for value in candidates))
        if len(refs) > 1:
            refs, self._targets.narrowed = self._targets.overloads.choose(refs, reference), True
        return refs if len(refs) < 2 else [object_of(self._project, values[0]).ref]

    def _object_call(
        self, reference: Reference, callee: Value, refs: list[Ref], confidence: str
    ) -> Iterator[Edge]:
        """Yield the edges of a call of an object's `apply`, which also refers to the object."""
        yield self._edges.call(reference, refs[0], confidence)
        if refs[0] not in (callee.ref, other := object_of(self._project, callee).ref):
            edge = self._edges.call(reference, other, confidence)
            yield msgspec.structs.replace(edge, type="references")

    def _implicit_call(
        self, reference: Reference, name: str, values: tuple[Value, ...], confidence: str
    ) -> tuple[tuple[Value, ...], str]:
        """Return Kotlin's `values`, or an extension on an implicit receiver, with the
        confidence.
        """
        kotlin, call = self._evaluator.kotlin, f"(_{max(0, reference.arguments)})"
        values, around = kotlin.implicit_call(name, call, (self._path, reference.scope, reference.at), values)
        if around:
            refs = self._targets.extended.called(reference, "", name, around)
            values, confidence = tuple(Value("def", *ref) for ref in refs), "receiver"
        return kotlin.invoked(values, reference), confidence

    def _member_call(self, reference: Reference, receiver: str, name: str) -> Iterator[Edge]:
        """Yield the edges of `disk.save()`."""
        evaluator, targets = self._evaluator, self._targets
        owners = evaluator.drop_pure_types(
            evaluator.evaluate(receiver, self._path, reference.scope, reference.at)
        )
        owners = tuple(owner for owner in owners if not targets.is_constant(owner))
        if name in ("call", "apply") and self._rules.family == "script" and targets.callable_refs(owners, -1):
            yield from self._function_method_call(reference, receiver, targets.callable_refs(owners, -1))
            return
        if evaluator.exports.dotted_import(reference.chain, self._path):
            return
        members = (v for owner in owners for v in evaluator.attribute(owner, name))
        values = tuple(dict.fromkeys(members))
        spaces = any(owner.tag == "mod" for owner in owners) or self._is_below(values)
        if self._language == "swift" and not targets.callable_refs(values, -1):
            if own_refs := of_own_type(evaluator, name, receiver, owners):
                yield from targets.edges_of_call(reference, own_refs, "receiver")
                return
            if receiver in self._rules.self_names:
                values = where_clause_members(evaluator, name, self._path, reference.scope) or values
        extended: list[Ref] = []
        if not self._is_member_called(values, reference) and (
            owners or "()" in receiver or not self.is_outside(reference.chain)
        ):
            extended = targets.extended.called(reference, receiver, name, owners)
            targets.narrowed = targets.narrowed or len(extended) > 1
        if not owners:
            yield from self._on_unknown_receiver(reference, name, extended)
        elif extended:
            are_typed = self._language == "kotlin" and all(owner.tag in _TYPED for owner in owners)
            yield from targets.edges_of_call(
                reference, extended, "receiver" if are_typed else "name", of_receiver=True
            )
        else:
            values = self._inherited_overloads(values, reference)
            if self._language == "kotlin":
                values = evaluator.kotlin.invoked(values, reference)
            if self._language == "scala" and (made_by := self._scala_apply(reference, values)):
                yield from self._object_call(
                    reference, values[0], made_by, "import" if spaces else "receiver"
                )
                return
            refs = targets.callable_refs(values, reference.arguments)
            yield from targets.edges_of_call(reference, refs, "import" if spaces else "receiver")

    def _function_method_call(self, reference: Reference, receiver: str, refs: list[Ref]) -> Iterator[Edge]:
        """Yield the edges of a function's `call` or `apply`, `save.call(disk)`.

        The location is the name before the method's name.
        """
        home = self._project.home
        same = all(home(ref[0]) == home(self._path) for ref in refs)
        column = reference.column - len(split_chain(receiver)[1].encode()) - 1
        moved = msgspec.structs.replace(reference, column=max(0, column))
        return self._targets.edges_of_call(moved, refs, "exact" if same else "import")

    def _on_unknown_receiver(self, reference: Reference, name: str, extended: list[Ref]) -> Iterator[Edge]:
        """Yield the edges of a call on an unknown receiver."""
        values = self._evaluator.evaluate(reference.chain, self._path, reference.scope, reference.at)
        if values and "()" not in reference.chain:  # a function by its full name
            return self._targets.edges_of_call(
                reference, self._targets.callable_refs(values, reference.arguments), "import"
            )
        if extended:
            return self._targets.edges_of_call(reference, extended, "name", of_receiver=True)
        return self._call_by_name(reference, name)

    def _is_member_called(self, values: tuple[Value, ...], reference: Reference) -> bool:
        """Return True if a member is called, and no extension.

        C# calls an extension if no member of the name takes the arguments.
        """
        refs = self._targets.callable_refs(values, -1)
        if self._language == "kotlin":
            return not self._targets.extended.may_be_extension(refs, reference)
        if not refs or self._language != "csharp" or reference.arguments < 0:
            return bool(refs)
        taking = [ref for ref in refs if self._targets.takes(ref, reference.arguments)]
        if not taking or not reference.passed:
            return bool(taking)
        self._targets.narrowed = True
        return self._targets.overloads.may_take(taking, reference)

    def _mixin_methods(self, name: str, scope: int) -> list[Ref]:
        """Return the methods of Ruby modules with that name, if the type around may include
        them.
        """
        around = self._evaluator.owners.type_around(self._path, scope)
        definition = self._project.definition(around) if around else None
        if name in COMMON or (definition is not None and definition.kind != "trait" and not definition.bases):
            return []
        return [*self._evaluator.mixin_methods(name)]

    def _is_below(self, values: tuple[Value, ...]) -> bool:
        r"""Return True if PHP's `new A\B` names a type in a name space that shares its name with a
        class.
        """
        types = (v.tag == "def" and self._project.definition(v.ref).kind in TYPE_KINDS for v in values)
        return self._rules.family == "php" and bool(values) and all(types)

    def _is_no_function(self, reference: Reference, name: str) -> bool:
        """Return True if a variable of that name is not callable: any in Java; in Kotlin a variable
        with a declared type that is no function type.
        """
        if self._language != "kotlin":
            return self._language == "java"
        bindings = [
            binding for binding in self._index.places(reference.scope, name) if isinstance(binding, Binding)
        ]
        return any(binding.value.startswith(":") and "->" not in binding.value for binding in bindings[-1:])

    def _methods_past_locals(self, name: str, scope: int) -> tuple[Value, ...]:
        """Return the methods of that name in the types around a place: variables do not hide
        them.
        """
        while scope >= 0:
            definition = self._definitions[scope]
            values = (
                self._evaluator.member((self._path, scope), name) if definition.kind in TYPE_KINDS else ()
            )
            if self._targets.callable_refs(values, -1):
                return values
            scope = definition.parent
        return ()

    def _inherited_overloads(self, values: tuple[Value, ...], reference: Reference) -> tuple[Value, ...]:
        """Return `values`, or inherited overloads if those of the type do not take the
        arguments.
        """
        methods = [value.ref for value in values if value.tag == "def"]
        methods = [ref for ref in methods if self._project.definition(ref).kind in CALLABLE_KINDS]
        if reference.arguments < 0 or not methods or self._rules.family not in _OVERLOADING:
            return values
        taking = [ref for ref in methods if self._targets.takes(ref, reference.arguments)]
        if taking and (not reference.passed or self._rules.family in ("c", "swift")):
            return values  # in C++ members hide those of base classes
        owner = self._evaluator.owners.of(*methods[0])
        name = self._project.definition(methods[0]).name
        more = self._evaluator.member(owner, name, past=True) if owner else ()
        fitting = [v for v in more if v.tag == "def" and self._targets.takes(v.ref, reference.arguments)]
        if self._language == "kotlin" and taking:  # not overridden ones
            signatures = {self._parameter_names(ref) for ref in taking}
            fitting = [v for v in fitting if self._parameter_names(v.ref) not in signatures]
        if not fitting or not taking:
            return tuple(fitting) or values
        self._targets.narrowed = True
        refs = [value.ref for value in fitting]
        other = not self._targets.overloads.may_take(taking, reference) and self._targets.overloads.may_take(
            refs, reference
        )
        return tuple(fitting) if other else values

    def _parameter_names(self, ref: Ref) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self._project.definition(ref).parameters)

    def _super_call(self, reference: Reference) -> Iterator[Edge]:
        """Yield the edges of Ruby's bare `super`: the inherited method with the name of the one
        around it.
        """
        if self._language != "ruby" or reference.scope < 0:
            return
        owner = self._evaluator.owners.of(self._path, reference.scope)
        if owner is not None:
            values = self._evaluator.member(owner, self._definitions[reference.scope].name, past=True)
            yield from self._targets.edges_of_call(
                reference, self._targets.callable_refs(values, -1), "receiver"
            )

    def is_outside(self, chain: str) -> bool:
        """Return True if an unresolved chain begins outside of the project.

        It begins with a global that the file does not bind (`console`, `JSON`), or with a type that
        the project does not define (`Math`).
        """
        root = _ROOT.match(chain)
        name = root[0] if root else "?"
        if (
            name[0] in "?#"
            or name in self._rules.self_names | self._rules.super_names | self._rules.type_names
        ):
            return False
        if self._index.may_bind(name) or self._index.star_imports:
            return False
        return name[0].isupper() or self._rules.family in ("python", "script")

    def _call_by_name(self, reference: Reference, name: str) -> Iterator[Edge]:
        if name in COMMON or len(name) < 3 or self.is_outside(reference.chain):
            return
        if name in OWN_NAMES.get(self._language, ()):
            return
        if name in COMMON_EXTENSIONS and self._language == "kotlin":
            return
        methods = self._evaluator.methods_named(self._rules.family, name)
        refs = plausible_methods(self._project, self._path, reference, methods)
        if self._language == "swift" and reference.arguments >= 0:
            refs, self._targets.narrowed = (
                [ref for ref in refs if self._targets.accepts(ref, reference)],
                True,
            )
        if self._language == "csharp":
            refs = of_arity(self._project, refs, reference.types)
        if self._rules.family == "c":
            refs = reachable_definitions(self._project, [*refs], self._path)
        if self._rules.family == "rust":  # prefer those of this crate
            root = self._project.rust.root
            refs = [ref for ref in refs if root(ref[0]) == root(self._path)] or refs
        script = self._rules.family == "script"
        alike = script or self._language == "swift"  # a protocol's method, and its default
        if len(refs) == 1 or (alike and self._targets.are_twins(refs)):
            if reference.scope >= 0 and refs[0] == (self._path, reference.scope):
                return  # rather a wrapper of another function of that name than recursion
            for ref in refs:
                yield self._edges.call(reference, ref, "name")
        elif 1 < len(refs) <= CANDIDATES_MAX:
            yield self._edges.ambiguous(reference, refs, "name")
