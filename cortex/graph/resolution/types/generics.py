"""Type arguments: a method's result or a field of type `T`, by its receiver (`Box<Disk>`, `class
Disks extends Box<Disk>`).

An instance has the arguments of its own type, `Value.type_arguments`; those of a supertype follow
from the bases that lead there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from cortex.graph.facts.declared.generics import split_generic
from cortex.graph.facts.declared.types import CONTAINERS, WRAPPERS, alternatives
from cortex.graph.facts.facts import Definition
from cortex.graph.resolution.evaluation.values import EXTERNAL, Remembering, Value, merge_values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import type_parameter_names
from cortex.graph.resolution.types.supertypes import Supertypes
from cortex.terms.kinds import TYPE_KINDS

#: type parameter → its values
TypeArguments = Mapping[str, tuple[Value, ...]]
NO_TYPE_ARGUMENTS: TypeArguments = {}
#: depth of nested type arguments in a value
NESTED_MAX = 3
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


class Values(Protocol):
    """Types and declared types, as Generics uses them."""

    @property
    def supertypes(self) -> Supertypes: ...

    def evaluate(self, chain: str, path: str, scope: int) -> tuple[Value, ...]: ...

    def declared(
        self, text: str, path: str, scope: int, type_arguments: TypeArguments = NO_TYPE_ARGUMENTS
    ) -> tuple[Value, ...]: ...


class Generics(Remembering):
    """Type arguments in a project, with caches. Valid while the project does not change."""

    def __init__(self, project: Project, values: Values) -> None:
        self._project, self._values = project, values
        self._type_arguments: dict[tuple[Value, Ref], TypeArguments] = {}
        #: function → type parameters of the type around it that its result mentions
        self._free: dict[Ref, frozenset[str]] = {}
        self._lines: dict[Ref, tuple[Ref, ...]] = {}
        self.memos = (self._type_arguments, self._free, self._lines)

    def type_names(self, text: str, path: str, scope: int) -> tuple[str, ...]:
        """`alternatives`, or the project's type if it has the name of a container or wrapper."""
        written, arguments = split_generic(text)
        name = _chain_of_name(written)
        if arguments and name.rpartition(".")[2] in WRAPPERS | CONTAINERS:
            values = self._values.evaluate(name, path, scope)
            if any(
                value.tag == "def" and self._project.definition(value.ref).kind in TYPE_KINDS
                for value in values
            ):
                return (name,)
        return alternatives(text)

    def with_arguments(
        self, value: Value, text: str, place: tuple[str, int], type_arguments: TypeArguments
    ) -> Value:
        """Return an instance with the type arguments in the text of its type."""
        if value.tag not in ("inst", "list", "map") or value.type_arguments:
            return value
        definition = self._project.definition(value.ref)
        names = type_parameter_names(definition)
        if not names:
            return value
        for _ in range(NESTED_MAX):
            name, arguments = split_generic(text)
            if _chain_of_name(name).rpartition(".")[2] == definition.name:
                break
            if not arguments:
                return value
            text = arguments[-1]  # the elements of a container
        if len(arguments) != len(names):
            return value
        own_arguments = tuple(
            _cut_deep(self._values.declared(argument, *place, type_arguments) if argument else ())
            for argument in arguments
        )
        return value._replace(type_arguments=own_arguments) if any(own_arguments) else value

    def method_result(
        self, value: Value, owners: tuple[Value, ...], place: tuple[str, int]
    ) -> tuple[Value, ...]:
        """Return a method's result on `owners` if it mentions type parameters of the type around
        it.

        () for other methods. `place` is (file, scope) of the call.
        """
        if value.tag != "def":
            return ()
        definition = self._project.definition(value.ref)
        if "extension" in definition.flags and _returns_receiver(definition):
            return tuple(owner for owner in owners if owner.tag in ("inst", "ext", "list", "map"))
        free = self._free_in(value.ref)
        if not free:
            return ()
        holder = (value.path, definition.parent)
        values: dict[Value, None] = {}
        for owner in self._owners(owners, holder, *place):
            type_arguments = self.type_arguments(owner, holder)
            if not free.isdisjoint(type_arguments):
                values |= dict.fromkeys(
                    self._values.declared(definition.returns[1:], *value.ref, type_arguments)
                )
        return tuple(values)

    def result_with(
        self, callees: Sequence[Value], arguments: Sequence[str], place: tuple[str, int]
    ) -> tuple[Value, ...]:
        """Return the results of methods which mention their own type parameters, of a call with
        type arguments: `Make<Disk>()`. () if a method of another kind may be called.
        """
        results = list[tuple[Value, ...]]()
        for callee in callees:
            if callee.tag != "def":
                return ()
            definition = self._project.definition(callee.ref)
            names = type_parameter_names(definition)
            if len(names) != len(arguments) or definition.kind in TYPE_KINDS:
                continue
            if set(_WORD.findall(definition.returns)).isdisjoint(names):
                return ()
            of_names = {
                name: self._values.declared(argument, *place)
                for name, argument in zip(names, arguments, strict=True)
            }
            results.append(self._values.declared(definition.returns[1:], *callee.ref, of_names))
        return merge_values(results)

    def of_call(self, value: Value, owners: tuple[Value, ...], place: tuple[str, int]) -> TypeArguments:
        """Return the type arguments of the type around a called function."""
        parent = self._project.definition(value.ref).parent
        holder = (value.path, parent)
        if parent < 0 or not type_parameter_names(self._project.definition(holder)):
            return NO_TYPE_ARGUMENTS
        return next(
            (self.type_arguments(owner, holder) for owner in self._owners(owners, holder, *place)),
            NO_TYPE_ARGUMENTS,
        )

    def field(self, owner: Value, name: str) -> tuple[Value, ...]:
        """The values of a field whose type mentions a type parameter; () for other fields."""
        for ref in self._generic_line(owner.ref):
            definition = self._project.definition(ref)
            for path, binding in self._project.fields_of(
                self._project.home(ref[0]), definition.qualified, name
            ):
                names = (
                    _mentioned_parameters(binding.value, type_parameter_names(definition))
                    if binding.value.startswith(":")
                    else None
                )
                if not names or names.isdisjoint(type_arguments := self.type_arguments(owner, ref)):
                    return ()
                return self._values.declared(binding.value[1:], path, binding.scope, type_arguments)
        return ()

    def own_field(self, name: str, path: str, scope: int) -> tuple[Value, ...]:
        """Return the values of a bare name that is a field of a type around it."""
        index = self._project.index(path)
        while scope >= 0:
            if index.facts.definitions[scope].kind in TYPE_KINDS:
                if self._generic_line((path, scope)) and (
                    values := self.field(Value("inst", path, scope), name)
                ):
                    return values
            elif index.places(scope, name):
                return ()
            scope = index.outer(scope)
        return ()

    def element(self, owner: Value) -> tuple[Value, ...]:
        """Return the elements of a type that inherits from a container: `Disks extends
        ArrayList<Disk>`.
        """
        supertypes = self._values.supertypes
        for ref in (owner.ref, *supertypes.of(owner.ref).types):
            if not self._project.rules(ref[0]).type_arguments:
                return ()
            for base in self._project.definition(ref).bases:
                is_container = base.arguments and base.chain.rpartition(".")[2] in CONTAINERS
                if is_container and not supertypes.base(ref, base.chain):
                    arguments = split_generic(f"{base.chain}{base.arguments}")[1]
                    if not arguments:
                        return ()
                    return self._values.declared(arguments[-1], *ref, self.type_arguments(owner, ref))
        return ()

    def type_arguments(self, owner: Value, holder: Ref) -> TypeArguments:
        """Return the type arguments for `holder`, the type of `owner` or one of its supertypes."""
        key = (owner, holder)
        arguments = self._type_arguments.get(key)
        if arguments is None:
            arguments = self._type_arguments[key] = self._find_type_arguments(owner, holder)
        return arguments

    def _find_type_arguments(self, owner: Value, holder: Ref) -> TypeArguments:
        supertypes = self._values.supertypes
        pending = [(owner.ref, self._own_type_arguments(owner))]
        visited = {owner.ref}
        for ref, type_arguments in pending:
            if ref == holder:
                return type_arguments
            for base in self._project.definition(ref).bases:
                for other in supertypes.base(ref, base.chain):
                    if other not in visited:
                        visited.add(other)
                        pending.append(
                            (other, self._base_type_arguments(ref, base.arguments, other, type_arguments))
                        )
        return NO_TYPE_ARGUMENTS

    def _own_type_arguments(self, owner: Value) -> TypeArguments:
        names = type_parameter_names(self._project.definition(owner.ref))
        arguments = owner.type_arguments or ((),) * len(names)
        pairs = zip((name.rpartition(" ")[2] for name in names), arguments, strict=False)
        return {name: values for name, values in pairs if values}

    def _base_type_arguments(
        self, ref: Ref, arguments: str, other: Ref, type_arguments: TypeArguments
    ) -> TypeArguments:
        names = type_parameter_names(self._project.definition(other))
        texts = split_generic(f"X{arguments}")[1]
        if not names or len(texts) != len(names):
            return NO_TYPE_ARGUMENTS
        free_names = [
            name for name in type_parameter_names(self._project.definition(ref)) if name not in type_arguments
        ]
        filled: dict[str, tuple[Value, ...]] = {}
        for name, text in zip(names, texts, strict=True):
            values = self._values.declared(text, *ref, type_arguments) if text else ()
            if values and not (_mentioned_parameters(text, free_names) and EXTERNAL in values):
                filled[name.rpartition(" ")[2]] = _cut_deep(values)
        return filled

    def _free_in(self, ref: Ref) -> frozenset[str]:
        free = self._free.get(ref)
        if free is None:
            definition = self._project.definition(ref)
            free = self._free[ref] = self._read_free(ref[0], definition)
        return free

    def _read_free(self, path: str, definition: Definition) -> frozenset[str]:
        if definition.parent < 0 or not definition.returns.startswith(":"):
            return frozenset()
        around = type_parameter_names(self._project.definition((path, definition.parent)))
        return (
            _mentioned_parameters(definition.returns, around) - set(type_parameter_names(definition))
            if around
            else frozenset()
        )

    def _owners(self, owners: tuple[Value, ...], holder: Ref, path: str, scope: int) -> Iterator[Value]:
        for owner in owners:
            if owner.tag in ("inst", "super"):
                yield owner._replace(tag="inst")
            elif owner.tag == "def" and owner.ref != holder:  # a bare name: of the types around it
                for instance in self._around(path, scope):
                    if holder in (instance.ref, *self._values.supertypes.of(instance.ref).types):
                        yield instance
                        break

    def _around(self, path: str, scope: int) -> Iterator[Value]:
        definitions = self._project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                yield Value("inst", path, scope)
            scope = definitions[scope].parent

    def _generic_line(self, ref: Ref) -> tuple[Ref, ...]:
        """Return a type and its supertypes if one of them has type parameters, else ()."""
        line = self._lines.get(ref)
        if line is None:
            every = (ref, *self._values.supertypes.of(ref).types)
            generic = any(type_parameter_names(self._project.definition(type_ref)) for type_ref in every)
            line = self._lines[ref] = every if generic else ()
        return line


def _chain_of_name(written: str) -> str:
    """Return the chain of a type's name: `shop.Stack` of C++'s `const shop::Stack`."""
    qualifiers, _, name = written.rpartition(" ")
    is_name = all(map(str.isidentifier, qualifiers.split()))
    return name.replace("::", ".").strip(".") if is_name else written


def _mentioned_parameters(text: str, names: list[str]) -> frozenset[str]:
    plain = {name.rpartition(" ")[2] for name in names}
    return frozenset(plain.intersection(_WORD.findall(text)))


def _cut_deep(values: tuple[Value, ...], depth: int = 1) -> tuple[Value, ...]:
    """Values without type arguments below NESTED_MAX: a type may contain itself without end."""
    if not any(value.type_arguments for value in values):
        return values
    if depth >= NESTED_MAX:
        return tuple(value._replace(type_arguments=()) for value in values)
    return tuple(
        value._replace(type_arguments=tuple(_cut_deep(group, depth + 1) for group in value.type_arguments))
        for value in values
    )


def _returns_receiver(definition: Definition) -> bool:
    """Return True for C#'s `T Received<T>(this T disk)`."""
    returned = definition.returns[1:].strip().rstrip("?")
    first = definition.parameters[0].type.strip().rstrip("?") if definition.parameters else ""
    return bool(returned) and returned == first and returned in type_parameter_names(definition)
