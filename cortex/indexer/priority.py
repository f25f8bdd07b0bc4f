"""The reading order of a first run: the files that queries are about come first, tests and
documents last.

It uses only cheap signals, because nothing has been parsed yet: the path, git's latest changes, and
names in imports. The order decides when a file is served, never how it is indexed.
"""

import contextlib
import os
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from cortex.settings.folders.own_commits import ask_history
from cortex.system.files import read_plain
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
#: bytes read of a file: imports are at its top
HEAD_BYTES = 4_096
#: time limit in seconds; the counts until then decide
LOOK_S = 1.0
#: fewest referring files that mean anything
REFERRED_MIN = 2.0

#: the text after the import keywords of most languages; and a line of Go's list of imports
_IMPORT = re.compile(
    rb"^[ \t]*(?:(?:#[ \t]*include|@?import|from|use|using|require\w*|mod|load|alias|open|extern crate"
    rb"|export[^\n]{0,200}\bfrom|(?:const|let|var|local)\b[^\n=]{0,200}=[^\n]{0,40}\brequire)\b([^\n]{1,300})"
    rb"|(?:\w+[ \t]+)?\"([\w./-]+/[\w.-]+)\"[ \t]*$)",
    re.MULTILINE,
)
_WORD = re.compile(rb"[a-z_][a-z0-9_-]*")


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


def most_referred(root: Path, paths: Collection[str]) -> list[str]:
    """Return those of `paths` that other files name, the most often named first: in lines of an
    import, include or require. A name that many files share counts little for each of them.
    """
    names = {path: _import_name(path) for path in paths}
    sharing = Counter(names.values())
    mentions: Counter[bytes] = Counter()
    until = time.monotonic() + LOOK_S
    for path in paths:
        with contextlib.suppress(OSError):
            head = read_plain(root / path, HEAD_BYTES)
            mentions.update(_imported_words(head).intersection(sharing) - {names[path]})
        if time.monotonic() >= until:
            break
    scores = {path: mentions[name] / sharing[name] for path, name in names.items()}
    referred = [path for path in paths if scores[path] >= REFERRED_MIN]
    return sorted(referred, key=lambda path: (-scores[path], path))


def _import_name(path: str) -> bytes:
    """Return a file's name in imports: its stem, or its folder for a generic stem and in Go."""
    *folders, file = path.lower().split("/")
    stem, _, suffix = file.partition(".")
    if folders and (stem in EMPTY_STEMS or suffix == "go"):
        stem = folders[-1]
    return stem.encode(errors="surrogateescape")


def _imported_words(head: bytes) -> set[bytes]:
    """Return the words, in lower case, of the import lines."""
    return {
        word for match in _IMPORT.finditer(head) for word in _WORD.findall((match[1] or match[2]).lower())
    }
