"""Fields of all notes in arrays indexed by the note's number (project, kind, state, time), which
filter and sort without the database. Follows the changes of the store.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cortex.memory.note import Note, State, Trust
from cortex.memory.text import is_open, is_question, mentions_time, names_in, speaker_of
from cortex.system.arrays import Array

#: initial length of the arrays; it doubles
ROOM = 1024
#: values that are kept between two changes, at most
CACHED_MAX = 8
#: bits of a moment in milliseconds up to the year 9999; the largest use count that fits above them
HAPPENED_BITS, USES_MAX = 49, 4_095
_STATES: tuple[State, ...] = ("active", "superseded", "archived", "deleted")
#: trusts by their number in the column "trust"
TRUSTS: tuple[Trust, ...] = ("agent", "user", "tool", "import", "other")
_TRUST_AT: dict[str, int] = {trust: at for at, trust in enumerate(TRUSTS)}
_STATE_AT = {state: at for at, state in enumerate(_STATES)}
T = TypeVar("T")


class Outline(NamedTuple):
    """The fields of a note that the catalog reads: of `Note` by these names, its session and its
    labels.
    """

    number: int
    title: str
    body: str
    kind: str
    project: str
    scope: str
    state: State
    superseded_by: int
    importance: float
    relevance: float
    occurred_at: int
    created_at: int
    updated_at: int
    use_count: int
    shown_count: int
    session: str
    trust: str
    branch: str
    labels: Sequence[str]


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter of notes. Empty fields select everything. `project` selects its notes and the global
    ones, `as_of` the notes known at that moment (`Note.known_at`), `among` only these numbers.
    """

    project: str = ""
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    since: int = 0
    until: int = 0
    states: tuple[State, ...] = ("active",)
    as_of: int = 0
    among: frozenset[int] | None = None
    #: a project and branches; their notes are ranked after others, but selected
    elsewhere: tuple[str, tuple[str, ...]] = ("", ())

    def takes(self, note: Note) -> bool:
        """Whether the filter selects this note, which reads as it did at the moment `as_of`."""
        return (
            note.state in self.states
            and (not self.project or note.scope == "global" or note.project == self.project)
            and (not self.kinds or note.kind in self.kinds)
            and (not self.labels or not set(self.labels).isdisjoint(note.labels))
            and (not self.since or note.happened_at >= self.since)
            and (not self.until or note.happened_at <= self.until)
            and (not self.as_of or note.known_at <= self.as_of)
            and (self.among is None or note.number in self.among)
        )


class Catalog:
    """Arrays of length `room`; there is no note 0."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._projects: dict[str, int] = {"": 0}
        self._sessions: dict[str, int] = {"": 0}
        self._branches: dict[str, int] = {"": 0}
        #: label → the notes that have it
        self._labelled: dict[str, set[int]] = {}
        self._labels: dict[int, tuple[str, ...]] = {}
        self._speakers: dict[str, int] = {"": 0}
        #: number of notes of each session, by the session's number
        self.lengths = np.zeros(ROOM, np.int64)
        #: results over all notes, until one changes: a query needs masks of two selections
        self._cached: dict[Hashable, Any] = {}
        #: session → its notes in order
        self._session_notes: dict[int, list[int]] = {}
        self._columns = {
            "there": np.zeros(ROOM, bool),
            "everywhere": np.zeros(ROOM, bool),
            "asks": np.zeros(ROOM, bool),
            "asking": np.zeros(ROOM, bool),
            "timed": np.zeros(ROOM, bool),
            "speaker": np.zeros(ROOM, np.int32),
            "session": np.zeros(ROOM, np.int32),
            #: the session of a turn, that is an event with a speaker, or one that no agent noted:
            #: what agents note is of a session, too, but written to be read alone
            "conversation": np.zeros(ROOM, np.int32),
            "kind": np.zeros(ROOM, np.int32),
            "project": np.zeros(ROOM, np.int32),
            "state": np.zeros(ROOM, np.int8),
            "trust": np.zeros(ROOM, np.int8),
            "branch": np.zeros(ROOM, np.int32),
            "heir": np.zeros(ROOM, np.int64),
            "before": np.zeros(ROOM, np.int64),
            "after": np.zeros(ROOM, np.int64),
            "created": np.zeros(ROOM, np.int64),
            "happened": np.zeros(ROOM, np.int64),
            "updated": np.zeros(ROOM, np.int64),
            "importance": np.zeros(ROOM, np.float32),
            "relevance": np.zeros(ROOM, np.float32),
            "uses": np.zeros(ROOM, np.int32),
            "shown": np.zeros(ROOM, np.int32),
        }

    def __getitem__(self, column: str) -> Array:
        return self._columns[column]

    def take(self, changed: Sequence[Outline]) -> None:
        """Store the fields of notes that are new or changed, each once, by number: a column at a
        time.
        """
        if not changed:
            return
        self._cached.clear()
        fields = dict(zip(Outline._fields, zip(*changed, strict=True), strict=True))
        at = np.array(fields["number"], np.int64)
        self._make_room(int(at.max()))
        columns = self._columns
        self._join_sessions(at, _numbers_of(self._sessions, fields["session"]))
        columns["there"][at] = True
        columns["everywhere"][at] = [scope == "global" for scope in fields["scope"]]
        columns["kind"][at] = _numbers_of(self._kinds, fields["kind"])
        columns["project"][at] = _numbers_of(self._projects, fields["project"])
        columns["trust"][at] = [_TRUST_AT.get(trust, 0) for trust in fields["trust"]]
        columns["branch"][at] = _numbers_of(self._branches, fields["branch"])
        columns["heir"][at] = fields["superseded_by"]
        columns["state"][at] = [_STATE_AT[state] for state in fields["state"]]
        columns["created"][at], columns["updated"][at] = fields["created_at"], fields["updated_at"]
        columns["happened"][at] = np.where(fields["occurred_at"], fields["occurred_at"], fields["created_at"])
        columns["importance"][at], columns["relevance"][at] = fields["importance"], fields["relevance"]
        columns["uses"][at], columns["shown"][at] = fields["use_count"], fields["shown_count"]
        self._read_texts(at, fields)
        for number, labels in zip(fields["number"], fields["labels"], strict=True):
            self._label(number, labels)

    def _read_texts(self, at: Array, fields: Mapping[str, Sequence[Any]]) -> None:
        """Set the columns that depend on the form of the texts; `fields`: the columns of all
        `changed` notes.
        """
        columns = self._columns
        texts = [body or title for body, title in zip(fields["body"], fields["title"], strict=True)]
        columns["asks"][at] = [is_open(*pair) for pair in zip(fields["title"], fields["labels"], strict=True)]
        columns["asking"][at] = [is_question(text) for text in texts]
        columns["timed"][at] = [mentions_time(text) for text in texts]
        columns["speaker"][at] = _numbers_of(self._speakers, [speaker_of(title) for title in fields["title"]])
        is_noted = columns["trust"][at] == _TRUST_AT["agent"]
        is_noted &= np.array(fields["kind"]) != "event"
        is_turn = (columns["speaker"][at] > 0) & ~is_noted
        columns["conversation"][at] = np.where(is_turn, columns["session"][at], 0)

    def _join_sessions(self, at: Array, sessions: Sequence[int]) -> None:
        """Append new notes to their sessions."""
        columns = self._columns
        while len(self.lengths) <= max(sessions):
            self.lengths = np.concatenate([self.lengths, np.zeros(len(self.lengths), np.int64)])
        new = ~columns["there"][at]
        for number, session in zip(at[new].tolist(), np.array(sessions)[new].tolist(), strict=True):
            if session:
                members = self._session_notes.setdefault(session, [])
                if members:
                    columns["before"][number], columns["after"][members[-1]] = members[-1], number
                members.append(number)
                self.lengths[session] += 1
                columns["session"][number] = session

    def _label(self, number: int, labels: Sequence[str]) -> None:
        for label in set(self._labels.get(number, ())).difference(labels):
            self._labelled[label].discard(number)
        for label in labels:
            self._labelled.setdefault(label, set()).add(number)
        self._labels[number] = tuple(labels)

    @property
    def sessions(self) -> int:
        """Length of an array that is indexed by session numbers."""
        return len(self._sessions)

    def speakers_in(self, query: str) -> dict[str, int]:
        """{name: number} of the speakers named in a query."""
        return {name: self._speakers[name] for name in names_in(query) if name in self._speakers}

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove erased notes."""
        self._cached.clear()
        for at in numbers:
            if at < len(self._columns["there"]) and self._columns["there"][at]:
                self._columns["there"][at] = False
                for label in self._labels.pop(at, ()):
                    self._labelled[label].discard(at)
                before, after = int(self._columns["before"][at]), int(self._columns["after"][at])
                self._columns["after"][before], self._columns["before"][after] = after, before
                self._columns["after"][0] = self._columns["before"][0] = 0
                session = int(self._columns["session"][at])
                for name in ("session", "conversation", "before", "after"):
                    self._columns[name][at] = 0
                if session:
                    self._session_notes[session].remove(at)
                    self.lengths[session] -= 1

    def is_active(self, number: int) -> bool:
        columns = self._columns
        return 0 < number < len(columns["there"]) and bool(
            columns["there"][number] and _STATES[columns["state"][number]] == "active"
        )

    def sees(self, number: int, selection: Selection) -> bool:
        """Whether the search may pass through a note: it is in the selection's project and states.
        Its kind, labels and time do not matter.
        """
        columns = self._columns
        in_project = not selection.project or columns["project"][number] == self._projects.get(
            selection.project, -1
        )
        is_current = columns["there"][number] and _STATES[columns["state"][number]] in selection.states
        return bool(is_current and (in_project or columns["everywhere"][number]))

    def count(self, numbers: Iterable[int], column: str) -> None:
        """Add one to the column "uses" or "shown" of these notes."""
        self._columns[column][list(numbers)] += 1

    def fade(self, numbers: Sequence[int], relevance: Sequence[float]) -> None:
        """Set the relevance of notes."""
        self._columns["relevance"][list(numbers)] = relevance

    def mask(self, selection: Selection, past_notes: Mapping[int, Note] | None = None) -> Array:
        """Return the notes of the selection: bool [room], read-only. `past_notes`: notes that read
        otherwise at its moment, as they were then.
        """
        if past_notes:
            return self._mask(selection, past_notes)
        mask: Array = self._once(selection, lambda: self._mask(selection, {}))
        return mask

    def _once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key, computed once between two changes."""
        if key not in self._cached:
            if len(self._cached) >= CACHED_MAX:
                self._cached.clear()
            self._cached[key] = compute()
        value: T = self._cached[key]
        return value

    def _mask(self, selection: Selection, past_notes: Mapping[int, Note]) -> Array:
        columns = self._columns
        taken = np.array([state in selection.states for state in _STATES])
        in_state = taken[columns["state"]]
        if selection.elsewhere[1] and "active" in selection.states:
            in_state |= self.superseded_elsewhere(selection)
        mask: Array = columns["there"] & in_state
        if selection.project:
            in_project = columns["project"] == self._projects.get(selection.project, -1)
            mask &= in_project | columns["everywhere"]
        if selection.kinds:
            mask &= np.isin(columns["kind"], [self._kinds.get(kind, -1) for kind in selection.kinds])
        if selection.since:
            mask &= columns["happened"] >= selection.since
        if selection.until:
            mask &= columns["happened"] <= selection.until
        if selection.as_of:
            mask &= np.minimum(columns["created"], columns["happened"]) <= selection.as_of
        if selection.labels:
            matching = np.zeros(len(mask), bool)
            matching[[at for label in selection.labels for at in self._labelled.get(label, ())]] = True
            mask &= matching
        if selection.among is not None:
            matching = np.zeros(len(mask), bool)
            matching[[at for at in selection.among if at < len(mask)]] = True
            mask &= matching
        for number, note in past_notes.items():
            mask[number] = selection.takes(note)
        mask.flags.writeable = False
        return mask

    def is_of(self, project: str) -> Array:
        """The notes of a project: bool [room]."""
        of_project: Array = self._columns["project"] == self._projects.get(project, -1)
        return of_project

    def branches(self, project: str) -> list[str]:
        """The branches on which notes of a project were made."""
        if len(self._branches) == 1:
            return []
        return self._once(("branches", project), lambda: self._branches_of(project))

    def _branches_of(self, project: str) -> list[str]:
        counts = np.bincount(self._columns["branch"][self.is_of(project)], minlength=len(self._branches))
        return [name for name, at in self._branches.items() if name and counts[at]]

    def is_on(self, project: str, branches: Collection[str]) -> Array:
        """The notes of a project that were made on one of these branches: bool [room]."""
        numbers = tuple(self._branches.get(branch, -1) for branch in branches)
        return self._once(
            ("on", project, numbers),
            lambda: self.is_of(project) & np.isin(self._columns["branch"], numbers),
        )

    def superseded_elsewhere(self, selection: Selection) -> Array:
        """The notes that another branch alone superseded, by a note of its own; for the reader they
        are still active: bool [room].
        """
        columns, branch = self._columns, self._columns["branch"]
        heirs = np.where(columns["heir"] < len(branch), columns["heir"], 0)
        by_branch = self.is_on(*selection.elsewhere)[heirs] & (branch != branch[heirs])
        closed: Array = by_branch & (columns["state"] == _STATE_AT["superseded"])
        return closed

    def has_trust(self, *trusts: Trust) -> Array:
        """The notes with one of these trusts: bool [room]."""
        return np.isin(self._columns["trust"], [_TRUST_AT[trust] for trust in trusts])

    def count_of(self, state: State) -> int:
        """The number of notes in a state."""
        return self._once(("count", state), lambda: self._count_of(state))

    def _count_of(self, state: State) -> int:
        return int(np.count_nonzero(self._columns["there"] & (self._columns["state"] == _STATE_AT[state])))

    def numbers(self) -> set[int]:
        """The numbers of all notes, also of deleted ones."""
        return set(np.flatnonzero(self._columns["there"]).tolist())

    def live(self) -> list[int]:
        """The numbers of the notes that are not deleted."""
        is_live = self._columns["there"] & (self._columns["state"] != _STATES.index("deleted"))
        return np.flatnonzero(is_live).tolist()

    def kinds(self) -> dict[str, int]:
        """{kind: number in the column "kind"}."""
        return self._kinds

    def best(self, mask: Array, limit: int) -> list[int]:
        """The most important notes of the mask; equal ones by uses, then the latest first."""
        numbers = np.flatnonzero(mask)
        columns = self._columns
        importance = columns["importance"][numbers]
        if len(numbers) > limit:  # drop notes below the limit before sorting
            least = np.partition(importance, len(numbers) - limit)[len(numbers) - limit]
            numbers = numbers[importance >= least]
            equal = np.flatnonzero(columns["importance"][numbers] == least)
            if len(equal) > limit:
                uses = np.minimum(columns["uses"][numbers[equal]].astype(np.int64), USES_MAX)
                key = (uses << HAPPENED_BITS) + columns["happened"][numbers[equal]]
                weak = equal[np.argpartition(key, len(equal) - limit)[: len(equal) - limit]]
                numbers = np.delete(numbers, weak)
        order = np.lexsort(
            (
                -numbers,
                -columns["happened"][numbers],
                -columns["uses"][numbers],
                -columns["importance"][numbers],
            )
        )
        return [int(number) for number in numbers[order[:limit]]]

    def in_time(self, mask: Array) -> Array:
        """The notes of the mask by the moment they happened, the earliest first; equal ones by
        number.
        """
        numbers = np.flatnonzero(mask)
        return numbers[np.lexsort((numbers, self._columns["happened"][numbers]))]

    def _make_room(self, number: int) -> None:
        room = len(self._columns["there"])
        while room <= number:
            room *= 2
        for name, column in self._columns.items():
            if len(column) < room:
                grown = np.zeros(room, column.dtype)
                grown[: len(column)] = column
                self._columns[name] = grown


def _numbers_of(numbers: dict[str, int], names: Sequence[str]) -> list[int]:
    """The number of each name; a new name gets the next number."""
    return [numbers.setdefault(name, len(numbers)) for name in names]
