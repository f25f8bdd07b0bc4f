"""Rules that make notes without a model: from commits of a session, the files that it changed, and
sentences that a person wants remembered. Nothing from a tool's output becomes a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, select

from cortex.memory.forgotten import forgotten_hashes, stored_hashes
from cortex.memory.note import FILES_MAX, TITLE_CHARS_MAX, Note, Source, commit_id, normalise_note
from cortex.memory.records import Records
from cortex.memory.tables import NOTE, SESSION
from cortex.memory.transcripts.changed_files import note_changes
from cortex.memory.transcripts.intake import Commit, IncomingPortion

#: longest and shortest sentence in characters; longer ones are pasted text
SENTENCE_CHARS_MAX, SENTENCE_CHARS_MIN = 400, 8
#: longest message of a person in characters; longer ones contain text of others
MESSAGE_CHARS_MAX = 4_000
#: characters of a commit message below its first line
BODY_CHARS_MAX = 4_000
#: notes of one exchange
NOTES_MAX = 5
#: label of a person's sentences, and channel of all notes from rules
LABEL, CHANNEL = "said-in-session", "sessions"
#: kind of note → phrases with which a person says such a thing
_SAYS = (
    (
        "decision",
        r"(?:so |ok(?:ay)?,? |then )?(?:we|i)(?:'ve| have)? (?:now )?(?:decided|agreed|settled)\b",
    ),
    (
        "preference",
        (
            r"(?:please )?(?:from now on,? )?(?:you (?:must|should) )?(?:always|never(?! ?mind))\s+\w"
            r"|(?:please )?(?:remember|don't forget) to\s+\w"
        ),
    ),
    (
        "fact",
        (
            r"(?:please |and |also )?(?:remember|note|keep in mind|don't forget)(?: that|[:,])?\s+"
            r"(?!when\b|how\b|what\b|if\b|to\b)\w"
        ),
    ),
)
_KINDS = tuple((kind, re.compile(f"(?i)(?:{pattern})")) for kind, pattern in _SAYS)
#: a beginning that only asks to remember the rest
_REMEMBER = re.compile(
    r"(?i)^(?:please |and |also )?(?:remember|note|keep in mind|don't forget)(?: that|[:,])?\s+"
)
_SENTENCES = re.compile(r"(?<=[.!;])\s+|\n+")
#: pasted parts of a message: code and quotes
_PASTED = re.compile(r"```.*?(?:```|\Z)|^(?:>| {4}|\t).*$", re.DOTALL | re.MULTILINE)


def remembered_sentences(text: str) -> Iterator[tuple[str, str]]:
    """(kind, sentence) of each sentence that a person wants remembered."""
    if len(text) > MESSAGE_CHARS_MAX:
        return
    for sentence in _SENTENCES.split(_PASTED.sub("\n", text)):
        cleaned = sentence.strip().lstrip("-*• ").strip()
        if not SENTENCE_CHARS_MIN <= len(cleaned) <= SENTENCE_CHARS_MAX or cleaned.endswith("?"):
            continue
        kind = next((kind for kind, says in _KINDS if says.match(cleaned)), "")
        if kind:
            yield kind, _REMEMBER.sub("", cleaned, count=1) if kind == "fact" else cleaned


def store_notes(records: Records, taking: IncomingPortion, rows: Sequence[Row[Any]], key: bytes) -> int:
    """Store the notes of a portion in its transaction; return the number of new ones. A note that
    exists, existed, or was forgotten for good is not made again.
    """
    if not rows:
        return 0
    session_query = select(SESSION.c.id).where(SESSION.c.number == rows[0].session)
    session = str(records.connection.execute(session_query).scalar_one())
    begun = {(piece.at, piece.user) for piece in taking.parts if piece.begins}
    new_count = 0
    for row in rows:
        notes = list(_notes(taking, row))[:NOTES_MAX] if (row.at, row.user_text) in begun else []
        for note in notes:
            stamped = normalise_note(replace(note, prompt_number=row.place, metadata=_origin(session, row)))
            if not _is_known(records, stamped, key):
                records.insert(stamped)
                new_count += 1
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
    """Store a commit's note, or add the session to one that came from git's history; return whether
    it is new.
    """
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
        title=_title(commit.title),
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


def _notes(taking: IncomingPortion, row: Row[Any]) -> Iterator[Note]:
    for kind, sentence in remembered_sentences(row.user_text):
        capitalised = sentence[0].upper() + sentence[1:]
        yield Note(
            title=_title(capitalised),
            body=capitalised,
            kind=kind,
            labels=(LABEL,),
            project=taking.session.project,
            occurred_at=row.at,
            source=_source(taking),
        )


def _title(text: str) -> str:
    return text if len(text) <= TITLE_CHARS_MAX else f"{text[: TITLE_CHARS_MAX - 1]}…"


def _source(taking: IncomingPortion) -> Source:
    return Source(taking.session.kind, taking.session.source_id[:128], CHANNEL, "user")


def _is_known(records: Records, note: Note, key: bytes) -> bool:
    same = select(NOTE.c.number).where(NOTE.c.same == note.same).limit(1)
    if records.connection.execute(same).first() is not None:
        return True
    return bool(stored_hashes(records.connection, forgotten_hashes(key, note)))
