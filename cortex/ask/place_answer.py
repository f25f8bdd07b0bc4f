"""The answer about one place or symbol, cut to its budget: its own lines have the first claim on
the room, then who calls it and what it calls, then the tests and documents that name it. Asks
nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from cortex.ask.excerpt import Excerpt, around, head_of, parted
from cortex.ask.explore_answer import (
    ENTRY_BYTES,
    FITTINGS,
    FRAME_BYTES,
    TEXT_BYTES_MIN,
    Answer,
    Picture,
    entry_of,
    name_calls,
    users_beside,
)
from cortex.ask.functions import PIECE, Bodies, Function
from cortex.ask.related import Users
from cortex.ranking.lines import comments_of

#: the share of the room that callers and callees get where the asked lines do not fit
NAMES_SHARE = 0.15
#: bytes of what is called, and of the definition that comes next, that are shown at most
CALLEE_BYTES_MAX, NEXT_BYTES_MAX = 900, 2400
#: bytes of the names of what is beside the definitions, in JSON
KIND_BYTES = 16


@dataclass
class _Room:
    """What is left of the budget, and the parts of the answer that have had theirs."""

    left: int
    parts: Answer = field(default_factory=dict)
    #: whether something did not fit
    full: bool = False

    def add(self, kind: str, one: Any) -> None:
        """To a list of the answer, if it fits."""
        size = len(orjson.dumps(one)) + 1 + (0 if kind in self.parts else KIND_BYTES)
        if size > self.left:
            self.full = True
            return
        self.left -= size
        self.parts.setdefault(kind, []).append(one)


def render_asked(picture: Picture, bodies: Bodies, users: Users, max_bytes: int) -> Answer:
    """The parts of an answer that fit `max_bytes`, without its `index` block."""
    one = picture.flow.functions[0]
    room = _Room(max_bytes - FRAME_BYTES - len(picture.suggestion.encode()))
    lines, asked = bodies.get(one.id, {}), picture.focus.get(one.id, [])
    excerpt = _own(picture, one, lines, room.left - ENTRY_BYTES * (len(asked) > 1))
    for entry in _entries(one, lines, asked, excerpt):
        room.add("functions", entry)
    if picture.path and (size := len(picture.path.encode()) + KIND_BYTES) <= room.left:
        room.left -= size
        room.parts["path"] = picture.path
    beside = users_beside(picture.flow, users)
    for caller in beside["callers"]:
        room.add("callers", caller)
    shown = {one.id: excerpt.shown} | {member.id: excerpt.shown for member in picture.members}
    _add_bodies(picture, bodies, shown, room)
    for name in name_calls(picture, shown):
        room.add("calls", name)
    full = room.full
    for kind, entries in _naming(beside, one).items():
        for entry in entries:
            room.add(kind, entry)
    cut = f"{one.name} is cut at ⋯" if excerpt.cut else ""
    left_out = "callers or calls are left out" if full else ""
    if said := ", ".join(filter(None, (cut, left_out))):
        room.parts |= {"truncated": True, "note": f"{said}; a larger max_tokens shows more."}
    return room.parts


def _add_bodies(picture: Picture, bodies: Bodies, shown: dict[str, frozenset[int]], room: _Room) -> None:
    """What is called, whole where it is short; what comes next behind lines of no definition."""
    one, *others = picture.flow.functions
    after = one.kind == PIECE
    for other in others:
        names = len(orjson.dumps(name_calls(picture, shown)))
        most = min(room.left - names, NEXT_BYTES_MAX if after else CALLEE_BYTES_MAX)
        body = _fitted(bodies.get(other.id, {}), (), most - ENTRY_BYTES)
        if body.shown and (not body.cut or (after and most > TEXT_BYTES_MIN)):
            room.add("functions", entry_of(other, body.text))
            shown[other.id] = body.shown


def _own(picture: Picture, one: Function, lines: Mapping[int, str], max_bytes: int) -> Excerpt:
    """The asked lines and their definition: whole if it fits, of a type else the lines outside of
    its functions with their signatures.
    """
    asked, room = picture.focus.get(one.id, []), max_bytes - ENTRY_BYTES
    found = _fitted(lines, asked, room)
    if not found.cut:
        return found
    if picture.members and len(asked) <= 1:
        lines = _outlined(lines, picture.members)
    found = _fitted(lines, asked, int(room * (1 - NAMES_SHARE)))
    return Excerpt(found.text, cut=True, shown=found.shown)


def _entries(one: Function, lines: Mapping[int, str], asked: list[int], excerpt: Excerpt) -> list[Answer]:
    """The lines from one to another that are asked about, and nothing else; then what is around
    them.
    """
    first, rest = parted(lines, excerpt.shown, asked) if len(asked) > 1 else ("", "")
    if not first or not rest:
        return [entry_of(one, excerpt.text)]
    return [entry_of(replace(one, start=asked[0], end=asked[-1]), first), entry_of(one, rest)]


def _fitted(lines: Mapping[int, str], asked: list[int] | tuple[()], max_bytes: int) -> Excerpt:
    """What `around` gives, in fact within `max_bytes` of JSON."""
    room = max_bytes
    for _ in range(FITTINGS):
        found = around(lines, asked, room)
        excess = len(orjson.dumps(found.text)) - max_bytes
        if excess <= 0:
            break
        room -= excess
    return found


def _outlined(lines: Mapping[int, str], members: tuple[Function, ...]) -> dict[int, str]:
    """Without the bodies of `members` and the comments."""
    hidden = comments_of(lines)
    for member in members:
        inside = [number for number in range(member.start, member.end + 1) if number in lines]
        hidden |= {*inside} - {*head_of(lines, inside)}
    return {number: text for number, text in lines.items() if number not in hidden}


def _naming(beside: Answer, one: Function) -> dict[str, list[Answer]]:
    """The tests that call or mention it, and the documents that hold its name."""
    name = one.name.rpartition(".")[2]
    return {
        "tests": [test for test in beside["tests"] if test.get("tests") or "mentions" in test.get("why", "")],
        "documents": [
            page for page in beside["documents"] if any(_ends(said, name) for said in page["mentions"])
        ],
    }


def _ends(said: str, name: str) -> bool:
    return said == name or said.endswith((f".{name}", f":{name}", f"#{name}"))
