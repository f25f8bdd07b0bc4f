"""Values of a chain: definitions, instances of types, modules; () if syntax alone cannot tell.

The type of a receiver comes from `self`, declared types of parameters, fields and results, and from
assignments whose value has an evident type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cortex.graph.facts.declared.generics import split_generic
from cortex.graph.facts.declared.types import ITSELF, alternatives, generic_names
from cortex.graph.facts.expressions.blocks import BLOCK_ARGUMENT as GIVEN_TO
from cortex.graph.facts.expressions.blocks import BLOCK_MARKS
from cortex.graph.facts.expressions.callback_types import CONTEXT_MARK
from cortex.graph.facts.expressions.chains import POINTED, ROOT_MARK, narrowed_name, union_chains
from cortex.graph.facts.facts import MAKER, OBJECT, Binding, Definition, Import, module_of
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.calling.common_names import DEREF
from cortex.graph.resolution.calling.extensions import Extensions
from cortex.graph.resolution.evaluation.implicit_receivers import ImplicitReceivers
from cortex.graph.resolution.evaluation.members import COMPONENT, Members, component_name
from cortex.graph.resolution.evaluation.results import Results
from cortex.graph.resolution.evaluation.scopes import PURE_TYPES, Scopes
from cortex.graph.resolution.evaluation.values import (
    EXTERNAL,
    NO_TYPE_ARGUMENTS,
    OVERLOADS_MAX,
    Recursion,
    Remembering,
    TypeArguments,
    Value,
    Values,
    as_function,
    merge_values,
)
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.linkage import drop_declarations, signature, visible_values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.aliases import without_alias
from cortex.graph.resolution.types.arity import accepts_count
from cortex.graph.resolution.types.callback_types import Contexts
from cortex.graph.resolution.types.generics import Generics
from cortex.graph.resolution.types.supertypes import Supertypes
from cortex.terms.kinds import TYPE_KINDS

Helper = TypeVar("Helper")

#: nested evaluations
DEPTH_MAX = 12
#: entries of each cache that remain from file to file: about 20 MB
MEMO_MAX = 20_000

_LINK = re.compile(r"\(_?\d*\)|\([\^~]\w*\)|\[\*?\]|(?<=\))<[^<>]*>|[^.\[\]()]+")
#: text before the last name of a type; result of a `deref` that returns the type parameter
_LAST = re.compile(r".*(?:::|[&\s])")
_GIVES_HELD = re.compile(r":\s*&\s*(?:'\w+\s+)?[A-Z]\w?")
#: ends the name of a C++ container's iterator type
_ITERATOR = re.compile(r"::(?:const_)?(?:reverse_)?iterator[\s&*]*$")
_UNTYPED = frozenset("Any any object Object unknown interface auto var T K V U E".split())
#: kinds of types that can be generic containers of the project
_HOLDERS = frozenset({"class", "struct", "interface"})


class Evaluator(Remembering):
    """Evaluates chains in a project, with caches. Valid while the project does not change."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._recursion = Recursion()
        self.implicit_receivers = ImplicitReceivers(project, self)
        self.extensions = Extensions(project, self)
        self.scopes = Scopes(project, self, self._recursion)
        self.exports, self.owners = self.scopes.exports, self.scopes.owners
        self.contexts = Contexts(project, self, self.exports.commonjs)
        self.supertypes = Supertypes(project, self, self._recursion)
        self.generics = Generics(project, self)
        self.results = Results(project, self, self.exports.commonjs, self._recursion)
        members = Members(project, self, self.scopes, self.supertypes, self.results, self._recursion)
        names = self.scopes, self.exports, self.exports.commonjs, self.implicit_receivers
        self._parts = (*names, self.supertypes, self.extensions, self.results, members, self.generics)
        self.attribute, self.member, self.called = members.attribute, members.member, self.results.called
        self.member_of_kind = members.member_of_kind
        self._memo: dict[tuple[str, int, str, int], Values] = {}
        self._helpers: dict[object, Any] = {}
        self._methods_by_name: dict[tuple[str, str], tuple[Ref, ...]] = {}
        self._mixins_by_name: dict[tuple[str, str], tuple[Ref, ...]] = {}
        self._signatures: dict[Ref, Definition] = {}
        self.memos = (self._memo, self._methods_by_name, self._mixins_by_name, self._signatures)

    def helper(self, kind: Callable[[Project, Evaluator], Helper]) -> Helper:
        """Return a language's own evaluator, which `kind` makes once."""
        helper: Helper | None = self._helpers.get(kind)
        if helper is None:
            helper = self._helpers[kind] = kind(self.project, self)
        return helper

    def relax(self, memo_max: int = MEMO_MAX) -> None:
        """Clear caches that have become large. Call it between two files."""
        super().relax(memo_max)
        for part in self._parts:
            part.relax(memo_max)

    def signature(self, ref: Ref) -> Definition:
        """Return `linkage.signature`, cached: each call of a name asks for it."""
        if (cached := self._signatures.get(ref)) is None:
            cached = self._signatures[ref] = signature(self.project, ref)
        return cached

    def methods_named(self, family: str, name: str) -> tuple[Ref, ...]:
        """Return every method of that name in languages that can call one another, without
        declarations that have a body elsewhere.
        """
        key = (family, name)
        if key not in self._methods_by_name:
            refs = drop_declarations(self.project, self.project.methods.get(key, []))
            if len(refs) > 1 and self.project.rules(refs[0][0]).erased_types:
                last = {(ref[0], self.project.definition(ref).qualified): ref for ref in refs}
                refs = list(last.values())
            self._methods_by_name[key] = tuple(refs)
        return self._methods_by_name[key]

    def mixin_methods(self, family: str, name: str) -> tuple[Ref, ...]:
        """Return the methods of that name in modules that types include."""
        if (family, name) not in self._mixins_by_name:
            owners = ((ref, self.owners.of(*ref)) for ref in self.methods_named(family, name))
            self._mixins_by_name[family, name] = tuple(
                ref
                for ref, owner in owners
                if owner and self.project.definition(owner).kind == "trait" and not self.scopes.is_static(ref)
            )
        return self._mixins_by_name[family, name]

    def evaluate(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> Values:
        """Return the values of `chain` in its scope at byte `at`; () if unknown."""
        if chain.startswith(":"):
            return self.declared(chain[1:], path, scope)
        key = (path, scope, chain, at)
        if (cached := self._memo.get(key)) is not None:
            return cached
        recursion = self._recursion
        before = recursion.enter(key, allowed=recursion.depth <= DEPTH_MAX)
        if before is None:
            return recursion.answer(key, ())
        recursion.depth += 1
        values = self._evaluate(chain, path, scope, at)
        recursion.depth -= 1
        if recursion.leave(key, before, values):
            self._memo[key] = values
        return values

    def _evaluate(self, chain: str, path: str, scope: int, at: int) -> Values:
        if chain.isidentifier():  # the usual case
            return self._begin_chain([chain], path, scope, at)[0]
        if chain.startswith(CONTEXT_MARK):
            return self.contexts.values_of(chain, path, scope, at)
        links = _LINK.findall(chain)
        if not links:
            return ()
        values, owners, links = self._begin_chain(links, path, scope, at)
        dotted = links[0]
        for number, link in enumerate(links[1:], 1):
            if number == 1 and (field_values := self._field_values(links, values, (path, scope, at))):
                values, dotted = field_values, ""
                continue
            values = self.drop_pure_types(values)
            if link[0] == "(" and link[1:2] in BLOCK_MARKS:
                passed_to, place = self.project.language(path).passed_to, (path, scope)
                values = merge_values(passed_to(self, value, link, owners, place) for value in values)
                continue
            if link[0] == "<" != link[-1]:
                continue  # handled with the call before it
            if link[0] == "(":
                if number == 1:
                    values = self.hidden_types(links[0], values, (path, scope)) or values
                instances = self._instance_of_argument(
                    values, "".join(links[number + 1 : number + 2]), path, scope
                )
                values, dotted = instances or self._call_result(values, link, owners, (path, scope)), ""
                if not values and number == 1 and self.extensions.is_evident(links[0] + link, path):
                    values = (EXTERNAL,)  # a literal: extensions are called on it
            elif link == POINTED:
                values, dotted = merge_values(self.results.pointee(value) for value in values), ""
            elif link == "[]":
                values, dotted = merge_values(self.results.element(value) for value in values), ""
            else:
                dotted, owners = f"{dotted}.{link}" if dotted else "", values
                values = self._member_of(values, links, number, dotted, path)
                values = self._apply_uncalled(values, links[number + 1 :], owners, (path, scope))
            if not values:
                return ()
        return values

    def _instance_of_argument(self, callees: Values, class_mark: str, path: str, scope: int) -> Values:
        """Return an instance of the class in the first argument of PHP's call, `<Disk>`, if the
        function makes such instances; the result of C#'s call with type arguments.
        """
        if class_mark[:1] != "<":
            return ()
        if self.project.rules(path).type_arguments:
            return self.generics.result_with(callees, class_mark[1:-1].split(","), (path, scope))
        flags = (self.project.definition(callee.ref).flags for callee in callees if callee.tag == "def")
        return (
            self.declared(class_mark[1:-1], path, scope)
            if any(MAKER in callee_flags for callee_flags in flags)
            else ()
        )

    def _begin_chain(
        self, links: list[str], path: str, scope: int, at: int
    ) -> tuple[Values, Values, list[str]]:
        """Return the values of a chain's first name, their owners, and the links from it on.

        The name may consist of several links, which become one.
        """
        language, first = self.project.language(path), links[0]
        values = self._root_values(first, path, scope, at)
        if language.uncalled_root is not None and (len(links) < 2 or links[1][0] != "("):
            values = language.uncalled_root(self, first, (path, scope), values)
        if not values and len(links) > 1:
            values, links = self.exports.commonjs.own_export(links, path, scope) or self._qualified_values(
                links, path
            )
        if not values and language.is_outside is not None and language.is_outside(links):
            values = (EXTERNAL,)
        if language.called_root is not None and len(links) > 1 and links[1][0] == "(":
            return *language.called_root(self, links, (path, scope, at), values), links
        return self._apply_uncalled(values, links[1:], values, (path, scope)), values, links

    def are_uncallable(self, values: Values) -> bool:
        """Return True if these are only instances that cannot be called."""
        are_instances = bool(values) and all(value.tag == "inst" for value in values)
        return are_instances and not any(self.results.call_of(value) for value in values)

    def _apply_uncalled(
        self, values: Values, links: list[str], owners: Values, place: tuple[str, int]
    ) -> Values:
        """Return `values`, members of `owners`, with the results of methods that need no
        parentheses.

        Ruby calls a method before a further link; Scala calls it if its receiver decides the
        result.
        """
        apply = self.project.language(place[0]).uncalled
        if apply is None or (links and links[0][0] == "("):
            return values
        return apply(self, values, links, owners, place)

    def _field_values(self, links: list[str], values: Values, place: tuple[str, int, int]) -> Values:
        """Return the values of a field that its type does not give: from a test around the place,
        or from bounds of type parameters.
        """
        path, scope, at = place
        if scope >= 0 and (narrowed_values := self._narrowed_field(links, path, scope, at)):
            return narrowed_values
        if links[0] != "self":
            return ()
        if not values and self.project.rules(path).file_fields and not self.owners.type_around(path, scope):
            return self._file_field(links[1], path, at)
        return self.exports.crates.bounded_field(values, links[1], path, scope)

    def _file_field(self, name: str, path: str, at: int) -> Values:
        """Return the values of Ruby's `@x` outside of all classes: any block of the file may assign
        it, as a `before` block of a test does. Those of the innermost group around byte `at` count.
        """
        index = self.project.index(path)
        around = [site for site in index.file_field(name).at(at).places if isinstance(site, Binding)]
        innermost = [site for site in around if site.until == around[-1].until]
        bindings = innermost or index.fields.get("", {}).get(name, [])
        return merge_values(self.evaluate(binding.value, path, -1, binding.at) for binding in bindings)

    def _call_result(self, values: Values, link: str, owners: Values, place: tuple[str, int]) -> Values:
        """Return the results of a call of `values`, members of `owners`; `(1)` is the second
        result.
        """
        result_number = 0 if link[1] == "_" else int(link[1:-1] or 0)
        if len(values) > 1 and self.project.language(place[0]).syntax.counts:
            values = self._of_arity(values, place[0], int(link.strip("(_)") or 0))
        results = self.results
        applied = self.project.language(place[0]).applied
        if (
            applied is not None
            and link[1:2] == "_"
            and len(values) == 1
            and (outcomes := applied(self, values[0], int(link.strip("(_)"))))
        ):
            return outcomes
        outcomes = merge_values(
            results.receiver_result(value, owners, place) or results.called(value, result_number)
            for value in values
        )
        # Of C++'s overloads the called one may be unknown, and one returns an external type.
        unsure = len(outcomes) > 1 and EXTERNAL in outcomes and self.project.home(place[0]) == C_HOME
        return () if unsure else outcomes

    def _member_of(self, owners: Values, links: list[str], number: int, dotted: str, path: str) -> Values:
        """Return the values of link `number` on `owners`. `dotted`: the names up to it, "" after a
        call.
        """
        link, call = links[number], "".join(links[number + 1 : number + 2])
        imported = self.exports.dotted_import(dotted, path) if dotted.count(".") else ()
        values = imported or merge_values((self.attribute(value, link) for value in owners), OVERLOADS_MAX)
        spaces = (
            any(owner.tag == "mod" and owner.path[-1:] == "/" for owner in owners) if not values else False
        )
        if spaces and dotted and self.project.rules(path).split_packages:
            return (EXTERNAL,)  # of a name-space package, which other roots have as well
        if len(values) > 1 and self.project.home(path) == C_HOME:
            values = visible_values(self.project, values, path)
        language = self.project.language(path)
        if call.startswith(GIVEN_TO[:-1]) and language.function_takers is not None and owners:
            takers = language.function_takers(self, owners, values)
            if takers or values or language.called_member is None:
                return takers
        if not values and language.rules.components and link.startswith(COMPONENT):
            values = merge_values(
                self.attribute(value, component_name(self.project, value, link)) for value in owners
            )
        if call[:1] != "(" or language.called_member is None:
            return values
        return language.called_member(self, links, number, path, owners, values)

    def _of_arity(self, values: Values, path: str, count: int) -> Values:
        """Return the functions that take `count` arguments; all if none does."""
        defaults = self.project.rules(path).default_arguments
        defined = (value for value in values if value.tag == "def")
        fitting = tuple(v for v in defined if accepts_count(self.signature(v.ref), count, defaults))
        return fitting or values

    def _narrowed_field(self, links: list[str], path: str, scope: int, at: int) -> Values:
        """Return the type of a receiver's field from a test around it, `isinstance(self.x,
        Disk)`.
        """
        index = self.project.index(path)
        if not index.narrowed_fields:
            return ()
        for site in reversed(index.places(scope, narrowed_name(f"{links[0]}.{links[1]}"))):
            if isinstance(site, Binding) and site.at <= at < (site.until or ANYWHERE):
                return self.declared(site.value[1:], path, scope)
        return ()

    def drop_pure_types(self, values: Values) -> Values:
        """Return `values` without a script's types that share their name with a value."""
        if len(values) < 2:
            return values
        remaining = tuple(
            value
            for value in values
            if value.tag != "def"
            or self.project.definition(value.ref).kind not in PURE_TYPES
            or not self.project.rules(value.path).erased_types
        )
        return remaining or values

    def _qualified_values(self, links: list[str], path: str) -> tuple[Values, list[str]]:
        """Return the values of a name with its full package, `app.model.Disk`, and the remaining
        links.
        """
        language = self.project.language(path)
        if language.rules.qualified_names:
            names = next((at for at, link in enumerate(links) if link[0] in "(["), len(links))
            for count in range(names - 1, 0, -1):
                name = ".".join(links[:count])
                keys = [self.project.find_module(name.lstrip(ROOT_MARK), path)]
                if language.keys_around is not None:
                    keys = language.keys_around(self.project, name, path, keys)
                for key in filter(None, keys):
                    if values := self.exports.exported(key, links[count]):
                        return values, links[count:]
        return (), links

    def _root_values(self, name: str, path: str, scope: int, at: int) -> Values:
        if not name.isidentifier() and (marked := self._marked_values(name, path, scope, at)) is not None:
            return marked
        if (owner := self.owners.receiver(name, path, scope)) is not None:
            return (owner,)
        if name == "super" and self.project.rules(path).inner_modules:
            return self.exports.crates.outer_module(path, scope)
        values, how = self.scopes.lookup(name, path, scope, at)
        if inner := self.implicit_receivers.members(name, path, scope, at, values):
            return inner
        if values and self.project.rules(path).computed_names:
            return merge_values(self._property_values(value) for value in values)
        if (how == "receiver" or not values) and self.project.rules(path).type_arguments:
            own_values = self.generics.own_field(name, path, scope)
            return (*(value for value in values if value.tag == "def"), *own_values) if own_values else values
        return values

    def _marked_values(self, name: str, path: str, scope: int, at: int) -> Values | None:
        """Return the values of a first link that is no name; None for any other."""
        if name == "?":
            return ()
        if module := module_of(name):
            key = self.project.find_module(module, path)
            return (Value("mod", key),) if key else (EXTERNAL,)
        if chains := union_chains(name):
            branches = [self.evaluate(branch, path, scope, at) for branch in chains]
            if self.project.rules(path).branches_agree:
                return branches[0] if all(branch == branches[0] for branch in branches) else ()
            return merge_values(branches)
        if name == "#" or (name[0] == "#" and self.project.rules(path).outside_literals):
            # The class of Ruby's literal may be reopened: `path` tells the language.
            return (Value("ext", path) if self.project.rules(path).file_fields else EXTERNAL,)
        if name == OBJECT:  # an object literal that a script's function returns
            return (Value("inst", path, scope),) if scope >= 0 else ()
        return None

    def _property_values(self, value: Value) -> Values:
        """Return the result of Swift's computed property; any other value itself."""
        computed = value.tag == "def" and "property" in self.project.definition(value.ref).flags
        return self.results.returned(value.ref) if computed else (value,)

    def declared(
        self, text: str, path: str, scope: int, type_arguments: TypeArguments = NO_TYPE_ARGUMENTS
    ) -> Values:
        """Return instances of a declared type, with `type_arguments` in place of its type
        parameters.
        """
        language = self.project.language(path)
        if language.function_type is not None:
            text, gives = language.function_type(text)
            if gives:
                return tuple(
                    as_function(instance) for instance in self.declared(gives, path, scope, type_arguments)
                )
        if self.project.home(path) == C_HOME and (iterated := _ITERATOR.search(text)):
            containers = self.declared(text[: iterated.start()], path, scope)
            if over := tuple(
                container._replace(tag="iter") for container in containers if container.tag == "list"
            ):
                return over
        typed = language.rules.type_arguments
        if not typed and "<" in text:
            text = without_alias(self.project, self.evaluate, text, path, scope)
        if not typed and (holders := self._project_containers(text, path, scope)):
            return (*holders, *self._deref_values(holders, text, path, scope))
        values: list[Value] = []
        generic = typed and ("<" in text or "[" in text)
        for starred in self.generics.type_names(text, path, scope) if generic else alternatives(text):
            if starred.startswith(ITSELF):
                values += self.evaluate(starred[1:], path, scope) if starred[-1] != "*" else ()
                continue
            name = starred.rstrip("*")
            stars = len(starred) - len(name)
            if name in ("Self", "this"):
                owner = self.owners.type_around(path, scope)
                candidates: Values = (Value("def", *owner),) if owner is not None else ()
            elif name in type_arguments:
                candidates = type_arguments[name]
            else:
                candidates = self.named_by_type(name, path, scope)
            if self.project.home(path) == C_HOME:
                candidates = tuple(
                    alias for value in candidates for alias in self.results.aliased(value) or (value,)
                )
            for value in candidates or (() if name in _UNTYPED or len(name) == 1 else (EXTERNAL,)):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    values.append(Value("list" if stars else "inst", value.path, value.at, stars))
                elif value.tag == "inst" and stars:  # a type parameter: its bound
                    values.append(value._replace(tag="list", depth=stars))
                elif value.tag in ("ext", "inst", "list", "map", "iter"):
                    values.append(value._replace(depth=value.depth + stars))
        values += self._deref_values(values, text, path, scope) if "<" in text else ()
        if generic:
            values = [
                self.generics.with_arguments(instance, text, (path, scope), type_arguments)
                for instance in values
            ]
        if language.holds_pairs is not None and language.holds_pairs(text):
            values = [value._replace(tag="map") if value.tag == "list" else value for value in values]
        return merge_values([tuple(values)])

    def named_by_type(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> Values:
        """Return the values of a chain that names a type: a member or variable of that name does
        not hide the type.
        """
        values = self.evaluate(chain, path, scope, at)
        if self.is_hidden_type(chain, values, path):
            return self._types_of_chain(chain, path, scope) or values
        return values

    def hidden_types(self, name: str, values: Values, place: tuple[str, int]) -> Values:
        """Return the types that a called name means if instances that cannot be called hide them:
        the member in `Logger = new Logger()`.
        """
        if not values or values[0].tag != "inst" or not self.are_uncallable(values):
            return ()
        if not self.is_hidden_type(name, values, place[0]):
            return ()
        return tuple(value for value in self._types_of_chain(name, *place) if value.tag == "def")

    def is_hidden_type(self, chain: str, values: Values, path: str) -> bool:
        """Return True if `values` has no type, and the project has definitions of that name."""
        for value in values:
            if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                return False
        index = self.project.index(path)
        if self.project.named[index.rules.family].get(chain.rpartition(".")[2]):
            return True
        places = index.places(-1, chain)
        return any(isinstance(place, Import) and place.name != place.member for place in places)

    def _types_of_chain(self, chain: str, path: str, scope: int) -> Values:
        """Return the types that a chain names past members and variables; () without one."""
        key = (path, scope, f":{chain}", ANYWHERE)
        if (cached := self._memo.get(key)) is not None:
            return cached
        recursion = self._recursion
        before = recursion.enter(key, allowed=recursion.depth <= DEPTH_MAX)
        if before is None:
            return recursion.answer(key, ())
        recursion.depth += 1
        first, *others = chain.split(".")
        values = self.scopes.types_named(first, path, scope)
        for name in others:
            values = merge_values(self.attribute(value, name) for value in values)
        recursion.depth -= 1
        if recursion.leave(key, before, values):
            self._memo[key] = values
        return values

    def _deref_values(self, values: Sequence[Value], text: str, path: str, scope: int) -> Values:
        """Return the content of Rust's `Padded<Disk>` if its `deref` returns the type parameter."""
        name, arguments = split_generic(text)
        if not arguments or not self.project.rules(path).derefs:
            return ()
        for value in values:
            if value.tag == "inst" and self.project.definition(value.ref).name == _LAST.sub("", name):
                methods = (method for method in self.member(value.ref, DEREF.lower()) if method.tag == "def")
                if any(
                    _GIVES_HELD.fullmatch(self.project.definition(method.ref).returns) for method in methods
                ):
                    return self.declared(arguments[-1], path, scope)
        return ()

    def _project_containers(self, text: str, path: str, scope: int) -> Values:
        """Return instances of the project's `Queue[int]`, `Box<Disk>`, without their elements."""
        # Independent of earlier lookups in the file, unlike `may_bind`.
        index = self.project.index(path)
        names = [name for name in generic_names(text) if index.declares(name.partition(".")[0])]
        return tuple(
            Value("inst", *value.ref)
            for name in names
            for value in self.evaluate(name, path, scope)
            if value.tag == "def" and self.project.definition(value.ref).kind in _HOLDERS
        )

    def types_of(self, chain: str, path: str, scope: int = -1, at: int = ANYWHERE) -> list[Ref]:
        """Return the definitions with members that `chain` names, also those exported by a required
        file.
        """
        values = self.named_by_type(chain, path, scope, at)
        return [
            target.ref
            for value in values
            for target in self.exports.commonjs.unwrap_module(value)
            if target.tag == "def" and self.project.definition(target.ref).has_members
        ]
