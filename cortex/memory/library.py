"""Memory for a Python program: `with Cortex.open(path) as memory: memory.store("…")`.

Opens the data folder by itself and owns it until it is closed. Nothing leaves the machine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cortex.embedders import Embedder
from cortex.embedders.static import open_static
from cortex.memory.answers import edge_of as render_edge
from cortex.memory.answers import found_of, row_of, titles_of, walk_of
from cortex.memory.briefing import brief
from cortex.memory.catalog import Selection
from cortex.memory.checks import warnings_of
from cortex.memory.note import Direction, Note, Source, read_kind, read_labels
from cortex.memory.recall import Memory
from cortex.memory.times import read_moment, say_moment
from ipc.errors import BadRequest

#: where memory is when nobody says otherwise
DATA_DIR = Path("~/.cortex/default")
#: results of one question, steps of one walk
LIMIT_MAX, DEPTH_MAX = 100, 6
#: notes that a briefing looks at
BRIEFED = 2_000


class Cortex:
    """One person's memory. Use it in one thread."""

    def __init__(self, memory: Memory, *, project: str = "", source: Source | None = None) -> None:
        self._memory = memory
        self._project = project
        self._source = source or Source()

    @classmethod
    def open(
        cls, path: str | Path = DATA_DIR, *, project: str = "", embedder: Embedder | None = None
    ) -> Cortex:
        """Open the data folder, which is made when it is missing; `project`: whose notes these are.

        Raises Misconfigured when another process owns it, Unavailable when it cannot be used, and
        Damaged for a database that cannot be read.
        """
        return cls(Memory(Path(path).expanduser().absolute(), embedder or open_static()), project=project)

    def of(self, *, project: str = "", source: Source | None = None) -> Cortex:
        """The same memory for another project and writer: cheap, and closed with this one."""
        return Cortex(self._memory, project=project, source=source or self._source)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._memory.close()

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
        metadata: Mapping[str, Any] | None = None,
        everywhere: bool = False,
        occurred_at: float | str = 0,
        operation_id: str = "",
    ) -> dict[str, Any]:
        """Remember something: {"id", "message"}, with "deduplicated" when it was there already,
        "removed" when it held secrets, and "warnings" that say how it could be found better.

        It is on the disk when this returns. Raises BadRequest and TooLarge.
        """
        note = Note(
            title=title,
            body=body,
            kind=kind,
            facts=tuple(facts),
            labels=tuple(tags),
            files=tuple(files),
            metadata=metadata or {},
            project=self._project,
            scope="global" if everywhere else "project",
            importance=importance,
            occurred_at=read_moment(occurred_at, "occurred_at"),
            source=self._source,
        )
        warnings = warnings_of(note)
        written = self._memory.store.put(note, operation_id)
        self._memory.follow()
        told: dict[str, Any] = {"id": written.id, "message": f"Stored: {title}"}
        if written.merged:
            told |= {"deduplicated": True, "message": f"Already there, brought up to date: {title}"}
        if written.removed:
            told["removed"] = list(written.removed)
        return told | ({"warnings": warnings} if warnings else {})

    def search(
        self, query: str, *, limit: int = 10, kind: str = "", tags: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """The notes that a question is about, by words and meaning; none when none is."""
        return self._found(query, limit, 1.0, self._selection(kind, tags))

    def recall(
        self, query: str, *, limit: int = 10, alpha: float = 0.7, kind: str = "", explain: bool = False
    ) -> list[dict[str, Any]]:
        """As `search`, with what is connected to it: alpha 1 asks words and meaning alone, 0 the
        graph. `explain` says what each score is made of.
        """
        if not 0 <= alpha <= 1:
            raise BadRequest(f"alpha is {alpha}; it must be between 0 (graph) and 1 (similarity).")
        return self._found(query, limit, alpha, self._selection(kind, ()), explain=explain)

    def relate(
        self, from_id: str | int, to_id: str | int, relation: str = "relates-to", *, operation_id: str = ""
    ) -> dict[str, Any]:
        """Connect two notes: {"id", "message"}; an edge that is there already keeps its id."""
        done = self._memory.store.relate(from_id, to_id, relation, operation_id)
        self._memory.follow()
        first, second = self._memory.store.notes_by_number([done["source"], done["target"]])
        return {"id": done["id"], "message": f"Related: {first.title} → {done['relation']} → {second.title}"}

    def traverse(
        self, node_id: str | int, *, depth: int = 2, direction: Direction = "both"
    ) -> dict[str, Any]:
        """What is connected to a note, in at most `depth` steps."""
        if not 1 <= depth <= DEPTH_MAX:
            raise BadRequest(f"depth is {depth}; it must be between 1 and {DEPTH_MAX}.")
        if direction not in ("outgoing", "incoming", "both"):
            raise BadRequest(f"direction is {direction!r}; it is outgoing, incoming or both.")
        start = self._memory.store.need(node_id)
        mask = self._memory.catalog.mask(Selection(project=self._project))
        walk = self._memory.links.walk(start.number, depth, direction, lambda number: bool(mask[number]))
        return walk_of(walk, self._memory.store.notes_by_number(list(walk.depth)))

    def briefing(self, agent_id: str = "default", *, compact: bool = False) -> dict[str, Any]:
        """{"briefing": Markdown}: what to know before one begins."""
        mask = self._memory.catalog.mask(Selection(project=self._project))
        best = self._memory.catalog.best(mask, BRIEFED)
        notes = self._memory.store.notes_by_number(best)
        known = {note.number: note for note in notes}
        disputed = [
            (known[edge.source], known[edge.target])
            for number in known
            for edge in self._memory.links.of(number, "outgoing")
            if edge.relation == "contradicts" and edge.target in known
        ]
        text = brief(notes, disputed, time.time_ns() // 1_000_000, compact=compact)
        return {"briefing": f"# {agent_id}\n{text}" if compact and agent_id != "default" else text}

    def node(self, node_id: str | int) -> dict[str, Any]:
        """A note with its edges, and the notes at their other ends. Raises NotFound."""
        note = self._memory.store.need(node_id)
        edges = self._memory.links.of(note.number)
        others = self._memory.store.notes_by_number(
            [edge.target if edge.source == note.number else edge.source for edge in edges]
        )
        ids = {one.number: one.id for one in (note, *others)}
        return row_of(note) | {
            "edges": [render_edge(edge, ids) for edge in edges if {edge.source, edge.target} <= ids.keys()],
            "related": titles_of(others),
        }

    def stats(self) -> dict[str, Any]:
        """How much is remembered."""
        count = self._memory.store.count(self._project)
        return {
            "node_count": count["notes"],
            "edge_count": count["edges"],
            "node_counts_by_kind": count["by_kind"],
            "node_counts_by_state": count["by_state"],
            "oldest_node": say_moment(count["oldest"]) if count["oldest"] else "",
            "newest_node": say_moment(count["newest"]) if count["newest"] else "",
            "db_bytes": count["bytes"],
        }

    def forget(self, node_id: str | int, *, operation_id: str = "") -> dict[str, Any]:
        """Mark a note as deleted: no question finds it any more."""
        written = self._memory.store.set_state(node_id, "deleted", operation_id)
        self._memory.follow()
        return {"id": written.id, "message": "Forgotten."}

    def _selection(self, kind: str, tags: Sequence[str]) -> Selection:
        kinds = (read_kind(kind),) if kind else ()
        return Selection(project=self._project, kinds=kinds, labels=read_labels(tags))

    def _found(
        self, query: str, limit: int, alpha: float, chosen: Selection, *, explain: bool = False
    ) -> list[dict[str, Any]]:
        if not query.strip():
            raise BadRequest("The query is empty; say what is to be recalled.")
        if not 1 <= limit <= LIMIT_MAX:
            raise BadRequest(f"limit is {limit}; it must be between 1 and {LIMIT_MAX}.")
        return [found_of(one, explain=explain) for one in self._memory.recall(query, chosen, limit, alpha)]
