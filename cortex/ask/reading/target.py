"""The target of find_related: a chunk by its id, a file, a line of a file with its surroundings, or
a definition by its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import orjson
from msgspec import structs

from cortex.ask.exploring.functions import Function, look_up
from cortex.ask.missing_files import describe_left_out
from cortex.ask.query_context import Turn
from cortex.ask.questions import Related
from cortex.ranking.related import pick_names
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.languages import OTHER, language_of
from cortex.terms.paths import is_test
from cortex.terms.text.spelling import means_file, nearest_paths
from ipc.messages import Locate, Located, Place, Spot

#: files that the error for an ambiguous path lists
LISTED = 5


@dataclass(frozen=True, slots=True)
class Target:
    """The chunk or file of a find_related question; `line` 0: all of it. `vector`: float32
    [dimensions]. `remark`: how an uncertain name was read. `id`: the graph's id of the definition,
    if it is known.
    """

    spot: Spot
    vector: Array
    model: str
    line: int
    remark: str = ""
    id: str = ""

    @property
    def path(self) -> str:
        return self.spot.hit.path

    @property
    def in_tests(self) -> bool:
        return is_test(self.path)

    def holds(self, path: str, line: int) -> bool:
        """Whether a place is inside the target; never inside a target of one line, for which only
        the definition around it is known.
        """
        hit = self.spot.hit
        return not self.line and path == hit.path and hit.start_line <= line <= hit.end_line

    def of_definition(self, definition: Function) -> Target:
        """Return this target for a definition of the graph. The chunk at its line may lack it (a
        signature of an overload) and name the definition before it.
        """
        return replace(self, spot=replace(self.spot, symbols=(definition.name,)), id=definition.id)

    @property
    def names(self) -> list[str]:
        return pick_names(self.spot.symbols)


async def find_target(turn: Turn, question: Related) -> Target:
    """Locate the target through the text worker, or else the vector worker.

    Raises NotFound, BadRequest for a path that matches several files, NotReady and Unavailable.
    """
    place = Place(question.file, question.line, question.chunk_id)
    located = await turn.locate([place], bare=False)
    if question.file and not question.chunk_id:
        meant = tuple(spot for spot in located.spots if means_file(question.file, spot.hit.path))
        positions = [at for at, spot in enumerate(located.spots) if spot in meant]
        located = structs.replace(located, spots=meant, vectors=located.vectors[positions])
    if question.chunk_id and not located.spots:
        raise NotFound(
            f"There is no chunk {question.chunk_id!r} in the index; ids are the `chunk.id` of search results, "
            "and change with the file: pass `file` and `line` instead."
        )
    if not located.spots and not question.line:
        return await _by_name(turn, question)
    if not located.spots:
        raise NotFound(await _explain_missing(turn, question))
    if len(located.spots) > 1:
        listed = ", ".join(spot.hit.path for spot in located.spots[:LISTED])
        raise BadRequest(f"{question.file!r} may be several files; pass more of its path: {listed}, …")
    line = 0 if question.chunk_id else question.line
    return Target(located.spots[0], located.vectors[0], located.model, line)


async def _by_name(turn: Turn, question: Related) -> Target:
    """Locate the definition that `file` names. Raises as `find_target`."""
    name = question.file
    hits = next(iter(await look_up(turn, [name] if language_of(name) is OTHER else [])), None)
    if hits is not None and not hits.results and hits.candidates:
        raise BadRequest(hits.suggestion)
    node = orjson.loads(hits.results[0])["node"] if hits is not None and hits.results else {}
    if not node.get("file"):
        raise NotFound(await _explain_missing(turn, question))
    line = 0 if node["kind"] in WHOLE_KINDS else node["start_line"]
    target = await find_target(turn, replace(question, file=node["file"], line=line))
    target = replace(target, remark=hits.suggestion if hits is not None else "")
    return (
        target.of_definition(Function(node["id"], node["file"], line, line, node["kind"])) if line else target
    )


async def _explain_missing(turn: Turn, question: Related) -> str:
    """Return a sentence for a file, or a line of a file, that the index lacks."""
    if question.line:
        request = Locate((Place(question.file),), generation=turn.generation.number)
        located = await turn.ask("vector" if "text" in turn.silent else "text", request, Located)
        if spots := [spot for spot in located.spots if means_file(question.file, spot.hit.path)]:
            hit = spots[0].hit
            return f"{hit.path} has no line {question.line} in the index; it ends at {hit.end_line}."
    if why := describe_left_out(turn.context.config, turn.context.freshness, question.file):
        return why
    pending = question.file in turn.context.freshness.pending(turn.generation)
    why = (
        "it was saved a moment ago and is about to be served"
        if pending
        else "pass its path below the project's root"
    )
    kind = "file" if language_of(question.file) is not OTHER or question.line else "file or symbol"
    near = nearest_paths(question.file, turn.context.freshness.listed()) if not pending else []
    nearest = f" Nearest: {', '.join(near)}." if near else ""
    return f"There is no {kind} {question.file!r} in the index; {why}.{nearest}"
