"""Graph files of other programs, without nodes and edges of files that are not in the project."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from cortex.generation.others import is_inside
from cortex.terms.ids import stem_of


class Presence:
    """Which files, and which beginnings of file names, are in the project now."""

    def __init__(self, root: Path) -> None:
        self._root = os.fspath(root)
        #: path → whether it is a file; `path.*` → whether a file has this name and any ending
        self.present: dict[str, bool] = {}
        #: folder → its entries without their endings
        self._stems: dict[str, frozenset[str]] = {}

    def has(self, path: str) -> bool:
        """Whether a path is a file or folder inside the project."""
        if path not in self.present:
            self.present[path] = is_inside(self._root, path) and os.path.lexists(f"{self._root}/{path}")
        return self.present[path]

    def has_stem(self, stem: str) -> bool:
        """Whether an id may begin with `stem`: a file without its ending, or a folder."""
        key = f"{stem}.*"
        if key not in self.present:
            folder, _, name = stem.rpartition("/")
            self.present[key] = is_inside(self._root, stem) and (name in self._list(folder) or stem == ".")
        return self.present[key]

    def _list(self, folder: str) -> frozenset[str]:
        if folder not in self._stems:
            try:
                names = os.listdir(f"{self._root}/{folder}") if is_inside(self._root, folder or ".") else []
            except OSError:
                names = []
            self._stems[folder] = frozenset({*map(stem_of, names), *names})
        return self._stems[folder]

    def is_current(self) -> bool:
        """Return whether the same files are in the project as before."""
        now = Presence(Path(self._root))
        return all(
            (now.has_stem(key.removesuffix(".*")) if key.endswith(".*") else now.has(key)) is is_present
            for key, is_present in self.present.items()
        )


def keep_present(raw: bytes, presence: Presence) -> bytes:
    """Return a graph file without rows of missing files; `raw` if none are, or it is no graph."""
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw
    lists = _lists_of(data)
    if lists is None:
        return raw
    files_of_nodes = {
        node["id"]: node["file"]
        for node in lists["nodes"]
        if isinstance(node.get("id"), str) and isinstance(node.get("file"), str) and node["file"]
    }
    present_rows = {
        "nodes": [node for node in lists["nodes"] if _has_file(node, presence)],
        "edges": [edge for edge in lists["edges"] if _has_source(edge, files_of_nodes, presence)],
        "unresolved_uses": [use for use in lists["unresolved_uses"] if _has_file(use, presence)],
    }
    return raw if present_rows == lists else orjson.dumps(data | present_rows)


def _lists_of(data: Any) -> dict[str, list[dict[str, Any]]] | None:
    """Return the lists of a graph file; None if it is none."""
    if not isinstance(data, dict):
        return None
    lists = {name: data.get(name, []) for name in ("nodes", "edges", "unresolved_uses")}
    if not all(
        isinstance(rows, list) and all(isinstance(row, dict) for row in rows) for rows in lists.values()
    ):
        return None
    return lists


def _has_file(row: Mapping[str, Any], presence: Presence) -> bool:
    """Whether a row names no file, or one in the project."""
    path = row.get("file")
    return presence.has(path) if isinstance(path, str) and path else True


def _has_source(edge: Mapping[str, Any], files_of_nodes: Mapping[str, str], presence: Presence) -> bool:
    """Whether an edge begins in a file of the project: at its place, and by its first node."""
    location, source = edge.get("location"), edge.get("from")
    path = location.get("file") if isinstance(location, dict) else None
    if isinstance(path, str) and path and not presence.has(path):
        return False
    if not isinstance(source, str):
        return True  # refused as a whole, with its fault
    if source in files_of_nodes:
        return presence.has(files_of_nodes[source])
    return bool(path) or presence.has_stem(source.partition(":")[0])
