"""Writing notes: store, change, relate, forget, and undo."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cortex.memory.answers import erasure_answer, title_rows, visible_text
from cortex.memory.checks import warnings_of
from cortex.memory.find.catalog import Selection
from cortex.memory.find.newer.changes import TELLING
from cortex.memory.find.newer.newer_notes import replaceable
from cortex.memory.library.view import View
from cortex.memory.note import (
    AGENTS,
    BRANCH,
    COMMIT,
    Note,
    Scope,
    State,
    Trust,
    read_changes,
    read_scope,
    with_anchors,
)
from cortex.memory.store.erasure import erase_in_copies
from cortex.memory.store.note_store import Written
from cortex.memory.store.sealed_events import opener
from cortex.memory.text import question_words
from cortex.memory.times import format_age, read_moment
from cortex.memory.transcripts.formats import spool, spool_reader
from cortex.memory.transcripts.proposing.handover import KIND as HANDOVER
from cortex.memory.transcripts.proposing.handover import topic_of
from cortex.memory.upkeep.traits import jaccard
from cortex.system.errors import BadRequest
from cortex.terms.text.secrets import remove_secrets

#: fields of a note that tell something, and the one that decides who reads it
_SAYING = frozenset(("title", "subtitle", "body", "facts", "kind", "scope"))
#: notes of a new note's answer that it may replace
SIMILAR_MAX = 3
#: share of common stems and cosine of two bodies below which notes of one title stay two
SAME_STEMS, SAME_COSINE = 0.1, 0.3


class Writing(View):
    """The operations that change notes. Generators do long work in slices."""

    def store(
        self,
        title: str,
        body: str = "",
        *,
        kind: str = "fact",
        tags: Sequence[str] = (),
        importance: float = 0.5,
        facts: Sequence[str] = (),
        files: Sequence[str] = (),
        anchors: Sequence[str] = (),
        spoken: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        obs_type: str = "",
        scope: Scope = "project",
        occurred_at: float | str = 0,
        supersedes: Sequence[str | int] = (),
        topic: str = "",
        operation_id: str = "",
    ) -> dict[str, Any]:
        """Store a note: {"id", "number", "message"}, with "deduplicated" when it was there already,
        "removed" when it held secrets, and "warnings" that say how to make it easier to find. The
        notes that it supersedes are no longer true: searches find them only with `as_of` or
        `include`. A note of the same `topic` and scope is its older version and superseded, too.
        "closed": [{"number", "title"}] of superseded notes; "similar": [{"number", "title", "age"}]
        of notes that it may replace, at most three, with "likely" where it likely does.

        It is on the disk when this returns. Raises BadRequest, TooLarge and NotFound.
        """
        note = Note(
            title=title,
            body=body,
            kind=kind,
            obs_type=obs_type,
            facts=tuple(facts),
            labels=tuple(tags),
            files=tuple(files),
            spoken=spoken or {},
            metadata=with_anchors(metadata or {}, anchors),
            project=self.project,
            scope=read_scope(scope),
            importance=importance,
            occurred_at=read_moment(occurred_at, "occurred_at"),
            source=replace(self.source, trust=self._trust_for(self.project)),
            topic=topic,
        )
        if note.source.trust == "other":
            note = replace(note, metadata={**note.metadata, "from_project": self._caller})
        if (head := self.head) and head.common:
            made_on = {BRANCH: head.branch, COMMIT: head.commit}
            made_on = {name: value for name, value in made_on.items() if value}
            note = replace(note, metadata=made_on | dict(note.metadata))
        if note.kind == HANDOVER and head and not topic:
            note = replace(note, topic=topic_of(head))
        warnings = warnings_of(note)
        written = self.memory.store.put(note, operation_id, supersedes, self._differ)
        self.memory.follow()
        title_text = remove_secrets(title)[0]
        answer: dict[str, Any] = {
            "id": written.id,
            "number": written.number,
            "message": f"Stored: {title_text}",
        }
        if written.merged:
            answer |= {"deduplicated": True, "message": f"Already there, brought up to date: {title_text}"}
        if written.same_title:
            names = ", ".join(map(str, written.same_title))
            warnings.append(
                f"Note {names} has this title and another text: both stay. Titles of their own tell them apart."
            )
        answer |= {"removed": list(written.removed)} if written.removed else {}
        answer |= self._closed_rows(written)
        if similar := self._similar(written, note):
            answer["similar"] = similar
        return answer | ({"warnings": warnings} if warnings else {})

    def _trust_for(self, project: str) -> Trust:
        """The trust of a text that this caller writes into a note of `project`."""
        is_foreign = self.source.channel == AGENTS and project != self._caller
        return "other" if is_foreign else self.source.trust

    def _closed_rows(self, written: Written) -> dict[str, Any]:
        """{"closed": rows of the superseded notes}, {} for none."""
        notes = self.memory.store.notes_by_number(written.closed)
        rows = [{"number": note.number, "title": visible_text(note.title)} for note in notes]
        return {"closed": rows} if rows else {}

    def _similar(self, written: Written, note: Note) -> list[dict[str, Any]]:
        """Rows of notes that a new one may replace: the likeliest in its scope, or of its topic."""
        memory, replaced, others = self.memory, list[Note](), list[Note]()
        if note.kind in TELLING and not written.merged:
            with memory.store.database.moment():
                for stored in memory.store.notes_by_number([written.number]):
                    replaced, others = replaceable(memory, stored, Selection(project=self.project))
        of_topic = memory.store.notes_by_number(written.same_topic)
        rows = {other.number: other for other in (*replaced, *of_topic, *others)}
        return [
            {
                "number": other.number,
                "title": visible_text(other.title),
                "age": format_age(other.happened_at, memory.now()),
                **({"likely": True} if other in replaced else {}),
            }
            for other in list(rows.values())[:SIMILAR_MAX]
        ]

    def _differ(self, stored: Note, incoming: Note) -> bool:
        """Whether two notes of one title have nothing else in common."""
        bodies = [stored.body.strip(), incoming.body.strip()]
        if not all(bodies) or jaccard(*(set(question_words(body)) for body in bodies)) >= SAME_STEMS:
            return False
        return self.memory.vectors.likeness(*bodies) < SAME_COSINE

    def edit(
        self,
        node_id: str | int,
        *,
        state: State | None = None,
        superseded_by: str | int = 0,
        supersedes: Sequence[str | int] = (),
        operation_id: str = "",
        **changes: Any,
    ) -> dict[str, Any]:
        """Change the given fields of a note (as in `store`), its state, and the notes that it
        supersedes, all or nothing: {"id", "number", "message"}, "removed". The old fields become a
        revision; no field of a deleted note is changed. Raises NotFound, BadRequest and TooLarge.
        """
        changes = {} if state == "deleted" else read_changes(changes)  # agents repeat the title
        if not (changes or state or superseded_by or supersedes):
            raise BadRequest(f"Nothing to change in the note {str(node_id)[:80]}: give a field or a state.")
        written = self.memory.store.edit(
            node_id,
            changes,
            operation_id,
            state=state,
            superseded_by=superseded_by,
            supersedes=supersedes,
            trust=self.edit_trust(node_id, changes),
        )
        self.memory.follow()
        closed = self._closed_rows(written)
        names = ", ".join("tags" if name == "labels" else name for name in sorted(changes))
        sentences = [f"Changed: {names}."] if changes else []
        if state or superseded_by:
            sentences.append(f"Now {'superseded' if superseded_by else state}.")
        if supersedes:
            sentences.append(f"It supersedes {len(supersedes)}.")
        answer = {"id": written.id, "number": written.number, "message": " ".join(sentences)} | closed
        return answer | ({"removed": list(written.removed)} if written.removed else {})

    def edit_trust(self, reference: str | int, changes: Mapping[str, Any]) -> Trust | None:
        """The trust of a note after this edit; None where it stays. Raises NotFound."""
        if self.source.channel != AGENTS or changes.keys().isdisjoint(_SAYING):
            return None
        note = self.memory.store.need(reference)
        if note.project != self._caller:
            return "other"
        is_global = changes.get("scope", note.scope) == "global"
        return "agent" if is_global and note.source.trust == "user" else None

    def relate(
        self, from_id: str | int, to_id: str | int, relation: str = "relates-to", *, operation_id: str = ""
    ) -> dict[str, Any]:
        """Connect two notes: {"id", "message"}; an edge that exists already keeps its id."""
        done = self.memory.store.relate(from_id, to_id, relation, operation_id)
        self.memory.follow()
        first, second = self.memory.store.notes_by_number([done["source"], done["target"]])
        return {
            "id": done["id"],
            "message": f"Related: {first.title} → {done['relation']} → {second.title}",
        } | ({"existed": True} if done["existed"] else {})

    def forget(self, node_id: str | int, *, operation_id: str = "") -> dict[str, Any]:
        """Mark a note as deleted: no search finds it any more."""
        written = self.memory.store.edit(node_id, {}, operation_id, state="deleted")
        self.memory.follow()
        return {"id": written.id, "number": written.number, "message": "Forgotten."}

    def undo(self, undone: str = "", *, operation_id: str = "") -> dict[str, Any]:
        """Revert an operation, the latest without a name: {"undone", "what", "nodes"}. Raises
        NotFound for an unknown operation, and BadRequest when one of its notes was changed again
        since.
        """
        done = self.memory.store.undo(undone, operation_id)
        self.memory.follow()
        notes = self.memory.store.notes_by_number(done["notes"])
        rows = [row | {"state": note.state} for row, note in zip(title_rows(notes), notes, strict=True)]
        return {"undone": done["undone"], "what": done["what"], "nodes": rows}

    def link(self, other: str = "", *, remove: bool = False, operation_id: str = "") -> dict[str, Any]:
        """Share the notes of `other` with this project from now on, as for a clone of it; `remove`:
        use its own notes again. See `projects.Projects.link`.
        """
        answer = self.memory.projects.link(self._requested_project, other, operation_id, remove=remove)
        self.memory.follow()
        return answer

    def erase(
        self, node_ids: Sequence[str | int], *, back_ups: bool = False
    ) -> Generator[None, None, dict[str, Any]]:
        """Forget notes, sessions and exchanges for good, in slices, with their revisions, edges,
        and all that the indexes and the log of operations hold of them. Nothing brings them back.
        `back_ups`: erase them in the back-ups, too. Raises NotFound.
        """
        erased = yield from self.memory.erase(node_ids)
        store, written = self.memory.store, 0
        unpack = opener(store.database.driver.key)
        spool_reader.forget(store.database.folder / spool.FOLDER, erased.transcript.names, unpack)
        if back_ups:
            folder = store.database.folder / "backups"
            for _ in erase_in_copies(folder, store.database.key(), store.forgotten(), store.database.driver):
                written += 1
                yield
        return erasure_answer(erased) | {"back_ups_rewritten": written}
