"""The type that a place is in, and what `self`, `this` and `super` are there."""

from __future__ import annotations

from cortex.graph.facts.facts import BOUND, EXPORTED, Binding
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.reaching_bindings import Place
from cortex.graph.resolution.builds import built_with
from cortex.graph.resolution.commonjs import Meanings
from cortex.graph.resolution.crates import Crates
from cortex.graph.resolution.linkage import reachable
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import TYPE_KINDS


class Owners:
    """Of a project that does not change while this lives."""

    def __init__(self, project: Project, meanings: Meanings, crates: Crates) -> None:
        self._project = project
        self._meanings = meanings
        self._crates = crates

    def receiver(self, name: str, path: str, scope: int) -> Value | None:
        """The value of `self`, `this`, `cls`, `super` in `scope`; None when `name` is none of
        them.
        """
        index = self._project.index(path)
        facts = index.facts
        rules = RULES[facts.language]
        is_super = name in rules.super_names
        may_be = name in (index.firsts if facts.language == "python" else rules.self_names)
        if not (may_be or is_super or name in rules.type_names or name == "new"):
            return None
        if name in rules.type_names or (name == "new" and facts.language == "ruby"):
            enclosing = self.around(path, scope)
            return Value("def", *enclosing) if enclosing is not None else None
        while scope >= 0:
            one = facts.definitions[scope]
            if rules.family == "script" and (held := index.places(scope, name)):
                return self._declared_this(held[-1], path, scope)
            if one.kind == "method":
                first = one.parameters[0].name if one.parameters else ""
                named = name in rules.self_names
                if facts.language == "python" and not is_super:
                    named = name == first and "staticmethod" not in one.flags
                if named or is_super:
                    owner = self.of(path, scope)
                    if owner is None:
                        return self._crates.given_self(path, one) if facts.language == "rust" else None
                    static = "classmethod" in one.flags or one.name in ("__new__", "__init_subclass__")
                    static = static or ("static" in one.flags and rules.family in ("script", "ruby"))
                    return Value("super" if is_super else "def" if static else "inst", *owner)
            elif one.has_members and name in rules.self_names:
                return Value("inst", path, scope)
            elif EXPORTED in one.flags:  # a member of what a script exports
                return Value("mod", path)
            scope = one.parent
        return None

    def _declared_this(self, held: Place, path: str, scope: int) -> Value | None:
        """TypeScript's parameter `this: Disk`."""
        value = held.value if isinstance(held, Binding) else "?"
        return next(iter(self._meanings.evaluate(value, path, scope)), None)

    def of(self, path: str, index: int) -> Ref | None:
        """The type that a method belongs to."""
        one = self._project.index(path).facts.definitions[index]
        if one.parent >= 0:
            outer = self._project.index(path).facts.definitions[one.parent]
            if outer.kind in TYPE_KINDS:
                return (path, one.parent)
            if one.kind != "method":
                return None
        if not one.scope:
            return None
        named = list(self._project.types_named(self._project.home(path), one.scope))
        if len(named) > 1 and RULES[self._project.language(path)].family == "c":
            named = reachable(self._project, named, path)
        if len(named) > 1 and self._project.language(path) == "go":
            named = built_with(self._project, named, path)
        if named:
            return named[0]
        for value in self._meanings.evaluate(one.scope, path, index if BOUND in "".join(one.flags) else -1):
            if value.tag == "inst":  # what the type parameter has to be
                return value.ref
            if value.tag == "def" and self._project.definition(value.ref).has_members:
                return value.ref
        return None

    def around(self, path: str, scope: int) -> Ref | None:
        definitions = self._project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                return (path, scope)
            if definitions[scope].kind == "method" and (owner := self.of(path, scope)) is not None:
                return owner
            scope = definitions[scope].parent
        return None
