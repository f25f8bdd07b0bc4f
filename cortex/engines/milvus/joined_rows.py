"""The rows of generations of several projects as those of one: no row is copied, their tables are.

A row's key begins with the place of its project among them. Paths are each project's own, so that
filters mean in each what they mean there; what is told of them begins with the place, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cortex.engines.milvus.rows import FarRows, Fetched
from cortex.engines.milvus.scope import Scope
from cortex.generation.read import Rows
from cortex.ranking.multi_project import KEY_BITS
from cortex.system.arrays import Array
from ipc.messages.signals import path_of


@dataclass(frozen=True)
class JoinedRows(FarRows):
    """See `FarRows`. `counts`: how many paths each project has."""

    counts: tuple[int, ...] = ()

    @cached_property
    def told_names(self) -> list[str]:
        numbers = np.repeat(np.arange(len(self.counts)), self.counts).tolist()
        return [path_of(number, path) for number, path in zip(numbers, self.path_names, strict=True)]


def join_rows(parts: Sequence[Rows], scope: Scope, fetched: Fetched) -> JoinedRows:
    """`parts`, one for each project of `scope`, as one."""
    segments = tuple(segment for part in parts for segment in part.segments)
    sizes = [len(segment.arrays["keys"]) for segment in segments]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    keys = _joined([part.keys | np.uint64(at << KEY_BITS) for at, part in enumerate(parts)], "<u8")
    live = _joined([part.live for part in parts], bool)
    live.flags.writeable = False
    columns, names = _tables(parts)
    path_names = [path for part in parts for path in part.path_names]
    known = next((part for part in parts if len(part)), None)
    return JoinedRows(
        generation=scope.newest,
        model=known.model if known else "",
        dimensions=known.dimensions if known else 0,
        segments=segments,
        starts=starts,
        keys=keys,
        live=live,
        path_names=path_names,
        columns=columns,
        names=names,
        fetched=fetched,
        scope=scope,
        counts=tuple(len(part.path_names) for part in parts),
    )


def _tables(parts: Sequence[Rows]) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """(the columns; the names that some of them number, each once)"""
    columns: dict[str, Array] = {}
    names: dict[str, list[str]] = {}
    for column in ("type", "language", "model"):
        table: dict[str, int] = {}
        own = [
            np.array([table.setdefault(name, len(table)) for name in part.names[column]], "<u4")
            for part in parts
        ]
        columns[column] = _joined(
            [numbers[part.columns[column]] for numbers, part in zip(own, parts, strict=True) if len(part)]
        )
        names[column] = list(table)
    names["tag"] = sorted({tag for part in parts for tag in part.names["tag"]})
    begins = np.cumsum([0, *(len(part.path_names) for part in parts)]).tolist()
    columns["path"] = _joined(
        [(part.columns["path"] + begin).astype("<u4") for part, begin in zip(parts, begins, strict=False)]
    )
    others = dict.fromkeys(name for part in parts for name in part.columns if name not in columns)
    columns |= {name: _joined([part.columns[name] for part in parts]) for name in others}
    return columns, names


def _joined(some: Sequence[Array], kind: str | type = "<u4") -> Array:
    return np.concatenate(some) if some else np.zeros(0, kind)
