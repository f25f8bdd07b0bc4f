"""All operations of one memory, as methods of one class. Opens the data folder directly and owns it
until it is closed. Nothing leaves the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from cortex.embedders import Embedder
from cortex.embedders.static import open_static
from cortex.memory.answers import edge_row as render_edge
from cortex.memory.answers import (
    erasure_answer,
    note_row,
    timeline_row,
    title_rows,
    visible_text,
    walk_answer,
)
from cortex.memory.briefings.briefing import TOKENS, brief
from cortex.memory.checks import warnings_of
from cortex.memory.doctor import examine
from cortex.memory.files.formats import InputLine
from cortex.memory.files.markdown_export import write_folder
from cortex.memory.files.transfer import (
    SLICE_S,
    Report,
    export_file,
    export_page,
    import_file,
    import_records,
)
from cortex.memory.find.catalog import Selection
from cortex.memory.find.changes import KINDS
from cortex.memory.find.memory_query import LIMIT_MAX, answer_around, find, select
from cortex.memory.find.newer_notes import replaceable
from cortex.memory.find.recall import Memory
from cortex.memory.find.statements import stems
from cortex.memory.find.timeline import between
from cortex.memory.note import (
    AGENTS,
    BRANCH,
    COMMIT,
    Direction,
    Note,
    Scope,
    Source,
    State,
    Trust,
    read_changes,
    read_scope,
    with_anchors,
)
from cortex.memory.review.disputes import mark_disputed
from cortex.memory.store.copies import back_ups
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.store.erasure import erase_in_copies
from cortex.memory.store.note_store import STATES, Written
from cortex.memory.store.sealed import opener
from cortex.memory.team.postgresql import Server
from cortex.memory.times import format_age, format_moment, read_end, read_moment
from cortex.memory.transcripts.formats import spool, spool_reader
from cortex.memory.transcripts.proposing import proposals
from cortex.memory.transcripts.proposing.handover import KIND as HANDOVER
from cortex.memory.transcripts.proposing.handover import topic_of
from cortex.memory.upkeep.traits import jaccard
from cortex.settings.folders.branches import Head, existing, head_of, main_branches
from cortex.system.errors import BadRequest
from cortex.terms.text.secrets import remove_secrets

T = TypeVar("T")

#: the default data folder
DATA_DIR = Path("~/.cortex/default")
#: changes in one answer
CHANGES = 1_000
#: steps of one walk
DEPTH_MAX = 6
#: records in one page of an export
EXPORT_MAX = 1_000
#: fields of a note that tell something, and the one that decides who reads it
_SAYING = frozenset(("title", "subtitle", "body", "facts", "kind", "scope"))
#: notes of a new note's answer that it may replace
SIMILAR_MAX = 3
#: kinds of notes that may tell of a change: an event ("moved to EMQX") outdates facts too
TELLING = KINDS | {"event"}
#: share of common stems and cosine of two bodies below which notes of one title stay two
SAME_STEMS, SAME_COSINE = 0.1, 0.3
#: smallest and largest budget of a briefing
TOKENS_MIN, TOKENS_MAX = 50, 50_000


def finish(steps: Generator[None, None, T]) -> T:
    """Run long work to its end without pause, and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("T", end.value)


def _propose_old_notes(memory: Memory) -> None:
    """Once in the life of a store: make candidates of the notes of rules, in one operation that
    `undo` reverts.
    """
    store = memory.store
    with store.database.read() as connection:
        if proposals.notes_were_moved(connection):
            return
        has_notes = bool(proposals.notes_to_move(connection))
    if has_notes:
        key = store.database.key()
        store.once("", "propose", {}, lambda records: {"moved": proposals.move_notes(records, key)})
        memory.follow()
    else:
        with store.database.write() as connection:
            proposals.mark_moved(connection, memory.now())


class Library:
    """One person's memory. Use it in one thread. A method that returns a generator does long work
    in slices.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        project: str = "",
        source: Source | None = None,
        caller: str | None = None,
        place: str = "",
    ) -> None:
        """`caller`: the project of the agent that calls, if that is not `project`; `place`: the
        caller's folder, from which the branch of its notes and questions is read.
        """
        self._memory = memory
        self._requested_project, self._project = project, memory.projects.home_of(project)
        self._caller = self._project if caller is None else memory.projects.home_of(caller)
        self._source = source or Source()
        self._place = place

    @classmethod
    def open(
        cls,
        path: str | Path = DATA_DIR,
        *,
        project: str = "",
        embedder: Embedder | None = None,
        home: Path | None = None,
        driver: Driver | Server = PLAIN,
        model: Callable[[], Embedder] | None = None,
    ) -> Library:
        """Open the data folder; it is made if it is missing. `project`: the notes to work on.
        `home`, `driver`, `model`: see `Memory`.

        Raises Misconfigured when another process owns the folder, Unavailable when it cannot be
        used, and Damaged for a database that cannot be read.
        """
        folder = Path(path).expanduser().absolute()
        memory = Memory(folder, embedder or open_static(), home=home, driver=driver, model=model)
        try:
            _propose_old_notes(memory)
            return cls(memory, project=project)
        except BaseException:  # close it even on KeyboardInterrupt, as in `Memory`
            memory.close()
            raise

    def of(
        self,
        *,
        project: str | None = None,
        source: Source | None = None,
        caller: str | None = None,
        place: str = "",
    ) -> Library:
        """The same memory for another project ("" for all), or with another source of its notes."""
        return Library(
            self._memory,
            project=self._requested_project if project is None else project,
            source=source or self._source,
            caller=caller,
            place=place,
        )

    @property
    def head(self) -> Head | None:
        """The branch and commit of the caller's folder; None without a folder, and for another
        project than the caller's.
        """
        is_own = self._place and self._project and self._project == self._caller
        return head_of(Path(self._place)) if is_own else None

    def elsewhere(self) -> tuple[str, tuple[str, ...]]:
        """(The project, the branches of its notes that are neither the main one nor the caller's,
        and still exist.)
        """
        branches = self._memory.catalog.branches(self._project)
        head = self.head if branches else None
        if head is None or head.common is None:
            return "", ()
        near = {head.branch, *main_branches(head.common)}
        return self._project, existing(head.common, [branch for branch in branches if branch not in near])

    def _trust_for(self, project: str) -> Trust:
        """The trust of a text that this caller writes into a note of `project`."""
        is_foreign = self._source.channel == AGENTS and project != self._caller
        return "other" if is_foreign else self._source.trust

    def edit_trust(self, reference: str | int, changes: Mapping[str, Any]) -> Trust | None:
        """The trust of a note after this caller changed these fields; None where it stays. Raises
        NotFound.
        """
        if self._source.channel != AGENTS or changes.keys().isdisjoint(_SAYING):
            return None
        note = self._memory.store.need(reference)
        if note.project != self._caller:
            return "other"
        is_global = changes.get("scope", note.scope) == "global"
        return "agent" if is_global and note.source.trust == "user" else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._memory.close()

    @property
    def memory(self) -> Memory:
        return self._memory

    @property
    def source(self) -> Source:
        """The source of the notes that are stored."""
        return self._source

    @property
    def project(self) -> str:
        """The project of the notes; "" for all."""
        return self._project

    def settle(self) -> None:
        """Write what is new into the indexes on the disk: the next open reads less."""
        self._memory.words.commit()

    # Writing

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
        of notes that it may replace, at most three.

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
            project=self._project,
            scope=read_scope(scope),
            importance=importance,
            occurred_at=read_moment(occurred_at, "occurred_at"),
            source=replace(self._source, trust=self._trust_for(self._project)),
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
        written = self._memory.store.put(note, operation_id, supersedes, self._differ)
        self._memory.follow()
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
        if similar := self._similar(written):
            answer["similar"] = similar
        return answer | ({"warnings": warnings} if warnings else {})

    def _closed_rows(self, written: Written) -> dict[str, Any]:
        """{"closed": rows of the superseded notes}, {} for none."""
        notes = self._memory.store.notes_by_number(written.closed)
        rows = [{"number": note.number, "title": visible_text(note.title)} for note in notes]
        return {"closed": rows} if rows else {}

    def _similar(self, written: Written) -> list[dict[str, Any]]:
        """Rows of the notes that a new note may replace: of its topic, or the likeliest of the same
        scope.
        """
        memory, others = self._memory, dict.fromkeys(written.same_topic)
        [note] = memory.store.notes_by_number([written.number])
        if note.kind in TELLING and not written.merged:
            others |= dict.fromkeys(replaceable(memory, note, Selection(project=self._project)))
        return [
            {
                "number": other.number,
                "title": visible_text(other.title),
                "age": format_age(other.created_at, memory.now()),
            }
            for other in memory.store.notes_by_number(list(others)[:SIMILAR_MAX])
        ]

    def _differ(self, stored: Note, incoming: Note) -> bool:
        """Whether two notes of one title have nothing else in common."""
        bodies = [stored.body.strip(), incoming.body.strip()]
        if not all(bodies) or jaccard(stems(bodies[0]), stems(bodies[1])) >= SAME_STEMS:
            return False
        return self._memory.vectors.likeness(*bodies) < SAME_COSINE

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
        written = self._memory.store.edit(
            node_id,
            changes,
            operation_id,
            state=state,
            superseded_by=superseded_by,
            supersedes=supersedes,
            trust=self.edit_trust(node_id, changes),
        )
        self._memory.follow()
        closed = self._closed_rows(written)
        names = ", ".join("tags" if name == "labels" else name for name in sorted(changes))
        sentences = [f"Changed: {names}."] if changes else []
        if state or superseded_by:
            sentences.append(f"Now {'superseded' if superseded_by else state}.")
        if supersedes:
            sentences.append(f"It supersedes {len(supersedes)}.")
        answer = {"id": written.id, "number": written.number, "message": " ".join(sentences)} | closed
        return answer | ({"removed": list(written.removed)} if written.removed else {})

    def relate(
        self, from_id: str | int, to_id: str | int, relation: str = "relates-to", *, operation_id: str = ""
    ) -> dict[str, Any]:
        """Connect two notes: {"id", "message"}; an edge that exists already keeps its id."""
        done = self._memory.store.relate(from_id, to_id, relation, operation_id)
        self._memory.follow()
        first, second = self._memory.store.notes_by_number([done["source"], done["target"]])
        return {
            "id": done["id"],
            "message": f"Related: {first.title} → {done['relation']} → {second.title}",
        } | ({"existed": True} if done["existed"] else {})

    def forget(self, node_id: str | int, *, operation_id: str = "") -> dict[str, Any]:
        """Mark a note as deleted: no search finds it any more."""
        written = self._memory.store.edit(node_id, {}, operation_id, state="deleted")
        self._memory.follow()
        return {"id": written.id, "number": written.number, "message": "Forgotten."}

    def undo(self, undone: str = "", *, operation_id: str = "") -> dict[str, Any]:
        """Revert an operation, the latest without a name: {"undone", "what", "nodes"}. Raises
        NotFound for an unknown operation, and BadRequest when one of its notes was changed again
        since.
        """
        done = self._memory.store.undo(undone, operation_id)
        self._memory.follow()
        notes = self._memory.store.notes_by_number(done["notes"])
        rows = [row | {"state": note.state} for row, note in zip(title_rows(notes), notes, strict=True)]
        return {"undone": done["undone"], "what": done["what"], "nodes": rows}

    def link(self, other: str = "", *, remove: bool = False, operation_id: str = "") -> dict[str, Any]:
        """Share the notes of `other` with this project from now on, as for a clone of it; `remove`:
        use its own notes again. See `projects.Projects.link`.
        """
        answer = self._memory.projects.link(self._requested_project, other, operation_id, remove=remove)
        self._memory.follow()
        return answer

    def erase(
        self, node_ids: Sequence[str | int], *, back_ups: bool = False
    ) -> Generator[None, None, dict[str, Any]]:
        """Forget notes, sessions and exchanges for good, in slices, with their revisions, edges,
        and all that the indexes and the log of operations hold of them. Nothing brings them back.
        `back_ups`: erase them in the back-ups, too. Raises NotFound.
        """
        erased = yield from self._memory.erase(node_ids)
        store, written = self._memory.store, 0
        unpack = opener(store.database.driver.key)
        spool_reader.forget(store.database.folder / spool.FOLDER, erased.transcript.names, unpack)
        if back_ups:
            folder = store.database.folder / "backups"
            for _ in erase_in_copies(folder, store.database.key(), store.forgotten(), store.database.driver):
                written += 1
                yield
        return erasure_answer(erased) | {"back_ups_rewritten": written}

    def import_records(
        self,
        records: Sequence[Mapping[str, Any] | None],
        *,
        first_line: int = 1,
        trusted: bool = False,
        operation_id: str = "",
    ) -> dict[str, Any]:
        """Store a slice of an import, durably: {"notes", "edges", "sessions", "exchanges": counts
        of new ones, "known", "merged", "forgotten", "refused_count", "refused": [{"line", "why"}]}.
        """
        report = Report()
        lines = [InputLine(first_line + at, record) for at, record in enumerate(records)]  # type: ignore[arg-type]
        import_records(self._memory, lines, self._project, report, trusted=trusted, operation=operation_id)
        self._memory.follow()
        return report.answer()

    def import_file(self, file: str, *, trusted: bool = False) -> Generator[None, None, dict[str, Any]]:
        """As `import_records`, of a file (lines of JSON of an export, memory.json of the reference
        memory server, Markdown with front matter) or a folder of Markdown files, in slices. Unless
        `trusted`, the file's statements about the author do not count. Raises NotFound and
        BadRequest.
        """
        report = yield from import_file(
            self._memory, Path(file).expanduser().absolute(), self._project, trusted=trusted
        )
        return report.answer()

    def export_records(self, after: str = "", *, limit: int = 200) -> dict[str, Any]:
        """A page of all records: {"records", "next"}; "next" is "" at the end."""
        if not 1 <= limit <= EXPORT_MAX:
            raise BadRequest(f"limit is {limit}; it must be between 1 and {EXPORT_MAX}.")
        records, following = export_page(self._memory, after, limit, self._project)
        return {"records": records, "next": following}

    def export_file(self, file: str) -> Generator[None, None, dict[str, Any]]:
        """Write all records as lines of JSON, in slices."""
        target = Path(file).expanduser().absolute()
        count = yield from export_file(self._memory, target, self._project)
        return {"file": str(target), "records": count}

    def export_markdown(self, folder: str) -> Generator[None, None, dict[str, Any]]:
        """Write each note of the project that is not deleted as a Markdown file, in slices:
        {"folder", "written", "unchanged": counts}.
        """
        target = Path(folder).expanduser().absolute()
        self._memory.follow()
        counts = yield from write_folder(self._memory, target, self._project)
        return {"folder": str(target)} | counts

    def back_up(self) -> Generator[None, None, dict[str, Any]]:
        """Back up the store: {"file": the copy, "back_ups": all copies}; the newest three stay. In
        slices: a thread makes the copy. Raises Damaged when the store is damaged.
        """
        with ThreadPoolExecutor(1) as pool:
            copying = pool.submit(self._memory.store.back_up)
            while wait((copying,), SLICE_S).not_done:
                yield
            copy = copying.result()
        return {"file": str(copy), "back_ups": back_ups(copy.parent.parent)}

    def doctor(self, *, mend: bool = True) -> Generator[None, None, dict[str, Any]]:
        """Check the store and its indexes, and mend the faults that can be mended, in slices; see
        `doctor.examine`.
        """
        return examine(self._memory, self._memory.store.database.folder, mend=mend)

    # Queries

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kind: str = "",
        tags: Sequence[str] = (),
        as_of: float | str = 0,
        include: Sequence[str] = (),
    ) -> list[dict[str, Any]]:
        """Find notes by words and meaning; empty when none matches. `as_of` searches the notes as
        they were at that moment; `include` adds "superseded" or "archived" notes.
        """
        selection = select(self._project, kind, tags, as_of, include)
        return find(self._memory, query, limit, 1.0, replace(selection, elsewhere=self.elsewhere()))

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        alpha: float = 0.7,
        kind: str = "",
        as_of: float | str = 0,
        include: Sequence[str] = (),
        explain: bool = False,
    ) -> list[dict[str, Any]]:
        """As `search`, with the notes connected to the hits: alpha 1 ranks by words and meaning
        alone, 0 by the graph. `explain` lists the parts that each score is the sum of.
        """
        if not 0 <= alpha <= 1:
            raise BadRequest(f"alpha is {alpha}; it must be between 0 (graph) and 1 (similarity).")
        selection = replace(select(self._project, kind, (), as_of, include), elsewhere=self.elsewhere())
        return find(self._memory, query, limit, alpha, selection, explain=explain)

    def timeline(
        self,
        anchor: str | int = "",
        *,
        query: str = "",
        before: int = 10,
        after: int = 10,
        since: float | str = 0,
        until: float | str = 0,
        kind: str = "",
        tags: Sequence[str] = (),
        limit: int = 20,
        offset: int = 0,
        newest_first: bool = False,
    ) -> dict[str, Any]:
        """Notes by the moment they happened, or were stored: around the `anchor` or the best hit of
        `query` ({"items", "anchor", "earlier", "later": counts of further ones}), or between two
        moments, page by page ({"items", "next_offset"}). Raises NotFound for an unknown anchor,
        BadRequest for numbers out of range.
        """
        bounds = {"before": (before, 0), "after": (after, 0), "limit": (limit, 1)}
        for name, (value, least) in bounds.items():
            if not least <= value <= LIMIT_MAX:
                raise BadRequest(f"{name} is {value}; it must be between {least} and {LIMIT_MAX}.")
        if offset < 0:
            raise BadRequest(f"offset is {offset}; it must be 0 or more.")
        self._memory.follow()
        selection = replace(
            select(self._project, kind, tags),
            elsewhere=self.elsewhere(),
            since=read_moment(since, "since"),
            until=read_end(until, "until"),
        )
        if anchor or query:
            return answer_around(self._memory, anchor, query, selection, before, after)
        span = between(self._memory, selection, limit, offset, newest_first=newest_first)
        rows = [timeline_row(note) for note in span.notes]
        return {"items": rows} | ({"next_offset": offset + len(rows)} if span.after else {})

    def traverse(
        self, node_id: str | int, *, depth: int = 2, direction: Direction = "both"
    ) -> dict[str, Any]:
        """The notes within `depth` steps of a note, and their edges. Raises BadRequest and
        NotFound.
        """
        if not 1 <= depth <= DEPTH_MAX:
            raise BadRequest(f"depth is {depth}; it must be between 1 and {DEPTH_MAX}.")
        if direction not in ("outgoing", "incoming", "both"):
            raise BadRequest(f"direction is {direction!r}; it is outgoing, incoming or both.")
        start = self._memory.store.need(node_id)
        mask = self._memory.catalog.mask(Selection(project=self._project))
        walk = self._memory.links.walk(start.number, depth, direction, lambda number: bool(mask[number]))
        return walk_answer(walk, self._memory.store.notes_by_number(list(walk.depth)))

    def briefing(
        self, agent_id: str = "default", *, compact: bool = False, tokens: int = TOKENS
    ) -> dict[str, Any]:
        """{"briefing": Markdown}: the notes to read before work begins, in at most `tokens` tokens.
        Raises BadRequest.
        """
        if not TOKENS_MIN <= tokens <= TOKENS_MAX:
            raise BadRequest(f"tokens is {tokens}; it must be between {TOKENS_MIN} and {TOKENS_MAX}.")
        self._memory.follow()
        selection = Selection(project=self._project, elsewhere=self.elsewhere())
        briefing = brief(
            self._memory, selection, agent_id, self._memory.now(), compact=compact, tokens=tokens
        )
        self._memory.count_use(briefing.numbers, is_shown=True)
        return {"briefing": briefing.text}

    def node(self, node_id: str | int) -> dict[str, Any]:
        """A note with its edges and the notes at their other ends; it counts as used. Raises
        NotFound.
        """
        note = self._memory.store.need(node_id)
        self._memory.count_use([note.number])
        edges = self._memory.links.of(note.number)
        others = self._memory.store.notes_by_number(
            [edge.target if edge.source == note.number else edge.source for edge in edges]
        )
        ids = {related.number: related.id for related in (note, *others)}
        [row] = mark_disputed(self._memory, [note_row(note)])
        return row | {
            "edges": [render_edge(edge, ids) for edge in edges if {edge.source, edge.target} <= ids.keys()],
            "related": title_rows(others),
        }

    def stats(self) -> dict[str, Any]:
        """Counts of the stored notes and edges."""
        count = self._memory.store.count(self._project)
        return {
            "node_count": count["notes"],
            "edge_count": count["edges"],
            "node_counts_by_kind": count["by_kind"],
            "node_counts_by_state": count["by_state"],
            "oldest_node": format_moment(count["oldest"]) if count["oldest"] else "",
            "newest_node": format_moment(count["newest"]) if count["newest"] else "",
            "db_bytes": count["bytes"],
        }

    def changes(self, after: int = -1) -> dict[str, Any]:
        """{"reached", "nodes"}: the number of the last change, and the notes that changed, or got
        other edges, after the change `after`; at most CHANGES changes, and no nodes for an `after`
        below 0.
        """
        store = self._memory.store
        self._memory.follow()
        if after < 0:
            return {"reached": self._memory.reached.number, "nodes": []}
        changed = store.changes_after(after, CHANGES)
        edges = store.edges_by_number([number for _, what, number in changed if what == "edge"])
        numbers = {number for _, what, number in changed if what == "note"}
        numbers |= {end for edge in edges for end in (edge.source, edge.target)}
        mask = self._memory.catalog.mask(Selection(project=self._project, states=STATES))
        notes = store.notes_by_number(sorted(number for number in numbers if mask[number]))
        nodes = [{"id": note.id, "number": note.number} for note in notes]
        return {"reached": changed[-1][0] if changed else after, "nodes": nodes}
