"""The upkeep jobs that depend on age: relevance, forgetting, retention, fading of edges; and
optimisation of the store.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, delete, select, update

from cortex.memory.find.links import STRENGTH_MIN
from cortex.memory.note import Note, State
from cortex.memory.store.records import Records
from cortex.memory.store.tables import EDGE, NOTE, QUERY_LOG
from cortex.memory.upkeep.relations import AUTOMATIC
from cortex.memory.upkeep.scores import (
    DAY_MS,
    IMPORTANT,
    SUPERSEDED_DAYS,
    YOUNG_DAYS,
    Standing,
    days_between,
    is_expired,
    is_past,
    may_be_forgotten,
    relevance,
    remaining_share,
)
from cortex.memory.upkeep.state import DECAY, EDGES, FORGETTING, MAINTENANCE, write_mark
from cortex.memory.upkeep.traits import type_of
from cortex.memory.upkeep.work import Steps, Work

#: notes examined in one slice; notes written in one transaction
LOOKED, WRITTEN = 100, 5
#: relevances that differ by less count as equal
SAME = 0.001
#: days after which a query is deleted from the log
QUERY_DAYS = 30

_FADED = (NOTE.c.number, NOTE.c.importance, NOTE.c.relevance, NOTE.c.updated_at, NOTE.c.used_at)
_FADE = update(NOTE).where(NOTE.c.number == bindparam("which")).values(relevance=bindparam("now"))


def decay(work: Work) -> Steps:
    """Update the relevance of each active note; its importance stays."""
    cursor = work.mark(DECAY).cursor
    while True:
        query = select(*_FADED).where(NOTE.c.number > cursor, NOTE.c.state == "active")
        with work.memory.store.database.read() as connection:
            rows = connection.execute(query.order_by(NOTE.c.number).limit(LOOKED)).all()
        relevances = [(row.number, _relevance(work, row)) for row in rows]
        new = [
            (number, value)
            for (number, value), row in zip(relevances, rows, strict=True)
            if abs(value - row.relevance) >= SAME
        ]
        cursor = rows[-1].number if len(rows) == LOOKED else 0
        if not work.dry_run:
            with work.memory.store.database.write() as connection:
                if new:
                    connection.execute(_FADE, [{"which": number, "now": value} for number, value in new])
                write_mark(connection, DECAY, cursor=cursor, last_run=work.now)
            work.memory.catalog.fade([number for number, _ in new], [value for _, value in new])
            work.memory.notes.drop(number for number, _ in new)
        work.counts["notes"] += len(rows)
        work.counts["faded"] += len(new)
        yield
        if not cursor:
            return


def _relevance(work: Work, note: Any) -> float:
    """The relevance of a note, or of its row. A faded edge does not count."""
    links = work.memory.links.of(note.number)
    edges = [edge for edge in links if edge.relation != "contradicts" and edge.strength >= STRENGTH_MIN]
    mean = sum(edge.weight for edge in edges) / len(edges) if edges else 0.0
    age = days_between(note.updated_at, work.now)
    idle = days_between(note.used_at or note.updated_at, work.now)
    return relevance(note.importance, age, idle, len(edges), mean)


def forget(work: Work) -> Steps:
    """Archive faded notes without any reason to keep them, if forgetting is switched on; a dry run
    always lists them.
    """
    if work.dry_run or work.memory.upkeep.settings.forgetting:
        old = (NOTE.c.state == "active") & (NOTE.c.updated_at <= work.now - YOUNG_DAYS * DAY_MS)
        candidates = old & (NOTE.c.importance < IMPORTANT)
        yield from _set_state(
            work, FORGETTING, "archived", candidates, lambda standing: may_be_forgotten(standing, work.now)
        )


def retain(work: Work, days: int) -> Steps:
    """Mark notes older than `days` as deleted; 0: none."""
    if days:
        old = (NOTE.c.state == "active") & (NOTE.c.updated_at < work.now - days * DAY_MS)
        yield from _set_state(
            work, MAINTENANCE, "deleted", old, lambda standing: is_expired(standing, work.now, days)
        )


def clean(work: Work) -> Steps:
    """Mark notes that were superseded long ago as deleted."""
    old = (NOTE.c.state == "superseded") & (NOTE.c.valid_until < work.now - SUPERSEDED_DAYS * DAY_MS)
    yield from _set_state(work, MAINTENANCE, "deleted", old, lambda standing: is_past(standing, work.now))


def _set_state(
    work: Work, name: str, state: State, old: ColumnElement[bool], matches: Callable[[Standing], bool]
) -> Steps:
    """Set the state of the old notes that match, in slices."""
    last = 0
    while True:
        query = select(NOTE.c.number).where(NOTE.c.number > last, old)
        with work.memory.store.database.read() as connection:
            numbers = list(connection.execute(query.order_by(NOTE.c.number).limit(WRITTEN)).scalars())
        if not numbers:
            return
        last = numbers[-1]
        notes = work.memory.store.notes_by_number(numbers)
        picked = [note for note in notes if matches(_standing(work, note))]
        for note in picked:
            work.record_detail(state, {"id": note.id, "number": note.number, "title": note.title})
        if picked:
            work.write(name, lambda records, picked=picked: _change_state(records, picked, state))  # type: ignore[misc]
        yield


def _change_state(records: Records, notes: Sequence[Note], state: State) -> None:
    """Set the state of notes that were not changed meanwhile, for instance by a colleague."""
    current = {note.number: note for note in records.get([note.number for note in notes])}
    for note in notes:
        if current.get(note.number) == note:
            records.change(note, replace(note, state=state))


def _standing(work: Work, note: Note) -> Standing:
    edges = work.memory.links.of(note.number)
    return Standing(
        type=type_of(note),
        importance=note.importance,
        relevance=_relevance(work, note),
        created_at=note.updated_at,
        used_at=note.used_at,
        is_connected=any(edge.detection not in AUTOMATIC for edge in edges),
        is_liked=note.feedback > 0,
        valid_until=note.valid_until,
    )


def prune_queries(work: Work) -> Steps:
    old = QUERY_LOG.c.at < work.now - QUERY_DAYS * DAY_MS
    with work.memory.store.database.read() as connection:
        numbers = list(connection.execute(select(QUERY_LOG.c.number).where(old)).scalars())
    work.counts["queries"] = len(numbers)
    for at in range(0, 0 if work.dry_run else len(numbers), LOOKED):
        yield
        with work.memory.store.database.write() as connection:
            connection.execute(delete(QUERY_LOG).where(QUERY_LOG.c.number.in_(numbers[at : at + LOOKED])))


def optimise(work: Work) -> Steps:
    """Renew the database's statistics, and commit the word index."""
    if not work.dry_run:
        work.memory.store.database.optimise()
        yield
        work.memory.words.commit()
    yield


#: edges examined in one slice; edges removed in one transaction
EDGES_LOOKED, REMOVED = 200, 10
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
    .limit(EDGES_LOOKED)
)
_FADE_EDGES = update(EDGE).where(EDGE.c.number == bindparam("which")).values(faded=bindparam("left"))


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
        cursor = rows[-1].number if len(rows) == EDGES_LOOKED else 0
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
            connection.execute(_FADE_EDGES, rows)
        write_mark(connection, EDGES, cursor=cursor, last_run=work.now)
    links = work.memory.links
    edges = {edge.number: edge for edge in links.edges(list(new))}
    links.take([replace(edge, faded=new[number]) for number, edge in edges.items()])


def _remove(work: Work, numbers: Sequence[int]) -> None:
    def carry_out(records: Any) -> None:
        for number in numbers:
            records.disconnect(number)

    work.write(EDGES, carry_out)
