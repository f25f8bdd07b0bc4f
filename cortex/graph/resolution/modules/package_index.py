"""Definitions, fields and top bindings of packages and name spaces that several files share, by
scope and name. It stores only their places.
"""

import bisect
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from cortex.graph.facts.facts import TESTED
from cortex.graph.facts.tables import FileIndex, Ref

NO_MEMBERS: Mapping[str, list[Ref]] = {}
K = TypeVar("K")
V = TypeVar("V")


class PackageIndex:
    """An index that changes with its project."""

    def __init__(self) -> None:
        #: package → its files, in order
        self.homes: dict[str, list[str]] = {}
        #: (package, scope) → name → definitions
        self._members: dict[tuple[str, str], dict[str, list[Ref]]] = {}
        #: (package, type) → name → files with values of its field
        self._fields: dict[tuple[str, str], dict[str, list[str]]] = {}
        #: (package, name) → files that bind it at their top
        self._tops: dict[tuple[str, str], list[str]] = {}
        #: (package, scope) → definitions in scopes within it: a name space may hold only other ones
        self._nested_counts: Counter[tuple[str, str]] = Counter()

    def members_of(self, home: str, scope: str) -> Mapping[str, list[Ref]]:
        return self._members.get((home, scope), NO_MEMBERS)

    def has_scope(self, home: str, scope: str) -> bool:
        return (home, scope) in self._members or (home, scope) in self._nested_counts

    def defines(self, home: str, scope: str) -> bool:
        """Return True if the scope itself has definitions."""
        return (home, scope) in self._members

    def fields_of(self, home: str, qualified: str, name: str) -> Sequence[str]:
        return self._fields.get((home, qualified), {}).get(name, ())

    def tops_of(self, home: str, name: str) -> Sequence[str]:
        return self._tops.get((home, name), ())

    def add(self, path: str, home: str, index: FileIndex, refs: Sequence[Ref], *, nested: bool) -> None:
        """Add a file; `nested`: its scopes may be inside others without definitions."""
        for ref, definition in zip(refs, index.facts.definitions, strict=True):
            if TESTED in definition.flags:
                continue
            name, scope = sys.intern(definition.name), sys.intern(definition.scope)
            add_sorted(self._members.setdefault((home, scope), {}), name, ref)
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
    while scope := scope.rpartition(".")[0]:
        yield sys.intern(scope)


def _top_names(index: FileIndex) -> Iterator[str]:
    """Yield the names that a file binds at its top outside of blocks; a test macro is a block."""
    for (_, name), bindings in index.top_bindings.items():
        if not all(binding.until for binding in bindings):
            yield name


def add_sorted(table: dict[K, list[V]], key: K, value: V) -> None:
    """Add to one of a table's lists, which stay sorted whatever the order of additions."""
    values = table.get(key)
    if values is None:
        table[key] = [value]
    elif value > values[-1]:  # type: ignore[operator]  # paths and refs have an order
        values.append(value)
    else:
        bisect.insort(values, value)  # type: ignore[call-overload]


def remove_sorted(table: dict[K, list[V]], key: K, value: V) -> None:
    """Remove from one of a table's lists; drop it when it is empty."""
    values = table[key]
    values.remove(value)
    if not values:
        del table[key]


def remove_nested(
    table: dict[tuple[str, str], dict[str, list[V]]], key: tuple[str, str], name: str, value: V
) -> None:
    """Remove from a list of an inner table; drop the table when it is empty."""
    remove_sorted(table[key], name, value)
    if not table[key]:
        del table[key]
