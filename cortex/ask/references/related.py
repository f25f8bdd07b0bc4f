"""The answer of find_related: similar chunks, callers, tests, and documents that mention the
target.

Each kind comes from one worker; a kind without a reply is left out and named in `index.degraded`.
The target is located in target.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from msgspec import structs

from cortex.ask.code_notes.annotations import with_notes
from cortex.ask.code_notes.last_changes import start_blame
from cortex.ask.exploring.functions import PIECE, Function, read_bodies
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import Related, budget
from cortex.ask.reading.target import Target, find_target
from cortex.ranking.related import RelatedTest, find_mentions, mention_query, names_of_tests, order_tests
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.ids import stem_of
from cortex.terms.paths import is_test
from ipc.messages import (
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
    Show,
    Shown,
    Signals,
    Spot,
    VectorSearch,
)

#: chunks that the vector worker returns: so many for each file of the answer, because a file may
#: have several, and so many more, because those of tests are dropped
CHUNKS_PER_FILE, CHUNKS_MORE = 4, 40
#: definitions with a search for their callers; callers of each, as many as the graph gives of one
#: level, for tests are among them
DEFINITIONS_MAX, LEVEL_MAX = 16, 100
#: chunks with a mention that are read, for tests and for documents
MENTIONS_MAX = 30

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Users:
    """The users of a definition: callers, tests as in find_related, documents that name it."""

    callers: list[Entry] = field(default_factory=list)
    tests: list[Entry] = field(default_factory=list)
    documents: list[tuple[Hit, list[str]]] = field(default_factory=list)
    #: whether there are more callers
    truncated: bool = False

    @classmethod
    def merge(cls, groups: Sequence[Users]) -> Users:
        """Return each caller, test file and document of the groups once, in their order."""
        callers = {caller["id"]: caller for users in reversed(groups) for caller in reversed(users.callers)}
        documents = [pair for users in groups for pair in users.documents]
        tests: dict[str, Entry] = {}
        for test in (test for users in groups for test in users.tests):
            previous = tests.setdefault(test["file"], test)
            if previous is not test:
                names = list(dict.fromkeys((*previous["tests"], *test["tests"])))
                tests[test["file"]] = previous | {"tests": names}
        cut = any(users.truncated for users in groups)
        return cls(
            list(reversed(callers.values())), list(tests.values()), _first_of_each_file(documents), cut
        )


async def find_related(context: QueryContext, question: Related) -> dict[str, Any]:
    """Answer find_related. Raises BadRequest, NotFound for an unknown target, Unavailable."""
    question = question.checked()
    turn, answer = await context.attempt(lambda turn: _answer_related(turn, question))
    if answer is not None:
        return await with_notes(context, answer, [answer["target"]["file"]])
    return {
        "target": None,
        "similar": [],
        "callers": [],
        "tests": [],
        "documents": [],
        "suggestion": turn.explain_nothing(),
        "index": turn.index(),
    }


async def _answer_related(turn: Turn, question: Related) -> dict[str, Any]:
    target = await find_target(turn, question)
    start_blame(turn.context, [target.path])
    similar, users = await asyncio.gather(
        _find_similar(turn, target, question.limit), _users(turn, target, importing=True)
    )
    documents = users.documents[: question.limit]
    hit_lists = [[hit for hit, _ in kind[: question.limit]] for kind in (similar, documents)]
    chunks, truncated = await _read_texts(turn, question, hit_lists)
    answer = _render(
        turn, target, similar, replace(users, documents=documents), chunks=chunks, limit=question.limit
    )
    hit = target.spot.hit
    if changed := await _last_change(turn, target):
        answer["target"]["changed"] = changed
    if target.remark:
        answer["suggestion"] = target.remark
    elif not any(answer[kind] for kind in ("similar", "callers", "tests", "documents")):
        answer["suggestion"] = (
            f"Nothing in the index is similar to {hit.path}:{hit.start_line} or refers to it."
        )
    listed = (similar, users.callers, users.tests)
    if truncated or users.truncated or any(len(entries) > question.limit for entries in listed):
        answer["truncated"] = True
    answer["index"] = turn.index()
    return answer


async def _last_change(turn: Turn, target: Target) -> str:
    """Return the commit that last changed the target; "" when it is not known yet."""
    commits, hit = turn.context.commits, target.spot.hit
    if commits is None or not commits.knows(hit.path):
        return ""
    bodies = await read_bodies(turn, [Function(hit.id, hit.path, hit.start_line, hit.end_line, PIECE)])
    return commits.tell(hit.path, bodies[hit.id])


async def find_users(turn: Turn, function: Function) -> Users:
    """Return the users of a definition, or of the definitions around a piece; none where the index
    lacks it. Tests that only import its file are searched where no test calls it or has its name:
    the graph is slow to return all importers of a file.

    Raises NotReady, and Unavailable when no worker with rows answers.
    """
    try:
        target = await find_target(turn, Related(function.file, function.start))
    except (BadRequest, NotFound):
        return Users()
    if function.kind != PIECE:
        target = target.of_definition(function)
    return await _users(turn, target, importing=False)


async def _users(turn: Turn, target: Target, *, importing: bool) -> Users:
    """Return a target's users. `importing`: its importers also where a test calls it."""
    (callers, cut), (importers, _), namesakes, documents, mentioning = await asyncio.gather(
        _find_callers(turn, target),
        _find_importers(turn, target) if importing else asyncio.sleep(0, ([], False)),
        _tests_named_alike(turn, target),
        _find_mentioning(turn, target, Filters(chunk_types=("documentation",)), documents=True),
        _find_mentioning(turn, target, Filters(tags=("test",)), documents=False),
    )
    calling_tests = [caller for caller in callers if _is_test(caller)]
    if not (importing or calling_tests or namesakes or target.in_tests):
        importers, _ = await _find_importers(turn, target)
    return Users(
        callers=[caller for caller in callers if not _is_test(caller)],
        tests=_rank_tests(target, calling_tests, importers, namesakes, mentioning),
        documents=_first_of_each_file(documents),
        truncated=cut,
    )


def _render(
    turn: Turn,
    target: Target,
    similar: Sequence[tuple[Hit, float]],
    users: Users,
    *,
    chunks: dict[int, orjson.Fragment],
    limit: int,
) -> dict[str, Any]:
    hit = target.spot.hit
    stale = turn.stale(
        [
            hit.path,
            *(chunk_hit.path for chunk_hit, _ in (*similar, *users.documents)),
            *(row["file"] for row in (*users.callers, *users.tests)),
        ]
    )

    def mark(entry: Entry, path: str) -> Entry:
        return entry | {"stale": True} if path in stale else entry

    asked_about = {
        "chunk_id": hit.id,
        "file": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "symbols": list(target.spot.symbols),
    }
    return {
        "target": mark(asked_about, hit.path),
        "similar": [
            mark({"chunk": chunks[chunk_hit.key], "score": score}, chunk_hit.path)
            for chunk_hit, score in similar
            if chunk_hit.key in chunks
        ],
        "callers": [mark(caller, caller["file"]) for caller in users.callers[:limit]],
        "tests": [mark(test, test["file"]) for test in users.tests[:limit]],
        "documents": [
            mark({"chunk": chunks[document.key], "mentions": names}, document.path)
            for document, names in users.documents
            if document.key in chunks
        ],
    }


async def _find_similar(turn: Turn, target: Target, limit: int) -> list[tuple[Hit, float]]:
    """Return the nearest chunk of each other file, of the target's kind and without tests."""
    if not target.vector.any():
        return []
    filters = turn.context.scope_filters(Filters(chunk_types=(target.spot.hit.chunk_type,)))
    count = CHUNKS_PER_FILE * limit + CHUNKS_MORE + target.spot.file_rows
    request = VectorSearch(target.vector, target.model, count, filters, turn.generation.number)
    signals = await turn.lane("vector", request, Signals, ours=True)
    if signals is None:
        return []
    best: dict[str, tuple[Hit, float]] = {}
    for hit, cosine in zip(signals.hits, signals.values[0].tolist(), strict=True):
        if hit.path != target.path and (target.in_tests or not is_test(hit.path)):
            best.setdefault(hit.path or hit.id, (hit, round(min(1.0, max(0.0, cosine)), 4)))
    return list(best.values())[: limit + 1]  # the extra one shows that there are more


async def _search_graph(turn: Turn, requests: Sequence[GraphSearch]) -> list[tuple[list[Entry], bool]]:
    """Return for each request (results, whether there are more)."""
    searches = [
        structs.replace(request, generation=turn.generation.number, bare=True) for request in requests
    ]
    answers = await turn.lanes("graph", searches, GraphHits, ours=True)
    return [
        ([orjson.loads(raw) for raw in hits.results], hits.truncated) if hits is not None else ([], False)
        for hits in answers
    ]


async def _find_importers(turn: Turn, target: Target) -> tuple[list[Entry], bool]:
    request = GraphSearch("dependents", target.path, include_context=False, max_per_level=LEVEL_MAX)
    (importers,) = await _search_graph(turn, [request])
    return importers


async def _find_callers(turn: Turn, target: Target) -> tuple[list[Entry], bool]:
    """Return (each caller once, the first definition's first; whether there are more)."""
    stem = stem_of(target.path)
    symbols = target.spot.symbols[:DEFINITIONS_MAX]
    searches = [
        GraphSearch(
            "callers",
            target.id or f"{stem}:{name}",
            max_results=LEVEL_MAX,
            max_per_level=LEVEL_MAX,
            context_lines=0,
        )
        for name in symbols
    ]
    answers = await _search_graph(turn, searches)
    callers: dict[str, Entry] = {}
    for name, (results, _) in zip(symbols, answers, strict=True):
        for result in results:
            caller = _caller_entry(name, result)
            if not target.holds(caller["file"], caller["line"]):
                callers.setdefault(caller["id"], caller)
    stale = turn.stale(caller["file"] for caller in callers.values())
    for caller in callers.values():
        if caller["file"] in stale:
            caller["text"] = ""  # its lines have moved
    return list(callers.values()), any(cut for _, cut in answers)


def _is_test(caller: Entry) -> bool:
    return is_test_code(caller["file"], caller["id"].rpartition(":")[2])


def _caller_entry(name: str, result: Entry) -> Entry:
    """Return the entry of a caller of `name`, from a result of the graph worker."""
    place = result["location"]
    return {
        "id": result["node"]["id"],
        "file": place["file"],
        "line": place["line"],
        "calls": name,
        "confidence": result["confidence"],
        "text": "".join(line["text"].strip() for line in result.get("context") or ()),
    }


async def _tests_named_alike(turn: Turn, target: Target) -> list[Spot]:
    """Return the test files that have the name of the target's file."""
    if target.in_tests:
        return []
    places = tuple(Place(name) for name in names_of_tests(target.path))
    request = Locate(places, generation=turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    return [spot for spot in located.spots if is_test(spot.hit.path)] if located is not None else []


async def _find_mentioning(
    turn: Turn, target: Target, filters: Filters, *, documents: bool
) -> list[tuple[Hit, list[str]]]:
    """Return the chunks that mention the target's definitions, or the documents that mention its
    file, with the names that they mention; most names first.
    """
    paths = [target.path, target.path.rpartition("/")[2]] if documents else []
    query = mention_query(target.names, paths)
    if not query:
        return []
    request = ExactSearch(
        query=query,
        limit=MENTIONS_MAX,
        filters=filters,
        detail="location",
        generation=turn.generation.number,
        bare=True,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    if hits is None:
        return []
    pairs = zip(hits.hits, hits.highlights, strict=True)
    mentioned = [
        (hit, find_mentions(marked, target.names, paths)) for hit, marked in pairs if hit.path != target.path
    ]
    return sorted(((hit, names) for hit, names in mentioned if names), key=lambda pair: -len(pair[1]))


def _first_of_each_file(documents: list[tuple[Hit, list[str]]]) -> list[tuple[Hit, list[str]]]:
    best: dict[str, tuple[Hit, list[str]]] = {}
    for hit, names in documents:
        if not is_test(hit.path):
            best.setdefault(hit.path, (hit, names))
    return list(best.values())


def _rank_tests(
    target: Target,
    calling: list[Entry],
    importers: list[Entry],
    namesakes: list[Spot],
    mentioning: list[tuple[Hit, list[str]]],
) -> list[Entry]:
    tests_by_path: dict[str, RelatedTest] = {}

    def at(path: str) -> RelatedTest:
        return tests_by_path.setdefault(path, RelatedTest(path))

    for entry in calling:
        at(entry["file"]).add("calls", entry["line"], entry["id"].rpartition(":")[2])
    for spot in namesakes:
        at(spot.hit.path).add("name")
    for hit, _ in mentioning:
        if is_test(hit.path):
            at(hit.path).add("mentions", hit.start_line)
    for entry in importers:
        if entry.get("edge") == "imports" and is_test(path := entry["location"]["file"]):
            at(path).add("imports")
    inside = tests_by_path.get(target.path)
    if inside is not None and (target.in_tests or not inside.names):  # a file may hold its tests
        del tests_by_path[target.path]
    return [
        {"file": test.file, "line": test.line or 1, "tests": test.names, "why": test.why}
        for test in order_tests(tests_by_path.values(), target.path)
    ]


async def _read_texts(
    turn: Turn, question: Related, kinds: Sequence[list[Hit]]
) -> tuple[dict[int, orjson.Fragment], bool]:
    """Return (row key → the JSON of its shown text, whether any text was cut)."""
    if question.detail != "auto":
        return await _fetch(turn, question, [hit for hits in kinds for hit in hits])
    answers = await asyncio.gather(*(_read_chosen_lines(turn, question, hits) for hits in kinds))
    return {key: raw for texts, _ in answers for key, raw in texts.items()}, any(cut for _, cut in answers)


async def _read_chosen_lines(
    turn: Turn, question: Related, hits: list[Hit]
) -> tuple[dict[int, orjson.Fragment], bool]:
    """Return as `_read_texts`, for hits in different files: the line of each that identifies it."""
    if not hits:
        return {}, False
    keys = tuple(hit.key for hit in hits)
    request = Show(
        keys=keys,
        scores=(0.0,) * len(keys),
        query="",
        limit=len(keys),
        names=True,
        max_bytes=budget(question.max_tokens, turn.context.config.server.answer_tokens),
        generation=turn.generation.number,
    )
    reply = await turn.first_of(_with_rows(turn), request, Shown, {})
    texts = zip(reply.of, reply.entries, strict=True)
    return {keys[at]: orjson.Fragment(raw) for at, raw in texts}, reply.truncated


def _with_rows(turn: Turn) -> tuple[str, ...]:
    """Return the workers with chunks, one that has answered first."""
    return ("text", "vector") if "vector" in turn.silent else ("vector", "text")


async def _fetch(turn: Turn, question: Related, hits: list[Hit]) -> tuple[dict[int, orjson.Fragment], bool]:
    """Return (row key → its chunk's JSON, whether texts were cut) from a worker that answered."""
    keys = tuple(dict.fromkeys(hit.key for hit in hits))
    max_bytes = budget(question.max_tokens)
    detail = "snippet" if question.detail == "auto" else question.detail
    request = Fetch(keys, detail, max_bytes, generation=turn.generation.number)
    reply = await turn.fetch(_with_rows(turn), request, turn.silent)
    pairs = zip(keys, reply.chunks, strict=True)
    return {key: orjson.Fragment(chunk) for key, chunk in pairs if chunk}, reply.truncated
