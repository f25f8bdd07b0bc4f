"""The rows of several projects' generations as rows of one: tables are joined, rows are not copied.

A row's key begins with the index of its project. Paths stay as each project has them, so that
filters work in each.
"""

from collections.abc import Sequence

import numpy as np

from cortex.engines.milvus.rows import Fetched, RemoteRows
from cortex.engines.milvus.scope import ProjectScope
from cortex.generation.read import Rows
from cortex.generation.segments.segment import number_names
from cortex.ranking.multi_project import KEY_BITS
from cortex.system.arrays import Array


def join_rows(parts: Sequence[Rows], scope: ProjectScope, fetched: Fetched) -> RemoteRows:
    """Join `parts`, one for each project of `scope`."""
    segments = tuple(segment for rows in parts for segment in rows.segments)
    sizes = [len(segment.arrays["keys"]) for segment in segments]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    keys = _concatenate([rows.keys | np.uint64(at << KEY_BITS) for at, rows in enumerate(parts)], "<u8")
    live = _concatenate([rows.live for rows in parts], bool)
    live.flags.writeable = False
    columns, names = _tables(parts)
    path_names = [path for rows in parts for path in rows.path_names]
    first_filled = next((rows for rows in parts if len(rows)), None)
    return RemoteRows(
        generation=scope.newest,
        model=first_filled.model if first_filled else "",
        dimensions=first_filled.dimensions if first_filled else 0,
        segments=segments,
        starts=starts,
        keys=keys,
        live=live,
        path_names=path_names,
        columns=columns,
        names=names,
        fetched=fetched,
        scope=scope,
        counts=tuple(len(rows.path_names) for rows in parts),
    )


def _tables(parts: Sequence[Rows]) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """(the columns; the names that some of them number, each once)"""
    columns: dict[str, Array] = {}
    names: dict[str, list[str]] = {}
    for column in ("type", "language", "model"):
        mappings, names[column] = number_names(rows.names[column] for rows in parts)
        columns[column] = _concatenate(
            [
                numbers[rows.columns[column]]
                for numbers, rows in zip(mappings, parts, strict=True)
                if len(rows)
            ]
        )
    names["tag"] = sorted({tag for rows in parts for tag in rows.names["tag"]})
    begins = np.cumsum([0, *(len(rows.path_names) for rows in parts)]).tolist()
    columns["path"] = _concatenate(
        [(rows.columns["path"] + begin).astype("<u4") for rows, begin in zip(parts, begins, strict=False)]
    )
    others = dict.fromkeys(name for rows in parts for name in rows.columns if name not in columns)
    columns |= {name: _concatenate([rows.columns[name] for rows in parts]) for name in others}
    return columns, names


def _concatenate(some: Sequence[Array], kind: str | type = "<u4") -> Array:
    return np.concatenate(some) if some else np.zeros(0, kind)
