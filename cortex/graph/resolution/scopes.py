"""What a bare name stands for where it is written: in its scopes outwards, then the file's imports
and what they re-export, then what the home shares (Go's package, …).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cortex.graph.facts.blocks import BLOCKS
from cortex.graph.facts.facts import BOUND, BRANCH, COMPANION, OBJECT, Binding, Import
from cortex.graph.facts.grammars import RULES, SYNTAX
from cortex.graph.facts.standing import ANYWHERE, Place
from cortex.graph.facts.tables import is_hidden
from cortex.graph.resolution.commonjs import HOPS_MAX, CommonJs, Meanings
from cortex.graph.resolution.crates import Crates
from cortex.graph.resolution.fixtures import fixture_of
from cortex.graph.resolution.linkage import linked
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import EXTERNAL, How, Recursion, Value
from cortex.terms.kinds import TYPE_KINDS

#: the home of all files of C and C++
C_HOME = "c:"
#: definitions of one name (a function for each system, overloads) that are told apart
TWINS_MAX = 12
#: flags of what stands beside the definition of its name that is meant
_BESIDE = frozenset({"overload", "setter"})
#: kinds of a script's definitions that are no values
PURE_TYPES = frozenset({"interface", "type"})


class Scopes:
    """Names of a project that does not change while this lives. What they lead to, `meanings` finds
    out.
    """

    def __init__(self, project: Project, meanings: Meanings, recursion: Recursion) -> None:
        self.project = project
        self._meanings = meanings
        self._recursion = recursion
        self._exports: dict[tuple[str, str], tuple[Value, ...]] = {}
        #: file → the modules that it imports everything from
        self._stars: dict[str, tuple[str, ...]] = {}
        #: (file, name) → what these bring by that name
        self._brought: dict[tuple[str, str], tuple[Value, ...]] = {}
        #: (file, scope, name) → what a name is that has no place in the file
        self._foreign: dict[tuple[str, int, str], tuple[tuple[Value, ...], How]] = {}
        self.commonjs = CommonJs(project, meanings, recursion)
        self.crates = Crates(project, meanings, self)

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        memos: tuple[dict[Any, Any], ...] = (self._exports, self._stars, self._brought, self._foreign)
        for memo in memos:
            if len(memo) > memo_max:
                memo.clear()
        self.commonjs.relax(memo_max)

    def receiver(self, name: str, path: str, scope: int) -> Value | None:
        """The value of `self`, `this`, `cls`, `super` in `scope`; None when `name` is none of
        them.
        """
        index = self.project.index(path)
        facts = index.facts
        rules = RULES[facts.language]
        is_super = name in rules.super_names
        may_be = name in (index.firsts if facts.language == "python" else rules.self_names)
        if not (may_be or is_super or name in rules.type_names or name == "new"):
            return None
        if name in rules.type_names or (name == "new" and facts.language == "ruby"):
            enclosing = self.enclosing_type(path, scope)
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
                    owner = self.owner(path, scope)
                    if owner is None:
                        return self.crates.given_self(path, one) if facts.language == "rust" else None
                    static = "classmethod" in one.flags or one.name in ("__new__", "__init_subclass__")
                    static = static or ("static" in one.flags and rules.family in ("script", "ruby"))
                    return Value("super" if is_super else "def" if static else "inst", *owner)
            elif one.has_members and name in rules.self_names:
                return Value("inst", path, scope)
            scope = one.parent
        return None

    def _declared_this(self, held: Place, path: str, scope: int) -> Value | None:
        """TypeScript's parameter `this: Disk`."""
        value = held.value if isinstance(held, Binding) else "?"
        return next(iter(self._meanings.evaluate(value, path, scope)), None)

    def owner(self, path: str, index: int) -> Ref | None:
        """The type that a method belongs to."""
        one = self.project.index(path).facts.definitions[index]
        if one.parent >= 0:
            outer = self.project.index(path).facts.definitions[one.parent]
            if outer.kind in TYPE_KINDS:
                return (path, one.parent)
            if one.kind != "method":
                return None
        if not one.scope:
            return None
        for ref in self.project.types_named(self.project.home(path), one.scope):
            return ref
        for value in self._meanings.evaluate(one.scope, path, index if BOUND in "".join(one.flags) else -1):
            if value.tag == "inst":  # what the type parameter has to be
                return value.ref
            if value.tag == "def" and self.project.definition(value.ref).has_members:
                return value.ref
        return None

    def lookup(self, name: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[tuple[Value, ...], How]:
        """What a bare name stands for in `scope` at byte `at`, and how that is known."""
        if self.project.index(path).may_know(name) or self.project.language(path) == "scala":
            return self._looked_up(name, path, scope, at)
        key = (path, scope, name)  # wherever in the scope it stands
        known = self._foreign.get(key)
        if known is None:
            cuts = self._recursion.cuts
            known = self._looked_up(name, path, scope, at)
            if self._recursion.cuts == cuts:
                self._foreign[key] = known
        return known

    def _looked_up(self, name: str, path: str, scope: int, at: int) -> tuple[tuple[Value, ...], How]:
        index = self.project.index(path)
        facts = index.facts
        rules = RULES[facts.language]
        if name.startswith("\\"):
            return self.in_scope(f"{rules.family}:", "", name[1:], path), "exact"
        here, child, first = scope, -1, True
        in_type = scope >= 0 and facts.definitions[scope].kind in TYPE_KINDS
        modules = facts.definitions[scope].scope if scope >= 0 and facts.language == "rust" else ""
        if not (rules.implicit_self or in_type or modules or index.may_know(name)):
            return self._beyond(name, path, at, facts.definitions[scope].qualified if scope >= 0 else "")
        while True:
            kind = facts.definitions[here].kind if here >= 0 else ""
            if here < 0 and modules and (inner := self.crates.inside(name, path, modules)) is not None:
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
                local = self._local(name, path, here, at, child)
                if local is not None:
                    return local
                if rules.implicit_self and kind == "method" and facts.definitions[here].parent < 0:
                    owner = self.owner(path, here)
                    if owner is not None and self.project.definition(owner).name == name:
                        return (Value("def", *owner),), "exact"
                    found = self._meanings.member(owner, name) if owner is not None else ()
                    if found and not self._makes(found[0]):
                        return found, "receiver"
            if here < 0:
                break
            first = False
            child, here = here, facts.definitions[here].parent
        return self._beyond(name, path, at, facts.definitions[scope].qualified if scope >= 0 else "")

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

    def _local(
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
            return (self._starred(name, path, last.at) if last.rare else ()) or self.imported(
                last, path
            ), "import"
        if (holder := self.project.index(path).holder(scope, name, places)) >= 0:
            return (Value("def", path, holder),), "exact"
        if isinstance(last, Binding):
            if last.value == "?" and scope >= 0 and (ref := fixture_of(self.project, name, path, scope)):
                return self._meanings.called(Value("def", *ref)), "exact"
            return (*self._bound(last, path), *self._constant(path, scope, name, last)), "exact"
        if definitions[last].kind == "constant":
            bound = [one for one in held if isinstance(one, Binding)]
            values = self._bound(bound[-1], path) if bound else ()
            return (*values, *self._constant(path, scope, name)), "exact"
        same = [child for child in places if isinstance(child, int) and definitions[child].kind != "constant"]
        return tuple(Value("def", path, child) for child in self.overloads(path, same)), "exact"

    def _is_outside(self, one: Import, path: str) -> bool:
        """Whether an import gives what is of no file here: Python's `from _fast import f` behind a
        `def f` of the module itself.
        """
        return self.project.language(path) == "python" and self.imported(one, path) == (EXTERNAL,)

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
                own = "static" in definitions[last[0]].flags
                other = [index for index in told if ("static" in definitions[index].flags) != own]
                return [*spaces, *other[-1:], *last]
            if last and BRANCH in definitions[last[0]].flags:  # `if TYPE_CHECKING: … else: …`
                return [index for index in told if BRANCH in definitions[index].flags] or last
            return [*spaces, *last]
        if self.project.language(path) == "scala":
            return [index for index in indices if COMPANION not in definitions[index].flags] or indices
        return indices

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

    def _beyond(self, name: str, path: str, at: int, inside: str = "") -> tuple[tuple[Value, ...], How]:
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
            if scope and not rules.implicit_self and any(project.types_named(home, scope)):
                continue  # `floor()` in a method of Python is no other method of its class
            values = self.in_scope(home, scope, name, path)
            if values:
                return values, "exact"
        if home != path:
            if rules.family in (
                "csharp",
                "php",
            ):  # namespaces around this one; PHP's functions of the global one
                outer = home.partition(":")[2]
                while outer:
                    outer = outer.rpartition(".")[0]
                    if values := self.in_scope(f"{rules.family}:{outer}", "", name, path):
                        return values, "exact"
            if home == C_HOME and (space := self._space(home, inside, name)):
                return (space,), "exact"
            for other in project.tops_of(home, name):
                if other != path:
                    return self._bound(project.index(other).tops[-1, name][-1], other), "exact"
        if rules.shared == "project" and (space := self._space(home, inside, name)):
            return (space,), "exact"
        if rules.family == "rust" and (key := project.find_module(name, path)):
            return (Value("mod", key),), "import"
        values = self._starred(name, path, at)
        return values, "import" if values else "exact"

    def _starred(self, name: str, path: str, at: int) -> tuple[Value, ...]:
        """What imports of everything bring by that name; of Scala's, which may be of what others
        bring, those before byte `at`: none is looked for in itself or in a later one.
        """
        if self.project.language(path) == "scala":
            return self._brought_by(name, path) or self._brought_before(name, path, at)
        known = self._brought.get((path, name))
        if known is None:
            cuts = self._recursion.cuts
            known = self._brought_by(name, path)
            if self._recursion.cuts == cuts:
                self._brought[path, name] = known
        return known

    def _brought_before(self, name: str, path: str, at: int) -> tuple[Value, ...]:
        for one in self.project.index(path).stars:
            if one.at < at and (values := self._of_value(one, path, name)):
                return values
        return ()

    def _brought_by(self, name: str, path: str) -> tuple[Value, ...]:
        keys = self._stars.get(path)
        if keys is None:  # most names come by here
            found = [self.project.find_module(one.module, path) for one in self.project.index(path).stars]
            keys = self._stars[path] = tuple(dict.fromkeys(key for key in found if key))
        for key in keys:
            if values := self.exported(key, name):
                return values
        return ()

    def _of_value(self, one: Import, path: str, name: str) -> tuple[Value, ...]:
        """What Scala's import of a value's or an object's members brings, `import disk._`, or of a
        package below this one.
        """
        home = self.project.home(path)
        if home in self.project.homes and (key := self.project.find_module(one.module, path)):
            return self.exported(key, name)
        while "." in home or home[-1] != ":":  # relative to a package around this one
            if found := self.in_scope(f"{home}.{one.module}", "", name, path):
                return found
            family, _, package = home.partition(":")
            home = f"{family}:{package.rpartition('.')[0]}"
        owners = self._meanings.evaluate(one.module, path, one.scope, one.at)
        return tuple(value for owner in owners for value in self._meanings.attribute(owner, name))

    def _space(self, home: str, inside: str, name: str) -> Value | None:
        """The name space of that name, from `inside` outwards."""
        while inside:
            if self.project.has_scope(home, f"{inside}.{name}"):
                return Value("mod", f"@{home}|{inside}.{name}")
            inside = inside.rpartition(".")[0]
        return Value("mod", f"@{home}|{name}") if self.project.has_scope(home, name) else None

    def in_scope(self, home: str, scope: str, name: str, path: str) -> tuple[Value, ...]:
        """Definitions of `name` in one scope of a home; those of the same file where there are any,
        bodies before declarations.
        """
        refs = self.project.members_of(home, scope).get(name)
        if not refs:  # as most names in most scopes
            return ()
        found = [ref for ref in refs if self.project.definition(ref).kind != "constant"]
        if len(found) > 1:  # Scala's class is meant where an object has its name
            found = [ref for ref in found if COMPANION not in self.project.definition(ref).flags] or found
        here = [ref for ref in found if ref[0] == path]
        if not here and path and home == C_HOME:
            found = linked(self.project, found, path)
        return tuple(Value("def", *ref) for ref in self.bodies(here or found))[:TWINS_MAX]

    def bodies(self, refs: list[Ref]) -> list[Ref]:
        """Without the declarations of what is defined as well (C++)."""
        return [ref for ref in refs if "declared" not in self.project.definition(ref).flags] or refs

    def imported(self, one: Import, path: str, hops: int = 0) -> tuple[Value, ...]:
        key = self.project.find_module(one.module, path)
        family = RULES[self.project.language(path)].family
        if not one.member:
            return (Value("mod", key),) if key else (EXTERNAL,)
        if family == "php" and not (key and self.exported(key, one.member, hops)):
            key = self.below("php:", f"{one.module}.{one.member}" if one.module else one.member)
            return (Value("mod", key),) if key else (EXTERNAL,)
        if family == "python" and (not key or key.endswith("/")):  # in another root of the name-space
            inner = self.project.find_module(f"{one.module}.{one.member}", path)
            if inner:
                return (Value("mod", inner),)
        if not key:
            known = self._of_value(one, path, one.member) if self.project.language(path) == "scala" else ()
            return known or (EXTERNAL,)
        found = self.exported(key, one.member, hops)
        if not found and family == "python":
            child = self.project.python.child(key, one.member)
            if child:
                return (Value("mod", child),)
        if not found and family == "rust":
            inner = self.project.find_module(f"{one.module}.{one.member}", path)
            return (Value("mod", inner),) if inner else ()
        return found

    def below(self, home: str, name: str) -> str:
        """PHP: the key of the name space `name` in that of `home`; "" when there is none."""
        inner = f"{home}.{name}" if home.partition(":")[2] else f"{home}{name}"
        return f"@{inner}|" if inner in self.project.homes else ""

    def dotted_import(self, dotted: str, path: str) -> tuple[Value, ...]:
        """`import a.b.c` binds the whole name."""
        found = self.project.index(path).imports.get((-1, dotted))
        if not found:
            return ()
        key = self.project.find_module(found[-1].module, path)
        return (Value("mod", key),) if key else (EXTERNAL,)

    def exported(self, key: str, name: str, hops: int = 0) -> tuple[Value, ...]:
        """What the name of a module stands for, through re-exports."""
        memo = (key, name)
        known = self._exports.get(memo)
        if known is not None:
            return known
        cuts = self._recursion.enter(memo, allowed=hops <= HOPS_MAX)
        if cuts is None:
            return ()
        try:
            found = self._exported(key, name, hops)
            if key in self.project.files and (other := self.project.script.beside(key)):
                more = self._exported(other, name, hops)
                if more and any(one.path != other for one in found):  # each says what is its own
                    found = tuple(one for one in found if one.path != other)
                    more = tuple(one for one in more if one.path != key)
                found = (*found, *(one for one in more if one not in found))
        finally:
            whole = self._recursion.leave(memo, cuts)
        if whole:
            self._exports[memo] = found
        return found

    def given_away(self, key: str, name: str) -> tuple[Value, ...]:
        """What a script exports by a name, and nothing that it only imports by it."""
        index = self.project.index(key.partition("|")[0])
        imports = index.imports.get((-1, name), ())
        if imports and name not in index.facts.exports and not any(one.exported for one in imports):
            return ()
        return self.exported(key, name)

    def _exported(self, key: str, name: str, hops: int) -> tuple[Value, ...]:
        project = self.project
        key, bar, scope = key.partition("|")
        if bar:
            return self._from_scope(key, scope, name)
        if key.endswith("/"):
            paths = project.paths_of(key)
            if not paths:
                child = project.python.child(key, name)
                return (Value("mod", child),) if child else ()
            return (
                self._beyond(name, paths[0], ANYWHERE)[0]
                or (self._local(name, paths[0], -1, ANYWHERE) or ((),))[0]
            )
        if key not in project.files:
            return ()
        facts = project.index(key).facts
        local = facts.exports.get(name, name)
        if local == OBJECT:
            return (Value("mod", key),)
        script = self._is_script(key)
        if script and (own := self.commonjs.given(key, name)):
            return own
        found = self._local(local, key, -1, ANYWHERE)
        if found is not None:
            return found[0]
        if script and (values := self.commonjs.of_whole(key, name)):
            return values
        if RULES[facts.language].family == "python":
            child = project.python.child(key, name)
            if child:
                return (Value("mod", child),)
        if RULES[facts.language].family == "rust":
            child = f"{key}|{name}" if project.has_scope(key, name) else project.rust.child(key, name)
            if child:
                return (Value("mod", child),)
        for star in project.index(key).stars:
            inner = project.find_module(star.module, key)
            if inner and (values := self.exported(inner, name, hops + 1)):
                return values
        return ()

    def _from_scope(self, key: str, scope: str, name: str) -> tuple[Value, ...]:
        """A name of `@home|scope` or `file|scope`."""
        project = self.project
        home = key.removeprefix("@")
        found = self.in_scope(home, scope, name, "")
        if found:
            return found
        inner = f"{scope}.{name}" if scope else name
        if project.has_scope(home, inner):
            return (Value("mod", f"{key}|{inner}"),)
        if home in project.packed and (given := self.crates.re_exported(home, scope, name)):
            return given
        for ref in project.types_named(home, scope) if scope else ():
            if found := self._meanings.member(ref, name):
                return found
        family = home.partition(":")[0]
        if not scope and f"{home}.{name}" in project.homes:
            return (Value("mod", f"@{family}:{home.partition(':')[2]}.{name}|"),)
        return ()

    def enclosing_type(self, path: str, scope: int) -> Ref | None:
        definitions = self.project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                return (path, scope)
            if definitions[scope].kind == "method" and (owner := self.owner(path, scope)) is not None:
                return owner
            scope = definitions[scope].parent
        return None
