"""Resolution of a query's target to nodes: a full id, a unique end of one, a file's path or a line
in it, in any spelling (cortex/terms/text/spelling.py); the nearest names without a match.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.lookup.meanings import Meanings, rank_path
from cortex.engines.graph.lookup.members import Members
from cortex.engines.graph.lookup.nearest import SUGGESTED, NearestNames, fold_part
from cortex.engines.graph.lookup.places import PathIndex
from cortex.engines.graph.lookup.variants import merge_variants
from cortex.engines.graph.routes import Routes, describe_routes
from cortex.ranking.traces import find_frames, looks_like_path
from cortex.system.arrays import Array
from cortex.terms.ids import enclosing_id, key_of, split_id, split_short, strip_overload
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.text.spelling import FileLines, read_file_lines, read_quoted, read_symbol, spellings

#: ids listed for an ambiguous target
LISTED = 10

#: characters of a target that a remark repeats, and frames of a trace that are tried
SHOWN_CHARS_MAX, FRAMES_MAX = 80, 8

#: spellings of members, `#save`, `.save` and `Disk#save`, and the kinds that they mean
_MEMBER, _METHODS = re.compile(r"\.\w|[^/\\]*#\w"), frozenset({"method"})
#: a name with the path of its file or folder: `Disk.save in src/disk.ts`
_IN_PATH = re.compile(r"(?P<name>[^\s/\\]+(?:\(.*\))?)\s+(?:in|from|of)\s+`?(?P<path>[^\s`]+)`?")


@dataclass(frozen=True, slots=True)
class TargetMatch:
    """The result of a resolution. `nodes`: numbers of the matching nodes. Without any, `candidates`
    are ids to choose from and `suggestion` the sentence; `ambiguous`: the target means each of
    them. With nodes candidates are other possible meanings, and `remark` names its overloads.
    `folder`: the target is this folder, and the nodes its files.
    """

    nodes: tuple[int, ...] = ()
    candidates: tuple[str, ...] = ()
    suggestion: str = ""
    ambiguous: bool = False
    remark: str = ""
    folder: str = ""


class Targets:
    """Resolves targets in one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        modules = graph.nodes[graph.nodes[:, 1] == graph.kinds.get("module", -1)]
        #: number of a file's path → its node
        self._modules: dict[int, int] = dict(zip(modules[:, 2].tolist(), modules[:, 0].tolist(), strict=True))
        self._preferred: frozenset[str] = frozenset()
        #: whether a file is preferred over a definition in it with the same name
        self._files_first = True
        #: path prefix of files that are preferred
        self._folder_prefix = ""
        self.path_index = PathIndex(graph, self._modules)
        self.method_owners = Members(graph)
        self._meanings = Meanings(graph, self._modules, self.method_owners)
        self._nearest = NearestNames(graph)
        self.routes = Routes(graph)

    @property
    def files(self) -> list[str]:
        """The paths of all files in the graph."""
        return [self._graph.names[number] for number in self._modules]

    def module_of(self, file: int) -> int:
        """The node of the file whose path has the number `file`; `file` itself without a node."""
        return self._modules.get(file, file)

    def find(
        self, target: str, kinds: frozenset[str] = frozenset(), folder: str = "", *, nearest: bool = True
    ) -> TargetMatch:
        """Resolve `target`, with a preference for nodes in `folder` and of `kinds`. Of several
        meanings the outstanding one is returned (`_find_outstanding`), the others as candidates. A
        target that is no exact name is read in other ways; `suggestion` says so if that is a guess.
        A path without its file is never read as another file or as a name. `nearest`: an unknown
        target gets the nearest names, which take long to find.
        """
        target = target.strip()
        if meaning := self.find_meaning(target, kinds, folder):
            return meaning
        if not nearest:
            return TargetMatch()
        if not split_id(target):
            problem = f"{target!r} names nothing" if target else "The target is empty"
            return TargetMatch(suggestion=f"{problem}; pass the name of a type, function, method or file.")
        return self._explain_nothing(target, split_id(_first_reading(target)))

    def find_meaning(
        self, target: str, kinds: frozenset[str] = frozenset(), folder: str = ""
    ) -> TargetMatch | None:
        """As `find`, but None for an unknown target: without the nearest names, which take long to
        find.
        """
        self._files_first = bool(kinds & WHOLE_KINDS)
        kinds -= WHOLE_KINDS
        self._preferred = kinds or (_METHODS if _MEMBER.match(target) else kinds)
        self._folder_prefix = f"{folder}/" if folder else ""
        if meaning := self._find_route(target, with_method=True):
            return meaning
        if match := _IN_PATH.fullmatch(target):
            meaning = self._find_in_path(target, match["name"], match["path"])
            if meaning is not None:
                return meaning
        for spelling in spellings(target):
            if meaning := self._find_folder(spelling) or self._find_exact(spelling):
                return self._prefer_folder(target, meaning)
        if target.startswith("/") and (meaning := self._find_route(target, with_method=False)):
            return meaning
        if not split_id(target):
            return None
        package = f"{target.replace('.', '/')}/" if self._files_first or "/" in target else ""
        if meaning := self._find_folder(f"{target}/") or self._find_folder(package):
            return meaning
        quoted, needs_quotes = read_quoted(target)
        if quoted and (meaning := self._find_exact(quoted)):
            return meaning
        if needs_quotes:
            return None
        if meaning := self._find_place(target):
            return meaning
        readings, name = read_symbol(target), _first_reading(target)
        full = [reading for reading in readings if len(split_id(reading)) >= len(split_id(name))]
        if meaning := next(filter(None, map(self._find_exact, full)), None):
            return meaning
        is_path = self._names_missing_file(target)
        for reading in (target, *full):
            if meaning := self._find_folded(reading, files=not is_path):
                return self._mark_guess(target, meaning)
        # The last parts of a path that is not there are another file's, or no name at all.
        shorter = () if is_path else (reading for reading in readings if reading not in full)
        for reading in shorter:
            meaning = self._find_exact(reading, files=False) or self._find_folded(reading, files=False)
            if meaning:
                return self._mark_guess(target, meaning)
        return None

    def _find_route(self, target: str, *, with_method: bool) -> TargetMatch | None:
        """The handlers of a route: `POST /orders`."""
        routes = self.routes.meant(target, with_method=with_method)
        if not routes and with_method and self.routes.is_route(target):
            near, hint = self.routes.describe_nearest(target, SUGGESTED)
            return TargetMatch(candidates=tuple(near), suggestion=f"There is no route {target!r}. {hint}")
        if not routes:
            return None
        handlers = {handler: None for route in routes for handler in self.routes.handlers(route)}
        meanings = {strip_overload(self._graph.names[number]) for number in handlers}
        route_remark = describe_routes(routes, LISTED)
        if len(meanings) == 1:
            return TargetMatch(tuple(handlers), suggestion=route_remark)
        listed = sorted(meanings)[:LISTED]
        return TargetMatch(
            candidates=tuple(listed),
            suggestion=f"{route_remark} The handlers: {', '.join(listed)}.",
            ambiguous=True,
        )

    def _find_in_path(self, target: str, name: str, path: str) -> TargetMatch | None:
        """The meaning of a name in a file or folder; without one there, of the name alone."""
        index = self.path_index
        files = {self._graph.names[number] for number in index.files_meant(path)}
        folders = tuple(f"{root}/" for root in index.roots(path) if root not in files)
        if not files and not folders:
            modules = (number for number in self._find_by_end(split_id(path)) if self._is_file(number))
            files = {self._graph.file_of(number) for number in modules}
        reading = next(iter(read_symbol(name)), name)
        if not files and not folders and not looks_like_path(path):
            return self._find_exact(f"{path}.{reading}")
        numbers = [
            number
            for number in self._find_by_end(split_id(reading))
            if (file := self._graph.file_of(number)) in files or file.startswith(folders or ("//",))
        ]
        if meaning := self._resolve(numbers, name):
            return meaning
        alone = self._find_exact(reading) or self._find_folded(reading, files=False)
        return self._mark_guess(target, alone) if alone else self._explain_nothing(target, split_id(reading))

    def _find_folder(self, target: str) -> TargetMatch | None:
        """The files of a folder that is no package of its own, by its whole path or one that ends
        as the target; None for other targets.
        """
        path = target.strip("/")
        is_path = "/" in target.strip() and (self._files_first or target.endswith("/"))
        number = self._graph.names.number(path)
        if not is_path or (number >= 0 and (self._is_file(number) or number in self._modules)):
            return None
        roots = self._folders(path)
        roots = [root for root in roots if root == path] or roots
        if len(roots) != 1:
            return None
        names = zip(self.files, self._modules.values(), strict=True)
        inside = [module for file, module in sorted(names) if file.startswith(f"{roots[0]}/")]
        return TargetMatch(tuple(inside), folder=roots[0]) if inside else None

    def _folders(self, path: str) -> list[str]:
        """The folders whose paths end as `path` does."""
        roots = self.path_index.roots(path)
        return [root for root in roots if self._graph.names.number(root) not in self._modules]

    def _prefer_folder(self, target: str, meaning: TargetMatch) -> TargetMatch:
        """The folder of a bare name, `plugins`, where files are meant and `meaning` is none; beside
        a file, and where there are several, folders are other meanings.
        """
        name = target.removesuffix("/")
        if not self._files_first or not name.isidentifier() or meaning.folder:
            return meaning
        numbers = meaning.nodes or [self._graph.names.number(other) for other in meaning.candidates]
        folder = self._find_folder(f"{name}/")
        if folder is not None and not any(map(self._is_file, numbers)):
            others = (*map(self._graph.names.__getitem__, meaning.nodes[:1]), *meaning.candidates)[:LISTED]
            return replace(
                folder, candidates=others, suggestion=f"Also called {target!r}: {', '.join(others)}."
            )
        if not (roots := self._folders(name)):
            return meaning
        also = f"{meaning.suggestion} Folders called {name!r}: {', '.join(roots[:LISTED])}.".lstrip()
        return replace(meaning, candidates=(*meaning.candidates, *roots)[:LISTED], suggestion=also)

    def _mark_guess(self, target: str, meaning: TargetMatch) -> TargetMatch:
        """The match with a remark that it is a guess."""
        quoted = target if len(target) <= SHOWN_CHARS_MAX else f"{target[:SHOWN_CHARS_MAX]}…"
        read = f" as {self._graph.names[meaning.nodes[0]]}" if meaning.nodes else " by its last part"
        remark = f"There is no {quoted!r}; read{read}."
        return replace(meaning, suggestion=" ".join(filter(None, (remark, meaning.suggestion))))

    def _find_place(self, target: str) -> TargetMatch | None:
        """The meaning of a path, a line of a file, or a frame of a trace."""
        frames = find_frames(target)[:FRAMES_MAX]
        places = [(read_file_lines(target), "", self.path_index.files_meant)]
        places += [(FileLines(frame.path, frame.line), frame.name, self.path_index.files) for frame in frames]
        for place, name, find in places:
            files = self.path_index.files_with_line(self._in_folder(find(place.path)), place.line)
            best = [n for n in files if rank_path(self._graph.names[n]) == 0] if len(files) > 1 else files
            line = f":{place.line}" if place.line else ""
            if len(best) != 1 and files:
                listed = tuple(f"{self._graph.names[n]}{line}" for n in files[:LISTED])
                return TargetMatch(
                    candidates=listed,
                    suggestion=f"{target!r} may be any of: {', '.join(listed)}.",
                    ambiguous=True,
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

    def _find_exact(self, target: str, *, files: bool = True) -> TargetMatch | None:
        """The meaning of `target` as an exact name; None without one. `files`: of a file, too."""
        graph = self._graph
        number = graph.names.number(target)
        if not files and (number in self._modules or (number >= 0 and self._is_file(number))):
            return None
        if number >= 0 and graph.node_of[number] >= 0:
            if not self._files_first and graph.kind(number) == "module":
                definition = self._find_instead_of_file(target, number)
                if definition:
                    return TargetMatch(definition, (target,), f"Also called {target!r}: the file {target}.")
            return TargetMatch(self.copies(number))
        if number in self._modules:
            return TargetMatch((self._modules[number],))
        parts = split_id(target)
        if not parts:
            return None
        numbers = self._find_inside_file(target) or self._find_by_end(parts)
        return self._resolve(numbers if files else self._without_files(numbers), target)

    def _find_instead_of_file(self, target: str, module: int) -> tuple[int, ...]:
        """The definition in a file that has its name; where no code names files without their
        endings (C), also the only type of this name in another file.
        """
        graph = self._graph
        same = graph.names.number(f"{target}:{target}")
        if same >= 0 and graph.node_of[same] >= 0:
            return self.copies(same)
        if not language_of(graph.file_of(module)).headers:
            return ()
        types = [n for n in self._find_by_end([target]) if graph.kind(n) in TYPE_KINDS]
        meaning = self._resolve(types, target)
        return meaning.nodes if meaning else ()

    def _names_missing_file(self, target: str) -> bool:
        """Whether a target is a path with a file ending, with or without a line or a name after it,
        whose file is not in the graph.
        """
        path, _, scope = target.replace("::", ":").replace("#", ":").partition(":")
        path = path if scope and "/" in path else read_file_lines(target).path
        return looks_like_path(path) and self._graph.names.number(path) < 0

    def _is_file(self, number: int) -> bool:
        return bool(self._graph.node_of[number] >= 0) and self._graph.kind(number) in WHOLE_KINDS

    def _without_files(self, numbers: Iterable[int]) -> list[int]:
        return [number for number in numbers if not self._is_file(number)]

    def _without_endings(self, numbers: list[int]) -> list[int]:
        """`numbers` without files of which only the ending was named: `py` ends the id of
        `lib/util.py` where `lib/util.js` is beside it, and is no name.
        """
        names = self._graph.names
        return [n for n in numbers if "." not in names[n].rpartition("/")[2] or not self._is_file(n)]

    def _find_folded(self, target: str, *, files: bool) -> TargetMatch | None:
        """The meaning of `target` as a name, ignoring case and underscores; `files` as
        `_find_exact`.
        """
        graph = self._graph
        parts = [fold_part(name_part) for name_part in split_id(target)]
        if not parts:
            return None
        rows = [
            row for key in self._nearest.folded.get(parts[-1], ()) for row in graph.by_last.of(key).tolist()
        ]
        numbers = graph.nodes[rows, 0].tolist() if rows else []
        names = ((n, graph.names[n]) for n in numbers)
        matches = [n for n, name in names if _folded_name_ends(name, parts)]
        matches = self._without_endings(matches) if len(parts) == 1 else matches
        return self._resolve(matches if files else self._without_files(matches), target)

    def _resolve(self, numbers: list[int], target: str) -> TargetMatch | None:
        """Choose among the nodes that a name may mean; None for no nodes."""
        graph, groups = self._graph, dict[str, list[int]]()
        for n in self._narrow(numbers, target):
            groups.setdefault(self._meanings.meaning_of(n), []).append(n)
        if not groups:
            return None
        groups = merge_variants(graph, self._meanings.drop_imports(groups))
        outstanding = self._meanings.find_outstanding(groups, target)
        # A short id first: functions are meant more often than methods deep inside of something.
        listed = sorted(
            groups.keys() - {outstanding},
            key=lambda meaning: (len(split_id(meaning.partition(":")[2])), meaning),
        )
        listing = f"{', '.join(listed[:LISTED])}{f' and {len(listed) - LISTED} more' if len(listed) > LISTED else ''}."
        if outstanding is not None:
            more = f"Also called {target!r}: {listing}" if listed else ""
            numbers = sorted(groups[outstanding], key=self._meanings.order)
            nodes = dict.fromkeys(copy for number in numbers for copy in self.copies(number))
            return TargetMatch(tuple(nodes), tuple(listed[:LISTED]), more)
        return TargetMatch(
            candidates=tuple(listed[:LISTED]),
            suggestion=f"{target!r} may be any of {len(listed)}; ask again with one of: {listing}",
            ambiguous=True,
        )

    def _find_inside_file(self, target: str) -> list[int]:
        """Nodes of a target such as `src/store.ts:Disk.save`; its path has to mean one file."""
        path, _, scope = target.replace("::", ":").replace("#", ":").partition(":")
        files = self._in_folder(self.path_index.files_meant(path)) if scope and "." in path else []
        module = self._modules.get(files[0]) if len(files) == 1 else None
        if module is None or not scope:
            return []
        scope = scope.replace(":", ".")
        scope = next(iter(read_symbol(scope)), scope) if "(" in scope else scope
        number = self._graph.names.number(f"{self._graph.names[module]}:{scope}")
        return list(self.copies(number)) if number >= 0 else []

    def _narrow(self, numbers: list[int], target: str) -> list[int]:
        """Remove unlikely meanings, unless none would be left: files if definitions have their
        name, constructors if their class matches and the target does not repeat its name, and
        definitions inside of functions.
        """
        graph = self._graph
        if self._folder_prefix:
            numbers = [n for n in numbers if graph.names[n].startswith(self._folder_prefix)] or numbers
        if "/" not in target:
            numbers = [n for n in numbers if graph.kind(n) not in WHOLE_KINDS] or numbers
            numbers = self._in_package(numbers, split_id(target)) or numbers
        numbers = [n for n in numbers if graph.kind(n) in self._preferred] or numbers
        keys = set(graph.names.keys[numbers].tolist()) if numbers else set()
        outer = {n: key_of(enclosing_id(graph.names[n])) for n in numbers}
        if not _repeats_last_name(target):
            numbers = [
                n
                for n in numbers
                if not _repeats_last_name(graph.names[n])
                # the body of a constructor may be in another file than its class
                or (outer[n] not in keys and self.method_owners.owner(n) not in numbers)
            ] or numbers
        else:
            numbers = [n for n in numbers if _repeats_last_name(graph.names[n].partition(":")[2])] or numbers
        enclosing = {n: graph.kind(int(graph.names.numbers(np.array([outer[n]]))[0])) for n in numbers}
        return [n for n in numbers if enclosing[n] not in ("function", "method")] or numbers

    def _in_package(self, numbers: list[int], parts: list[str]) -> list[int]:
        """`numbers` without those whose file alone has the name of the package that `parts` begin
        with, in a language where folders are packages: Go's `backend.Backend`. A `main` may be in
        any.
        """
        graph = self._graph

        def fits(number: int) -> bool:
            scope = len(split_id(graph.names[number].partition(":")[2]))
            file = graph.file_of(number)
            if not 0 < scope < len(parts) or "/" not in file or not language_of(file).folder_is_package:
                return True
            package = fold_part(parts[-scope - 1])
            return package in ("main", fold_part(file.split("/")[-2]))

        return list(filter(fits, numbers))

    def _in_folder(self, files: list[int]) -> list[int]:
        """The files in the preferred folder; all of `files` if none is."""
        if not self._folder_prefix:
            return files
        return [file for file in files if self._graph.names[file].startswith(self._folder_prefix)] or files

    def copies(self, number: int) -> tuple[int, ...]:
        """A definition and its overloads; of a C++ method those in its type and outside, of a
        property also the setter.
        """
        names, numbers = self._graph.names, list[int]()
        others = self.method_owners.declaration_and_bodies(number)
        if self._graph.node_of[number] >= 0 and self._graph.kind(number) == "property":
            others = [setter for setter in (names.number(f"{names[number]}="),) if setter >= 0]
        for definition in dict.fromkeys((number, *others)):
            copies = [definition]
            while (copy := names.number(f"{names[definition]}~{len(copies) + 1}")) >= 0:
                copies.append(copy)
            numbers += copies
        return tuple(n for n in dict.fromkeys(numbers) if self._graph.node_of[n] >= 0)

    def _find_by_end(self, parts: list[str]) -> list[int]:
        """The nodes whose ids end in `parts`; `parts` may omit the file's name."""
        graph = self._graph
        rows = graph.by_last.of(key_of(parts[-1]))
        if len(parts) > 1:
            wanted = np.uint64(key_of(parts[-2]))
            rows = rows[(graph.seconds[rows] == wanted) | (graph.shorts[rows] == wanted)]
        numbers: list[int] = graph.nodes[rows, 0].tolist()
        if len(parts) == 1:
            return self._without_endings(numbers)
        return [n for n in numbers if _name_ends(graph.names[n], parts)]

    def _explain_nothing(self, target: str, parts: list[str]) -> TargetMatch:
        if self._names_missing_file(target):
            near = self.path_index.nearest(read_file_lines(target).path, SUGGESTED)
            hint = f" Nearest: {', '.join(near)}." if near else ""
            return TargetMatch(
                candidates=tuple(near), suggestion=f"There is no file {target!r} in the graph.{hint}"
            )
        folders = tuple(self.path_index.roots(target))[:LISTED]
        if len(folders) > 1:
            listed = f"{target!r} may be any of these folders: {', '.join(folders)}."
            return TargetMatch(candidates=folders, suggestion=listed, ambiguous=True)
        near = self._nearest.near(parts[-1]) or self._nearest.with_words(parts)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        return TargetMatch(
            candidates=tuple(near),
            suggestion=f"There is no {target!r} in the graph.{hint} Names are those of definitions in indexed files; "
            "cortex_exact finds any other word.",
        )

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
    """The first reading of the target, in its spelling."""
    readings = read_symbol(target)
    return readings[0] if readings else target


def _repeats_last_name(name: str) -> bool:
    """Whether the last two names of an id are equal: a constructor with the name of its class."""
    *_, outer, other = ["", "", *split_id(name)]
    return outer == other


def _name_ends(name: str, parts: list[str]) -> bool:
    """Whether an id ends in `parts`, which may omit its file's name (Go: `package.Name`)."""
    return any(components[-len(parts) :] == parts for components in (split_id(name), split_short(name)))


def _folded_name_ends(name: str, parts: list[str]) -> bool:
    """As `_name_ends`, for folded parts."""
    wholes = (split_id(name), split_short(name))
    return any(
        [fold_part(component) for component in components[-len(parts) :]] == parts for components in wholes
    )
