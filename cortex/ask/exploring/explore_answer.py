"""The answer of cortex_explore, cut to its budget: first callers, tests and documents, then code in
the remaining bytes. No I/O.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.exploring.flow import Flow, name_share
from cortex.ask.exploring.functions import Bodies, Calls, Function, is_shown
from cortex.ask.lines.excerpt import Excerpt, choose_lines, choose_telling
from cortex.ask.references.related import Users
from cortex.terms.budget import first_fitting, fit_estimate
from cortex.terms.ids import strip_overload

#: callers, tests, documents and possible breaks that an answer lists
CALLERS_MAX, TESTS_MAX, DOCUMENTS_MAX, BREAKS_MAX = 4, 5, 2, 12
#: called definitions without their code that an answer lists
CALLS_MAX = 5
#: share of the budget for this list
CALLS_SHARE = 0.08
#: files with tests, and names of each, where the question does not mention tests
FEW_TESTS, FEW_NAMES = 3, 2
#: tests whose only known reason is that they import a file
IMPORTING_MAX = 2
#: variants of a shown function, and lines of each
TWINS_MAX, TWIN_LINES = 2, 2
#: names of tests in one file, and names that a document mentions
NAMES_MAX = 4
#: largest share of the budget for callers, tests and documents
BESIDE_SHARE = 0.35
#: bytes of the frame of an answer, and of each function in it
FRAME_BYTES, ENTRY_BYTES = 250, 110
#: smallest text of a function in bytes; largest one for a function outside of the chain of calls
TEXT_BYTES_MIN, ASIDE_BYTES_MAX = 200, 600
#: smallest share of a function, relative to the best one, for functions that the question does not
#: name
SHARE_MIN = 0.3


Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """The result of an exploration before it is cut. `focus`: function id → lines of the question;
    `bodies`: the texts that have been read.
    """

    flow: Flow = field(default_factory=Flow)
    calls: Calls = field(default_factory=Calls)
    words: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    focus: dict[str, list[int]] = field(default_factory=dict)
    suggestion: str = ""
    bodies: Bodies = field(default_factory=dict)
    #: id of the place or symbol in question, which gets its bytes first; `members`: the functions
    #: of that type; `path`: the chain of calls through it
    target: str = ""
    members: tuple[Function, ...] = ()
    #: id of a shown function → its variants
    twins: dict[str, list[Function]] = field(default_factory=dict)
    path: str = ""
    #: whether the question is not about tests
    few_tests: bool = False
    #: ids of the functions that the question names
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CallerCount:
    """The number of known callers of the functions with the ids `of`; `more`: there are others."""

    total: int = 0
    more: bool = False
    of: tuple[str, ...] = ()

    def describe_listed(self, listed: int) -> str:
        """Return a sentence on the callers that the answer does not list, or ""."""
        if not self.more and listed >= self.total:
            return ""
        total = f"more than {self.total}" if self.more else f"{self.total}"
        names = " and of ".join(map(strip_overload, self.of))
        return f"{listed} of {total} callers are listed; cortex_graph callers of {names} lists all."


def render(
    picture: Picture,
    bodies: Bodies,
    named_users: Answer,
    max_bytes: int,
    caller_count: CallerCount = CallerCount(),
) -> Answer:
    """Return the fields of an answer that fit `max_bytes`, without its `index` block."""
    flow = picture.flow
    kinds = {kind: list(entries) for kind, entries in named_users.items()}
    while len(orjson.dumps(kinds)) > BESIDE_SHARE * max_bytes and any(kinds.values()):
        max(kinds.values(), key=len).pop()
    answer: Answer = {"path": flow.path()} if flow.chain else {}
    left_out = caller_count.describe_listed(len(kinds.get("callers", ())))
    left = max_bytes - FRAME_BYTES - len(picture.suggestion.encode()) - len(left_out.encode())
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
    if note := " ".join(filter(None, (cut, left_out))):
        answer |= {"truncated": True, "note": note}
    return answer


def _trim_to_bytes(names: list[str], max_bytes: float) -> list[str]:
    """Return as many leading names as fit `max_bytes` in JSON."""
    return first_fitting(names, lambda name: len(orjson.dumps(name)) + 1, int(max_bytes) - 1)


#: entries with their lines; function id → its shown line numbers; a sentence on cuts, or ""
Selection = tuple[list[Answer], dict[str, frozenset[int]], str]


def _fit(picture: Picture, bodies: Bodies, twins: Mapping[str, Answer], max_bytes: int) -> Selection:
    """Return `_select_lines` within exactly `max_bytes`: it only estimates the size of lines."""
    return fit_estimate(
        lambda room: _select_lines(picture, bodies, twins, room),
        lambda selection: len(orjson.dumps(selection[0])),
        max_bytes,
    )


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
    """Return function id → its variants, each with the lines that hold words of the question."""
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
    """Return a sentence on cut and left-out functions, or ""."""
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
    return {
        "symbol": function.name,
        "file": function.file,
        "start_line": function.start,
        "end_line": function.end,
        "text": text,
    }


def _decisive_lines(picture: Picture, function: Function) -> list[int]:
    """Return the lines in question, and those that call other shown functions."""
    visible_ids = {other.id for other in picture.flow.functions}
    calls = [
        place[1]
        for (caller, callee), place in picture.calls.edges.items()
        if caller == function.id and callee in visible_ids
    ]
    return [*picture.focus.get(function.id, ()), *calls]


def name_calls(picture: Picture, visible: Mapping[str, Collection[int]]) -> list[str]:
    """Return names and places of other definitions that `visible` (id → line numbers) calls: those
    called from shown lines first, among them those with words of the question first.
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
    return [f"{function.name} {function.file}:{function.start}" for function in functions[:CALLS_MAX]]


def _room_shares(picture: Picture) -> dict[str, float]:
    """Return function id → its weight for the budget, by its score."""
    best = max(picture.scores.values(), default=1.0) or 1.0
    return {
        function.id: max(SHARE_MIN, picture.scores.get(function.id, 0.0) / best)
        for function in picture.flow.functions
    }


def name_users(flow: Flow, users: Users, *, few_tests: bool = False) -> Answer:
    """Return the first callers of the flow, its tests and documents, as entries of an answer."""
    return {
        "callers": _name_callers(flow, users)[:CALLERS_MAX],
        "tests": name_tests(users.tests, few=few_tests),
        "documents": [
            {"file": hit.path, "line": hit.start_line, "mentions": names[:NAMES_MAX]}
            for hit, names in users.documents[:DOCUMENTS_MAX]
        ],
    }


def count_callers(flow: Flow, users: Users, functions: Sequence[Function]) -> CallerCount:
    """Return the count of the callers that `users` has of `functions`, without shown functions."""
    of = tuple(function.id for function in functions)
    return CallerCount(len(_name_callers(flow, users)), users.truncated, of)


def _name_callers(flow: Flow, users: Users) -> list[Answer]:
    visible_ids = {function.id for function in flow.functions}
    callers: dict[str, Answer] = {}
    for caller in users.callers:
        caller_id = strip_overload(caller["id"])
        if caller["id"] not in visible_ids and caller_id not in callers:
            callers[caller_id] = {
                "symbol": caller_id.partition(":")[2] or caller_id,
                "file": caller["file"],
                "line": caller["line"],
                "text": caller["text"],
            }
    return list(callers.values())


def name_tests(tests: list[Answer], *, few: bool = False) -> list[Answer]:
    """Return the tests that call the code, by file and name. Without such tests, those that mention
    it, otherwise those with a weaker reason.
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
