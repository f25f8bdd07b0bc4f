"""The checks of a search request, its filter, and the rows of its answer."""

from collections.abc import Sequence
from typing import Any

from cortex.memory.answers import hit_row, timeline_row
from cortex.memory.find.catalog import Selection
from cortex.memory.find.recall import Memory
from cortex.memory.find.timeline import around
from cortex.memory.note import State, read_kind, read_labels
from cortex.memory.review.disputes import mark_disputed
from cortex.memory.store.note_store import STATES
from cortex.memory.times import read_end
from cortex.system.errors import BadQuery, BadRequest
from cortex.terms.bounds import check_page

#: results of one search
LIMIT_MAX = 100
#: states that `include` may add to the active notes
INCLUDED: tuple[State, ...] = ("superseded", "archived")


def select(
    project: str, kind: str, tags: Sequence[str], as_of: float | str = 0, include: Sequence[str] = ()
) -> Selection:
    """The filter of a request. Raises BadRequest for unknown words."""
    if other := [state for state in include if state not in INCLUDED]:
        raise BadRequest(f"include is {other[0]!r}; it takes {' and '.join(INCLUDED)}.")
    return Selection(
        project=project,
        kinds=(read_kind(kind),) if kind else (),
        labels=read_labels(tags),
        states=tuple(state for state in STATES if state == "active" or state in include),
        as_of=read_end(as_of, "as_of"),
    )


def find(
    memory: Memory, query: str, limit: int, alpha: float, selection: Selection, *, explain: bool = False
) -> list[dict[str, Any]]:
    """The rows of the notes that `memory.recall` finds; "branch" in a row: one that is neither the
    main branch nor the caller's. Raises BadQuery and BadRequest.
    """
    if not query.strip():
        raise BadQuery("The query is empty; say what to search for.")
    check_page(limit, LIMIT_MAX)
    project, branches = selection.elsewhere
    rows = [
        hit_row(hit, explain=explain)
        | ({"branch": hit.note.branch} if hit.note.project == project and hit.note.branch in branches else {})
        for hit in memory.recall(query, selection, limit, alpha)
    ]
    return mark_disputed(memory, rows)


def answer_around(  # noqa: PLR0917 - as `Library.timeline` has them
    memory: Memory, anchor: str | int, query: str, selection: Selection, before: int, after: int
) -> dict[str, Any]:
    """Rows around the anchor, or around the query's best hit. Raises NotFound."""
    if anchor:
        note = memory.store.need(anchor)
    else:
        best = memory.recall(query, selection, 1)
        if not best:
            return {"items": []}
        note = best[0].note
    span = around(memory, note, selection, before, after)
    rows = [
        timeline_row(neighbour) | ({"anchor": True} if neighbour == note else {}) for neighbour in span.notes
    ]
    return {"items": rows, "anchor": note.id, "earlier": span.before, "later": span.after}
