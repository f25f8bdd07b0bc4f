"""Queries of notes: search, time, edges, a briefing, counts, changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cortex.memory.answers import edge_row as render_edge
from cortex.memory.answers import note_row, timeline_row, title_rows, walk_answer
from cortex.memory.briefings.briefing import TOKENS, brief
from cortex.memory.find.catalog import Selection
from cortex.memory.find.memory_query import LIMIT_MAX, answer_around, find, select
from cortex.memory.find.timeline import between
from cortex.memory.library.view import View
from cortex.memory.note import Direction
from cortex.memory.review.disputes import mark_disputed
from cortex.memory.store.note_store import STATES
from cortex.memory.times import format_optional, read_end, read_moment
from cortex.system.errors import BadRequest
from cortex.terms.bounds import check_between, check_page

#: changes in one answer
CHANGES = 1_000
#: steps of one walk
DEPTH_MAX = 6
#: smallest and largest budget of a briefing
TOKENS_MIN, TOKENS_MAX = 50, 50_000


class Queries(View):
    """The operations that only read notes; what a briefing and `node` show counts as used."""

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
        selection = select(self.project, kind, tags, as_of, include)
        return find(self.memory, query, limit, 1.0, replace(selection, elsewhere=self.elsewhere()))

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
        selection = replace(select(self.project, kind, (), as_of, include), elsewhere=self.elsewhere())
        return find(self.memory, query, limit, alpha, selection, explain=explain)

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
        for name, value in {"before": before, "after": after}.items():
            check_between(name, value, 0, LIMIT_MAX)
        check_page(limit, LIMIT_MAX, offset)
        self.memory.follow()
        selection = replace(
            select(self.project, kind, tags),
            elsewhere=self.elsewhere(),
            since=read_moment(since, "since"),
            until=read_end(until, "until"),
        )
        if anchor or query:
            return answer_around(self.memory, anchor, query, selection, before, after)
        span = between(self.memory, selection, limit, offset, newest_first=newest_first)
        rows = [timeline_row(note) for note in span.notes]
        return {"items": rows} | ({"next_offset": offset + len(rows)} if span.after else {})

    def traverse(
        self, node_id: str | int, *, depth: int = 2, direction: Direction = "both"
    ) -> dict[str, Any]:
        """The notes within `depth` steps, and their edges. Raises BadRequest and NotFound."""
        check_between("depth", depth, 1, DEPTH_MAX)
        if direction not in ("outgoing", "incoming", "both"):
            raise BadRequest(f"direction is {direction!r}; it is outgoing, incoming or both.")
        start = self.memory.store.need(node_id)
        mask = self.memory.catalog.mask(Selection(project=self.project))
        walk = self.memory.links.walk(start.number, depth, direction, lambda number: bool(mask[number]))
        return walk_answer(walk, self.memory.store.notes_by_number(list(walk.depth)))

    def briefing(
        self, agent_id: str = "default", *, compact: bool = False, tokens: int = TOKENS
    ) -> dict[str, Any]:
        """{"briefing": Markdown}: the notes to read before work begins, in at most `tokens` tokens.
        Raises BadRequest.
        """
        check_between("tokens", tokens, TOKENS_MIN, TOKENS_MAX)
        self.memory.follow()
        selection = Selection(project=self.project, elsewhere=self.elsewhere())
        briefing = brief(self.memory, selection, agent_id, self.memory.now(), compact=compact, tokens=tokens)
        self.memory.count_use(briefing.numbers, is_shown=True)
        return {"briefing": briefing.text}

    def node(self, node_id: str | int) -> dict[str, Any]:
        """A note with its edges and neighbours; it counts as used. Raises NotFound."""
        note = self.memory.store.need(node_id)
        self.memory.count_use([note.number])
        edges = self.memory.links.of(note.number)
        others = self.memory.store.notes_by_number(
            [edge.target if edge.source == note.number else edge.source for edge in edges]
        )
        ids = {related.number: related.id for related in (note, *others)}
        [row] = mark_disputed(self.memory, [note_row(note)])
        return row | {
            "edges": [render_edge(edge, ids) for edge in edges if {edge.source, edge.target} <= ids.keys()],
            "related": title_rows(others),
        }

    def stats(self) -> dict[str, Any]:
        count = self.memory.store.count(self.project)
        return {
            "node_count": count["notes"],
            "edge_count": count["edges"],
            "node_counts_by_kind": count["by_kind"],
            "node_counts_by_state": count["by_state"],
            "oldest_node": format_optional(count["oldest"]),
            "newest_node": format_optional(count["newest"]),
            "db_bytes": count["bytes"],
        }

    def changes(self, after: int = -1) -> dict[str, Any]:
        """{"reached", "nodes"}: the number of the last change, and the notes that changed, or got
        other edges, after the change `after`; at most CHANGES changes, and no nodes for an `after`
        below 0.
        """
        store = self.memory.store
        self.memory.follow()
        if after < 0:
            return {"reached": self.memory.reached.number, "nodes": []}
        changed = store.changes_after(after, CHANGES)
        edges = store.edges_by_number([number for _, what, number in changed if what == "edge"])
        numbers = {number for _, what, number in changed if what == "note"}
        numbers |= {end for edge in edges for end in (edge.source, edge.target)}
        mask = self.memory.catalog.mask(Selection(project=self.project, states=STATES))
        notes = store.notes_by_number(sorted(number for number in numbers if mask[number]))
        nodes = [{"id": note.id, "number": note.number} for note in notes]
        return {"reached": changed[-1][0] if changed else after, "nodes": nodes}
