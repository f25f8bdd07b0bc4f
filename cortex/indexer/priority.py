"""The reading order of a first run: the files that queries are about come first, tests and
documents last.

It uses only cheap signals, because nothing has been parsed yet: the path, git's latest changes, and
names in imports. The order decides when a file is served, never how it is indexed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cortex.indexer.import_counts import most_referred
from cortex.settings.folders.own_commits import ask_history
from cortex.terms.languages import OTHER, language_of
from cortex.terms.paths import EMPTY_STEMS, is_built, is_example, is_foreign, is_test

#: seconds that git may take; without its answer the paths alone decide
GIT_S = 1.0
#: commits to read: older changes are not current work
COMMITS_MAX = 300
#: bytes to read of git's answer: one commit may name every file
LOG_BYTES_MAX = 4 << 20
#: stems of files with entry points of programs
ENTRY_STEMS = frozenset(
    "main __main__ app application cli cmd server index lib mod program manage wsgi asgi core api".split()
)
#: the rank of a file without a signal: after all files that git names
NEVER = 1 << 30
#: only trees are compared, no contents, so git runs no program that the repository configures
_LOG = (
    "log", "--name-only", "--relative", "-z", "--format=", "--no-renames", "--no-ext-diff", "--no-textconv",
    f"--max-count={COMMITS_MAX}",
)  # fmt: skip


def group_by_priority(root: Path, paths: Iterable[str], first: int) -> list[set[str]]:
    """Return `paths` in up to three groups: the `first` most important, the other sources, then
    tests, examples, documents and foreign files. No group is empty.
    """
    late: set[str] = set()
    early: list[str] = []
    for path in paths:
        late.add(path) if _is_late(path) else early.append(path)
    recent = recently_changed(root)
    ranks = {path: min(recent.get(path, NEVER), _entry_rank(path)) for path in early}
    for rank, path in enumerate(most_referred(root, early) if len(early) > first else ()):
        ranks[path] = min(ranks[path], rank)
    early.sort(key=lambda path: (ranks[path], path.count("/"), path))
    return [group for group in (set(early[:first]), set(early[first:]), late) if group]


def recently_changed(root: Path) -> dict[str, int]:
    """Return path below `root` → count of files with later changes, from git within GIT_S."""
    ranks: dict[str, int] = {}
    for raw in ask_history(root, _LOG, GIT_S, LOG_BYTES_MAX).split(b"\0"):
        if path := os.fsdecode(raw.strip(b"\n")):
            ranks.setdefault(path, len(ranks))
    return ranks


def _entry_rank(path: str) -> int:
    """Rank entry points like files that were just changed, shallow ones first."""
    stem = path.rpartition("/")[2].partition(".")[0].lower()
    return path.count("/") if stem in ENTRY_STEMS or stem in EMPTY_STEMS else NEVER


def _is_late(path: str) -> bool:
    language = language_of(path)
    no_code = language.kind != "code" or language is OTHER
    return no_code or is_test(path) or is_example(path) or is_foreign(path) or is_built(path)
