"""The edges between notes, in RAM, and walks over them. Follows the changes of the store."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cortex.memory.note import Direction, Edge

#: notes that one walk visits
VISITED_MAX = 10_000
#: notes in one step of a walk
STEP_MAX = 1_000
#: strength below which a walk does not use an edge
STRENGTH_MIN = 0.1
#: detection of edges that only say that two notes follow each other in a session: ranking counts
#: the neighbours in a session already, and such edges would crowd out farther notes
_FOLLOWING = frozenset(("temporal_proximity",))


@dataclass(frozen=True, slots=True)
class Walk:
    """`depth`: {note: steps from the start}; `edges` among these notes; `truncated`: a limit ended
    the walk.
    """

    depth: dict[int, int]
    edges: tuple[Edge, ...]
    truncated: bool


class Links:
    def __init__(self) -> None:
        #: note → number of an edge → the edge
        self._edges: dict[int, dict[int, Edge]] = {}
        self._by_number: dict[int, Edge] = {}
        #: relation → numbers of its edges
        self._related: dict[str, set[int]] = {}

    def take(self, edges: Iterable[Edge], gone: Iterable[int] = ()) -> None:
        for number in gone:
            if edge := self._by_number.pop(number, None):
                self._related[edge.relation].discard(number)
                for end in (edge.source, edge.target):
                    self._edges[end].pop(number, None)
        for edge in edges:
            self._by_number[edge.number] = edge
            self._related.setdefault(edge.relation, set()).add(edge.number)
            for end in (edge.source, edge.target):
                self._edges.setdefault(end, {})[edge.number] = edge

    def __len__(self) -> int:
        return len(self._by_number)

    def numbers(self) -> set[int]:
        return set(self._by_number)

    def edges(self, numbers: Iterable[int]) -> list[Edge]:
        """The edges with these numbers, if they exist."""
        return [self._by_number[number] for number in numbers if number in self._by_number]

    def related_by(self, relation: str) -> list[Edge]:
        """All edges of a relation, the latest first."""
        return [self._by_number[number] for number in sorted(self._related.get(relation, ()), reverse=True)]

    def of(self, number: int, direction: Direction = "both") -> list[Edge]:
        """The edges of a note, the strongest first."""
        edges = self._edges.get(number, {}).values()
        if direction == "outgoing":
            matching = [edge for edge in edges if edge.source == number]
        elif direction == "incoming":
            matching = [edge for edge in edges if edge.target == number]
        else:
            matching = list(edges)
        return sorted(matching, key=lambda edge: (-edge.strength, edge.created_at, edge.id))

    def walk(self, start: int, depth: int, direction: Direction, sees: Callable[[int], bool]) -> Walk:
        """Walk from `start` in at most `depth` steps, over notes for which `sees` is true."""
        depths, step, truncated = {start: 0}, [start], False
        edges: dict[str, Edge] = {}
        for at in range(1, depth + 1):
            next_step: list[int] = []
            for number in step:
                for edge in self.of(number, direction):
                    other = edge.target if edge.source == number else edge.source
                    if edge.strength < STRENGTH_MIN or not sees(other):
                        continue
                    if other not in depths:
                        if len(depths) >= VISITED_MAX or len(next_step) >= STEP_MAX:
                            truncated = True
                            continue
                        depths[other] = at
                        next_step.append(other)
                    edges[edge.id] = edge
            step = next_step
        return Walk(depths, tuple(edges.values()), truncated)

    def near(
        self, anchors: Mapping[int, float], moment: int, sees: Callable[[int], bool], depth: int = 2
    ) -> dict[int, float]:
        """{note: nearness to the anchors}; `anchors`: {note: worth, at most 1}. Nearness is the
        maximum, over the paths, of the anchor's worth × the strengths of the edges ÷ (1 + steps).
        Paths use edges that are valid at `moment`, without mere order in a session, and notes for
        which `sees` is true.
        """
        near: dict[int, float] = {}
        for anchor, worth in anchors.items():
            reach, step = {anchor: worth}, [anchor]
            for at in range(1, depth + 1):
                next_step: list[int] = []
                for number in step:
                    for edge in self._valid_edges(number, moment)[:STEP_MAX]:
                        other = edge.target if edge.source == number else edge.source
                        left = edge.weight * edge.faded
                        strength = reach[number] * left if left >= STRENGTH_MIN else 0.0
                        if strength > reach.get(other, 0.0) and len(reach) < VISITED_MAX:
                            reach[other] = strength
                            if at < depth and sees(other):
                                next_step.append(other)
                            near[other] = max(near.get(other, 0.0), strength / (1 + at))
                step = next_step
        return near

    def _valid_edges(self, number: int, moment: int) -> list[Edge]:
        """The edges of a note that `near` follows, the strongest first."""
        return [
            edge
            for edge in self.of(number)
            if edge.detection not in _FOLLOWING
            and edge.created_at <= moment
            and not 0 < edge.valid_until <= moment
        ]
