"""Which files a first run reads first: those that questions are about. Tests and documents come
last.

Cheap signals only, for nothing has been parsed yet: what a path says, what git saw change last, and
which names stand in imports.
The order decides when a file is served, never what becomes of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cortex.indexer.import_counts import most_referred
from cortex.system import git
from cortex.terms.languages import OTHER, language_of
from cortex.terms.paths import EMPTY_STEMS, is_built, is_example, is_foreign, is_test

#: seconds that git may take; without its answer the paths alone decide
GIT_S = 1.0
#: commits that are looked at: what was changed longer ago is not what is worked on
COMMITS_MAX = 300
#: bytes of git's answer that are read: one commit may name every file
LOG_BYTES_MAX = 4 << 20
#: stems of files in which a program begins
ENTRY_STEMS = frozenset(
    "main __main__ app application cli cmd server index lib mod program manage wsgi asgi core api".split()
)
#: the rank of a file that nothing speaks for: behind all that git names
NEVER = 1 << 30
#: tree against tree: no content is compared, so that nothing of the repository's is needed for it
_LOG = (
    "log", "--name-only", "--relative", "-z", "--format=", "--no-renames", "--no-ext-diff", "--no-textconv",
    f"--max-count={COMMITS_MAX}",
)  # fmt: skip


def group_by_priority(root: Path, paths: Iterable[str], first: int) -> list[set[str]]:
    """`paths` in up to three groups: the `first` that matter most, the other sources, then tests,
    examples, documents and what nobody of the project wrote. No group is empty.
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
    """Path below `root` → how many files changed after it did, as far as git says so at once."""
    ranks: dict[str, int] = {}
    for raw in git.ask(root, _LOG, GIT_S, LOG_BYTES_MAX).split(b"\0"):
        if path := os.fsdecode(raw.strip(b"\n")):
            ranks.setdefault(path, len(ranks))
    return ranks


def _entry_rank(path: str) -> int:
    """Entry points as if they had just been changed: the less deep, the sooner."""
    stem = path.rpartition("/")[2].partition(".")[0].lower()
    return path.count("/") if stem in ENTRY_STEMS or stem in EMPTY_STEMS else NEVER


def _is_late(path: str) -> bool:
    language = language_of(path)
    no_code = language.kind != "code" or language is OTHER
    return no_code or is_test(path) or is_example(path) or is_foreign(path) or is_built(path)
