"""The sealed folder of a project: each plain file as a separate object, and a sealed list of paths
and objects, replaced by one rename. Only changed files are sealed.

Knows the meaning of files in two cases only: files that refer to others, and files not worth
sealing.
"""

import io
import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from cortex.sealing.streams import seal, unseal
from cortex.system import files
from cortex.system.errors import Damaged
from cortex.system.folders import path_names

#: the sealed list, and the folder of objects
LIST, OBJECTS = "LIST", "objects"
#: random bytes of an object's name, which reveals nothing
NAME_BYTES = 12
#: largest list, in bytes: some 150 for each file
LIST_BYTES_MAX = 256 << 20
#: files that are not sealed: locks, logs, temporary files, tantivy's working folder, which is made
#: again from the published files, and vectors that can be computed again
_LEFT_OUT = re.compile(r"(?:.*/)?(?:[^/]*\.(?:lock|log|log\.1|tmp|aside))|index/\d+/text/writer|embeddings")
#: files that refer to others, and are written after them. They are sealed first: the files that
#: they refer to may then be newer, as after a kill, and never older
_VOUCHES = re.compile(r"index/\d+/CURRENT|manifest[^/]*\.json|graph/\.facts/state\.msgpack")


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A file: its object, and the path and list number that went into its encryption; hard links
    share an object.
    """

    object: str
    path: str
    number: int
    size: int
    mtime_ns: int
    inode: int


class SealedList(msgspec.Struct, frozen=True):
    """All sealed files by path. `number` rises with each list."""

    number: int = 0
    files: dict[str, Entry] = msgspec.field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Bytes of the plain files, hard links counted once."""
        return sum({entry.object: entry.size for entry in self.files.values()}.values())


@dataclass(slots=True)
class Mirror:
    """The sealed folder `store` of `home`, by the project's `key`. One caller at a time."""

    store: Path
    home: Path
    key: bytes
    listed: SealedList = field(default_factory=SealedList)

    def read(self) -> SealedList:
        """Read the list of sealed files. Raises OSError, Damaged if not sealed here by this key."""
        plain = io.BytesIO()
        try:
            with files.open_ours(self.store / LIST) as file:
                unseal(self.key, self._purpose("", LIST, 0), file, plain)
            self.listed = msgspec.msgpack.decode(plain.getvalue(), type=SealedList)
        except FileNotFoundError:
            self.listed = SealedList()
        except (Damaged, msgspec.DecodeError) as error:
            raise Damaged(f"{self.store / LIST} cannot be used: {error}") from error
        return self.listed

    def restore(self) -> None:
        """Write the plain files of `listed`, with their modification times. Raises Damaged with the
        file's name, and OSError.
        """
        restored: dict[str, Path] = {}
        entries: dict[str, Entry] = {}
        for path, entry in self.listed.files.items():
            place = self._place(path)
            files.make_folder(place.parent)
            if entry.object in restored:
                files.link(restored[entry.object], place)
            else:
                self._unseal(entry, place)
                restored[entry.object] = place
            inode = os.stat(place, follow_symlinks=False).st_ino
            entries[path] = Entry(entry.object, entry.path, entry.number, entry.size, entry.mtime_ns, inode)
        self.listed = SealedList(self.listed.number, entries)

    def seal(self, spared: Collection[str] = ()) -> bool:
        """Seal the changes since `listed`, which becomes the present list; return whether there
        were any. `spared`: objects in a list with another key, needed until the new list replaces
        it.

        Raises OSError; then `listed` and the sealed list are unchanged.
        """
        try:
            return self._seal_changed()
        except OSError:
            self._prune(spared)  # objects sealed until then would take the space of the next try
            raise

    def _seal_changed(self) -> bool:
        old_entries, number = self.listed.files, self.listed.number + 1
        shared = {(entry.inode, entry.size, entry.mtime_ns): entry for entry in old_entries.values()}
        new_entries: dict[str, Entry] = {}
        for path, info in self._files():
            identity = info.st_ino, info.st_size, info.st_mtime_ns
            if identity not in shared:
                sealed = self._seal(path, info, number)
                if sealed is None:
                    continue
                shared[identity] = sealed
            new_entries[path] = shared[identity]
        if new_entries != old_entries or not self.listed.number:
            self._replace(SealedList(number, new_entries))
        self._prune()
        return number == self.listed.number

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        listed = sorted(_walk_files(self.home, ""), key=lambda row: (not _VOUCHES.fullmatch(row[0]), row[0]))
        for path, _ in listed:
            try:
                info = os.stat(self.home / path, follow_symlinks=False)
            except FileNotFoundError:  # removed since
                continue
            if stat.S_ISREG(info.st_mode):
                yield path, info

    def _seal(self, path: str, info: os.stat_result, number: int) -> Entry | None:
        name = os.urandom(NAME_BYTES).hex()
        place = self.store / OBJECTS / name
        files.make_folder(place.parent)
        try:
            with files.open_ours(self.home / path) as plain, files.replacing(place) as sealed:
                size = seal(self.key, self._purpose(name, path, number), plain, sealed)
        except FileNotFoundError:  # removed since
            return None
        if size != info.st_size:  # it is being written: the next run sees another time or size
            return Entry(name, path, number, size, -1, 0)
        return Entry(name, path, number, size, info.st_mtime_ns, info.st_ino)

    def _replace(self, listed: SealedList) -> None:
        """Replace the list, its objects flushed first: it is never newer than they are."""
        old = {entry.object for entry in self.listed.files.values()}
        for name in {entry.object for entry in listed.files.values()} - old:
            files.sync(self.store / OBJECTS / name)
        if os.path.isdir(self.store / OBJECTS):
            files.sync(self.store / OBJECTS)
        raw = io.BytesIO(msgspec.msgpack.encode(listed))
        with files.replacing(self.store / LIST, sync=True) as sealed:
            seal(self.key, self._purpose("", LIST, 0), raw, sealed)
        files.sync(self.store)
        self.listed = listed

    def _prune(self, spared: Collection[str] = ()) -> None:
        used_names = {entry.object for entry in self.listed.files.values()} | set(spared)
        try:
            left = [name for name in files.names(self.store / OBJECTS) if name not in used_names]
        except FileNotFoundError:
            return
        for name in left:
            files.remove(self.store / OBJECTS / name)

    def _unseal(self, entry: Entry, place: Path) -> None:
        source = self.store / OBJECTS / entry.object
        moment_ns = max(0, entry.mtime_ns)
        try:
            with files.open_ours(source) as sealed, files.replacing(place, moment_ns=moment_ns) as plain:
                size = unseal(self.key, self._purpose(entry.object, entry.path, entry.number), sealed, plain)
        except FileNotFoundError as error:
            raise Damaged(f"{source} is gone.") from error
        except Damaged as error:
            raise Damaged(f"{source} cannot be used: {error}") from error
        if size != entry.size:
            raise Damaged(f"{source} holds {size} bytes, not {entry.size}.")

    def _place(self, path: str) -> Path:
        if not path_names.stays_inside(path):
            raise Damaged(f"{self.store / LIST} names {path!r}, which is outside the project's folder.")
        return self.home / path

    def _purpose(self, name: str, path: str, number: int) -> bytes:
        """Return the purpose of an object, with its own name: list numbers start again if the list
        was removed.
        """
        place = f"{self.store.name}\0{name}\0{number}\0".encode()
        return b"cortex-file\0" + place + os.fsencode(path)


def _walk_files(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield (path relative to the first folder, status) of the files worth sealing."""
    try:
        listed = files.entries(folder)
    except (FileNotFoundError, NotADirectoryError):  # removed since
        return
    for name, info in listed.items():
        path = f"{prefix}{name}"
        if _LEFT_OUT.fullmatch(path):
            continue
        if stat.S_ISDIR(info.st_mode):
            yield from _walk_files(folder / name, f"{path}/")
        elif stat.S_ISREG(info.st_mode):
            yield path, info
