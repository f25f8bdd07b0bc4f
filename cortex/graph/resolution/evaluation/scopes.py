"""Values of a bare name: from its scope outwards, then in its package (Go's package, …), then from
star imports.
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.expressions.chains import ROOT_MARK
from cortex.graph.facts.facts import (
    BRANCH,
    COMPANION,
    EXPORTED,
    INCLUDED,
    OVERLOAD,
    Binding,
    Definition,
    Import,
)
from cortex.graph.facts.reaching_bindings import ANYWHERE, BindingSite
from cortex.graph.facts.tables import is_hidden
from cortex.graph.resolution.calling.fixtures import fixture_of
from cortex.graph.resolution.evaluation.values import (
    EXTERNAL,
    ChainEvaluator,
    How,
    Recursion,
    Remembering,
    Value,
    Values,
)
from cortex.graph.resolution.modules.builds import of_package
from cortex.graph.resolution.modules.exports import Exports
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.package_names import find_name_space, in_scope, package_object
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.overridden_parameters import overridden_parameter
from cortex.graph.resolution.types.owners import Owners
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import is_test

#: flags of secondary definitions of a name
_SECONDARY_FLAGS = frozenset({OVERLOAD, "setter"})
#: kinds of a script's definitions that are no values
PURE_TYPES = frozenset({"interface", "type"})

#: files of a package, for different systems or builds, in which bindings of one name are read
BUILDS_MAX = 4


class Scopes(Remembering):
    """Lookup of names in a project, with caches. Valid while the project does not change.

    `meanings` evaluates the values of bindings.
    """

    def __init__(self, project: Project, meanings: ChainEvaluator, recursion: Recursion) -> None:
        self.project, self._meanings, self._recursion = project, meanings, recursion
        #: (file, `_visible_scope`, name, `is_in_group`) → values of a name that no binding has
        self._foreign: dict[tuple[str, int, str, bool], tuple[Values, How]] = {}
        self._visible_scopes: dict[tuple[str, int], int] = {}
        self._name_spaces: dict[str, tuple[str, ...]] = {}
        #: folder → the modules that the tests below it include, in Ruby
        self._included: dict[str, tuple[Ref, ...]] = {}
        self.exports = Exports(project, meanings, recursion, self)
        self.owners = Owners(project, meanings, self.exports.crates)
        self.memos = (self._foreign, self._visible_scopes, self._name_spaces)

    def lookup(self, name: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Values, How]:
        """Return the values of a bare name in `scope` at byte `at`, and the confidence."""
        if self.project.index(path).may_bind(name) or self.project.rules(path).value_imports:
            return self._search_scopes(name, path, scope, at)
        # The place in the scope does not matter but for Ruby's groups of tests.
        in_group = self.project.rules(path).class_methods and self.is_in_group(path, scope, at)
        key = (path, self._visible_scope(path, scope), name, in_group)
        cached = self._foreign.get(key)
        if cached is None:
            before = self._recursion.begin()
            cached = self._search_scopes(name, path, scope, at)
            if self._recursion.end(before):
                self._foreign[key] = cached
        return cached

    def _visible_scope(self, path: str, scope: int) -> int:
        """Return the innermost scope around a place with names from other files.

        Such names are members of a type, or definitions of other files in a scope of the same name.
        A function alone has none.
        """
        current = self._visible_scopes.get((path, scope))
        if current is None:
            current = scope
            home, rules = self.project.home(path), self.project.rules(path)
            # In other languages it matters if the place is a type, or a method of one.
            if rules.implicit_self and (rules.shared != "project" or home == C_HOME):
                definitions = self.project.index(path).facts.definitions
                while current >= 0 and self._has_nothing_foreign(definitions, current, home):
                    current = definitions[current].parent
            self._visible_scopes[path, scope] = current
        return current

    def _has_nothing_foreign(self, definitions: Sequence[Definition], at: int, home: str) -> bool:
        definition = definitions[at]
        if definition.kind in TYPE_KINDS or definition.parent < 0:
            return False
        return definition.scope == definitions[definition.parent].qualified and not self.project.has_scope(
            home, definition.qualified
        )

    def _search_scopes(self, name: str, path: str, scope: int, at: int) -> tuple[Values, How]:
        index = self.project.index(path)
        facts = index.facts
        rules = index.rules
        if name.startswith(ROOT_MARK):
            if rules.includes:
                outer = find_name_space(self.project, C_HOME, "", name[1:])
                values = in_scope(self.project, C_HOME, "", name[1:], path)
                return values or ((outer,) if outer else ()), "exact"
            return in_scope(self.project, f"{rules.family}:", "", name[1:], path), "exact"
        current, child, around, first = scope, -1, -1, True
        in_type = scope >= 0 and facts.definitions[scope].kind in TYPE_KINDS
        modules = facts.definitions[scope].scope if scope >= 0 and rules.inner_modules else ""
        if not (rules.implicit_self or in_type or modules or index.may_bind(name)):
            return self.beyond(name, path, at, facts.definitions[scope].qualified if scope >= 0 else "")
        while True:
            kind = facts.definitions[current].kind if current >= 0 else ""
            if (
                current < 0
                and modules
                and (inner := self.exports.crates.lookup_inside(name, path, modules)) is not None
            ):
                return inner
            if kind in TYPE_KINDS:
                has_blocks = rules.blocks or rules.file_fields
                if has_blocks and (block_values := self._block_values(name, path, current, at)):
                    return block_values, "exact"
                if rules.implicit_self and facts.definitions[current].name == name:
                    return (
                        Value("def", path, self._class_of(path, current)),
                    ), "exact"  # not its constructor
                if first or rules.implicit_self:
                    members = self._of_its_kind((path, current), name, path, scope)
                    if around >= 0 and rules.class_methods and not name[:1].isupper():
                        members = ()  # of the outer types Ruby sees the constants only
                    elif rules.class_methods and name[:1].islower() and self.is_in_group(path, current, at):
                        members = tuple(value for value in members if value.path == path)  # its own
                    around = current
                    if members and not self._is_constructor(members[0]):
                        return members, "receiver" if rules.implicit_self else "exact"
            else:
                if (local := self.local(name, path, current, at, child)) is not None:
                    return local
                if rules.implicit_self and kind == "method" and facts.definitions[current].parent < 0:
                    owner = self.owners.of(path, current)
                    if owner is not None and self.project.definition(owner).name == name:
                        return (Value("def", *owner),), "exact"
                    members = self._meanings.member(owner, name) if owner is not None else ()
                    if members and not self._is_constructor(members[0]):
                        return members, "receiver"
            if current < 0:
                break
            first = False
            child, current = current, index.outer(current)
        return self.beyond(name, path, at, facts.definitions[scope].qualified if scope >= 0 else "")

    def types_named(self, name: str, path: str, scope: int) -> Values:
        """Return the types or modules that `name` means as the first name of a type in `scope`.

        Members, variables and parameters of that name do not hide them.
        """
        index = self.project.index(path)
        definitions = index.facts.definitions
        current, first = scope, True
        while True:
            definition = definitions[current] if current >= 0 else None
            if definition is not None and (bound := self._bound_of(name, path, current)) is not None:
                return self._binding_values(bound, path)
            if definition is None or definition.kind not in TYPE_KINDS:
                values = self._types_in(name, path, current)
            elif index.rules.implicit_self and definition.name == name:
                values = (Value("def", path, self._class_of(path, current)),)
            elif first or index.rules.implicit_self:
                values = self._of_types(self._meanings.member((path, current), name))
            else:
                values = ()
            if values:
                return values
            if current < 0:
                break
            current, first = index.outer(current), False
        inside = definitions[scope].qualified if scope >= 0 else ""
        return self._of_types(self.beyond(name, path, ANYWHERE, inside)[0]) or self._of_types(
            self.beyond(name, path, ANYWHERE)[0]
        )

    def _bound_of(self, name: str, path: str, scope: int) -> Binding | None:
        """Return the binding of a type parameter to its bound: it begins with its definition."""
        definition = self.project.index(path).facts.definitions[scope]
        if definition.kind in TYPE_KINDS:
            places: Sequence[BindingSite] = (
                self.project.index(path).fields.get(definition.qualified, {}).get(name, ())
            )
        else:
            places = self.project.index(path).places(scope, name)
        bound = (site for site in places if isinstance(site, Binding) and site.at == definition.begin)
        return next(bound, None)

    def _types_in(self, name: str, path: str, scope: int) -> Values:
        """Return the types of that name that one scope defines or imports."""
        definitions = self.project.index(path).facts.definitions
        candidates = self.project.index(path).places(scope, name)
        places = [
            place
            for place in candidates
            if isinstance(place, Import) or (isinstance(place, int) and definitions[place].kind in TYPE_KINDS)
        ]
        return self._of_types(self._latest_meaning(name, path, scope, places, places)[0]) if places else ()

    def _of_types(self, values: Values) -> Values:
        return tuple(
            value
            for value in values
            if value.tag == "mod"
            or (value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS)
        )

    def _of_its_kind(self, owner: Ref, name: str, path: str, scope: int) -> Values:
        """Return the members of a type around a place: in Ruby those that the object there has, a
        class or an instance.
        """
        if not self.project.rules(path).class_methods:
            return self._meanings.member(owner, name)
        around = self.project.index(path).facts.definitions[scope]
        static = around.kind in TYPE_KINDS or "static" in around.flags
        members = self._meanings.member_of_kind(owner, name, static=static)
        return members or (self._meanings.member(owner, name) if static else ())  # of a block: `test { … }`

    def of_kind(self, values: Values, *, static: bool) -> Values:
        """Return the methods that are, or are not, class methods (`static`); all if none is."""
        matching = (v for v in values if v.tag != "def" or static == self.is_static(v.ref))
        return tuple(matching) or values

    def is_in_group(self, path: str, scope: int, at: int) -> bool:
        """Return True in RSpec's `describe Disk do … end`: `self` is no module around it there."""
        places = self.project.index(path).places(scope, "described_class")
        return any(isinstance(place, Binding) and place.at <= at < place.until for place in places)

    def _is_constructor(self, value: Value) -> bool:
        return value.tag == "def" and self.project.definition(value.ref).is_constructor

    def is_static(self, ref: Ref) -> bool:
        """Return True for a method of a class itself."""
        return "static" in self.project.definition(ref).flags

    def local(self, name: str, path: str, scope: int, at: int, child: int = -1) -> tuple[Values, How] | None:
        """Return the latest binding, definition or import of `name` in one scope, None without one.

        With `child`, as that definition of the scope sees it.
        """
        index = self.project.index(path)
        candidates = index.places(scope, name)
        if not candidates:
            return None
        meanings = index.meanings(scope, name)
        begin = index.facts.definitions[child].begin if child >= 0 else -1
        places = (meanings.around(begin) if child >= 0 else meanings.at(at)).places
        if not places:
            return None
        if len(places) > 1 and (types := self._types_among(path, places)):
            others = tuple(place for place in places if place not in types)
            values, how = self._latest_meaning(name, path, scope, others, candidates)
            return (*values, *(Value("def", path, at) for at in types)), how
        return self._latest_meaning(name, path, scope, places, candidates)

    def _block_values(self, name: str, path: str, scope: int, at: int) -> Values:
        """Return the values of a name bound in a block within a field's value."""
        for place in reversed(self.project.index(path).places(scope, name)):
            if isinstance(place, Binding) and place.at <= at < place.until:
                return self._binding_values(place, path)
        return ()

    def _types_among(self, path: str, places: Sequence[BindingSite]) -> list[int]:
        """Return a script's type and name space of a name that a value has too: their uses
        differ.
        """
        if not self._is_script(path):
            return []
        definitions = self.project.index(path).facts.definitions
        types = [at for at in places if isinstance(at, int) and definitions[at].kind in PURE_TYPES]
        spaces = [at for at in places if isinstance(at, int) and definitions[at].kind == "module"]
        twins = [*types[-1:], *spaces[-1:]]
        return twins if len(types) + len(spaces) < len(places) else []

    def _latest_meaning(
        self,
        name: str,
        path: str,
        scope: int,
        places: Sequence[BindingSite],
        candidates: Sequence[BindingSite],
    ) -> tuple[Values, How]:
        """Return the values of the latest of `places`."""
        definitions = self.project.index(path).facts.definitions
        if scope < 0 and len(places) > 1:  # `try: import x; except ImportError: x = None`
            informative = [
                place for place in places if not (isinstance(place, Binding) and place.value in "#?")
            ]
            informative = [
                place for place in informative if not (isinstance(place, Import) and place.rare)
            ] or informative
            inner = [
                place
                for place in informative
                if not (isinstance(place, Import) and self._is_outside(place, path))
            ]
            places = inner or informative or places
        last = places[-1]
        if isinstance(last, Import):
            if last.rare and (values := self.exports.star_imported(name, path, last.at)):
                return values, "import"
            values = self.exports.imported(last, path)
            if not values and self.project.rules(path).macro_mark:  # a macro hides no type of its name
                values = self.exports.star_imported(name, path, last.at)
            return values, "import"
        if (holder := self.project.index(path).holder(scope, name, places)) >= 0:
            return (Value("def", path, holder),), "exact"
        if isinstance(last, Binding):
            if last.value == "?" and scope >= 0 and (fallback := self._parameter_values(name, path, scope)):
                return fallback, "exact"
            return (
                *self._binding_values(last, path),
                *self._script_constant(path, scope, name, last),
            ), "exact"
        if definitions[last].kind == "constant":
            bound = [place for place in candidates if isinstance(place, Binding)]
            values = self._binding_values(bound[-1], path) if bound else ()
            return (*values, *self._script_constant(path, scope, name)), "exact"
        same = [child for child in places if isinstance(child, int) and definitions[child].kind != "constant"]
        return tuple(Value("def", path, child) for child in self.overloads(path, same)), "exact"

    def _parameter_values(self, name: str, path: str, scope: int) -> Values:
        """Return the values of a Python parameter without a type."""
        if not self.project.rules(path).untyped_parameters:
            return ()
        if ref := fixture_of(self.project, name, path, scope):
            return self._meanings.called(Value("def", *ref))
        owner = self.owners.of(path, scope)
        return overridden_parameter(self.project, self._meanings, owner, (name, path, scope))

    def _is_outside(self, statement: Import, path: str) -> bool:
        """Return True for an import of an external name: Python's `from _fast import f` after a
        `def f` in the module itself.
        """
        return self.project.rules(path).optional_imports and self.exports.imported(statement, path) == (
            EXTERNAL,
        )

    def _is_script(self, path: str) -> bool:
        return self.project.rules(path).erased_types

    def _script_constant(self, path: str, scope: int, name: str, last: BindingSite | None = None) -> Values:
        """Return a script's constant besides its value, `const isText = typeOf("text")`: a target
        for calls.
        """
        index = self.project.index(path)
        if not index.rules.constants_with_values:
            return ()
        definitions = index.facts.definitions
        constants = (at for at in index.children.get((scope, name), ()) if definitions[at].kind == "constant")
        return tuple(Value("def", path, at) for at in constants if not is_hidden(definitions[at], last))[:1]

    def overloads(self, path: str, indices: list[int]) -> list[int]:
        """Return the definitions of one name that can be meant: the last, if a later one replaces
        earlier ones.
        """
        definitions = self.project.index(path).facts.definitions
        if self.project.rules(path).last_definition:
            # TypeScript's name space may have a function's name.
            spaces = [index for index in indices if definitions[index].kind == "module"][-1:]
            others = [index for index in indices if definitions[index].kind != "module"]
            primary = [
                index for index in others if not _SECONDARY_FLAGS.intersection(definitions[index].flags)
            ]
            last = (primary or others)[-1:]
            if last and definitions[last[0]].kind == "method" and self._is_script(path):
                # a class method and an instance method
                written = [at for at in primary if self._is_written_in_type(path, definitions[at])]
                primary, last = written or primary, written[-1:] or last  # before `this.save = …`
                is_static = "static" in definitions[last[0]].flags
                other = [index for index in primary if ("static" in definitions[index].flags) != is_static]
                return [*spaces, *other[-1:], *last]
            if last and BRANCH in definitions[last[0]].flags:  # `if TYPE_CHECKING: … else: …`
                return [index for index in primary if BRANCH in definitions[index].flags] or last
            return [*spaces, *last]
        if self.project.rules(path).companions:
            return [index for index in indices if COMPANION not in definitions[index].flags] or indices
        return indices

    def _is_written_in_type(self, path: str, definition: Definition) -> bool:
        return (
            definition.parent >= 0
            and self.project.index(path).facts.definitions[definition.parent].kind in TYPE_KINDS
        )

    def _class_of(self, path: str, at: int) -> int:
        """Return the companion class of an object; `at` for other definitions."""
        index = self.project.index(path)
        definition = index.facts.definitions[at]
        if COMPANION not in definition.flags:
            return at
        return self.overloads(path, index.children.get((definition.parent, definition.name), [at]))[0]

    def _binding_values(self, binding: Binding, path: str) -> Values:
        if binding.value == "?":
            return ()
        value = binding.value
        at = binding.at - 1 if value.partition(".")[0].partition("(")[0] == binding.name else binding.at
        if binding.until and self.project.language(path).syntax.hoisted:  # it begins with the block
            at = binding.until - 1 if self.project.rules(path).file_fields else ANYWHERE
        return self._meanings.evaluate(value, path, binding.scope, at)

    def beyond(self, name: str, path: str, at: int, inside: str = "") -> tuple[Values, How]:
        """Return names of the whole package (of the scopes around `inside` first), then of star
        imports.
        """
        project = self.project
        home = project.home(path)
        rules = project.rules(path)
        scopes = [inside] if home != path or (inside and name in project.index(path).names) else []
        while scopes and scopes[-1]:
            scopes.append(scopes[-1].rpartition(".")[0])
        if rules.name_spaces and not inside:
            scopes += self._name_spaces_in(path)
        for scope in scopes:
            if scope and not rules.implicit_self and self._is_type(home, scope, path):
                continue  # `floor()` in a Python method is no method of its class
            if scope and rules.class_methods and not name[:1].isupper():
                continue  # Ruby's are members, which were looked up
            values = in_scope(project, home, scope, name, path)
            if not scope and rules.whole_exports:  # `exports.x = …` binds no name
                values = tuple(v for v in values if EXPORTED not in project.definition(v.ref).flags)
            if values:
                return values, "exact"
        if home != path and (home_values := self._home_values(name, path, home, inside)) is not None:
            return home_values, "exact"
        if rules.inner_modules and (key := project.find_module(name, path)):
            # An inline module may not exist.
            values = self.exports.star_imported(name, path, at) if "|" in key else ()
            return values or (Value("mod", key),), "import"
        if rules.file_fields and (values := self._of_included_modules(name, path, home)):
            return values, "import"
        values = self.exports.star_imported(name, path, at)
        if not values and rules.outer_packages == "last":
            return self._outer_package_values(name, path, home), "exact"
        return values, "import" if values else "exact"

    def _name_spaces_in(self, path: str) -> tuple[str, ...]:
        """Return the name spaces that a file of C++ opens, inner ones first: a variable of the file
        and its value, `Disk disk = make();`, are in one of them.
        """
        spaces = self._name_spaces.get(path)
        if spaces is None:
            definitions = self.project.index(path).facts.definitions
            opened = {definition.scope for definition in definitions if definition.parent < 0}
            for scope in [*opened]:
                while scope := scope.rpartition(".")[0]:
                    opened.add(scope)
            spaces = tuple(
                scope
                for scope in sorted(opened - {""}, key=lambda scope: (-scope.count("."), scope))
                if not self._is_type(C_HOME, scope, path)
            )
            self._name_spaces[path] = spaces
        return spaces

    def _of_included_modules(self, name: str, path: str, home: str) -> Values:
        """Return the members of Ruby's modules that a file includes outside of all types, or, for a
        test, that another one below the same top folder, such as a helper, includes.
        """
        including = self.project.tops_of(home, INCLUDED)
        is_including = (-1, INCLUDED) in self.project.index(path).top_bindings
        if not (including or is_including):
            return ()
        top = path.partition("/")[0] if is_test(path) else ""
        modules = self._modules_of([path] if is_including else (), path)
        below = self._included.get(top) if top else ()
        if below is None:
            before = self._recursion.begin()
            files = [file for file in including if file.partition("/")[0] == top and is_test(file)]
            below = self._modules_of(files)
            if self._recursion.end(before):
                self._included[top] = below
        for module in dict.fromkeys((*modules, *below)):
            if members := self._meanings.member_of_kind(module, name, static=False):
                return members
        return ()

    def _modules_of(self, files: Sequence[str], inside: str = "") -> tuple[Ref, ...]:
        """Return the modules that `files` include outside of all types; those in a test's block are
        included `inside` its file alone.
        """
        values = (
            value
            for file in files
            for binding in self.project.index(file).top_bindings[-1, INCLUDED]
            if not binding.until or file == inside
            for value in self._meanings.evaluate(binding.value, file, -1)
        )
        modules = (value.ref for value in values if value.tag == "def")
        return tuple(dict.fromkeys(ref for ref in modules if self.project.definition(ref).has_members))

    def _is_type(self, home: str, scope: str, path: str) -> bool:
        if self.project.rules(path).inner_modules:
            return self.exports.crates.is_type(path, scope)
        return any(self.project.types_named(home, scope))

    def _outer_package_values(self, name: str, path: str, home: str) -> Values:
        """Return the values of a name in outer packages, nearest first; in Scala also in package
        objects.
        """
        family, _, outer = home.partition(":")
        while outer:
            if family in self.project.package_objects:
                for ref in package_object(self.project, f"{family}:{outer}"):
                    if values := self._meanings.member(ref, name):
                        return values
            outer = outer.rpartition(".")[0]
            if values := in_scope(self.project, f"{family}:{outer}", "", name, path):
                return values
        return ()

    def _home_values(self, name: str, path: str, home: str, inside: str) -> Values | None:
        """Return the values of a name that no scope of a shared package defines, None without any.

        They come from outer name spaces (for PHP's functions the global one), from the name space
        of that name, or from bindings in other files.
        """
        project, rules = self.project, self.project.rules(path)
        if rules.outer_packages == "first" and (values := self._outer_package_values(name, path, home)):
            return values
        if home == C_HOME and (name_space := find_name_space(project, home, inside, name)):
            return (name_space,)
        others = [other for other in project.tops_of(home, name) if other != path]
        if rules.file_fields and not name[:1].isupper():
            others = []  # a local variable of Ruby's script
        if rules.conditional_files:
            others = of_package(project, others, path)
        if others:  # several of Go's are for different builds
            paths = others[:BUILDS_MAX] if rules.conditional_files else others[:1]
            groups = (
                [binding for binding in project.index(other_path).top_bindings[-1, name] if not binding.until]
                for other_path in paths
            )
            bound = (
                self._binding_values(bindings[-1], other_path)
                for bindings, other_path in zip(groups, paths, strict=True)
            )
            return tuple(dict.fromkeys(value for values in bound for value in values))
        name_space = find_name_space(project, home, inside, name) if rules.shared == "project" else None
        return (name_space,) if name_space else None
