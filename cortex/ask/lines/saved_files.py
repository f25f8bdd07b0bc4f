"""The sources of an answer, compared with the files that the indexer read: their stat, or their
content where that leaves it open.
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from cortex.generation.damage import UNREADABLE
from cortex.generation.manifest import TICK_NS, FileDigest, FileState, Listing, Stat, is_unchanged
from cortex.system import files
from cortex.system.folders import path_names
from cortex.terms.text.encodings import read_text

#: no larger manifest is read: files are then not compared
MANIFEST_BYTES_MAX = 80 * 1024 * 1024
#: verdicts on hashed files to keep
VERDICTS_KEPT = 1000
#: seconds for which no answer waits again for a file that went on changing, or was not indexed
VAIN_S = 60.0
#: ending of the names of files that name what is not indexed
IGNORE_ENDING = "ignore"
#: most entries of folders that are looked at for new files
ENTRIES_MAX = 20_000


class SavedFiles:
    """The files below a root, compared with their records in one manifest after another."""

    def __init__(self, root: str, manifest: Path, max_file_kb: int) -> None:
        self._root, self._manifest, self._file_bytes_max = root, manifest, max_file_kb * 1024
        #: file that an answer waited for in vain → its stat, and until when none waits again
        self._vain: dict[str, tuple[Stat | None, float]] = {}
        #: path → (its stat, whether its content was changed), for the last manifest
        self._verdicts: dict[str, tuple[Stat, bool]] = {}

    def forget(self) -> None:
        """Drop the verdicts: there is another manifest."""
        self._verdicts.clear()

    def changed(self, records: Mapping[str, FileState], paths: Iterable[str]) -> set[str]:
        """Return those of `paths` that were changed or removed since `records`, if recorded."""
        changed: set[str] = set()
        doubtful: dict[str, Stat] = {}
        for path in paths:
            record = records.get(path)
            if record is None or not path_names.stays_inside(path):
                continue  # an index must not make us look outside of the project
            state = self.state(path)
            if state is None:
                changed.add(path)
                continue
            verdict = is_unchanged(record, state)
            if verdict is False:
                changed.add(path)
            elif verdict is None:
                doubtful[path] = state
        return changed.union(self._changed_contents(doubtful)) if doubtful else changed

    def state(self, path: str) -> Stat | None:
        """Return the stat of a file; None if it cannot be had, as of a removed one."""
        try:
            info = os.stat(f"{self._root}/{path}")
        except OSError:
            return None
        return info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino

    def may_hold(self, path: str, stems: Collection[str]) -> bool:
        """Whether a file has one of the `stems` (small letters; any text for none) or excludes
        files. A removed or binary file does not, nor one that is too large to be indexed.
        """
        if path.endswith(IGNORE_ENDING):
            return True
        try:
            raw = files.read_plain(f"{self._root}/{path}", self._file_bytes_max + 1)
        except OSError:
            return False
        if len(raw) > self._file_bytes_max or (text := read_text(raw)) is None:
            return False
        haystack = f"{path}\n{text.text}".lower()
        return not stems or any(stem in haystack for stem in stems)

    def worth_waiting(self, unserved: Collection[str]) -> set[str]:
        """Return those of the unserved files that an answer may wait for: not those for which one
        waited in vain, while they go on changing and VAIN_S longer.
        """
        now = time.monotonic()
        self._vain = {path: vain for path, vain in self._vain.items() if path in unserved and vain[1] > now}
        self.note_vain([path for path, (state, _) in self._vain.items() if self.state(path) != state])
        return set(unserved) - self._vain.keys()

    def note_vain(self, paths: Iterable[str]) -> None:
        """Note that an answer waited for these files in vain."""
        until = time.monotonic() + VAIN_S
        self._vain |= {path: (self.state(path), until) for path in paths}

    def new(
        self, records: Mapping[str, FileState], since_ns: int, is_left_out: Callable[[str], bool]
    ) -> set[str]:
        """Return the files without a record that came since `since_ns` (of the epoch) into a folder
        of recorded files, or into a new folder there. `is_left_out`: whether the indexer leaves out
        the file or folder at a path.
        """
        folders = {""}
        for path in filter(path_names.stays_inside, records):
            folder = path.rpartition("/")[0]
            while folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        new: set[str] = set()
        left = ENTRIES_MAX
        waiting = [folder for folder in folders if self._changed_ns(folder) >= since_ns]
        while waiting and left > 0:
            for path, info in self._entries(waiting.pop()).items():
                left -= 1
                is_old = max(info.st_mtime_ns, info.st_ctime_ns) < since_ns
                if is_old or path in records or path in folders or is_left_out(path):
                    continue
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(path)
                elif stat.S_ISREG(info.st_mode):
                    new.add(path)
        return new

    def _changed_ns(self, folder: str) -> int:
        try:
            return os.stat(f"{self._root}/{folder}").st_mtime_ns
        except OSError:
            return 0

    def _entries(self, folder: str) -> dict[str, os.stat_result]:
        """Return path → stat of each entry of a folder, links not followed."""
        try:
            listed = files.entries(f"{self._root}/{folder}")
        except OSError:
            return {}
        return {f"{folder}/{name}" if folder else name: info for name, info in listed.items()}

    def _changed_contents(self, doubtful: Mapping[str, Stat]) -> set[str]:
        judged = {path for path, state in doubtful.items() if self._verdicts.get(path, (None,))[0] == state}
        digests = self._read_digests() if judged != doubtful.keys() else {}
        now_ns = time.time_ns()
        changed = {path for path in judged if self._verdicts[path][1]}
        if len(self._verdicts) > VERDICTS_KEPT:
            self.forget()
        for path in doubtful.keys() - judged:
            state, recorded = doubtful[path], digests.get(path)
            differs = recorded is None or recorded.sha256 != self._digest(path, state[0])
            if differs:
                changed.add(path)
            if max(state[1], state[2]) < now_ns - TICK_NS:  # else a later save may have the same times
                self._verdicts[path] = state, differs
        return changed

    def _digest(self, path: str, size: int) -> str:
        try:
            return hashlib.sha256(files.read_plain(f"{self._root}/{path}", size + 1)).hexdigest()
        except OSError:
            return ""

    def _read_digests(self) -> Mapping[str, FileDigest]:
        """Return the digests of all files, read in doubt alone: they take much memory."""
        try:
            raw = files.read_ours(self._manifest, MANIFEST_BYTES_MAX)
            return msgspec.json.decode(raw, type=Listing[FileDigest]).files
        except (OSError, *UNREADABLE):
            return {}
