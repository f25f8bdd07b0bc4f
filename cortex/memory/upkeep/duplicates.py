"""Groups of notes that say the same: suggested, never merged automatically. Notes that differ in
their numbers, such as reports of each night, do not. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cortex.memory.find.newer.successors import reading_of
from cortex.memory.upkeep.traits import Trait
from cortex.system.arrays import Array

#: deviations of a sentence model's cosine from which on a model reads two notes, at most so many
#: pairs, and characters of a note: it reads no more
NEAR, READ_MAX, READ_CHARS = 5.0, 200, 300
#: likelihood of a repetition below which the model says no. With it, .8 of `least` finds 37 of 125
#: paraphrases of the lives of scripts/bench, and no other pair that they tell apart (words and the
#: built-in model: 8, and 13 others)
DENIED = 0.1


@dataclass(frozen=True, slots=True)
class Group:
    """`primary`: the note to keep; the others by number, each with its cosine."""

    primary: int
    similar: tuple[tuple[int, float], ...]

    @property
    def mean(self) -> float:
        return sum(value for _, value in self.similar) / len(self.similar)


def likenesses(traits: Sequence[Trait], cosines: Array) -> Array:
    """float32 [n, n]: the cosine or share of common words of each two notes, whichever is greater;
    0 for a note itself, and where no project sees both or their numbers differ.
    """
    likeness: Array = np.maximum(cosines, _shared_words(traits))
    return np.where(_may_be_one(traits), likeness, 0.0)


def _may_be_one(traits: Sequence[Trait]) -> Array:
    """Bool [n, n]: see `likenesses`."""
    numbers = [reading_of(trait.text).numbers for trait in traits]
    places = {number: at for at, number in enumerate(sorted(frozenset().union(*numbers)))}
    has = np.zeros((len(traits), len(places)), np.float32)
    for at, contained in enumerate(numbers):
        has[at, [places[number] for number in contained]] = 1.0
    lacks = has @ (1 - has).T > 0  # a number of the first note
    projects = np.array([trait.project for trait in traits])
    everywhere = np.array([trait.everywhere for trait in traits], bool)
    meet = (projects[:, None] == projects) | everywhere[:, None] | everywhere
    allowed: Array = meet & ~(lacks & lacks.T) & ~np.eye(len(traits), dtype=bool)
    return allowed


def to_read(traits: Sequence[Trait], likeness: Array, near: Array, least: float) -> list[tuple[int, int]]:
    """Pairs of indices, the older note first, that a model should read: those that count as equal,
    then the nearest in meaning. `near` [n, n]: deviations of a sentence model's cosines above the
    mean of unrelated notes.
    """
    is_short = np.array([len(trait.text) <= READ_CHARS for trait in traits], bool)
    pairs = is_short[:, None] & is_short & _may_be_one(traits) & ((near >= NEAR) | (likeness >= least))
    first, second = np.nonzero(np.triu(pairs))
    order = np.lexsort((-near[first, second], likeness[first, second] < least))[:READ_MAX]
    ordered = zip(first[order].tolist(), second[order].tolist(), strict=True)
    return [(old, new) if traits[old].order < traits[new].order else (new, old) for old, new in ordered]


def judge(likeness: float, least: float, forth: float, back: float) -> float:
    """The likeness of two notes after a model read them: how likely the newer one repeats the older
    (`forth`), unless the other direction says no (`back`); those that counted as equal stay, unless
    it says no.
    """
    if likeness >= least:
        return likeness if forth >= DENIED else 0.0
    return forth if back >= DENIED else 0.0


def groups(traits: Sequence[Trait], likeness: Array, least: float) -> list[Group]:
    """Group notes whose `likeness` [n, n] is at least `least`; each is in one group at most, and
    the most important, then the newest, are the primaries. The largest and closest groups come
    first.
    """
    order = sorted(range(len(traits)), key=lambda at: (-traits[at].importance, -traits[at].moment, at))
    taken: set[int] = set()
    clusters: list[Group] = []
    for at in order:
        if at in taken:
            continue
        alike = np.flatnonzero(likeness[at] >= least).tolist()
        others = [place for place in alike if place != at and place not in taken]
        if not others:
            continue
        taken |= {at, *others}
        others.sort(key=lambda place: (-float(likeness[at, place]), traits[place].number))
        similar = tuple((traits[place].number, min(1.0, float(likeness[at, place]))) for place in others)
        clusters.append(Group(traits[at].number, similar))
    return sorted(clusters, key=lambda group: (-len(group.similar), -group.mean, group.primary))


def _shared_words(traits: Sequence[Trait]) -> Array:
    """Float32 [n, n]: the share of common words of each two notes."""
    places = {word: at for at, word in enumerate({word for trait in traits for word in trait.words})}
    contained = np.zeros((len(traits), len(places)), np.float32)
    for at, trait in enumerate(traits):
        contained[at, [places[word] for word in trait.words]] = 1.0
    common, lengths = contained @ contained.T, contained.sum(axis=1)
    shares: Array = common / np.maximum(1.0, lengths[:, None] + lengths[None] - common)
    return shares
