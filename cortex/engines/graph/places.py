"""The files of a graph by any end of their paths, and what is defined around a line of one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.terms.kinds import WHOLE_KINDS


class Places:
    """`files` are the numbers of the files' paths."""

    def __init__(self, graph: Graph, files: Iterable[int]) -> None:
        self._graph = graph
        self._files = tuple(files)

    def files(self, path: str) -> list[int]:
        """The files whose paths end as `path` does, or that `path` ends as; in any case when there
        are none. In the order of their paths.
        """
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts:
            return []
        same = self._by_name.get(parts[-1].lower(), ())
        found = [one for one in same if _ends(one[0], parts)]
        if not found:
            low = [part.lower() for part in parts]
            found = [one for one in same if _ends([part.lower() for part in one[0]], low)]
        most = max((min(len(own), len(parts)) for own, _ in found), default=0)
        whole = [one for one in found if min(len(one[0]), len(parts)) == most]
        exact = [one for one in whole if one[0] == parts]
        return [number for _, number in exact or sorted(whole)]

    def roots(self, path: str) -> list[str]:
        """The files and folders whose paths end as `path` does."""
        wanted = f"/{path.strip('/').lower()}/"
        if wanted not in self._small:
            return []
        found = set()
        for number in self._files:
            own = f"/{self._graph.names[number]}/"
            at = own.lower().find(wanted)
            if at >= 0:
                found.add(own[1 : at + len(wanted) - 1])
        return sorted(found)

    def holding(self, files: list[int], line: int) -> list[int]:
        """Of several files those that are so long, as long as there is one."""
        if not line or len(files) < 2:
            return files
        return [one for one in files if self._last_line(one) >= line] or files

    def _last_line(self, file: int) -> int:
        return int(self._graph.nodes[self._graph.by_file.of(np.array([file])), 4].max(initial=0))

    def around(self, file: int, line: int) -> int | None:
        """The innermost definition around a line; None outside of all."""
        graph = self._graph
        rows = graph.by_file.of(np.array([file]))
        nodes = graph.nodes[rows]
        inside = (nodes[:, 3] <= line) & (line <= nodes[:, 4])
        best = [
            (-last + first, depth, number)
            for number, _, _, first, last, depth in nodes[inside].tolist()
            if graph.kind(number) not in WHOLE_KINDS
        ]
        return max(best)[2] if best else None

    @cached_property
    def _small(self) -> str:
        """All paths in small letters, each between slashes, a line each."""
        return "\n".join(f"/{self._graph.names[number].lower()}/" for number in self._files)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[list[str], int]]]:
        found: dict[str, list[tuple[list[str], int]]] = {}
        for number in self._files:
            parts = self._graph.names[number].split("/")
            found.setdefault(parts[-1].lower(), []).append((parts, number))
        return found


def _ends(own: list[str], parts: list[str]) -> bool:
    """Whether one of two paths is the end of the other."""
    count = min(len(own), len(parts))
    return own[-count:] == parts[-count:]
