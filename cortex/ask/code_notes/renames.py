"""Renamed files, from git's last commits and its index. Only git runs, and no program of the
repository.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cortex.settings.folders.own_commits import ask_history

#: commits that are read
COMMITS = 1_000
#: seconds that git has for each answer, for which a caller waits
ANSWER_S = 2.0
#: seconds in which git is not asked again
CACHE_S = 1.0
#: renames that are followed for one file
STEPS_MAX = 16
#: both names of each file, without external diff or text conversion, which run programs
_NAMES = ("-M", "--diff-filter=R", "--name-status", "-z", "--relative", "--no-ext-diff", "--no-textconv")


class Renames:
    """Renames in the repository around the folder `root`, by relative path. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._head = b""
        self._committed: dict[str, str] = {}
        self._after: dict[str, str] = {}

    def now(self, path: str) -> str:
        """Return the present name of the file once called `path`; "" if git knows no other."""
        with self._lock:
            if time.monotonic() - self._read_at > CACHE_S:
                self._refresh()
                self._read_at = time.monotonic()
            now = self._follow(path)
        return now if now != path else ""

    def before(self, paths: Sequence[str]) -> dict[str, str]:
        """Return earlier name → present one of `paths`, at the last refresh: asks git nothing."""
        if not self._after:
            return {}
        wanted = set(paths)
        with self._lock:
            pairs = ((before, self._follow(before)) for before in self._after)
            return {before: now for before, now in pairs if now in wanted and before not in wanted}

    def _follow(self, path: str) -> str:
        chain = [path]
        while (after := self._after.get(chain[-1])) and after not in chain and len(chain) <= STEPS_MAX:
            chain.append(after)
        return chain[-1]

    def _refresh(self) -> None:
        """Read the staged renames, and the commits if HEAD has moved: the latest name counts."""
        head = self._run_git("rev-parse", "HEAD")
        if head != self._head:
            log = self._run_git("log", f"-{COMMITS}", "--format=", *_NAMES)
            self._committed = dict(reversed(list(_pairs(log))))
            self._head = head
        staged = self._run_git("diff-index", "--cached", *_NAMES, "HEAD")
        self._after = self._committed | dict(_pairs(staged))

    def _run_git(self, *command: str) -> bytes:
        return ask_history(self._root, command, ANSWER_S)


def _pairs(answer: bytes) -> Iterator[tuple[str, str]]:
    """Yield (before, after) of `R100 NUL before NUL after NUL …`."""
    parts = iter(os.fsdecode(answer).split("\0"))
    for status in parts:
        if status.strip().startswith("R"):
            before, after = next(parts, ""), next(parts, "")
            if before and after:
                yield before, after
