"""What a bare name stands for where it is written: in its scopes outwards, then what the home
shares (Go's package, …), then what imports of everything bring.
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.blocks import BLOCKS
from cortex.graph.facts.chains import WHOLE_NAME
from cortex.graph.facts.facts import BRANCH, COMPANION, EXPORTED, Binding, Definition, Import
from cortex.graph.facts.grammars import RULES, SYNTAX
from cortex.graph.facts.reaching_bindings import ANYWHERE, Place
from cortex.graph.facts.tables import is_hidden
from cortex.graph.resolution.builds import of_package
from cortex.graph.resolution.commonjs import Meanings
from cortex.graph.resolution.exports import Exports
from cortex.graph.resolution.fixtures import fixture_of
from cortex.graph.resolution.includes import C_HOME
from cortex.graph.resolution.overridden_parameters import overridden_parameter
from cortex.graph.resolution.owners import Owners
from cortex.graph.resolution.package_names import in_scope, space
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.scala import package_object
from cortex.graph.resolution.values import EXTERNAL, How, Recursion, Value
from cortex.terms.kinds import TYPE_KINDS

#: flags of what stands beside the definition of its name that is meant
_BESIDE = frozenset({"overload", "setter"})
#: kinds of a script's definitions that are no values
PURE_TYPES = frozenset({"interface", "type"})

#: files of a package that bind one name, each for another system or build, that are looked at
BUILDS_MAX = 4


class Scopes:
    """Names of a project that does not change while this lives. What they lead to, `meanings` finds
    out.
    """

    def __init__(self, project: Project, meanings: Meanings, recursion: Recursion) -> None:
        self.project = project
        self._meanings = meanings
        self._recursion = recursion
        #: (file, `_seen_from`, name) → what a name is that has no place in the file
        self._foreign: dict[tuple[str, int, str], tuple[tuple[Value, ...], How]] = {}
        self._seen: dict[tuple[str, int], int] = {}
        self.exports = Exports(project, meanings, recursion, self)
        self.owners = Owners(project, meanings, self.exports.crates)

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if len(self._foreign) > memo_max:
            self._foreign.clear()
        if len(self._seen) > memo_max:
            self._seen.clear()

    def lookup(self, name: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[tuple[Value, ...], How]:
        """What a bare name stands for in `scope` at byte `at`, and how that is known."""
        if self.project.index(path).may_know(name) or self.project.language(path) == "scala":
            return self._looked_up(name, path, scope, at)
        key = (path, self._seen_from(path, scope), name)  # wherever in the scope it stands
        known = self._foreign.get(key)
        if known is None:
            before = self._recursion.begin()
            known = self._looked_up(name, path, scope, at)
            if self._recursion.end(before):
                self._foreign[key] = known
        return known

    def _seen_from(self, path: str, scope: int) -> int:
        """The innermost scope around a place in which names mean something that have no place in
        the file: the members of a type, what others define in a scope of that name. Functions have
        nothing of this, one by one.
        """
        known = self._seen.get((path, scope))
        if known is None:
            known = scope
            language, home = self.project.language(path), self.project.home(path)
            rules = RULES[language]
            # Elsewhere it counts whether the place itself is a type, or a type's own method.
            if rules.implicit_self and language != "ruby" and (rules.shared != "project" or home == C_HOME):
                definitions = self.project.index(path).facts.definitions
                while known >= 0 and self._has_nothing_foreign(definitions, known, home):
                    known = definitions[known].parent
            self._seen[path, scope] = known
        return known

    def _has_nothing_foreign(self, definitions: Sequence[Definition], at: int, home: str) -> bool:
        one = definitions[at]
        if one.kind in TYPE_KINDS or one.parent < 0:
            return False
        return one.scope == definitions[one.parent].qualified and not self.project.has_scope(
            home, one.qualified
        )

    def _looked_up(self, name: str, path: str, scope: int, at: int) -> tuple[tuple[Value, ...], How]:
        index = self.project.index(path)
        facts = index.facts
        rules = RULES[facts.language]
        if name.startswith(WHOLE_NAME) and rules.family == "c":
            outer = space(self.project, C_HOME, "", name[1:])
            return in_scope(self.project, C_HOME, "", name[1:], path) or ((outer,) if outer else ()), "exact"
        if name.startswith(WHOLE_NAME):
            return in_scope(self.project, f"{rules.family}:", "", name[1:], path), "exact"
        here, child, first = scope, -1, True
        in_type = scope >= 0 and facts.definitions[scope].kind in TYPE_KINDS
        modules = facts.definitions[scope].scope if scope >= 0 and facts.language == "rust" else ""
        if not (rules.implicit_self or in_type or modules or index.may_know(name)):
            return self.beyond(name, path, at, facts.definitions[scope].qualified if scope >= 0 else "")
        while True:
            kind = facts.definitions[here].kind if here >= 0 else ""
            if (
                here < 0
                and modules
                and (inner := self.exports.crates.inside(name, path, modules)) is not None
            ):
                return inner
            if kind in TYPE_KINDS:
                if facts.language in BLOCKS and (held := self._in_block(name, path, here, at)):
                    return held, "exact"
                if rules.implicit_self and facts.definitions[here].name == name:
                    return (Value("def", path, self._class_of(path, here)),), "exact"  # not its constructor
                if first or rules.implicit_self:
                    found = self._of_its_kind(self._meanings.member((path, here), name), path, scope)
                    if found and not self._makes(found[0]):
                        return found, "receiver" if rules.implicit_self else "exact"
            else:
                local = self.local(name, path, here, at, child)
                if local is not None:
                    return local
                if rules.implicit_self and kind == "method" and facts.definitions[here].parent < 0:
                    owner = self.owners.of(path, here)
                    if owner is not None and self.project.definition(owner).name == name:
                        return (Value("def", *owner),), "exact"
                    found = self._meanings.member(owner, name) if owner is not None else ()
                    if found and not self._makes(found[0]):
                        return found, "receiver"
            if here < 0:
                break
            first = False
            child, here = here, index.outer(here)
        return self.beyond(name, path, at, facts.definitions[scope].qualified if scope >= 0 else "")

    def _of_its_kind(self, values: tuple[Value, ...], path: str, scope: int) -> tuple[Value, ...]:
        """Ruby: of a class's own methods and those of its instances, of one name, the kind that the
        method around the place is of.
        """
        if len(values) < 2 or self.project.language(path) != "ruby":
            return values
        return self.of_kind(
            values, static="static" in self.project.index(path).facts.definitions[scope].flags
        )

    def of_kind(self, values: tuple[Value, ...], *, static: bool) -> tuple[Value, ...]:
        """Those of Ruby's methods that are, or are not, of the class itself; all where none is."""
        kept = (v for v in values if v.tag != "def" or static == self._is_static(v.ref))
        return tuple(kept) or values

    def _makes(self, value: Value) -> bool:
        return value.tag == "def" and self.project.definition(value.ref).is_constructor

    def _is_static(self, ref: Ref) -> bool:
        return "static" in self.project.definition(ref).flags

    def local(
        self, name: str, path: str, scope: int, at: int, child: int = -1
    ) -> tuple[tuple[Value, ...], How] | None:
        """The latest of the bindings, definitions and imports of `name` in one scope, as its
        definition `child` sees it where that is asked for; None when there is none.
        """
        index = self.project.index(path)
        held = index.places(scope, name)
        if not held:
            return None
        meanings = index.meanings(scope, name)
        begin = index.facts.definitions[child].begin if child >= 0 else -1
        places = (meanings.around(begin) if child >= 0 else meanings.at(at)).places
        if not places:
            return None
        if len(places) > 1 and (types := self._types_among(path, places)):
            rest = tuple(place for place in places if place not in types)
            found, how = self._meant(name, path, scope, rest, held)
            return (*found, *(Value("def", path, at) for at in types)), how
        return self._meant(name, path, scope, places, held)

    def _in_block(self, name: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        """What a name is bound to in a block that a type's field is given."""
        for one in reversed(self.project.index(path).places(scope, name)):
            if isinstance(one, Binding) and one.at <= at < one.until:
                return self._bound(one, path)
        return ()

    def _types_among(self, path: str, places: Sequence[Place]) -> list[int]:
        """A script's type and name space of one name when a value has it too: each is meant in
        its own place.
        """
        if not self._is_script(path):
            return []
        definitions = self.project.index(path).facts.definitions
        types = [at for at in places if isinstance(at, int) and definitions[at].kind in PURE_TYPES]
        spaces = [at for at in places if isinstance(at, int) and definitions[at].kind == "module"]
        beside = [*types[-1:], *spaces[-1:]]
        return beside if len(types) + len(spaces) < len(places) else []

    def _meant(
        self, name: str, path: str, scope: int, places: Sequence[Place], held: Sequence[Place]
    ) -> tuple[tuple[Value, ...], How]:
        """The latest of `places`."""
        definitions = self.project.index(path).facts.definitions
        if scope < 0 and len(places) > 1:  # `try: import x; except ImportError: x = None`
            told = [one for one in places if not (isinstance(one, Binding) and one.value in "#?")]
            told = [one for one in told if not (isinstance(one, Import) and one.rare)] or told
            own = [one for one in told if not (isinstance(one, Import) and self._is_outside(one, path))]
            places = own or told or places
        last = places[-1]
        if isinstance(last, Import):
            return (self.exports.starred(name, path, last.at) if last.rare else ()) or self.exports.imported(
                last, path
            ), "import"
        if (holder := self.project.index(path).holder(scope, name, places)) >= 0:
            return (Value("def", path, holder),), "exact"
        if isinstance(last, Binding):
            if last.value == "?" and scope >= 0 and (known := self._parameter(name, path, scope)):
                return known, "exact"
            return (*self._bound(last, path), *self._constant(path, scope, name, last)), "exact"
        if definitions[last].kind == "constant":
            bound = [one for one in held if isinstance(one, Binding)]
            values = self._bound(bound[-1], path) if bound else ()
            return (*values, *self._constant(path, scope, name)), "exact"
        same = [child for child in places if isinstance(child, int) and definitions[child].kind != "constant"]
        return tuple(Value("def", path, child) for child in self.overloads(path, same)), "exact"

    def _parameter(self, name: str, path: str, scope: int) -> tuple[Value, ...]:
        """What a parameter of Python is that has no type."""
        if self.project.language(path) != "python":
            return ()
        if ref := fixture_of(self.project, name, path, scope):
            return self._meanings.called(Value("def", *ref))
        owner = self.owners.of(path, scope)
        return overridden_parameter(self.project, self._meanings, owner, (name, path, scope))

    def _is_outside(self, one: Import, path: str) -> bool:
        """Whether an import gives what is of no file here: Python's `from _fast import f` behind a
        `def f` of the module itself.
        """
        return self.project.language(path) == "python" and self.exports.imported(one, path) == (EXTERNAL,)

    def _is_script(self, path: str) -> bool:
        return RULES[self.project.language(path)].family == "script"

    def _constant(self, path: str, scope: int, name: str, last: Place | None = None) -> tuple[Value, ...]:
        """A script's constant beside what it holds, `const isText = typeOf("text")`: calls of it
        can name it at least.
        """
        index = self.project.index(path)
        if RULES[index.facts.language].family != "script":
            return ()
        definitions = index.facts.definitions
        found = (at for at in index.children.get((scope, name), ()) if definitions[at].kind == "constant")
        return tuple(Value("def", path, at) for at in found if not is_hidden(definitions[at], last))[:1]

    def overloads(self, path: str, indices: list[int]) -> list[int]:
        """Of several definitions of one name those that can be meant: the last where a later one
        replaces the earlier.
        """
        definitions = self.project.index(path).facts.definitions
        if RULES[self.project.language(path)].family in ("python", "script"):
            # TypeScript's name space stands beside a function of its name.
            spaces = [index for index in indices if definitions[index].kind == "module"][-1:]
            others = [index for index in indices if definitions[index].kind != "module"]
            told = [index for index in others if not _BESIDE.intersection(definitions[index].flags)]
            last = (told or others)[-1:]
            if last and definitions[last[0]].kind == "method" and self._is_script(path):
                # a class's own beside one of its instances
                written = [at for at in told if self._is_written_in_type(path, definitions[at])]
                told, last = written or told, written[-1:] or last  # before `this.save = …`
                own = "static" in definitions[last[0]].flags
                other = [index for index in told if ("static" in definitions[index].flags) != own]
                return [*spaces, *other[-1:], *last]
            if last and BRANCH in definitions[last[0]].flags:  # `if TYPE_CHECKING: … else: …`
                return [index for index in told if BRANCH in definitions[index].flags] or last
            return [*spaces, *last]
        if self.project.language(path) == "scala":
            return [index for index in indices if COMPANION not in definitions[index].flags] or indices
        return indices

    def _is_written_in_type(self, path: str, one: Definition) -> bool:
        return one.parent >= 0 and self.project.index(path).facts.definitions[one.parent].kind in TYPE_KINDS

    def _class_of(self, path: str, at: int) -> int:
        """The class beside an object of its name; `at` for anything else."""
        index = self.project.index(path)
        one = index.facts.definitions[at]
        if COMPANION not in one.flags:
            return at
        return self.overloads(path, index.children.get((one.parent, one.name), [at]))[0]

    def _bound(self, binding: Binding, path: str) -> tuple[Value, ...]:
        if binding.value == "?":
            return ()
        value = binding.value
        at = binding.at - 1 if value.partition(".")[0].partition("(")[0] == binding.name else binding.at
        if binding.until and SYNTAX[self.project.language(path)].hoisted:
            at = ANYWHERE  # it says where the block begins
        return self._meanings.evaluate(value, path, binding.scope, at)

    def beyond(self, name: str, path: str, at: int, inside: str = "") -> tuple[tuple[Value, ...], How]:
        """Names of the whole home (of the scopes around `inside` first), then what star imports
        bring.
        """
        project = self.project
        home = project.home(path)
        rules = RULES[project.language(path)]
        scopes = [inside] if home != path or (inside and name in project.index(path).names) else []
        while scopes and scopes[-1]:
            scopes.append(scopes[-1].rpartition(".")[0])
        for scope in scopes:
            if scope and not rules.implicit_self and self._is_type(home, scope, path):
                continue  # `floor()` in a method of Python is no other method of its class
            values = in_scope(project, home, scope, name, path)
            if not scope and rules.family == "script":  # `exports.x = …` makes no name
                values = tuple(v for v in values if EXPORTED not in project.definition(v.ref).flags)
            if values:
                return values, "exact"
        if home != path and (known := self._of_home(name, path, home, inside)) is not None:
            return known, "exact"
        if rules.family == "rust" and (key := project.find_module(name, path)):
            # One inside this file may be there or not.
            values = self.exports.starred(name, path, at) if "|" in key else ()
            return values or (Value("mod", key),), "import"
        values = self.exports.starred(name, path, at)
        if not values and self.project.language(path) == "scala":
            return self._around(name, path, home), "exact"
        return values, "import" if values else "exact"

    def _is_type(self, home: str, scope: str, path: str) -> bool:
        if self.project.language(path) == "rust":
            return self.exports.crates.is_type(path, scope)
        return any(self.project.types_named(home, scope))

    def _around(self, name: str, path: str, home: str) -> tuple[Value, ...]:
        """What the packages around a file's have by a name, the nearest first, in Scala also by
        their own objects.
        """
        family, _, outer = home.partition(":")
        while outer:
            if family == "jvm":
                for ref in package_object(self.project, f"{family}:{outer}"):
                    if values := self._meanings.member(ref, name):
                        return values
            outer = outer.rpartition(".")[0]
            if values := in_scope(self.project, f"{family}:{outer}", "", name, path):
                return values
        return ()

    def _of_home(self, name: str, path: str, home: str, inside: str) -> tuple[Value, ...] | None:
        """What a name is that the scopes of a shared home do not define: of the name spaces around
        this one (of PHP's functions the global one), a name space itself, or bound in another file;
        None when it is nothing there.
        """
        project, rules = self.project, RULES[self.project.language(path)]
        if rules.family in ("csharp", "php") and (values := self._around(name, path, home)):
            return values
        if home == C_HOME and (named := space(project, home, inside, name)):
            return (named,)
        others = [other for other in project.tops_of(home, name) if other != path]
        if rules.family == "go":
            others = of_package(project, others, path)
        if others:  # of Go's several, each is for another build
            kept = others[:BUILDS_MAX] if rules.family == "go" else others[:1]
            held = ([b for b in project.index(one).tops[-1, name] if not b.until] for one in kept)
            bound = (self._bound(some[-1], one) for some, one in zip(held, kept, strict=True))
            return tuple(dict.fromkeys(value for values in bound for value in values))
        named = space(project, home, inside, name) if rules.shared == "project" else None
        return (named,) if named else None
