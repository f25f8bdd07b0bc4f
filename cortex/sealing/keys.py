"""Keys of projects and memory, stored in their sealed folders and wrapped by the master key.

Notes beside the user's settings, which outlive any cache, name the place of the master key, so that
a locked or lost key is never replaced by another, and all sealed folders, so that a change of the
master key reaches each of them.
"""

import json
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cortex.sealing.master_key import (
    ENVIRONMENT,
    KEYCHAIN_S,
    Master,
    keep_masters,
    make_master,
    named_places,
    read_masters,
)
from cortex.sealing.places import PROJECTS, SealedPlace, project_note
from cortex.sealing.streams import KEY_BYTES, seal_short, unseal_short
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, Misconfigured, Unavailable
from ipc.locks import Lock, hold

#: the wrapped key in a sealed folder; and notes: the place of the master key, and the sealed
#: folders of memory. Notes about projects are in `PROJECTS`, one file for each
KEY, PLACE, ELSEWHERE = "KEY", "place.json", "elsewhere.json"
#: name of the lock beside the notes
LOCK = "keys.lock"
#: largest note, in bytes
NOTE_BYTES_MAX = 16_384
#: seconds to wait for a change of the keys: a keychain may ask its owner meanwhile
LOCK_S = KEYCHAIN_S + 15.0


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A wrapped key on the disk, with the name and place of its master key then."""

    master: str
    place: str
    key: str
    #: the new key during a change of keys, else ""
    following: str = ""


def project_key(store: Path, key_path: str) -> bytes:
    """Return the key of the project with the sealed folder `store`, made if there is none; the
    notes are in the folder above.

    Raises Misconfigured and Unavailable if the master key cannot be had, Damaged if the stored key
    is not ours.
    """
    return project_keys(SealedPlace(store, store, None, key_path))[0]


def project_keys(place: SealedPlace) -> tuple[bytes, bytes]:
    """As `project_key`, for a sealed folder with notes in another one; with the new key during a
    change of keys, else b"".
    """
    base, store = _notes_of(place), place.store
    with _keys_lock(base):
        wrapped = read_wrapped(store)
        if place.is_lasting:
            if wrapped is None and store.is_dir() and files.names(store):  # another key opens nothing
                raise Misconfigured(
                    f"The key in {store / KEY} is gone: put the file back from a copy, or say `cortex key recover --memory` "
                    "with the recovery key; nothing was deleted."
                )
            _note_elsewhere(base, store)
        if wrapped is not None:
            both = _unwrap(store, wrapped, _master_of(wrapped, place.key_path))
            _note_store(base, place)
            return both
        master, key = _master_for_new(base, place.key_path), os.urandom(KEY_BYTES)
        _note_store(base, place)
        _wrap(store, key, master)
        return key, b""


def begin_change(place: SealedPlace) -> bytes:
    """Return a new key for all files of a project; it is valid besides the old one until
    `end_change`. Raises as `project_key`.
    """
    store = place.store
    with _keys_lock(_notes_of(place)):
        wrapped = read_wrapped(store)
        if wrapped is None:
            raise Damaged(f"{store / KEY} is gone.")
        master = _master_of(wrapped, place.key_path)
        key, following = _unwrap(store, wrapped, master)
        following = following or os.urandom(KEY_BYTES)
        _wrap(store, key, master, following)
        return following


def end_change(place: SealedPlace, key: bytes) -> None:
    """Make `key` the project's only key. Raises as `project_key`."""
    with _keys_lock(_notes_of(place)):
        if (wrapped := read_wrapped(place.store)) is not None:
            _wrap(place.store, key, _master_of(wrapped, place.key_path))


def read_wrapped(store: Path) -> Wrapped | None:
    """Return the stored key; None if there is none. Raises Damaged."""
    fields = read_note(store / KEY)
    return None if fields is None else Wrapped(**fields)


def master_place(base: Path) -> tuple[str, str]:
    """Return (place of the master key, its name) from the note; "" if nothing is sealed.
    `base` is the folder of the notes. If the note is damaged or gone, the sealed folders name it.
    """
    try:
        note = read_note(base / PLACE)
    except Damaged:
        note = None
    if note is None:
        intact = (_read_intact(store) for store in (*stores_elsewhere(base), *stores(base)))
        wrapped = next((candidate for candidate in intact if candidate), None)
        note = {"place": wrapped.place, "master": wrapped.master} if wrapped else None
    return (note["place"], note["master"]) if note else ("", "")


def move_notes(former: Path, base: Path) -> None:
    """Move the notes that earlier versions kept in `former`, in the cache, to `base`, and note the
    sealed folders there. Broken off at any point, the next call goes on. Raises Misconfigured and
    Unavailable.
    """
    folders = [name for name, info in files.entries(former).items() if stat.S_ISDIR(info.st_mode)]
    unknown = [former / name for name in folders if not os.path.lexists(project_note(base, name))]
    if not unknown and not any(os.path.lexists(former / name) for name in (PLACE, ELSEWHERE)):
        return
    with _keys_lock(former), _keys_lock(base):  # an earlier version changes keys under the first
        for store in unknown:
            _note_project(base, store)
        for store in _noted_stores(former):
            _note_elsewhere(base, store)
        place, name = master_place(former)
        if place and not os.path.lexists(base / PLACE):
            write_note(base / PLACE, {"place": place, "master": name})
        for note_name in (ELSEWHERE, PLACE):
            files.remove(former / note_name)


def note_memory(base: Path, store: Path) -> None:
    """Note the sealed folder of memory, if it has a key: then the master key wraps that, whatever
    became of the notes. Raises Misconfigured and Unavailable.
    """
    if (store / KEY).is_file() and store not in _noted_stores(base):
        with _keys_lock(base):
            _note_elsewhere(base, store)


def wrap_again(store: Path, key: bytes, base: Path, key_path: str) -> None:
    """Wrap a key that was found otherwise with the master key, made if there is none.

    Raises Misconfigured and Unavailable.
    """
    with _keys_lock(base):
        try:
            master = _master_for_new(base, key_path)
        except Misconfigured:  # the master key of other projects is gone
            master = make_master(key_path)
            write_note(base / PLACE, {"place": master.place, "master": master.name})
        _wrap(store, key, master)
        _note_elsewhere(base, store)


def rotate(base: Path, key_path: str) -> tuple[int, list[str]]:
    """Wrap each project's key with a new master key; return (how many, the folders with a key that
    is damaged, or wrapped by another master key). Sealed files stay as they are. An interrupted
    rotation continues with the next call.

    Raises Misconfigured and Unavailable.
    """
    with _keys_lock(base):
        place, name = master_place(base)
        if not place:
            raise Misconfigured("Nothing is sealed yet, so there is no key to rotate.")
        masters = _renew_masters(base, _find_masters(place, name, key_path))
        done = {str(store): _wrap_anew(store, masters) for store in (*stores(base), *_noted_stores(base))}
        # folders that are not mounted open by the old key until a rotation reaches them
        remaining = masters if _missing_stores(base) else masters[:1]
        keep_masters(masters[0].place, [master.key for master in remaining])
    return sum(done.values()), [store for store, is_done in done.items() if not is_done]


def forget_master(base: Path, key_path: str = "", *, everything: bool = False) -> str:
    """Delete the master key, and with it the sealed data of all projects; return a message about a
    place that we may not empty, "" for none. Sealed data elsewhere is wrapped by a new master key
    first, unless `everything`.

    Raises Misconfigured, also if a folder elsewhere is not mounted, and Unavailable; then nothing
    is deleted.
    """
    with _keys_lock(base):
        if not everything and (missing := _missing_stores(base)):
            raise Misconfigured(
                f"{missing[0]} is missing, and could not be opened again without the key: mount it first, or delete "
                f"{base / ELSEWHERE} if it is gone for good."
            )
        place, name = master_place(base)
        spared = [] if everything else [store for store in stores_elsewhere(base) if _read_intact(store)]
        left, new = "", list[bytes]()
        try:
            if spared and place != ENVIRONMENT:
                masters = _renew_masters(base, _find_masters(place, name, key_path))
                _check_wrapped({store: _wrap_anew(store, masters) for store in spared})
                place, new = masters[0].place, [masters[0].key]
            if place:
                keep_masters(place, new)
        except Misconfigured as error:
            if spared and place != ENVIRONMENT:
                raise
            left = str(error)
        # the folders stay, so that the projects still count as sealed
        for store in (*stores(base), *(stores_elsewhere(base) if everything else ())):
            for file_name in files.names(store):
                files.remove_tree(store / file_name)
        if not spared:
            files.remove(base / PLACE)
    return left


def stores(base: Path) -> Iterator[Path]:
    """Yield the existing sealed folders of projects, in any cache."""
    try:
        names = sorted(files.names(base / PROJECTS))
    except FileNotFoundError:
        return
    for name in names:
        for store in _read_stores(base / PROJECTS / name):
            if (store / KEY).is_file():
                yield store


def stores_elsewhere(base: Path) -> list[Path]:
    """List the existing sealed folders in other places."""
    return [store for store in _noted_stores(base) if (store / KEY).is_file()]


def _noted_stores(base: Path) -> list[Path]:
    """As `stores_elsewhere`, including missing ones, for example on a disk that is not mounted."""
    return _read_stores(base / ELSEWHERE)


def _read_stores(path: Path) -> list[Path]:
    """Return the folders in a note, none if it is missing or damaged."""
    try:
        return [Path(store) for store in sorted(read_note(path) or {})]
    except Damaged:
        return []


def _missing_stores(base: Path) -> list[Path]:
    return [store for store in _noted_stores(base) if not store.is_dir()]


def forget_store(place: SealedPlace) -> None:
    """Remove the note of a sealed folder that is no longer sealed."""
    base = _notes_of(place)
    with _keys_lock(base):
        if place.is_lasting:
            remaining = [store for store in _noted_stores(base) if store != place.store]
            write_note(base / ELSEWHERE, {os.fspath(store): "" for store in remaining})
        else:
            files.remove(project_note(base, place.store.name))


def _notes_of(place: SealedPlace) -> Path:
    return place.keys or place.store.parent


def _note_store(base: Path, place: SealedPlace) -> None:
    if not place.is_lasting:
        _note_project(base, place.store)


def _note_project(base: Path, store: Path) -> None:
    _add_store(project_note(base, store.name), store)


def _note_elsewhere(base: Path, store: Path) -> None:
    _add_store(base / ELSEWHERE, store)


def _add_store(path: Path, store: Path) -> None:
    noted = _read_stores(path)
    if store not in noted:
        files.make_private(path.parent)
        write_note(path, {os.fspath(other): "" for other in (*noted, store)})


def _renew_masters(base: Path, masters: list[Master]) -> list[Master]:
    """Return the new and the last master key; both stay until all keys are wrapped anew."""
    if len(masters) == 1:  # two: a rotation was interrupted
        keep_masters(masters[0].place, [os.urandom(KEY_BYTES), masters[0].key])
        masters = read_masters(masters[0].place)
    write_note(base / PLACE, {"place": masters[0].place, "master": masters[0].name})
    return masters


def _check_wrapped(done: dict[Path, bool]) -> None:
    for store, is_done in done.items():
        if not is_done:
            raise Misconfigured(
                f"{store} is wrapped by a key that is missing, and would be lost: recover it first, by `cortex key "
                "recover --memory`."
            )


def _keys_lock(base: Path) -> Lock:
    try:
        files.make_folder(base, anywhere=True)
        files.make_private(base)
    except OSError as error:
        raise Misconfigured(
            f"Cannot write {base}, the notes about sealed data: {error.strerror or error}; make it a writable folder "
            "of yours."
        ) from error
    return hold(
        base / LOCK,
        lambda holder: Unavailable(
            f"Process {holder} has looked at or changed the keys for {LOCK_S:g} s; end it, and try again."
        ),
        wait_s=LOCK_S,
    )


def _master_for_new(base: Path, key_path: str) -> Master:
    """Return the master key of the other projects, else a new one."""
    place, name = master_place(base)
    if place:
        return next(candidate for candidate in _find_masters(place, name, key_path) if candidate.name == name)
    master = make_master(key_path)
    write_note(base / PLACE, {"place": master.place, "master": master.name})
    return master


def _master_of(wrapped: Wrapped, key_path: str) -> Master:
    masters = _find_masters(wrapped.place, wrapped.master, key_path)
    return next(master for master in masters if master.name == wrapped.master)


def _find_masters(place: str, name: str, key_path: str) -> list[Master]:
    """Return the keys of the first place that has the key with this name. Raises Misconfigured,
    which lists all places that were tried, or Unavailable.
    """
    faults: list[str] = []
    for candidate in dict.fromkeys((*named_places(key_path), place)):
        try:
            masters = read_masters(candidate)
        except CortexError as error:
            if candidate == place:
                raise
            faults.append(str(error))
            continue
        if any(master.name == name for master in masters):
            return masters
        faults.append(f"{candidate}: {'another key' if masters else 'none'}")
    raise Misconfigured(
        f"The key of the sealed data is missing (tried {'; '.join(faults)}): restore the key that was in {place} "
        "(nothing was deleted), or give up the sealed data by `cortex key forget`. Memory also opens by its recovery key "
        "(`cortex key recover --memory`)."
    )


def _read_intact(store: Path) -> Wrapped | None:
    try:
        return read_wrapped(store)
    except Damaged:
        return None


def _purpose(store: Path) -> bytes:
    return b"cortex-project-key\0" + store.name.encode()


def _wrap(store: Path, key: bytes, master: Master, following: bytes = b"") -> None:
    files.make_private(store)
    note = {"master": master.name, "place": master.place}
    note["key"] = seal_short(master.key, _purpose(store), key).hex()
    if following:
        note["following"] = seal_short(master.key, _purpose(store), following).hex()
    write_note(store / KEY, note)


def _wrap_anew(store: Path, masters: list[Master]) -> bool:
    """Wrap the project's key with the first master key; return whether that succeeded. It fails for
    a damaged key, or one wrapped by none of them.
    """
    wrapped = _read_intact(store)
    old = next((master for master in masters if wrapped and master.name == wrapped.master), None)
    if wrapped is None or old is None:
        return False
    if old.name != masters[0].name:
        try:
            key, following = _unwrap(store, wrapped, old)
        except Damaged:
            return False
        _wrap(store, key, masters[0], following)
    return True


def _unwrap(store: Path, wrapped: Wrapped, master: Master) -> tuple[bytes, bytes]:
    """Return the key, and the new key during a change."""
    both = [bytes.fromhex(wrapped_key) for wrapped_key in (wrapped.key, wrapped.following)]
    try:
        key, following = (unseal_short(master.key, _purpose(store), raw) if raw else b"" for raw in both)
    except (Damaged, ValueError) as error:
        raise Damaged(f"{store / KEY} was not written for this folder, or changed since.") from error
    return key, following


def write_note(path: Path, content: dict[str, str]) -> None:
    """Write a note with its checksum, which tells a damaged note from one about another key."""
    body = json.dumps(content).encode()
    files.replace(path, b"%08x\n" % zlib.crc32(body) + body, sync=True)


def read_note(path: Path) -> dict[str, str] | None:
    """Read a note of `write_note`; None if there is none. Raises Damaged, OSError."""
    try:
        raw = files.read_ours(path, NOTE_BYTES_MAX)
    except FileNotFoundError:
        return None
    head, _, body = raw.partition(b"\n")
    if head != b"%08x" % zlib.crc32(body):
        raise Damaged(f"{path} fails its checksum.")
    content: dict[str, str] = json.loads(body)
    return content
