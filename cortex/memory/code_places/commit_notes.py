"""Commits as notes: what a change said of itself, and which files it touched. Runs no git."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, select

from cortex.memory.bulk_import import take_in
from cortex.memory.code_places.places import GIT
from cortex.memory.exchange import Arriving
from cortex.memory.forgotten import forgotten_hashes
from cortex.memory.library import Library
from cortex.memory.note import PATH_CHARS_MAX, TITLE_CHARS_MAX, Note, Source, commit_id
from cortex.memory.records import Records
from cortex.memory.store import prepare_note
from cortex.memory.tables import FORGOTTEN, NOTE
from cortex.system.errors import BadRequest, TooLarge

#: what the kind of operation is called that took commits in: nobody takes it back by mistake
WHAT = "git"
#: commits that are asked about, and that are told, at once
COMMITS_MAX, TAKEN_MAX = 1_000, 100
#: files of one commit that are kept: one that touches more says nothing of any; characters of its
#: message
FILES_MAX, BODY_CHARS_MAX = 64, 16_000
#: below what a briefing takes: a commit is found when somebody asks, and tells itself to nobody
IMPORTANCE = 0.2

_EXISTING = select(NOTE.c.id).where(NOTE.c.id.in_(bindparam("ids", expanding=True)))
_FORGOTTEN = select(FORGOTTEN.c.hash).where(FORGOTTEN.c.hash.in_(bindparam("hashes", expanding=True)))


def unknown_commits(library: Library, *, commits: Sequence[str]) -> dict[str, Any]:
    """{"commits"}: those of these hashes that are neither notes nor were forgotten for good.

    Raises TooLarge.
    """
    if len(commits) > COMMITS_MAX:
        raise TooLarge(f"{len(commits)} commits; {COMMITS_MAX} are asked about at once.")
    ids = {commit: commit_id(library.project, commit) for commit in commits}
    key = library.memory.store.database.key()
    hashes = {forgotten_hashes(key, Note("", id=note_id))[0]: note_id for note_id in ids.values()}
    with library.memory.store.database.read() as connection:
        existing = set(connection.execute(_EXISTING, {"ids": list(ids.values())}).scalars())
        gone = connection.execute(_FORGOTTEN, {"hashes": list(hashes)}).scalars()
        existing |= {hashes[digest] for digest in gone}
    return {"commits": [commit for commit, note_id in ids.items() if note_id not in existing]}


def take_commits(library: Library, *, commits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep commits ({"commit", "message", "at": seconds, "files"}), each once, as notes of kind
    event: {"notes", "known", "forgotten", …}. Their secrets are removed.

    Raises TooLarge, and BadRequest for one that is none.
    """
    if len(commits) > TAKEN_MAX:
        raise TooLarge(f"{len(commits)} commits; {TAKEN_MAX} are told at once.")
    arriving = [
        Arriving(line, prepare_note(note_of(commit, library.project))[0])
        for line, commit in enumerate(commits, 1)
    ]
    store = library.memory.store

    def carry_out(records: Records) -> dict[str, Any]:
        return asdict(take_in(records, arriving, library.project, store.database.key()))

    counts = store.once("", WHAT, {}, carry_out)
    library.memory.follow()
    return counts


def note_of(commit: Mapping[str, Any], project: str) -> Note:
    """Raises BadRequest."""
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
