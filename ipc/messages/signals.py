"""Candidates of the text and the vector worker with their signals, as columns; and one hit as an
object. Columns are sent as bytes: some hundred objects would cost more than the search.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import field

from cortex.system.arrays import Array
from ipc.messages.control import Message

#: rows of `Signals.rows`: index in `paths`, index in `kinds`, first and last line, and the end of
#: its id in `ids`
FILE, KIND, START, END, ID_END = range(5)
#: separator of project number and path in a search over several projects; no path contains it
OF = "\0"


def path_of(number: int, path: str) -> str:
    """Return a path with its project's number in front, added to one that it has."""
    inner, separator, plain = path.partition(OF)
    return f"{number + int(inner)}{OF}{plain}" if separator else f"{number}{OF}{path}"


@dataclass(frozen=True, slots=True)
class Hit:
    """The place of a chunk. `key` is the row key: never reused in one index."""

    key: int
    id: str
    chunk_type: str
    path: str
    start_line: int
    end_line: int

    @property
    def file(self) -> str:
        """The path in its project, without the project's number."""
        return self.path.rpartition(OF)[2]


class Signals(Message, frozen=True):
    """n candidates with the value of each signal: `values` float32 [len(names), n], 0 where a lane
    has none.

    `keys` u64 [n]: row keys; `rows` u32 [5, n]: FILE, KIND, START, END and ID_END of each; `ids`
    u8: their ids in UTF-8, concatenated; `paths` and `kinds` of the candidates, each once. `stats`
    holds further numbers for the ranking (mean and deviation of the cosines, number of files, …).
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
        """Return the id of candidate `at`, in UTF-8."""
        ends = self.rows[ID_END]
        return self.ids[int(ends[at - 1]) if at else 0 : int(ends[at])].tobytes()

    def hit(self, at: int) -> Hit:
        """Return candidate `at` as an object."""
        file, kind, start, end, _ = self.rows[:, at].tolist()
        return Hit(int(self.keys[at]), self.id(at).decode(), self.kinds[kind], self.paths[file], start, end)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All candidates as objects; only for a few."""
        return tuple(map(self.hit, range(len(self))))

    def row(self, name: str) -> Array:
        """Return the values of signal `name`, float32 [n]. Raises ValueError if unknown."""
        values: Array = self.values[self.names.index(name)]
        return values


def signals_of(
    generation: int,
    hits: Sequence[Hit],
    names: tuple[str, ...],
    values: Array,
    stats: dict[str, float] | None = None,
) -> Signals:
    """Return the signals of a few `hits`; `values` are as in Signals."""
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
