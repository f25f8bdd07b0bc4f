"""Consent to the chunk files and graph files that other programs wrote into a project: they may
come with a clone or an archive, so none is read before a person has agreed.

Files that git does not track are covered by one consent for the project's folder in its place (real
path and birth time). A pull may replace the tracked ones, so for those the consent is for their
content.
"""

import functools
import hashlib
import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cortex.settings.consent.trust import note_of, remove_note, write_note
from cortex.settings.folders.home import PROJECT_FOLDER
from cortex.system import files, git, git_files
from cortex.system.folders.birth import folder_mark

#: largest stored consent, in bytes: some 150 for each file that git tracks
NOTE_BYTES_MAX = 16 << 20
#: largest file that a consent by content covers, in bytes
FILE_BYTES_MAX = 512 << 20
#: bytes that are hashed at once
_PART_BYTES = 1 << 20

#: file name, relative to the project → its status
Stats = Mapping[str, os.stat_result]
#: a value that differs once a file was replaced or written
_Identity = tuple[int, ...]


class _Note(msgspec.Struct):
    """A stored consent."""

    root: str
    #: identity of the project's folder
    place: str
    #: file → the digest of its content, which counts while git tracks it
    sha256: dict[str, str] = {}


@dataclass
class Consent:
    """The consent for one project. Its caches need no lock: they hold derived values."""

    root: Path
    #: whether the person's own settings trust all files of this project
    always: bool
    #: place of the stored consent
    note: Path
    _note: tuple[_Identity, _Note | None] = ((), None)
    #: (identity of git's index, file → whether git tracks it)
    _tracked: tuple[_Identity, dict[str, bool]] = field(default_factory=lambda: ((), {}))
    _digests: dict[str, tuple[_Identity, str]] = field(default_factory=dict)

    def approved(self, stats: Stats) -> Collection[str]:
        """Return the names in `stats` that may be read."""
        if self.always or not stats:
            return stats.keys()
        identity = _identity(self.note)
        if identity != self._note[0]:
            self._note = identity, _load(self.note)
        note = self._note[1]
        if note is None or note.root != os.fsdecode(self.root) or note.place != place_of(self.root):
            return ()
        tracked = self.tracked(stats)
        return {
            name
            for name, info in stats.items()
            if name not in tracked or (name in note.sha256 and note.sha256[name] == self.digest(name, info))
        }

    def tracked(self, names: Collection[str]) -> frozenset[str]:
        """Return those of `names` that a pull may replace: all of them where git cannot tell."""
        inner = self.root / PROJECT_FOLDER
        if any(os.path.lexists(folder / ".git") for folder in (inner, inner / "chunks", inner / "graph")):
            return frozenset(names)
        places = (git_files.git_dir(top) for top in (self.root, *self.root.parents))
        repository = next((place for place in places if git_files.is_git_folder(os.fspath(place))), None)
        if repository is None:
            return frozenset()
        index = _identity(repository / "index")
        if index != self._tracked[0]:
            self._tracked = index, {}
        is_tracked = self._tracked[1]
        if new := [name for name in names if name not in is_tracked]:
            untracked = git.untracked(self.root, new)
            is_tracked.update((name, name not in untracked) for name in new)
        return frozenset(name for name in names if is_tracked[name])

    def digest(self, name: str, info: os.stat_result) -> str:
        """Return the SHA-256 of a file; "" if it cannot be read or is too large."""
        identity = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        cached = self._digests.get(name)
        if cached is None or cached[0] != identity:
            cached = self._digests[name] = identity, _hash(self.root / name)
        return cached[1]


@functools.lru_cache(maxsize=64)
def _consent(root: Path, note: Path, always: bool) -> Consent:
    return Consent(root, always, note)


def consent_of(root: Path, *, always: bool) -> Consent:
    """Return the consent for the project in `root`, with its caches."""
    return _consent(root, chunk_note_of(root), always)


def chunk_note_of(root: Path) -> Path:
    """Return the path of the stored consent for the project in `root`."""
    return note_of(root).with_suffix(".files.json")


def place_of(root: Path) -> str:
    """Return a value that differs for another folder at the same path."""
    try:
        info = os.lstat(root)
    except OSError:
        return ""
    return folder_mark(root) or f"{info.st_dev}:{info.st_ino}"


def give_chunk_consent(root: Path, digests: Mapping[str, str]) -> None:
    """Store consent for the folder, and for files with these digests. Raises Misconfigured."""
    content: dict[str, Any] = {
        "root": os.fsdecode(root),
        "place": place_of(root),
        "sha256": {name: digest for name, digest in digests.items() if digest},
    }
    write_note(chunk_note_of(root), json.dumps(content).encode())


def revoke_chunk_consent(root: Path) -> bool:
    """Remove the consent; False if there was none. Raises Misconfigured."""
    return remove_note(chunk_note_of(root))


def _load(path: Path) -> _Note | None:
    """Return a stored consent; None without one that this user wrote."""
    try:
        return msgspec.json.decode(files.read_ours(path, NOTE_BYTES_MAX), type=_Note)
    except (OSError, ValueError, RecursionError):
        return None


def _identity(path: Path) -> _Identity:
    try:
        info = os.lstat(path)
    except OSError:
        return ()
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _hash(path: Path) -> str:
    hashed, left = hashlib.sha256(), FILE_BYTES_MAX
    try:
        with files.open_plain(path) as file:
            while part := file.read(_PART_BYTES):
                left -= len(part)
                if left < 0:
                    return ""
                hashed.update(part)
    except OSError:
        return ""
    return hashed.hexdigest()
