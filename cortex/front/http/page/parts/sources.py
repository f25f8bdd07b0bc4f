"""A project's files for the page: the indexer's list, with the number of lines of each."""

import asyncio
import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cortex.generation.manifest import Entry, Listing
from cortex.settings.config import Config
from cortex.system import files
from cortex.terms.languages import language_of

#: maximum of files with counted lines; the others are estimated from their size
COUNTED_MAX = 3_000
#: maximum of bytes of a file with counted lines
COUNTED_BYTES_MAX = 2 << 20
#: maximum of cached counts: each takes some 200 bytes
KEPT_MAX = 20_000
#: bytes of a line, for estimates: the median of usual code
LINE_BYTES = 36


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One served file; `lines` is an estimate if `counted` is False."""

    path: str
    language: str
    size: int
    lines: int
    counted: bool


async def languages(config: Config) -> list[str]:
    """Return the languages of the project, the most frequent first."""
    return await asyncio.to_thread(_languages, config)


async def sources(config: Config) -> list[SourceFile]:
    """Return the files with chunks, the largest first; files deleted since are no error."""
    return await asyncio.to_thread(_sources, config)


def listing(config: Config) -> Listing[Entry]:
    """Return the indexer's list; a changed one is read again."""
    path = config.manifest
    try:
        file_stat = path.stat()
    except OSError:
        return Listing()
    return _listing(path, file_stat.st_mtime_ns, file_stat.st_ino)


@functools.lru_cache(maxsize=4)
def _listing(path: Path, _mtime_ns: int, _inode: int) -> Listing[Entry]:
    from cortex.indexer.store import manifest

    return manifest.load(path)


def _languages(config: Config) -> list[str]:
    entries = listing(config).files.items()
    return [
        name for name, _ in Counter(language(path) for path, entry in entries if entry.chunks).most_common()
    ]


def _sources(config: Config) -> list[SourceFile]:
    entries: Mapping[str, Entry] = {
        path: entry for path, entry in listing(config).files.items() if entry.chunks
    }
    order = sorted(entries, key=lambda path: (-entries[path].size, path))
    return [_source(config.root, path, entries[path], at < COUNTED_MAX) for at, path in enumerate(order)]


def _source(root: Path, path: str, entry: Entry, looks: bool) -> SourceFile:
    lines = _lines(root / path, entry.size, entry.sha256) if looks else None
    estimated = max(1, entry.size // LINE_BYTES)
    return SourceFile(
        path, language(path), entry.size, estimated if lines is None else lines, lines is not None
    )


@functools.lru_cache(maxsize=KEPT_MAX)
def _lines(path: Path, size: int, _sha256: str) -> int | None:
    """Return the number of lines, None if they cannot be counted."""
    if size > COUNTED_BYTES_MAX:
        return None
    try:
        return max(1, files.read_plain(path, COUNTED_BYTES_MAX).count(b"\n"))
    except OSError:
        return None


def language(path: str) -> str:
    return language_of(path).name
