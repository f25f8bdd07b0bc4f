"""Facts of all files, indexed for resolution by scope and name, and the files that a change
affects.

(path, index) identifies a definition everywhere: `Ref`. A package (`home`) is the unit whose top
names are visible without an import: the file, or the unit in `Rules.shared`. Files are stored
packed (tables.py); those read last are unpacked.
"""

from __future__ import annotations

import bisect
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cortex.graph.facts.facts import ALSO, OVERLOAD, RUN, SPACE, TESTED, USING, Binding, Definition, Extension
from cortex.graph.facts.grammars import Rules
from cortex.graph.facts.modules import (
    GoModules,
    IncludedFiles,
    Package,
    PythonModules,
    RustModules,
    ScriptModules,
    folder_of,
)
from cortex.graph.facts.tables import FileIndex, Packed, Ref
from cortex.graph.resolution.calling.extension_index import ExtensionIndex
from cortex.graph.resolution.changes import Change
from cortex.graph.resolution.defined_names import KnownNames
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.modules.includes import C_HOME, Includes
from cortex.graph.resolution.modules.package_index import NO_MEMBERS, PackageIndex, add_sorted, remove_sorted
from cortex.terms.code.components import component_name, is_component
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

__all__ = ["Project", "Ref", "Roots", "home_of", "stem_of"]

#: definitions and imports in unpacked files, twice that at most: about 100 MB
UNPACKED_MAX = 20_000
#: cached results of `find_module`
MODULES_MAX = 100_000

_NAMED_KINDS = CALLABLE_KINDS | TYPE_KINDS


@dataclass(frozen=True, slots=True)
class Roots:
    """Module configuration of a project.

    `go`: folder → Go module; `aliases`: folder → alias → places (tsconfig); `packages`: folder →
    package.json; `python`: the name of the project's folder if that is a package, else "";
    `crates`: folder → name and file of a Cargo package's library; `plugins`: modules with fixtures
    for all tests (pytest).
    """

    go: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    packages: Mapping[str, Package] = field(default_factory=dict)
    python: str = ""
    crates: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()


class Project:
    """The facts of all files. Only `update` changes it.

    `languages`: each language of the files by name.
    """

    def __init__(self, languages: Mapping[str, Language], roots: Roots | None = None) -> None:
        self.languages = languages
        self.roots = roots or Roots()
        self.packed: dict[str, Packed] = {}
        self._languages: dict[str, Language] = {}
        self._rules: dict[str, Rules] = {}
        self._homes: dict[str, str] = {}
        every = [language.rules for language in languages.values()]
        self._open = frozenset(rules.family for rules in every if rules.open_types)
        self._by_folder = tuple(dict.fromkeys(rules.family for rules in every if rules.shared == "folder"))
        #: families with package objects
        self.package_objects = frozenset(rules.family for rules in every if rules.package_objects)
        #: (family, name) → every method of that name, in order
        self.methods: dict[tuple[str, str], list[Ref]] = {}
        #: (family, name, last name of the type) → methods that may be in other files than their
        #: type
        self.open_methods: dict[tuple[str, str, str], list[Ref]] = {}
        #: family → name → number of functions, methods and types of that name
        self.named: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.extension_index = ExtensionIndex()
        self.known_names = KnownNames()
        self._shared = PackageIndex()
        #: package → its files, in order; only packages that several files can share
        self.homes = self._shared.homes
        #: stem of ids → the files with it, in order
        self.stems: dict[str, list[str]] = {}
        #: name of a component → its files, in order
        self.components: dict[str, list[str]] = {}
        #: files that bind services of a container (frameworks/services.py)
        self.binding: set[str] = set()
        #: (package, scope, name) → cache of `package_names` for a name that many files define
        self.frequent_names: dict[tuple[str, str, str], tuple[list[Ref], list[Ref]]] = {}
        #: last name of a type → (path, extension of it)
        self.extensions: dict[str, list[tuple[str, Extension]]] = {}
        self._young: dict[str, FileIndex] = {}
        self._old: dict[str, FileIndex] = {}
        self._weight = 0
        self.includes = Includes(self._included_files)
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
        """Return a file, unpacked. Raises KeyError for an unknown path."""
        try:  # called more often than any other function
            return self._young[path]
        except KeyError:
            return self._unpack(path)

    def _unpack(self, path: str) -> FileIndex:
        file_index = self._old.get(path) or FileIndex(self.packed[path], self._rules[path])
        self._weight += 4 + len(file_index.facts.definitions) + len(file_index.facts.imports)
        if self._weight > UNPACKED_MAX:
            self._old, self._young, self._weight = self._young, {}, 0
        self._young[path] = file_index
        return file_index

    def _forget(self, path: str) -> None:
        self._young.pop(path, None)
        self._old.pop(path, None)

    def definition(self, ref: Ref) -> Definition:
        path, at = ref
        try:
            return self._young[path].facts.definitions[at]
        except KeyError:
            return self._unpack(path).facts.definitions[at]

    def id_of(self, ref: Ref) -> str:
        return self.ids(ref[0])[ref[1]]

    def ids(self, path: str) -> list[str]:
        """Return the ids of a file's definitions; later ones of a qualified name get `~2`, `~3`.

        Signatures of overloads count after the others, so that the plain id means the body; then
        accessors: Kotlin's property may have a method's name.
        """
        index = self.index(path)
        if not index.ids:
            prefix, counts = self.module_id(path), dict[str, int]()
            definitions = index.facts.definitions
            ids = [""] * len(definitions)
            for at in sorted(range(len(definitions)), key=lambda at: _rank_of_id(definitions[at])):
                name = index.shown(at)
                count = counts[name] = counts.get(name, 0) + 1
                ids[at] = f"{prefix}:{name}" + (f"~{count}" if count > 1 else "")
            index.ids += ids
        return index.ids

    def language(self, path: str) -> Language:
        return self._languages[path]

    def rules(self, path: str) -> Rules:
        return self._rules[path]

    def rules_of(self, language: str) -> Rules:
        return self.languages[language].rules

    def home(self, path: str) -> str:
        return self._homes[path]

    def module_id(self, path: str) -> str:
        """Return the id of a file's node."""
        stem = stem_of(path, self._rules[path])
        return stem if path == self.stems[stem][0] else path

    def shared_stems(self) -> dict[str, str]:
        """Return stem → the file that has it, for stems of several files."""
        return {stem: paths[0] for stem, paths in self.stems.items() if len(paths) > 1}

    def inside_owner(self, owner: Ref, refs: list[Ref]) -> list[Ref]:
        """The members inside `owner`, if several blocks have a definition of its name; else all."""
        definition = self.definition(owner)
        if not definition.until:
            return refs
        same = [ref for ref in refs if ref[0] == owner[0]]
        return [
            ref for ref in same if definition.begin <= self.definition(ref).begin < definition.end
        ] or refs

    def members_of(self, home: str, scope: str) -> Mapping[str, list[Ref]]:
        """Return name → definitions in one scope of a package, in order of path and place."""
        if home in self.packed:
            return self.index(home).members.get(scope, NO_MEMBERS)
        return self._shared.members_of(home, scope)

    def has_scope(self, home: str, scope: str) -> bool:
        if home in self.packed:
            return scope in self.index(home).members
        return self._shared.has_scope(home, scope)

    def fields_of(self, home: str, qualified: str, name: str) -> Iterator[tuple[str, Binding]]:
        """Yield (path, binding) for the values of a type's field."""
        paths = (home,) if home in self.packed else self._shared.fields_of(home, qualified, name)
        for path in paths:
            for binding in self.index(path).fields.get(qualified, {}).get(name, ()):
                yield path, binding

    def tops_of(self, home: str, name: str) -> Sequence[str]:
        """Return the files of a shared package that bind `name` at their top."""
        return self._shared.tops_of(home, name)

    def find_module(self, module: str, importer: str) -> str:
        """Return the key of the module that `importer` calls `module`; "" for an external one."""
        key = (importer, module)
        if key not in self._modules:
            if len(self._modules) > MODULES_MAX:
                self._modules.clear()
            self._modules[key] = self._find_module(module, importer)
        return self._modules[key]

    def _find_module(self, module: str, importer: str) -> str:
        if (find := self._languages[importer].find_module) is not None:
            return find(self, module, importer)
        return self.package_key(self._rules[importer].family, module)

    def package_key(self, family: str, module: str) -> str:
        """`@package|scope` for a package, or for a type in one whose members are imported."""
        parts = module.split(".") if module else []
        for count in range(len(parts), -1, -1):
            home, inner = f"{family}:{'.'.join(parts[:count])}", ".".join(parts[count:])
            if home in self.homes and (not inner or self._shared.defines(home, inner)):
                return f"@{home}|{inner}"
        return ""

    def name_space_key(self, home: str, module: str) -> str:
        """Return `@package|scope` for a namespace of the project."""
        is_known = self.has_scope(home, module) or self.is_opened_by_macro(home, module)
        is_known = is_known or (home == C_HOME and bool(self.tops_of(home, USING + module)))
        return f"@{home}|{module}" if is_known else ""

    def is_opened_by_macro(self, home: str, scope: str) -> bool:
        """Return True for a name space of C++ that a macro opens (`SPACE`)."""
        return home == C_HOME and bool(self.tops_of(home, SPACE + scope.rpartition(".")[2]))

    def is_in_opened_space(self, path: str, scope: str) -> bool:
        """Return True if a file may use the macro that opens a name space: it includes its file."""
        openers = self.tops_of(C_HOME, SPACE + scope.rpartition(".")[2])
        return path.startswith("@") or not self.includes.files_read_by(path).isdisjoint(openers)

    def _included_files(self, path: str) -> Iterator[str]:
        """Yield the files that a C or C++ file includes."""
        for statement in self.index(path).facts.imports if path in self.packed else ():
            if not (statement.name or statement.member) and (target := self.c.find(statement.module, path)):
                yield target

    def mentions(self, path: str, name: str) -> bool:
        """Return whether a file mentions a name."""
        line = b"\n%b\n" % name.encode("utf-8", "surrogatepass")
        return line in bytes(self.packed[path].words)  # mapped: a view

    def paths_mentioning(self, name: str, importer: str) -> list[str]:
        """Return the files of the importer's package that mention a name."""
        return [path for path in self.homes.get(self._homes[importer], ()) if self.mentions(path, name)]

    def paths_of(self, key: str) -> list[str]:
        """Return the files of a module's key."""
        if key.startswith("@"):
            return []
        key = key.partition("|")[0]
        if not key.endswith("/"):
            return [key] if key in self.packed else []
        homes = (self.homes.get(f"{family}:{key}") for family in self._by_folder)
        return next(filter(None, homes), [])

    def update(self, changes: Mapping[str, Packed | None]) -> set[str]:
        """Replace facts (None: the file is removed). Return the files with references to be
        resolved again.
        """
        if not self.packed:
            for packed in changes.values():
                if packed is not None:
                    self._add(packed)
            self._set_modules()
            return set(self.packed)
        change = Change(self, changes)
        for path, packed in changes.items():
            if path in self.packed:
                self._remove(path)
            if packed is not None:
                self._add(packed)
        self.includes.forget()
        self.frequent_names.clear()
        self._modules.clear()  # packages may appear or vanish with their files' content
        if change.moved:
            self._set_modules()
        return change.affected()

    def _add(self, packed: Packed) -> None:
        path = packed.path
        self._forget(path)
        language = self.languages[packed.language]
        rules = language.rules
        self.packed[path], self._languages[path], self._rules[path] = packed, language, language.rules
        index = self.index(path)
        facts, family = index.facts, rules.family
        home = self._homes[path] = home_of(packed, rules)
        add_sorted(self.stems, stem_of(path, language.rules), path)
        if is_component(path):
            add_sorted(self.components, component_name(path), path)
        self.known_names.add(index)
        if any(fragment.kind == "binds" for fragment in facts.fragments):
            self.binding.add(path)
        refs = [(path, at) for at in range(len(facts.definitions))]  # shared by all tables
        for ref, definition in zip(refs, facts.definitions, strict=True):
            name = sys.intern(definition.name)
            if definition.kind in _NAMED_KINDS:
                self.named[family][name] += 1
            # Always in order: of several definitions the first counts in some places.
            if _is_found_by_name(definition, rules):
                for alias in (name, *_other_names(definition)):
                    add_sorted(self.methods, (family, alias), ref)
                if family in self._open:
                    add_sorted(
                        self.open_methods,
                        (family, name, sys.intern(definition.scope.rpartition(".")[2])),
                        ref,
                    )
            self.extension_index.add(definition, ref, home, language)
        for extension in facts.extensions:
            extensions = self.extensions.setdefault(extension.type.rpartition(".")[2], [])
            bisect.insort(extensions, (path, extension), key=lambda item: item[0])
        if home != path:
            self._shared.add(path, home, index, refs, nested=language.rules.nested_scopes)

    def _remove(self, path: str) -> None:
        index = self.index(path)
        language = self._languages[path]
        rules = language.rules
        facts, home, family = index.facts, self._homes[path], rules.family
        remove_sorted(self.stems, stem_of(path, rules), path)
        if is_component(path):
            remove_sorted(self.components, component_name(path), path)
        for at, definition in enumerate(facts.definitions):
            ref = (path, at)
            if definition.kind in _NAMED_KINDS:
                self.named[family][definition.name] -= 1
            if _is_found_by_name(definition, rules):
                for name in (definition.name, *_other_names(definition)):
                    remove_sorted(self.methods, (family, name), ref)
                if family in self._open:
                    remove_sorted(
                        self.open_methods, (family, definition.name, definition.scope.rpartition(".")[2]), ref
                    )
            self.extension_index.remove(definition, ref, home, language)
        for extension in facts.extensions:
            self.extensions[extension.type.rpartition(".")[2]].remove((path, extension))
        if home != path:
            self._shared.remove(path, home, index, nested=language.rules.nested_scopes)
        self.binding.discard(path)
        del self.packed[path], self._languages[path], self._rules[path], self._homes[path]
        self._forget(path)

    def rename(self) -> None:
        """Drop the ids of all files: a file with the same stem may have been added or removed."""
        for index in (*self._young.values(), *self._old.values()):
            index.ids = []

    def types_named(self, home: str, qualified: str) -> Iterator[Ref]:
        scope, _, name = qualified.rpartition(".")
        for ref in self.members_of(home, scope).get(name, ()):
            if self.definition(ref).has_members:
                yield ref


def _rank_of_id(definition: Definition) -> int:
    """Return the rank of a definition among those of its name: their ids are numbered in order."""
    return 1 if OVERLOAD in definition.flags else 2 if definition.is_accessor else 0


def _is_found_by_name(definition: Definition, rules: Rules) -> bool:
    """Return True for methods, and for Rust's macros, whose scope is their place in the text."""
    if TESTED in definition.flags or RUN in definition.flags:
        return False
    return definition.kind == "method" or (bool(rules.macro_mark) and "macro" in definition.flags)


def _other_names(definition: Definition) -> list[str]:
    """Return the further names that its type gives a method: Ruby's aliases."""
    return [flag[len(ALSO) :] for flag in definition.flags if flag.startswith(ALSO)]


def stem_of(path: str, rules: Rules) -> str:
    """Return a path without its language's ending: the beginning of ids."""
    for suffix in rules.suffixes:
        if path.endswith(suffix):
            return path[: -len(suffix)]
    return path


def home_of(facts: Packed, rules: Rules) -> str:
    match rules.shared:
        case "folder":
            return f"{rules.family}:{folder_of(facts.path)}/"
        case "package":
            return f"{rules.family}:{facts.package}"
        case "project":
            return f"{rules.family}:"
    return facts.path
