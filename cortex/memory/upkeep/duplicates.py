"""Groups of notes with nearly the same text: suggested, never merged automatically. Pure."""

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
    """Group notes by `cosines` [n, n] from `least` on; each is in one group at most, and the most
    important, then the newest, are the primaries. The largest and closest groups come first.
    """
    order = sorted(range(len(traits)), key=lambda at: (-traits[at].importance, -traits[at].moment, at))
    taken: set[int] = set()
    clusters: list[Group] = []
    for at in order:
        if at in taken:
            continue
        others = [
            place
            for place in np.flatnonzero(cosines[at] >= least).tolist()
            if place != at and place not in taken and traits[at].meets(traits[place])
        ]
        if not others:
            continue
        taken |= {at, *others}
        others.sort(key=lambda place: (-float(cosines[at, place]), traits[place].number))
        similar = tuple((traits[place].number, min(1.0, float(cosines[at, place]))) for place in others)
        clusters.append(Group(traits[at].number, similar))
    return sorted(clusters, key=lambda group: (-len(group.similar), -group.mean, group.primary))
