"""The answer about one place or symbol, cut to its budget: first its own lines, then its callers
and callees, then the tests and documents that name it. No I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from cortex.ask.exploring.explore_answer import (
    ENTRY_BYTES,
    FRAME_BYTES,
    TEXT_BYTES_MIN,
    Answer,
    CallerCount,
    Picture,
    entry_of,
    name_calls,
    name_users,
)
from cortex.ask.exploring.functions import PIECE, Bodies, Function
from cortex.ask.lines.excerpt import Excerpt, choose_around, head_of, split_text
from cortex.ask.references.related import Users
from cortex.ranking.lines import comments_of
from cortex.terms.budget import Budget, fit_estimate

#: share of the budget for callers and callees where the target's lines do not fit
NAMES_SHARE = 0.15
#: largest text of a callee, and of the next definition, in bytes
CALLEE_BYTES_MAX, NEXT_BYTES_MAX = 900, 2400
#: bytes of a field's name in JSON, with its brackets
KIND_BYTES = 16


@dataclass
class _Room(Budget):
    """The budget, and the fields of the answer so far."""

    parts: Answer = field(default_factory=dict)

    def add(self, kind: str, entry: Any) -> None:
        """Add an entry to a list of the answer, if it fits."""
        if self.take(len(orjson.dumps(entry)) + 1 + (0 if kind in self.parts else KIND_BYTES)):
            self.parts.setdefault(kind, []).append(entry)


def render_place(
    picture: Picture, bodies: Bodies, users: Users, max_bytes: int, caller_count: CallerCount
) -> Answer:
    """Return the fields of an answer that fit `max_bytes`, without its `index` block."""
    definition = picture.flow.functions[0]
    named_users = name_users(picture.flow, users)
    callers_left_out = caller_count.describe_listed(len(named_users["callers"]))
    remarks = f"{picture.suggestion}{callers_left_out}"
    room = _Room(max_bytes - FRAME_BYTES - len(remarks.encode()))
    lines, focus = bodies.get(definition.id, {}), picture.focus.get(definition.id, [])
    excerpt = _own_excerpt(picture, definition, lines, room.left - ENTRY_BYTES * (len(focus) > 1))
    for entry in _split_entries(definition, lines, focus, excerpt):
        room.add("functions", entry)
    if picture.path and (size := len(picture.path.encode()) + KIND_BYTES) <= room.left:
        room.take(size)
        room.parts["path"] = picture.path
    for caller in named_users["callers"]:
        room.add("callers", caller)
    if callers_left_out:
        callers_left_out = caller_count.describe_listed(len(room.parts.get("callers", ())))
    visible = {definition.id: excerpt.line_numbers} | {
        member.id: excerpt.line_numbers for member in picture.members
    }
    _add_bodies(picture, bodies, visible, room)
    for name in name_calls(picture, visible):
        room.add("calls", name)
    full = room.full
    for kind, entries in _select_naming(named_users, definition).items():
        for entry in entries:
            room.add(kind, entry)
    cut = f"{definition.name} is cut at ⋯" if excerpt.cut else ""
    left_out = "callers or calls are left out" if full else ""
    reasons = ", ".join(filter(None, (cut, left_out)))
    sentences = (f"{reasons}; a larger max_tokens shows more." if reasons else "", callers_left_out)
    if note := " ".join(filter(None, sentences)):
        room.parts |= {"truncated": True, "note": note}
    return room.parts


def _add_bodies(picture: Picture, bodies: Bodies, visible: dict[str, frozenset[int]], room: _Room) -> None:
    """Add short callees as a whole; after lines outside of definitions, the next definition."""
    definition, *others = picture.flow.functions
    after = definition.kind == PIECE
    for other in others:
        names = len(orjson.dumps(name_calls(picture, visible)))
        most = min(room.left - names, NEXT_BYTES_MAX if after else CALLEE_BYTES_MAX)
        body = _fit_excerpt(bodies.get(other.id, {}), (), most - ENTRY_BYTES)
        if body.line_numbers and (not body.cut or (after and most > TEXT_BYTES_MIN)):
            room.add("functions", entry_of(other, body.text))
            visible[other.id] = body.line_numbers


def _own_excerpt(picture: Picture, definition: Function, lines: Mapping[int, str], max_bytes: int) -> Excerpt:
    """Return the lines in question with their definition: whole if it fits. Of a larger type, its
    own lines and the signatures of its functions.
    """
    focus, room = picture.focus.get(definition.id, []), max_bytes - ENTRY_BYTES
    excerpt = _fit_excerpt(lines, focus, room)
    if not excerpt.cut:
        return excerpt
    if picture.members and len(focus) <= 1:
        lines = _drop_bodies(lines, picture.members)
    excerpt = _fit_excerpt(lines, focus, int(room * (1 - NAMES_SHARE)))
    return Excerpt(excerpt.text, cut=True, line_numbers=excerpt.line_numbers)


def _split_entries(
    definition: Function, lines: Mapping[int, str], focus: list[int], excerpt: Excerpt
) -> list[Answer]:
    """Return the entry of the requested span of lines alone, then the entry of its surroundings."""
    first, remainder = split_text(lines, excerpt.line_numbers, focus) if len(focus) > 1 else ("", "")
    if not first or not remainder:
        return [entry_of(definition, excerpt.text)]
    return [
        entry_of(replace(definition, start=focus[0], end=focus[-1]), first),
        entry_of(definition, remainder),
    ]


def _fit_excerpt(lines: Mapping[int, str], focus: list[int] | tuple[()], max_bytes: int) -> Excerpt:
    """Return `choose_around` within exactly `max_bytes` of JSON."""
    return fit_estimate(
        lambda room: choose_around(lines, focus, room),
        lambda excerpt: len(orjson.dumps(excerpt.text)),
        max_bytes,
    )


def _drop_bodies(lines: Mapping[int, str], members: tuple[Function, ...]) -> dict[int, str]:
    """Return the lines without the bodies of `members` and without comments."""
    hidden = comments_of(lines)
    for member in members:
        inside = [number for number in range(member.start, member.end + 1) if number in lines]
        hidden |= {*inside} - {*head_of(lines, inside)}
    return {number: text for number, text in lines.items() if number not in hidden}


def _select_naming(named_users: Answer, definition: Function) -> dict[str, list[Answer]]:
    """Return the tests that call or mention the definition, and documents with its name."""
    name = definition.name.rpartition(".")[2]
    return {
        "tests": [
            test for test in named_users["tests"] if test.get("tests") or "mentions" in test.get("why", "")
        ],
        "documents": [
            page
            for page in named_users["documents"]
            if any(_ends_with_name(mention, name) for mention in page["mentions"])
        ],
    }


def _ends_with_name(mention: str, name: str) -> bool:
    return mention == name or mention.endswith((f".{name}", f":{name}", f"#{name}"))
