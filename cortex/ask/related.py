"""What belongs to a piece of code: similar chunks elsewhere, its callers, its tests, the documents that mention it.

Asks the same workers as dispatch.py and through it; each kind is found by a worker of its own, and one that does not answer
is left out and named in `index.degraded`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from cortex.ask.dispatch import LANE_SHARE, Dispatch
from cortex.ask.questions import LIMIT_MAX, TOKEN_BYTES, TOKENS_MAX, TOKENS_MIN
from cortex.generation.current import Generation
from cortex.ranking.related import Guard, mention_query, mentions, names_of_tests, order_tests, telling
from cortex.terms.bounds import clamp
from cortex.terms.paths import is_test
from ipc.arrays import Array
from ipc.errors import BadRequest, CortexError, NotFound, NotReady, Unavailable
from ipc.messages import (
    Chunks,
    Detail,
    ExactHits,
    ExactSearch,
    Fetch,
    Filters,
    GraphHits,
    GraphSearch,
    Hit,
    Locate,
    Located,
    Place,
    Signals,
    Spot,
    VectorSearch,
)

T = TypeVar("T")

#: chunks that are asked of the vector worker for each file of the answer (a file may hold several), and beside them, for
#: tests are left out
CHUNKS_PER_FILE, CHUNKS_MORE = 4, 40
#: definitions whose callers are asked for, and callers of each
DEFINITIONS_MAX, CALLERS_MAX = 16, 30
#: chunks that mention a name that are looked at, for tests and for documents
MENTIONS_MAX = 30
#: files that an ambiguous path lists
LISTED = 5


@dataclass(frozen=True, slots=True)
class Related:
    """The question: a chunk's id, or a file with a line (0: the whole file). `limit` holds for each kind of answer."""

    file: str = ""
    line: int = 0
    chunk_id: str = ""
    limit: int = 10
    detail: Detail = "snippet"
    max_tokens: int = 20_000


@dataclass(frozen=True, slots=True)
class _Target:
    """What is asked about; `line` 0 means the whole chunk or file."""

    spot: Spot
    vector: Array
    model: str
    line: int

    @property
    def path(self) -> str:
        return self.spot.hit.path

    @property
    def in_tests(self) -> bool:
        return is_test(self.path)

    def holds(self, path: str, line: int) -> bool:
        """Whether a place is inside what is asked about; of a single line only its definition is known."""
        hit = self.spot.hit
        return not self.line and path == hit.path and hit.start_line <= line <= hit.end_line

    @property
    def names(self) -> list[str]:
        return telling(self.spot.symbols)


@dataclass(slots=True)
class _Call:
    """One answer in the making: of one generation, and who did not answer."""

    dispatch: Dispatch
    question: Related
    generation: Generation
    until: float
    degraded: dict[str, str]

    async def lane(self, worker: str, asking: Awaitable[T], nothing: T) -> T:
        """What is asked of `worker`; `nothing` when it does not answer. Raises NotReady: another generation is served."""
        try:
            return await asking
        except NotReady:
            raise
        except CortexError as error:
            self.degraded.setdefault(worker, str(error))
            return nothing


async def find_related(dispatch: Dispatch, question: Related) -> dict[str, Any]:
    """The answer of find_related. Raises BadRequest, NotFound for what the index does not hold, Unavailable."""
    question = _check(question)
    generation = await dispatch.first_generation()
    for final in (False, True):
        if not generation.number:
            break
        until = time.monotonic() + min(LANE_SHARE * dispatch.config.server.deadline_s, dispatch.left_s())
        call = _Call(dispatch, question, generation, until, {})
        try:
            return await _answer(call)
        except NotReady as error:
            if final:
                raise Unavailable(str(error)) from error
            generation = dispatch.freshness.current()
    empty: dict[str, Any] = {"target": None, "similar": [], "callers": [], "tests": [], "documents": []}
    return empty | {
        "suggestion": dispatch.freshness.explain_nothing(),
        "index": dispatch.freshness.block(generation),
    }


def _check(question: Related) -> Related:
    file = question.file.strip().replace("\\", "/").removeprefix("./")
    line, chunk_id = question.line, question.chunk_id.strip()
    path, colon, number = file.rpartition(":")
    if colon and number.isdecimal():  # as editors and traces write it
        file, line = path, line or int(number)
    if bool(file) == bool(chunk_id):
        raise BadRequest("Pass either `file` (with `line`, for what is around it) or `chunk_id`.")
    if any("\0" in one or len(one) > 4096 for one in (file, chunk_id)):
        raise BadRequest("`file` and `chunk_id` must be names as search results give them.")
    return replace(
        question, file=file, line=max(0, line), chunk_id=chunk_id, limit=clamp(question.limit, 1, LIMIT_MAX)
    )


async def _answer(call: _Call) -> dict[str, Any]:
    target = await _locate(call)
    similar, callers, importers, named, documents, mentioning = await asyncio.gather(
        _similar(call, target),
        _callers(call, target),
        _graph(call, GraphSearch("dependents", target.path, include_context=False)),
        _named(call, target),
        _mentioning(call, target, Filters(chunk_types=("documentation",)), documents=True),
        _mentioning(call, target, Filters(tags=("test",)), documents=False),
    )
    limit = call.question.limit
    calling = [one for one in callers if not is_test(one["file"])]
    tests = _tests(target, [one for one in callers if is_test(one["file"])], importers, named, mentioning)
    documents = _one_for_each_file(documents)[:limit]
    chunks, truncated = await _fetch(call, [hit for hit, _ in (*similar, *documents)])
    freshness, generation = call.dispatch.freshness, call.generation
    hit = target.spot.hit
    paths = [
        hit.path,
        *(one[0].path for one in (*similar, *documents)),
        *(one["file"] for one in (*calling, *tests)),
    ]
    stale = freshness.stale(paths, generation)

    def mark(entry: dict[str, Any], path: str) -> dict[str, Any]:
        return entry | {"stale": True} if path in stale else entry

    answer: dict[str, Any] = {
        "target": mark(
            {
                "chunk_id": hit.id,
                "file": hit.path,
                "start_line": hit.start_line,
                "end_line": hit.end_line,
                "symbols": list(target.spot.symbols),
            },
            hit.path,
        ),
        "similar": [
            mark({"chunk": chunks[one.key], "score": score}, one.path)
            for one, score in similar
            if one.key in chunks
        ],
        "callers": [mark(one, one["file"]) for one in calling[:limit]],
        "tests": [mark(one, one["file"]) for one in tests[:limit]],
        "documents": [
            mark({"chunk": chunks[one.key], "mentions": found}, one.path)
            for one, found in documents
            if one.key in chunks
        ],
    }
    if not any(answer[kind] for kind in ("similar", "callers", "tests", "documents")):
        answer["suggestion"] = (
            f"Nothing in the index is similar to {hit.path}:{hit.start_line} or refers to it."
        )
    if truncated or len(calling) > limit or len(tests) > limit:
        answer["truncated"] = True
    answer["index"] = freshness.block(generation, sorted(call.degraded), call.degraded.values())
    return answer


async def _locate(call: _Call) -> _Target:
    """Whichever of the two workers with rows answers. Raises NotFound, BadRequest for a path that may be several files'."""
    question = call.question
    request = Locate(
        (Place(question.file, question.line, question.chunk_id),), generation=call.generation.number
    )
    try:
        found = await call.dispatch.ask("text", request, Located, call.until)
    except NotReady:
        raise
    except CortexError as error:
        call.degraded["text"] = str(error)
        found = await call.dispatch.ask("vector", request, Located, call.until)
    if question.chunk_id and not found.spots:
        raise NotFound(
            f"There is no chunk {question.chunk_id!r} in the index; ids are the `chunk.id` of search results, and change "
            "with the file: pass `file` and `line` instead."
        )
    if not found.spots:
        raise NotFound(await _why_no_file(call))
    if len(found.spots) > 1:
        listed = ", ".join(spot.hit.path for spot in found.spots[:LISTED])
        raise BadRequest(f"{question.file!r} may be several files; pass more of its path: {listed}, …")
    return _Target(found.spots[0], found.vectors[0], found.model, 0 if question.chunk_id else question.line)


async def _why_no_file(call: _Call) -> str:
    """A sentence for a file, or a line of it, that the index does not hold."""
    question = call.question
    if question.line:
        whole = Locate((Place(question.file),), generation=call.generation.number)
        found = await call.dispatch.ask(
            "vector" if "text" in call.degraded else "text", whole, Located, call.until
        )
        if found.spots:
            hit = found.spots[0].hit
            return f"{hit.path} has no line {question.line} in the index; it ends at {hit.end_line}."
    pending = question.file in call.dispatch.freshness.pending(call.generation)
    why = (
        "it was saved a moment ago and is about to be served"
        if pending
        else "pass its path below the project's root"
    )
    return f"There is no file {question.file!r} in the index; {why}."


async def _similar(call: _Call, target: _Target) -> list[tuple[Hit, float]]:
    """The nearest chunk of each other file, of the target's kind: documents and tests have lists of their own."""
    if not target.vector.any():
        return []
    limit = call.question.limit
    filters = Filters(chunk_types=(target.spot.hit.chunk_type,))
    count = CHUNKS_PER_FILE * limit + CHUNKS_MORE + target.spot.file_rows
    request = VectorSearch(target.vector, target.model, count, filters, call.generation.number)
    asking = call.dispatch.ask("vector", request, Signals, call.until)
    found = await call.lane("vector", asking, Signals(0, (), ("cosine",), target.vector[:0].reshape(1, 0)))
    best: dict[str, tuple[Hit, float]] = {}
    for hit, cosine in zip(found.hits, found.values[0].tolist(), strict=True):
        if hit.path != target.path and (target.in_tests or not is_test(hit.path)):
            best.setdefault(hit.path or hit.id, (hit, round(min(1.0, max(0.0, cosine)), 4)))
    return list(best.values())[:limit]


async def _graph(call: _Call, request: GraphSearch) -> list[dict[str, Any]]:
    nothing = GraphHits(0, "", (), 0, truncated=False, suggestion="", candidates=(), summary={}, results=())
    asked = replace(request, generation=call.generation.number)
    found = await call.lane("graph", call.dispatch.ask("graph", asked, GraphHits, call.until), nothing)
    return [orjson.loads(raw) for raw in found.results]


async def _callers(call: _Call, target: _Target) -> list[dict[str, Any]]:
    """Each caller of what is defined at the target, once, those of the first definition first."""
    path = target.path
    stem = path[: path.rindex(".")] if "." in path.rpartition("/")[2][1:] else path
    answers = await asyncio.gather(
        *(
            _graph(
                call,
                GraphSearch("callers", f"{stem}:{name}", max_results=CALLERS_MAX, context_lines=0),
            )
            for name in target.spot.symbols[:DEFINITIONS_MAX]
        )
    )
    found: dict[str, dict[str, Any]] = {}
    for name, results in zip(target.spot.symbols, answers, strict=False):
        for result in results:
            node, place = result["node"], result["location"]
            caller = {
                "id": node["id"],
                "file": place["file"],
                "line": place["line"],
                "calls": name,
                "confidence": result["confidence"],
                "text": "".join(line["text"].strip() for line in result.get("context") or ()),
            }
            if not target.holds(caller["file"], caller["line"]):
                found.setdefault(node["id"], caller)
    return list(found.values())


async def _named(call: _Call, target: _Target) -> list[Spot]:
    """The test files that are named like the target's."""
    if target.in_tests:
        return []
    places = tuple(Place(name) for name in names_of_tests(target.path))
    request = Locate(places, generation=call.generation.number)
    asking = call.dispatch.ask("text", request, Located, call.until)
    found = await call.lane("text", asking, Located(0, (), "", target.vector[:0]))
    return [spot for spot in found.spots if is_test(spot.hit.path)]


async def _mentioning(
    call: _Call, target: _Target, filters: Filters, *, documents: bool
) -> list[tuple[Hit, list[str]]]:
    """Chunks that name what the target defines, and documents that name its file; each with the names."""
    paths = [target.path, target.path.rpartition("/")[2]] if documents else []
    query = mention_query(target.names, paths)
    if not query:
        return []
    request = ExactSearch(
        query=query,
        limit=MENTIONS_MAX,
        filters=filters,
        detail="location",
        generation=call.generation.number,
    )
    try:
        found = await call.lane("text", call.dispatch.ask("text", request, ExactHits, call.until), None)
    except BadRequest:  # a name that the query language has another meaning for
        return []
    if found is None:
        return []
    pairs = zip(found.hits, found.highlights, strict=True)
    told = [(hit, mentions(marked, target.names, paths)) for hit, marked in pairs if hit.path != target.path]
    return sorted(((hit, names) for hit, names in told if names), key=lambda one: -len(one[1]))


def _one_for_each_file(found: list[tuple[Hit, list[str]]]) -> list[tuple[Hit, list[str]]]:
    best: dict[str, tuple[Hit, list[str]]] = {}
    for hit, names in found:
        if not is_test(hit.path):
            best.setdefault(hit.path, (hit, names))
    return list(best.values())


def _tests(
    target: _Target,
    calling: list[dict[str, Any]],
    importers: list[dict[str, Any]],
    named: list[Spot],
    mentioning: list[tuple[Hit, list[str]]],
) -> list[dict[str, Any]]:
    found: dict[str, Guard] = {}

    def at(path: str) -> Guard:
        return found.setdefault(path, Guard(path))

    for one in calling:
        at(one["file"]).add("calls", one["line"], one["id"].rpartition(":")[2])
    for spot in named:
        at(spot.hit.path).add("name")
    for hit, _ in mentioning:
        if is_test(hit.path):
            at(hit.path).add("mentions", hit.start_line)
    for one in importers:
        if is_test(path := one["location"]["file"]):
            at(path).add("imports")
    found.pop(target.path, None)
    return [
        {"file": one.file, "line": one.line or 1, "tests": one.names, "why": one.why}
        for one in order_tests(found.values(), target.path)
    ]


async def _fetch(call: _Call, hits: list[Hit]) -> tuple[dict[int, orjson.Fragment], bool]:
    """Row key → the JSON of its chunk."""
    if not hits:
        return {}, False
    request = Fetch(
        keys=tuple(dict.fromkeys(hit.key for hit in hits)),
        detail=call.question.detail,
        max_bytes=TOKEN_BYTES * clamp(call.question.max_tokens, TOKENS_MIN, TOKENS_MAX),
        generation=call.generation.number,
    )
    order = ("text", "vector") if "vector" in call.degraded else ("vector", "text")
    for worker in order:
        until = time.monotonic() + call.dispatch.left_s()
        asking = call.dispatch.ask(worker, request, Chunks, until)
        reply = await call.lane(worker, asking, None)
        if reply is not None:
            pairs = zip(request.keys, reply.chunks, strict=True)
            return {key: orjson.Fragment(chunk) for key, chunk in pairs if chunk}, reply.truncated
    raise Unavailable(" ".join(dict.fromkeys(call.degraded.values())))
