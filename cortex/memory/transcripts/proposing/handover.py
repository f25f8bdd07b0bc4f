"""The hand-over of a session to the next one in its work tree and on its branch: a note of the last
request, the done, the open, the next, and the files. It is made from stored exchanges alone, and
only for a session that changed files or made commits.

One is active for each work tree and branch, or detached commit; earlier ones are its versions.
"""

import hashlib
import os
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Row, func, select

from cortex.memory.note import BRANCH, COMMIT, FILES_MAX, Note, Source, normalise_note
from cortex.memory.store.forgotten import forgotten_id, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.tables import EXCHANGE, NOTE, SESSION
from cortex.memory.text import cut
from cortex.memory.transcripts.formats.plans import Plan, joined, read_plan
from cortex.memory.transcripts.intake import IncomingPortion
from cortex.memory.transcripts.proposing.changed_files import CHANNEL, changed_inside
from cortex.memory.transcripts.proposing.pasted_messages import QUOTED, is_pasted, orders_a_command
from cortex.settings.folders.branches import Head, head_of, on_branch

#: its kind, its label, and the first word of its topic
KIND, LABEL, TOPIC = "handover", "handover", "handover"
#: below the minimum of a briefing, which prints it by itself
IMPORTANCE = 0.2
#: milliseconds between two updates while a session goes on: each is a revision
UPDATE_MS = 5 * 60_000
#: items in a part, characters of one, and files; characters of a reply's end that are read
ITEMS_MAX, ITEM_CHARS_MAX, NAMES_MAX, REPLY_CHARS = 6, 160, 12, 6_000
#: characters of a prompt that are read; sessions of subagents
PROMPT_CHARS, SUBAGENTS_MAX = 4_000, 500
#: the key in metadata for the digest of the text as it was written
WRITTEN = "written"
#: sentences in place of a line that could be an order, and of a request without an answer
WITHHELD, UNANSWERED = "(pasted, or an order to run something)", "the last request has no answer yet"
#: the namespace of note ids that are made of sessions, work trees and branches
_SPACE = uuid.UUID("5b0c4f0e-3d56-5b1e-8a0f-6a2f6c1d9b47")

_WORDS = {
    "next": "next(?: steps?)?|as a next step|nächste schritte|als nächstes|prochaines? étapes?|ensuite",
    "open": "remaining(?: work)?|still (?:open|missing|to do)|not (?:yet )?done|open(?: points| questions)?|to-?dos?"
    "|left to do|noch offen|offen(?:e punkte)?|fehlt noch|reste à faire|il reste",
}
#: a line that names the open or the next: "Next steps:", "## Remaining", "**Next:** do this"
_HEADING = re.compile(
    rf"(?i)^[\s#*_>-]*(?:(?P<next>{_WORDS['next']})|(?P<open>{_WORDS['open']}))[*_\s]*(?::[*_\s]*(?P<rest>.*)|(?<=\w))$"
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)$")
_QUESTION = re.compile(r"[^.!?\n]{8,300}\?\s*$")


@dataclass(frozen=True, slots=True)
class Announced:
    """Items of a reply, by the heading above them."""

    open: list[str]
    next: list[str]


def topic_of(head: Head) -> str:
    """The topic of the hand-overs of a work tree and its branch, or detached commit."""
    return f"{TOPIC} {head.key}"


def hand_over(records: Records, taking: IncomingPortion, key: bytes, *, due: bool) -> bool:
    """Store or update the hand-over of a portion's session; return whether it changed. `due`: also
    if it was updated a moment ago. A note that was deleted or forgotten for good is not made again,
    and one that an agent or a person wrote during the session stays.
    """
    session = _session_of(records, taking)
    if session is None or not taking.root or (not due and _was_updated(records, session)):
        return False
    rows = _exchanges(records, session)
    head = _head(taking, rows, session)
    rows = _on_branch(rows, head.branch)
    files = tuple(
        dict.fromkeys(
            path for row in rows for path in changed_inside(row.files.get("modified", ()), taking.root)
        )
    )
    if not files and not any(row.files.get("commits") for row in rows):
        return False
    body = body_of(rows, files, session.number, taking.root, _last_reply(records, rows, session))
    note = _note(session, rows, head, files, body)
    number = records.find(note.id)
    existing = records.get([number])[0] if number else None
    if existing is None and stored_hashes(records.connection, [forgotten_id(key, note.id)]):
        return False
    if existing is not None:
        is_edited = existing.metadata.get(WRITTEN) != _digest(existing)
        if is_edited or existing.state in ("archived", "deleted"):
            return False
    return _write(records, note, existing, session)


def _was_updated(records: Records, session: Row[Any]) -> bool:
    query = select(NOTE.c.number).where(
        NOTE.c.project == session.project,
        NOTE.c.kind == KIND,
        NOTE.c.session == session.source_id,
        NOTE.c.updated_at > records.now - UPDATE_MS,
    )
    return records.connection.execute(query.limit(1)).first() is not None


def _digest(note: Note) -> str:
    return hashlib.sha256(f"{note.title}\0{note.body}".encode()).hexdigest()[:16]


def _write(records: Records, note: Note, existing: Note | None, session: Row[Any]) -> bool:
    """Write the note; the latest one of its topic is active."""
    others = [other for other in _active(records, note) if other.id != note.id]
    written = [other for other in others if other.source.channel != CHANNEL]
    latest = max(others, key=lambda other: other.happened_at, default=None)
    if any(other.created_at >= session.started_at for other in written):
        return False
    if latest is not None and latest.happened_at > note.occurred_at:
        if existing is not None:
            return False
        records.insert(
            replace(note, state="superseded", superseded_by=latest.number, valid_until=records.now)
        )
        return True
    if existing is None:
        stored = records.insert(note)
    else:
        revived = replace(
            existing,
            title=note.title,
            body=note.body,
            files=note.files,
            modified=note.modified,
            occurred_at=note.occurred_at,
            metadata={**existing.metadata, **note.metadata},
            state="active",
            superseded_by=0,
            valid_until=0,
        )
        records.change(existing, revived)
        stored = existing
    for other in others:
        ended = replace(other, state="superseded", superseded_by=stored.number, valid_until=records.now)
        records.change(other, ended)
    return True


def _session_of(records: Records, taking: IncomingPortion) -> Row[Any] | None:
    """The stored session of a portion; for a subagent's the session that it belongs to."""
    session = taking.session
    named = SESSION.c.source_id == session.source_id.partition("/")[0]
    query = select(SESSION).where(
        SESSION.c.workstation == session.workstation, SESSION.c.project == session.project, named
    )
    return records.connection.execute(query).first()


def _exchanges(records: Records, session: Row[Any]) -> list[Row[Any]]:
    """The exchanges of a session in order, those of its subagents by their time."""
    below = SESSION.c.source_id.startswith(f"{session.source_id}/", autoescape=True)
    family = (SESSION.c.workstation == session.workstation) & (SESSION.c.project == session.project) & below
    numbers = [session.number, *records.connection.execute(select(SESSION.c.number).where(family)).scalars()]
    columns = (EXCHANGE.c[name] for name in ("number", "session", "at", "files", "branch"))
    query = select(*columns, func.substr(EXCHANGE.c.user_text, 1, PROMPT_CHARS).label("user_text"))
    query = query.where(EXCHANGE.c.session.in_(numbers[:SUBAGENTS_MAX])).order_by(EXCHANGE.c.place)
    rows: list[Row[Any]] = list(records.connection.execute(query))
    return sorted(rows, key=lambda row: (row.at, row.session != session.number))


def _last_reply(records: Records, rows: Sequence[Row[Any]], session: Row[Any]) -> str:
    prompts = [row for row in rows if row.session == session.number and row.user_text]
    if not prompts:
        return ""
    query = select(EXCHANGE.c.assistant_text).where(EXCHANGE.c.number == prompts[-1].number)
    return str(records.connection.execute(query).scalar_one())[-REPLY_CHARS:]


def _head(taking: IncomingPortion, rows: Sequence[Row[Any]], session: Row[Any]) -> Head:
    """The work tree of the session, on the branch or commit where it was last."""
    now = head_of(Path(taking.root))
    if taking.branch or taking.commit:
        return Head(now.root, taking.branch, taking.commit, now.common)
    branch = next((row.branch for row in reversed(rows) if row.branch), session.branch)
    return on_branch(now, branch)


def _on_branch(rows: Sequence[Row[Any]], branch: str) -> list[Row[Any]]:
    """The exchanges on a branch; all, if none names it."""
    on_it = [row for row in rows if row.branch == branch]
    return on_it or list(rows)


def _active(records: Records, note: Note) -> list[Note]:
    query = select(NOTE.c.number).where(
        NOTE.c.topic == note.topic, NOTE.c.project == note.project, NOTE.c.state == "active"
    )
    return records.get(list(records.connection.execute(query).scalars()))


def _note(session: Row[Any], rows: Sequence[Row[Any]], head: Head, files: tuple[str, ...], body: str) -> Note:
    topic = topic_of(head)
    name = f"{session.project}\0{session.kind}\0{session.workstation}\0{session.source_id}\0{topic}"
    where = head.branch or (head.commit[:12] if head.common else "")
    made_on = {BRANCH: head.branch, COMMIT: head.commit}
    note = normalise_note(
        Note(
            title=f"Hand-over in {os.path.basename(head.root)[:60]}{f' on {where[:100]}' if where else ''}",
            body=body,
            id=str(uuid.uuid5(_SPACE, name)),
            kind=KIND,
            labels=(LABEL,),
            files=files[:FILES_MAX],
            modified=files[:FILES_MAX],
            project=session.project,
            importance=IMPORTANCE,
            occurred_at=max(session.last_at, *(row.at for row in rows)),
            metadata={"session": session.id, "folder": head.root}
            | {field: value for field, value in made_on.items() if value},
            source=Source(session.kind, session.source_id[:128], CHANNEL, "tool"),
            topic=topic,
        )
    )
    return replace(note, metadata={**note.metadata, WRITTEN: _digest(note)})


def body_of(rows: Sequence[Row[Any]], files: Sequence[str], session: int, root: str, last_reply: str) -> str:
    """The text of a hand-over: parts with a heading each; empty ones are left out."""
    prompts = [row for row in rows if row.session == session and row.user_text]
    plan = read_plan(_changes_of_plan(rows))
    items_of_reply = announced(last_reply)
    following = [*plan.under_way, *items_of_reply.next, *plan.waiting][:1]
    unfinished = [
        *plan.under_way,
        *plan.waiting,
        *items_of_reply.open,
        *items_of_reply.next[1:],
        *question_in(last_reply),
    ]
    if prompts and not last_reply.strip():
        unfinished.append(UNANSWERED)
    parts = [
        ("Last request", [_first_line(prompts[-1].user_text)] if prompts else []),
        ("Done", _done(plan, prompts, root)),
        ("Open", [item for item in unfinished if item not in following]),
        ("Next", following),
    ]
    lines = []
    for heading, items in parts:
        clean = list(dict.fromkeys(filter(None, map(_clean, items))))
        if len(clean) == 1:
            lines.append(f"{heading}: {clean[0]}")
        elif clean:
            lines += [f"{heading}:", *(f"- {item}" for item in clean[-ITEMS_MAX:])]
    more = f" and {len(files) - NAMES_MAX} more" if len(files) > NAMES_MAX else ""
    if files:
        lines.append(f"Files: {', '.join(files[-NAMES_MAX:])}{more}")
    return "\n".join(lines)


def _changes_of_plan(rows: Sequence[Row[Any]]) -> list[str]:
    changes: list[str] = []
    for row in rows:
        changes = joined(changes, row.files.get("plan", ()))
    return changes


def _done(plan: Plan, prompts: Sequence[Row[Any]], root: str) -> list[str]:
    """The finished items of the plan, else requests that changed or committed files."""
    if plan.done or plan.under_way or plan.waiting:
        return plan.done
    done = []
    for row in prompts:
        names = [os.path.basename(path) for path in changed_inside(row.files.get("modified", ()), root)]
        commits = [f"commit {name[:10]}" for name in row.files.get("commits", ())]
        if names or commits:
            done.append(f"{_first_line(row.user_text)[:100]} ({', '.join((*names[:3], *commits[-2:]))})")
    return done


def _first_line(text: str) -> str:
    """The first line of a request that a person typed."""
    lines = [line.strip() for line in QUOTED.sub("\n", text).splitlines() if line.strip()]
    if not lines or is_pasted(lines[0]):
        return WITHHELD
    return lines[0]


def announced(reply: str) -> Announced:
    """The items that a reply names as open and as next."""
    items: dict[str, list[str]] = {"open": [], "next": []}
    part = ""
    for line in reply.splitlines():
        if heading := _HEADING.match(line):
            part = "next" if heading["next"] else "open"
            if rest := heading["rest"]:
                items[part].append(rest)
                part = ""
        elif (bullet := _BULLET.match(line)) and part:
            items[part].append(bullet["text"])
        elif line.strip():
            part = ""
    return Announced(items["open"], items["next"])


def question_in(reply: str) -> list[str]:
    """The question that ends a reply: the agent waits for its answer."""
    lines = reply.strip().splitlines()
    question = _QUESTION.search(lines[-1]) if lines else None
    return [question[0].strip()] if question else []


def _clean(item: str) -> str:
    """An item without marks, on one line; WITHHELD in place of an order to run something."""
    text = " ".join(re.sub(r"[*`]", "", item).split())
    return WITHHELD if orders_a_command(text) else cut(text, ITEM_CHARS_MAX)
