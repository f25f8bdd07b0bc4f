"""What the text and the vector worker tell of their candidates, as columns; and one hit as an
object. Columns travel as bytes: some hundred objects would cost more than finding them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cortex.system.arrays import Array

#: the rows of `Signals.rows`: place in `paths`, place in `kinds`, first and last line, and where
#: its id ends in `ids`
FILE, KIND, START, END, ID_END = range(5)
#: what is between a project and the path in it, where several are asked; no path holds it
OF = "\0"


def path_of(number: int, path: str) -> str:
    """A path by its project's number; `path` may have one already, to which it is added."""
    inner, separator, plain = path.partition(OF)
    return f"{number + int(inner)}{OF}{plain}" if separator else f"{number}{OF}{path}"


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a chunk lies. `key` is the row key: unique over all time in one index."""

    key: int
    id: str
    chunk_type: str
    path: str
    start_line: int
    end_line: int

    @property
    def file(self) -> str:
        """Its path in its project, whether or not `path` says whose it is."""
        return self.path.rpartition(OF)[2]


@dataclass(frozen=True, slots=True)
class Signals:
    """n candidates with the value of each signal: `values` float32 [len(names), n].

    A value is 0 where a lane has none. `keys` u64 [n]: row keys; `rows` u32 [5, n]: FILE, KIND,
    START, END and ID_END of each; `ids` u8: their ids in UTF-8, one behind the other; `paths` and
    `kinds` of the candidates, each once. `stats` holds what a ranking needs beside them (mean and
    deviation of the cosines, number of files, …).
    """

    generation: int
    names: tuple[str, ...]
    values: Array
    keys: Array
    rows: Array
    ids: Array
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    stats: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def id(self, at: int) -> bytes:
        """The id of candidate `at`, in UTF-8."""
        ends = self.rows[ID_END]
        return self.ids[int(ends[at - 1]) if at else 0 : int(ends[at])].tobytes()

    def hit(self, at: int) -> Hit:
        """Candidate `at` as an object."""
        file, kind, start, end, _ = self.rows[:, at].tolist()
        return Hit(int(self.keys[at]), self.id(at).decode(), self.kinds[kind], self.paths[file], start, end)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All candidates as objects: for a few."""
        return tuple(map(self.hit, range(len(self))))

    def row(self, name: str) -> Array:
        """The values of the signal `name`, float32 [n]. Raises ValueError when there is none."""
        values: Array = self.values[self.names.index(name)]
        return values


def signals_of(
    generation: int,
    hits: Sequence[Hit],
    names: tuple[str, ...],
    values: Array,
    stats: dict[str, float] | None = None,
) -> Signals:
    """The signals of a few `hits`, whose `values` are as in Signals."""
    import numpy as np

    paths: dict[str, int] = {}
    kinds: dict[str, int] = {}
    ids = [hit.id.encode() for hit in hits]
    rows = np.empty((5, len(hits)), "<u4")
    rows[FILE] = [paths.setdefault(hit.path, len(paths)) for hit in hits]
    rows[KIND] = [kinds.setdefault(hit.chunk_type, len(kinds)) for hit in hits]
    rows[START], rows[END] = [hit.start_line for hit in hits], [hit.end_line for hit in hits]
    rows[ID_END] = np.cumsum([len(chunk_id) for chunk_id in ids])
    return Signals(
        generation=generation,
        names=names,
        values=values,
        keys=np.array([hit.key for hit in hits], "<u8"),
        rows=rows,
        ids=np.frombuffer(b"".join(ids), np.uint8),
        paths=tuple(paths),
        kinds=tuple(kinds),
        stats=stats or {},
    )
