"""The store of notes and edges: durable writes. Owns the database of one data folder.

A write carries an operation id (a UUID): sent twice it is carried out once, and the second caller
gets the first reply. Operation, log of changes and changed rows are one transaction. Search is
elsewhere: it follows the numbers of changes.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import uuid6
from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, update

from cortex.memory.files.bulk_import import Intake, merge_notes, take_in, take_out
from cortex.memory.files.exchange import ArrivingRecord, Record
from cortex.memory.find.catalog import Outline
from cortex.memory.find.newer.successors import reading_of, text_of
from cortex.memory.note import (
    BRANCH,
    COMMIT,
    Edge,
    Note,
    Source,
    State,
    Trust,
    normalise_note,
    read_relation,
    with_anchors,
)
from cortex.memory.store.census import count
from cortex.memory.store.database import open_database
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.store.erasure import Erased, all_forgotten, erase
from cortex.memory.store.records import UPKEEP, News, Point, Records, batches, last_change, outlines, point_at
from cortex.memory.store.rows import edge_of, note_of_revision
from cortex.memory.store.tables import CHANGE, EDGE, NOTE, OPERATION, REVISION
from cortex.memory.store.undo import undo
from cortex.memory.team.postgresql import Server
from cortex.memory.times import just_now
from cortex.system.errors import BadRequest, NotFound, TooLarge
from cortex.terms.text.secrets import remove_secrets, remove_secrets_in

#: milliseconds for which an operation's reply is stored for a caller that repeats it
OPERATION_KEPT_MS = 7 * 86_400_000
#: milliseconds between two deletions of old replies
CLEANED_MS = 3_600_000
#: limit of notes that changed since the moment of `as_of`
THEN_MAX = 20_000
#: operations of this process that a store remembers
OWN_OPERATIONS_MAX = 100
#: fields of a note that an edit may change
EDITABLE = frozenset(
    "kind title body subtitle obs_type memory_type facts labels files modified read mtimes spoken git_commit "
    "metadata scope importance occurred_at valid_from valid_until feedback prompt_number anchors topic".split()
)
#: fields of a note with text from a caller
_WRITTEN_FIELDS = tuple(
    "kind title body subtitle facts labels files modified read mtimes spoken metadata obs_type memory_type "
    "git_commit topic".split()
)
#: keys in metadata that tell where a note was made
_MADE_ON = (BRANCH, COMMIT)
#: notes with one title that an arriving note is compared with, the newest
SAME_MAX = 20
# Statements made once: making one takes longer than running it.
_BY_OPERATION = select(OPERATION).where(OPERATION.c.id == bindparam("asked"))
_LOG_OPERATION = insert(OPERATION)
_SAME = (
    select(NOTE.c.number)
    .where(NOTE.c.same == bindparam("asked"), NOTE.c.state == "active")
    .order_by(NOTE.c.number.desc())
    .limit(SAME_MAX)
)
_OF_TOPIC = (
    select(NOTE.c.number)
    .where(NOTE.c.topic == bindparam("topic"), NOTE.c.scope == bindparam("scope"), NOTE.c.state == "active")
    .where(or_(NOTE.c.scope == "global", NOTE.c.project == bindparam("project")))
)
_COUNTED_NOTES = update(NOTE).where(NOTE.c.number.in_(bindparam("numbers", expanding=True)))
_COUNT_SHOWN = _COUNTED_NOTES.values(shown_count=NOTE.c.shown_count + 1)
_COUNT_USED = _COUNTED_NOTES.values(use_count=NOTE.c.use_count + 1, used_at=bindparam("moment"))
STATES: tuple[State, ...] = ("active", "superseded", "archived", "deleted")


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write. `merged`: an equal note was stored already, under this id; by number:
    the notes that it superseded (`closed`), those of the same topic that it may supersede, and
    those of the same title with another text.
    """

    id: str
    number: int
    merged: bool = False
    closed: Sequence[int] = ()
    same_topic: Sequence[int] = ()
    same_title: Sequence[int] = ()
    #: kinds of secrets that were removed before it was stored
    removed: tuple[str, ...] = ()


class Store:
    """Raises the errors of `open_database`. Use it in one thread."""

    def __init__(
        self, folder: Path, now: Callable[[], int] = just_now, driver: Driver | Server = PLAIN
    ) -> None:
        self.database = open_database(folder, driver)
        self._now = now
        self._newest: Point | None = None
        self._cleaned = 0
        #: the ids of this process's operations, the newest last
        self._own_operations: list[str] = []
        #: linked project → the project that keeps its notes; None: not read yet
        self.homes: dict[str, str] | None = None
        #: changes of the last transaction
        self.news = News(Point(), Point(), {}, set())

    def close(self) -> None:
        self.database.close()

    # Writing

    def put(
        self,
        note: Note,
        operation: str = "",
        supersedes: Sequence[str | int] = (),
        differ: Callable[[Note, Note], bool] | None = None,
    ) -> Written:
        """Store a note, or merge it into the one with the same title, kind and project: labels and
        files are added, the higher importance stays, a replaced body becomes a revision. A note of
        another topic is no such note, nor one that `differ` tells apart by its text. The notes that
        it supersedes are no longer valid; older notes of its topic in the same scope are
        superseded, unless both share no word besides the topic. Raises BadRequest and TooLarge for
        an invalid note, BadRequest for an operation id that was used for another operation,
        NotFound for an unknown note to supersede.
        """
        clean_note, removed = prepare_note(note)
        # a retry may follow a commit
        metadata = {name: value for name, value in clean_note.metadata.items() if name not in _MADE_ON}
        payload = asdict(replace(clean_note, metadata=metadata)) | (
            {"supersedes": list(map(str, supersedes))} if supersedes else {}
        )

        def carry_out(records: Records) -> dict[str, Any]:
            numbers = records.connection.execute(_SAME, {"asked": clean_note.same}).scalars()
            same = [old for old in records.get(list(numbers)) if _may_share_topic(old, clean_note)]
            same = [old for old in same if _may_join(clean_note, old)]
            equal = next((old for old in same if not differ or not differ(old, clean_note)), None)
            if equal is None:
                stored = records.insert(clean_note)
            else:
                stored = equal
                records.change(stored, merge_notes(stored, clean_note))
            closed = _close(records, supersedes, stored)
            versions = [old for old in _of_topic(records, clean_note) if old.number != stored.number]
            replaced = [
                old.number for old in versions if _continues(clean_note, old) and _may_join(clean_note, old)
            ]
            closed += _close(records, replaced, stored)
            others = {
                "closed": closed,
                "same_topic": [old.number for old in versions if old.number not in closed],
                "same_title": [] if equal else [old.number for old in same if old.number not in closed],
            }
            answer = {"id": stored.id, "number": stored.number} | ({"merged": True} if equal else {})
            return answer | {name: numbers for name, numbers in others.items() if numbers}

        return Written(**self.once(operation, "put", payload, carry_out), removed=removed)

    def edit(
        self,
        reference: str | int,
        changes: dict[str, Any],
        operation: str = "",
        *,
        state: State | None = None,
        superseded_by: str | int = 0,
        supersedes: Sequence[str | int] = (),
        trust: Trust | None = None,
    ) -> Written:
        """Change fields of a note, its `trust` and its state (deleting only marks it), and end the
        validity of the notes that it supersedes: all or nothing. The old forms become revisions.
        Raises NotFound, and BadRequest for an unknown field or state.
        """
        if unknown := sorted(changes.keys() - EDITABLE):
            raise BadRequest(f"{unknown[0]!r} cannot be changed; these can: {', '.join(sorted(EDITABLE))}.")
        if state is not None and state not in STATES:
            raise BadRequest(f"state is {str(state)[:40]!r}; it is one of {', '.join(STATES)}.")

        def carry_out(records: Records) -> dict[str, Any]:
            before, removed = records.need(reference), tuple[str, ...]()
            after = before
            if changes:
                after, removed = prepare_note(_with_changes(before, changes))
            if trust:
                after = replace(after, source=replace(after.source, trust=trust))
            if superseded_by:
                after = supersede(records, after, records.need(superseded_by))
            elif state:
                after = _in_state(after, state, records.now)
            records.change(before, after)
            closed = _close(records, supersedes, after)
            answer = {"id": before.id, "number": before.number} | ({"closed": closed} if closed else {})
            return answer | ({"removed": list(removed)} if removed else {})

        request = {"state": state, "by": str(superseded_by), "supersedes": list(map(str, supersedes))}
        reply = self.once(
            operation, "edit", {"edit": str(reference), "changes": changes} | request, carry_out
        )
        return Written(**reply | {"removed": tuple(reply.get("removed", ()))})

    def relate(
        self, source: str | int, target: str | int, relation: str = "relates_to", operation: str = ""
    ) -> dict[str, Any]:
        """{"id", "source", "target": numbers, "relation", "existed"}: an existing edge is returned
        as it is. Raises NotFound for an unknown note, BadRequest for a relation of a note to
        itself.
        """
        normal, reverse = read_relation(remove_secrets(relation)[0])

        def carry_out(records: Records) -> dict[str, Any]:
            first, second = records.need(source), records.need(target)
            if first.number == second.number:
                raise BadRequest(f"Note {first.id} cannot be related to itself.")
            if reverse:
                first, second = second, first
            edge, existed = records.connect(Edge(first.number, second.number, normal))
            return {"id": edge, "source": first.number, "target": second.number, "existed": existed}

        payload = {"relate": [str(source), str(target), normal, reverse]}
        return self.once(operation, "relate", payload, carry_out) | {"relation": normal}

    def undo(self, undone: str = "", operation: str = "") -> dict[str, Any]:
        """Revert an operation, the latest without an id: {"undone", "notes": numbers}. Notes that
        it made are marked as deleted, changed notes get their old form back (the newer becomes a
        revision), its edges are removed. Raises NotFound for an unknown operation, BadRequest when
        a note was changed again.
        """
        self.homes = None
        is_own = not undone and self.database.shared
        if is_own:
            # the newest operation of this process; the latest in the store may be a colleague's
            if not self._own_operations:
                raise NotFound(
                    "Nothing was written from here since this process started, and others write to this memory, too: "
                    "name the operation to take back."
                )
            undone = self._own_operations[-1]
        try:
            done = self.once(operation, "undo", {"undo": undone}, lambda records: undo(records, undone))
        except NotFound:
            if is_own:  # too old, or undone by a colleague: next time the one before
                self._own_operations = self._own_operations[:-1]
            raise
        self._own_operations = [name for name in self._own_operations if name != done["undone"]]
        return done

    def count_use(self, numbers: Sequence[int], *, is_shown: bool = False) -> None:
        """Count a use of the notes, or that a briefing showed them; their text does not change."""
        query, moment = (_COUNT_SHOWN, {}) if is_shown else (_COUNT_USED, {"moment": self._now()})
        with self.database.write() as connection:
            for batch in batches(numbers):
                connection.execute(query, moment | {"numbers": batch})

    def take_in(
        self,
        arriving: Sequence[ArrivingRecord],
        raw_records: Sequence[Any],
        project: str,
        operation: str = "",
    ) -> Intake:
        """Store a batch of an import in one transaction; `raw_records`: as they came."""
        payload = {"import": raw_records, "project": project} if operation else {}

        def carry_out(records: Records) -> dict[str, Any]:
            return asdict(take_in(records, arriving, project, self.database.key()))

        return Intake(**self.once(operation, "import", payload, carry_out))

    def erase(self, references: Sequence[str | int]) -> Erased:
        """See `erasure.erase`. Raises NotFound, and then removes nothing."""
        with self.transaction() as records:
            erased = erase(records, references, self.database.key())
        self.database.truncate_log()
        return erased

    def forgotten(self) -> frozenset[str]:
        """The hashes of everything that was forgotten for good."""
        with self.database.read() as connection:
            return all_forgotten(connection)

    def count_wrong_keys(self, *, mend: bool) -> int:
        """The number of notes with a wrong `same` digest."""
        wrong = []
        with self.database.write() as connection:
            columns = (NOTE.c.number, NOTE.c.title, NOTE.c.kind, NOTE.c.project, NOTE.c.scope, NOTE.c.same)
            for number, title, kind, project, scope, same in connection.execute(select(*columns)):
                right = Note(title=title, kind=kind, project=project, scope=scope).same
                if right != same:
                    wrong.append((number, right))
            for number, right in wrong if mend else ():
                connection.execute(update(NOTE).where(NOTE.c.number == number).values(same=right))
        return len(wrong)

    # Reading

    def numbers(self) -> list[int]:
        """The numbers of all notes that are not deleted."""
        with self.database.read() as connection:
            return list(connection.execute(select(NOTE.c.number).where(NOTE.c.state != "deleted")).scalars())

    @property
    def newest(self) -> Point:
        """The last change: known to one owner; a shared store is asked once in each `moment`."""
        if self._newest is None or self.database.is_new("newest"):
            with self.database.read() as connection:
                self._newest = last_change(connection)
        return self._newest

    @property
    def reached(self) -> int:
        """The number of the last change."""
        return self.newest.number

    def point_at(self, number: int) -> Point | None:
        """The change with this number, or None."""
        with self.database.read() as connection:
            return point_at(connection, number)

    def outlines(self, after: int, limit: int) -> list[Outline]:
        """The catalog's fields of the notes above the number `after`, by number."""
        with self.database.read() as connection:
            return outlines(connection, after, limit)

    def edges_after(self, number: int, limit: int) -> list[Edge]:
        """The edges above `number`, by number."""
        with self.database.read() as connection:
            query = select(EDGE).where(EDGE.c.number > number).order_by(EDGE.c.number).limit(limit)
            return [edge_of(row) for row in connection.execute(query)]

    def edge_numbers(self) -> list[int]:
        with self.database.read() as connection:
            return list(connection.execute(select(EDGE.c.number)).scalars())

    def take_out(
        self, after: tuple[int, int], limit: int, project: str
    ) -> tuple[list[Record], tuple[int, int] | None]:
        """A page of an export, see `bulk_import.take_out`."""
        with self.database.read() as connection:
            return take_out(connection, after, limit, project)

    def get(self, references: Iterable[str | int]) -> list[Note]:
        """The notes that exist, in the order of `references`."""
        with self.database.read() as connection:
            records = Records(connection, self._now())
            numbers = [records.find(reference) for reference in references]
            return records.get([number for number in numbers if number])

    def need(self, reference: str | int) -> Note:
        """The note with this id or number. Raises NotFound."""
        with self.database.read() as connection:
            return Records(connection, self._now()).need(reference)

    def edges_of(self, numbers: Sequence[int]) -> list[Edge]:
        """All edges that begin or end at one of the notes."""
        with self.database.read() as connection:
            rows = [
                row
                for batch in batches(numbers)
                for row in connection.execute(
                    select(EDGE).where(or_(EDGE.c.source.in_(batch), EDGE.c.target.in_(batch)))
                )
            ]
        return list({row.number: edge_of(row) for row in rows}.values())

    def changes_after(self, number: int, limit: int) -> list[tuple[int, str, int]]:
        """(change, "note" or "edge", its number) of the later changes, in order."""
        with self.database.read() as connection:
            query = select(CHANGE).where(CHANGE.c.number > number).order_by(CHANGE.c.number).limit(limit)
            return [(row.number, row.what, row.of) for row in connection.execute(query)]

    def edges_by_number(self, numbers: Sequence[int]) -> list[Edge]:
        with self.database.read() as connection:
            return [
                edge_of(row)
                for batch in batches(numbers)
                for row in connection.execute(select(EDGE).where(EDGE.c.number.in_(batch)))
            ]

    def notes_by_number(self, numbers: Sequence[int]) -> list[Note]:
        if not numbers:
            return []
        with self.database.read() as connection:
            return Records(connection, self._now()).get(numbers)

    def revisions(self, number: int) -> list[tuple[int, dict[str, Any]]]:
        """(end of validity, fields of the note until then), the oldest first."""
        with self.database.read() as connection:
            query = select(REVISION).where(REVISION.c.note == number).order_by(REVISION.c.number)
            return [(row.until, row.held) for row in connection.execute(query)]

    def past_notes(self, moment: int) -> list[Note]:
        """The notes known at the moment (`Note.known_at`) that read otherwise now, as they were
        then. Raises TooLarge for more than THEN_MAX.
        """
        first = select(func.min(REVISION.c.number)).where(REVISION.c.until > moment).group_by(REVISION.c.note)
        had_happened = and_(NOTE.c.occurred_at > 0, NOTE.c.occurred_at <= moment)
        is_known = or_(NOTE.c.created_at <= moment, had_happened)
        ended = and_(NOTE.c.state == "superseded", NOTE.c.valid_until > moment, is_known)
        with self.database.read() as connection:
            query = select(REVISION.c.held).where(REVISION.c.number.in_(first)).limit(THEN_MAX + 1)
            earlier = [note_of_revision(revision) for revision in connection.execute(query).scalars()]
            numbers = connection.execute(select(NOTE.c.number).where(ended).limit(THEN_MAX + 1)).scalars()
            closed = Records(connection, moment).get(list(numbers))
        if max(len(earlier), len(closed)) > THEN_MAX:
            raise TooLarge(f"More than {THEN_MAX} notes were changed since then; pass a later moment.")
        revised = {note.number for note in earlier}
        later = [replace(note, state="active") for note in closed if note.number not in revised]
        return [note for note in earlier if note.known_at <= moment] + later

    def count(self, project: str = "") -> dict[str, Any]:
        """{"notes", "edges", "by_kind", "by_state", "oldest", "newest": moments, "bytes"}."""
        with self.database.read() as connection:
            counted = count(connection, project)
        return counted | {"bytes": self.database.size()}

    # In a transaction

    def once(
        self,
        operation: str,
        what: str,
        payload: dict[str, Any],
        carry_out: Callable[[Records], dict[str, Any]],
    ) -> dict[str, Any]:
        """Carry out the operation unless its id was used; return its reply. "" is always new."""
        digest = hashlib.sha256(orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)).hexdigest()
        with self.transaction() as records:
            if operation:
                previous = records.connection.execute(_BY_OPERATION, {"asked": operation}).first()
                if previous is not None and previous.payload != digest:
                    raise BadRequest(f"The operation {operation} was used for another call; take a new id.")
                if previous is not None:
                    reply: dict[str, Any] = previous.reply
                    return reply
            reply = carry_out(records)
            values = {
                "id": operation or str(uuid6.uuid7()),
                "payload": digest,
                "reply": reply,
                "what": what,
                "did": records.did,
                "created_at": records.now,
            }
            records.connection.execute(_LOG_OPERATION, values)
            if not self._cleaned <= records.now < self._cleaned + CLEANED_MS:
                old = records.now - OPERATION_KEPT_MS
                records.connection.execute(delete(OPERATION).where(OPERATION.c.created_at < old))
                self._cleaned = records.now
        if what not in {"undo", UPKEEP}:
            self._own_operations = [*self._own_operations[-OWN_OPERATIONS_MAX:], str(values["id"])]
        return reply

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Records]:
        """A transaction; its changes become `news` when it is committed."""
        after = Point() if self.database.shared else self.newest
        with self.database.write() as connection:
            if self.database.shared:
                after = last_change(connection)
            records = Records(connection, self._now())
            yield records
            news = records.finish(after)
        self.news, self._newest = news, news.reached


def _may_join(note: Note, stored: Note) -> bool:
    """Whether a note may be merged into a stored one: an agent of another project may not change
    the text of a person or of the project's own agents.
    """
    if note.source.trust in ("user", stored.source.trust):
        return True
    return note.source.trust != "other" and (note.project == stored.project or stored.source.trust != "user")


def _with_changes(note: Note, changes: Mapping[str, Any]) -> Note:
    fields = dict(changes)
    if "anchors" in fields:
        fields["metadata"] = with_anchors(fields.get("metadata", note.metadata), fields.pop("anchors"))
    fields["spoken"] = {**note.spoken, **fields.get("spoken", {})}
    if "files" in fields:  # what was done with the remaining files
        for name in ("modified", "read"):
            paths = tuple(path for path in getattr(note, name) if path in fields["files"])
            fields.setdefault(name, paths)
    return replace(note, **fields)


def _in_state(note: Note, state: State, now: int) -> Note:
    """The note in that state; a superseded note becomes invalid now, an active one valid again."""
    ended = {"superseded": now, "active": 0}.get(state, note.valid_until)
    return replace(
        note, state=state, valid_until=ended, superseded_by=0 if state == "active" else note.superseded_by
    )


def _may_share_topic(stored: Note, incoming: Note) -> bool:
    return not (stored.topic and incoming.topic) or stored.topic == incoming.topic


def _of_topic(records: Records, note: Note) -> list[Note]:
    """The active notes of the note's topic in its scope."""
    if not note.topic:
        return []
    values = {"topic": note.topic, "scope": note.scope, "project": note.project}
    return records.get(list(records.connection.execute(_OF_TOPIC, values).scalars()))


def _continues(newer: Note, older: Note) -> bool:
    """Whether two notes of a topic share another word; a stranger's continues none."""
    return newer.source.trust in ("user", "agent") and bool(
        (reading_of(text_of(newer)).words & reading_of(text_of(older)).words) - reading_of(newer.topic).words
    )


def _close(records: Records, references: Sequence[str | int], heir: Note) -> list[int]:
    """Mark the notes as superseded by `heir`, and return their numbers."""
    closed = []
    for reference in references:
        old = records.need(reference)
        records.change(old, supersede(records, old, heir))
        closed.append(old.number)
    return closed


def supersede(records: Records, old: Note, heir: Note) -> Note:
    """Return the note as superseded by `heir`, and make the edge between them."""
    if heir.number == old.number:
        raise BadRequest(f"Note {old.id} cannot supersede itself.")
    records.connect(Edge(heir.number, old.number, "supersedes"))
    return replace(old, state="superseded", superseded_by=heir.number, valid_until=records.now)


def prepare_note(note: Note) -> tuple[Note, tuple[str, ...]]:
    """Return the note as it is stored, and the kinds of removed secrets. Secrets are removed first:
    a normalised name may still hold one, but no longer match its pattern. Raises BadRequest and
    TooLarge.
    """
    fields = {name: getattr(note, name) for name in _WRITTEN_FIELDS}
    fields["source"] = [note.source.agent, note.source.session]
    clean, removed = remove_secrets_in(fields)
    agent, session = clean.pop("source")
    source = Source(agent, session, note.source.channel, note.source.trust)
    return normalise_note(replace(note, **clean, source=source)), tuple(dict.fromkeys(removed))
