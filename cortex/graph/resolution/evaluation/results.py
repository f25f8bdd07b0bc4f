"""Results of calls and elements of containers: return values, call operators of instances, results
of decorators.
"""

from typing import Protocol

from cortex.graph.facts.declared.types import result_type
from cortex.graph.facts.facts import ALIAS, DECORATED, YIELDING, Binding, Definition
from cortex.graph.facts.rails import SCOPED
from cortex.graph.resolution.calling.extensions import Extensions, extension_result
from cortex.graph.resolution.evaluation.values import (
    EXTERNAL,
    Recursion,
    Remembering,
    Value,
    Values,
    merge_values,
)
from cortex.graph.resolution.modules.commonjs import CommonJs
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.generics import TypeEvaluator
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: values from which Rails' scope makes a query
_QUERIED = frozenset({"def", "list"})
#: precedes the result in TypeScript's function types
_ARROW = "=>"
#: results that are an instance of the receiver's actual type: in Ruby, and the receiver itself
_MAKES_OWN = frozenset({"new", "new()"})
#: Ruby's methods that return their receiver or a copy of it, whoever overrides them
COPIES = frozenset({"freeze", "dup", "clone", "itself", "tap"})
#: methods of a C++ type over which `for` runs
_ENDS = ("begin", "end")
_ITSELF = frozenset({":this", "this", ":$this", "$this", ":static", ":Self", "self"})


class Declaring(TypeEvaluator, Protocol):
    """The evaluator with its extensions, as Results uses it."""

    @property
    def extensions(self) -> Extensions: ...


class Results(Remembering):
    """Results in a project, with caches. Valid while the project does not change."""

    def __init__(self, project: Project, values: Declaring, commonjs: CommonJs, recursion: Recursion) -> None:
        self._project, self._values = project, values
        self._commonjs, self._recursion = commonjs, recursion
        self.generics = values.generics
        self._returns: dict[Ref, Values] = {}
        self.memos = (self._returns,)

    def called(self, value: Value, number: int = 0) -> Values:
        """Return the results of a call of `value`; `number` 0 is the first result."""
        if value.tag == "elem":
            inner = value.depth - 1
            return (value._replace(tag="list" if inner > 0 else "inst", depth=max(0, inner)),)
        if value.tag in ("ext", "super", "list", "map", "iter"):
            return (value,)
        if value.tag == "inst":
            return merge_values(self.called(callee) for callee in self.call_of(value) if callee.tag == "def")
        if value.tag == "def":
            if value.depth:
                return (EXTERNAL,)
            definition = self._project.definition(value.ref)
            if definition.kind == "trait" and self._project.rules(value.path).makes_by_new:
                return (value,)  # a Ruby module makes none: RSpec's `subject` is the module
            if definition.makes_instances:
                return (Value("inst", value.path, value.at),)
            if definition.kind == "constant":
                return self._function_type_result(definition.name, value.path)
            return self.returned(value.ref, number)
        if value.tag == "mod":
            targets = (target for target in self._commonjs.unwrap_module(value) if target.tag != "mod")
            return merge_values(self.called(target) for target in targets)
        return ()

    def receiver_result(self, value: Value, owners: Values, place: tuple[str, int]) -> Values:
        """Return the receiver of a method that declares to return it: TypeScript's `add<T extends
        Disk>(this: T): T`.
        """
        if value.tag != "def":
            return ()
        definition = self._project.definition(value.ref)
        returns, rules = definition.returns, self._project.rules(value.path)
        makes_own = rules.makes_by_new and (
            returns in _MAKES_OWN
            or definition.name in COPIES
            or (definition.name == "new" and "super" in returns)
        )
        if returns == "self" and "static" in definition.flags:
            return owners  # Ruby's class, which a class method returns
        if returns == SCOPED:
            return tuple(owner._replace(tag="list", depth=1) for owner in owners if owner.tag in _QUERIED)
        if returns in _ITSELF or makes_own:
            return tuple(owner._replace(tag="inst") for owner in owners if self._has_members(owner))
        if "static" in definition.flags and rules.makes_by_new:
            return self._of_heir(value, definition, owners)
        if self._values.extensions.is_extension(value):  # Kotlin's `fun <T : Disk> T.add(): T`
            return extension_result(definition, owners)
        if rules.type_arguments:
            return self.generics.method_result(value, owners, place)
        if not rules.erased_types or not self._is_parameter(returns[1:], value.ref):
            return ()
        places = self._project.index(value.path).places(value.at, "this")
        is_this = places and isinstance(places[-1], Binding) and places[-1].value == returns
        return owners if is_this else ()

    def _of_heir(self, value: Value, definition: Definition, owners: Values) -> Values:
        """Return the results of Ruby's class method: `new` in it makes an instance of the heir that
        it is called on.
        """
        heirs = tuple(owner._replace(tag="inst") for owner in owners if owner.tag == "def")
        return merge_values(
            heirs if heirs and self._is_instance(result, definition.scope) else (result,)
            for result in self.called(value)
        )

    def _is_instance(self, value: Value, qualified: str) -> bool:
        return value.tag == "inst" and self._project.definition(value.ref).qualified == qualified

    def _has_members(self, value: Value) -> bool:
        is_def = value.tag == "def" and self._project.definition(value.ref).has_members
        return is_def or value.tag in ("inst", "super")

    def _function_type_result(self, name: str, path: str) -> Values:
        """Return the result of a script's constant with a function type, `(x: A) => Disk`."""
        for binding in self._project.index(path).top_bindings.get((-1, name), ()):
            if binding.value.startswith(":") and _ARROW in binding.value:
                return self._values.declared(binding.value.rpartition(_ARROW)[2], path, -1)
        return ()

    def call_of(self, value: Value) -> Values:
        """Return the functions that a call of an instance calls."""
        operator = self._project.language(value.path).call_operator
        return operator(self._project, self._values, value) if operator is not None else ()

    def returned(self, ref: Ref, number: int = 0) -> Values:
        """Return the results of a function: by its declared type, else by its returned value."""
        if number:
            returns = self._project.definition(ref).returns
            text = result_type(returns[1:], number) if returns.startswith(":") else ""
            return self._values.declared(text, *ref) if text else ()
        if ref in self._returns:
            return self._returns[ref]
        definition: Definition = self._project.definition(ref)
        if definition.kind not in CALLABLE_KINDS or not definition.returns:
            return ()
        before = self._recursion.enter(ref)
        if before is None:
            return self._recursion.answer(ref, ())
        is_parameter = self._is_parameter(definition.returns[1:], ref)
        values = () if is_parameter else self._values.evaluate(definition.returns, *ref)
        if YIELDING.intersection(definition.flags):
            values = merge_values(
                (self.element(value) if value.tag == "list" else (value,)) for value in values
            )
        if self._recursion.leave(ref, before, values):
            self._returns[ref] = values
        return values

    def _is_parameter(self, name: str, ref: Ref) -> bool:
        """Return True if a script's function returns its own type parameter, which each call
        binds.
        """
        erased = self._project.rules(ref[0]).erased_types
        return erased and bool(name) and bool(self._project.index(ref[0]).places(ref[1], name))

    def decorated(self, ref: Ref) -> Values:
        """Return the instances that a function's decorator returns, by its declared result."""
        definition = self._project.definition(ref)
        chains = [flag[1:] for flag in definition.flags if flag.startswith(DECORATED)]
        values = [
            value
            for chain in chains
            for value in self._values.evaluate(f"{chain.removesuffix('()')}()", ref[0], definition.parent)
        ]
        return tuple(value for value in values if value.tag == "inst")

    def _by_operator(self, value: Value) -> Values:
        """Return the result of C++'s `operator[]`, or of Kotlin's `operator fun get`; in Kotlin an
        iterable type has elements.
        """
        rules = self._project.rules(value.path)
        name = rules.element_operator
        if not name or (not rules.typed_by_element and self._values.member(value.ref, "iterator")):
            return ()
        return self._results_of(name, value)

    def _by_class_operator(self, value: Value) -> Values:
        """Return the result of a Ruby type's own `[]`: `Disk[1]`."""
        operator = self._project.rules(value.path).element_operator
        is_module = self._project.definition(value.ref).kind == "trait"
        methods = self._values.member_of_kind(value.ref, operator, static=True)
        if is_module and not methods:  # `module_function :[]`
            methods = self._values.member(value.ref, operator)
        return merge_values(
            self.receiver_result(method, (value,), value.ref) or self.returned(method.ref)
            for method in methods
            if method.tag == "def"
        )

    def _results_of(self, name: str, owner: Value) -> Values:
        """Return the results of an instance's methods of one name."""
        members = self._values.member(owner.ref, name)
        if self._project.rules(owner.path).class_methods:
            members = self._values.member_of_kind(owner.ref, name, static=False)
        methods = (method for method in members if method.tag == "def")
        return merge_values(
            self.generics.method_result(method, (owner,), owner.ref) or self.returned(method.ref)
            for method in methods
        )

    def iterated(self, value: Value) -> Values:
        """Return the elements over which C++'s `for (auto &x : value)` runs: what `*` of the result
        of `begin` returns.
        """
        if value.tag != "inst" or not all(self._values.member(value.ref, name) for name in _ENDS):
            return self.element(value)
        elements: list[Values] = []
        for iterator in self._results_of(_ENDS[0], value):
            if iterator.tag != "inst":
                elements.append(self.element(iterator))
            elif self._values.member(iterator.ref, "operator*"):
                elements.append(self._results_of("operator*", iterator))
            elif self._values.supertypes.of(iterator.ref).complete:  # a pointer
                elements.append((iterator,))
        return merge_values(elements)

    def aliased(self, value: Value) -> Values:
        """Return the container or iterator of a C++ alias, `typedef vector<Disk> Disks`."""
        if value.tag != "def" or self._project.home(value.path) != C_HOME:
            return ()
        definition = self._project.definition(value.ref)
        if definition.kind not in TYPE_KINDS or not definition.returns:
            return ()
        key = (value.ref, ALIAS)
        before = self._recursion.enter(key)
        if before is None:
            return self._recursion.answer(key, ())
        values = self._values.declared(definition.returns[1:], *value.ref)
        containers = tuple(container for container in values if container.tag in ("list", "iter"))
        self._recursion.leave(key, before, containers)
        return containers

    def pointee(self, value: Value) -> Values:
        """Return the target of C++'s `*x`: an iterator's element, else the value: pointers equal
        their target.
        """
        return self.element(value) if value.tag == "iter" else (value,)

    def element(self, value: Value) -> Values:
        if value.tag in ("list", "map", "iter"):
            inner = value.depth - 1
            if value.tag == "map" and inner > 0:
                return (value._replace(depth=inner),)
            return (value._replace(tag="list" if inner > 0 else "inst", depth=max(0, inner)),)
        if value.tag == "def":
            if self._project.rules(value.path).class_methods:
                return self._by_class_operator(value)
            definition = self._project.definition(value.ref)
            return () if definition.kind == "constant" else (value,)  # Generic[T]
        if value.tag == "inst" and self._project.rules(value.path).typed_by_element:
            return self._by_operator(value) or (value,)  # of an array: its type is the element's
        if value.tag == "inst":
            return self.generics.element(value) or self._by_operator(value)
        return (EXTERNAL,) if value.tag == "ext" else ()
