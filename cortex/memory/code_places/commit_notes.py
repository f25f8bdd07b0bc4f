"""Commits as notes: message and changed files. Runs no git."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, select

from cortex.memory.code_places.places import GIT
from cortex.memory.files.bulk_import import take_in
from cortex.memory.files.exchange import Arriving
from cortex.memory.library import Library
from cortex.memory.note import PATH_CHARS_MAX, TITLE_CHARS_MAX, Note, Source, commit_id
from cortex.memory.store.forgotten import forgotten_hashes
from cortex.memory.store.note_store import prepare_note
from cortex.memory.store.records import Records
from cortex.memory.store.tables import FORGOTTEN, NOTE
from cortex.system.errors import BadRequest, TooLarge

#: operation kind of commits: `undo` does not offer it
WHAT = "git"
#: commits of one lookup, and of one call that stores them
COMMITS_MAX, TAKEN_MAX = 1_000, 100
#: files kept of one commit (a commit with more says little about any of them); characters of its
#: message
FILES_MAX, BODY_CHARS_MAX = 64, 16_000
#: below the minimum of a briefing: a commit is found by search only
IMPORTANCE = 0.2

_EXISTING = select(NOTE.c.id).where(NOTE.c.id.in_(bindparam("ids", expanding=True)))
_FORGOTTEN = select(FORGOTTEN.c.hash).where(FORGOTTEN.c.hash.in_(bindparam("hashes", expanding=True)))


def unknown_commits(library: Library, *, commits: Sequence[str]) -> dict[str, Any]:
    """{"commits"}: given hashes neither stored as notes nor forgotten for good. Raises TooLarge."""
    if len(commits) > COMMITS_MAX:
        raise TooLarge(f"{len(commits)} commits; one call takes {COMMITS_MAX}.")
    ids = {commit: commit_id(library.project, commit) for commit in commits}
    key = library.memory.store.database.key()
    hashes = {forgotten_hashes(key, Note("", id=note_id))[0]: note_id for note_id in ids.values()}
    with library.memory.store.database.read() as connection:
        existing = set(connection.execute(_EXISTING, {"ids": list(ids.values())}).scalars())
        gone = connection.execute(_FORGOTTEN, {"hashes": list(hashes)}).scalars()
        existing |= {hashes[digest] for digest in gone}
    return {"commits": [commit for commit, note_id in ids.items() if note_id not in existing]}


def take_commits(library: Library, *, commits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Store commits ({"commit", "message", "at": seconds, "files"}) as notes of kind event, each
    once, without secrets. Return {"notes", "known", "forgotten", …}. Raises TooLarge, and
    BadRequest for a malformed commit.
    """
    if len(commits) > TAKEN_MAX:
        raise TooLarge(f"{len(commits)} commits; one call takes {TAKEN_MAX}.")
    arriving = [
        Arriving(line, prepare_note(note_of(commit, library.project))[0])
        for line, commit in enumerate(commits, 1)
    ]

    def carry_out(records: Records) -> dict[str, Any]:
        return asdict(take_in(records, arriving, library.project, library.memory.store.database.key()))

    return library.once("", WHAT, {}, carry_out)


def note_of(commit: Mapping[str, Any], project: str) -> Note:
    """Return the note of a commit. Raises BadRequest."""
    name, message, at, paths = (commit.get(field) for field in ("commit", "message", "at", "files"))
    if not (isinstance(name, str) and isinstance(message, str) and isinstance(at, int)):
        raise BadRequest("A commit has its hash, its message and its time.")
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
        raise BadRequest("The files of a commit are a list of paths.")
    subject, _, details = message.strip().partition("\n")
    files = tuple(path for path in paths if len(path) <= PATH_CHARS_MAX)[:FILES_MAX]
    return Note(
        title=subject.strip()[:TITLE_CHARS_MAX] or name,
        body=details.strip()[:BODY_CHARS_MAX],
        kind="event",
        id=commit_id(project, name),
        files=files,
        modified=files,
        git_commit=name,
        project=project,
        importance=IMPORTANCE,
        occurred_at=1_000 * at,
        source=Source(channel=GIT, trust="import"),
    )
