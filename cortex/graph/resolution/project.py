"""Facts of all files, indexed for resolution: what is defined where, by which name, and whom a
change concerns.

A definition is named by (path, index) everywhere: `Ref`. A home is the space in which top names are
seen without an import: the file, or what `Rules.shared` says. Files are kept packed (tables.py);
those that were read last are unpacked.
"""

from __future__ import annotations

import bisect
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from cortex.graph.facts.facts import Binding, Definition, Extension, Facts
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.modules import (
    GoModules,
    IncludedFiles,
    Package,
    PythonModules,
    RustModules,
    ScriptModules,
    folder_of,
)
from cortex.graph.facts.tables import WORD, FileIndex, Packed, Ref, derived, head_of, surface
from cortex.graph.resolution.extended import Extended

__all__ = ["Project", "Ref", "Roots", "home_of", "stem_of"]

#: definitions and imports of unpacked files, twice that at most: about 100 MB
UNPACKED_MAX = 20_000
#: answers of `find_module` that are remembered
MODULES_MAX = 100_000
#: words that are each searched for; for more of them the files' words are taken apart
WORDS_SEARCHED_MAX = 12

_NOTHING: Mapping[str, list[Ref]] = {}
_OPEN = frozenset(rules.family for rules in RULES.values() if rules.open_types)

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Roots:
    """What configuration files say of modules: folder → Go module, folder → alias → places
    (tsconfig), folder → package.json. `python`: the name of the project's own folder where that is
    a package, "" where it is none. `crates`: folder → name and file of the library of a Cargo
    package.
    """

    go: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    packages: Mapping[str, Package] = field(default_factory=dict)
    python: str = ""
    crates: Mapping[str, tuple[str, str]] = field(default_factory=dict)


class Files(Mapping[str, FileIndex]):
    """The files of a project, each unpacked when it is asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __getitem__(self, path: str) -> FileIndex:
        return self._project.index(path)

    def __contains__(self, path: object) -> bool:
        return path in self._project.packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._project.packed)

    def __len__(self) -> int:
        return len(self._project.packed)


class Project:
    """All files. Changed by `update` only."""

    def __init__(self, roots: Roots | None = None) -> None:
        self.roots = roots or Roots()
        self.packed: dict[str, Packed] = {}
        self.files = Files(self)
        #: (family, name) → every method of that name, in order
        self.methods: dict[tuple[str, str], list[Ref]] = {}
        #: (family, name, last name of the type) → methods that may be written in other files than
        #: their type
        self.open_methods: dict[tuple[str, str, str], list[Ref]] = {}
        self.extended = Extended()
        #: home → its files, in order; only homes that several files may share
        self.homes: dict[str, list[str]] = {}
        #: stem of ids → the files that have it, in order
        self.stems: dict[str, list[str]] = {}
        #: last name of a type → (path, what is given to it there)
        self.extensions: dict[str, list[tuple[str, Extension]]] = {}
        # Of homes that several files may share: (home, scope) → name → definitions; (home, type) →
        # name → files that say of its field what it holds; (home, name) → files that bind it at
        # their top.
        self._members: dict[tuple[str, str], dict[str, list[Ref]]] = {}
        self._fields: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._tops: dict[tuple[str, str], list[str]] = {}
        #: (home, scope) → definitions in scopes within it: name spaces may hold others alone
        self._within: Counter[tuple[str, str]] = Counter()
        self._young: dict[str, FileIndex] = {}
        self._old: dict[str, FileIndex] = {}
        self._weight = 0
        self._set_modules()

    def _set_modules(self) -> None:
        paths = self.packed
        self.python = PythonModules(paths, self.roots.python)
        self.go = GoModules(paths, self.roots.go)
        self.script = ScriptModules(paths, self.roots.aliases, self.roots.packages)
        self.rust = RustModules(paths, self.roots.crates)
        self.c = IncludedFiles(paths, (".h", ".hpp", ".hh", ".hxx", ".c", ".cpp", ".cc", ".inl", ".ipp"))
        self.ruby = IncludedFiles(paths, (".rb",), ".rb")
        self._modules: dict[tuple[str, str], str] = {}

    def index(self, path: str) -> FileIndex:
        """A file, unpacked. Raises KeyError when there is none of that path."""
        found = self._young.get(path)
        return found if found is not None else self._unpack(path)

    def _unpack(self, path: str) -> FileIndex:
        found = self._old.get(path) or FileIndex(self.packed[path])
        self._weight += 4 + len(found.facts.definitions) + len(found.facts.imports)
        if self._weight > UNPACKED_MAX:
            self._old, self._young, self._weight = self._young, {}, 0
        self._young[path] = found
        return found

    def _forget(self, path: str) -> None:
        self._young.pop(path, None)
        self._old.pop(path, None)

    def definition(self, ref: Ref) -> Definition:
        path, at = ref  # asked more often than anything else
        index = self._young.get(path) or self._unpack(path)
        return index.facts.definitions[at]

    def id_of(self, ref: Ref) -> str:
        return self.ids(ref[0])[ref[1]]

    def ids(self, path: str) -> list[str]:
        """Ids of a file's definitions: of several with one qualified name the later ones get `~2`,
        `~3`.
        """
        index = self.index(path)
        if not index.ids:
            prefix, seen = self.module_id(path), dict[str, int]()
            for one in index.facts.definitions:
                count = seen[one.qualified] = seen.get(one.qualified, 0) + 1
                index.ids.append(f"{prefix}:{one.qualified}" + (f"~{count}" if count > 1 else ""))
        return index.ids

    def language(self, path: str) -> str:
        return self.packed[path].language

    def home(self, path: str) -> str:
        return home_of(self.packed[path])

    def module_id(self, path: str) -> str:
        """The id of a file's own node."""
        stem = stem_of(path, self.packed[path].language)
        return stem if path == self.stems[stem][0] else path

    def shared_stems(self) -> dict[str, str]:
        """Stem → who has it, where several files would."""
        return {stem: paths[0] for stem, paths in self.stems.items() if len(paths) > 1}

    def inside(self, owner: Ref, refs: list[Ref]) -> list[Ref]:
        """Those that stand in what they are members of, where several have its name, each in a
        block of its own; all where none does.
        """
        one = self.definition(owner)
        if not one.until:
            return refs
        same = [ref for ref in refs if ref[0] == owner[0]]
        return [ref for ref in same if one.begin <= self.definition(ref).begin < one.end] or refs

    def members_of(self, home: str, scope: str) -> Mapping[str, list[Ref]]:
        """Name → definitions in one scope of a home, in order of path and place."""
        if home in self.packed:
            return self.index(home).members.get(scope, _NOTHING)
        return self._members.get((home, scope), _NOTHING)

    def has_scope(self, home: str, scope: str) -> bool:
        if home in self.packed:
            return scope in self.index(home).members
        return (home, scope) in self._members or (home, scope) in self._within

    def fields_of(self, home: str, qualified: str, name: str) -> Iterator[tuple[str, Binding]]:
        """(path, binding) of what a type's field may hold."""
        paths = (home,) if home in self.packed else self._fields.get((home, qualified), {}).get(name, ())
        for path in paths:
            for binding in self.index(path).fields.get(qualified, {}).get(name, ()):
                yield path, binding

    def tops_of(self, home: str, name: str) -> Sequence[str]:
        """The files of a shared home that bind `name` at their top."""
        return self._tops.get((home, name), ())

    def find_module(self, module: str, importer: str) -> str:
        """The key of the module that `importer` calls `module`; "" when it is not of this
        project.
        """
        key = (importer, module)
        if key not in self._modules:
            if len(self._modules) > MODULES_MAX:
                self._modules.clear()
            self._modules[key] = self._find_module(module, importer)
        return self._modules[key]

    def _find_module(self, module: str, importer: str) -> str:
        match RULES[self.language(importer)].family:
            case "python":
                return self.python.find(module, importer)
            case "go":
                return self.go.find(module, importer)
            case "script":
                return self.script.find(module, importer)
            case "rust":
                return self.rust.find(module, importer)
            case "c":
                return self.c.find(module, importer) or self._space("c:", module)
            case "ruby":
                return self.ruby.find(module, importer)
            case "csharp":  # `using Results;` in a namespace is of those around it as well
                spaces = self.home(importer).partition(":")[2].split(".")
                around = (".".join((*spaces[:count], module)) for count in range(len(spaces), 0, -1))
                found = (self._package("csharp", name) for name in (module, *around))
                return next(filter(None, found), "")
            case family:
                return self._package(family, module)

    def _package(self, family: str, module: str) -> str:
        """`@home|scope` for a package, or for a type in one whose members are imported."""
        parts = module.split(".") if module else []
        for count in range(len(parts), -1, -1):
            home, inner = f"{family}:{'.'.join(parts[:count])}", ".".join(parts[count:])
            if home in self.homes and (not inner or (home, inner) in self._members):
                return f"@{home}|{inner}"
        return ""

    def _space(self, home: str, module: str) -> str:
        """`@home|scope` for a namespace that the project has."""
        return f"@{home}|{module}" if self.has_scope(home, module) else ""

    def paths_of(self, key: str) -> list[str]:
        """The files of a module's key."""
        if key.startswith("@"):
            return []
        key = key.partition("|")[0]
        if not key.endswith("/"):
            return [key] if key in self.packed else []
        return self.homes.get(f"go:{key}", [])

    def update(self, changes: Mapping[str, Packed | None]) -> set[str]:
        """Put new facts in (None: the file is gone). Returns the files whose references have to be
        resolved again.
        """
        if not self.packed:
            for packed in changes.values():
                if packed is not None:
                    self._add(packed)
            self._set_modules()
            return set(self.packed)
        touched, moved = self._touched(changes)
        owners, before = self._types_with_members(changes), self._listed(changes)
        for path, packed in changes.items():
            if path in self.packed:
                self._remove(path)
            if packed is not None:
                self._add(packed)
        owners |= self._types_with_members(changes)
        after = self._listed(changes)
        for part in before.keys() | after.keys():
            if before.get(part) != after.get(part):
                owners |= {ref[0] for ref in self.types_named(*part)}
        self._modules.clear()  # packages may have come or gone with their files' content
        if moved:
            self._set_modules()
        for path, packed in changes.items():
            for key in surface(head_of(packed)) if packed is not None else ():
                if set(WORD.findall(key.partition(" ")[2])) & touched:
                    touched |= self._inherited(path, key)
        if any(path.endswith(("/lib.rs", "/main.rs", "/mod.rs")) for path in changes) and moved:
            touched |= {"crate", "super", "self", "mod"}  # what these words mean may have changed
        affected = self._mentioning(self._spread(touched)) | owners | changes.keys()
        return {path for path in affected if path in self.packed}

    def _touched(self, changes: Mapping[str, Packed | None]) -> tuple[set[str], bool]:
        """The names that may mean something else now, and whether files came or went."""
        touched: set[str] = set()
        moved = False
        for path, packed in changes.items():
            old = self.index(path).facts if path in self.packed else None
            before, after = surface(old), surface(head_of(packed) if packed is not None else None)
            for key in before.keys() | after.keys():
                if before.get(key) != after.get(key):
                    touched |= set(WORD.findall(key.partition(" ")[2]))  # without what kind it is
                    if key in before and key in after:  # what a type inherits may have changed
                        touched |= self._inherited(path, key)
            if (old is None) != (packed is None):
                moved = True
                touched |= set(WORD.findall(path.rpartition("/")[2].partition(".")[0]))
                touched |= set(WORD.findall(folder_of(path).rpartition("/")[2]))
        return touched, moved

    def _types_with_members(self, paths: Iterable[str]) -> set[str]:
        """The files of types whose members are written in one of `paths`: a type's node lists
        them.
        """
        found: set[str] = set()
        for path in paths:
            if path in self.packed and self.home(path) != path:
                definitions = self.index(path).facts.definitions
                parts = self.language(path) == "csharp"  # whose types are written in several files
                scopes = {one.scope for one in definitions if one.scope and (parts or one.parent < 0)}
                found |= {ref[0] for scope in scopes for ref in self.types_named(self.home(path), scope)}
        return found

    def _listed(self, paths: Iterable[str]) -> dict[tuple[str, str], list[object]]:
        """(home, type) → what the nodes of the type's parts in other files list of its methods in
        `paths`.
        """
        found: dict[tuple[str, str], list[object]] = {}
        for path in paths:
            if path in self.packed and (home := self.home(path)) != path:
                for one in self.index(path).facts.definitions:
                    if one.parent >= 0 and one.kind == "method":
                        told = path, one.name, one.parameters, one.returns
                        found.setdefault((home, one.scope), []).append(told)
        return found

    def _inherited(self, path: str, key: str) -> set[str]:
        """The names of a type's own members: what calls on it, and on types that inherit from it,
        may say. `key` is one of `surface`: "type", a space, the qualified name; nothing for any
        other kind.
        """
        kind, _, qualified = key.partition(" ")
        if kind != "type" or path not in self.packed:
            return set()
        return set(self.members_of(self.home(path), qualified))

    def _mentioning(self, words: set[str]) -> set[str]:
        """The files that speak of one of `words`."""
        if not words:
            return set()
        wanted = [f"\n{word}\n".encode("utf-8", "surrogatepass") for word in words]
        if len(wanted) <= WORDS_SEARCHED_MAX:
            return {path for path, one in self.packed.items() if any(word in one.words for word in wanted)}
        whole = {word.strip(b"\n") for word in wanted}
        return {path for path, one in self.packed.items() if not whole.isdisjoint(one.words.split(b"\n"))}

    def _spread(self, words: set[str]) -> set[str]:
        """With the names whose value is made from one of these: `def make(): return factory()`
        carries `factory` on.
        """
        found, fresh = set(words), set(words)
        known: dict[str, dict[str, set[str]]] = {}
        while fresh:
            carried: set[str] = set()
            for path in self._mentioning(fresh):
                if path not in known:
                    known[path] = {}
                    for word, name in derived(self.index(path).facts):
                        known[path].setdefault(word, set()).add(name)
                for word in fresh & known[path].keys():
                    carried |= known[path][word]
            fresh = carried - found
            found |= fresh
        return found

    def _add(self, packed: Packed) -> None:
        path = packed.path
        self._forget(path)
        self.packed[path] = packed
        index = self.index(path)
        facts, home, family = index.facts, home_of(packed), RULES[packed.language].family
        _put(self.stems, stem_of(path, packed.language), path)
        for at, one in enumerate(facts.definitions):
            ref, name, scope = (path, at), sys.intern(one.name), sys.intern(one.scope)
            # In one order, whatever came first: of several the first counts in places.
            if home != path:
                _put(self._members.setdefault((home, scope), {}), name, ref)
                if family == "c" and "." in scope:
                    self._within.update((home, outer) for outer in _around(scope))
            if _is_found_by_name(one, family):
                _put(self.methods, (family, name), ref)
                if family in _OPEN:
                    _put(self.open_methods, (family, name, sys.intern(scope.rpartition(".")[2])), ref)
            self.extended.add(one, ref, home, packed.language)
        for extension in facts.extensions:
            given = self.extensions.setdefault(extension.type.rpartition(".")[2], [])
            bisect.insort(given, (path, extension), key=lambda item: item[0])
        if home == path:
            return
        _put(self.homes, home, path)
        for qualified, names in index.fields.items():
            for name in names:
                _put(self._fields.setdefault((home, sys.intern(qualified)), {}), sys.intern(name), path)
        for _, name in index.tops:
            _put(self._tops, (home, sys.intern(name)), path)

    def _remove(self, path: str) -> None:
        index = self.index(path)
        packed = self.packed[path]
        facts, home, family = index.facts, home_of(packed), RULES[packed.language].family
        _drop(self.stems, stem_of(path, packed.language), path)
        for at, one in enumerate(facts.definitions):
            ref = (path, at)
            if home != path:
                _drop_inner(self._members, (home, one.scope), one.name, ref)
                if family == "c" and "." in one.scope:
                    for outer in _around(one.scope):
                        self._within[home, outer] -= 1
                        if not self._within[home, outer]:
                            del self._within[home, outer]
            if _is_found_by_name(one, family):
                _drop(self.methods, (family, one.name), ref)
                if family in _OPEN:
                    _drop(self.open_methods, (family, one.name, one.scope.rpartition(".")[2]), ref)
            self.extended.remove(one, ref, home, packed.language)
        for extension in facts.extensions:
            self.extensions[extension.type.rpartition(".")[2]].remove((path, extension))
        if home != path:
            _drop(self.homes, home, path)
            for qualified, names in index.fields.items():
                for name in names:
                    _drop_inner(self._fields, (home, qualified), name, path)
            for _, name in index.tops:
                _drop(self._tops, (home, name), path)
        del self.packed[path]
        self._forget(path)

    def rename(self) -> None:
        """Give every file its ids again: a file whose stem another one shares may have come or
        gone.
        """
        for index in (*self._young.values(), *self._old.values()):
            index.ids = []

    def types_named(self, home: str, qualified: str) -> Iterator[Ref]:
        scope, _, name = qualified.rpartition(".")
        for ref in self.members_of(home, scope).get(name, ()):
            if self.definition(ref).has_members:
                yield ref


def _is_found_by_name(one: Definition, family: str) -> bool:
    """Methods, and Rust's macros: these are known by where they stand in the text."""
    return one.kind == "method" or (family == "rust" and "macro" in one.flags)


def _around(scope: str) -> Iterator[str]:
    """The scopes in which a scope lies."""
    while scope := scope.rpartition(".")[0]:
        yield sys.intern(scope)


def _put(table: dict[K, list[V]], key: K, value: V) -> None:
    """Add to one of the lists, which stays in order."""
    values = table.get(key)
    if values is None:
        table[key] = [value]
    elif value > values[-1]:  # type: ignore[operator]  # paths and refs have an order
        values.append(value)
    else:
        bisect.insort(values, value)  # type: ignore[call-overload]


def _drop(table: dict[K, list[V]], key: K, value: V) -> None:
    values = table[key]
    values.remove(value)
    if not values:
        del table[key]


def _drop_inner(
    table: dict[tuple[str, str], dict[str, list[V]]], key: tuple[str, str], name: str, value: V
) -> None:
    _drop(table[key], name, value)
    if not table[key]:
        del table[key]


def stem_of(path: str, language: str) -> str:
    """A path as ids begin: without the ending that its language is known by."""
    for suffix in RULES[language].suffixes:
        if path.endswith(suffix):
            return path[: -len(suffix)]
    return path


def home_of(facts: Facts | Packed) -> str:
    rules = RULES[facts.language]
    match rules.shared:
        case "folder":
            return f"{rules.family}:{folder_of(facts.path)}/"
        case "package":
            return f"{rules.family}:{facts.package}"
        case "project":
            return f"{rules.family}:"
    return facts.path
