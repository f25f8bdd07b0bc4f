"""The upkeep jobs that connect notes: relations and conflicts of changed notes, and associations
among the newest.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select

from cortex.memory.note import Edge
from cortex.memory.records import Records
from cortex.memory.tables import NOTE, NOTE_FILE
from cortex.memory.upkeep.conflicts import Conflict, judge
from cortex.memory.upkeep.relations import (
    ASSOCIATED,
    AUTOMATIC,
    PAIRWISE,
    SIMILAR,
    Link,
    associate,
    relate,
)
from cortex.memory.upkeep.state import ASSOCIATIONS, RELATIONS
from cortex.memory.upkeep.traits import Trait
from cortex.memory.upkeep.work import EDGES_MAX, Steps, Work, changed_notes

#: nearest notes that a note is compared with; a note with more than GENERIC similar ones is too
#: generic to be similar to any, as is a file named by more notes than that
NEIGHBOURS, GENERIC = 20, 30
#: most notes that a note is compared with
CANDIDATES = 100
#: most automatic edges of a note
EDGES_EACH = 50
#: files of a note by which related notes are searched
FILES = 20
#: newest notes that are associated with each other; how many of them in one slice (2 ms); edges in
#: one transaction (2 ms)
RECENT, AT_ONCE, WRITTEN = 100, 20, 5


@dataclass(frozen=True, slots=True)
class _Pair:
    newer: Trait
    older: Trait
    cosine: float


@dataclass(frozen=True, slots=True)
class _Decision:
    """The changes for one note: edges to remove, new ones, and the notes that another note ends,
    with the conflict.
    """

    parted: tuple[Edge, ...]
    links: tuple[Link, ...]
    conflicts: tuple[tuple[_Pair, Conflict], ...]


def relate_changed(work: Work) -> Steps:
    """Find relations and conflicts between each changed note and its candidates."""
    for number, change in changed_notes(work, RELATIONS, lambda: work.counts["edges"] >= EDGES_MAX):
        if not work.is_active(number):
            continue
        work.counts["notes"] += 1
        decision = yield from _inspect(work, number)
        if decision.parted or decision.links or decision.conflicts:
            yield from _write(work, number, decision, change)
            yield


def associate_newest(work: Work) -> Steps:
    """Associate each of the newest notes with the few nearest of them. Two notes unchanged since
    the last run are skipped, so an edge that faded between them does not come back.
    """
    since = work.mark(ASSOCIATIONS).last_run
    with work.memory.store.database.read() as connection:
        query = select(NOTE.c.number).where(NOTE.c.state == "active").order_by(NOTE.c.number.desc())
        numbers = list(connection.execute(query.limit(RECENT)).scalars())
    traits = list((yield from work.traits(numbers)).values())
    trait_numbers = [trait.number for trait in traits]
    cosines = work.memory.vectors.against(trait_numbers, trait_numbers)
    yield
    by_number = {trait.number: trait for trait in traits}
    work.counts["compared"] = len(traits)
    altered = {trait.number for trait in traits if trait.stamp >= since}
    by_pair: dict[tuple[int, int], Link] = {}
    for at in range(0, len(traits), AT_ONCE):
        near = associate(traits, cosines, range(at, min(at + AT_ONCE, len(traits))))
        by_pair |= {candidate.pair: candidate for candidate in near if not altered.isdisjoint(candidate.pair)}
        yield
    links = _with_room(work, [by_pair[pair] for pair in sorted(by_pair) if _is_new(work, by_pair[pair])])
    for at in range(0, len(links), WRITTEN):
        yield
        some = [
            candidate for candidate in links[at : at + WRITTEN] if _is_current(work, candidate, by_number)
        ]
        for candidate in some:
            _count(work, candidate)
        if some:
            work.write(ASSOCIATIONS, lambda records, some=some: _join(records, some))  # type: ignore[misc]
    work.keep(ASSOCIATIONS, last_run=work.now)


def _is_new(work: Work, candidate: Link) -> bool:
    if candidate.pair in work.related_pairs:
        return False
    first, second = candidate.pair
    return not any(second in (edge.source, edge.target) for edge in work.memory.links.of(first))


def _with_room(work: Work, links: Sequence[Link]) -> list[Link]:
    """The links, in their order, that give no note more than EDGES_EACH edges."""
    edge_counts: dict[int, int] = {}
    accepted = []
    for candidate in links:
        counts = {
            end: edge_counts[end] if end in edge_counts else _automatic_count(work, end)
            for end in candidate.pair
        }
        if max(counts.values()) < EDGES_EACH:
            edge_counts |= {end: count + 1 for end, count in counts.items()}
            accepted.append(candidate)
    return accepted


def _is_current(work: Work, candidate: Link, traits: dict[int, Trait]) -> bool:
    return all(work.is_unchanged(traits[end]) for end in candidate.pair)


def _inspect(work: Work, number: int) -> Generator[None, None, _Decision]:
    """The decision about one note; nothing is written."""
    subject = (yield from work.traits([number])).get(number)
    if subject is None:
        return _Decision((), (), ())
    near = work.memory.vectors.near(number, work.mask(subject), GENERIC + 1)
    generic = sum(value >= SIMILAR for _, value in near) > GENERIC
    numbers = _candidates(work, subject, [other for other, _ in near[:NEIGHBOURS]])
    yield
    others = yield from work.traits([other for other in numbers if work.is_active(other)])
    cosines = work.memory.vectors.against([number], list(others))[0]
    pairs = []
    for other, cosine in zip(others.values(), cosines.tolist(), strict=True):
        if subject.meets(other):
            newer, older = sorted((subject, other), key=lambda trait: trait.order, reverse=True)
            pairs.append(_Pair(newer, older, cosine))
    yield
    following = yield from _following(work, number, pairs, near)
    return _decide(work, subject, pairs, following, generic=generic)


def _following(
    work: Work, number: int, pairs: Sequence[_Pair], near: Sequence[tuple[int, float]]
) -> Generator[None, None, set[int]]:
    """The notes right before and after this one in its session, if the older of the two is among
    the nearest in meaning to the newer: among some thousand notes any two are a little similar.
    """
    followers = set[int]()
    for pair in pairs:
        newer, older = pair.newer, pair.older
        relation = relate(newer, older, pair.cosine, follows=True)
        follows = int(work.memory.catalog["before"][newer.number]) == older.number
        if not follows or relation is None or relation.detection != "temporal_proximity":
            continue
        nearest = near
        if newer.number != number:
            nearest = work.memory.vectors.near(newer.number, work.mask(newer), NEIGHBOURS)
            yield
        if older.number in {other for other, _ in nearest[:NEIGHBOURS]}:
            followers.add(_other_of(pair, number))
    return followers


def _candidates(work: Work, trait: Trait, near: Sequence[int]) -> list[int]:
    """Numbers of notes that are near in meaning, name one of its files, are its neighbours in the
    session, or were connected with it before.
    """
    catalog, number = work.memory.catalog, trait.number
    adjacent = (int(catalog["before"][number]), int(catalog["after"][number]))
    linked = (end for edge in work.memory.links.of(number) for end in (edge.source, edge.target))
    numbers = dict.fromkeys((*near, *adjacent, *linked, *_by_files(work, trait)))
    return [other for other in numbers if other and other != number][:CANDIDATES]


def _by_files(work: Work, trait: Trait) -> list[int]:
    numbers: list[int] = []
    with work.memory.store.database.read() as connection:
        for path in sorted(trait.files)[:FILES]:
            query = select(NOTE_FILE.c.note).where(NOTE_FILE.c.path == path).limit(GENERIC + 2)
            notes = list(connection.execute(query).scalars())
            numbers += notes if len(notes) <= GENERIC + 1 else ()
    return numbers


def _decide(
    work: Work, trait: Trait, pairs: Sequence[_Pair], following: Collection[int], *, generic: bool
) -> _Decision:
    number = trait.number
    edges = work.memory.links.of(number)
    manual = {_other(edge, number) for edge in edges if edge.detection not in AUTOMATIC}
    conflicts, left = _conflicts([pair for pair in pairs if _other_of(pair, number) not in manual], number)
    wanted: dict[int, Link | None] = {}
    for pair in pairs:
        other = _other_of(pair, number)
        if other in manual or other in left:
            continue
        if other in conflicts:
            wanted[other] = _flag(pair, conflicts[other])
            continue
        proposal = relate(pair.newer, pair.older, pair.cosine, follows=other in following)
        wanted[other] = (
            None if generic and proposal and proposal.detection == "embedding_similarity" else proposal
        )
    parted = tuple(edge for edge in edges if edge.number not in work.gone and _is_gone(edge, wanted, number))
    connected = {_other(edge, number) for edge in edges if edge not in parted}
    work.related_pairs -= {
        (min(number, other), max(number, other)) for other in {_other(edge, number) for edge in parted}
    }
    links = sorted(
        (
            proposal
            for other, proposal in wanted.items()
            if proposal and other not in connected and proposal.pair not in work.related_pairs
        ),
        key=lambda proposal: (-proposal.confidence, proposal.pair),
    )
    ends = tuple(
        (pair, conflicts[other])
        for pair in pairs
        if (other := _other_of(pair, number)) in conflicts
        and conflicts[other].closes
        and other not in connected
    )
    return _Decision(parted, tuple(links), ends)


def _conflicts(pairs: Sequence[_Pair], number: int) -> tuple[dict[int, Conflict], set[int]]:
    """{other note: conflict}, and the other notes that are left until they are inspected
    themselves. A correction is about one note: the nearest of the older ones.
    """
    conflicts, left, corrected = dict[int, Conflict](), set[int](), list[tuple[_Pair, Conflict]]()
    for pair in pairs:
        conflict = judge(pair.newer, pair.older, pair.cosine)
        if conflict is None:
            continue
        if conflict.detection != "negation" and pair.newer.number != number:
            left.add(pair.newer.number)
        elif conflict.detection == "correction":
            corrected.append((pair, conflict))
        else:
            conflicts[_other_of(pair, number)] = conflict
    if corrected:
        nearest, conflict = max(corrected, key=lambda entry: (entry[0].cosine, entry[0].older.order))
        conflicts[nearest.older.number] = conflict
    return conflicts, left


def _flag(pair: _Pair, conflict: Conflict) -> Link:
    ends = pair.newer.number, pair.older.number
    return Link(*ends, conflict.relation, conflict.confidence, conflict.detection, conflict.reason)


def _is_gone(edge: Edge, wanted: dict[int, Link | None], number: int) -> bool:
    """Whether the detectors no longer find the edge's relation; an association is replaced by any
    relation that they find.
    """
    other = _other(edge, number)
    proposal = wanted.get(other)
    if edge.detection == ASSOCIATED:
        return proposal is not None
    if edge.detection not in PAIRWISE or other not in wanted:
        return False
    return proposal is None or (proposal.source, proposal.target, proposal.relation) != (
        edge.source,
        edge.target,
        edge.relation,
    )


def _write(work: Work, number: int, decision: _Decision, change: int) -> Steps:
    """Write the decision about one note, the cursor with the last of it. Notes that changed
    meanwhile are skipped: they are inspected again.
    """
    room = min(
        EDGES_MAX - work.counts["edges"], EDGES_EACH - _automatic_count(work, number) + len(decision.parted)
    )
    others = [
        candidate
        for candidate in decision.links
        if not any(_is_full(work, end) for end in candidate.pair if end != number)
    ]
    links = others[: max(0, room)]
    while len(links) > WRITTEN:
        some, links = _current_links(work, links[:WRITTEN]), links[WRITTEN:]
        work.write(RELATIONS, lambda records, some=some: _join(records, some))  # type: ignore[misc]
        yield
    links = _current_links(work, links)
    ends = [
        entry
        for entry in decision.conflicts
        if work.is_unchanged(entry[0].older) and work.is_unchanged(entry[0].newer)
    ]

    def carry_out(records: Records) -> None:
        for edge in decision.parted:
            records.disconnect(edge.number)
        _join(records, links)
        for pair, _ in ends:
            _end(records, pair)

    work.write(RELATIONS, carry_out, cursor=change)
    work.counts["removed"] += len(decision.parted)
    work.gone |= {edge.number for edge in decision.parted}
    for pair, conflict in ends:
        work.ended.add(pair.older.number)
        row = {"id": pair.older.id, "number": pair.older.number, "by": pair.newer.id, "why": conflict.reason}
        work.record_detail("superseded", row)


def _current_links(work: Work, links: Sequence[Link]) -> list[Link]:
    """The links between notes that are still active, counted."""
    current = [candidate for candidate in links if all(work.is_active(end) for end in candidate.pair)]
    for candidate in current:
        _count(work, candidate)
    return current


def _end(records: Records, pair: _Pair) -> None:
    """Mark the older note as superseded."""
    for old in records.get([pair.older.number]):
        by = pair.newer.number
        if old.state == "active":  # a colleague may have deleted it meanwhile
            records.change(old, replace(old, state="superseded", superseded_by=by, valid_until=records.now))


def _join(records: Records, links: Sequence[Link]) -> None:
    for candidate in links:
        edge = Edge(
            candidate.source,
            candidate.target,
            candidate.relation,
            candidate.confidence,
            candidate.detection,
            reason=candidate.reason,
        )
        records.connect(edge)


def _count(work: Work, candidate: Link) -> None:
    work.related_pairs.add(candidate.pair)
    work.counts["edges"] += 1
    work.counts[candidate.relation] += 1
    if candidate.relation == "contradicts":
        work.counts["contradictions"] += 1


def _is_full(work: Work, number: int) -> bool:
    """Whether a note has as many automatic edges as it may."""
    return _automatic_count(work, number) >= EDGES_EACH


def _automatic_count(work: Work, number: int) -> int:
    return sum(edge.detection in AUTOMATIC for edge in work.memory.links.of(number))


def _other(edge: Edge, number: int) -> int:
    return edge.target if edge.source == number else edge.source


def _other_of(pair: _Pair, number: int) -> int:
    return pair.older.number if pair.newer.number == number else pair.newer.number
