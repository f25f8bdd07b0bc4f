"""Files of a graph by the ends of their paths, and definitions around a line."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.text.spelling import fold_path, means_file, nearest_paths


class PathIndex:
    """An index of file paths. `files`: numbers of the paths."""

    def __init__(self, graph: Graph, files: Iterable[int]) -> None:
        self._graph = graph
        self._files = tuple(files)

    def files_meant(self, path: str) -> list[int]:
        """The `files` that `path` means (`means_file`), not those with that name at their end."""
        return [number for number in self.files(path) if means_file(path, self._graph.names[number])]

    def nearest(self, path: str, count: int) -> list[str]:
        """See `nearest_paths`."""
        return nearest_paths(path, (self._graph.names[number] for number in self._files), count)

    def files(self, path: str) -> list[int]:
        """The files whose paths end as `path` does, or with which `path` ends; without any,
        ignoring case. Ordered by path.
        """
        parts = [component for component in path.split("/") if component not in ("", ".")]
        if not parts:
            return []
        same = self._by_name.get(fold_path(parts[-1]), ())
        matches = [entry for entry in same if _share_end(entry[0], parts)]
        if not matches:
            low = [fold_path(component) for component in parts]
            matches = [
                entry for entry in same if _share_end([fold_path(component) for component in entry[0]], low)
            ]
        most = max((min(len(components), len(parts)) for components, _ in matches), default=0)
        longest = [entry for entry in matches if min(len(entry[0]), len(parts)) == most]
        exact = [entry for entry in longest if entry[0] == parts]
        return [number for _, number in exact or sorted(longest)]

    def roots(self, path: str) -> list[str]:
        """The files and folders whose paths end as `path` does."""
        wanted = f"/{path.strip('/').lower()}/"
        if wanted not in self._lowered_paths:
            return []
        paths = set()
        for number in self._files:
            file_path = f"/{self._graph.names[number]}/"
            at = file_path.lower().find(wanted)
            if at >= 0:
                paths.add(file_path[1 : at + len(wanted) - 1])
        return sorted(paths)

    def files_with_line(self, files: list[int], line: int) -> list[int]:
        """The files of `files` with at least `line` lines; without any, all."""
        if not line or len(files) < 2:
            return files
        return [file for file in files if self._last_line(file) >= line] or files

    def _last_line(self, file: int) -> int:
        return int(self._graph.nodes[self._graph.by_file.of(np.array([file])), 4].max(initial=0))

    def definition_around(self, file: int, line: int) -> int | None:
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
    def _lowered_paths(self) -> str:
        """All paths in lower case, each between slashes, one per line."""
        return "\n".join(f"/{self._graph.names[number].lower()}/" for number in self._files)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[list[str], int]]]:
        entries: dict[str, list[tuple[list[str], int]]] = {}
        for number in self._files:
            parts = self._graph.names[number].split("/")
            entries.setdefault(fold_path(parts[-1]), []).append((parts, number))
        return entries


def _share_end(components: list[str], parts: list[str]) -> bool:
    """Whether one path ends with the other."""
    count = min(len(components), len(parts))
    return components[-count:] == parts[-count:]
