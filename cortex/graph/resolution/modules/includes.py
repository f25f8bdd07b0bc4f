"""Included files of C and C++, direct and indirect: a file cannot use a name from any other file. A
project with a single-header copy of a library has every name twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

#: the package of all files of C and C++
C_HOME = "c:"
#: paths in the cache of included files: about 20 MB
REMEMBERED_MAX = 200_000


class Includes:
    """Includes of a project. Valid until `forget`. `direct`: function for a file's direct
    includes.
    """

    def __init__(self, direct: Callable[[str], Iterable[str]]) -> None:
        self._find = direct
        self._direct: dict[str, tuple[str, ...]] = {}
        self._read: dict[str, frozenset[str]] = {}
        self._remembered = 0

    def forget(self) -> None:
        self._direct.clear()
        self._read.clear()
        self._remembered = 0

    def direct(self, path: str) -> tuple[str, ...]:
        paths = self._direct.get(path)
        if paths is None:
            paths = self._direct[path] = tuple(dict.fromkeys(self._find(path)))
        return paths

    def files_read_by(self, path: str) -> frozenset[str]:
        """Return `path`, its includes, and theirs."""
        paths = self._read.get(path)
        if paths is None:
            paths = frozenset(_reachable_files([path], self.direct))
            if self._remembered > REMEMBERED_MAX:
                self._read.clear()
                self._remembered = 0
            self._remembered += len(paths)
            self._read[path] = paths
        return paths

    def direct_of_all(self, files: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return {path: self.direct(path) for path in files}

    def changed_since(self, before: Mapping[str, tuple[str, ...]], files: Iterable[str]) -> set[str]:
        """Return the files whose includes have changed, and all files that include them."""
        after = self.direct_of_all(files)
        readers: dict[str, list[str]] = {}
        for state in (before, after):
            for path, read in state.items():
                for included in read:
                    readers.setdefault(included, []).append(path)
        shifted = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        return set(_reachable_files(shifted, lambda path: readers.get(path, ())))


def _reachable_files(begin: Iterable[str], further: Callable[[str], Iterable[str]]) -> Iterator[str]:
    pending = list(begin)
    visited = set(pending)
    while pending:
        path = pending.pop()
        yield path
        for other in further(path):
            if other not in visited:
                visited.add(other)
                pending.append(other)
