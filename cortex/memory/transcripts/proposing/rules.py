"""Rules that read sessions without a model: notes of commits and of changed files, and candidates
of sentences that a person wants remembered. Nothing from a tool's output becomes either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, select

from cortex.memory.note import FILES_MAX, TITLE_CHARS_MAX, Note, Source, commit_id, normalise_note
from cortex.memory.store.forgotten import forgotten_hashes, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.tables import SESSION
from cortex.memory.text import cut
from cortex.memory.transcripts.intake import Commit, IncomingPortion
from cortex.memory.transcripts.proposing.changed_files import note_changes
from cortex.memory.transcripts.proposing.proposals import CHANNEL, Proposal, propose
from cortex.memory.transcripts.proposing.sentences import remembered_sentences

#: characters of a commit message below its first line
BODY_CHARS_MAX = 4_000
#: notes of one exchange
NOTES_MAX = 5


def store_notes(records: Records, taking: IncomingPortion, rows: Sequence[Row[Any]], key: bytes) -> int:
    """Store the notes and candidates of a portion in its transaction; return the number of new
    notes. One that exists, existed, or was forgotten for good is not made again.
    """
    if not rows:
        return 0
    session_query = select(SESSION.c.id).where(SESSION.c.number == rows[0].session)
    session = str(records.connection.execute(session_query).scalar_one())
    begun = {(piece.at, piece.user) for piece in taking.parts if piece.begins}
    for row in rows:
        if (row.at, row.user_text) in begun:
            propose(records, key, _proposals(taking, row, _origin(session, row)))
    new_count = 0
    for commit in taking.commits:
        naming_rows = (row for row in rows if any(map(commit.name.startswith, row.files.get("commits", ()))))
        new_count += _take_commit(records, taking, commit, _origin(session, next(naming_rows, rows[-1])), key)
    changed = next((row for row in rows if row.files.get("modified")), rows[0])
    return new_count + note_changes(records, taking, rows, _origin(session, changed), key)


def _origin(session: str, row: Row[Any]) -> dict[str, Any]:
    """The origin of a note: the session's id, the exchange's number, the branch."""
    origin = {"session": session, "exchange": row.place}
    return origin | ({"git_branch": row.branch} if row.branch else {})


def _take_commit(
    records: Records, taking: IncomingPortion, commit: Commit, place: dict[str, Any], key: bytes
) -> bool:
    """Store a commit's note, or add the session to git's; return whether it is new."""
    note = normalise_note(replace(_commit_note(taking, commit), metadata={"commit": commit.name} | place))
    note = replace(note, prompt_number=place["exchange"])
    if number := records.find(note.id):
        existing = records.get([number])[0]
        if "session" not in existing.metadata and existing.state == "active":
            updated = replace(existing, metadata={**existing.metadata, **note.metadata})
            records.change(existing, replace(updated, prompt_number=note.prompt_number))
        return False
    if stored_hashes(records.connection, forgotten_hashes(key, note)):
        return False
    records.insert(note)
    return True


def _commit_note(taking: IncomingPortion, commit: Commit) -> Note:
    """The note of a commit that was made in a session, with the files that it changed."""
    return Note(
        id=commit_id(taking.session.project, commit.name),
        git_commit=commit.name,
        title=cut(commit.title, TITLE_CHARS_MAX),
        body=commit.body[:BODY_CHARS_MAX],
        kind="event",
        obs_type="change",
        labels=("commit",),
        files=commit.files[:FILES_MAX],
        modified=commit.files[:FILES_MAX],
        project=taking.session.project,
        occurred_at=commit.at,
        # anybody may have written a commit message
        source=replace(_source(taking), trust="tool"),
    )


def _proposals(taking: IncomingPortion, row: Row[Any], origin: dict[str, Any]) -> Iterator[Proposal]:
    for kind, sentence in remembered_sentences(row.user_text):
        yield Proposal(
            kind,
            sentence[0].upper() + sentence[1:],
            taking.session.project,
            taking.session.kind,
            taking.session.source_id[:128],
            row.number,
            origin,
            row.at,
        )


def _source(taking: IncomingPortion) -> Source:
    return Source(taking.session.kind, taking.session.source_id[:128], CHANNEL, "user")
