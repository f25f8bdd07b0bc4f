"""Every chunk that a lane named, once, as columns: those of a file together."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.ranking.ranked import Source
from cortex.terms.records import covers
from ipc.arrays import Array
from ipc.messages import Hit, Signals
from ipc.messages.signals import FILE, ID_END, KIND, OF

#: lists of signals and of kinds of which is remembered what they mean: the same in each question
_MEMO = 64
#: chunks of a file whose scores are added
TOP_CHUNKS = 3

#: those of words, that of meaning
_LANES = ("body", "path", "defs", "comments", "defx", "cosine")
#: what both workers tell of each chunk, found by words or not
_ABOUT = ("file_references", "foreign")
#: what the question names (pasted.py): files, and lines of them
_NAMED = ("cited", "line")
#: the place of each among the columns of the candidates
COLUMNS = {name: at for at, name in enumerate((*_LANES, *_ABOUT, *_NAMED))}
#: those of them that say that words found a chunk
_BY_WORDS = [COLUMNS[name] for name in (*_LANES[:-1], "cited")]


@dataclass(frozen=True)
class Candidates:
    """Every chunk that a lane named, once, the chunks of a file together; n of m files. Files of
    several projects (together.py) may have one path.
    """

    #: the replies, and for each chunk which of them tells of it, and as what number there
    replies: Sequence[Signals]
    reply: Array
    at: Array
    keys: Array
    lanes: Array  #: float64 [len(COLUMNS), n]; "cosine" is NaN where the vector lane has none
    covering: Array  #: bool [n]: of the kinds that hold each line of a file once
    documents: Array  #: bool [n]
    file: Array  #: int64 [n], ascending: the place in `paths`
    starts: Array  #: int64 [m]: the first chunk of each file
    paths: list[str]
    projects: list[str]  #: whose each of `paths` is; "" where one project is asked

    def __len__(self) -> int:
        return len(self.keys)

    def lane(self, name: str) -> Array:
        values: Array = self.lanes[COLUMNS[name]]
        return values

    def hit(self, at: int) -> Hit:
        return self.replies[int(self.reply[at])].hit(int(self.at[at]))

    def ties(self, chunks: Array) -> Array:
        """I64 [n]: for each of `chunks` its place in the order of their ids, and of the keys where
        one id is of several; 0 for any other.
        """
        told = [(reply.ids.tobytes(), [*reply.rows[ID_END].tolist(), 0]) for reply in self.replies]
        ids = []
        parts = (self.reply[chunks], self.at[chunks], self.keys[chunks], chunks)
        for reply, at, key, chunk in zip(*(part.tolist() for part in parts), strict=True):
            raw, ends = told[reply]
            ids.append((raw[ends[at - 1] : ends[at]], key, chunk))
        ids.sort()
        out = np.zeros(len(self), np.int64)
        out[[chunk for _, _, chunk in ids]] = np.arange(len(ids))
        return out

    def sources(self, chunks: Array) -> list[Source]:
        """Which lanes found each of `chunks`."""
        lanes = self.lanes[:, chunks]
        by_words: list[bool] = np.any(lanes[_BY_WORDS] > 0, axis=0).tolist()
        missing: list[bool] = np.isnan(lanes[COLUMNS["cosine"]]).tolist()
        return [
            "lex" if none else "both" if words else "vec"
            for none, words in zip(missing, by_words, strict=True)
        ]

    def best(self, values: Array) -> Array:
        """The highest of `values` […, n] in each file."""
        highest: Array = np.maximum.reduceat(values, self.starts, axis=-1)
        return highest

    def top(self, lane: str) -> Array:
        """Each file's TOP_CHUNKS best (covering ones if it has any) added, ÷ the largest sum."""
        has = np.logical_or.reduceat(self.covering, self.starts)
        values = np.where(self.covering | ~has[self.file], self.lane(lane), 0.0)
        order = np.lexsort((-values, self.file))
        place = np.arange(len(order)) - self.starts[self.file]
        kept = order[place < TOP_CHUNKS]
        return shares(np.bincount(self.file[kept], weights=values[kept], minlength=len(self.paths)))


def collect(replies: Sequence[Signals]) -> Candidates | None:
    """One candidate for each row key that any lane names: the replies' own order has no say. None
    for no candidate.
    """
    if not replies:
        return None
    told = np.concatenate([signals.keys for signals in replies])
    keys, first, places = np.unique(told, return_index=True, return_inverse=True)
    files: dict[str, int] = {}
    file = np.concatenate([_files_of(signals, files) for signals in replies])[first]
    order = np.argsort(file, kind="stable")
    lanes = np.zeros((len(COLUMNS), len(keys)))
    lanes[COLUMNS["cosine"]].fill(np.nan)
    back = np.argsort(order)  # where a key's candidate is
    begin = 0
    for signals in replies:
        at = back[places[begin : begin + len(signals)]]
        begin += len(signals)
        known, rows = _columns_of(signals.names)
        lanes[rows, at] = np.fmax(lanes[rows, at], signals.values[known])
    first, file = first[order], file[order]
    counts = [len(signals) for signals in replies]
    reply = np.repeat(np.arange(len(replies)), counts)
    number = np.concatenate([np.arange(count) for count in counts])
    kinds = np.concatenate([_kinds_of(signals.kinds)[:, signals.rows[KIND]] for signals in replies], axis=1)
    covering, documents = kinds[:, first]
    projects, paths = _all_parted(files)
    return Candidates(
        replies=replies,
        reply=reply[first],
        at=number[first],
        keys=keys[order],
        lanes=lanes,
        covering=covering,
        documents=documents,
        file=file,
        starts=begins(file),
        paths=paths,
        projects=projects,
    )


@functools.lru_cache(_MEMO)
def _columns_of(names: tuple[str, ...]) -> tuple[Array, Array]:
    """(which of the signals `names` are columns of the candidates; i64 [n, 1]: which columns)"""
    known = [number for number, name in enumerate(names) if name in COLUMNS]
    return np.array(known), np.array([COLUMNS[names[number]] for number in known])[:, None]


@functools.lru_cache(_MEMO)
def _kinds_of(kinds: tuple[str, ...]) -> Array:
    """Bool [2, n]: of each kind whether it covers every line of a file once, and whether it is
    documents.
    """
    return np.array([list(map(covers, kinds)), [kind == "documentation" for kind in kinds]], bool)


def _files_of(signals: Signals, files: dict[str, int]) -> Array:
    """I64 [n]: the number in `files`, which it adds to, of each candidate's file. A chunk without a
    path stands for itself.
    """
    if "" not in signals.paths and _are_plain(signals.paths):
        numbers = [files.setdefault(path, len(files)) for path in signals.paths]
        of: Array = np.array(numbers, np.int64)[signals.rows[FILE]]
        return of
    numbers = [files.setdefault(path, len(files)) if parted(path)[1] else -1 for path in signals.paths]
    out: Array = np.array(numbers, np.int64)[signals.rows[FILE]]
    for at in np.flatnonzero(out < 0).tolist():
        project, _ = parted(signals.paths[signals.rows[FILE, at]])
        out[at] = files.setdefault(f"{project}{OF}{OF}{signals.id(at).decode()}", len(files))
    return out


def _all_parted(names: Collection[str]) -> tuple[list[str], list[str]]:
    """What `parted` says of each: (whose, the path)."""
    if _are_plain(names):
        return [""] * len(names), list(names)
    told = [parted(name) for name in names]
    return [whose for whose, _ in told], [path for _, path in told]


def _are_plain(names: Iterable[str]) -> bool:
    """Whether all are paths of the only project: one look at all of them takes as long as one call
    for each of a few.
    """
    return OF not in "".join(names)


def begins(ascending: Array) -> Array:
    """I64: where each run of equal values begins."""
    same = np.empty(len(ascending), bool)
    same[:1] = False
    np.equal(ascending[1:], ascending[:-1], out=same[1:])
    out: Array = np.flatnonzero(~same)
    return out


def parted(name: str) -> tuple[str, str]:
    """(whose a file is, its path); "" for the only project, and for a chunk that is of no file."""
    project, several, path = name.partition(OF)
    if not several:
        return "", name
    return project, "" if path.startswith(OF) else path


def shares(values: Array) -> Array:
    most = values.max(initial=0.0)
    return values / most if most > 0 else values
