"""What a chain may stand for: definitions, instances of types, modules. Honest: nothing when syntax alone cannot tell.

Order of looking a name up: same scope outwards, then the file's imports, then what the home shares (Go's package, …).
The type of a receiver comes from `self`, declared types of parameters, fields and results, and from assignments whose
value has an evident type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from cortex.graph.facts import CALLABLE_KINDS, OBJECT, TYPE_KINDS, Binding, Definition, Import
from cortex.graph.grammars import RULES
from cortex.graph.project import Project, Ref
from cortex.graph.tables import Place
from cortex.graph.types import alternatives

#: values that one chain may have; more says nothing
VALUES_MAX = 6
#: evaluations inside one another
DEPTH_MAX = 12
#: answers of each kind that are remembered from file to file: about 20 MB
MEMO_MAX = 60_000
#: imports that are followed through re-exports
HOPS_MAX = 12

_LINK = re.compile(r"\(\)|\[\]|[^.\[\]()]+")
_ANYWHERE = 1 << 60
#: members of a container that are one of its elements when called, and those that are the container again
_ELEMENT_OF = frozenset(
    {
        "get",
        "pop",
        "popleft",
        "popitem",
        "setdefault",
        "at",
        "shift",
        "find",
        "first",
        "last",
        "next",
        "peek",
        "unwrap",
    }
)
_SAME_AS = frozenset(
    {
        "values",
        "Values",
        "copy",
        "filter",
        "slice",
        "iter",
        "iter_mut",
        "stream",
        "sort",
        "reverse",
        "elements",
    }
)
#: families whose names may be written with their whole package anywhere
_QUALIFIED = frozenset({"jvm", "csharp", "php"})
#: of Rust's Option, Result, Rc and the like, which types.py looks through
_UNWRAPS = frozenset(
    {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "unwrap_or_default"}
)
_UNTYPED = frozenset(
    {"Any", "any", "object", "Object", "unknown", "interface", "auto", "var", "T", "K", "V", "U", "E"}
)


class Value(NamedTuple):
    """`def` itself, an instance (`inst`) of a type, a `super` of one, a `mod`ule (`path` its key), a container's `list`
    of instances, an `elem`ent getter of it, or something of another project (`ext`).
    """

    tag: Literal["def", "inst", "super", "mod", "list", "elem", "ext"]
    path: str = ""
    at: int = -1
    depth: int = 0

    @property
    def ref(self) -> Ref:
        return (self.path, self.at)


EXTERNAL = Value("ext")
How = Literal["exact", "import", "receiver"]


class Evaluator:
    """Reads a project that does not change while this lives; remembers what it has found."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._supers: dict[Ref, tuple[tuple[Ref, ...], bool]] = {}
        self._members: dict[tuple[Ref, str], tuple[Value, ...]] = {}
        self._returns: dict[Ref, tuple[Value, ...]] = {}
        self._exports: dict[tuple[str, str], tuple[Value, ...]] = {}
        self._memo: dict[tuple[str, int, str, int], tuple[Value, ...]] = {}
        self._named: dict[tuple[str, str], tuple[Ref, ...]] = {}
        self._busy: set[object] = set()
        self._depth = 0
        #: evaluations that were broken off; what was found meanwhile may be too little to be remembered
        self._cuts = 0

    def relax(self) -> None:
        """Forget what was found when it has become much; called between two files."""
        known: tuple[dict[Any, Any], ...] = (self._memo, self._members, self._returns, self._exports)
        for memo in (*known, self._supers, self._named):
            if len(memo) > MEMO_MAX:
                memo.clear()

    def methods_named(self, family: str, name: str) -> tuple[Ref, ...]:
        """Every method of that name in languages that can call one another, without mere declarations."""
        key = (family, name)
        if key not in self._named:
            self._named[key] = tuple(self.bodies(self.project.methods.get(key, [])))
        return self._named[key]

    def evaluate(self, chain: str, path: str, scope: int, at: int = _ANYWHERE) -> tuple[Value, ...]:
        """What `chain` may stand for where it is written; () for unknown."""
        if chain.startswith(":"):
            return self.declared(chain[1:], path, scope)
        key = (path, scope, chain, at)
        if key in self._memo:
            return self._memo[key]
        if key in self._busy or self._depth > DEPTH_MAX:
            self._cuts += 1
            return ()
        cuts = self._cuts
        self._busy.add(key)
        self._depth += 1
        try:
            found = self._evaluate(chain, path, scope, at)
        finally:
            self._depth -= 1
            self._busy.discard(key)
        if self._cuts == cuts or self._depth == 0:
            self._memo[key] = found
        return found

    def _evaluate(self, chain: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        links = _LINK.findall(chain)
        if not links:
            return ()
        values = self._root(links[0], path, scope, at)
        if not values and len(links) > 1:
            values, links = self._qualified(links, path)
        dotted = links[0]
        for link in links[1:]:
            if link == "()":
                values = self._several(self.called(value) for value in values)
            elif link == "[]":
                values = self._several(self._element(value) for value in values)
            else:
                dotted = f"{dotted}.{link}" if dotted else ""
                whole = self._dotted_import(dotted, path) if dotted.count(".") else ()
                values = whole or self._several(self.attribute(value, link) for value in values)
            if link in ("()", "[]"):
                dotted = ""
            if not values:
                return ()
        return values

    def _qualified(self, links: list[str], path: str) -> tuple[tuple[Value, ...], list[str]]:
        """What a name with its whole package before it stands for, `app.model.Disk`, and the links that are left."""
        if RULES[self.project.language(path)].family in _QUALIFIED:
            names = next((at for at, link in enumerate(links) if link in ("()", "[]")), len(links))
            for count in range(names - 1, 0, -1):
                key = self.project.find_module(".".join(links[:count]), path)
                if key and (values := self.exported(key, links[count])):
                    return values, links[count:]
        return (), links

    def _several(self, found: Iterable[tuple[Value, ...]]) -> tuple[Value, ...]:
        values = tuple(dict.fromkeys(value for some in found for value in some))
        return values if len(values) <= VALUES_MAX else ()

    def _root(self, name: str, path: str, scope: int, at: int) -> tuple[Value, ...]:
        if name == "?":
            return ()
        if name == "#":
            return (EXTERNAL,)
        owner = self.receiver(name, path, scope)
        if owner is not None:
            return (owner,)
        if name == "super" and self.project.language(path) == "rust":
            return self._rust_super(path, scope)
        return self.lookup(name, path, scope, at)[0]

    def _rust_super(self, path: str, scope: int) -> tuple[Value, ...]:
        """The module around this one: written in the same file, or another file."""
        inside = self.project.index(path).facts.definitions[scope].scope if scope >= 0 else ""
        while inside and any(self.project.types_named(path, inside)):
            inside = inside.rpartition(".")[0]
        if inside:
            outer = inside.rpartition(".")[0]
            return (Value("mod", f"{path}|{outer}" if outer else path),)
        key = self.project.find_module("super", path)
        return (Value("mod", key),) if key else ()

    def receiver(self, name: str, path: str, scope: int) -> Value | None:
        """The value of `self`, `this`, `cls`, `super` in `scope`; None when `name` is none of them."""
        index = self.project.index(path)
        facts = index.facts
        rules = RULES[facts.language]
        is_super = name in rules.super_names
        may_be = name in (index.firsts if facts.language == "python" else rules.self_names)
        if not (may_be or is_super or name in rules.type_names or name == "new"):
            return None
        if name in rules.type_names or (name == "new" and facts.language == "ruby"):
            enclosing = self._enclosing_type(path, scope)
            return Value("def", *enclosing) if enclosing is not None else None
        while scope >= 0:
            one = facts.definitions[scope]
            if one.kind == "method":
                first = one.parameters[0].name if one.parameters else ""
                named = name in rules.self_names
                if facts.language == "python" and not is_super:
                    named = name == first and "staticmethod" not in one.flags
                if named or is_super:
                    owner = self.owner(path, scope)
                    if owner is None:
                        return None
                    static = "classmethod" in one.flags or one.name in ("__new__", "__init_subclass__")
                    static = static or ("static" in one.flags and rules.family == "script")
                    return Value("super" if is_super else "def" if static else "inst", *owner)
            elif one.kind in TYPE_KINDS and name in rules.self_names:
                return Value("inst", path, scope)
            scope = one.parent
        return None

    def owner(self, path: str, index: int) -> Ref | None:
        """The type that a method belongs to."""
        one = self.project.index(path).facts.definitions[index]
        if one.parent >= 0:
            outer = self.project.index(path).facts.definitions[one.parent]
            return (path, one.parent) if outer.kind in TYPE_KINDS else None
        if not one.scope:
            return None
        for ref in self.project.types_named(self.project.home(path), one.scope):
            return ref
        for value in self.evaluate(one.scope, path, -1):
            if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                return value.ref
        return None

    def lookup(self, name: str, path: str, scope: int, at: int = _ANYWHERE) -> tuple[tuple[Value, ...], How]:
        """What a bare name stands for in `scope` at byte `at`, and how that is known."""
        index = self.project.index(path)
        facts = index.facts
        rules = RULES[facts.language]
        here, first = scope, True
        in_type = scope >= 0 and facts.definitions[scope].kind in TYPE_KINDS
        if not (rules.implicit_self or in_type or index.may_know(name)):
            return self._beyond(name, path, facts.definitions[scope].qualified if scope >= 0 else "")
        while True:
            kind = facts.definitions[here].kind if here >= 0 else ""
            if kind in TYPE_KINDS:
                if rules.implicit_self and facts.definitions[here].name == name:
                    return (Value("def", path, here),), "exact"  # not its constructor
                if first or rules.implicit_self:
                    found = self.member((path, here), name)
                    if found:
                        return found, "receiver" if rules.implicit_self else "exact"
            else:
                local = self._local(name, path, here, at if first or here == scope else _ANYWHERE)
                if local is not None:
                    return local
                if rules.implicit_self and kind == "method" and facts.definitions[here].parent < 0:
                    owner = self.owner(path, here)
                    if owner is not None and self.project.definition(owner).name == name:
                        return (Value("def", *owner),), "exact"
                    found = self.member(owner, name) if owner is not None else ()
                    if found:
                        return found, "receiver"
            if here < 0:
                break
            first = False
            here = facts.definitions[here].parent
        return self._beyond(name, path, facts.definitions[scope].qualified if scope >= 0 else "")

    def _local(self, name: str, path: str, scope: int, at: int) -> tuple[tuple[Value, ...], How] | None:
        """The latest of the bindings, definitions and imports of `name` in one scope; None when there is none."""
        index = self.project.index(path)
        held = index.places(scope, name)
        if not held:
            return None
        definitions = index.facts.definitions
        places: list[tuple[int, Place]] = []
        for what in held:
            if isinstance(what, int):
                begin = definitions[what].begin
                places.append((begin if begin <= at else -1, what))
            elif what.at <= at and (isinstance(what, Import) or not what.until or at < what.until):
                places.append((what.at, what))
        if not places:
            return None
        places.sort(key=lambda place: place[0])
        if scope < 0 and len(places) > 1:  # `try: import x; except ImportError: x = None`
            told = [p for p in places if not (isinstance(p[1], Binding) and p[1].value in "#?")]
            places = told or places
        last = places[-1][1]
        if isinstance(last, Import):
            return self._imported(last, path), "import"
        if isinstance(last, Binding):
            return self._bound(last, path) or self._constant(path, scope, name), "exact"
        if definitions[last].kind == "constant":
            bound = [one for one in held if isinstance(one, Binding)]
            values = self._bound(bound[-1], path) if bound else ()
            return values or self._constant(path, scope, name), "exact"
        same = [
            child for _, child in places if isinstance(child, int) and definitions[child].kind != "constant"
        ]
        return tuple(Value("def", path, child) for child in self._overloads(path, same)), "exact"

    def _constant(self, path: str, scope: int, name: str) -> tuple[Value, ...]:
        """A script's constant whose value is unknown, `const isText = typeOf("text")`: calls of it can name it at least."""
        index = self.project.index(path)
        if RULES[index.facts.language].family != "script":
            return ()
        found = index.children.get((scope, name), ())
        return tuple(
            Value("def", path, at) for at in found if index.facts.definitions[at].kind == "constant"
        )[:1]

    def _overloads(self, path: str, indices: list[int]) -> list[int]:
        """Of several definitions of one name those that can be meant: the last where a later one replaces the earlier."""
        definitions = self.project.index(path).facts.definitions
        if RULES[self.project.language(path)].family in ("python", "script"):
            told = [index for index in indices if "overload" not in definitions[index].flags]
            return (told or indices)[-1:]
        return indices

    def _bound(self, binding: Binding, path: str) -> tuple[Value, ...]:
        if binding.value == "?":
            return ()
        value = binding.value
        at = binding.at - 1 if value.partition(".")[0].partition("(")[0] == binding.name else binding.at
        return self.evaluate(value, path, binding.scope, at if not binding.until else _ANYWHERE)

    def _beyond(self, name: str, path: str, inside: str = "") -> tuple[tuple[Value, ...], How]:
        """Names of the whole home (of the scopes around `inside` first), then what star imports bring."""
        project = self.project
        home = project.home(path)
        rules = RULES[project.language(path)]
        scopes = [inside] if home != path or (inside and name in project.index(path).names) else []
        while scopes and scopes[-1]:
            scopes.append(scopes[-1].rpartition(".")[0])
        for scope in scopes:
            values = self._in_scope(home, scope, name, path)
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
                    if values := self._in_scope(f"{rules.family}:{outer}", "", name, path):
                        return values, "exact"
            for other in project.tops_of(home, name):
                if other != path:
                    return self._bound(project.index(other).tops[-1, name][-1], other), "exact"
        if rules.shared == "project":
            space = f"{inside}.{name}" if project.has_scope(home, f"{inside}.{name}") else name
            if project.has_scope(home, space):
                return (Value("mod", f"@{home}|{space}"),), "exact"
        if rules.family == "rust" and (key := project.find_module(name, path)):
            return (Value("mod", key),), "import"
        for star in project.index(path).stars:
            key = project.find_module(star.module, path)
            if key:
                values_found = self.exported(key, name)
                if values_found:
                    return values_found, "import"
        return (), "exact"

    def _in_scope(self, home: str, scope: str, name: str, path: str) -> tuple[Value, ...]:
        """Definitions of `name` in one scope of a home; those of the same file where there are any, bodies before
        declarations.
        """
        found = [
            ref
            for ref in self.project.members_of(home, scope).get(name, ())
            if self.project.definition(ref).kind != "constant"
        ]
        here = [ref for ref in found if ref[0] == path]
        return tuple(Value("def", *ref) for ref in self.bodies(here or found))[:VALUES_MAX]

    def bodies(self, refs: list[Ref]) -> list[Ref]:
        """Without the declarations of what is defined as well (C++)."""
        return [ref for ref in refs if "declared" not in self.project.definition(ref).flags] or refs

    def _imported(self, one: Import, path: str, hops: int = 0) -> tuple[Value, ...]:
        key = self.project.find_module(one.module, path)
        family = RULES[self.project.language(path)].family
        if not one.member:
            return (Value("mod", key),) if key else (EXTERNAL,)
        if not key:
            return (EXTERNAL,)
        found = self.exported(key, one.member, hops)
        if not found and family == "python":
            child = self.project.python.child(key, one.member)
            if child:
                return (Value("mod", child),)
        if not found and family == "rust":
            inner = self.project.find_module(f"{one.module}.{one.member}", path)
            return (Value("mod", inner),) if inner else ()
        return found

    def _dotted_import(self, dotted: str, path: str) -> tuple[Value, ...]:
        """`import a.b.c` binds the whole name."""
        found = self.project.index(path).imports.get((-1, dotted))
        if not found:
            return ()
        key = self.project.find_module(found[-1].module, path)
        return (Value("mod", key),) if key else (EXTERNAL,)

    def exported(self, key: str, name: str, hops: int = 0) -> tuple[Value, ...]:
        """What the name of a module stands for, through re-exports."""
        memo = (key, name)
        if memo in self._exports:
            return self._exports[memo]
        if hops > HOPS_MAX or memo in self._busy:
            self._cuts += 1
            return ()
        cuts = self._cuts
        self._busy.add(memo)
        try:
            found = self._exported(key, name, hops)
        finally:
            self._busy.discard(memo)
        if self._cuts == cuts or self._depth == 0:
            self._exports[memo] = found
        return found

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
            return self._beyond(name, paths[0])[0] or (self._local(name, paths[0], -1, _ANYWHERE) or ((),))[0]
        if key not in project.files:
            return ()
        facts = project.index(key).facts
        local = facts.exports.get(name, name)
        if name == "default" and local == "default":
            local = self._commonjs(key)
        if local == OBJECT:
            return (Value("mod", key),)
        found = self._local(local, key, -1, _ANYWHERE)
        if found is not None:
            return found[0]
        if RULES[facts.language].family == "python":
            child = project.python.child(key, name)
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
        found = self._in_scope(home, scope, name, "")
        if found:
            return found
        inner = f"{scope}.{name}" if scope else name
        if project.has_scope(home, inner):
            return (Value("mod", f"{key}|{inner}"),)
        for ref in project.types_named(home, scope) if scope else ():
            if found := self.member(ref, name):
                return found
        family = home.partition(":")[0]
        if not scope and f"{home}.{name}" in project.homes:
            return (Value("mod", f"@{family}:{home.partition(':')[2]}.{name}|"),)
        return ()

    def _commonjs(self, key: str) -> str:
        for binding in self.project.index(key).facts.bindings:
            if binding.name == "module.exports":
                return binding.value
        return "default"

    def declared(self, text: str, path: str, scope: int) -> tuple[Value, ...]:
        """Instances of a declared type."""
        values: list[Value] = []
        for starred in alternatives(text):
            name = starred.rstrip("*")
            stars = len(starred) - len(name)
            if name in ("Self", "this"):
                owner = self._enclosing_type(path, scope)
                found: tuple[Value, ...] = (Value("def", *owner),) if owner is not None else ()
            else:
                found = self._type_named(name, path, scope)
            for value in found or (() if name in _UNTYPED or len(name) == 1 else (EXTERNAL,)):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    values.append(Value("list" if stars else "inst", value.path, value.at, stars))
                elif value.tag == "ext":
                    values.append(value)
        return self._several([tuple(values)])

    def _type_named(self, name: str, path: str, scope: int) -> tuple[Value, ...]:
        return self.evaluate(name, path, scope)

    def _enclosing_type(self, path: str, scope: int) -> Ref | None:
        definitions = self.project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                return (path, scope)
            if definitions[scope].kind == "method" and (owner := self.owner(path, scope)) is not None:
                return owner
            scope = definitions[scope].parent
        return None

    def attribute(self, value: Value, name: str) -> tuple[Value, ...]:
        """What `value.name` stands for."""
        if value.tag == "mod":
            found = self.exported(value.path, name)
            # A Rust path that leads nowhere leads out of the project: `std::process`.
            return found or ((EXTERNAL,) if value.path.partition("|")[0].endswith(".rs") else ())
        if value.tag == "ext":
            return (EXTERNAL,)
        if value.tag == "list":
            if name in _ELEMENT_OF:
                return (Value("elem", value.path, value.at, value.depth),)
            return (value._replace(tag="list"),) if name in _SAME_AS else (EXTERNAL,)
        if value.tag == "elem":
            return ()
        if value.tag == "def" and self.project.definition(value.ref).kind not in (*TYPE_KINDS, "module"):
            return ()
        found = self.member(value.ref, name, past=value.tag == "super")
        if not found and name == "new" and self.project.language(value.path) == "ruby" and value.tag == "def":
            return (value,)
        if (
            not found
            and value.tag == "inst"
            and name in _UNWRAPS
            and self.project.language(value.path) == "rust"
        ):
            return (Value("elem", value.path, value.at, 1),)
        if value.tag == "inst":
            return self._several(
                self.returned(one.ref)
                if one.tag == "def"
                and {"property", "cached_property"} & set(self.project.definition(one.ref).flags)
                else (one,)
                for one in found
            )
        return found

    def member(self, owner: Ref, name: str, *, past: bool = False) -> tuple[Value, ...]:
        """The member of a type or of what it inherits from (`past`: only of that); fields give their types' instances."""
        memo = (owner, f"super {name}" if past else name)
        if memo in self._members:
            return self._members[memo]
        if memo in self._busy:
            self._cuts += 1
            return ()
        self._busy.add(memo)
        cuts = self._cuts
        found: tuple[Value, ...] = ()
        for one in self.supers(owner)[0] if past else (owner, *self.supers(owner)[0]):
            found = self._own_member(one, name)
            if found:
                break
        self._busy.discard(memo)
        if self._cuts == cuts or self._depth == 0:
            self._members[memo] = found
        return found

    def _own_member(self, owner: Ref, name: str) -> tuple[Value, ...]:
        project = self.project
        path = owner[0]
        home, qualified = project.home(path), project.definition(owner).qualified
        rules = RULES[project.language(path)]
        refs = project.members_of(home, qualified).get(name, [])
        if refs:
            own = self.bodies([ref for ref in refs if ref[0] == path] or refs)
            if "declared" in project.definition(own[0]).flags:
                own = self.bodies(refs)
            kept = (
                self._overloads(own[0][0], [ref[1] for ref in own]) if len({r[0] for r in own}) == 1 else None
            )
            methods = tuple(Value("def", *ref) for ref in own if kept is None or ref[1] in kept)
            # A field and a method may share a name (Java, PHP): a call means the one, a receiver the other.
            if rules.family in ("jvm", "php"):
                methods = (*methods, *self._held(home, qualified, name))
            return methods[:VALUES_MAX]
        if rules.open_types:
            wanted = project.definition(owner).name
            for ref in project.open_methods.get((rules.family, name, wanted), ()):
                if self.owner(*ref) == owner:
                    return (Value("def", *ref),)
        return self._held(home, qualified, name)

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

    def supers(self, owner: Ref) -> tuple[tuple[Ref, ...], bool]:
        """The types that `owner` inherits from, nearest first, and whether all of them are of this project."""
        if owner in self._supers:
            return self._supers[owner]
        if ("supers", owner) in self._busy:
            self._cuts += 1
            return (), True
        self._busy.add(("supers", owner))
        cuts = self._cuts
        found: list[Ref] = []
        whole = True
        pending: list[Ref] = [owner]
        while pending:
            one = pending.pop(0)
            for base in self.project.definition(one).bases:
                refs = self.base(one, base.chain)
                whole = whole and bool(refs)
                for ref in refs:
                    if ref not in found and ref != owner:
                        found.append(ref)
                        pending.append(ref)
            for ref in self.given(one):
                if ref not in found and ref != owner:
                    found.append(ref)
                    pending.append(ref)
        self._busy.discard(("supers", owner))
        result = (tuple(found), whole)
        if self._cuts == cuts or self._depth == 0:
            self._supers[owner] = result
        return result

    def given(self, owner: Ref) -> list[Ref]:
        """The supertypes that extensions give to a type."""
        found = []
        for path, extension in self.project.extensions.get(self.project.definition(owner).name, ()):
            if self.extended(path, extension.type) == owner:
                values = self.evaluate(extension.base.chain, path, -1)
                found += [value.ref for value in values if self._is_type(value)]
        return found

    def extended(self, path: str, name: str) -> Ref | None:
        """The type that an extension is of."""
        for ref in self.project.types_named(self.project.home(path), name):
            return ref
        return next((value.ref for value in self.evaluate(name, path, -1) if self._is_type(value)), None)

    def _is_type(self, value: Value) -> bool:
        return value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS

    def base(self, owner: Ref, chain: str) -> tuple[Ref, ...]:
        """The types of this project that a base of `owner` names."""
        parent = self.project.definition(owner).parent
        begin = self.project.definition(owner).begin
        scope = owner[1] if parent < 0 and self.project.definition(owner).scope else parent  # in a namespace
        values = self.evaluate(chain, owner[0], scope, begin if parent >= 0 else _ANYWHERE)
        return tuple(
            value.ref
            for value in values
            if value.tag == "def"
            and value.ref != owner
            and self.project.definition(value.ref).kind in TYPE_KINDS
        )

    def called(self, value: Value) -> tuple[Value, ...]:
        """What a call of `value` gives."""
        if value.tag == "elem":
            inner = value.depth - 1
            return (Value("list" if inner > 0 else "inst", value.path, value.at, max(0, inner)),)
        if value.tag in ("ext", "super", "list"):
            return (value,)
        if value.tag == "def":
            if self.project.definition(value.ref).kind in TYPE_KINDS:
                return (Value("inst", value.path, value.at),)
            return self.returned(value.ref)
        return ()

    def returned(self, ref: Ref) -> tuple[Value, ...]:
        """What a function gives: by its declared type, else by the one thing that it returns."""
        if ref in self._returns:
            return self._returns[ref]
        one: Definition = self.project.definition(ref)
        if one.kind not in CALLABLE_KINDS or not one.returns:
            return ()
        if ref in self._busy:
            self._cuts += 1
            return ()
        cuts = self._cuts
        self._busy.add(ref)
        try:
            found = self.evaluate(one.returns, ref[0], ref[1])
        finally:
            self._busy.discard(ref)
        if self._cuts == cuts or self._depth == 0:
            self._returns[ref] = found
        return found

    def _element(self, value: Value) -> tuple[Value, ...]:
        if value.tag == "list":
            inner = value.depth - 1
            return (Value("list" if inner > 0 else "inst", value.path, value.at, max(0, inner)),)
        if value.tag == "def":
            return (value,)  # Generic[T]
        return (EXTERNAL,) if value.tag == "ext" else ()
