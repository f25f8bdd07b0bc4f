"""Joint candidates of several projects, in the form of a single project's, so that they are ranked
together: scores of different projects are never compared. Pure.

Until the ranking, a file is named by its project's number and its path, a chunk by that number and
its row key; `split_hit` separates them again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from msgspec import structs

from cortex.ranking.candidates import split_name
from cortex.system.arrays import Array
from ipc.messages import Hit, Located, Signals
from ipc.messages.signals import FILE, ID_END, KIND, path_of

#: bits of a row key: keys count from 1, or after a loss from the clock, 65 µs each; the bits above
#: are the project's number
KEY_BITS = 48
#: signals of a reply that are not lanes
_NOT_LANES = ("references", "file_references", "foreign")


def join_words(replies: Mapping[int, Signals], limit: int) -> Signals | None:
    """Join replies by project number: of each lane the best `limit` of all. None for no replies."""
    if not replies:
        return None
    every = _concatenate(replies, {})
    values = every.values.copy()
    for at, name in enumerate(every.names):
        if name not in _NOT_LANES:
            _keep_best(values[at], limit)
    lanes = [at for at, name in enumerate(every.names) if name not in _NOT_LANES]
    return _select(structs.replace(every, values=values), np.flatnonzero((values[lanes] > 0).any(axis=0)))


def join_meaning(
    replies: Mapping[int, Signals], limit: int, spaces: Mapping[int, str] | None = None
) -> Signals | None:
    """Join the vector workers' replies, by project number: the `limit` nearest chunks of all, with
    mean and deviation over the rows of all. None without replies.

    `spaces` maps projects to their models. Cosines of different models do not compare: each becomes
    its deviation from the mean of its own model, and the mean is 0.
    """
    if not replies:
        return None
    groups: dict[str, dict[int, Signals]] = {}
    for number, reply in replies.items():
        groups.setdefault((spaces or {}).get(number, ""), {})[number] = reply
    if len(groups) > 1:
        replies = {
            number: _standardise(reply, _spread(group.values()))
            for group in groups.values()
            for number, reply in group.items()
        }
    mean, deviation = _spread(replies.values())
    stats = {"cosine_mean": mean, "cosine_std": deviation}
    for name in ("rows", "left_out", "matching"):
        stats[name] = sum(reply.stats.get(name, 0.0) for reply in replies.values())
    every = _concatenate(replies, stats)
    cosines = every.row("cosine")
    return _select(every, np.flatnonzero(cosines >= _limit_value(cosines, limit)))


def join_names(replies: Mapping[int, Signals]) -> Signals | None:
    """Join the hits of one name in all projects."""
    return _concatenate(replies, {}) if replies else None


def join_places(replies: Mapping[int, Located]) -> Located | None:
    """Join the chunks at the places that a question names, in all projects."""
    if not replies:
        return None
    spots = tuple(
        replace(
            spot,
            hit=replace(spot.hit, key=_joint_key(number, spot.hit.key), path=path_of(number, spot.hit.path)),
        )
        for number, reply in replies.items()
        for spot in reply.spots
    )
    return Located(0, spots, "", np.zeros((0, 0), np.float32))


def split_hit(hit: Hit) -> tuple[int, Hit]:
    """Return (project number, the hit with its key and path in that project)."""
    number = hit.key >> KEY_BITS
    return number, replace(hit, key=project_key(hit.key), path=split_name(hit.path)[1])


def join_hit(number: int, hit: Hit) -> Hit:
    """Return the hit with the project's number in its key and path: the inverse of `split_hit`."""
    return replace(hit, key=_joint_key(number, hit.key), path=path_of(number, hit.path))


def project_key(key: int) -> int:
    """Return a row key as in its own project."""
    return key & ((1 << KEY_BITS) - 1)


def _joint_key(number: int, key: int) -> int:
    return (number << KEY_BITS) + key


def _concatenate(replies: Mapping[int, Signals], stats: dict[str, float]) -> Signals:
    """Concatenate the candidates by project number; signals that a reply lacks are 0."""
    order = sorted(replies)
    names = tuple(dict.fromkeys(name for number in order for name in replies[number].names))
    values, keys, rows = [], [], []
    paths: list[str] = []
    kinds: list[str] = []
    ids = 0
    for number in order:
        reply = replies[number]
        columns = np.zeros((len(names), len(reply)), np.float32)
        columns[[names.index(name) for name in reply.names]] = reply.values
        shifted = reply.rows.astype("<u4")
        shifted[FILE] += len(paths)
        shifted[KIND] += len(kinds)
        shifted[ID_END] += ids
        values.append(columns)
        keys.append(reply.keys + np.uint64(number << KEY_BITS))
        rows.append(shifted)
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


def _select(signals: Signals, selected: Array) -> Signals:
    """Return the candidates at `selected` (ascending) alone, with only their paths."""
    if len(selected) == len(signals):
        return signals
    ends = signals.rows[ID_END].astype(np.int64)
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    sizes = (ends - starts)[selected]
    ids = [signals.ids[starts[at] : ends[at]] for at in selected.tolist()]
    rows = signals.rows[:, selected]
    rows[ID_END] = np.cumsum(sizes)
    files, rows[FILE] = np.unique(rows[FILE], return_inverse=True)
    return structs.replace(
        signals,
        paths=tuple(signals.paths[at] for at in files.tolist()),
        values=signals.values[:, selected],
        keys=signals.keys[selected],
        rows=rows,
        ids=np.concatenate(ids) if ids else signals.ids[:0],
    )


def _keep_best(values: Array, limit: int) -> None:
    """Set all values to 0 but the `limit` highest and those equal to the last of them: of two equal
    copies, the project must not decide.
    """
    values[values < _limit_value(values, limit)] = 0.0


def _limit_value(values: Array, limit: int) -> float:
    """Return the lowest of the `limit` highest values."""
    at = max(0, len(values) - limit)
    return float(np.partition(values, at)[at]) if len(values) else 0.0


def _spread(replies: Iterable[Signals]) -> tuple[float, float]:
    """Return mean and deviation of the cosines of all compared rows."""
    weighted = [(reply.stats.get("matching", reply.stats.get("rows", 0.0)), reply.stats) for reply in replies]
    rows = sum(count for count, _ in weighted)
    if not rows:
        return 0.0, 0.0
    mean = sum(count * stats.get("cosine_mean", 0.0) for count, stats in weighted) / rows
    squares = sum(
        count * (stats.get("cosine_std", 0.0) ** 2 + stats.get("cosine_mean", 0.0) ** 2)
        for count, stats in weighted
    )
    return mean, float(np.sqrt(max(0.0, squares / rows - mean**2)))


def _standardise(reply: Signals, spread: tuple[float, float]) -> Signals:
    """Replace its cosines by their deviation within their model."""
    mean, deviation = spread
    scale = 1.0 / deviation if deviation > 0 else 0.0
    values = reply.values.copy()
    at = reply.names.index("cosine")
    values[at] = (values[at] - mean) * scale
    scaled_mean = (reply.stats.get("cosine_mean", 0.0) - mean) * scale
    stats = reply.stats | {
        "cosine_mean": scaled_mean,
        "cosine_std": reply.stats.get("cosine_std", 0.0) * scale,
    }
    return structs.replace(reply, values=values, stats=stats)
