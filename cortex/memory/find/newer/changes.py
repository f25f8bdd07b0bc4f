"""Which newer notes replace older ones because somebody said so, and which may. Pure.

What a note says closes and hides nothing: only the order of an answer changes.
"""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cortex.memory.note import Note, Trust

#: kinds of notes that a newer note can outdate
KINDS = frozenset(("fact", "decision", "preference", "goal"))
#: kinds of notes that may tell of a change: an event ("moved to EMQX") outdates facts too
TELLING = KINDS | {"event"}
#: authors whose notes precede no note of others
FOREIGN: frozenset[Trust] = frozenset(("import", "tool", "other"))


def replaces(newer: Note, older: Note) -> bool:
    """Whether the newer note supersedes the older one, or is of the same topic."""
    return older.superseded_by == newer.number or bool(newer.topic and newer.topic == older.topic)


@dataclass(slots=True)
class Arrangement:
    """The order of notes, as indices; {number of a note: the one that replaces it}."""

    order: list[int]
    newer: dict[int, int] = field(default_factory=dict)

    def put_before(self, newer: int, older: int) -> None:
        if self.order.index(newer) > self.order.index(older):
            self.order.remove(newer)
            self.order.insert(self.order.index(older), newer)


def arrange(notes: Sequence[Note], branches: Collection[str] = ()) -> Arrangement:
    """Put a newer note before the older ones that it replaces; `notes` in the order of an answer.
    Notes of `branches` precede none of others.
    """
    result = Arrangement(list(range(len(notes))))
    places = [at for at, note in enumerate(notes) if note.kind in KINDS]
    for newer, older in itertools.permutations(places, 2):
        now, then = notes[newer], notes[older]
        if replaces(now, then) and _age(now) > _age(then) and not _is_of_branch(now, then, branches):
            result.newer[then.number] = now.number
            result.put_before(newer, older)
    return result


class Standing(NamedTuple):
    """What decides which notes a note may follow: read once, for it has hundreds of pairs."""

    age: tuple[int, int]
    is_foreign: bool
    branch: str


def standing_of(note: Note) -> Standing:
    return Standing(_age(note), note.source.trust in FOREIGN, note.branch)


def may_follow(newer: Note, older: Note, branches: Collection[str]) -> bool:
    """Whether the newer note is later than the older one, and may say what became of it."""
    return follows(standing_of(newer), standing_of(older), branches)


def follows(newer: Standing, older: Standing, branches: Collection[str]) -> bool:
    """As `may_follow`."""
    return (
        newer.age > older.age
        and (older.is_foreign or not newer.is_foreign)
        and not _is_of_branch(newer, older, branches)
    )


def _is_of_branch(newer: Note | Standing, older: Note | Standing, branches: Collection[str]) -> bool:
    """Whether the newer note was made on one of the branches and the older one on another."""
    return bool(branches) and newer.branch in branches and newer.branch != older.branch


def _age(note: Note) -> tuple[int, int]:
    return note.happened_at, note.number
