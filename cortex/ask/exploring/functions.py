"""Functions that a question may be about, and the calls between them: located by the index, read
from chunks, linked by the graph worker. Their scores are in flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from msgspec import structs

from cortex.ask.query_context import Turn
from cortex.system.errors import CortexError, NotReady
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.ids import stem_of
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from ipc.messages import Fetch, GraphHits, GraphOperation, GraphSearch, Locate, Located, OutlineSearch, Place

#: bytes of the outline of one file: some 300 symbols
OUTLINE_BYTES = 60_000
#: lines between two lookups in a long function, which may span several chunks; lookups in all
STEP_LINES, PLACES_MAX = 30, 64
#: the same for the one definition in question, which must be complete
NEAR_STEP_LINES, NEAR_PLACES_MAX = 2, 1024
#: bytes of the chunks that one answer reads
READ_BYTES_MAX = 2_000_000
#: the kind of a piece: lines outside of definitions
PIECE = "piece"
#: callers and callees that the graph returns for one function
NEIGHBOURS_MAX = 40
#: candidates of a call above which it is uncertain
CANDIDATES_MAX = 2


@dataclass(frozen=True, slots=True)
class Function:
    """A definition with its place; `id` is the graph's id."""

    id: str
    file: str
    start: int
    end: int
    kind: str
    signature: str = ""

    @property
    def name(self) -> str:
        """The name as people write it: `Router.dispatch`."""
        return self.id.partition(":")[2].partition("~")[0] or self.id.rpartition("/")[2]

    @property
    def callable(self) -> bool:
        return self.kind in CALLABLE_KINDS

    @property
    def is_test(self) -> bool:
        return is_test_code(self.file, self.name)

    def is_inside(self, other: Function) -> bool:
        """Whether its lines are some of another's."""
        inside = self.file == other.file and other.start <= self.start and self.end <= other.end
        return inside and self.end - self.start < other.end - other.start


@dataclass(slots=True)
class Calls:
    """Calls between functions: (caller, callee) → (file, line) of the call."""

    functions: dict[str, Function] = field(default_factory=dict)
    edges: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    #: pairs that may mean several definitions: also in `edges`, but in no chain
    unsure: set[tuple[str, str]] = field(default_factory=set)

    def add(self, caller: Function, callee: Function, place: tuple[str, int], *, unsure: bool) -> None:
        for function in (caller, callee):
            self.functions.setdefault(function.id, function)
        if caller.id != callee.id:
            self.edges.setdefault((caller.id, callee.id), place)
            if unsure:
                self.unsure.add((caller.id, callee.id))

    def callees(self, function_id: str) -> list[str]:
        return [callee for caller, callee in self.edges if caller == function_id]

    def callers(self, function_id: str) -> list[str]:
        return [caller for caller, callee in self.edges if callee == function_id]


#: function id → its known lines, by number
Bodies = dict[str, dict[int, str]]


async def ask_graph(turn: Turn, requests: Sequence[GraphSearch]) -> list[GraphHits | None]:
    """Return a reply for each request; None where the graph worker is silent. Raises NotReady."""
    number = turn.generation.number
    searches = [structs.replace(request, include_context=False, generation=number) for request in requests]
    return await turn.lanes("graph", searches, GraphHits, ours=True)


async def look_up(turn: Turn, names: Sequence[str], *, bare: bool = False) -> list[GraphHits | None]:
    """Return what the graph means by each name: the path from a name to itself is the definition.
    Raises NotReady.
    """
    searches = [GraphSearch("path", name, to=name, bare=bare) for name in names]
    return await ask_graph(turn, searches) if searches else []


async def outline(turn: Turn, files: Sequence[str]) -> list[Function]:
    """Return the definitions of `files`, in the order of the files. Raises NotReady."""
    number = turn.generation.number
    searches = [OutlineSearch(file, OUTLINE_BYTES, number) for file in files]
    answers = await turn.lanes("graph", searches, GraphHits, ours=True)
    functions = []
    for answer in answers:
        for raw in answer.results if answer is not None else ():
            result = orjson.loads(raw)
            file = result["file"]
            for symbol in result["symbols"]:
                start, end = symbol["lines"]
                identity = f"{stem_of(file)}:{symbol['name']}"
                functions.append(
                    Function(identity, file, start, end, symbol["kind"], symbol.get("signature", ""))
                )
    return functions


async def resolve(turn: Turn, target: str) -> tuple[list[Function], str]:
    """Return (the definition that a name means, a sentence when it means none or several)."""
    (hits,) = await look_up(turn, [target])
    if hits is None:
        return [], ""
    return parse_functions(hits), hits.suggestion


def parse_functions(hits: GraphHits | None) -> list[Function]:
    """Return the definitions of an answer of the graph; none where the worker is silent."""
    return [_parse_function(orjson.loads(raw)["node"]) for raw in hits.results] if hits is not None else []


async def find_calls(turn: Turn, functions: Sequence[Function]) -> Calls:
    """Return the callers and callees of `functions`. Raises NotReady."""
    calls = Calls({function.id: function for function in functions})
    operations: tuple[GraphOperation, ...] = ("callees", "callers")
    lookups = [(function, operation) for function in functions for operation in operations]
    answers = await ask_graph(
        turn,
        [
            GraphSearch(operation, function.id, max_results=NEIGHBOURS_MAX, bare=True)
            for function, operation in lookups
        ],
    )
    for (function, operation), answer in zip(lookups, answers, strict=True):
        for raw in answer.results if answer is not None else ():
            result = orjson.loads(raw)
            other, place = _parse_function(result["node"]), result["location"]
            pair = (function, other) if operation == "callees" else (other, function)
            unsure = len(result.get("candidates", ())) > CANDIDATES_MAX
            calls.add(*pair, (place["file"], place["line"]), unsure=unsure)
    return calls


async def find_ways(turn: Turn, pairs: Sequence[tuple[Function, Function]], calls: Calls, most: int) -> None:
    """Add the shortest chain of calls, of at most `most` functions, for each pair. Raises
    NotReady.
    """
    searches = [
        GraphSearch("path", start.id, to=other.id, bare=True, by_calls=True, depth=most - 1)
        for start, other in pairs
    ]
    answers = await ask_graph(turn, searches)
    for (start, _), way in zip(pairs, answers, strict=True):
        _add_way(start, way, calls)


def _add_way(start: Function, way: GraphHits | None, calls: Calls) -> None:
    results = [orjson.loads(raw) for raw in way.results] if way is not None else []
    if any(result.get("edge", "calls") != "calls" for result in results):
        return
    before = start
    for result in results[1:]:
        node, place = _parse_function(result["node"]), result["location"]
        calls.add(before, node, (place["file"], place["line"]), unsure=False)
        before = node


async def read_bodies(
    turn: Turn, functions: Iterable[Function], places_max: int = PLACES_MAX, step: int = STEP_LINES
) -> Bodies:
    """Return the indexed lines of `functions`, in order, while `places_max` lookups last; chunks
    shorter than `step` lines may be missed. Raises NotReady, and Unavailable when no worker with
    rows answers.
    """
    wanted = list(functions)
    places = [
        Place(function.file, line)
        for function in wanted
        for line in dict.fromkeys((*range(function.start, function.end + 1, step), function.end))
    ]
    lines = await read_lines(turn, places[:places_max])
    bodies = {}
    for function in wanted:
        file_lines = lines.get(function.file, {})
        bodies[function.id] = {
            number: file_lines[number]
            for number in range(function.start, function.end + 1)
            if number in file_lines
        }
    return bodies


async def read_lines(turn: Turn, places: Sequence[Place]) -> dict[str, dict[int, str]]:
    """Return file → number → indexed line of the chunks at `places`. Raises as `read_bodies`."""
    if not places:
        return {}
    located = await turn.locate(places)
    workers = ("vector", "text") if "text" in turn.silent else ("text", "vector")
    spots = [spot for spot in located.spots if spot.hit.path == places[spot.place].path]
    keys = tuple(dict.fromkeys(spot.hit.key for spot in spots))
    fetch = Fetch(keys, max_bytes=READ_BYTES_MAX, generation=turn.generation.number)
    chunks = await turn.fetch(workers, fetch, turn.silent)
    lines: dict[str, dict[int, str]] = {}
    for raw in filter(None, chunks.chunks):
        chunk = orjson.loads(raw)
        metadata = chunk.get("metadata") or {}
        file_lines = lines.setdefault(metadata.get("file_path", ""), {})
        file_lines.update(enumerate(str(chunk.get("text", "")).split("\n"), metadata.get("start_line", 1)))
    return lines


async def find_at_places(turn: Turn, places: Sequence[Place]) -> list[list[Function]]:
    """Return for each place its innermost definition, or all definitions of a whole file; none
    where the index has nothing. Raises NotReady.
    """
    try:
        located = await turn.locate(places)
    except NotReady:
        raise
    except CortexError:
        return [[] for _ in places]
    sure = [spot for spot in located.spots if spot.whole]
    files = list(dict.fromkeys(spot.hit.path for spot in sure))
    definitions = await outline(turn, files)
    functions: list[list[Function]] = [[] for _ in places]
    for spot in sure:
        line = places[spot.place].line
        matches = [definition for definition in definitions if definition.file == spot.hit.path]
        if line:
            matches = [
                definition
                for definition in matches
                if definition.start <= line <= definition.end and definition.kind not in TYPE_KINDS
            ] or [definition for definition in matches if definition.start <= line <= definition.end]
            matches = sorted(matches, key=lambda definition: definition.end - definition.start)[:1]
        functions[spot.place] += matches
    return functions


async def find_file(turn: Turn, path: str) -> tuple[str, int]:
    """Return (the one file that `path` means, its last line), else ("", 0). Raises NotReady."""
    request = Locate((Place(path),), generation=turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    ends = {spot.hit.path: spot.hit.end_line for spot in located.spots if spot.whole} if located else {}
    return next(iter(ends.items())) if len(ends) == 1 else ("", 0)


def _parse_function(node: dict[str, Any]) -> Function:
    return Function(
        node["id"],
        node.get("file", ""),
        node.get("start_line", 0),
        node.get("end_line", 0),
        node.get("kind", ""),
        node.get("signature", ""),
    )


def is_shown(function: Function) -> bool:
    """Whether a definition is project code that an answer may show: not external, not a test."""
    return bool(function.file) and function.kind != "external" and not function.is_test
