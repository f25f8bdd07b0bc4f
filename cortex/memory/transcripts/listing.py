"""What the formats share: where files are, and values of a line that may be anything."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cortex.system import files

#: what a file of lines of JSON is called
_ENDING = ".jsonl"


def folders_in(folder: Path) -> Iterator[Path]:
    """The folders in a folder, by name; no links. None when it cannot be listed."""
    yield from (path for path, info in _in(folder) if stat.S_ISDIR(info.st_mode))


def jsonl_in(folder: Path) -> Iterator[Path]:
    """The files of lines of JSON in a folder, by name."""
    yield from (
        path for path, info in _in(folder) if path.name.endswith(_ENDING) and stat.S_ISREG(info.st_mode)
    )


def _in(folder: Path) -> Iterator[tuple[Path, Any]]:
    try:
        listed = files.entries(folder)
    except OSError:
        return
    yield from ((folder / name, listed[name]) for name in sorted(listed))


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
