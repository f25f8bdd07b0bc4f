"""The steps that connect notes: relations and conflicts of what changed, and associations among the
newest.
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
from cortex.memory.upkeep.work import EDGES_MAX, Steps, Work, changed

#: neighbours by meaning that a note is compared with; one with more similar ones than GENERIC is
#: too generic to be similar to any, as is a file that so many notes name
NEIGHBOURS, GENERIC = 20, 30
#: notes that one is compared with at most
CANDIDATES = 100
#: edges that one note has at most from here
EDGES_EACH = 50
#: files of a note by which others are looked for
FILES = 20
#: the newest notes that are associated with each other, how many of them in one slice (2 ms), and
#: edges that are written at once (2 ms)
RECENT, AT_ONCE, WRITTEN = 100, 20, 5


@dataclass(frozen=True, slots=True)
class _Pair:
    newer: Trait
    older: Trait
    cosine: float


@dataclass(frozen=True, slots=True)
class _Found:
    """What is to be written for one note: edges to remove, new ones, and the notes that another one
    ends, with what says so.
    """

    parted: tuple[Edge, ...]
    links: tuple[Link, ...]
    conflicts: tuple[tuple[_Pair, Conflict], ...]


def link(work: Work) -> Steps:
    """Relations and conflicts between each note that changed and those that it may concern."""
    for number, change in changed(work, RELATIONS, lambda: work.counts["edges"] >= EDGES_MAX):
        if not work.holds(number):
            continue
        work.counts["notes"] += 1
        found = yield from _look(work, number)
        if found.parted or found.links or found.conflicts:
            yield from _write(work, number, found, change)
            yield


def associate_newest(work: Work) -> Steps:
    """Associations among the newest notes: each with the few nearest of them. Two that read as they
    did when this was there last are left as they are: what faded between them does not come back.
    """
    since = work.mark(ASSOCIATIONS).last_run
    with work.memory.store.database.read() as connection:
        query = select(NOTE.c.number).where(NOTE.c.state == "active").order_by(NOTE.c.number.desc())
        numbers = list(connection.execute(query.limit(RECENT)).scalars())
    traits = list((yield from work.traits(numbers)).values())
    told = [trait.number for trait in traits]
    cosines = work.memory.vectors.against(told, told)
    yield
    by_number = {trait.number: trait for trait in traits}
    work.counts["compared"] = len(traits)
    altered = {trait.number for trait in traits if trait.stamp >= since}
    found: dict[tuple[int, int], Link] = {}
    for at in range(0, len(traits), AT_ONCE):
        near = associate(traits, cosines, range(at, min(at + AT_ONCE, len(traits))))
        found |= {each.pair: each for each in near if not altered.isdisjoint(each.pair)}
        yield
    links = _with_room(work, [found[pair] for pair in sorted(found) if _is_new(work, found[pair])])
    for at in range(0, len(links), WRITTEN):
        yield
        some = [each for each in links[at : at + WRITTEN] if _stand(work, each, by_number)]
        for each in some:
            _count(work, each)
        if some:
            work.write(ASSOCIATIONS, lambda records, some=some: _join(records, some))  # type: ignore[misc]
    work.keep(ASSOCIATIONS, last_run=work.now)


def _is_new(work: Work, one: Link) -> bool:
    if one.pair in work.made:
        return False
    first, second = one.pair
    return not any(second in (edge.source, edge.target) for edge in work.memory.links.of(first))


def _with_room(work: Work, links: Sequence[Link]) -> list[Link]:
    """Those of them, in their order, with which no note has more edges than it may."""
    held: dict[int, int] = {}
    kept = []
    for one in links:
        counts = {end: held[end] if end in held else _held(work, end) for end in one.pair}
        if max(counts.values()) < EDGES_EACH:
            held |= {end: count + 1 for end, count in counts.items()}
            kept.append(one)
    return kept


def _stand(work: Work, one: Link, traits: dict[int, Trait]) -> bool:
    return all(work.stands(traits[end]) for end in one.pair)


def _look(work: Work, number: int) -> Generator[None, None, _Found]:
    """What there is to say about one note; nothing is written."""
    there = (yield from work.traits([number])).get(number)
    if there is None:
        return _Found((), (), ())
    near = work.memory.vectors.near(number, work.mask(there), GENERIC + 1)
    generic = sum(value >= SIMILAR for _, value in near) > GENERIC
    numbers = _candidates(work, there, [other for other, _ in near[:NEIGHBOURS]])
    yield
    others = yield from work.traits([other for other in numbers if work.holds(other)])
    cosines = work.memory.vectors.against([number], list(others))[0]
    pairs = []
    for other, cosine in zip(others.values(), cosines.tolist(), strict=True):
        if there.meets(other):
            newer, older = sorted((there, other), key=lambda trait: trait.order, reverse=True)
            pairs.append(_Pair(newer, older, cosine))
    yield
    following = yield from _following(work, number, pairs, near)
    return _decide(work, there, pairs, following, generic=generic)


def _following(
    work: Work, number: int, pairs: Sequence[_Pair], near: Sequence[tuple[int, float]]
) -> Generator[None, None, set[int]]:
    """The notes right before and after this one in its session, where the older is among those that
    are nearest in meaning to the newer: of some thousand notes any two are somewhat alike.
    """
    found = set[int]()
    for pair in pairs:
        newer, older = pair.newer, pair.older
        one = relate(newer, older, pair.cosine, follows=True)
        follows = int(work.memory.catalog["before"][newer.number]) == older.number
        if not follows or one is None or one.detection != "temporal_proximity":
            continue
        nearest = near
        if newer.number != number:
            nearest = work.memory.vectors.near(newer.number, work.mask(newer), NEIGHBOURS)
            yield
        if older.number in {other for other, _ in nearest[:NEIGHBOURS]}:
            found.add(_other_of(pair, number))
    return found


def _candidates(work: Work, trait: Trait, near: Sequence[int]) -> list[int]:
    """Notes that are near in meaning, name a file of it, stand beside it in its session, or were
    connected with it before.
    """
    catalog, number = work.memory.catalog, trait.number
    beside = (int(catalog["before"][number]), int(catalog["after"][number]))
    linked = (end for edge in work.memory.links.of(number) for end in (edge.source, edge.target))
    found = dict.fromkeys((*near, *beside, *linked, *_by_files(work, trait)))
    return [other for other in found if other and other != number][:CANDIDATES]


def _by_files(work: Work, trait: Trait) -> list[int]:
    found: list[int] = []
    with work.memory.store.database.read() as connection:
        for path in sorted(trait.files)[:FILES]:
            query = select(NOTE_FILE.c.note).where(NOTE_FILE.c.path == path).limit(GENERIC + 2)
            notes = list(connection.execute(query).scalars())
            found += notes if len(notes) <= GENERIC + 1 else ()
    return found


def _decide(
    work: Work, trait: Trait, pairs: Sequence[_Pair], following: Collection[int], *, generic: bool
) -> _Found:
    number = trait.number
    edges = work.memory.links.of(number)
    said = {_other(edge, number) for edge in edges if edge.detection not in AUTOMATIC}
    conflicts, left = _conflicts([pair for pair in pairs if _other_of(pair, number) not in said], number)
    wanted: dict[int, Link | None] = {}
    for pair in pairs:
        other = _other_of(pair, number)
        if other in said or other in left:
            continue
        if other in conflicts:
            wanted[other] = _flag(pair, conflicts[other])
            continue
        one = relate(pair.newer, pair.older, pair.cosine, follows=other in following)
        wanted[other] = None if generic and one and one.detection == "embedding_similarity" else one
    parted = tuple(edge for edge in edges if edge.number not in work.gone and _is_gone(edge, wanted, number))
    known = {_other(edge, number) for edge in edges if edge not in parted}
    work.made -= {
        (min(number, other), max(number, other)) for other in {_other(edge, number) for edge in parted}
    }
    links = sorted(
        (one for other, one in wanted.items() if one and other not in known and one.pair not in work.made),
        key=lambda one: (-one.confidence, one.pair),
    )
    ends = tuple(
        (pair, conflicts[other])
        for pair in pairs
        if (other := _other_of(pair, number)) in conflicts and conflicts[other].closes and other not in known
    )
    return _Found(parted, tuple(links), ends)


def _conflicts(pairs: Sequence[_Pair], number: int) -> tuple[dict[int, Conflict], set[int]]:
    """Other → conflict; and the others that are left to what they say about this note when they are
    looked at themselves. A correction is about one note: the nearest of the older ones.
    """
    kept, left, corrected = dict[int, Conflict](), set[int](), list[tuple[_Pair, Conflict]]()
    for pair in pairs:
        told = judge(pair.newer, pair.older, pair.cosine)
        if told is None:
            continue
        if told.detection != "negation" and pair.newer.number != number:
            left.add(pair.newer.number)
        elif told.detection == "correction":
            corrected.append((pair, told))
        else:
            kept[_other_of(pair, number)] = told
    if corrected:
        nearest, told = max(corrected, key=lambda each: (each[0].cosine, each[0].older.order))
        kept[nearest.older.number] = told
    return kept, left


def _flag(pair: _Pair, told: Conflict) -> Link:
    ends = pair.newer.number, pair.older.number
    return Link(*ends, told.relation, told.confidence, told.detection, told.reason)


def _is_gone(edge: Edge, wanted: dict[int, Link | None], number: int) -> bool:
    """Whether the detectors do not say any more what the edge does; an association gives way to
    whatever they say.
    """
    other = _other(edge, number)
    one = wanted.get(other)
    if edge.detection == ASSOCIATED:
        return one is not None
    if edge.detection not in PAIRWISE or other not in wanted:
        return False
    return one is None or (one.source, one.target, one.relation) != (edge.source, edge.target, edge.relation)


def _write(work: Work, number: int, found: _Found, change: int) -> Steps:
    """All about one note, the cursor with the last of it. What is not as it was when this was found
    is left out: it changed, so it is looked at again.
    """
    room = min(EDGES_MAX - work.counts["edges"], EDGES_EACH - _held(work, number) + len(found.parted))
    others = [one for one in found.links if not any(_full(work, end) for end in one.pair if end != number)]
    links = others[: max(0, room)]
    while len(links) > WRITTEN:
        some, links = _standing(work, links[:WRITTEN]), links[WRITTEN:]
        work.write(RELATIONS, lambda records, some=some: _join(records, some))  # type: ignore[misc]
        yield
    links = _standing(work, links)
    ends = [each for each in found.conflicts if work.stands(each[0].older) and work.stands(each[0].newer)]

    def carry_out(records: Records) -> None:
        for edge in found.parted:
            records.part(edge.number)
        _join(records, links)
        for pair, _ in ends:
            _end(records, pair)

    work.write(RELATIONS, carry_out, cursor=change)
    work.counts["removed"] += len(found.parted)
    work.gone |= {edge.number for edge in found.parted}
    for pair, told in ends:
        work.ended.add(pair.older.number)
        row = {"id": pair.older.id, "number": pair.older.number, "by": pair.newer.id, "why": told.reason}
        work.tell("superseded", row)


def _standing(work: Work, links: Sequence[Link]) -> list[Link]:
    """Those of them whose notes still hold, counted."""
    kept = [one for one in links if all(work.holds(end) for end in one.pair)]
    for one in kept:
        _count(work, one)
    return kept


def _end(records: Records, pair: _Pair) -> None:
    """The older note holds no more, and stays."""
    for old in records.get([pair.older.number]):
        by = pair.newer.number
        if old.state == "active":  # a colleague may have deleted it meanwhile
            records.change(old, replace(old, state="superseded", superseded_by=by, valid_until=records.now))


def _join(records: Records, links: Sequence[Link]) -> None:
    for one in links:
        edge = Edge(one.source, one.target, one.relation, one.confidence, one.detection, reason=one.reason)
        records.join(edge)


def _count(work: Work, one: Link) -> None:
    work.made.add(one.pair)
    work.counts["edges"] += 1
    work.counts[one.relation] += 1
    if one.relation == "contradicts":
        work.counts["contradictions"] += 1


def _full(work: Work, number: int) -> bool:
    """Whether a note has as many edges from here as it may."""
    return _held(work, number) >= EDGES_EACH


def _held(work: Work, number: int) -> int:
    return sum(edge.detection in AUTOMATIC for edge in work.memory.links.of(number))


def _other(edge: Edge, number: int) -> int:
    return edge.target if edge.source == number else edge.source


def _other_of(pair: _Pair, number: int) -> int:
    return pair.older.number if pair.newer.number == number else pair.newer.number
