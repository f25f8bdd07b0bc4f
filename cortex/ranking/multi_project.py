"""What the workers of several projects tell, put together as the workers of one would have told it,
so that it is ranked once: no score of one project is compared with another's. Pure.

A file is named by its project's number and its path, a chunk by that number and its row key, until
it is ranked; `told_by` takes both apart again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from cortex.ranking.candidates import parted
from cortex.system.arrays import Array
from ipc.messages import Hit, Located, Signals
from ipc.messages.signals import FILE, ID_END, KIND, path_of

#: bits of a row key: they are counted from 1, or after a loss from the clock, 65 µs each; the bits
#: above are the project's number
KEY_BITS = 48
#: what of a lane's reply is no lane
_ABOUT = ("references", "file_references", "foreign")


def join_words(replies: Mapping[int, Signals], limit: int) -> Signals | None:
    """The text workers' replies by their projects' numbers: of each lane the best `limit` chunks of
    all. None for no reply.
    """
    if not replies:
        return None
    every = _joined(replies, {})
    values = every.values.copy()
    for at, name in enumerate(every.names):
        if name not in _ABOUT:
            _keep_best(values[at], limit)
    lanes = [at for at, name in enumerate(every.names) if name not in _ABOUT]
    return _taken(replace(every, values=values), np.flatnonzero((values[lanes] > 0).any(axis=0)))


def join_meaning(
    replies: Mapping[int, Signals], limit: int, spaces: Mapping[int, str] | None = None
) -> Signals | None:
    """The vector workers' replies by their projects' numbers: the `limit` nearest of all, with mean
    and deviation over the rows of all. None for no reply.

    `spaces`: whose vectors are of which model. Cosines of different models do not compare: each
    is told by how far it stands out among those of its own, and the mean is 0 then.
    """
    if not replies:
        return None
    groups: dict[str, dict[int, Signals]] = {}
    for number, reply in replies.items():
        groups.setdefault((spaces or {}).get(number, ""), {})[number] = reply
    if len(groups) > 1:
        replies = {
            number: _standing_out(reply, _spread(own.values()))
            for own in groups.values()
            for number, reply in own.items()
        }
    mean, deviation = _spread(replies.values())
    stats = {"cosine_mean": mean, "cosine_std": deviation}
    for name in ("rows", "left_out", "matching"):
        stats[name] = sum(reply.stats.get(name, 0.0) for reply in replies.values())
    every = _joined(replies, stats)
    cosines = every.row("cosine")
    return _taken(every, np.flatnonzero(cosines >= _least(cosines, limit)))


def join_names(replies: Mapping[int, Signals]) -> Signals | None:
    """What was found for one name, in all projects."""
    return _joined(replies, {}) if replies else None


def join_places(replies: Mapping[int, Located]) -> Located | None:
    """What lies at the places that a question names, in all projects."""
    if not replies:
        return None
    spots = tuple(
        replace(
            spot, hit=replace(spot.hit, key=_key(number, spot.hit.key), path=path_of(number, spot.hit.path))
        )
        for number, reply in replies.items()
        for spot in reply.spots
    )
    return Located(0, spots, "", np.zeros((0, 0), np.float32))


def told_by(hit: Hit) -> tuple[int, Hit]:
    """(the number of its project, the hit as that one tells it)"""
    number = hit.key >> KEY_BITS
    return number, replace(hit, key=key_in(hit.key), path=parted(hit.path)[1])


def told_as(number: int, hit: Hit) -> Hit:
    """The hit of a project with this number, as `told_by` takes it apart."""
    return replace(hit, key=_key(number, hit.key), path=path_of(number, hit.path))


def key_in(key: int) -> int:
    """A row key as its project has it."""
    return key & ((1 << KEY_BITS) - 1)


def _key(number: int, key: int) -> int:
    return (number << KEY_BITS) + key


def _joined(replies: Mapping[int, Signals], stats: dict[str, float]) -> Signals:
    """All candidates, in the order of the numbers; a signal that a reply lacks is 0 there."""
    order = sorted(replies)
    names = tuple(dict.fromkeys(name for number in order for name in replies[number].names))
    values, keys, rows = [], [], []
    paths: list[str] = []
    kinds: list[str] = []
    ids = 0
    for number in order:
        reply = replies[number]
        own = np.zeros((len(names), len(reply)), np.float32)
        own[[names.index(name) for name in reply.names]] = reply.values
        told = reply.rows.astype("<u4")
        told[FILE] += len(paths)
        told[KIND] += len(kinds)
        told[ID_END] += ids
        values.append(own)
        keys.append(reply.keys + np.uint64(number << KEY_BITS))
        rows.append(told)
        paths += [path_of(number, path) for path in reply.paths]
        kinds += reply.kinds
        ids += len(reply.ids)
    return Signals(
        generation=0,
        names=names,
        values=np.hstack(values),
        keys=np.concatenate(keys),
        rows=np.hstack(rows),
        ids=np.concatenate([replies[number].ids for number in order]),
        paths=tuple(paths),
        kinds=tuple(kinds),
        stats=stats,
    )


def _taken(signals: Signals, kept: Array) -> Signals:
    """Those at `kept` (ascending) alone, with the paths of those."""
    if len(kept) == len(signals):
        return signals
    ends = signals.rows[ID_END].astype(np.int64)
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    sizes = (ends - starts)[kept]
    ids = [signals.ids[starts[at] : ends[at]] for at in kept.tolist()]
    rows = signals.rows[:, kept]
    rows[ID_END] = np.cumsum(sizes)
    files, rows[FILE] = np.unique(rows[FILE], return_inverse=True)
    return replace(
        signals,
        paths=tuple(signals.paths[at] for at in files.tolist()),
        values=signals.values[:, kept],
        keys=signals.keys[kept],
        rows=rows,
        ids=np.concatenate(ids) if ids else signals.ids[:0],
    )


def _keep_best(values: Array, limit: int) -> None:
    """Make 0 of all but the `limit` highest, and those that are as high as the last of them: which
    of two copies is there must not depend on whose it is.
    """
    values[values < _least(values, limit)] = 0.0


def _least(values: Array, limit: int) -> float:
    """The least of the `limit` highest."""
    at = max(0, len(values) - limit)
    return float(np.partition(values, at)[at]) if len(values) else 0.0


def _spread(replies: Iterable[Signals]) -> tuple[float, float]:
    """Mean and deviation of the cosines of all rows that were compared."""
    told = [(one.stats.get("matching", one.stats.get("rows", 0.0)), one.stats) for one in replies]
    rows = sum(count for count, _ in told)
    if not rows:
        return 0.0, 0.0
    mean = sum(count * stats.get("cosine_mean", 0.0) for count, stats in told) / rows
    squares = sum(
        count * (stats.get("cosine_std", 0.0) ** 2 + stats.get("cosine_mean", 0.0) ** 2)
        for count, stats in told
    )
    return mean, float(np.sqrt(max(0.0, squares / rows - mean**2)))


def _standing_out(reply: Signals, spread: tuple[float, float]) -> Signals:
    """Its cosines by how far they stand out among those of their model."""
    mean, deviation = spread
    scale = 1.0 / deviation if deviation > 0 else 0.0
    values = reply.values.copy()
    at = reply.names.index("cosine")
    values[at] = (values[at] - mean) * scale
    own = (reply.stats.get("cosine_mean", 0.0) - mean) * scale
    stats = reply.stats | {"cosine_mean": own, "cosine_std": reply.stats.get("cosine_std", 0.0) * scale}
    return replace(reply, values=values, stats=stats)
