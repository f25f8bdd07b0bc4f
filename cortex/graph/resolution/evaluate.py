"""What a chain may stand for: definitions, instances of types, modules. Nothing when syntax alone
cannot tell.

The type of a receiver comes from `self`, declared types of parameters, fields and results, and from
assignments whose value has an evident type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cortex.graph.facts.blocks import BLOCK_MARKS
from cortex.graph.facts.blocks import GIVEN as GIVEN_TO
from cortex.graph.facts.callback_types import GIVEN
from cortex.graph.facts.chains import POINTED, either_of, narrowed
from cortex.graph.facts.facts import MAKER, OBJECT, Binding
from cortex.graph.facts.generics import GENERIC_LANGUAGES, named_with
from cortex.graph.facts.grammars import RULES, SYNTAX
from cortex.graph.facts.links import module_of
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.facts.types import ITSELF, alternatives, held_by
from cortex.graph.resolution.arity import takes
from cortex.graph.resolution.callback_types import Contexts
from cortex.graph.resolution.common_names import COMMON, CSHARP_TYPES, DEREF, LINQ
from cortex.graph.resolution.extensions import Extensions
from cortex.graph.resolution.generics import NOTHING, Generics, Standing
from cortex.graph.resolution.implicit_receivers import Within
from cortex.graph.resolution.includes import C_HOME
from cortex.graph.resolution.kotlin import PART, Kotlin, as_function, result_of
from cortex.graph.resolution.linkage import bodies, seen_from, signature
from cortex.graph.resolution.members import Members
from cortex.graph.resolution.package_names import below
from cortex.graph.resolution.partial_types import extensions_in_use
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.results import Results
from cortex.graph.resolution.scala import Scala, plain
from cortex.graph.resolution.scopes import PURE_TYPES, Scopes
from cortex.graph.resolution.supertypes import Supertypes
from cortex.graph.resolution.values import EXTERNAL, OVERLOADS_MAX, Recursion, Value, several
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: evaluations inside one another
DEPTH_MAX = 12
#: answers of each kind that are remembered from file to file: about 20 MB
MEMO_MAX = 20_000

_LINK = re.compile(r"\(_?\d*\)|\([\^~]\w*\)|\[\*?\]|(?<=\))<[^<>]*>|[^.\[\]()]+")
#: families whose names may be written with their whole package anywhere
_QUALIFIED = frozenset({"jvm", "csharp", "php"})
#: what stands before the last name of a type; what `deref` gives of a type that holds any other
_LAST = re.compile(r".*(?:::|[&\s])")
_GIVES_HELD = re.compile(r":\s*&\s*(?:'\w+\s+)?[A-Z]\w?")
#: ends the name of the type of a container's iterators (C++)
_ITERATOR = re.compile(r"::(?:const_)?(?:reverse_)?iterator[\s&*]*$")
_UNTYPED = frozenset("Any any object Object unknown interface auto var T K V U E".split())
#: kinds of types that hold what their arguments say in a way of their own
_HOLDERS = frozenset({"class", "struct", "interface"})


class Evaluator:
    """Reads a project that does not change while this lives; remembers what it has found."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._recursion = Recursion()
        self.within = Within(project, self)
        self.extensions = Extensions(project, self)
        self.kotlin = Kotlin(project, self)
        self.scala = Scala(project, self)
        self.scopes = Scopes(project, self, self._recursion)
        self.exports, self.owners = self.scopes.exports, self.scopes.owners
        self.contexts = Contexts(project, self, self.exports.commonjs)
        self.supertypes = Supertypes(project, self, self._recursion)
        self.generics = Generics(project, self)
        self.results = Results(project, self, self.exports.commonjs, self._recursion)
        members = Members(project, self, self.scopes, self.supertypes, self.results, self._recursion)
        names = self.scopes, self.exports, self.within
        self._remembering = (
            *names,
            self.supertypes,
            self.extensions,
            self.results,
            members,
            self.generics,
        )
        self.attribute, self.member, self.called = members.attribute, members.member, self.results.called
        self._memo: dict[tuple[str, int, str, int], tuple[Value, ...]] = {}
        self._named: dict[tuple[str, str], tuple[Ref, ...]] = {}
        self._mixed_in: dict[str, tuple[Ref, ...]] = {}

    def relax(self) -> None:
        """Forget what was found when it has become much; called between two files."""
        memos: tuple[dict[Any, Any], ...] = (self._memo, self._named, self._mixed_in)
        for memo in memos:
            if len(memo) > MEMO_MAX:
                memo.clear()
        for one in self._remembering:
            one.relax(MEMO_MAX)

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

    def mixed_in(self, name: str) -> tuple[Ref, ...]:
        """The methods of that name of Ruby's modules."""
        if name not in self._mixed_in:
            owners = ((ref, self.owners.of(*ref)) for ref in self.methods_named("ruby", name))
            self._mixed_in[name] = tuple(
                ref for ref, owner in owners if owner and self.project.definition(owner).kind == "trait"
            )
        return self._mixed_in[name]

    def evaluate(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Value, ...]:
        """What `chain` may stand for where it is written; () for unknown."""
        if chain.startswith(":"):
            return self.declared(chain[1:], path, scope)
        key = (path, scope, chain, at)
        known = self._memo.get(key)
        if known is not None:
            return known
        recursion = self._recursion
        before = recursion.enter(key, allowed=recursion.depth <= DEPTH_MAX)
        if before is None:
            return recursion.found(key, ())
        recursion.depth += 1
        found = self._evaluate(chain, path, scope, at)
        recursion.depth -= 1
        if recursion.leave(key, before, found):
            self._memo[key] = found
        return found

    def _evaluate(self, chain: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        if chain.startswith(GIVEN):
            return self.contexts.of(chain, path, scope, at)
        links = _LINK.findall(chain)
        if not links:
            return ()
        values, owners, links = self._begun(links, path, scope, at)
        dotted = links[0]
        for number, link in enumerate(links[1:], 1):
            if number == 1 and (known := self._told(links, values, (path, scope, at))):
                values, dotted = known, ""
                continue
            values = self.worth(values)
            if link[0] == "(" and link[1:2] in BLOCK_MARKS:
                place = (path, scope)
                passed_to = self.scala if self.project.language(path) == "scala" else self.kotlin
                values = several(passed_to.passed_to(value, link, owners, place) for value in values)
                continue
            if link[0] == "<":
                continue  # seen to with the call before it
            if link[0] == "(":
                made = self._made_as_told(values, "".join(links[number + 1 : number + 2]), path, scope)
                values, dotted = made or self._given_by_call(values, link, owners, (path, scope)), ""
                if not values and number == 1 and self.extensions.is_evident(links[0] + link, path):
                    values = (EXTERNAL,)  # a literal: extensions are called on it
            elif link == POINTED:
                values, dotted = several(self.results.pointed_to(value) for value in values), ""
            elif link == "[]":
                values, dotted = several(self.results.element(value) for value in values), ""
            else:
                dotted, owners = f"{dotted}.{link}" if dotted else "", values
                values = self._member_of(values, links, number, dotted, path)
                values = self._unless_called(values, links[number + 1 :], owners, (path, scope))
            if not values:
                return ()
        return values

    def _made_as_told(
        self, callees: tuple[Value, ...], told: str, path: str, scope: int
    ) -> tuple[Value, ...]:
        """One of the class that a call of PHP is told, `<Disk>`, where the function makes such."""
        if told[:1] != "<":
            return ()
        flags = (self.project.definition(one.ref).flags for one in callees if one.tag == "def")
        return self.declared(told[1:-1], path, scope) if any(MAKER in some for some in flags) else ()

    def _begun(
        self, links: list[str], path: str, scope: int, at: int
    ) -> tuple[tuple[Value, ...], tuple[Value, ...], list[str]]:
        """What a chain's first link stands for, or the first ones that are a name together; what
        that is called on; and the links with that as the first.
        """
        language, first = self.project.language(path), links[0]
        values = self._root(first, path, scope, at)
        if language == "ruby" and links[1:2] != ["()"]:
            values = tuple(given for value in values for given in self._bare(value, first))
        if not values and len(links) > 1:
            values, links = self.exports.commonjs.own(links, path, scope) or self._qualified(links, path)
        if not values and language == "csharp" and (links[0][:1].isupper() or links[0] in CSHARP_TYPES):
            values = (EXTERNAL,)  # a type from outside, or a member that is inherited from there
        calls = language == "kotlin" and len(links) > 1 and links[1][0] == "("
        if calls and self._is_no_function(values):
            values = self.kotlin.past_variables(links[0], path, scope) or values
        if calls and not any(value.tag == "inst" for value in values):
            values, around = self.kotlin.implicit(links[0], links[1], (path, scope, at), values)
            return values, around or values, links
        return self._unless_called(values, links[1:], values, (path, scope)), values, links

    def _is_no_function(self, values: tuple[Value, ...]) -> bool:
        """Whether these are instances alone, none of which can be called."""
        known = bool(values) and all(value.tag == "inst" for value in values)
        return known and not any(self.results.call_of(value) for value in values)

    def _unless_called(
        self,
        values: tuple[Value, ...],
        rest: list[str],
        owners: tuple[Value, ...],
        place: tuple[str, int],
    ) -> tuple[Value, ...]:
        """`values`, which were found on `owners`; what Ruby's methods give among them that more is
        asked of, and Scala's functions that are named and not called, where what they are named on
        tells that.
        """
        if rest and rest[0][0] != "(" and self.project.language(place[0]) == "ruby":
            return tuple(given for value in values for given in self._bare(value, ""))
        if self.project.language(place[0]) != "scala" or (rest and rest[0][0] == "("):
            return values
        results = self.results
        return tuple(
            given for value in values for given in results.given_back(value, owners, place) or (value,)
        )

    def _told(
        self, links: list[str], values: tuple[Value, ...], place: tuple[str, int, int]
    ) -> tuple[Value, ...]:
        """What is told of a field apart from its type: by a test around the place, or by the
        bounds of type parameters.
        """
        path, scope, at = place
        if scope >= 0 and (known := self._narrowed(links, path, scope, at)):
            return known
        if links[0] != "self":
            return ()
        if scope < 0 and not values and self.project.language(path) == "ruby":
            return self._kept_by_file(links[1], path)
        return self.exports.crates.bounded(values, links[1], path, scope)

    def _kept_by_file(self, name: str, path: str) -> tuple[Value, ...]:
        """What Ruby's `@x` holds outside of all classes: what some block of the file says, as one
        of `before` does for those of a test.
        """
        held = self.project.index(path).fields.get("", {}).get(name, ())
        return several(self.evaluate(one.value, path, -1, one.at) for one in held)

    def _given_by_call(
        self, values: tuple[Value, ...], link: str, owners: tuple[Value, ...], place: tuple[str, int]
    ) -> tuple[Value, ...]:
        """What a call of `values`, which were found on `owners`, gives; f(1): the second result."""
        which = 0 if link[1] == "_" else int(link[1:-1] or 0)
        if len(values) > 1 and SYNTAX[self.project.language(place[0])].counts:
            values = self._taking(values, place[0], int(link.strip("(_)") or 0))
        results = self.results
        scala = link[1:2] == "_" and len(values) == 1 and self.project.language(place[0]) == "scala"
        if scala and (applied := self.scala.applied(values[0], int(link.strip("(_)")))):
            return applied
        found = several(
            results.given_back(value, owners, place) or results.called(value, which) for value in values
        )
        # Which of C++'s overloads it is may not be known: one gives what is not of the project.
        unsure = len(found) > 1 and EXTERNAL in found and self.project.home(place[0]) == C_HOME
        return () if unsure else found

    def _member_of(
        self, owners: tuple[Value, ...], links: list[str], number: int, dotted: str, path: str
    ) -> tuple[Value, ...]:
        """What the link of that number stands for on `owners`; `dotted`: it and what is before it
        where these are names alone.
        """
        link, call = links[number], "".join(links[number + 1 : number + 2])
        whole = self.exports.dotted_import(dotted, path) if dotted.count(".") else ()
        values = whole or several((self.attribute(value, link) for value in owners), OVERLOADS_MAX)
        spaces = any(one.tag == "mod" and one.path[-1:] == "/" for one in owners) if not values else False
        if spaces and dotted and self.project.language(path) == "python":
            return (EXTERNAL,)  # of a name-space package, which other roots have as well
        if len(values) > 1 and self.project.home(path) == C_HOME:
            values = seen_from(self.project, values, path)
        language = self.project.language(path)
        if call.startswith(GIVEN_TO[:-1]) and language == "scala" and owners:
            return self.scala.taking(owners, values)
        if not values and language in ("kotlin", "scala") and link.startswith(PART):
            values = several(self.attribute(value, self.kotlin.part(value, link)) for value in owners)
        if call[:1] != "(":
            return values
        if language == "kotlin":
            told = "".join(links[:2]) if number == 2 else ""
            return self.kotlin.extended(link, call, path, owners, values, told)
        return self._extended(values, link, path) if language == "csharp" else values

    def _taking(self, values: tuple[Value, ...], path: str, count: int) -> tuple[Value, ...]:
        """Of functions of one name those that take so many arguments; all where none does."""
        language = self.project.language(path)
        defined = (value for value in values if value.tag == "def")
        kept = tuple(v for v in defined if takes(signature(self.project, v.ref), language, count))
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
                if self.project.language(path) == "scala":
                    keys += self.scala.around(name, path)
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

    def _root(self, name: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        if name == "?":
            return ()
        if module := module_of(name):
            key = self.project.find_module(module, path)
            return (Value("mod", key),) if key else (EXTERNAL,)
        if chains := either_of(name):
            branches = [self.evaluate(one, path, scope, at) for one in chains]
            if self.project.language(path) == "kotlin":  # what all branches are
                return branches[0] if all(one == branches[0] for one in branches) else ()
            return several(branches)
        if name == "#" or (name[0] == "#" and self.project.language(path) == "csharp"):
            return (EXTERNAL,)
        if name == OBJECT:  # what a script's function gives that returns a literal
            return (Value("inst", path, scope),) if scope >= 0 else ()
        owner = self.owners.receiver(name, path, scope)
        if owner is not None:
            return (owner,)
        if name == "super" and self.project.language(path) == "rust":
            return self.exports.crates.outer(path, scope)
        found, how = self.scopes.lookup(name, path, scope, at)
        if inner := self.within.members(name, path, scope, at, found):
            return inner
        if found and self.project.language(path) == "swift":
            return several(self._computed(value) for value in found)
        if (how == "receiver" or not found) and self.project.language(path) in GENERIC_LANGUAGES:
            own = self.generics.own_field(name, path, scope)
            return (*(one for one in found if one.tag == "def"), *own) if own else found
        return found

    def _computed(self, value: Value) -> tuple[Value, ...]:
        """What Swift's computed property holds; any other value itself."""
        computed = value.tag == "def" and "property" in self.project.definition(value.ref).flags
        return self.results.returned(value.ref) if computed else (value,)

    def declared(self, text: str, path: str, scope: int, standing: Standing = NOTHING) -> tuple[Value, ...]:
        """Instances of a declared type; `standing` is what stands for type parameters in it."""
        if "->" in text and self.project.language(path) == "kotlin" and (gives := result_of(text)):
            return tuple(as_function(one) for one in self.declared(gives, path, scope, standing))
        if self.project.home(path) == C_HOME and (iterated := _ITERATOR.search(text)):
            held = self.declared(text[: iterated.start()], path, scope)
            if over := tuple(one._replace(tag="iter") for one in held if one.tag == "list"):
                return over
        if "=>" in text and self.project.language(path) == "scala":
            text, gives = plain(text)
            if gives:
                return tuple(as_function(one) for one in self.declared(gives, path, scope, standing))
        typed = self.project.language(path) in GENERIC_LANGUAGES
        if not typed and (own := self._own_holders(text, path, scope)):
            return (*own, *self._behind(own, text, path, scope))
        values: list[Value] = []
        generic = typed and ("<" in text or "[" in text)
        for starred in self.generics.names(text, path, scope) if generic else alternatives(text):
            if starred.startswith(ITSELF):
                values += self.evaluate(starred[1:], path, scope) if starred[-1] != "*" else ()
                continue
            name = starred.rstrip("*")
            stars = len(starred) - len(name)
            if name in ("Self", "this"):
                owner = self.owners.around(path, scope)
                found: tuple[Value, ...] = (Value("def", *owner),) if owner is not None else ()
            elif name in standing:
                found = standing[name]
            else:
                found = self.evaluate(name, path, scope)
            if self.project.home(path) == C_HOME:
                found = tuple(one for value in found for one in self.results.aliased(value) or (value,))
            for value in found or (() if name in _UNTYPED or len(name) == 1 else (EXTERNAL,)):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    values.append(Value("list" if stars else "inst", value.path, value.at, stars))
                elif value.tag == "inst" and stars:  # a type parameter: what its bound says
                    values.append(value._replace(tag="list", depth=stars))
                elif value.tag in ("ext", "inst", "list"):
                    values.append(value._replace(depth=value.depth + stars))
        values += self._behind(values, text, path, scope) if "<" in text else ()
        if generic:
            values = [self.generics.told(one, text, (path, scope), standing) for one in values]
        return several([tuple(values)])

    def _behind(self, values: Sequence[Value], text: str, path: str, scope: int) -> tuple[Value, ...]:
        """What Rust's own `Padded<Disk>` acts as, where its `deref` gives the type parameter."""
        name, held = named_with(text)
        if not held or self.project.language(path) != "rust":
            return ()
        for one in values:
            if one.tag == "inst" and self.project.definition(one.ref).name == _LAST.sub("", name):
                made_by = (by for by in self.member(one.ref, DEREF.lower()) if by.tag == "def")
                if any(_GIVES_HELD.fullmatch(self.project.definition(by.ref).returns) for by in made_by):
                    return self.declared(held[-1], path, scope)
        return ()

    def _own_holders(self, text: str, path: str, scope: int) -> tuple[Value, ...]:
        """Instances of the project's own `Queue[int]`, `Box<Disk>`: nothing that is in it."""
        # Whatever else was asked of the file before: `may_know` would answer by that.
        index = self.project.index(path)
        names = [name for name in held_by(text) if index.declares(name.partition(".")[0])]
        return tuple(
            Value("inst", *value.ref)
            for name in names
            for value in self.evaluate(name, path, scope)
            if value.tag == "def" and self.project.definition(value.ref).kind in _HOLDERS
        )

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
