"""Helpers for all formats: folders of sessions, values of a line that may have any type, and git's
commits in a shell.
"""

import re
import stat
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cortex.system import files

#: suffix of a file of JSON lines
_ENDING = ".jsonl"
#: a command that may commit, and git's message about a commit
_COMMITS = re.compile(r"\bgit\b[^\n;&|]{0,200}\bcommit\b")
_COMMIT_MADE = re.compile(r"^\[[^\]\n]{1,200}? ([0-9a-f]{7,40})\] ", re.MULTILINE)
#: characters of a command and of its output that are searched
_SHELL_CHARS = 4_000


def folders_in(folder: Path) -> Iterator[Path]:
    """The folders in a folder, by name, without links; none if it cannot be listed."""
    yield from (path for path, info in _entries_in(folder) if stat.S_ISDIR(info.st_mode))


def jsonl_in(folder: Path) -> Iterator[Path]:
    """The files of JSON lines in a folder, by name."""
    yield from (
        path
        for path, info in _entries_in(folder)
        if path.name.endswith(_ENDING) and stat.S_ISREG(info.st_mode)
    )


def _entries_in(folder: Path) -> Iterator[tuple[Path, Any]]:
    try:
        listed = files.entries(folder)
    except OSError:
        return
    yield from ((folder / name, listed[name]) for name in sorted(listed))


def may_commit(command: str) -> bool:
    return bool(_COMMITS.search(command[:_SHELL_CHARS]))


def commits_in(printed: str) -> Iterable[str]:
    """The hashes of commits in git's messages."""
    return (match[1] for match in _COMMIT_MADE.finditer(printed[:_SHELL_CHARS]))


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def moment_of(value: Any) -> int:
    """UTC milliseconds of an ISO 8601 text; 0 for anything else."""
    if not isinstance(value, str) or len(value) > 40:
        return 0
    try:
        moment = datetime.fromisoformat(value)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
