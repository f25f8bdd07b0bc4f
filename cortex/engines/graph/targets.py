"""Which nodes a target means: a full id, a unique end of one, a file's path or a line of it, in any
spelling (cortex/terms/spelling.py); the nearest names when there is none.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.members import Members
from cortex.engines.graph.places import PathIndex
from cortex.engines.graph.variants import merge_variants
from cortex.ranking.traces import find_frames
from cortex.system.arrays import Array
from cortex.terms.ids import enclosing_id, key_of, split_id, split_short, strip_overload
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.paths import is_built, is_example, is_foreign, is_test
from cortex.terms.spelling import FileLines, read_file_lines, read_symbol

#: ids that an answer lists when a target has several meanings, and names that it suggests when it
#: has none
LISTED = 10
SUGGESTED = 5

#: characters of a target that a guess repeats, and frames of a trace that are tried
SHOWN_CHARS_MAX, FRAMES_MAX = 80, 8

#: names that are written as those of members, `#save`, `.save` and `Disk#save`, and what is meant
_MEMBER, _METHODS = re.compile(r"\.\w|[^/\\]*#\w"), frozenset({"method"})
#: files of TypeScript that only declare what others define
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$")


@dataclass(frozen=True, slots=True)
class TargetMatch:
    """`nodes` are the numbers that are meant; none: `candidates` are the ids to choose from,
    `suggestion` the sentence. With `nodes` those are what else the target might have meant.
    """

    nodes: tuple[int, ...] = ()
    candidates: tuple[str, ...] = ()
    suggestion: str = ""


class Targets:
    """The names of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        modules = graph.nodes[graph.nodes[:, 1] == graph.kinds.get("module", -1)]
        #: number of a file's path → its node
        self._modules: dict[int, int] = dict(zip(modules[:, 2].tolist(), modules[:, 0].tolist(), strict=True))
        self._last_names: tuple[tuple[str, int], ...] | None = None
        self._folded: dict[str, list[int]] | None = None
        self._preferred: frozenset[str] = frozenset()
        #: whether a file is meant rather than a definition in it that has its name
        self._files_first = True
        #: how the paths of the files begin in which a name is meant rather than in others
        self._folder_prefix = ""
        self.path_index = PathIndex(graph, self._modules)
        self.method_owners = Members(graph)

    @property
    def files(self) -> list[str]:
        """The paths of all files in the graph."""
        return [self._graph.names[number] for number in self._modules]

    def module_of(self, file: int) -> int:
        """The node of the file whose path has the number `file`;
        that number itself when there is none.
        """
        return self._modules.get(file, file)

    def find(self, target: str, kinds: frozenset[str] = frozenset(), folder: str = "") -> TargetMatch:
        """What `target` means, in the folder `within` and one of `kinds` rather than another; of
        several meanings the one that stands out (`_outstanding`), with the others as candidates.
        What is no name as it is written is read in other ways, and `suggestion` says so where that
        is a guess.
        """
        target = target.strip()
        if meaning := self.find_meaning(target, kinds, folder):
            return meaning
        if not split_id(target):
            return TargetMatch(
                suggestion="The target is empty; pass the name of a type, function, method or file."
            )
        return self._explain_nothing(target, split_id(_first_reading(target)))

    def find_meaning(
        self, target: str, kinds: frozenset[str] = frozenset(), folder: str = ""
    ) -> TargetMatch | None:
        """As `find`; None for what means nothing, without the nearest names, which take long to
        find.
        """
        self._files_first = bool(kinds & WHOLE_KINDS)
        kinds -= WHOLE_KINDS
        self._preferred = kinds or (_METHODS if _MEMBER.match(target) else kinds)
        self._folder_prefix = f"{folder}/" if folder else ""
        if meaning := self._find_exact(target):
            return meaning
        if not split_id(target):
            return None
        if meaning := self._find_place(target):
            return meaning
        readings, name = read_symbol(target), _first_reading(target)
        full = [reading for reading in readings if len(split_id(reading)) >= len(split_id(name))]
        if meaning := next(filter(None, map(self._find_exact, full)), None):
            return meaning
        guesses = [(self._find_folded, reading) for reading in (target, *full)]
        for reading in readings:
            guesses += [] if reading in full else [(self._find_exact, reading), (self._find_folded, reading)]
        for find, reading in guesses:
            if meaning := find(reading):
                return self._mark_guess(target, meaning)
        return None

    def _mark_guess(self, target: str, meaning: TargetMatch) -> TargetMatch:
        """`found`, and that it is a guess."""
        quoted = target if len(target) <= SHOWN_CHARS_MAX else f"{target[:SHOWN_CHARS_MAX]}…"
        read = f" as {self._graph.names[meaning.nodes[0]]}" if meaning.nodes else " by the end of it"
        remark = f"There is no {quoted!r}; read{read}."
        return replace(meaning, suggestion=" ".join(filter(None, (remark, meaning.suggestion))))

    def _find_place(self, target: str) -> TargetMatch | None:
        """What a path, a line of a file, or a frame of a trace means."""
        places = [(read_file_lines(target), "")]
        places += [
            (FileLines(frame.path, frame.line), frame.name) for frame in find_frames(target)[:FRAMES_MAX]
        ]
        for place, name in places:
            files = self.path_index.files_with_line(
                self._in_folder(self.path_index.files(place.path)), place.line
            )
            best = [n for n in files if _rank_path(self._graph.names[n]) == 0] if len(files) > 1 else files
            line = f":{place.line}" if place.line else ""
            if len(best) != 1 and files:
                listed = tuple(f"{self._graph.names[n]}{line}" for n in files[:LISTED])
                return TargetMatch(
                    candidates=listed, suggestion=f"{target!r} may be any of: {', '.join(listed)}."
                )
            if best:
                around = self.path_index.definition_around(best[0], place.line) if place.line else None
                others = tuple(f"{self._graph.names[n]}{line}" for n in files if n not in best)[:LISTED]
                also = f"Also called {target!r}: {', '.join(others)}." if others else ""
                if place.line and around is None:
                    also = f"Line {place.line} is in no definition; read as the whole file. {also}".rstrip()
                bodies = self.method_owners.declaration_and_bodies(around) if around is not None else []
                nodes = dict.fromkeys((self._modules[best[0]] if around is None else around, *bodies))
                return TargetMatch(tuple(nodes), others, also)
            if name and (meaning := self._find_exact(name)):
                return meaning
        return None

    def _find_exact(self, target: str) -> TargetMatch | None:
        """What `target` is the name of, as it is written; None when there is no such."""
        graph = self._graph
        number = graph.names.number(target)
        if number >= 0 and graph.node_of[number] >= 0:
            module = graph.names.number(f"{target}:{target}") if not self._files_first else -1
            if module >= 0 and graph.node_of[module] >= 0 and graph.kind(number) == "module":
                return TargetMatch(
                    self.copies(module), (target,), f"Also called {target!r}: the file {target}."
                )
            return TargetMatch(self.copies(number))
        if number in self._modules:
            return TargetMatch((self._modules[number],))
        parts = split_id(target)
        if not parts:
            return None
        return self._resolve(self._find_inside_file(target) or self._find_by_end(parts), target)

    def _find_folded(self, target: str) -> TargetMatch | None:
        """What `target` is the name of, in any case and without regard to underscores."""
        graph = self._graph
        if self._folded is None:
            self._folded = {}
            for last, key in self._list_last_names():
                self._folded.setdefault(_fold_part(last), []).append(key)
        parts = [_fold_part(name_part) for name_part in split_id(target)]
        if not parts:
            return None
        rows = [row for key in self._folded.get(parts[-1], ()) for row in graph.by_last.of(key).tolist()]
        numbers = graph.nodes[rows, 0].tolist() if rows else []
        names = ((n, graph.names[n]) for n in numbers)
        return self._resolve([n for n, name in names if _folded_name_ends(name, parts)], target)

    def _resolve(self, numbers: list[int], target: str) -> TargetMatch | None:
        """Of the nodes that a name may mean those that it does; None for no nodes."""
        groups: dict[str, list[int]] = {}
        for n in self._narrow(numbers, target):
            groups.setdefault(self._meaning(n), []).append(n)
        if not groups:
            return None
        groups = merge_variants(self._graph, groups)
        outstanding = self._find_outstanding(groups)
        # A name by itself is that of a function more often than of a method deep inside something.
        listed = sorted(
            groups.keys() - {outstanding},
            key=lambda meaning: (len(split_id(meaning.partition(":")[2])), meaning),
        )
        listing = f"{', '.join(listed[:LISTED])}{f' and {len(listed) - LISTED} more' if len(listed) > LISTED else ''}."
        if outstanding is not None:
            more = f"Also called {target!r}: {listing}" if listed else ""
            nodes = dict.fromkeys(copy for number in groups[outstanding] for copy in self.copies(number))
            return TargetMatch(tuple(nodes), tuple(listed[:LISTED]), more)
        return TargetMatch(
            candidates=tuple(listed[:LISTED]),
            suggestion=f"{target!r} may be any of {len(listed)}; ask again with one of: {listing}",
        )

    def _find_inside_file(self, target: str) -> list[int]:
        """The nodes of a target with a whole path in it: `src/store.ts:Disk.save`."""
        path, _, scope = target.replace("::", ":").replace("#", ":").partition(":")
        files = self._in_folder(self.path_index.files(path)) if scope and "." in path else []
        module = self._modules.get(files[0]) if len(files) == 1 else None
        if module is None or not scope:
            return []
        scope = scope.replace(":", ".")
        scope = next(iter(read_symbol(scope)), scope) if "(" in scope else scope
        number = self._graph.names.number(f"{self._graph.names[module]}:{scope}")
        return list(self.copies(number)) if number >= 0 else []

    def _narrow(self, numbers: list[int], target: str) -> list[int]:
        """Without those that are hardly meant, as long as others are left: files beside definitions
        of their name, constructors beside their class, and what only the function around it can
        name.
        """
        graph = self._graph
        if self._folder_prefix:
            numbers = [n for n in numbers if graph.names[n].startswith(self._folder_prefix)] or numbers
        if "/" not in target:
            numbers = [n for n in numbers if graph.kind(n) not in WHOLE_KINDS] or numbers
        numbers = [n for n in numbers if graph.kind(n) in self._preferred] or numbers
        keys = set(graph.names.keys[numbers].tolist()) if numbers else set()
        outer = {n: self._enclosing_key(n) for n in numbers}
        numbers = [
            n for n in numbers if outer[n] not in keys or not _repeats_last_name(graph.names[n])
        ] or numbers
        enclosing = {n: graph.kind(int(graph.names.numbers(np.array([outer[n]]))[0])) for n in numbers}
        return [n for n in numbers if enclosing[n] not in ("function", "method")] or numbers

    def _in_folder(self, files: list[int]) -> list[int]:
        """Of the numbers of paths those in the folder that is meant, if any is."""
        if not self._folder_prefix:
            return files
        return [file for file in files if self._graph.names[file].startswith(self._folder_prefix)] or files

    def _enclosing_key(self, number: int) -> int:
        """The key of what encloses a node."""
        return key_of(enclosing_id(self._graph.names[number]))

    def _meaning(self, number: int) -> str:
        """An id without its overload's number; of what Ruby opens again in other files the name
        alone, of what C# writes in parts the folder of its files with it, of a method that C++
        defines outside of its type the declaration's.
        """
        name = strip_overload(
            self._graph.names[next(iter(self.method_owners.declaration_and_bodies(number)), number)]
        )
        path, kind = self._graph.file_of(number), self._graph.kind(number)
        stem, _, scope = name.partition(":")
        if path.endswith(".rb") and kind in ("class", "trait"):
            return scope
        if path.endswith(".cs") and scope:
            folder = stem.rpartition("/")[0]
            return f"{folder}:{scope}" if folder else scope
        return name

    def _find_outstanding(self, groups: dict[str, list[int]]) -> str | None:
        """The one meaning, or the only one that is in the project's main code;
        None when there is no such.
        """
        graph = self._graph
        ranks: dict[str, int] = {}
        for meaning, numbers in groups.items():
            files = graph.nodes[graph.node_of[numbers], 2].tolist()
            ranks[meaning] = min(_rank_path(graph.names[file]) for file in files)
        best = [meaning for meaning, rank in ranks.items() if rank == min(ranks.values())]
        return best[0] if len(best) == 1 else None

    def copies(self, number: int) -> tuple[int, ...]:
        """A definition and its overloads; of a method of C++ those in its type and outside."""
        names, numbers = self._graph.names, list[int]()
        for definition in dict.fromkeys((number, *self.method_owners.declaration_and_bodies(number))):
            copies = [definition]
            while (copy := names.number(f"{names[definition]}~{len(copies) + 1}")) >= 0:
                copies.append(copy)
            numbers += copies
        return tuple(n for n in dict.fromkeys(numbers) if self._graph.node_of[n] >= 0)

    def _find_by_end(self, parts: list[str]) -> list[int]:
        """The nodes whose ids end in `parts`; the file's own name may be left out of them."""
        graph = self._graph
        rows = graph.by_last.of(key_of(parts[-1]))
        if len(parts) > 1:
            wanted = np.uint64(key_of(parts[-2]))
            rows = rows[(graph.seconds[rows] == wanted) | (graph.shorts[rows] == wanted)]
        numbers: list[int] = graph.nodes[rows, 0].tolist()
        if len(parts) == 1:
            return numbers
        return [n for n in numbers if _name_ends(graph.names[n], parts)]

    def _explain_nothing(self, target: str, parts: list[str]) -> TargetMatch:
        near = self.near(parts[-1])
        hint = f" Nearest: {', '.join(near)}." if near else ""
        return TargetMatch(
            candidates=tuple(near),
            suggestion=f"There is no {target!r} in the graph.{hint} Names are those of definitions in indexed files; "
            "cortex_exact finds any other word.",
        )

    def near(self, name: str) -> list[str]:
        """Ids whose last name is nearest to `name` by edits, at most SUGGESTED."""
        graph = self._graph
        folded: dict[str, list[int]] = {}
        for last, key in self._list_last_names():
            if abs(len(last) - len(name)) <= 3 and _may_resemble(last, name.lower()):
                folded.setdefault(last, []).append(key)
        nearest = difflib.get_close_matches(name.lower(), folded, n=SUGGESTED, cutoff=0.6)
        rows = [row for low in nearest for key in folded[low] for row in graph.by_last.of(key).tolist()]
        return [graph.names[number] for number in graph.nodes[rows[:SUGGESTED], 0].tolist()]

    def _list_last_names(self) -> tuple[tuple[str, int], ...]:
        """(last name, lower-cased; its key) of all nodes;
        made for the first name that is not found.
        """
        if self._last_names is None:
            graph = self._graph
            keys, first = np.unique(graph.by_last.keys, return_index=True)
            numbers = graph.nodes[graph.by_last.rows[first], 0].tolist()
            lasts = ("".join(split_id(graph.names[number])[-1:]).lower() for number in numbers)
            self._last_names = tuple(zip(lasts, keys.tolist(), strict=True))
        return self._last_names

    def members(self, numbers: Iterable[int]) -> list[int]:
        """`numbers` with every node below them: a type's methods, in other files too, a module's
        definitions, a package's modules.
        """
        graph = self._graph
        starting = list(dict.fromkeys(numbers))
        reached = [
            *starting,
            *(method for number in starting for method in self.method_owners.methods_elsewhere(number)),
        ]
        visited = set(reached)
        level: Array = np.array(reached, "<i8")
        while len(level):
            below = graph.nodes[graph.by_above.of_all(graph.names.keys[level]), 0].tolist()
            fresh = [number for number in below if number not in visited]
            visited.update(fresh)
            reached += fresh
            level = np.array(fresh, "<i8")
        return reached


def _first_reading(target: str) -> str:
    """The target as its first reading spells it."""
    readings = read_symbol(target)
    return readings[0] if readings else target


def _repeats_last_name(name: str) -> bool:
    """Whether the last two names of an id are the same:
    a constructor that is called as its class is.
    """
    *_, outer, other = ["", "", *split_id(name)]
    return outer == other


def _rank_path(path: str) -> int:
    """0 for main code, 1 for declarations, tests and examples,
    2 for what is built or comes from elsewhere.
    """
    if is_foreign(path) or is_built(path):
        return 2
    is_minor = is_test(path) or is_example(path) or _DECLARATIONS.search(path) is not None
    return 1 if is_minor else 0


def _name_ends(name: str, parts: list[str]) -> bool:
    """Whether an id ends in `parts`; its file's own name may be left out (Go: `package.Name`)."""
    return any(components[-len(parts) :] == parts for components in (split_id(name), split_short(name)))


def _fold_part(component: str) -> str:
    """A part of a name, in any case and convention: `diskStore`, `disk_store`, `DiskStore`."""
    return component.replace("_", "").lower() or component


def _folded_name_ends(name: str, parts: list[str]) -> bool:
    """As `_ends`, for parts that are folded."""
    wholes = (split_id(name), split_short(name))
    return any(
        [_fold_part(component) for component in components[-len(parts) :]] == parts for components in wholes
    )


def _may_resemble(name: str, other: str) -> bool:
    """A cheap look before edits are counted:
    the same beginning or end, or most letters in common.
    """
    return (
        name[:1] == other[:1]
        or name[-2:] == other[-2:]
        or len(set(name) & set(other)) >= 0.7 * len(set(other))
    )
