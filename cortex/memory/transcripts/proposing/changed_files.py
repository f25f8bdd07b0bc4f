"""A note of the files that a session changed, with the prompts that led to it. It is made from the
arguments of the agent's tools, so its trust is "tool".
"""

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row

from cortex.memory.note import FILES_MAX, Note, Source, normalise_note
from cortex.memory.store.forgotten import forgotten_id, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.transcripts.intake import IncomingPortion
from cortex.system.folders import path_names

#: the channel and the label of such notes: every file has many, so they are not shown beside code
CHANNEL, LABEL = "changed", "files-changed"
#: below the minimum of a briefing: it is found by search only
IMPORTANCE = 0.2
#: files in the title; lines of prompts, and characters of each
NAMES_MAX, LINES_MAX, LINE_CHARS = 3, 40, 160
#: the namespace of note ids that are made of sessions
_SPACE = uuid.UUID("0c2f6d4e-9a3b-5d5c-8a60-5d1f1d0f7a11")


def note_changes(
    records: Records, taking: IncomingPortion, rows: Sequence[Row[Any]], place: dict[str, Any], key: bytes
) -> bool:
    """Store or update the session's note for these exchanges; return whether it is new. `place`:
    the session's branch and folder. A note that was deleted or forgotten for good is not made
    again.
    """
    changes = {
        row.place: (row.user_text, changed_inside(row.files.get("modified", ()), taking.root)) for row in rows
    }
    changes = {at: change for at, change in changes.items() if change[1]}
    if not changes:
        return False
    session = taking.session
    name = session.source_id.partition("/")[0]
    which = str(uuid.uuid5(_SPACE, f"{session.project}\0{session.kind}\0{session.workstation}\0{name}"))
    files = tuple(dict.fromkeys(path for _, paths in changes.values() for path in paths))
    if number := records.find(which):
        _bring_up_to_date(records, records.get([number])[0], changes, files)
        return False
    if stored_hashes(records.connection, [forgotten_id(key, which)]):
        return False
    note = Note(
        title=_title(files[:FILES_MAX], place.get("git_branch", "")),
        body=_body("", changes),
        id=which,
        kind="event",
        obs_type="change",
        labels=(LABEL,),
        files=files[:FILES_MAX],
        modified=files[:FILES_MAX],
        project=session.project,
        importance=IMPORTANCE,
        occurred_at=next(row.at for row in rows if row.place in changes) or session.last_at,
        metadata=place,
        source=Source(session.kind, name[:128], CHANNEL, "tool"),
    )
    records.insert(normalise_note(note))
    return True


def _bring_up_to_date(
    records: Records, note: Note, changes: dict[int, tuple[str, list[str]]], files: tuple[str, ...]
) -> None:
    """Add the changes to the note, unless it is superseded or deleted; an edited title stays."""
    if note.state != "active":
        return
    all_files = tuple(dict.fromkeys((*note.files, *files)))[:FILES_MAX]
    branch = str(note.metadata.get("git_branch", ""))
    is_ours = note.title == _title(note.files, branch)
    changed = replace(
        note,
        title=_title(all_files, branch) if is_ours else note.title,
        body=_body(note.body, changes) if is_ours else note.body,
        files=all_files,
        modified=tuple(dict.fromkeys((*note.modified, *all_files))),
    )
    records.change(note, normalise_note(changed))


def changed_inside(paths: Sequence[str], root: str) -> list[str]:
    """The paths in the folder `root`, relative to it."""
    return [inner for path in paths if root and (inner := path_names.inside(path, root))]


def _title(files: Sequence[str], branch: str) -> str:
    names = [os.path.basename(path)[:40] for path in files[:NAMES_MAX]]
    more = f" and {len(files) - NAMES_MAX} more" if len(files) > NAMES_MAX else ""
    return f"Changed {', '.join(names)}{more} in a session{f' on {branch[:60]}' if branch else ''}"


def _body(before: str, changes: dict[int, tuple[str, list[str]]]) -> str:
    """A line for each exchange that changed files: its number, the prompt, the files."""
    lines = {line.partition(".")[0]: line for line in before.splitlines()}
    for at, (prompt, files) in changes.items():
        first = next((line.strip() for line in prompt.splitlines() if line.strip()), "")
        if not first:  # an agent's prompt for another
            continue
        names = ", ".join(files[:NAMES_MAX])
        more = f" and {len(files) - NAMES_MAX} more" if len(files) > NAMES_MAX else ""
        lines[str(at)] = f"{at}. {first[:LINE_CHARS]} ({names}{more})"
    return "\n".join(list(lines.values())[:LINES_MAX])
