"""What cortex_explore found, cut to its budget: what is beside the code first, the code gets the
rest. Asks nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.excerpt import Excerpt, choose, telling
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
    asked: str = ""
    members: tuple[Function, ...] = ()
    #: of a function that is shown those that say the same
    twins: dict[str, list[Function]] = field(default_factory=dict)
    path: str = ""
    #: whether tests are no part of the question
    few_tests: bool = False


def render(picture: Picture, bodies: Bodies, beside: Answer, max_bytes: int) -> Answer:
    """The parts of an answer that fit `max_bytes`, without its `index` block."""
    flow = picture.flow
    kinds = {kind: list(entries) for kind, entries in beside.items()}
    while len(orjson.dumps(kinds)) > BESIDE_SHARE * max_bytes and any(kinds.values()):
        max(kinds.values(), key=len).pop()
    answer: Answer = {"path": flow.path()} if flow.chain else {}
    left = max_bytes - FRAME_BYTES - len(picture.suggestion.encode())
    left -= len(orjson.dumps(kinds)) + len(orjson.dumps(answer))
    names = _fitting(name_calls(picture, {one.id: () for one in flow.functions}), CALLS_SHARE * max_bytes)
    for_names = len(orjson.dumps(names))
    twins = _twins(picture, bodies)
    answer["functions"], shown, cut = _fit(picture, bodies, twins, left)
    if left - len(orjson.dumps(answer["functions"])) < for_names:
        answer["functions"], shown, cut = _fit(picture, bodies, twins, left - for_names)
    names = _fitting(name_calls(picture, shown), for_names)
    answer |= {kind: entries for kind, entries in ({"calls": names} | kinds).items() if entries}
    if cut:
        answer["truncated"] = True
        answer["note"] = cut
    return answer


def _fitting(names: list[str], max_bytes: float) -> list[str]:
    """The first of them, in JSON within `max_bytes`."""
    while names and len(orjson.dumps(names)) > max_bytes:
        names = names[:-1]
    return names


#: what is shown: the functions with their lines, the numbers of the lines of each by its id, what
#: was cut in one sentence or ""
Shown = tuple[list[Answer], dict[str, frozenset[int]], str]


def _fit(picture: Picture, bodies: Bodies, twins: Mapping[str, Answer], max_bytes: int) -> Shown:
    """What `_show` gives, in fact within `max_bytes`: lines are chosen by what they take about."""
    room = max_bytes
    for _ in range(FITTINGS):
        found = _show(picture, bodies, twins, room)
        excess = len(orjson.dumps(found[0])) - max_bytes
        if excess <= 0:
            break
        room -= excess
    return found


def _show(picture: Picture, bodies: Bodies, twins: Mapping[str, Answer], max_bytes: int) -> Shown:
    flow, left = picture.flow, max_bytes
    shares = _shares(picture)
    weight = sum(shares.values())
    chain = {one.id for one in flow.functions[: flow.chain]}
    excerpts: dict[str, Excerpt] = {}
    inner = {one.id: [other for other in flow.functions if other.is_inside(one)] for one in flow.functions}
    for one in sorted(flow.functions, key=lambda one: (bool(inner[one.id]), -shares[one.id])):
        room = int(left * shares[one.id] / weight) - ENTRY_BYTES
        weight -= shares[one.id]
        if chain and one.id not in chain:
            room = min(room, ASIDE_BYTES_MAX)
        if room < TEXT_BYTES_MIN and excerpts:
            continue
        told = [other for other in inner[one.id] if other.id in excerpts]  # no line is shown twice
        lines = {
            number: text
            for number, text in bodies.get(one.id, {}).items()
            if not any(other.start <= number <= other.end for other in told)
        }
        decisive = _decisive(picture, one)
        excerpts[one.id] = choose(lines, picture.words, decisive, room)
        left -= len(orjson.dumps(excerpts[one.id].text)) + ENTRY_BYTES + len(orjson.dumps(twins.get(one.id)))
    entries = [
        entry_of(one, excerpts[one.id].text) | twins.get(one.id, {})
        for one in flow.functions
        if one.id in excerpts
    ]
    return entries, {name: one.shown for name, one in excerpts.items()}, _said(flow, excerpts)


def _twins(picture: Picture, bodies: Bodies) -> dict[str, Answer]:
    """Of each function to show the others that say the same, with the lines that speak of the
    question.
    """
    return {
        one.id: {
            "twins": [
                entry_of(twin, telling(bodies.get(twin.id, {}), picture.words, TWIN_LINES).text)
                for twin in picture.twins[one.id][:TWINS_MAX]
            ]
        }
        for one in picture.flow.functions
        if picture.twins.get(one.id)
    }


def _said(flow: Flow, excerpts: Mapping[str, Excerpt]) -> str:
    """What was cut, in one sentence, or ""."""
    cut = sum(one.cut for one in excerpts.values())
    left_out = [f"{one.name} ({one.file}:{one.start})" for one in flow.functions if one.id not in excerpts]
    told = [f"{cut} {'function is' if cut == 1 else 'functions are'} cut at ⋯"] * (cut > 0)
    told += [f"left out: {', '.join(left_out)}"] * bool(left_out)
    return f"{'; '.join(told)}; a larger max_tokens shows more." if told else ""


def entry_of(one: Function, text: str) -> Answer:
    """A definition with its lines, as an answer holds it."""
    return {
        "symbol": one.name,
        "file": one.file,
        "start_line": one.start,
        "end_line": one.end,
        "text": text,
    }


def _named(one: Function) -> str:
    return f"{one.name} {one.file}:{one.start}"


def _decisive(picture: Picture, one: Function) -> list[int]:
    """The lines that are asked about, and those that call what else is shown."""
    shown = {other.id for other in picture.flow.functions}
    calls = [
        place[1]
        for (caller, callee), place in picture.calls.edges.items()
        if caller == one.id and callee in shown
    ]
    return [*picture.focus.get(one.id, ()), *calls]


def name_calls(picture: Picture, shown: Mapping[str, Collection[int]]) -> list[str]:
    """What the definitions `shown` (with the numbers of their lines) call and is not one of them,
    by name and place: what shown lines call first, of it what the words of the question are in.
    """
    calls = picture.calls
    hidden = {one.id for name in shown for one in picture.twins.get(name, ())} | shown.keys()
    found: dict[str, bool] = {}
    for pair, (_, line) in calls.edges.items():
        caller, callee = pair
        if caller in shown and callee not in hidden and pair not in calls.unsure:
            found[callee] = found.get(callee, False) or line in shown[caller]
    named = [one for one in map(calls.functions.__getitem__, found) if is_shown(one) and one.start]
    named.sort(key=lambda one: (not found[one.id], -name_share(one, picture.words)))
    return list(map(_named, named[:CALLS_MAX]))


def _shares(picture: Picture) -> dict[str, float]:
    """What each function gets of the room, by its worth."""
    best = max(picture.scores.values(), default=1.0) or 1.0
    return {one.id: max(SHARE_MIN, picture.scores.get(one.id, 0.0) / best) for one in picture.flow.functions}


def users_beside(flow: Flow, users: Users, *, few_tests: bool = False) -> Answer:
    """Callers of the entry, tests and documents, as an answer names them."""
    shown = {one.id for one in flow.functions}
    callers: dict[str, Answer] = {}
    for one in users.callers:
        name = one["id"].partition(":")[2].partition("~")[0] or one["id"]
        if one["id"] not in shown and name not in callers:
            callers[name] = {"symbol": name, "file": one["file"], "line": one["line"], "text": one["text"]}
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
    tests = [one for one in tests if one["tests"] or "mentions" in one.get("why", ())] or tests
    named: list[Answer] = []
    importing = [one["file"] for one in tests if one.get("why") == ["imports"]][IMPORTING_MAX:]
    tests = [one for one in tests if one["file"] not in importing]
    files_max, names_max = (FEW_TESTS, FEW_NAMES) if few else (TESTS_MAX, NAMES_MAX)
    for one in sorted(tests, key=lambda one: not one["tests"])[:files_max]:
        names = list(dict.fromkeys(one["tests"]))[:names_max]
        told = {"tests": names} if names else {"why": ", ".join(one["why"])} if one.get("why") else {}
        named.append({"file": one["file"], "line": one["line"], **told})
    return named
