"""Facts of all files, indexed for resolution: what is defined where, by which name, and whom a change concerns.

A definition is named by (path, index) everywhere: `Ref`. A home is the space in which top names are seen without an
import: the file, or what `Rules.shared` says.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from cortex.graph.facts import CALLABLE_KINDS, TYPE_KINDS, Binding, Definition, Extension, Facts, Import
from cortex.graph.grammars import RULES
from cortex.graph.modules import (
    GoModules,
    IncludedFiles,
    PythonModules,
    RustModules,
    ScriptModules,
    folder_of,
)

Ref = tuple[str, int]

_NOTHING: frozenset[str] = frozenset()

K = TypeVar("K")
V = TypeVar("V")

_WORD = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class Roots:
    """What configuration files say of modules: folder → Go module, alias → places (tsconfig), package name → folder."""

    go: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class FileIndex:
    """One file's facts with the look-ups that resolution needs."""

    facts: Facts
    ids: list[str]
    imports: dict[tuple[int, str], list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    bindings: dict[tuple[int, str], list[Binding]] = field(default_factory=dict)
    children: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    #: names that this file speaks of
    words: frozenset[str] = frozenset()
    #: word → names that others can see and whose value speaks of it
    derived: dict[str, set[str]] = field(default_factory=dict)


class Project:
    """All files. Changed by `update` only."""

    def __init__(self, roots: Roots | None = None) -> None:
        self.roots = roots or Roots()
        self.files: dict[str, FileIndex] = {}
        #: (home, qualified scope) → name → definitions
        self.members: dict[tuple[str, str], dict[str, list[Ref]]] = {}
        #: (home, qualified type) → name → (path, binding)
        self.fields: dict[tuple[str, str], dict[str, list[tuple[str, Binding]]]] = {}
        #: (family, name) → every method of that name
        self.methods: dict[tuple[str, str], set[Ref]] = {}
        #: name → files that speak of it
        self.mentions: dict[str, set[str]] = {}
        self.stems: dict[str, set[str]] = {}
        self.homes: dict[str, set[str]] = {}
        #: last name of a type → (path, what is given to it there)
        self.extensions: dict[str, list[tuple[str, Extension]]] = {}
        self._set_modules()

    def _set_modules(self) -> None:
        self.python = PythonModules(self.files)
        self.go = GoModules(self.files, self.roots.go)
        self.script = ScriptModules(self.files, self.roots.aliases, self.roots.packages)
        self.rust = RustModules(self.files)
        self.c = IncludedFiles(self.files, (".h", ".hpp", ".hh", ".hxx", ".c", ".cpp", ".cc", ".inl", ".ipp"))
        self.ruby = IncludedFiles(self.files, (".rb",), ".rb")

    def definition(self, ref: Ref) -> Definition:
        return self.files[ref[0]].facts.definitions[ref[1]]

    def id_of(self, ref: Ref) -> str:
        return self.files[ref[0]].ids[ref[1]]

    def language(self, path: str) -> str:
        return self.files[path].facts.language

    def home(self, path: str) -> str:
        return home_of(self.files[path].facts)

    def module_id(self, path: str) -> str:
        """The id of a file's own node."""
        stem = stem_of(path, self.files[path].facts.language)
        others = self.stems.get(stem, ())
        return stem if path == min(others, default=path) else path

    def find_module(self, module: str, importer: str) -> str:
        """The key of the module that `importer` calls `module`; "" when it is not of this project."""
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
            case family:
                return self._package(family, module)

    def _package(self, family: str, module: str) -> str:
        """`@home|scope` for a package, or for a type in one whose members are imported."""
        parts = module.split(".") if module else []
        for count in range(len(parts), -1, -1):
            home, inner = f"{family}:{'.'.join(parts[:count])}", ".".join(parts[count:])
            if home in self.homes and (not inner or (home, inner) in self.members):
                return f"@{home}|{inner}"
        return ""

    def _space(self, home: str, module: str) -> str:
        """`@home|scope` for a namespace that the project has."""
        return f"@{home}|{module}" if (home, module) in self.members else ""

    def paths_of(self, key: str) -> list[str]:
        """The files of a module's key."""
        if key.startswith("@"):
            return []
        key = key.partition("|")[0]
        if not key.endswith("/"):
            return [key] if key in self.files else []
        return sorted(self.homes.get(f"go:{key}", ()))

    def update(self, changes: Mapping[str, Facts | None]) -> set[str]:
        """Put new facts in (None: the file is gone). Returns the files whose references have to be resolved again."""
        if not self.files:
            for facts in changes.values():
                if facts is not None:
                    self._add(facts)
            self._set_modules()
            self.rename()
            return set(self.files)
        touched: set[str] = set()
        moved = False
        for path, facts in changes.items():
            old = self.files.get(path)
            before, after = _surface(old.facts if old else None), _surface(facts)
            for key in before.keys() | after.keys():
                if before.get(key) != after.get(key):
                    touched |= set(_WORD.findall(key))
                    if key in before and key in after:  # what a type inherits may have changed
                        touched |= self._inherited(path, key)
            if (old is None) != (facts is None):
                moved = True
                touched |= set(_WORD.findall(path.rpartition("/")[2].partition(".")[0])) | set(
                    _WORD.findall(folder_of(path).rpartition("/")[2])
                )
        owners = self._types_with_members(changes)
        for path, facts in changes.items():
            if path in self.files:
                self._remove(path)
            if facts is not None:
                self._add(facts)
        owners |= self._types_with_members(changes)
        if moved:
            self._set_modules()
        for path, facts in changes.items():
            for key in _surface(facts):
                if set(_WORD.findall(key)) & touched:
                    touched |= self._inherited(path, key)
        if any(path.endswith(("/lib.rs", "/main.rs", "/mod.rs")) for path in changes) and moved:
            touched |= {"crate", "super", "self", "mod"}  # what these words mean may have changed
        affected = {path for word in self._spread(touched) for path in self.mentions.get(word, ())}
        return {path for path in affected | owners | changes.keys() if path in self.files}

    def _types_with_members(self, paths: Iterable[str]) -> set[str]:
        """The files of types whose members are written in one of `paths`: a type's node lists them."""
        found: set[str] = set()
        for path in paths:
            if path in self.files and self.home(path) != path:
                scopes = {
                    one.scope for one in self.files[path].facts.definitions if one.scope and one.parent < 0
                }
                found |= {ref[0] for scope in scopes for ref in self.types_named(self.home(path), scope)}
        return found

    def _inherited(self, path: str, key: str) -> set[str]:
        """The members' names of a type (by qualified name) and of those below its own folder's types: what calls may say."""
        kind, _, qualified = key.partition(" ")
        if kind != "type" or path not in self.files:
            return set()
        return set(self.members.get((self.home(path), qualified), ()))

    def _spread(self, words: set[str]) -> set[str]:
        """With the names whose value is made from one of these: `def make(): return factory()` carries `factory` on."""
        found, fresh = set(words), set(words)
        while fresh:
            carried: set[str] = set()
            for word in fresh:
                for path in self.mentions.get(word, ()):
                    carried |= self.files[path].derived.get(word, _NOTHING)
            fresh = carried - found
            found |= fresh
        return found

    def _add(self, facts: Facts) -> None:
        path = facts.path
        index = FileIndex(facts, [])
        self.files[path] = index
        self.stems.setdefault(stem_of(path, facts.language), set()).add(path)
        home = home_of(facts)
        self.homes.setdefault(home, set()).add(path)
        family = RULES[facts.language].family
        for at, one in enumerate(facts.definitions):
            # In one order, whatever came first: of several the first counts in places.
            bisect.insort(self.members.setdefault((home, one.scope), {}).setdefault(one.name, []), (path, at))
            index.children.setdefault((one.parent, one.name), []).append(at)
            if one.kind == "method":
                self.methods.setdefault((family, one.name), set()).add((path, at))
        for binding in facts.bindings:
            self._bind(index, home, binding)
        for imported in facts.imports:
            if imported.member == "*":
                index.stars.append(imported)
            else:
                index.imports.setdefault((imported.scope, imported.name), []).append(imported)
        for extension in facts.extensions:
            name = extension.type.rpartition(".")[2]
            given = self.extensions.setdefault(name, [])
            bisect.insort(given, (path, extension), key=lambda item: item[0])
        index.words = frozenset(_words(facts))
        for word, name in _derived(facts):
            index.derived.setdefault(word, set()).add(name)
        for word in index.words:
            self.mentions.setdefault(word, set()).add(path)
        self._name(path)

    def _bind(self, index: FileIndex, home: str, binding: Binding) -> None:
        facts = index.facts
        owner, name = binding.scope, binding.name
        if "." in name:
            root, _, name = name.partition(".")
            owner = self._self_type(facts, binding.scope, root)
            if owner < 0:
                return
        elif owner < 0 or facts.definitions[owner].kind not in TYPE_KINDS:
            index.bindings.setdefault((owner, name), []).append(binding)
            return
        qualified = facts.definitions[owner].qualified
        held = self.fields.setdefault((home, qualified), {}).setdefault(name, [])
        bisect.insort(held, (facts.path, binding), key=lambda item: item[0])

    def _self_type(self, facts: Facts, scope: int, root: str) -> int:
        """The index of the type whose member `self.x` is, -1 when `root` is not the receiver."""
        rules = RULES[facts.language]
        at = scope
        while at >= 0:
            one = facts.definitions[at]
            if one.parent >= 0 and facts.definitions[one.parent].kind in TYPE_KINDS and one.kind == "method":
                first = one.parameters[0].name if one.parameters else ""
                named = root in rules.self_names or (facts.language == "python" and root == first)
                return one.parent if named else -1
            at = one.parent
        return -1

    def _remove(self, path: str) -> None:
        index = self.files.pop(path)
        facts = index.facts
        home, family = home_of(facts), RULES[facts.language].family
        _discard(self.stems, stem_of(path, facts.language), path)
        _discard(self.homes, home, path)
        for extension in facts.extensions:
            self.extensions[extension.type.rpartition(".")[2]].remove((path, extension))
        for word in index.words:
            _discard(self.mentions, word, path)
        for at, one in enumerate(facts.definitions):
            names = self.members[home, one.scope]
            names[one.name].remove((path, at))
            if not names[one.name]:
                del names[one.name]
            if not names:
                del self.members[home, one.scope]
            if one.kind == "method":
                _discard(self.methods, (family, one.name), (path, at))
        for key in {(home, one.qualified) for one in facts.definitions if one.kind in TYPE_KINDS}:
            for name, found in list(self.fields.get(key, {}).items()):
                kept = [item for item in found if item[0] != path]
                if kept:
                    self.fields[key][name] = kept
                else:
                    del self.fields[key][name]

    def _name(self, path: str) -> None:
        """Ids of a file's definitions: of several with one qualified name the later ones get `~2`, `~3`."""
        index = self.files[path]
        prefix, seen = self.module_id(path), dict[str, int]()
        index.ids = []
        for one in index.facts.definitions:
            count = seen[one.qualified] = seen.get(one.qualified, 0) + 1
            index.ids.append(f"{prefix}:{one.qualified}" + (f"~{count}" if count > 1 else ""))

    def rename(self) -> None:
        """Give every file its ids again: a file whose stem another one shares may have come or gone."""
        for path in self.files:
            self._name(path)

    def types_named(self, home: str, qualified: str) -> Iterator[Ref]:
        scope, _, name = qualified.rpartition(".")
        for ref in self.members.get((home, scope), {}).get(name, ()):
            if self.definition(ref).kind in TYPE_KINDS:
                yield ref


def _discard(table: dict[K, set[V]], key: K, value: V) -> None:
    values = table.get(key)
    if values is not None:
        values.discard(value)
        if not values:
            del table[key]


def stem_of(path: str, language: str) -> str:
    """A path as ids begin: without the ending that its language is known by."""
    for suffix in RULES[language].suffixes:
        if path.endswith(suffix):
            return path[: -len(suffix)]
    return path


def home_of(facts: Facts) -> str:
    rules = RULES[facts.language]
    match rules.shared:
        case "folder":
            return f"{rules.family}:{folder_of(facts.path)}/"
        case "package":
            return f"{rules.family}:{facts.package}"
        case "project":
            return f"{rules.family}:"
    return facts.path


def _surface(facts: Facts | None) -> dict[str, object]:
    """What other files can see of one: for each definition what their resolution may depend on."""
    if facts is None:
        return {}
    seen: dict[str, object] = {}
    for one in facts.definitions:
        kind = "type" if one.kind in TYPE_KINDS else "name"
        value = (
            one.kind,
            tuple((base.relation, base.chain) for base in one.bases),
            one.parameters,
            one.returns,
            one.flags,
        )
        key = f"{kind} {one.qualified}"
        seen[key] = (seen.get(key), value)
    for binding in facts.bindings:
        owner = facts.definitions[binding.scope] if binding.scope >= 0 else None
        if owner is None or owner.kind in TYPE_KINDS or "." in binding.name:
            name = f"bind {binding.name.rpartition('.')[2]}"
            seen[name] = (seen.get(name), binding.value)
    for imported in facts.imports:
        if imported.scope < 0:
            name = f"import {imported.name or imported.module}"
            seen[name] = (seen.get(name), imported.module, imported.member)
    for extension in facts.extensions:
        seen[f"extension {extension.type} {extension.base.chain}"] = True
    for exported, local in facts.exports.items():
        seen[f"export {exported} {local}"] = True
    seen[f"package {facts.package}"] = True
    return seen


def _words(facts: Facts) -> Iterable[str]:
    for reference in facts.references:
        yield from _WORD.findall(reference.chain)
    for imported in facts.imports:
        yield from _WORD.findall(f"{imported.name} {imported.module} {imported.member}")
    for binding in facts.bindings:
        yield from _WORD.findall(binding.value)
    for extension in facts.extensions:
        yield from _WORD.findall(f"{extension.type} {extension.base.chain}")
    for one in facts.definitions:
        yield from _WORD.findall(one.returns)
        for base in one.bases:
            yield from _WORD.findall(base.chain)
        for parameter in one.parameters:
            yield from _WORD.findall(parameter.type)


def _derived(facts: Facts) -> Iterator[tuple[str, str]]:
    """(word, name): a name of `facts` that others can see, and a word that its value speaks of."""
    for one in facts.definitions:
        if one.kind in CALLABLE_KINDS:
            yield from ((word, one.name) for word in _WORD.findall(one.returns))
        for base in one.bases:
            yield from ((word, one.name) for word in _WORD.findall(base.chain))
    for binding in facts.bindings:
        owner = facts.definitions[binding.scope] if binding.scope >= 0 else None
        if owner is None or owner.kind in TYPE_KINDS or "." in binding.name:
            name = binding.name.rpartition(".")[2]
            yield from ((word, name) for word in _WORD.findall(binding.value))
    for imported in facts.imports:
        if imported.scope < 0 and imported.member != imported.name:
            yield imported.member, imported.name
    for extension in facts.extensions:
        name = extension.type.rpartition(".")[2]
        yield from ((word, name) for word in _WORD.findall(extension.base.chain))
