"""What a chain may stand for: definitions, instances of types, modules. Nothing when syntax alone
cannot tell.

The type of a receiver comes from `self`, declared types of parameters, fields and results, and from
assignments whose value has an evident type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from cortex.graph.facts.blocks import BLOCK_MARKS
from cortex.graph.facts.chains import either_of, module_of, narrowed
from cortex.graph.facts.contexts import GIVEN
from cortex.graph.facts.facts import (
    CALLED,
    DECORATED,
    HOLDER,
    OBJECT,
    SPREAD,
    YIELDING,
    Binding,
    Definition,
)
from cortex.graph.facts.grammars import RULES, SYNTAX
from cortex.graph.facts.standing import ANYWHERE
from cortex.graph.facts.types import ITSELF, alternatives, result
from cortex.graph.resolution.common_names import COMMON, CSHARP_TYPES, ELEMENT_OF, LINQ, SAME, SAME_AS
from cortex.graph.resolution.contexts import Contexts
from cortex.graph.resolution.counts import takes
from cortex.graph.resolution.extensions import Extensions
from cortex.graph.resolution.homes import below, bodies
from cortex.graph.resolution.kotlin import Kotlin
from cortex.graph.resolution.parts import extensions_in_use
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.scopes import PURE_TYPES, Scopes
from cortex.graph.resolution.supertypes import Supertypes
from cortex.graph.resolution.values import EXTERNAL, VALUES_MAX, Recursion, Value
from cortex.graph.resolution.within import Within
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: methods of one name that a type may have: text builders have thirty
OVERLOADS_MAX = 48
#: evaluations inside one another
DEPTH_MAX = 12
#: answers of each kind that are remembered from file to file: about 20 MB
MEMO_MAX = 20_000

#: stands before the result of a function's type in TypeScript
_ARROW = "=>"
_LINK = re.compile(r"\(_?\d*\)|\([\^~]\w*\)|\[\]|[^.\[\]()]+")
#: languages in which a class may have a method of its own beside one of its instances, of one name
_OWN_METHODS = frozenset({"ruby", "typescript", "tsx", "javascript"})
#: families whose names may be written with their whole package anywhere
_QUALIFIED = frozenset({"jvm", "csharp", "php"})
_UNTYPED = frozenset("Any any object Object unknown interface auto var T K V U E".split())


class Evaluator:
    """Reads a project that does not change while this lives; remembers what it has found."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._recursion = Recursion()
        self.within = Within(project, self)
        self.extensions = Extensions(project, self)
        self.kotlin = Kotlin(project, self)
        self.scopes = Scopes(project, self, self._recursion)
        self.exports, self.owners = self.scopes.exports, self.scopes.owners
        self.contexts = Contexts(project, self, self.exports.commonjs)
        self.supertypes = Supertypes(project, self, self._recursion)
        self._members: dict[tuple[Ref, str], tuple[Value, ...]] = {}
        self._returns: dict[Ref, tuple[Value, ...]] = {}
        self._memo: dict[tuple[str, int, str, int], tuple[Value, ...]] = {}
        self._named: dict[tuple[str, str], tuple[Ref, ...]] = {}

    def relax(self) -> None:
        """Forget what was found when it has become much; called between two files."""
        known: tuple[dict[Any, Any], ...] = (self._memo, self._members, self._returns)
        for memo in (*known, self._named):
            if len(memo) > MEMO_MAX:
                memo.clear()
        self.scopes.relax(MEMO_MAX)
        self.supertypes.relax(MEMO_MAX)
        self.extensions.relax(MEMO_MAX)

    def methods_named(self, family: str, name: str) -> tuple[Ref, ...]:
        """Every method of that name in languages that can call one another, without mere
        declarations.
        """
        key = (family, name)
        if key not in self._named:
            found = bodies(self.project, self.project.methods.get(key, []))
            if family == "script" and len(found) > 1:  # of one method's signatures the last
                last = {(ref[0], self.project.definition(ref).qualified): ref for ref in found}
                found = list(last.values())
            self._named[key] = tuple(found)
        return self._named[key]

    def evaluate(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Value, ...]:
        """What `chain` may stand for where it is written; () for unknown."""
        if chain.startswith(":"):
            return self.declared(chain[1:], path, scope)
        key = (path, scope, chain, at)
        known = self._memo.get(key)
        if known is not None:
            return known
        recursion = self._recursion
        cuts = recursion.enter(key, allowed=recursion.depth <= DEPTH_MAX)
        if cuts is None:
            return ()
        recursion.depth += 1
        try:
            found = self._evaluate(chain, path, scope, at)
        finally:
            recursion.depth -= 1
            whole = recursion.leave(key, cuts)
        if whole:
            self._memo[key] = found
        return found

    def _evaluate(self, chain: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        if chain.startswith(GIVEN):
            return self.contexts.of(chain, path, scope, at)
        links = _LINK.findall(chain)
        if not links:
            return ()
        values = self._root(links[0], path, scope, at)
        if self.project.language(path) == "ruby" and links[1:2] != ["()"]:
            values = tuple(given for value in values for given in self._bare(value, links[0]))
        if not values and len(links) > 1:
            values, links = self.exports.commonjs.own(links, path, scope) or self._qualified(links, path)
        csharp = self.project.language(path) == "csharp"
        if not values and csharp and (links[0][:1].isupper() or links[0] in CSHARP_TYPES):
            values = (EXTERNAL,)  # a type from outside, or a member that is inherited from there
        dotted, owners = links[0], values
        kotlin = self.project.language(path) == "kotlin"
        if kotlin and len(links) > 1 and links[1][0] == "(" and not any(v.tag == "inst" for v in values):
            values, owners = self.kotlin.implicit(links[0], links[1], (path, scope, at), values)
        for number, link in enumerate(links[1:]):
            if not number and scope >= 0 and (known := self._narrowed(links, path, scope, at)):
                values, dotted = known, ""
                continue
            if (
                not number
                and links[0] == "self"
                and (bound := self.exports.crates.bounded(values, link, path, scope))
            ):
                values, dotted = bound, ""
                continue
            values = self.worth(values)
            if link[0] == "(":  # f(1): the second result
                if link[1:2] in BLOCK_MARKS:
                    values = self._several(self.kotlin.passed_to(value, link, owners) for value in values)
                    continue
                which = 0 if link[1] == "_" else int(link[1:-1] or 0)
                if len(values) > 1 and SYNTAX[self.project.language(path)].counts:
                    values = self._taking(values, path, int(link.strip("(_)") or 0))
                values = self._several(
                    self._given_back(value, owners) or self.called(value, which) for value in values
                )
            elif link == "[]":
                values = self._several(self._element(value) for value in values)
            else:
                dotted, owners = f"{dotted}.{link}" if dotted else "", values
                whole = self.exports.dotted_import(dotted, path) if dotted.count(".") else ()
                values = whole or self._several(
                    (self.attribute(value, link) for value in values), OVERLOADS_MAX
                )
                if kotlin and links[number + 2 : number + 3] and links[number + 2][0] == "(":
                    told = "".join(links[:2]) if number == 1 else ""
                    values = self.kotlin.extended(link, links[number + 2], path, owners, values, told)
                if csharp and "".join(links[number + 2 : number + 3])[:1] == "(":
                    values = self._extended(values, link, path)
            if link[0] in "([":
                dotted = ""
            if not values:
                return ()
        return values

    def _taking(self, values: tuple[Value, ...], path: str, count: int) -> tuple[Value, ...]:
        """Of functions of one name those that take so many arguments; all where none does."""
        definition = self.project.definition
        language = self.project.language(path)
        kept = tuple(v for v in values if v.tag == "def" and takes(definition(v.ref), language, count))
        return kept or values

    def _narrowed(self, links: list[str], path: str, scope: int, at: int) -> tuple[Value, ...]:
        """What a test around a place says of the receiver's field, `isinstance(self.x, Disk)`."""
        index = self.project.index(path)
        if not index.narrowed:
            return ()
        for what in reversed(index.places(scope, narrowed(f"{links[0]}.{links[1]}"))):
            if isinstance(what, Binding) and what.at <= at < (what.until or ANYWHERE):
                return self.declared(what.value[1:], path, scope)
        return ()

    def _bare(self, value: Value, name: str) -> tuple[Value, ...]:
        """What Ruby's name of a value gives: that of a method calls it."""
        is_method = value.tag == "def" and self.project.definition(value.ref).kind in CALLABLE_KINDS
        return self.called(value) if is_method or name == "new" else (value,)

    def worth(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """`values` without a script's types that share their name with a value."""
        if len(values) < 2:
            return values
        kept = tuple(
            one
            for one in values
            if one.tag != "def"
            or self.project.definition(one.ref).kind not in PURE_TYPES
            or RULES[self.project.language(one.path)].family != "script"
        )
        return kept or values

    def _qualified(self, links: list[str], path: str) -> tuple[tuple[Value, ...], list[str]]:
        """What a name with its whole package before it stands for, `app.model.Disk`, and the links
        that are left.
        """
        if RULES[self.project.language(path)].family in _QUALIFIED:
            names = next((at for at, link in enumerate(links) if link[0] in "(["), len(links))
            for count in range(names - 1, 0, -1):
                name = ".".join(links[:count])
                keys = [self.project.find_module(name.lstrip("\\"), path)]
                if self.project.language(path) == "php" and name[0] != "\\":  # below this name space
                    keys.insert(0, below(self.project, self.project.home(path), name))
                for key in filter(None, keys):
                    if values := self.exports.exported(key, links[count]):
                        return values, links[count:]
        return (), links

    def _extended(self, values: tuple[Value, ...], name: str, path: str) -> tuple[Value, ...]:
        """`values`, or the extensions that a call of C# may mean where these are from outside."""
        if name in LINQ or name in COMMON or any(value.tag != "ext" for value in values):
            return values
        found = extensions_in_use(self.project, path, self.methods_named("csharp", name))
        return tuple(Value("def", *ref) for ref in found[:OVERLOADS_MAX]) or values

    def _several(self, found: Iterable[tuple[Value, ...]], most: int = VALUES_MAX) -> tuple[Value, ...]:
        values = tuple(dict.fromkeys(value for some in found for value in some))
        return values if len(values) <= most else ()

    def _root(self, name: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        if name == "?":
            return ()
        if module := module_of(name):
            key = self.project.find_module(module, path)
            return (Value("mod", key),) if key else (EXTERNAL,)
        if chains := either_of(name):
            return self._several(self.evaluate(one, path, scope, at) for one in chains)
        if name == "#" or (name[0] == "#" and self.project.language(path) == "csharp"):
            return (EXTERNAL,)
        if name == OBJECT:  # what a script's function gives that returns a literal
            return (Value("inst", path, scope),) if scope >= 0 else ()
        owner = self.owners.receiver(name, path, scope)
        if owner is not None:
            return (owner,)
        if name == "super" and self.project.language(path) == "rust":
            return self.exports.crates.outer(path, scope)
        found = self.scopes.lookup(name, path, scope, at)[0]
        return self.within.members(name, path, scope, at, found) or found

    def declared(self, text: str, path: str, scope: int) -> tuple[Value, ...]:
        """Instances of a declared type."""
        values: list[Value] = []
        for starred in alternatives(text):
            if starred.startswith(ITSELF):
                values += self.evaluate(starred[1:], path, scope) if starred[-1] != "*" else ()
                continue
            name = starred.rstrip("*")
            stars = len(starred) - len(name)
            if name in ("Self", "this"):
                owner = self.owners.around(path, scope)
                found: tuple[Value, ...] = (Value("def", *owner),) if owner is not None else ()
            else:
                found = self.evaluate(name, path, scope)
            for value in found or (() if name in _UNTYPED or len(name) == 1 else (EXTERNAL,)):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    values.append(Value("list" if stars else "inst", value.path, value.at, stars))
                elif value.tag == "inst" and stars:  # a type parameter: what its bound says
                    values.append(Value("list", value.path, value.at, stars))
                elif value.tag in ("ext", "inst"):
                    values.append(value)
        return self._several([tuple(values)])

    def attribute(self, value: Value, name: str) -> tuple[Value, ...]:
        """What `value.name` stands for."""
        if value.tag == "mod":
            found = self.exports.exported(value.path, name)
            # A Rust path that leads nowhere leads out of the project: `std::process`.
            return found or ((EXTERNAL,) if value.path.partition("|")[0].endswith(".rs") else ())
        if value.tag == "ext":
            return (EXTERNAL,)
        if value.tag == "list":
            if name in ELEMENT_OF:
                return (Value("elem", value.path, value.at, value.depth),)
            return (value._replace(tag="list"),) if name in SAME_AS else (EXTERNAL,)
        if value.tag == "elem":
            return ()
        if name == "this" and self._is_type(value):  # Java's `Disk.this` in a class inside of it
            return (value._replace(tag="inst"),)
        if value.tag == "def" and not (
            (one := self.project.definition(value.ref)).has_members or one.kind == "module"
        ):
            if self.project.language(value.path) == "scala" and not one.parameters:
                return self._several(self.attribute(given, name) for given in self.returned(value.ref))
            return self._several(self.attribute(one, name) for one in self._decorated(value.ref))
        found = self.member(value.ref, name, past=value.tag == "super")
        if not found and value.tag == "def" and self.project.language(value.path) == "php":
            # A name space may have a class's name: `Node\Expr` of the class `Node`.
            key = below(
                self.project, self.project.home(value.path), self.project.definition(value.ref).qualified
            )
            return self.exports.exported(key, name) if key else ()
        if len(found) > 1 and self.project.language(value.path) in _OWN_METHODS:
            found = self.scopes.of_kind(found, static=value.tag == "def")
        if not found and name == "new" and self.project.language(value.path) == "ruby" and value.tag == "def":
            return (value,)
        if not found and value.tag == "inst" and name in SAME.get(self.project.language(value.path), ()):
            return (Value("elem", value.path, value.at, 1),)
        if value.tag == "inst" or RULES[self.project.language(value.path)].family == "script":
            given = (
                self.returned(one.ref)
                if one.tag == "def"
                and {"property", "cached_property"} & set(self.project.definition(one.ref).flags)
                else (one,)
                for one in found
            )
            return self._several(given, OVERLOADS_MAX)
        return found

    def _decorated(self, ref: Ref) -> tuple[Value, ...]:
        """The instances that a function's decorator makes of it, by what it says it returns."""
        one = self.project.definition(ref)
        chains = [flag[1:] for flag in one.flags if flag.startswith(DECORATED)]
        found = [
            value
            for chain in chains
            for value in self.evaluate(f"{chain.removesuffix('()')}()", ref[0], one.parent)
        ]
        return tuple(value for value in found if value.tag == "inst")

    def member(self, owner: Ref, name: str, *, past: bool = False) -> tuple[Value, ...]:
        """The member of a type or of what it inherits from (`past`: only of that); fields give
        their types' instances.
        """
        memo = (owner, f"super {name}" if past else name)
        known = self._members.get(memo)
        if known is not None:
            return known
        cuts = self._recursion.enter(memo)
        if cuts is None:
            return ()
        found: tuple[Value, ...] = ()
        above = self.supertypes.of(owner)
        for one in above.types if past else (owner, *above.types):
            found = self._own_member(one, name)
            if found:
                break
        if not found and above.spaces:
            found = self._several(self.exports.given_away(space.path, name) for space in above.spaces)
        if self._recursion.leave(memo, cuts):
            self._members[memo] = found
        return found

    def _own_member(self, owner: Ref, name: str) -> tuple[Value, ...]:
        project, path = self.project, owner[0]
        home, qualified = project.home(path), project.definition(owner).qualified
        rules = RULES[project.language(path)]
        refs = project.members_of(home, qualified).get(name, [])
        if rules.family == "script" and project.definition(owner).kind != "module":
            refs = [ref for ref in refs if project.definition(ref).kind != "function"]  # inside one
            refs = project.inside(owner, refs) if len(refs) > 1 else refs
        if refs:
            own = bodies(self.project, [ref for ref in refs if ref[0] == path] or refs)
            if "declared" in project.definition(own[0]).flags:
                own = bodies(self.project, refs)
            kept = (
                self.scopes.overloads(own[0][0], [ref[1] for ref in own])
                if len({r[0] for r in own}) == 1
                else None
            )
            methods = tuple(Value("def", *ref) for ref in own if kept is None or ref[1] in kept)
            # A field and a method may share a name (Java, PHP): a call means the one, a receiver
            # the other.
            if rules.family in ("jvm", "php"):
                methods = (*methods, *self._held(home, qualified, name))
            return methods[:OVERLOADS_MAX]
        if rules.open_types:
            wanted = project.definition(owner).name
            given = project.open_methods.get((rules.family, name, wanted), ())
            if found := [ref for ref in given if self.owners.of(*ref) == owner][:OVERLOADS_MAX]:
                return tuple(Value("def", *ref) for ref in found)
        return self._held(home, qualified, name) or self._spread(owner, name)

    def _spread(self, owner: Ref, name: str) -> tuple[Value, ...]:
        """What an object literal takes in whole: `{ ...other }`."""
        if HOLDER not in self.project.definition(owner).flags:
            return ()
        values = self._held(self.project.home(owner[0]), self.project.definition(owner).qualified, SPREAD)
        return self._several(self.attribute(value, name) for value in values)

    def _held(self, home: str, qualified: str, name: str) -> tuple[Value, ...]:
        """What a field of a type may hold."""
        bindings = self.project.fields_of(home, qualified, name)
        values: list[Value] = []
        for where, binding in bindings:
            if binding.value in "#?":
                continue
            found = self.evaluate(binding.value, where, binding.scope, binding.at)
            if binding.value.startswith(":") and found:
                return found  # declared: that settles it
            values += found
        return self._several([tuple(values)])

    def types_of(self, chain: str, path: str, scope: int = -1, at: int = ANYWHERE) -> list[Ref]:
        """The definitions with members that `chain` names, what a required file exports too."""
        values = self.evaluate(chain, path, scope, at)
        return [
            one.ref
            for value in values
            for one in self.exports.commonjs.unwrapped(value)
            if self._is_type(one)
        ]

    def _is_type(self, value: Value) -> bool:
        return value.tag == "def" and self.project.definition(value.ref).has_members

    def called(self, value: Value, number: int = 0) -> tuple[Value, ...]:
        """What a call of `value` gives: the first of its results, or the one after `number`."""
        if value.tag == "elem":
            inner = value.depth - 1
            return (Value("list" if inner > 0 else "inst", value.path, value.at, max(0, inner)),)
        if value.tag in ("ext", "super", "list"):
            return (value,)
        if value.tag == "inst":
            return self._several(self.called(one) for one in self.call_of(value) if one.tag == "def")
        if value.tag == "def":
            one = self.project.definition(value.ref)
            if one.makes_instances:
                return (Value("inst", value.path, value.at),)
            if one.kind == "constant":
                return self._promised(one.name, value.path)
            return self.returned(value.ref, number)
        if value.tag == "mod":
            whole = (one for one in self.exports.commonjs.unwrapped(value) if one.tag != "mod")
            return self._several(self.called(one) for one in whole)
        return ()

    def _given_back(self, value: Value, owners: tuple[Value, ...]) -> tuple[Value, ...]:
        """What a method is called on, where it says that it gives that back: TypeScript's
        `add<T extends Disk>(this: T): T`.
        """
        if value.tag != "def":
            return ()
        one = self.project.definition(value.ref)
        returns = one.returns
        if self.extensions.is_one(value):  # Kotlin's `fun <T : Disk> T.add(): T`
            return self.kotlin.given_back(one, owners)
        if RULES[self.project.language(value.path)].family != "script":
            return ()
        if not self._is_parameter(returns[1:], value.ref):
            return ()
        held = self.project.index(value.path).places(value.at, "this")
        given = held and isinstance(held[-1], Binding) and held[-1].value == returns
        return owners if given else ()

    def _promised(self, name: str, path: str) -> tuple[Value, ...]:
        """What a script's constant gives that is declared to hold a function, `(x: A) => Disk`."""
        for binding in self.project.index(path).tops.get((-1, name), ()):
            if binding.value.startswith(":") and _ARROW in binding.value:
                return self.declared(binding.value.rpartition(_ARROW)[2], path, -1)
        return ()

    def call_of(self, value: Value) -> tuple[Value, ...]:
        """What a call of an instance calls."""
        language = self.project.language(value.path)
        if language == "python":
            return self.member(value.ref, "__call__")
        if RULES[language].family != "script":
            return ()
        found = (one for one in self.member(value.ref, CALLED) if one.tag == "def")
        return tuple(one for one in found if CALLED in self.project.definition(one.ref).flags)

    def returned(self, ref: Ref, number: int = 0) -> tuple[Value, ...]:
        """What a function gives: by its declared type, else by the one thing that it returns."""
        if number:
            returns = self.project.definition(ref).returns
            text = result(returns[1:], number) if returns.startswith(":") else ""
            return self.declared(text, *ref) if text else ()
        if ref in self._returns:
            return self._returns[ref]
        one: Definition = self.project.definition(ref)
        if one.kind not in CALLABLE_KINDS or not one.returns:
            return ()
        cuts = self._recursion.enter(ref)
        if cuts is None:
            return ()
        try:
            found = () if self._is_parameter(one.returns[1:], ref) else self.evaluate(one.returns, *ref)
            if YIELDING.intersection(one.flags):
                found = self._several(self._item(value) for value in found)
        finally:
            whole = self._recursion.leave(ref, cuts)
        if whole:
            self._returns[ref] = found
        return found

    def _is_parameter(self, name: str, ref: Ref) -> bool:
        """Whether a script's function gives back what a type parameter of its own stands for: each
        call knows better.
        """
        script = RULES[self.project.language(ref[0])].family == "script"
        return script and bool(name) and bool(self.project.index(ref[0]).places(ref[1], name))

    def _item(self, value: Value) -> tuple[Value, ...]:
        return self._element(value) if value.tag == "list" else (value,)

    def _element(self, value: Value) -> tuple[Value, ...]:
        if value.tag == "list":
            inner = value.depth - 1
            return (Value("list" if inner > 0 else "inst", value.path, value.at, max(0, inner)),)
        if value.tag == "def":
            one = self.project.definition(value.ref)
            return () if one.kind == "constant" else (value,)  # Generic[T]
        if value.tag == "inst" and RULES[self.project.language(value.path)].family == "c":
            return (value,)  # of an array, as its type is known
        return (EXTERNAL,) if value.tag == "ext" else ()
