"""The upkeep job that fades edges: an automatic edge between unused notes stops counting after some
months, and is removed after some more.

The remaining share is stored beside the weight and computed from it each time: running it twice
changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, select, update

from cortex.memory.store.tables import EDGE, NOTE
from cortex.memory.upkeep.relations import AUTOMATIC
from cortex.memory.upkeep.scores import days_between, remaining_share
from cortex.memory.upkeep.state import EDGES, write_mark
from cortex.memory.upkeep.work import Steps, Work

#: edges examined in one slice; edges removed in one transaction
LOOKED, REMOVED = 200, 10
#: strength below which an edge is removed
GONE = 0.05
#: relations that never fade: they determine which notes are valid
_HOLDING = ("supersedes", "contradicts", "invalidated_by")

_SOURCE, _TARGET = NOTE.alias("one"), NOTE.alias("other")


def _sql_max(first: ColumnElement[Any], second: ColumnElement[Any]) -> ColumnElement[Any]:
    """The SQL maximum: databases call it max or greatest."""
    return case((first >= second, first), else_=second)


_EDGES = (
    select(
        EDGE,
        _sql_max(_SOURCE.c.importance, _TARGET.c.importance).label("importance"),
        _sql_max(EDGE.c.created_at, _sql_max(_SOURCE.c.used_at, _TARGET.c.used_at)).label("since"),
    )
    .join(_SOURCE, _SOURCE.c.number == EDGE.c.source)
    .join(_TARGET, _TARGET.c.number == EDGE.c.target)
    .where(
        EDGE.c.number > bindparam("after"),
        EDGE.c.detection.in_(sorted(AUTOMATIC)),
        EDGE.c.relation.not_in(_HOLDING),
    )
    .order_by(EDGE.c.number)
    .limit(LOOKED)
)
_FADE = update(EDGE).where(EDGE.c.number == bindparam("which")).values(faded=bindparam("left"))


def fade_edges(work: Work) -> Steps:
    """Store the remaining share of each edge made by upkeep; a use of either note resets it."""
    cursor = work.mark(EDGES).cursor
    while True:
        with work.memory.store.database.read() as connection:
            rows = connection.execute(_EDGES, {"after": cursor}).all()
        remaining = [
            (row, remaining_share(row.importance, days_between(row.since, work.now))) for row in rows
        ]
        gone = [row.number for row, left in remaining if row.weight * left < GONE]
        new = {row.number: left for row, left in remaining if left != row.faded and row.weight * left >= GONE}
        cursor = rows[-1].number if len(rows) == LOOKED else 0
        work.counts["looked"] += len(rows)
        work.counts["faded"] += len(new)
        work.counts["removed"] += len(gone)
        if not work.dry_run:
            _write_fading(work, new, cursor)
            yield
            for at in range(0, len(gone), REMOVED):
                _remove(work, gone[at : at + REMOVED])
                yield
        yield
        if not cursor:
            return


def _write_fading(work: Work, new: dict[int, float], cursor: int) -> None:
    with work.memory.store.database.write() as connection:
        if new:
            rows: list[dict[str, Any]] = [{"which": number, "left": left} for number, left in new.items()]
            connection.execute(_FADE, rows)
        write_mark(connection, EDGES, cursor=cursor, last_run=work.now)
    links = work.memory.links
    edges = {edge.number: edge for edge in links.edges(list(new))}
    links.take([replace(edge, faded=new[number]) for number, edge in edges.items()])


def _remove(work: Work, numbers: Sequence[int]) -> None:
    def carry_out(records: Any) -> None:
        for number in numbers:
            records.disconnect(number)

    work.write(EDGES, carry_out)
