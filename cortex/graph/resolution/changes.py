"""Files affected by a change: the names that may mean something else afterwards, and the files that
mention them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from cortex.graph.facts.facts import INCLUDED, Base, Definition, Facts
from cortex.graph.facts.grammars import Rules
from cortex.graph.facts.modules import folder_of
from cortex.graph.facts.public_names import derived_names, public_surface
from cortex.graph.facts.tables import WORD, FileIndex, Packed, Ref, head_of
from cortex.graph.resolution.modules.includes import C_HOME, Includes
from cortex.terms.kinds import TYPE_KINDS

#: the begin of a part of a type's name
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: words that are searched one by one; above that each file's words are split
WORDS_SEARCHED_MAX = 12


class Files(Protocol):
    """The files of a project, as a change reads them."""

    @property
    def packed(self) -> Mapping[str, Packed]: ...

    def index(self, path: str) -> FileIndex: ...

    def home(self, path: str) -> str: ...

    def rules(self, path: str) -> Rules: ...

    def rules_of(self, language: str) -> Rules: ...

    def find_module(self, module: str, importer: str) -> str: ...

    def members_of(self, home: str, scope: str) -> Mapping[str, list[Ref]]: ...

    def types_named(self, home: str, qualified: str) -> Iterator[Ref]: ...

    @property
    def homes(self) -> Mapping[str, list[str]]: ...

    @property
    def includes(self) -> Includes: ...


class Change:
    """A change of files. Create it before the facts are replaced, and call `affected`
    afterwards.
    """

    def __init__(self, files: Files, changes: Mapping[str, Packed | None]) -> None:
        self._files, self._changes = files, changes
        self._touched, moved = _touched_names(files, changes)
        self._mixing = _bases_of_mixing_types(files, changes)
        self._owners, self._before = _types_with_members(files, changes), _listed_members(files, changes)
        self._read = _includes_before(files, changes)
        #: file whose re-exports of whole modules change → the names that it passes on
        self._passed_on = {path: _passed_on(files, path) for path in _changed_barrels(files, changes)}
        self._included = _included_members(files, changes)
        self._function_types, self._kinds = _function_types(files, changes), _kinds_of_types(files, changes)
        self._conversions = _conversions(files, changes)
        #: whether files are added or removed
        self.moved = moved

    def affected(self) -> set[str]:
        """Return the files that have to be resolved again."""
        files, changes, touched = self._files, self._changes, set(self._touched)
        owners = self._owners | _types_with_members(files, changes)
        before, after = self._before, _listed_members(files, changes)
        for type_key in before.keys() | after.keys():
            if before.get(type_key) != after.get(type_key):
                owners |= {ref[0] for ref in files.types_named(*type_key)}
        owners |= _modules_with_other_includers(files, self._mixing, _bases_of_mixing_types(files, changes))
        if self._read:  # they now see other files' names
            readers = files.includes.changed_since(self._read, files.homes.get(C_HOME, ()))
            owners |= readers
            present_paths = (path for path in readers if path in files.packed)
            touched |= {
                definition.name
                for path in present_paths
                for definition in files.index(path).facts.definitions
            }
        for path, names in self._passed_on.items():
            touched |= names ^ _passed_on(files, path)
        touched |= {name for *_, name in self._included ^ _included_members(files, changes)}
        takes = touched & (self._function_types | _function_types(files, changes))
        takes |= {name for name, _ in self._kinds ^ _kinds_of_types(files, changes)}
        takes |= {name for name, *_ in self._conversions ^ _conversions(files, changes)}
        touched |= _takers(files, takes)
        for path, packed in changes.items():
            for key in _surface(files, head_of(packed)) if packed is not None else ():
                if set(WORD.findall(key.partition(" ")[2])) & touched:
                    touched |= _member_names(files, path, key)
        if any(path.endswith(("/lib.rs", "/main.rs", "/mod.rs")) for path in changes) and self.moved:
            touched |= {"crate", "super", "self", "mod"}  # the targets of these words may have changed
        affected = _files_mentioning(files, _spread_names(files, touched)) | owners | changes.keys()
        return {path for path in affected if path in files.packed}


def _surface(files: Files, facts: Facts | None) -> dict[str, list[object]]:
    return {} if facts is None else public_surface(facts, files.rules_of(facts.language))


def _touched_names(files: Files, changes: Mapping[str, Packed | None]) -> tuple[set[str], bool]:
    """Return (names that may mean something else now, whether files were added or removed)."""
    touched, types = set[str](), set[str]()
    moved = False
    for path, packed in changes.items():
        old = files.index(path).facts if path in files.packed else None
        new = head_of(packed) if packed is not None else None
        before, after, current = _surface(files, old), _surface(files, new), old or new
        has_mixins = current is not None and files.rules_of(current.language).included_hook
        for key in before.keys() | after.keys():
            if before.get(key) != after.get(key):
                touched |= set(WORD.findall(key.partition(" ")[2]))  # without its kind
                if current is not None and has_mixins and key.startswith("type "):
                    types.add(name := key[5:].rpartition(".")[2])
                    touched.add(_CAPITAL.sub("_", name).lower())  # a receiver that is named like it
                    touched |= files.rules_of(current.language).framework_methods.get(name, frozenset())
                if key in before and key in after:  # inherited members may have changed
                    touched |= _member_names(files, path, key)
        if (old is None) != (packed is None):
            moved = True
            touched |= set(WORD.findall(path.rpartition("/")[2].partition(".")[0]))
            touched |= set(WORD.findall(folder_of(path).rpartition("/")[2]))
    return touched | _members_of_heirs(files, types), moved


def _barrel_modules(facts: Facts | None) -> set[str]:
    """Return the modules of which a file passes on every name: `export * from`, `pub use m::*`."""
    imports = () if facts is None else facts.imports
    return {imported.module for imported in imports if imported.member == "*" and imported.exported}


def _changed_barrels(files: Files, changes: Mapping[str, Packed | None]) -> list[str]:
    """Return the files that pass on the names of other modules than before."""
    return [
        path
        for path, packed in changes.items()
        if _barrel_modules(files.index(path).facts if path in files.packed else None)
        != _barrel_modules(head_of(packed) if packed is not None else None)
    ]


def _passed_on(files: Files, path: str) -> set[str]:
    """Return the public names of the modules that a file re-exports, and of theirs."""
    names, visited, waiting = set[str](), {path}, [path]
    while waiting:
        barrel = waiting.pop()
        for module in _barrel_modules(files.index(barrel).facts if barrel in files.packed else None):
            target = files.find_module(module, barrel).partition("|")[0]
            if target in files.packed and target not in visited:
                visited.add(target)
                waiting.append(target)
                for key in _surface(files, files.index(target).facts):
                    names |= set(WORD.findall(key.partition(" ")[2]))
    return names


def _included_members(files: Files, paths: Iterable[str]) -> set[tuple[str, str, str]]:
    """Return ("", module, member) of the modules that files of Ruby include outside of all types:
    files beside them may call these members; and (type, base, member) for a type of a literal.
    """
    return {
        (owner, chain, name)
        for path in paths
        if path in files.packed
        for owner, chain in _included_chains(files, path)
        for name in files.members_of(files.home(path), chain)
    }


def _included_chains(files: Files, path: str) -> Iterator[tuple[str, str]]:
    facts = files.index(path).facts
    yield from (("", binding.value) for binding in facts.bindings if binding.name == INCLUDED)
    if files.rules(path).included_hook:
        outer = (definition for definition in facts.definitions if not definition.scope)
        yield from ((definition.name, base.chain) for definition in outer for base in definition.bases)


def _function_types(files: Files, paths: Iterable[str]) -> set[str]:
    """Return the names of the types in `paths` for which a function may stand by name or by one
    method: Python's `__call__`.
    """
    names: set[str] = set()
    for path in paths:
        if path in files.packed and (method := files.rules(path).functions_as):
            definitions = files.index(path).facts.definitions
            names |= {definition.name for definition in definitions if definition.kind == "type"}
            names |= {entry.scope.rpartition(".")[2] for entry in definitions if entry.name == method}
    return names


def _kinds_of_types(files: Files, paths: Iterable[str]) -> set[tuple[str, str]]:
    """Return (name, kind) of the types in `paths`: a function stands for one that no file defines,
    and for none of a known class.
    """
    return {
        (definition.name, definition.kind)
        for path in paths
        if path in files.packed and files.rules(path).overloads and files.rules(path).functions_as
        for definition in files.index(path).facts.definitions
        if definition.kind in TYPE_KINDS
    }


def _conversions(files: Files, paths: Iterable[str]) -> set[tuple[str, ...]]:
    """Return (type, kind, types …) of what makes a value of a type from another in C++:
    constructors, bases, and other names of types.
    """
    conversions = set[tuple[str, ...]]()
    for path in paths:
        if path in files.packed and files.rules(path).declared_defaults:
            for definition in files.index(path).facts.definitions:
                if definition.kind in TYPE_KINDS or definition.is_constructor:
                    types = [parameter.type for parameter in definition.parameters]
                    bases = (base.chain for base in definition.bases)
                    conversions.add((definition.name, definition.kind, definition.returns, *types, *bases))
    return conversions


def _takers(files: Files, types: set[str]) -> set[str]:
    """Return the names of functions with a parameter of one of `types`, and of the types around
    them.
    """
    return {
        name
        for path in _files_mentioning(files, types)
        for definition in files.index(path).facts.definitions
        if any(not types.isdisjoint(WORD.findall(parameter.type)) for parameter in definition.parameters)
        for name in (definition.name, definition.scope.rpartition(".")[2])
    }


def _members_of_heirs(files: Files, types: set[str]) -> set[str]:
    """Return the names of the members of Ruby's types below `types`, which may call them."""
    heirs = {(files.home(path), definition.qualified) for path, definition in _heirs(files, types)}
    return set[str]().union(*(files.members_of(*heir) for heir in heirs))


def _heirs(files: Files, types: set[str]) -> Iterator[tuple[str, Definition]]:
    """Yield (path, definition) of Ruby's types below `types`, the last names of such."""
    passed, fresh = set[str](), types
    while fresh:
        passed |= fresh
        heirs = [
            (path, definition)
            for path, definition in _mixing_types(files, fresh)
            if any(_last_name(base) in fresh for base in definition.bases)
        ]
        yield from heirs
        fresh = {definition.name for _, definition in heirs} - passed


def _mixing_types(files: Files, names: set[str]) -> Iterator[tuple[str, Definition]]:
    """Yield (path, definition) of Ruby's types in files that mention one of `names`."""
    for path in _files_mentioning(files, names):
        if files.rules(path).included_hook:
            for definition in files.index(path).facts.definitions:
                if definition.kind in TYPE_KINDS:
                    yield path, definition


def _last_name(base: Base) -> str:
    return base.chain.rpartition(".")[2]


#: a type with bases: the package, the file and the qualified name
_MixingType = tuple[str, str, str]


def _bases_of_mixing_types(files: Files, paths: Iterable[str]) -> dict[_MixingType, list[Base]]:
    """Return the bases of Ruby's types in `paths`, without their places."""
    bases: dict[_MixingType, list[Base]] = {}
    for path in paths:
        if path in files.packed and files.rules(path).included_hook:
            for definition in files.index(path).facts.definitions:
                for base in definition.bases:
                    entry = Base(base.relation, base.chain, 0, 0, base.arguments)
                    bases.setdefault((files.home(path), path, definition.qualified), []).append(entry)
    return bases


def _modules_with_other_includers(
    files: Files, before: Mapping[_MixingType, list[Base]], after: Mapping[_MixingType, list[Base]]
) -> set[str]:
    """Return the files of Ruby's modules that are included in a type with other bases than before,
    or below one: their `self.class` is such a type.
    """
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    pending = {
        (key[0], key[2], base.chain)
        for key in changed
        for base in (*before.get(key, ()), *after.get(key, ()))
        if base.relation == "embeds"
    }
    names = {qualified.rpartition(".")[2] for *_, qualified in changed}
    for path, definition in _heirs(files, names) if names else ():
        pending |= _included_in(files.home(path), definition)
    paths, passed = set[str](), set[tuple[str, str, str]]()
    while pending:
        passed |= pending
        modules = [
            ref for home, inside, chain in pending for ref in _modules_named(files, home, inside, chain)
        ]
        paths |= {path for path, _ in modules}
        further = (
            _included_in(files.home(path), files.index(path).facts.definitions[at]) for path, at in modules
        )
        pending = set[tuple[str, str, str]]().union(*further) - passed
    return paths


def _included_in(home: str, definition: Definition) -> set[tuple[str, str, str]]:
    """Return (package, type, module) for the modules that a Ruby type includes."""
    return {
        (home, definition.qualified, base.chain) for base in definition.bases if base.relation == "embeds"
    }


def _modules_named(files: Files, home: str, inside: str, chain: str) -> Iterator[Ref]:
    """Yield the types that a chain may name in a type or in one around it."""
    while True:
        yield from files.types_named(home, f"{inside}.{chain}" if inside else chain)
        if not inside:
            return
        inside = inside.rpartition(".")[0]


def _includes_before(files: Files, changes: Mapping[str, Packed | None]) -> dict[str, tuple[str, ...]]:
    """The direct includes of all C and C++ files; {} if the changes leave them as they are."""
    for path, packed in changes.items():
        old = files.index(path).facts if path in files.packed else None
        new = head_of(packed) if packed is not None else None
        current = old or new
        if current is None or not files.rules_of(current.language).includes:
            continue
        if old is None or new is None or {i.module for i in old.imports} != {i.module for i in new.imports}:
            return files.includes.direct_of_all(files.homes.get(C_HOME, ()))
    return {}


def _types_with_members(files: Files, paths: Iterable[str]) -> set[str]:
    """Return the files of types that have members in one of `paths`: a type's node lists them."""
    owners: set[str] = set()
    for path in paths:
        if path in files.packed and files.home(path) != path:
            definitions = files.index(path).facts.definitions
            parts = files.rules(path).partial_types
            scopes = {
                definition.scope
                for definition in definitions
                if definition.scope and (parts or definition.parent < 0)
            }
            owners |= {ref[0] for scope in scopes for ref in files.types_named(files.home(path), scope)}
    return owners


def _listed_members(files: Files, paths: Iterable[str]) -> dict[tuple[str, str], list[object]]:
    """(package, type) → the parts of the type in `paths`: methods, listed by nodes, and bases."""
    listed: dict[tuple[str, str], list[object]] = {}
    for path in paths:
        if path in files.packed and (home := files.home(path)) != path:
            for definition in files.index(path).facts.definitions:
                if definition.bases:
                    listed.setdefault((home, definition.qualified), []).append((path, definition.bases))
                if definition.parent >= 0 and definition.kind == "method":
                    entry = path, definition.name, definition.parameters, definition.returns
                    listed.setdefault((home, definition.scope), []).append(entry)
    return listed


def _member_names(files: Files, path: str, key: str) -> set[str]:
    """Return the names of a type's members: calls on it, and on its subtypes, may use them.

    `key` is a key of `public_surface`; the result is empty for all kinds but "type".
    """
    kind, _, qualified = key.partition(" ")
    if kind != "type" or path not in files.packed:
        return set()
    return set(files.members_of(files.home(path), qualified))


def _files_mentioning(files: Files, words: set[str]) -> set[str]:
    """Return the files that mention one of `words`."""
    if not words:
        return set()
    wanted = {word.encode("utf-8", "surrogatepass") for word in words}
    lines = [b"\n%b\n" % word for word in wanted]

    def mentions(text: bytes) -> bool:
        if len(lines) <= WORDS_SEARCHED_MAX:
            return any(line in text for line in lines)
        return not wanted.isdisjoint(text.split(b"\n"))

    return {path for path, packed in files.packed.items() if mentions(bytes(packed.words))}  # mapped: a view


def _spread_names(files: Files, words: set[str]) -> set[str]:
    """Return `words` with the names whose values mention one of them, repeatedly.

    `def make(): return factory()` adds `make` to `factory`.
    """
    spread, fresh = set(words), set(words)
    names_by_path: dict[str, dict[str, set[str]]] = {}
    while fresh:
        carried: set[str] = set()
        for path in _files_mentioning(files, fresh):
            if path not in names_by_path:
                names_by_path[path] = {}
                for word, name in derived_names(files.index(path).facts, files.rules(path)):
                    names_by_path[path].setdefault(word, set()).add(name)
            for word in fresh & names_by_path[path].keys():
                carried |= names_by_path[path][word]
        fresh = carried - spread
        spread |= fresh
    return spread
