"""The upkeep job that connects notes: relations and conflicts of changed notes. It closes none."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from cortex.memory.note import Edge
from cortex.memory.store.records import Records
from cortex.memory.store.tables import NOTE_FILE
from cortex.memory.upkeep.relations import AUTOMATIC, PAIRWISE, SIMILAR, Conflict, Link, judge, relate
from cortex.memory.upkeep.state import RELATIONS
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
#: edges in one transaction (2 ms)
WRITTEN = 5


@dataclass(frozen=True, slots=True)
class _Pair:
    newer: Trait
    older: Trait
    cosine: float


@dataclass(frozen=True, slots=True)
class _Decision:
    """The changes for one note: edges to remove, new ones, and the pairs in conflict."""

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
    return _decide(work, subject, pairs, generic=generic)


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


def _decide(work: Work, trait: Trait, pairs: Sequence[_Pair], *, generic: bool) -> _Decision:
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
        proposal = relate(pair.newer, pair.older, pair.cosine)
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
    disputes = tuple(
        (pair, conflicts[other])
        for pair in pairs
        if (other := _other_of(pair, number)) in conflicts and other not in connected
    )
    return _Decision(parted, tuple(links), disputes)


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
    return Link(*ends, "contradicts", conflict.confidence, conflict.detection, conflict.reason)


def _is_gone(edge: Edge, wanted: dict[int, Link | None], number: int) -> bool:
    """Whether the detectors no longer find the edge's relation."""
    other = _other(edge, number)
    proposal = wanted.get(other)
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
        if not any(_automatic_count(work, end) >= EDGES_EACH for end in candidate.pair if end != number)
    ]
    links = others[: max(0, room)]
    while len(links) > WRITTEN:
        some, links = _current_links(work, links[:WRITTEN]), links[WRITTEN:]
        work.write(RELATIONS, lambda records, some=some: _join(records, some))  # type: ignore[misc]
        yield
    links = _current_links(work, links)

    def carry_out(records: Records) -> None:
        for edge in decision.parted:
            records.disconnect(edge.number)
        _join(records, links)

    work.write(RELATIONS, carry_out, cursor=change)
    work.counts["removed"] += len(decision.parted)
    work.gone |= {edge.number for edge in decision.parted}
    for pair, conflict in decision.conflicts:
        _propose(work, pair, conflict)


def _current_links(work: Work, links: Sequence[Link]) -> list[Link]:
    """The links between notes that are still active, counted."""
    current = [candidate for candidate in links if all(work.is_active(end) for end in candidate.pair)]
    for candidate in current:
        _count(work, candidate)
    return current


def _propose(work: Work, pair: _Pair, conflict: Conflict) -> None:
    """List the pair with the call that would close the older note."""
    older, newer = pair.older, pair.newer
    row = {"id": older.id, "number": older.number, "by": newer.id, "why": conflict.reason}
    suggestion = f"supersedes: [{older.number}] in an edit of note {newer.number}, if it is no longer true"
    work.record_detail("disputed", row | {"suggest": suggestion})


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


def _automatic_count(work: Work, number: int) -> int:
    return sum(edge.detection in AUTOMATIC for edge in work.memory.links.of(number))


def _other(edge: Edge, number: int) -> int:
    return edge.target if edge.source == number else edge.source


def _other_of(pair: _Pair, number: int) -> int:
    return pair.older.number if pair.newer.number == number else pair.newer.number
