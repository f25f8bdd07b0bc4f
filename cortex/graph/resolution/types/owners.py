"""The type around a place, and the values of `self`, `this` and `super` there."""

from cortex.graph.facts.facts import BOUND, EXPORTED, TESTED, Binding, Definition
from cortex.graph.facts.reaching_bindings import BindingSite
from cortex.graph.facts.repairs.macros import GROUP
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Value
from cortex.graph.resolution.modules.builds import built_with
from cortex.graph.resolution.modules.crates import Crates
from cortex.graph.resolution.modules.linkage import reachable_definitions
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS


class Owners:
    """Owners in a project. Valid while the project does not change."""

    def __init__(self, project: Project, meanings: ChainEvaluator, crates: Crates) -> None:
        self._project, self._meanings, self._crates = project, meanings, crates

    def receiver(self, name: str, path: str, scope: int) -> Value | None:
        """Return the value of `self`, `this`, `cls`, `super` in `scope`; None for other names."""
        index = self._project.index(path)
        facts = index.facts
        rules = index.rules
        is_super = name in rules.super_names
        may_be = name in (index.first_parameters if rules.first_parameter else rules.self_names)
        if not (may_be or is_super or name in rules.type_names or name == "new"):
            return None
        if name in rules.type_names or (name == "new" and rules.makes_by_new):
            enclosing = self.type_around(path, scope)
            return Value("def", *enclosing) if enclosing is not None else None
        while scope >= 0:
            definition = facts.definitions[scope]
            if rules.erased_types and (places := index.places(scope, name)):
                return self._declared_this(places[-1], path, scope)
            if definition.kind == "method":
                first = definition.parameters[0].name if definition.parameters else ""
                is_receiver = name in rules.self_names
                if rules.first_parameter and not is_super:
                    is_receiver = name == first and "staticmethod" not in definition.flags
                if is_receiver or is_super:
                    owner = self.of(path, scope)
                    if owner is None:
                        return self._crates.trait_self(path, definition) if rules.inner_modules else None
                    static = "classmethod" in definition.flags or definition.name in (
                        "__new__",
                        "__init_subclass__",
                    )
                    static = static or ("static" in definition.flags and rules.kinds_of_methods)
                    return Value("super" if is_super else "def" if static else "inst", *owner)
            elif definition.has_members and name in rules.self_names:
                return Value("inst", path, scope)
            elif EXPORTED in definition.flags:  # a member of a script's exports
                return Value("mod", path)
            scope = definition.parent
        return None

    def _declared_this(self, place: BindingSite, path: str, scope: int) -> Value | None:
        """Return the value of TypeScript's parameter `this: Disk`."""
        value = place.value if isinstance(place, Binding) else "?"
        return next(iter(self._meanings.evaluate(value, path, scope)), None)

    def of(self, path: str, index: int) -> Ref | None:
        """Return the type that a method belongs to."""
        definition = self._project.index(path).facts.definitions[index]
        if definition.parent >= 0:
            outer = self._project.index(path).facts.definitions[definition.parent]
            if outer.kind in TYPE_KINDS:
                return (path, definition.parent)
            if definition.kind != "method":
                return None
        if not definition.scope:
            return None
        types = self._types_of(path, definition)
        if len(types) > 1 and self._project.rules(path).includes:
            types = reachable_definitions(self._project, types, path)
        if len(types) > 1 and self._project.rules(path).conditional_files:
            types = built_with(self._project, types, path)
        if types:
            return types[0]
        for value in self._meanings.evaluate(
            definition.scope, path, index if BOUND in "".join(definition.flags) else -1
        ):
            if value.tag == "inst":  # the bound of a type parameter
                return value.ref
            if value.tag == "def" and self._project.definition(value.ref).has_members:
                return value.ref
        return None

    def _types_of(self, path: str, definition: Definition) -> list[Ref]:
        """Return the types that a method's scope may name; of a C++ test its group comes first."""
        home = self._project.home(path)
        if TESTED in definition.flags:
            groups = [*self._project.types_named(home, f"{definition.scope}{GROUP}")]
            if groups:
                return [ref for ref in groups if ref[0] == path] or groups
        return [*self._project.types_named(home, definition.scope)]

    def type_around(self, path: str, scope: int) -> Ref | None:
        definitions = self._project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                return (path, scope)
            if definitions[scope].kind == "method" and (owner := self.of(path, scope)) is not None:
                return owner
            scope = definitions[scope].parent
        return None
