"""The answer of cortex_explore: the functions that matter to a question in the order of their
calls, with callers, tests and documents; for a diff, the changed code and what it may break.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from cortex.ask.changes import Impact, TouchedCode, find_impact, find_touched, parse_diff
from cortex.ask.code_notes.annotations import with_notes
from cortex.ask.code_notes.last_changes import bytes_of, describe_changes, start_blame, with_changes
from cortex.ask.explore_answer import (
    BREAKS_MAX,
    TWINS_MAX,
    Picture,
    count_callers,
    name_tests,
    name_users,
    render,
)
from cortex.ask.flow import FLOOR, SHOWN_MAX, BodyWords, Evidence, Flow, choose_flow, score, weigh_words
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
from cortex.ask.neighbourhood import look_around, look_at_definition
from cortex.ask.place_answer import render_place
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.query_symbols import asks_for_users, find_cited, find_lines, find_named, names_in
from cortex.ask.query_words import get_term_finder
from cortex.ask.questions import TOKEN_BYTES, Explore, Search
from cortex.ask.related import Users, find_users
from cortex.ask.search import find_hits
from cortex.ask.variants import drop_twins
from cortex.ranking import Ranked
from cortex.terms.paths import asks_for_tests, is_built, is_test, question_words

#: hits of the search; files with outlines: from the hits, and from the lines with a name of the
#: question
HITS, FILES_MAX, NAMED_FILES_MAX = 24, 9, 6
#: functions whose text is read; functions whose calls are searched
READ_MAX, POOL_MAX = 48, 10
#: files of tests with outlines, and tests shown below the code, where the question asks for tests
TEST_FILES_MAX, TESTS_SHOWN = 3, 2
#: functions between which the graph searches paths, and steps of such a path
WAYS_BETWEEN, WAY_MAX = 3, 5
#: functions whose callers, tests and documents are searched; the same for a diff
USERS_OF, USERS_OF_DIFF = 2, 4
#: changed definitions of a diff that are shown
TOUCHED_MAX = 12
#: size of the lines of a variant, as a share of the function's size
TWIN_SHARE = 0.34

#: lines around a named line outside of definitions
PIECE_LINES = 16

Answer = dict[str, Any]


async def explore(context: QueryContext, question: Explore) -> Answer:
    """Answer cortex_explore. Raises BadRequest, and Unavailable when no worker can answer."""
    question = question.checked()
    if question.diff.strip():
        changes = parse_diff(question.diff)
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
    """Return the functions that a question in words is about."""
    with_tests, names = asks_for_tests(query), names_in(query)
    named, hits, name_lines, cited = await asyncio.gather(
        find_named(turn, names),
        find_hits(turn, Search(query, limit=HITS)),
        find_lines(turn, names, with_tests=with_tests),
        find_cited(turn, query),
    )
    files, hit_lines = _worth_of_files(hits, with_tests=with_tests)
    start_blame(turn.context, [*cited, *files])
    for file, lines in cited.items():
        name_lines[file] = [*lines, *name_lines.get(file, ())]
    evidence = Evidence(files, hit_lines, name_lines)
    turn = turn.renewed()
    found_in = [*(function.file for function in named), *cited]
    defined = _drop_signatures(await outline(turn, _files_to_outline(found_in, name_lines, files)))
    named_ids, unlisted = _identify(named, defined)
    definitions = [*_select_definitions(defined, name_lines), *unlisted]
    definitions += _uncovered_pieces(evidence, [*defined, *unlisted])
    wanted = get_term_finder(question_words(query))
    tests = [function for function in definitions if function.is_test and function.id not in named_ids]
    code = [function for function in definitions if not function.is_test or function.id in named_ids]
    if not code:  # the question finds tests alone
        code, tests = tests, []
    tests = tests if with_tests else []
    definitions = [*code, *tests]
    words = weigh_words(
        wanted, [wanted.terms_in(f"{function.name} {function.signature}") for function in definitions]
    )
    first = score(definitions, {}, words, wanted, evidence)
    code = sorted(code, key=lambda function: (function.id not in named_ids, -first[function.id]))[:READ_MAX]
    tests = sorted(tests, key=lambda function: -first[function.id])[:POOL_MAX]
    definitions = [*code, *tests]
    bodies = await read_bodies(turn, definitions)
    words_by_id = {function_id: BodyWords.of(body, wanted) for function_id, body in bodies.items()}
    words = weigh_words(wanted, [body_words.words for body_words in words_by_id.values()])
    scores = score(definitions, words_by_id, words, wanted, evidence)
    best = sorted(code, key=lambda function: (function.id not in named_ids, -scores[function.id]))
    best = best[: 2 * POOL_MAX]
    tests = sorted(tests, key=lambda function: -scores[function.id])[:TESTS_SHOWN]
    best, twins = drop_twins(best, bodies, scores)
    pool = best[:POOL_MAX]
    calls = await find_calls(turn, [function for function in pool if function.kind != PIECE])
    calls.functions |= {function.id: function for function in pool}
    all_scores = scores
    scores = {function.id: scores[function.id] for function in pool}
    top = max(scores.values(), default=0.0)
    scores |= dict.fromkeys(named_ids & scores.keys(), top)  # they get room for their lines
    flow = choose_flow(scores, calls, words, list(scores), named_ids)
    if not flow.chain:
        await _connect(turn, [function for function in pool[:WAYS_BETWEEN] if function.kind != PIECE], calls)
        flow = choose_flow(scores, calls, words, list(scores), named_ids)
    flow = _trim_aside(twins, flow)
    tests = [function for function in tests if all_scores[function.id] >= FLOOR * top]
    scores |= {function.id: 0.0 for function in tests}  # they get the smallest share of the budget
    flow = Flow((*flow.functions, *tests), flow.chain)
    focus = {
        function.id: [
            line for line in name_lines.get(function.file, ()) if function.start <= line <= function.end
        ]
        for function in flow.functions
    }
    return Picture(
        flow,
        calls,
        words,
        scores,
        focus,
        bodies=bodies,
        twins=twins,
        few_tests=not with_tests,
        named=named_ids,
    )


def _drop_signatures(defined: list[Function]) -> list[Function]:
    """Return the definitions without overloads' signatures: those share the id of the longest one,
    the implementation, and would take its scores and lines.
    """
    longest: dict[tuple[str, str], Function] = {}
    for function in defined:
        other = longest.get((function.file, function.id))
        if other is None or function.end - function.start > other.end - other.start:
            longest[function.file, function.id] = function
    return [function for function in defined if longest[function.file, function.id] is function]


def _identify(named: list[Function], defined: list[Function]) -> tuple[frozenset[str], list[Function]]:
    """Return (the ids of the functions that the question names, as the outlines give them; those
    that no outline lists).
    """
    listed_ids = {function.id for function in defined}  # at another line: an overload
    ids = {(function.file, function.start): function.id for function in defined if function.callable}
    named_ids = set()
    unlisted = []
    for function in named:
        identity = function.id if function.id in listed_ids else ids.get((function.file, function.start), "")
        named_ids.add(identity or function.id)
        if not identity:
            unlisted.append(function)
    return frozenset(named_ids), unlisted


def _files_to_outline(found_in: Iterable[str], name_lines: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return the files whose definitions may answer, those that the question names first; those of
    tests beside those of code, never in their place.
    """
    named = sorted(name_lines, key=is_test)[:NAMED_FILES_MAX]
    code = [file for file in files if not is_test(file)][:FILES_MAX]
    tests = [file for file in files if is_test(file)][:TEST_FILES_MAX]
    return list(dict.fromkeys((*found_in, *named, *code, *tests)))


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


def _select_definitions(definitions: list[Function], name_lines: dict[str, list[int]]) -> list[Function]:
    """Return the functions, and the types with a named line outside of their functions."""
    functions = [definition for definition in definitions if definition.callable]
    selected = list(functions)
    for file, lines in name_lines.items():
        inner = [definition for definition in functions if definition.file == file]
        outside = [
            n for n in lines if not any(definition.start <= n <= definition.end for definition in inner)
        ]
        selected += [
            definition
            for definition in definitions
            if definition.file == file
            and not definition.callable
            and any(definition.start <= n <= definition.end for n in outside)
        ]
    return selected


def _uncovered_pieces(evidence: Evidence, definitions: list[Function]) -> list[Function]:
    """Return pieces of lines outside of definitions: hits, and surroundings of named lines.

    These include anonymous functions, files unknown to the graph, and all files when the graph is
    silent. No line is in two pieces.
    """
    defined: dict[str, list[Function]] = {}
    for definition in definitions:
        defined.setdefault(definition.file, []).append(definition)
    spans: list[tuple[str, int, int]] = []

    def add(file: str, start: int, end: int) -> None:
        if not any(
            definition.start <= end and start <= definition.end for definition in defined.get(file, ())
        ):
            spans.append((file, start, end))

    for file, hits in evidence.hits.items():
        for start, end, _ in hits:
            add(file, start, end)
    for file, lines in evidence.name_lines.items():
        last = -PIECE_LINES
        for line in sorted(lines):
            if line - last > PIECE_LINES and (span := _free_span(spans, file, line)):
                add(file, *span)
                last = line
    return [Function(f"{file}:{file}:{start}", file, start, end, PIECE) for file, start, end in spans]


def _free_span(spans: Sequence[tuple[str, int, int]], file: str, line: int) -> tuple[int, int] | None:
    """Return the first and last line around `line` that no span of its file covers; None where a
    span covers `line`.
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
    """Add the shortest paths between `functions` to `calls`, through functions that the question
    does not name.
    """
    pairs = [(function, other) for function in functions for other in functions if function.id != other.id]
    await find_ways(turn, pairs, calls, WAY_MAX)


def _worth_of_files(
    hits: Sequence[Ranked], *, with_tests: bool
) -> tuple[dict[str, float], dict[str, list[tuple[int, int, float]]]]:
    """Return (file → its worth from 0 to 1, best first; file → first line, last line, worth of each
    hit).
    """
    files: dict[str, float] = {}
    lines: dict[str, list[tuple[int, int, float]]] = {}
    top = hits[0].score if hits else 0.0
    for ranked in hits:
        hit, worth = ranked.hit, ranked.score / top if top > 0 else 0.0
        if hit.chunk_type == "documentation" or (is_test(hit.path) and not with_tests):
            continue
        if is_built(hit.path) and not is_built(hits[0].hit.path):
            continue
        files.setdefault(hit.path, worth)
        if hit.chunk_type == "code":
            lines.setdefault(hit.path, []).append((hit.start_line, hit.end_line, worth))
    return files, lines


def _select_called(picture: Picture) -> list[Function]:
    """Return the functions with their users in the answer: the flow's entry and its best function;
    the target alone, if there is one.
    """
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
        find_impact(turn, touched),
        read_bodies(turn, functions),
        _users_of(turn, functions[:USERS_OF_DIFF]),
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
