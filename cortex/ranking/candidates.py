"""All chunks that any lane returned, each once, as columns; the chunks of a file are adjacent."""

import functools
import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.ranking.ranked_hits import Source
from cortex.system.arrays import Array
from cortex.terms.records import covers
from ipc.messages import Hit, Signals
from ipc.messages.signals import FILE, KIND, OF

#: entries of the memos of signal and kind lists: they are the same for each question
_MEMO = 64
#: chunks of a file whose scores are added
TOP_CHUNKS = 3
#: properties of a chunk kind, as bits
COVERING, DOCUMENTS = 1, 2

#: columns of the word lanes, and of files that the question names (pasted_text.py): they count as
#: found by words
_BY_WORDS = ("body", "path", "defs", "comments", "defx", "cited")
#: column of the vector lane; of lines that the question names; and signals that both workers report
#: for each chunk
_OTHERS = ("cosine", "line", "file_references", "foreign")
#: index of each column
COLUMNS = {name: at for at, name in enumerate((*_BY_WORDS, *_OTHERS))}
#: values of a chunk that no reply describes
_MISSING = np.array([[np.nan if name == "cosine" else 0.0] for name in COLUMNS])


@dataclass(frozen=True)
class Candidates:
    """All n chunks that any lane returned, each once, the chunks of each of the m files adjacent.
    Files of several projects (multi_project.py) may have equal paths.
    """

    #: the replies, and for each chunk the index of its reply and its index in that reply
    replies: Sequence[Signals]
    reply: Array
    at: Array
    keys: Array
    lanes: Array  #: float64 [len(COLUMNS), n]; "cosine" is NaN where the vector lane has none
    covering: Array  # of kinds that hold each line of a file once
    documents: Array  #: bool [n]
    file: Array  # index in `paths`
    starts: Array  #: int64 [m]: the first chunk of each file
    paths: list[str]
    projects: list[str]  # project of each of `paths`; "" for a single project

    def __len__(self) -> int:
        return len(self.keys)

    def lane(self, name: str) -> Array:
        values: Array = self.lanes[COLUMNS[name]]
        return values

    def hit(self, at: int) -> Hit:
        return self.replies[int(self.reply[at])].hit(int(self.at[at]))

    def tie(self, at: int) -> tuple[bytes, int]:
        """Return the tie breaker of equal chunks: the id, then the key, for an id may repeat."""
        return self.replies[int(self.reply[at])].id(int(self.at[at])), int(self.keys[at])

    def sources(self, chunks: Sequence[int]) -> list[Source]:
        """Return the lanes that found each of `chunks`."""
        lanes = self.lanes[:, chunks]
        by_words: list[bool] = np.any(lanes[: len(_BY_WORDS)] > 0, axis=0).tolist()
        missing: list[bool] = np.isnan(lanes[COLUMNS["cosine"]]).tolist()
        return [
            "lex" if none else "both" if words else "vec"
            for none, words in zip(missing, by_words, strict=True)
        ]

    def best(self, values: Array) -> Array:
        """Return the highest of `values` […, n] in each file."""
        return np.maximum.reduceat(values, self.starts, axis=-1)

    def top(self, *lanes: str) -> list[Array]:
        """Return for each lane the sum of each file's TOP_CHUNKS best chunks (covering ones if it
        has any), as a share of the largest sum.
        """
        has = np.logical_or.reduceat(self.covering, self.starts)
        usable = self.covering | ~has[self.file]
        place = np.arange(len(usable)) - self.starts[self.file]
        top_places = np.flatnonzero(place < TOP_CHUNKS)
        file, columns = self.file[top_places], []
        for lane in lanes:
            values = np.where(usable, self.lane(lane), 0.0)
            best = values[np.lexsort((-values, self.file))[top_places]]
            columns.append(shares(np.bincount(file, weights=best, minlength=len(self.paths))))
        return columns


def collect(replies: Sequence[Signals]) -> Candidates | None:
    """Join the replies by row key, in any order of the replies; None without candidates."""
    if not replies:
        return None
    files: dict[str, int] = {}
    keys = np.concatenate([signals.keys for signals in replies])
    file = np.concatenate([_files_of(signals, files) for signals in replies])
    counts = [len(signals) for signals in replies]
    ends = np.cumsum(counts)
    values = np.empty((len(COLUMNS), len(keys)))
    values[:] = _MISSING
    kinds = []
    for signals, end in zip(replies, ends.tolist(), strict=True):
        signal_rows, rows = _columns_of(signals.names)
        values[rows, end - len(signals) : end] = signals.values[signal_rows]
        kinds.append(_kinds_of(signals.kinds)[signals.rows[KIND]])
    # A key belongs to one file; of several replies with it, the first one comes first.
    order = np.lexsort((keys, file))
    starts = run_starts(keys[order])
    first = order[starts]
    lanes = np.fmax(np.fmax.reduceat(values[:, order], starts, axis=1), _MISSING)
    file, kind = file[first], np.concatenate(kinds)[first]
    reply = np.searchsorted(ends, first, side="right")
    projects, paths = _split_names(files)
    return Candidates(
        replies=replies,
        reply=reply,
        at=first - (ends - counts)[reply],
        keys=keys[first],
        lanes=lanes,
        covering=kind & COVERING != 0,
        documents=kind & DOCUMENTS != 0,
        file=file,
        starts=run_starts(file),
        paths=paths,
        projects=projects,
    )


@functools.lru_cache(_MEMO)
def _columns_of(names: tuple[str, ...]) -> tuple[Array, Array]:
    """Return (indexes of the `names` that are columns of candidates, indexes of the columns)."""
    numbers = [number for number, name in enumerate(names) if name in COLUMNS]
    return np.array(numbers, np.int64), np.array([COLUMNS[names[number]] for number in numbers], np.int64)


@functools.lru_cache(_MEMO)
def _kinds_of(kinds: tuple[str, ...]) -> Array:
    """Return uint8 [n], bits by kind: COVERING (has each line of a file once), DOCUMENTS."""
    bits = (COVERING * covers(kind) + DOCUMENTS * (kind == "documentation") for kind in kinds)
    return np.array(list(bits), np.uint8)


def _files_of(signals: Signals, files: dict[str, int]) -> Array:
    """Return int64 [n]: the number in `files` of each candidate's file; new files are added. A
    chunk without a path counts as a file.
    """
    if "" not in signals.paths and _are_plain(signals.paths):
        added = [path for path in signals.paths if path not in files]
        files.update(zip(added, itertools.count(len(files)), strict=False))
        of: Array = np.array([*map(files.__getitem__, signals.paths)], np.int64)[signals.rows[FILE]]
        return of
    numbers = [files.setdefault(path, len(files)) if split_name(path)[1] else -1 for path in signals.paths]
    out: Array = np.array(numbers, np.int64)[signals.rows[FILE]]
    for at in np.flatnonzero(out < 0).tolist():
        project, _ = split_name(signals.paths[signals.rows[FILE, at]])
        out[at] = files.setdefault(f"{project}{OF}{OF}{signals.id(at).decode()}", len(files))
    return out


def _split_names(names: Collection[str]) -> tuple[list[str], list[str]]:
    """Return (projects, paths) of the names, as `split_name`."""
    if _are_plain(names):
        return [""] * len(names), list(names)
    pairs = [split_name(name) for name in names]
    return [whose for whose, _ in pairs], [path for _, path in pairs]


def _are_plain(names: Iterable[str]) -> bool:
    """Whether all names are a single project's paths, tested at once for speed."""
    return OF not in "".join(names)


def run_starts(ascending: Array) -> Array:
    """Return int64: the start of each run of equal values."""
    same = np.empty(len(ascending), bool)
    same[:1] = False
    np.equal(ascending[1:], ascending[:-1], out=same[1:])
    return np.flatnonzero(~same)


def split_name(name: str) -> tuple[str, str]:
    """Return (project of a file, its path); "" for a single project or a chunk without file."""
    project, is_joint, path = name.partition(OF)
    if not is_joint:
        return "", name
    return project, "" if path.startswith(OF) else path


def shares(values: Array) -> Array:
    most = values.max(initial=0.0)
    return values / most if most > 0 else values
