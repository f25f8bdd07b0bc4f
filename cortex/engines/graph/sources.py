"""The current sources of a project: plain files inside the root only."""

import os
from pathlib import Path
from typing import Any, Protocol

from cortex.settings.encodings import Encodings
from cortex.system import files
from cortex.system.folders import path_names

#: bytes of a readable file, and files in the cache and of a query
FILE_BYTES_MAX = 2 * 1024 * 1024
FILES_KEPT = 128
#: characters of one context line
LINE_CHARS_MAX = 240


class SourceReader(Protocol):
    """Reads the text of a project's files. See `Sources`."""

    def begin(self) -> None: ...

    def lines(self, path: str, line: int, around: int) -> list[dict[str, Any]]: ...

    def text(self, path: str) -> str: ...


class Sources:
    """Reads context lines: current content, of plain files inside the root only."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._encodings = Encodings(self._root)
        self._cache: dict[str, tuple[tuple[int, ...], list[str]]] = {}
        #: folder by name → its real path
        self._folders: dict[str, str] = {}
        #: path → lines, of this query
        self._texts: dict[str, list[str]] = {}

    def begin(self) -> None:
        """Call before each query: files are read, real paths of folders are resolved, and the
        encodings that the project names are read, once per query.
        """
        self._folders.clear()
        self._texts.clear()
        self._encodings = Encodings(self._root)

    def lines(self, path: str, line: int, around: int) -> list[dict[str, Any]]:
        """`around` lines on each side of `line`, numbered; empty if the file cannot be shown."""
        text = self._read_lines(path)
        first, last = max(1, line - around), min(len(text), line + around)
        return [{"line": n, "text": text[n - 1][:LINE_CHARS_MAX]} for n in range(first, last + 1)]

    def text(self, path: str) -> str:
        """The full text of the file; "" when it cannot be shown."""
        return "\n".join(self._read_lines(path))

    def _read_lines(self, path: str) -> list[str]:
        if path not in self._texts:
            if len(self._texts) >= FILES_KEPT:
                self._texts.clear()
            self._texts[path] = self._read_file(path)
        return self._texts[path]

    def _read_file(self, path: str) -> list[str]:
        folder, name = os.path.split(os.path.join(self._root, path))
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        resolved = os.path.normpath(
            os.path.join(self._folders[folder], name)
        )  # links are not followed: open_plain
        if not path_names.inside(resolved, self._root):
            return []
        try:
            opened = files.open_plain(resolved)
        except OSError:
            return []
        with opened as file:
            info = os.fstat(file.fileno())
            if info.st_size > FILE_BYTES_MAX:
                return []
            cached = self._cache.get(resolved)
            identity = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            if cached is None or cached[0] != identity:
                read = self._encodings.read(path, file.read(FILE_BYTES_MAX))
                cached = (identity, [] if read is None else read.lines())
                if read is not None and read.encoding:  # the project may name another one
                    return cached[1]
            self._cache.pop(resolved, None)
            self._cache[resolved] = cached
            if len(self._cache) > FILES_KEPT:
                del self._cache[next(iter(self._cache))]
            return cached[1]
