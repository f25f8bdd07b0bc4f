"""What files say of a home that they share (a package, a name space): definitions by scope and
name, fields of types, names bound at the top. Only where each is.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cortex.graph.facts.facts import TESTED
from cortex.graph.facts.tables import FileIndex, Ref
from cortex.graph.resolution.sorted_lists import add_sorted, remove_nested, remove_sorted

NO_MEMBERS: Mapping[str, list[Ref]] = {}


class PackageIndex:
    """Changed with its project."""

    def __init__(self) -> None:
        #: home → its files, in order
        self.homes: dict[str, list[str]] = {}
        #: (home, scope) → name → definitions
        self._members: dict[tuple[str, str], dict[str, list[Ref]]] = {}
        #: (home, type) → name → files that say of its field what it holds
        self._fields: dict[tuple[str, str], dict[str, list[str]]] = {}
        #: (home, name) → files that bind it at their top
        self._tops: dict[tuple[str, str], list[str]] = {}
        #: (home, scope) → definitions in scopes within it: name spaces may hold others alone
        self._nested_counts: Counter[tuple[str, str]] = Counter()

    def members_of(self, home: str, scope: str) -> Mapping[str, list[Ref]]:
        return self._members.get((home, scope), NO_MEMBERS)

    def has_scope(self, home: str, scope: str) -> bool:
        return (home, scope) in self._members or (home, scope) in self._nested_counts

    def defines(self, home: str, scope: str) -> bool:
        """Whether something is defined in that scope itself."""
        return (home, scope) in self._members

    def fields_of(self, home: str, qualified: str, name: str) -> Sequence[str]:
        return self._fields.get((home, qualified), {}).get(name, ())

    def tops_of(self, home: str, name: str) -> Sequence[str]:
        return self._tops.get((home, name), ())

    def add(self, path: str, home: str, index: FileIndex, *, nested: bool) -> None:
        """A file; `nested`: its scopes may lie in others that define nothing."""
        for at, definition in enumerate(index.facts.definitions):
            if TESTED in definition.flags:
                continue
            name, scope = sys.intern(definition.name), sys.intern(definition.scope)
            add_sorted(self._members.setdefault((home, scope), {}), name, (path, at))
            if nested and "." in scope:
                self._nested_counts.update((home, outer) for outer in _outer_scopes(scope))
        add_sorted(self.homes, home, path)
        for qualified, names in index.fields.items():
            for name in names:
                add_sorted(self._fields.setdefault((home, sys.intern(qualified)), {}), sys.intern(name), path)
        for name in _top_names(index):
            add_sorted(self._tops, (home, sys.intern(name)), path)

    def remove(self, path: str, home: str, index: FileIndex, *, nested: bool) -> None:
        for at, definition in enumerate(index.facts.definitions):
            if TESTED in definition.flags:
                continue
            remove_nested(self._members, (home, definition.scope), definition.name, (path, at))
            for outer in _outer_scopes(definition.scope) if nested else ():
                self._nested_counts[home, outer] -= 1
                if not self._nested_counts[home, outer]:
                    del self._nested_counts[home, outer]
        remove_sorted(self.homes, home, path)
        for qualified, names in index.fields.items():
            for name in names:
                remove_nested(self._fields, (home, qualified), name, path)
        for name in _top_names(index):
            remove_sorted(self._tops, (home, name), path)


def _outer_scopes(scope: str) -> Iterator[str]:
    """The scopes in which a scope lies."""
    while scope := scope.rpartition(".")[0]:
        yield sys.intern(scope)


def _top_names(index: FileIndex) -> Iterator[str]:
    """The names that a file binds at its top, not in a block there: a test by a macro is one."""
    for (_, name), bindings in index.top_bindings.items():
        if not all(binding.until for binding in bindings):
            yield name
