"""What cortex_explore found, cut to its budget: what is beside the code first, the code gets the
rest. Asks nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.excerpt import Excerpt, choose_lines, choose_telling
from cortex.ask.flow import Flow, name_share
from cortex.ask.functions import Bodies, Calls, Function, is_shown
from cortex.ask.related import Users

#: callers, tests, documents and possible breaks that an answer names
CALLERS_MAX, TESTS_MAX, DOCUMENTS_MAX, BREAKS_MAX = 4, 5, 2, 12
#: definitions that are called and not shown, that an answer names
CALLS_MAX = 5
#: the share of the budget that their names may take
CALLS_SHARE = 0.08
#: files with tests, and names of each, where the question does not speak of tests
FEW_TESTS, FEW_NAMES = 3, 2
#: tests of which only is known that they import a file
IMPORTING_MAX = 2
#: others that say the same as a shown function, and lines of each
TWINS_MAX, TWIN_LINES = 2, 2
#: names of tests of one file, and names that a document mentions
NAMES_MAX = 4
#: the share of the budget that is left for callers, tests and documents at most
BESIDE_SHARE = 0.35
#: bytes of the frame of an answer, and of each function in it
FRAME_BYTES, ENTRY_BYTES = 250, 110
#: bytes of the text of one function at least, and at most where it is not in the chain of calls
TEXT_BYTES_MIN, ASIDE_BYTES_MAX = 200, 600
#: what a function in the chain that the question did not name gets of the room of the best one
SHARE_MIN = 0.3

#: times that lines are chosen anew for less room
FITTINGS = 4

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """What was found before it is cut; `focus`: lines of each function that are asked about;
    `bodies`: of what has been read.
    """

    flow: Flow = field(default_factory=Flow)
    calls: Calls = field(default_factory=Calls)
    words: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    focus: dict[str, list[int]] = field(default_factory=dict)
    suggestion: str = ""
    bodies: Bodies = field(default_factory=dict)
    #: the place or the symbol that was asked about, which has the first claim on the room; the
    #: functions of a type, and the chain of calls that it is in
    target: str = ""
    members: tuple[Function, ...] = ()
    #: of a function that is shown those that say the same
    twins: dict[str, list[Function]] = field(default_factory=dict)
    path: str = ""
    #: whether tests are no part of the question
    few_tests: bool = False


def render(picture: Picture, bodies: Bodies, named_users: Answer, max_bytes: int) -> Answer:
    """The parts of an answer that fit `max_bytes`, without its `index` block."""
    flow = picture.flow
    kinds = {kind: list(entries) for kind, entries in named_users.items()}
    while len(orjson.dumps(kinds)) > BESIDE_SHARE * max_bytes and any(kinds.values()):
        max(kinds.values(), key=len).pop()
    answer: Answer = {"path": flow.path()} if flow.chain else {}
    left = max_bytes - FRAME_BYTES - len(picture.suggestion.encode())
    left -= len(orjson.dumps(kinds)) + len(orjson.dumps(answer))
    names = _trim_to_bytes(
        name_calls(picture, {function.id: () for function in flow.functions}), CALLS_SHARE * max_bytes
    )
    for_names = len(orjson.dumps(names))
    twins = _twin_entries(picture, bodies)
    answer["functions"], visible_lines, cut = _fit(picture, bodies, twins, left)
    if left - len(orjson.dumps(answer["functions"])) < for_names:
        answer["functions"], visible_lines, cut = _fit(picture, bodies, twins, left - for_names)
    names = _trim_to_bytes(name_calls(picture, visible_lines), for_names)
    answer |= {kind: entries for kind, entries in ({"calls": names} | kinds).items() if entries}
    if cut:
        answer["truncated"] = True
        answer["note"] = cut
    return answer


def _trim_to_bytes(names: list[str], max_bytes: float) -> list[str]:
    """The first of them, in JSON within `max_bytes`."""
    while names and len(orjson.dumps(names)) > max_bytes:
        names = names[:-1]
    return names


#: what is shown: the functions with their lines, the numbers of the lines of each by its id, what
#: was cut in one sentence or ""
Selection = tuple[list[Answer], dict[str, frozenset[int]], str]


def _fit(picture: Picture, bodies: Bodies, twins: Mapping[str, Answer], max_bytes: int) -> Selection:
    """What `_select_lines` gives, in fact within `max_bytes`: lines are chosen by what they take about."""
    room = max_bytes
    for _ in range(FITTINGS):
        selection = _select_lines(picture, bodies, twins, room)
        excess = len(orjson.dumps(selection[0])) - max_bytes
        if excess <= 0:
            break
        room -= excess
    return selection


def _select_lines(picture: Picture, bodies: Bodies, twins: Mapping[str, Answer], max_bytes: int) -> Selection:
    flow, left = picture.flow, max_bytes
    shares = _room_shares(picture)
    weight = sum(shares.values())
    chain = {function.id for function in flow.functions[: flow.chain]}
    excerpts: dict[str, Excerpt] = {}
    inner = {
        function.id: [other for other in flow.functions if other.is_inside(function)]
        for function in flow.functions
    }
    for function in sorted(
        flow.functions, key=lambda function: (bool(inner[function.id]), -shares[function.id])
    ):
        room = int(left * shares[function.id] / weight) - ENTRY_BYTES
        weight -= shares[function.id]
        if chain and function.id not in chain:
            room = min(room, ASIDE_BYTES_MAX)
        if room < TEXT_BYTES_MIN and excerpts:
            continue
        nested = [other for other in inner[function.id] if other.id in excerpts]  # no line is shown twice
        lines = {
            number: text
            for number, text in bodies.get(function.id, {}).items()
            if not any(other.start <= number <= other.end for other in nested)
        }
        decisive = _decisive_lines(picture, function)
        excerpts[function.id] = choose_lines(lines, picture.words, decisive, room)
        left -= (
            len(orjson.dumps(excerpts[function.id].text))
            + ENTRY_BYTES
            + len(orjson.dumps(twins.get(function.id)))
        )
    entries = [
        entry_of(function, excerpts[function.id].text) | twins.get(function.id, {})
        for function in flow.functions
        if function.id in excerpts
    ]
    return (
        entries,
        {name: excerpt.line_numbers for name, excerpt in excerpts.items()},
        _describe_cut(flow, excerpts),
    )


def _twin_entries(picture: Picture, bodies: Bodies) -> dict[str, Answer]:
    """Of each function to show the others that say the same, with the lines that speak of the
    question.
    """
    return {
        function.id: {
            "twins": [
                entry_of(twin, choose_telling(bodies.get(twin.id, {}), picture.words, TWIN_LINES).text)
                for twin in picture.twins[function.id][:TWINS_MAX]
            ]
        }
        for function in picture.flow.functions
        if picture.twins.get(function.id)
    }


def _describe_cut(flow: Flow, excerpts: Mapping[str, Excerpt]) -> str:
    """What was cut, in one sentence, or ""."""
    cut = sum(excerpt.cut for excerpt in excerpts.values())
    left_out = [
        f"{function.name} ({function.file}:{function.start})"
        for function in flow.functions
        if function.id not in excerpts
    ]
    sentences = [f"{cut} {'function is' if cut == 1 else 'functions are'} cut at ⋯"] * (cut > 0)
    sentences += [f"left out: {', '.join(left_out)}"] * bool(left_out)
    return f"{'; '.join(sentences)}; a larger max_tokens shows more." if sentences else ""


def entry_of(function: Function, text: str) -> Answer:
    """A definition with its lines, as an answer holds it."""
    return {
        "symbol": function.name,
        "file": function.file,
        "start_line": function.start,
        "end_line": function.end,
        "text": text,
    }


def _label(function: Function) -> str:
    return f"{function.name} {function.file}:{function.start}"


def _decisive_lines(picture: Picture, function: Function) -> list[int]:
    """The lines that are asked about, and those that call what else is shown."""
    visible_ids = {other.id for other in picture.flow.functions}
    calls = [
        place[1]
        for (caller, callee), place in picture.calls.edges.items()
        if caller == function.id and callee in visible_ids
    ]
    return [*picture.focus.get(function.id, ()), *calls]


def name_calls(picture: Picture, visible: Mapping[str, Collection[int]]) -> list[str]:
    """What the definitions `visible` (with the numbers of their lines) call and is not one of them,
    by name and place: what shown lines call first, of it what the words of the question are in.
    """
    calls = picture.calls
    hidden = {twin.id for name in visible for twin in picture.twins.get(name, ())} | visible.keys()
    callees: dict[str, bool] = {}
    for pair, (_, line) in calls.edges.items():
        caller, callee = pair
        if caller in visible and callee not in hidden and pair not in calls.unsure:
            callees[callee] = callees.get(callee, False) or line in visible[caller]
    functions = [
        function
        for function in map(calls.functions.__getitem__, callees)
        if is_shown(function) and function.start
    ]
    functions.sort(key=lambda function: (not callees[function.id], -name_share(function, picture.words)))
    return list(map(_label, functions[:CALLS_MAX]))


def _room_shares(picture: Picture) -> dict[str, float]:
    """What each function gets of the room, by its worth."""
    best = max(picture.scores.values(), default=1.0) or 1.0
    return {
        function.id: max(SHARE_MIN, picture.scores.get(function.id, 0.0) / best)
        for function in picture.flow.functions
    }


def name_users(flow: Flow, users: Users, *, few_tests: bool = False) -> Answer:
    """Callers of the entry, tests and documents, as an answer names them."""
    visible_ids = {function.id for function in flow.functions}
    callers: dict[str, Answer] = {}
    for caller in users.callers:
        name = caller["id"].partition(":")[2].partition("~")[0] or caller["id"]
        if caller["id"] not in visible_ids and name not in callers:
            callers[name] = {
                "symbol": name,
                "file": caller["file"],
                "line": caller["line"],
                "text": caller["text"],
            }
    return {
        "callers": list(callers.values())[:CALLERS_MAX],
        "tests": name_tests(users.tests, few=few_tests),
        "documents": [
            {"file": hit.path, "line": hit.start_line, "mentions": names[:NAMES_MAX]}
            for hit, names in users.documents[:DOCUMENTS_MAX]
        ],
    }


def name_tests(tests: list[Answer], *, few: bool = False) -> list[Answer]:
    """The tests that call something, by file and name; where none does those that mention it, else
    those of which only something else speaks.
    """
    tests = [test for test in tests if test["tests"] or "mentions" in test.get("why", ())] or tests
    entries: list[Answer] = []
    importing = [test["file"] for test in tests if test.get("why") == ["imports"]][IMPORTING_MAX:]
    tests = [test for test in tests if test["file"] not in importing]
    files_max, names_max = (FEW_TESTS, FEW_NAMES) if few else (TESTS_MAX, NAMES_MAX)
    for test in sorted(tests, key=lambda test: not test["tests"])[:files_max]:
        names = list(dict.fromkeys(test["tests"]))[:names_max]
        reason = {"tests": names} if names else {"why": ", ".join(test["why"])} if test.get("why") else {}
        entries.append({"file": test["file"], "line": test["line"], **reason})
    return entries
