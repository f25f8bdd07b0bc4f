"""Groups of notes that say the same: suggested, never merged automatically. Notes that differ in
their numbers, such as reports of each night, do not. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cortex.memory.upkeep.traits import Trait
from cortex.system.arrays import Array


@dataclass(frozen=True, slots=True)
class Group:
    """`primary`: the note to keep; the others by number, each with its cosine."""

    primary: int
    similar: tuple[tuple[int, float], ...]

    @property
    def mean(self) -> float:
        return sum(value for _, value in self.similar) / len(self.similar)


def groups(traits: Sequence[Trait], cosines: Array, least: float) -> list[Group]:
    """Group notes whose cosine in `cosines` [n, n] or share of common words is at least `least`;
    each is in one group at most, and the most important, then the newest, are the primaries. The
    largest and closest groups come first.
    """
    likeness = np.maximum(cosines, _shared_words(traits))
    numbers = [frozenset(word for word in trait.words if any(map(str.isdigit, word))) for trait in traits]
    order = sorted(range(len(traits)), key=lambda at: (-traits[at].importance, -traits[at].moment, at))
    taken: set[int] = set()
    clusters: list[Group] = []
    for at in order:
        if at in taken:
            continue
        others = [
            place
            for place in np.flatnonzero(likeness[at] >= least).tolist()
            if place != at
            and place not in taken
            and traits[at].meets(traits[place])
            and not (numbers[at] - numbers[place] and numbers[place] - numbers[at])
        ]
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
