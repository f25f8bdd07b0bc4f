"""The upkeep job that finds patterns among changed notes, and the rows of patterns for answers."""

from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from cortex.memory.answers import visible_text
from cortex.memory.store.tables import NOTE, PATTERN, PATTERN_NOTE
from cortex.memory.times import format_moment
from cortex.memory.upkeep.patterns import (
    MERGES,
    MERGES_COSINE,
    Pattern,
    adviser,
    are_alike,
    describe,
    fits_signature,
    is_pattern,
    read_type,
)
from cortex.memory.upkeep.state import MERGED, PATTERNS, write_mark
from cortex.memory.upkeep.traits import Trait, jaccard, stems
from cortex.memory.upkeep.work import Steps, Work, changed_notes

#: nearest notes that a note is compared with; newest notes of a pattern that describe it
NEIGHBOURS, DESCRIBING = 20, 50
#: number of a new pattern in a dry run
_NEW = -1

Members = dict[int, int]


def find_patterns(work: Work) -> Steps:
    """Add each changed note to a similar pattern, or make a new one of it and others."""
    foreseen: Members = {}
    looked = set[int]()
    for number, change in changed_notes(work, PATTERNS, lambda: False):
        work.counts["notes"] += 1
        pattern = _pattern_of(work, [number]).get(number)
        if pattern is not None:
            yield from _refresh(work, pattern, (), change)
        elif work.is_active(number):
            yield from _join_or_make(work, number, foreseen, change)
        looked |= set(_pattern_of(work, [number]).values())
        yield
    for pattern in sorted(looked):
        yield from _merge(work, pattern)
        yield


def _join_or_make(work: Work, number: int, foreseen: Members, change: int) -> Steps:
    subject = (yield from work.traits([number])).get(number)
    if subject is None or number in foreseen:
        return
    near = dict(work.memory.vectors.near(number, work.mask(subject), NEIGHBOURS))
    yield
    others = yield from work.traits([other for other in near if work.is_active(other)])
    like = [
        other
        for other in others.values()
        if subject.meets(other) and are_alike(subject, other, near[other.number])
    ]
    memberships = _pattern_of(work, [other.number for other in like]) | {
        other.number: foreseen[other.number] for other in like if other.number in foreseen
    }
    for pattern, _ in Counter(memberships.values()).most_common():
        if pattern == _NEW or (yield from _accepts(work, pattern, subject)):
            work.counts["joined"] += 1
            foreseen[number] = pattern
            yield from _refresh(work, pattern, (number,), change)
            return
    group = _same_project([subject, *(other for other in like if other.number not in memberships)])
    if is_pattern(group) and all(work.is_unchanged(trait) for trait in group):
        foreseen |= dict.fromkeys((trait.number for trait in group), _NEW)
        _make(work, group, change)


def _same_project(traits: Sequence[Trait]) -> list[Trait]:
    """The first note and those visible in its project, so that no project sees another's notes."""
    project = traits[0].project
    return [trait for trait in traits if trait.everywhere or trait.project == project]


def _accepts(work: Work, pattern: int, trait: Trait) -> Generator[None, None, bool]:
    """Whether the note fits the pattern, and is visible in the same projects as its notes."""
    with work.memory.store.database.read() as connection:
        query = select(PATTERN.c.signature).where(PATTERN.c.number == pattern)
        signature = connection.execute(query).scalar() or ()
        members = _members(connection, pattern)
    if not fits_signature(trait, signature):
        return False
    member_traits = yield from work.traits(members)
    return all(trait.project == other.project or other.everywhere for other in member_traits.values())


def _make(work: Work, group: Sequence[Trait], change: int) -> None:
    work.counts["patterns"] += 1
    if work.dry_run:
        return
    pattern = describe(group, _advice(work, group), len(group))
    with work.memory.store.database.write() as connection:
        row = _columns(pattern) | {"created_at": work.now}
        number = connection.execute(insert(PATTERN).values(row)).inserted_primary_key
        rows = [{"pattern": number[0] if number else 0, "note": trait.number} for trait in group]
        connection.execute(insert(PATTERN_NOTE), rows)
        write_mark(connection, PATTERNS, cursor=change)


def _refresh(work: Work, pattern: int, new: Sequence[int], change: int) -> Steps:
    """Add notes to the pattern, and describe it again by its active notes."""
    if work.dry_run or pattern == _NEW:
        return
    with work.memory.store.database.read() as connection:
        members = [*new, *_members(connection, pattern)]
    traits = list((yield from work.traits(members)).values())
    advice = _advice(work, traits)
    with work.memory.store.database.write() as connection:
        if new:
            rows = [{"pattern": pattern, "note": number} for number in new]
            connection.execute(insert(PATTERN_NOTE), rows)
        before = connection.execute(select(PATTERN).where(PATTERN.c.number == pattern)).one()
        values = {"status": "deprecated"}
        if is_pattern(traits):
            values = _columns(describe(traits, advice, _count(connection, pattern)))
        if any(getattr(before, name) != value for name, value in values.items()):
            work.counts["changed"] += 1
            connection.execute(update(PATTERN).where(PATTERN.c.number == pattern).values(**values))
        write_mark(connection, PATTERNS, cursor=change)


def _merge(work: Work, pattern: int) -> Steps:
    """Merge `pattern` with the first active pattern of the same meaning. The one with more notes
    gets the notes of the other. The other keeps them as well, so that erasing a note of both
    removes it too.
    """
    with work.memory.store.database.read() as connection:
        active = select(PATTERN.c.number, PATTERN.c.signature).where(PATTERN.c.status == "active")
        signatures = {row.number: set(row.signature) for row in connection.execute(active)}
        words = signatures.pop(pattern, set[str]())
        alike = [other for other in signatures if jaccard(words, signatures[other]) >= MERGES]
        notes = {candidate: _active_notes(connection, candidate) for candidate in (pattern, *alike)}
    yield
    for other in alike:
        if _mean_the_same(work, notes[pattern], notes[other]):
            stays, goes = sorted((pattern, other), key=lambda candidate: (-len(notes[candidate]), candidate))
            work.counts["merged"] += 1
            if not work.dry_run:
                with work.memory.store.database.write() as connection:
                    new = {note.number for note in notes[goes]}.difference(n.number for n in notes[stays])
                    if rows := [{"pattern": stays, "note": number} for number in sorted(new)]:
                        connection.execute(insert(PATTERN_NOTE), rows)
                    connection.execute(update(PATTERN).where(PATTERN.c.number == goes).values(status=MERGED))
                yield from _refresh(work, stays, (), work.mark(PATTERNS).cursor)
            return


def _mean_the_same(work: Work, notes: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two patterns mean the same and are visible in the same projects."""
    audiences = [{note.project for note in group if note.scope != "global"} for group in (notes, others)]
    numbers = [[note.number for note in group[-DESCRIBING:]] for group in (notes, others)]
    cosines = work.memory.vectors.against(*numbers)
    return audiences[0] == audiences[1] and bool(cosines.size) and float(cosines.mean()) >= MERGES_COSINE


def _columns(pattern: Pattern) -> dict[str, Any]:
    return {
        "name": pattern.name,
        "kind": pattern.type,
        "description": pattern.description,
        "recommendation": pattern.recommendation,
        "signature": list(pattern.signature),
        "status": "active" if pattern.active else "deprecated",
        "confidence": pattern.confidence,
        "projects": list(pattern.projects),
        "last_seen": pattern.last_seen,
    }


def _advice(work: Work, traits: Sequence[Trait]) -> str:
    best = adviser(traits)
    notes = work.memory.store.notes_by_number([best.number] if best else [])
    return notes[0].body or notes[0].title if notes else ""


def _pattern_of(work: Work, notes: Sequence[int]) -> Members:
    if not notes:
        return {}
    joined = PATTERN_NOTE.join(PATTERN, PATTERN.c.number == PATTERN_NOTE.c.pattern)
    query = select(PATTERN_NOTE.c.note, PATTERN_NOTE.c.pattern).select_from(joined)
    query = query.where(PATTERN_NOTE.c.note.in_(notes), PATTERN.c.status != MERGED)
    with work.memory.store.database.read() as connection:
        return {row.note: row.pattern for row in connection.execute(query)}


def _member_query(pattern: int) -> Any:
    joined = PATTERN_NOTE.join(NOTE, PATTERN_NOTE.c.note == NOTE.c.number)
    is_member = (PATTERN_NOTE.c.pattern == pattern) & (NOTE.c.state == "active")
    return select(NOTE.c.number).select_from(joined).where(is_member)


def _members(connection: Connection, pattern: int) -> list[int]:
    query = _member_query(pattern).order_by(NOTE.c.number.desc()).limit(DESCRIBING)
    return list(connection.execute(query).scalars())


def _count(connection: Connection, pattern: int) -> int:
    return int(
        connection.execute(select(func.count()).select_from(_member_query(pattern).subquery())).scalar() or 0
    )


def pattern_rows(
    connection: Connection, *, project: str, kind: str, query: str, status: str
) -> list[dict[str, Any]]:
    """The patterns of which the project ("" for all) sees every note, the surest first; with a
    query those with most of its words first, and none without any.
    """
    matches = []
    query_words = stems(query)
    for row in connection.execute(select(PATTERN).order_by(PATTERN.c.number)):
        notes = _active_notes(connection, row.number)
        hidden = project and any(note.scope != "global" and note.project != project for note in notes)
        words = len(query_words & stems(f"{row.name} {row.description} {' '.join(row.signature)}"))
        if (
            hidden
            or (kind and row.kind != read_type(kind))
            or (status and row.status != status)
            or words < bool(query_words)
        ):
            continue
        matches.append((-words, -row.confidence, -row.last_seen, row.number, _row(row, notes)))
    return [entry[-1] for entry in sorted(matches, key=lambda entry: entry[:4])]


def _active_notes(connection: Connection, pattern: int) -> list[Any]:
    joined = PATTERN_NOTE.join(NOTE, PATTERN_NOTE.c.note == NOTE.c.number)
    columns = (NOTE.c.number, NOTE.c.project, NOTE.c.scope)
    query = select(*columns).select_from(joined).where(PATTERN_NOTE.c.pattern == pattern)
    return list(connection.execute(query.where(NOTE.c.state == "active").order_by(NOTE.c.number)))


def _row(row: Any, notes: Sequence[Any]) -> dict[str, Any]:
    return {
        "id": row.number,
        "name": visible_text(row.name),
        "type": row.kind,
        "description": visible_text(row.description),
        "recommendation": visible_text(row.recommendation),
        "signature": list(row.signature),
        "frequency": len(notes),
        "projects": list(row.projects),
        "observation_ids": [note.number for note in notes],
        "status": row.status,
        "confidence": row.confidence,
        "last_seen": format_moment(row.last_seen),
        "created": format_moment(row.created_at),
    }
