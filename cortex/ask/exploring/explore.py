"""The answer of cortex_explore: the functions that matter to a question in the order of their
calls, with callers, tests and documents; for a diff, the changed code and what it may break.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from itertools import permutations
from typing import Any

from cortex.ask.code_notes.annotations import with_notes
from cortex.ask.code_notes.last_changes import bytes_of, describe_changes, start_blame, with_changes
from cortex.ask.exploring.explore_answer import (
    BREAKS_MAX,
    TWINS_MAX,
    Picture,
    count_callers,
    name_tests,
    name_users,
    render,
)
from cortex.ask.exploring.flow import FLOOR, SHOWN_MAX, Flow, choose_flow, weigh_words
from cortex.ask.exploring.functions import (
    NEAR_PLACES_MAX,
    NEAR_STEP_LINES,
    PIECE,
    Bodies,
    Calls,
    Function,
    find_at_places,
    find_calls,
    find_ways,
    read_bodies,
)
from cortex.ask.exploring.query_symbols import asks_for_users, find_cited, find_named, names_in
from cortex.ask.exploring.query_words import get_term_finder
from cortex.ask.exploring.ranked_units import RankedUnits, find_units
from cortex.ask.lines.variants import drop_twins
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import Explore, Search
from cortex.ask.reading.neighbourhood import look_around, look_at_definition
from cortex.ask.reading.place_answer import render_place
from cortex.ask.references.changes import Impact, TouchedCode, find_impact, find_touched, parse_diff
from cortex.ask.references.related import Users, find_users
from cortex.ask.search import find_hits
from cortex.ranking.units import ScoredUnit
from cortex.terms.budget import TOKEN_BYTES
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.ids import stem_of
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import asks_for_tests, question_words
from cortex.terms.units import SECTION
from ipc.messages import Place

#: hits whose definitions are chosen where the index has no units
HITS = 24
#: functions whose calls are searched; tests shown below the code, where the question asks for tests
POOL_MAX, TESTS_SHOWN = 10, 2
#: functions between which the graph searches paths, and functions of such a path
WAYS_BETWEEN, WAY_MAX = 3, 5
#: functions whose callers, tests and documents are searched; the same for a diff
USERS_OF, USERS_OF_DIFF = 2, 4
#: changed definitions of a diff that are shown
TOUCHED_MAX = 12
#: size of the lines of a variant, as a share of the function's size
TWIN_SHARE = 0.34

Answer = dict[str, Any]


async def explore(context: QueryContext, question: Explore) -> Answer:
    """Answer cortex_explore. Raises BadRequest, and Unavailable when no worker can answer."""
    question = question.checked()
    if question.diff.strip():
        changes = await asyncio.to_thread(parse_diff, question.diff)  # 2 s for 1 MB
        turn, answer = await context.attempt(lambda turn: _explore_diff(turn, question, changes))
    else:
        turn, answer = await context.attempt(lambda turn: _answer_query(turn, question))
    if answer is None:
        return {"functions": [], "suggestion": turn.explain_nothing(), "index": turn.index()}
    return await with_notes(context, answer, [entry["file"] for entry in answer["functions"]])


async def _answer_query(turn: Turn, question: Explore) -> Answer:
    picture = await _make_picture(turn, question.query)
    flow, turn = picture.flow, turn.renewed()
    start_blame(turn.context, [function.file for function in flow.functions])
    unread = [function for function in flow.functions if not _is_complete(function, picture.bodies)]
    near = (NEAR_PLACES_MAX, NEAR_STEP_LINES) if picture.target else ()
    called = _select_called(picture)
    bodies, users = await asyncio.gather(read_bodies(turn, unread, *near), _users_of(turn, called))
    caller_count = count_callers(flow, users, called)
    bodies = picture.bodies | bodies
    max_bytes = TOKEN_BYTES * question.max_tokens
    changes = describe_changes(turn.context, flow.functions, bodies, max_bytes)
    max_bytes -= sum(map(bytes_of, changes.values()))
    if picture.target:
        answer = render_place(picture, bodies, users, max_bytes, caller_count)
    else:
        named_users = name_users(flow, users, few_tests=picture.few_tests)
        answer = render(picture, bodies, named_users, max_bytes, caller_count)
    if not flow.functions or picture.suggestion:
        answer["suggestion"] = picture.suggestion or turn.explain_nothing()
    with_changes(answer["functions"], changes)
    return _finish(turn, answer)


def _is_complete(function: Function, bodies: Bodies) -> bool:
    return len(bodies.get(function.id, ())) == function.end - function.start + 1


def _finish(turn: Turn, answer: Answer) -> Answer:
    """Return the answer with stale entries marked, and with the `index` block."""
    stale = turn.stale(entry["file"] for entry in answer["functions"])
    for entry in answer["functions"]:
        if entry["file"] in stale:
            entry["stale"] = True
    return answer | {"index": turn.index()}


async def _make_picture(turn: Turn, query: str) -> Picture:
    """Return the neighbourhood of an indexed place or symbol, or of the one function about whose
    users the query asks; otherwise the answer to a question in words.
    """
    if picture := await look_around(turn, query.strip()):
        return picture
    if asks_for_users(query):
        named = await find_named(turn, names_in(query))
        if len(named) == 1:
            return await look_at_definition(turn, named[0], "", range(0))
    return await _explore_question(turn, query)


async def _explore_question(turn: Turn, query: str) -> Picture:
    """Return the best units for a question in words, in the order of their calls."""
    with_tests = asks_for_tests(query)
    ranked, cited = await asyncio.gather(find_units(turn, Search(query)), find_cited(turn, query))
    if ranked is None or not ranked.units:
        ranked = await _find_units_of_hits(turn, query)
    files = list(dict.fromkeys(scored.unit["path"] for scored in ranked.units))
    start_blame(turn.context, [*cited, *files])
    turn = turn.renewed()
    scores = _scores_of(ranked.units)
    named = {(meaning.file, meaning.start) for meaning in ranked.meanings}
    functions = [_function_of(scored) for scored in ranked.units if _is_shown(scored, named, cited)]
    named_ids = frozenset(function.id for function in functions if (function.file, function.start) in named)
    code = [function for function in functions if not function.is_test or function.id in named_ids]
    tests = [function for function in functions if function.is_test and function.id not in named_ids]
    if not code:  # the question finds tests alone
        code, tests = tests, []
    tests = tests[:TESTS_SHOWN] if with_tests else []
    best = sorted(code, key=lambda function: (function.id not in named_ids, -scores[function.id]))
    best = best[: 2 * POOL_MAX]
    bodies = await read_bodies(turn, [*best, *tests])
    wanted = get_term_finder(question_words(query))
    words = weigh_words(wanted, [wanted.terms_in(" ".join(body.values())) for body in bodies.values()])
    best, twins = drop_twins(best, bodies, scores)
    pool = best[:POOL_MAX]
    calls = await find_calls(turn, [function for function in pool if function.kind != PIECE])
    calls.functions |= {function.id: function for function in pool}
    scores = {function.id: scores[function.id] for function in (*pool, *tests)}
    top = max((scores[function.id] for function in pool), default=0.0)
    pool_scores = {function.id: scores[function.id] for function in pool}
    pool_scores |= dict.fromkeys(named_ids & pool_scores.keys(), top)  # they get room for their lines
    flow = choose_flow(pool_scores, calls, words, list(pool_scores), named_ids)
    if not flow.chain:
        defined = [function for function in pool[:WAYS_BETWEEN] if function.kind != PIECE]
        await find_ways(turn, list(permutations(defined, 2)), calls, WAY_MAX)
        flow = choose_flow(pool_scores, calls, words, list(pool_scores), named_ids)
    flow = _trim_aside(twins, flow)
    tests = [function for function in tests if scores[function.id] >= FLOOR * top]
    # tests get the smallest share of the budget
    shown_scores = pool_scores | {function.id: 0.0 for function in tests}
    flow = Flow((*flow.functions, *tests), flow.chain)
    focus = {
        function.id: [line for line in cited.get(function.file, ()) if function.start <= line <= function.end]
        for function in flow.functions
    }
    return Picture(
        flow,
        calls,
        words,
        shown_scores,
        focus,
        bodies=bodies,
        twins=twins,
        few_tests=not with_tests,
        named=named_ids,
    )


async def _find_units_of_hits(turn: Turn, query: str) -> RankedUnits:
    """Return the definitions of the best hits, in their order, for an index without units."""
    hits = await find_hits(turn, Search(query, limit=HITS))
    places = [Place(ranked.hit.path, ranked.hit.start_line) for ranked in hits]
    units: dict[str, ScoredUnit] = {}
    for ranked, functions in zip(hits, await find_at_places(turn, places), strict=True):
        hit = ranked.hit
        unit = {"path": hit.path, "start": hit.start_line, "end": hit.end_line, "head": hit.start_line}
        for function in functions[:1]:
            unit |= {"start": function.start, "end": function.end, "head": function.start}
            unit |= {"symbol": function.name, "kind": function.kind}
        is_in_test = is_test_code(hit.path, str(unit.get("symbol", "")))
        units.setdefault(f"{hit.path}:{unit['start']}", ScoredUnit(unit, ranked.score, is_in_test, ()))
    return RankedUnits(tuple(units.values()))


def _is_shown(
    scored: ScoredUnit, named: Collection[tuple[str, int]], cited: Mapping[str, Sequence[int]]
) -> bool:
    """Whether a unit may be among the functions: all but sections of documents, and types of which
    the question names neither the name nor a line.
    """
    unit = scored.unit
    if unit.get("kind") not in (*TYPE_KINDS, SECTION):
        return True
    lines = cited.get(unit["path"], ())
    is_cited = any(first <= line <= last for line in lines for first, last in unit.get("ranges", ()))
    return is_cited or (unit["path"], unit["head"]) in named


def _scores_of(units: Sequence[ScoredUnit]) -> dict[str, float]:
    """Return function id → score as a share of the best."""
    top = max((scored.score for scored in units), default=0.0)
    return {_function_of(scored).id: max(0.0, scored.score / top) if top > 0 else 0.0 for scored in units}


def _function_of(scored: ScoredUnit) -> Function:
    """Return a unit as a function, with the graph's id; lines without a definition as a piece."""
    unit = scored.unit
    file, start, end = unit["path"], unit["head"], unit["end"]
    symbol, kind = unit.get("symbol", ""), unit.get("kind", "")
    if not symbol or kind in ("", SECTION):
        return Function(f"{file}:{file}:{start}", file, unit["start"], end, PIECE)
    return Function(f"{stem_of(file)}:{symbol}", file, start, end, kind, unit.get("signature", ""))


def _trim_aside(twins: dict[str, list[Function]], flow: Flow) -> Flow:
    """Return the chain, and beside it as many functions as keep the usual length of an answer when
    their variants are counted.
    """
    functions: list[Function] = []
    size = 0.0
    for at, function in enumerate(flow.functions):
        size += 1 + TWIN_SHARE * len(twins.get(function.id, ())[:TWINS_MAX])
        if at < flow.chain or size < SHOWN_MAX + 1 or not functions:
            functions.append(function)
    return Flow(tuple(functions), flow.chain)


def _select_called(picture: Picture) -> list[Function]:
    """Return functions whose users are listed: the entry and the best one, or the target."""
    flow = picture.flow.functions
    if not flow:
        return []
    if picture.target:
        return [function for function in flow[:1] if function.kind != PIECE]
    flow = tuple(function for function in flow if function.kind != PIECE and not function.is_test) or flow
    best = max(
        flow, key=lambda function: (function.id in picture.named, picture.scores.get(function.id, 0.0))
    )
    return list(dict.fromkeys((best, flow[0])))[:USERS_OF]


async def _users_of(turn: Turn, functions: list[Function]) -> Users:
    users = await asyncio.gather(*(find_users(turn, function) for function in functions))
    return Users.merge(users)


async def _explore_diff(turn: Turn, question: Explore, changes: list[Any]) -> Answer:
    """Answer a diff: the changed code, the code that may break, the tests to run."""
    touched = await find_touched(turn, changes)
    functions = list(touched.functions[:TOUCHED_MAX])
    impact, bodies, users = await asyncio.gather(
        find_impact(turn, touched), read_bodies(turn, functions), _users_of(turn, functions[:USERS_OF_DIFF])
    )
    scores = {function.id: 1.0 for function in functions}
    picture = Picture(Flow(tuple(functions)), Calls(), {}, scores, touched.lines)
    named_users = _users_of_diff(touched, impact, users)
    answer = render(picture, bodies, named_users, TOKEN_BYTES * question.max_tokens)
    if not functions:
        answer["suggestion"] = "The index holds none of the changed lines."
    return _finish(turn, answer)


def _users_of_diff(touched: TouchedCode, impact: Impact, users: Users) -> Answer:
    tests = Users.merge([Users(tests=impact.tests), users]).tests
    named_users = name_users(Flow(touched.functions), users)
    may_break = [entry for entry in impact.may_break if entry["severity"] != "low"] or impact.may_break
    return {
        "may_break": may_break[:BREAKS_MAX],
        "tests": name_tests(tests),
        "documents": named_users["documents"],
        "not_indexed": list(touched.unknown),
    }
