"""The answer of cortex_explore: the functions that matter to a question, in the order of their
calls, with their callers, tests and documents; of a diff, what it touches and may break.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from cortex.ask.changes import Impact, Touched, find_impact, find_touched, parse_diff
from cortex.ask.code_notes.annotations import with_notes
from cortex.ask.code_notes.last_changes import begin, bytes_of, tell_changes, with_changes
from cortex.ask.explore_answer import (
    BREAKS_MAX,
    TWINS_MAX,
    Picture,
    name_tests,
    render,
    users_beside,
)
from cortex.ask.flow import SHOWN_MAX, Evidence, Flow, Told, choose_flow, score, weigh_words
from cortex.ask.functions import (
    NEAR_PLACES_MAX,
    NEAR_STEP_LINES,
    PIECE,
    Bodies,
    Calls,
    Function,
    find_calls,
    find_ways,
    outline,
    read_bodies,
)
from cortex.ask.neighbourhood import look_around
from cortex.ask.place_answer import render_asked
from cortex.ask.query_context import Asking, Turn
from cortex.ask.query_symbols import find_cited, find_lines, names_in
from cortex.ask.query_words import sought
from cortex.ask.questions import TOKEN_BYTES, Explore, Search
from cortex.ask.related import Users, find_users
from cortex.ask.search import find_hits
from cortex.ask.variants import without_twins
from cortex.ranking import Ranked
from cortex.terms.paths import asks_for_tests, is_built, is_test, question_words

#: hits of the search, and files whose definitions are looked at: of the hits, and of those that
#: hold a name of the question
HITS, FILES_MAX, NAMED_FILES_MAX = 24, 9, 6
#: functions whose text is read, and whose calls are asked for
READ_MAX, POOL_MAX = 48, 10
#: functions between which the graph is asked for a way, and steps of one
WAYS_BETWEEN, WAY_MAX = 3, 5
#: functions whose callers, tests and documents are looked for; of a diff
USERS_OF, USERS_OF_DIFF = 2, 4
#: definitions of a diff that are shown
TOUCHED_MAX = 12
#: what the lines of another that says the same take of what a function takes
TWIN_SHARE = 0.34

#: lines around what the question names where no definition is
PIECE_LINES = 16

Answer = dict[str, Any]


async def explore(asking: Asking, question: Explore) -> Answer:
    """Raises BadRequest, and Unavailable when nobody can answer."""
    question = question.checked()
    if question.diff.strip():
        changes = parse_diff(question.diff)
        turn, answer = await asking.attempt(lambda turn: _changed(turn, question, changes))
    else:
        turn, answer = await asking.attempt(lambda turn: _answer(turn, question))
    if answer is None:
        return {"functions": [], "suggestion": turn.explain_nothing(), "index": turn.index()}
    return await with_notes(asking, answer, [one["file"] for one in answer["functions"]])


async def _answer(turn: Turn, question: Explore) -> Answer:
    picture = await _look(turn, question.query)
    flow, turn = picture.flow, turn.renewed()
    begin(turn.asking, [one.file for one in flow.functions])
    unread = [one for one in flow.functions if not _is_whole(one, picture.bodies)]
    near = (NEAR_PLACES_MAX, NEAR_STEP_LINES) if picture.asked else ()
    bodies, users = await asyncio.gather(read_bodies(turn, unread, *near), _users(turn, picture))
    bodies = picture.bodies | bodies
    max_bytes = TOKEN_BYTES * question.max_tokens
    changes = tell_changes(turn.asking, flow.functions, bodies, max_bytes)
    max_bytes -= sum(map(bytes_of, changes.values()))
    if picture.asked:
        answer = render_asked(picture, bodies, users, max_bytes)
    else:
        beside = users_beside(flow, users, few_tests=picture.few_tests)
        answer = render(picture, bodies, beside, max_bytes)
    if not flow.functions or picture.suggestion:
        answer["suggestion"] = picture.suggestion or turn.explain_nothing()
    with_changes(answer["functions"], changes)
    return _finish(turn, answer)


def _is_whole(one: Function, bodies: Bodies) -> bool:
    return len(bodies.get(one.id, ())) == one.end - one.start + 1


def _finish(turn: Turn, answer: Answer) -> Answer:
    """With what is stale marked, and the `index` block."""
    stale = turn.stale(one["file"] for one in answer["functions"])
    for one in answer["functions"]:
        if one["file"] in stale:
            one["stale"] = True
    return answer | {"index": turn.index()}


async def _look(turn: Turn, query: str) -> Picture:
    """What is around a place or a symbol that the index knows; else what words are about."""
    return await look_around(turn, query.strip()) or await _asked(turn, query)


async def _asked(turn: Turn, query: str) -> Picture:
    """The functions that a question in words is about."""
    with_tests, names = asks_for_tests(query), names_in(query)
    hits, named, cited = await asyncio.gather(
        find_hits(turn, Search(query, limit=HITS)),
        find_lines(turn, names, with_tests=with_tests),
        find_cited(turn, query),
    )
    files, hit_lines = _worth_of_files(hits, with_tests=with_tests)
    begin(turn.asking, [*cited, *files])
    for file, lines in cited.items():
        named[file] = [*lines, *named.get(file, ())]
    evidence = Evidence(files, hit_lines, named)
    turn = turn.renewed()
    asked = dict.fromkeys((*cited, *list(named)[:NAMED_FILES_MAX], *list(files)[:FILES_MAX]))
    defined = await outline(turn, list(asked))
    known = [*_telling(defined, named), *_pieces(evidence, defined)]
    wanted = sought(question_words(query))
    words = weigh_words(wanted, [wanted.terms_in(f"{one.name} {one.signature}") for one in known])
    first = score(known, {}, words, wanted, evidence)
    known = sorted(known, key=lambda one: -first[one.id])[:READ_MAX]
    bodies = await read_bodies(turn, known)
    told = {one: Told.of(body, wanted) for one, body in bodies.items()}
    words = weigh_words(wanted, [one.words for one in told.values()])
    scores = score(known, told, words, wanted, evidence)
    best = sorted(known, key=lambda one: -scores[one.id])[: 2 * POOL_MAX]
    best, twins = without_twins(best, bodies, scores)
    pool = best[:POOL_MAX]
    calls = await find_calls(turn, [one for one in pool if one.kind != PIECE])
    calls.functions |= {one.id: one for one in pool}
    scores = {one.id: scores[one.id] for one in pool}
    flow = choose_flow(scores, calls, words, list(scores))
    if not flow.chain:
        await _connect(turn, [one for one in pool[:WAYS_BETWEEN] if one.kind != PIECE], calls)
        flow = choose_flow(scores, calls, words, list(scores))
    focus = {
        one.id: [line for line in named.get(one.file, ()) if one.start <= line <= one.end]
        for one in flow.functions
    }
    flow = _with_room_for(twins, flow)
    return Picture(flow, calls, words, scores, focus, bodies=bodies, twins=twins, few_tests=not with_tests)


def _with_room_for(twins: dict[str, list[Function]], flow: Flow) -> Flow:
    """The chain, and beside it so many functions that with those that say the same it is no more
    than usual.
    """
    kept: list[Function] = []
    shown = 0.0
    for at, one in enumerate(flow.functions):
        shown += 1 + TWIN_SHARE * len(twins.get(one.id, ())[:TWINS_MAX])
        if at < flow.chain or shown < SHOWN_MAX + 1 or not kept:
            kept.append(one)
    return Flow(tuple(kept), flow.chain)


def _telling(known: list[Function], named: dict[str, list[int]]) -> list[Function]:
    """Functions; and types of which a line outside of their functions holds a name."""
    functions = [one for one in known if one.callable]
    found = list(functions)
    for file, lines in named.items():
        inner = [one for one in functions if one.file == file]
        outside = [n for n in lines if not any(one.start <= n <= one.end for one in inner)]
        found += [
            one
            for one in known
            if one.file == file and not one.callable and any(one.start <= n <= one.end for n in outside)
        ]
    return found


def _pieces(evidence: Evidence, known: list[Function]) -> list[Function]:
    """Lines that no definition holds: hits, and what is around lines that the question names.

    So are functions without a name, files of which the graph knows nothing, and all files when
    nobody asked it. No line is in two of them.
    """
    defined: dict[str, list[Function]] = {}
    for one in known:
        defined.setdefault(one.file, []).append(one)
    spans: list[tuple[str, int, int]] = []

    def add(file: str, start: int, end: int) -> None:
        if not any(one.start <= end and start <= one.end for one in defined.get(file, ())):
            spans.append((file, start, end))

    for file, hits in evidence.hits.items():
        for start, end, _ in hits:
            add(file, start, end)
    for file, lines in evidence.named.items():
        last = -PIECE_LINES
        for line in sorted(lines):
            if line - last > PIECE_LINES and (span := _free(spans, file, line)):
                add(file, *span)
                last = line
    return [Function(f"{file}:{file}:{start}", file, start, end, PIECE) for file, start, end in spans]


def _free(spans: Sequence[tuple[str, int, int]], file: str, line: int) -> tuple[int, int] | None:
    """The first and the last line around `line` that none of the spans of its file holds; None
    where one holds itself.
    """
    start, end = max(1, line - PIECE_LINES // 2), line + PIECE_LINES
    for other, first, last in spans:
        if other == file and first <= line <= last:
            return None
        if other == file and last < line:
            start = max(start, last + 1)
        if other == file and first > line:
            end = min(end, first - 1)
    return start, end


async def _connect(turn: Turn, functions: list[Function], calls: Calls) -> None:
    """Adds the shortest ways among `functions`, with what the question did not name."""
    pairs = [(one, other) for one in functions for other in functions if one.id != other.id]
    await find_ways(turn, pairs, calls, WAY_MAX)


def _worth_of_files(
    hits: Sequence[Ranked], *, with_tests: bool
) -> tuple[dict[str, float], dict[str, list[tuple[int, int, float]]]]:
    """(file → its worth of 0 to 1, best first; file → first line, last line, worth of each hit)"""
    files: dict[str, float] = {}
    lines: dict[str, list[tuple[int, int, float]]] = {}
    top = hits[0].score if hits else 0.0
    for one in hits:
        hit, worth = one.hit, one.score / top if top > 0 else 0.0
        if hit.chunk_type == "documentation" or (is_test(hit.path) and not with_tests):
            continue
        if is_built(hit.path) and not is_built(hits[0].hit.path):
            continue
        files.setdefault(hit.path, worth)
        if hit.chunk_type == "code":
            lines.setdefault(hit.path, []).append((hit.start_line, hit.end_line, worth))
    return files, lines


async def _users(turn: Turn, picture: Picture) -> Users:
    """Of the entry and of what is worth most; of what was asked about alone, if that is one."""
    flow = picture.flow.functions
    if not flow:
        return Users()
    if picture.asked:
        return await _users_of(turn, [one for one in flow[:1] if one.kind != PIECE])
    flow = tuple(one for one in flow if one.kind != PIECE) or flow
    best = max(flow, key=lambda one: picture.scores.get(one.id, 0.0))
    return await _users_of(turn, list(dict.fromkeys((best, flow[0])))[:USERS_OF])


async def _users_of(turn: Turn, functions: list[Function]) -> Users:
    found = await asyncio.gather(*(find_users(turn, one.file, one.start) for one in functions))
    return Users.merge(found)


async def _changed(turn: Turn, question: Explore, changes: list[Any]) -> Answer:
    """What a diff touches, what may break, which tests to run."""
    touched = await find_touched(turn, changes)
    shown = list(touched.functions[:TOUCHED_MAX])
    impact, bodies, users = await asyncio.gather(
        find_impact(turn, touched),
        read_bodies(turn, shown),
        _users_of(turn, shown[:USERS_OF_DIFF]),
    )
    scores = {one.id: 1.0 for one in shown}
    picture = Picture(Flow(tuple(shown)), Calls(), {}, scores, touched.lines)
    beside = _beside_changes(touched, impact, users)
    answer = render(picture, bodies, beside, TOKEN_BYTES * question.max_tokens)
    if not shown:
        answer["suggestion"] = "The index holds none of the changed lines."
    return _finish(turn, answer)


def _beside_changes(touched: Touched, impact: Impact, users: Users) -> Answer:
    tests = Users.merge([Users(tests=impact.tests), users]).tests
    beside = users_beside(Flow(touched.functions), users)
    may_break = [one for one in impact.may_break if one["severity"] != "low"] or impact.may_break
    return {
        "may_break": may_break[:BREAKS_MAX],
        "tests": name_tests(tests),
        "documents": beside["documents"],
        "not_indexed": list(touched.unknown),
    }
