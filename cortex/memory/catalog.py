"""What is asked of every note at once, in arrays with the note's number as the index: whose it is,
what kind, which state, when. Follows the changes of the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cortex.memory.note import Note, State
from ipc.arrays import Array

#: notes for which there is room at first; it doubles
ROOM = 1024
_STATES: tuple[State, ...] = ("active", "superseded", "archived", "deleted")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which notes a question is about. Empty fields select everything; `project` selects its own
    notes and the global ones.
    """

    project: str = ""
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    since: int = 0
    until: int = 0
    states: tuple[State, ...] = ("active",)


class Catalog:
    """Arrays of length `room`; the note 0 does not exist."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._projects: dict[str, int] = {"": 0}
        self._sessions: dict[str, int] = {"": 0}
        #: label → the notes that have it
        self._labelled: dict[str, set[int]] = {}
        self._labels: dict[int, tuple[str, ...]] = {}
        #: session → its notes in order
        self._told: dict[int, list[int]] = {}
        self._columns = {
            "there": np.zeros(ROOM, bool),
            "everywhere": np.zeros(ROOM, bool),
            "kind": np.zeros(ROOM, np.int32),
            "project": np.zeros(ROOM, np.int32),
            "state": np.zeros(ROOM, np.int8),
            "before": np.zeros(ROOM, np.int64),
            "after": np.zeros(ROOM, np.int64),
            "happened": np.zeros(ROOM, np.int64),
            "updated": np.zeros(ROOM, np.int64),
            "importance": np.zeros(ROOM, np.float32),
            "uses": np.zeros(ROOM, np.int32),
        }

    def __getitem__(self, column: str) -> Array:
        return self._columns[column]

    def take(self, changed: Iterable[Note]) -> None:
        for note in changed:
            self._make_room(note.number)
            at, columns = note.number, self._columns
            session = self._sessions.setdefault(note.source.session, len(self._sessions))
            if session and not columns["there"][at]:
                told = self._told.setdefault(session, [])
                if told:
                    columns["before"][at], columns["after"][told[-1]] = told[-1], at
                told.append(at)
            columns["there"][at] = True
            columns["everywhere"][at] = note.scope == "global"
            columns["kind"][at] = self._kinds.setdefault(note.kind, len(self._kinds))
            columns["project"][at] = self._projects.setdefault(note.project, len(self._projects))
            columns["state"][at] = _STATES.index(note.state)
            columns["happened"][at], columns["updated"][at] = note.happened_at, note.updated_at
            columns["importance"][at], columns["uses"][at] = note.importance, note.use_count
            for label in set(self._labels.get(at, ())) - set(note.labels):
                self._labelled[label].discard(at)
            for label in note.labels:
                self._labelled.setdefault(label, set()).add(at)
            self._labels[at] = note.labels

    def mask(self, chosen: Selection) -> Array:
        """Bool [room]: the notes of the selection."""
        columns = self._columns
        kept = columns["there"] & np.isin(columns["state"], [_STATES.index(state) for state in chosen.states])
        if chosen.project:
            own = columns["project"] == self._projects.get(chosen.project, -1)
            kept &= own | columns["everywhere"]
        if chosen.kinds:
            kept &= np.isin(columns["kind"], [self._kinds.get(kind, -1) for kind in chosen.kinds])
        if chosen.since:
            kept &= columns["happened"] >= chosen.since
        if chosen.until:
            kept &= columns["happened"] <= chosen.until
        if chosen.labels:
            some = np.zeros(len(kept), bool)
            some[[at for label in chosen.labels for at in self._labelled.get(label, ())]] = True
            kept &= some
        return kept

    def best(self, mask: Array, limit: int) -> list[int]:
        """The most important notes of the mask, the latest first of equal ones."""
        numbers = np.flatnonzero(mask)
        order = np.lexsort((-self._columns["happened"][numbers], -self._columns["importance"][numbers]))
        return [int(number) for number in numbers[order[:limit]]]

    def _make_room(self, number: int) -> None:
        room = len(self._columns["there"])
        while room <= number:
            room *= 2
        for name, column in self._columns.items():
            if len(column) < room:
                grown = np.zeros(room, column.dtype)
                grown[: len(column)] = column
                self._columns[name] = grown
