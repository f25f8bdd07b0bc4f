"""What cortex_explore found, cut to its budget: what is beside the code first, the code gets the
rest. Asks nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.excerpt import choose
from cortex.ask.flow import Flow
from cortex.ask.functions import Bodies, Calls, Function
from cortex.ask.related import Users

#: callers, tests, documents and possible breaks that an answer names
CALLERS_MAX, TESTS_MAX, DOCUMENTS_MAX, BREAKS_MAX = 4, 5, 2, 12
#: tests of which only is known that they import a file
IMPORTING_MAX = 2
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


def render(picture: Picture, bodies: Bodies, beside: Answer, max_bytes: int) -> Answer:
    """The parts of an answer that fit `max_bytes`, without its `index` block."""
    flow = picture.flow
    kinds = {kind: list(entries) for kind, entries in beside.items()}
    while len(orjson.dumps(kinds)) > BESIDE_SHARE * max_bytes and any(kinds.values()):
        max(kinds.values(), key=len).pop()
    answer: Answer = {"path": flow.path()} if flow.chain else {}
    left = max_bytes - FRAME_BYTES - len(picture.suggestion.encode())
    left -= len(orjson.dumps(kinds)) + len(orjson.dumps(answer))
    answer["functions"], cut = _fit(picture, bodies, left)
    answer |= {kind: entries for kind, entries in kinds.items() if entries}
    if cut:
        answer["truncated"] = True
        answer["note"] = cut
    return answer


def _fit(picture: Picture, bodies: Bodies, max_bytes: int) -> tuple[list[Answer], str]:
    """What `_show` gives, in fact within `max_bytes`: lines are chosen by what they take about."""
    room = max_bytes
    for _ in range(FITTINGS):
        functions, cut = _show(picture, bodies, room)
        excess = len(orjson.dumps(functions)) - max_bytes
        if excess <= 0:
            break
        room -= excess
    return functions, cut


def _show(picture: Picture, bodies: Bodies, max_bytes: int) -> tuple[list[Answer], str]:
    """(the functions with their lines, what was cut in one sentence or "")"""
    flow, left, cut, dropped = picture.flow, max_bytes, 0, 0
    shares = _shares(picture)
    weight = sum(shares.values())
    chain = {one.id for one in flow.functions[: flow.chain]}
    texts: dict[str, str] = {}
    for one in sorted(flow.functions, key=lambda one: -shares[one.id]):
        room = int(left * shares[one.id] / weight) - ENTRY_BYTES
        weight -= shares[one.id]
        if chain and one.id not in chain:
            room = min(room, ASIDE_BYTES_MAX)
        if room < TEXT_BYTES_MIN and texts:
            dropped += 1
            continue
        excerpt = choose(bodies.get(one.id, {}), picture.words, _decisive(picture, one), room)
        texts[one.id] = excerpt.text
        cut += excerpt.cut
        left -= len(orjson.dumps(excerpt.text)) + ENTRY_BYTES
    entries = [_entry(one, texts[one.id]) for one in flow.functions if one.id in texts]
    told = [f"{cut} functions are cut at ⋯" if cut else "", f"{dropped} left out" if dropped else ""]
    said = ", ".join(filter(None, told))
    return entries, f"{said}; a larger max_tokens shows more." if said else ""


def _entry(one: Function, text: str) -> Answer:
    return {
        "symbol": one.name,
        "file": one.file,
        "start_line": one.start,
        "end_line": one.end,
        "text": text,
    }


def _decisive(picture: Picture, one: Function) -> list[int]:
    """The lines that are asked about, and those that call what else is shown."""
    shown = {other.id for other in picture.flow.functions}
    calls = [
        place[1]
        for (caller, callee), place in picture.calls.edges.items()
        if caller == one.id and callee in shown
    ]
    return [*picture.focus.get(one.id, ()), *calls]


def _shares(picture: Picture) -> dict[str, float]:
    """What each function gets of the room, by its worth."""
    best = max(picture.scores.values(), default=1.0) or 1.0
    return {one.id: max(SHARE_MIN, picture.scores.get(one.id, 0.0) / best) for one in picture.flow.functions}


def users_beside(flow: Flow, users: Users) -> Answer:
    """Callers of the entry, tests and documents, as an answer names them."""
    shown = {one.id for one in flow.functions}
    callers: dict[str, Answer] = {}
    for one in users.callers:
        name = one["id"].partition(":")[2].partition("~")[0] or one["id"]
        if one["id"] not in shown and name not in callers:
            callers[name] = {"symbol": name, "file": one["file"], "line": one["line"], "text": one["text"]}
    return {
        "callers": list(callers.values())[:CALLERS_MAX],
        "tests": name_tests(users.tests),
        "documents": [
            {"file": hit.path, "line": hit.start_line, "mentions": names[:NAMES_MAX]}
            for hit, names in users.documents[:DOCUMENTS_MAX]
        ],
    }


def name_tests(tests: list[Answer]) -> list[Answer]:
    """The files with tests that call something first; their names without what is inside them, or
    what else speaks for the file.
    """
    named: list[Answer] = []
    importing = [one["file"] for one in tests if one.get("why") == ["imports"]][IMPORTING_MAX:]
    tests = [one for one in tests if one["file"] not in importing]
    for one in sorted(tests, key=lambda one: not one["tests"])[:TESTS_MAX]:
        names = list(dict.fromkeys(one["tests"]))[:NAMES_MAX]
        told = {"tests": names} if names else {"why": ", ".join(one["why"])} if one.get("why") else {}
        named.append({"file": one["file"], "line": one["line"], **told})
    return named
