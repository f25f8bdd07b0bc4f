"""Results of walks over the graph, their limits and the files that they may enter."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.steps import DIRECT
from cortex.system.arrays import Array


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """Bounds of a walk: `offset` results are skipped, and `max_results` shown. With several levels
    each contributes at most `max_per_level`. `recursive`: the walk may come back to its start.
    `tests_last`: in an impact, examples and tests come behind shipped code.
    """

    depth: int = 1
    max_results: int = 100
    max_per_level: int = 50
    offset: int = 0
    recursive: bool = False
    tests_last: bool = False

    @property
    def last(self) -> int:
        """Results up to the end of the page."""
        return self.offset + self.max_results

    @property
    def most(self) -> int:
        """Results to collect: one after the page proves that another page exists."""
        return self.last + 1

    @property
    def level(self) -> int:
        """Results of one level; the bound per level applies only to several levels."""
        return self.most if self.depth == 1 else self.max_per_level


@dataclass(frozen=True, slots=True)
class Step:
    """One result: the node `number`, `depth` levels away, reached by the edge in row `edge` (-1 at
    the beginning of a path). `kind`: of the step (steps.py); `before`: the definition that it leads
    to, one level nearer, -1 for unknown. `further`: rows of the edges at the other places of a
    caller; `dispatched`: of those by dispatch, if the row itself is none.
    """

    number: int
    depth: int
    edge: int
    impact_type: str = ""
    severity: str = ""
    kind: int = DIRECT
    before: int = -1
    further: tuple[int, ...] = ()
    dispatched: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """The results of a walk from the first on; `page` selects some. `total` includes results beyond
    the limits, independent of the page. `dispatched`: methods by which direct callers call the
    target, one for each. `summary`: of an impact, over all results; `ended`: it left out some.
    """

    steps: tuple[Step, ...] = ()
    total: int = 0
    truncated: bool = False
    dispatched: tuple[int, ...] = ()
    summary: dict[str, Any] = field(default_factory=dict)
    ended: bool = False

    def page(self, limits: WalkLimits) -> tuple[Step, ...]:
        return self.steps[limits.offset : limits.last]

    def following(self, limits: WalkLimits) -> int:
        """The offset of the next page; 0 without one."""
        return limits.last if len(self.steps) > limits.last else 0


@dataclass(frozen=True, slots=True)
class WalkScope:
    """The files that a walk shows and enters: it passes through files that are not in `inside`
    (None: all are) without showing them, and does not enter files in `outside`.
    """

    inside: AbstractSet[str] | None = None
    outside: AbstractSet[str] = frozenset()

    @property
    def is_limited(self) -> bool:
        return self.inside is not None or bool(self.outside)

    def of(self, graph: Graph, numbers: Array) -> tuple[Array, Array]:
        """(shown, entered), bool [n] each, for the nodes `numbers`."""
        if not self.is_limited:
            every = np.ones(len(numbers), dtype=bool)
            return every, every
        rows = graph.node_of[numbers]
        files = np.where(rows >= 0, graph.nodes[rows, 2], -1) if len(graph.nodes) else np.full(len(rows), -1)
        files, at = np.unique(files, return_inverse=True)
        paths = (graph.names[file] if file >= 0 else "" for file in files.tolist())
        flags = np.array([self._file_flags(path) for path in paths], dtype=bool).reshape(-1, 2)[at.ravel()]
        return flags[:, 0], flags[:, 1]

    def shows(self, graph: Graph, number: int) -> bool:
        return bool(self.of(graph, np.array([number]))[0][0])

    def _file_flags(self, path: str) -> tuple[bool, bool]:
        entered = path not in self.outside
        return entered and (self.inside is None or path in self.inside), entered
