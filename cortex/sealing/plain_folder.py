"""The plain folder of a sealed one: its first user opens it, its last seals and removes it. Folders
of killed processes are removed by the next process.

Each process that uses a folder has a shared lock on it until it ends. The project's key is next to
the plain files, in memory as they are, so a worker needs no access to the master key, also in a
sandbox.
"""

import atexit
import contextlib
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from cortex.sealing.keys import KEY, begin_change, end_change, forget_store, project_keys
from cortex.sealing.mirror import LIST, LIST_BYTES_MAX, OBJECTS, Mirror, SealedList
from cortex.sealing.places import NAME, SealedPlace, check_room, is_in_memory, make_base, plain_base
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, Unavailable
from cortex.system.folders.wiping import wipe_tree
from cortex.system.process.core_dumps import forbid_dumps
from ipc.locks import Lock, hold, holder_of, share, try_lock

log = logging.getLogger(__name__)

#: files in the folder in memory: lock for opening, sealing and closing; lock shared by its users;
#: note of an open folder with its key; list of the sealed files
TURN, USED, OPEN, LISTED = "turn.lock", "used.lock", "open.json", "listed.msgpack"
#: seconds that another process may take to open or close it: 2 GB take some five
TURN_S = 120.0
#: largest OPEN, in bytes: a path and a key
OPEN_BYTES_MAX = 65_536

#: plain folders in use by this process
_used: dict[Path, Lock] = {}


def ensure_open(place: SealedPlace) -> None:
    """Open the plain folder, unless it is open, and share it until this process ends. Then remove
    plain files on the disk from before it was sealed.

    Raises Misconfigured, Unavailable and OSError.
    """
    forbid_dumps()
    lock = _used.get(place.base)
    if lock is None or lock.lost or not (place.base / OPEN).is_file():
        _begin(place)
    _remove_old(place)


def _begin(place: SealedPlace) -> None:
    make_base(place.base)
    with _turn_lock(place.base):
        _leave(place.base)
        alone = try_lock(place.base / USED)
        if alone is not None:
            alone.release()  # no other process can come meanwhile: we hold the turn lock
        if alone is not None or not (place.base / OPEN).is_file():
            _clear(place.base)
            _open(place)
        if not _used:
            atexit.register(_leave_all)
        _used[place.base] = share(place.base / USED)


def hold_open(base: Path) -> Lock:
    """Share an open plain folder that other processes use, without its SealedPlace."""
    forbid_dumps()
    with _turn_lock(base):
        return share(base / USED)


def close(base: Path, used: Lock | None = None) -> bool:
    """Seal and remove the plain folder if it has no other user; return whether it is gone. `used`:
    the caller's shared lock; without it another process would take the folder for a killed one's.
    """
    if not base.is_dir():
        return True
    with _turn_lock(base):
        if used is not None:
            used.release()
        alone = try_lock(base / USED)
        if alone is None:
            return False
        with alone:
            try:
                if (base / OPEN).is_file():
                    _seal(base)
            finally:
                _clear(base)
    return True


def reseal(base: Path) -> bool:
    """Seal the changes of an open folder; return whether there were any. Raises Damaged and
    OSError: the earlier sealed state stays.
    """
    with _turn_lock(base):
        return _seal(base)


def open_key(place: SealedPlace) -> bytes:
    """Return the key of an open folder. If its plain files were removed meanwhile, which the
    system or a person may do at any time, the master key gives it. Raises as `project_key`.
    """
    try:
        return bytes.fromhex(_read_open_note(place.base)["key"])
    except (OSError, ValueError):
        return project_keys(place)[0]


def give_up_open(place: SealedPlace) -> None:
    """Remove the sealed files and the plain ones in memory, even while in use: users continue in
    another folder.
    """
    with _turn_lock(place.base):
        _clear(place.base)
        files.remove_tree(place.store)
    forget_store(place)


@contextlib.contextmanager
def _sole_user(place: SealedPlace) -> Iterator[None]:
    """Run the `with` as sole user, without plain files. Raises Unavailable while it is in use."""
    make_base(place.base)
    with _turn_lock(place.base):
        _leave(place.base)
        alone = try_lock(place.base / USED)
        if alone is None:
            raise Unavailable(
                f"The sealed project is in use: close the agents' windows that have it open ({place.base})."
            )
        with alone:
            _clear(place.base)
            yield


def seal_anew(place: SealedPlace) -> None:
    """Seal all files of a project with a new key. Interrupted at any point, they open with the key
    in force at that point.

    Raises Misconfigured, Unavailable while it is in use, Damaged and OSError.
    """
    with _sole_user(place):
        try:
            files.make_private(place.home)
            _seal_anew(place)
        finally:
            _clear(place.base)


def _seal_anew(place: SealedPlace) -> None:
    mirror = _find_mirror(place)
    check_room(place.base, mirror.listed.bytes)
    mirror.restore()
    key = begin_change(place)
    anew = Mirror(place.store, place.home, key)
    anew.seal({entry.object for entry in mirror.listed.files.values()})
    end_change(place, key)


def _find_mirror(place: SealedPlace) -> Mirror:
    """Return the mirror with the key that opens it: a change may have been interrupted."""
    key, following = project_keys(place)
    mirror = Mirror(place.store, place.home, key)
    try:
        mirror.read()
    except Damaged:
        if not following:
            raise
        mirror = Mirror(place.store, place.home, following)
        mirror.read()
    if following:
        end_change(place, mirror.key)
    return mirror


def sealed_fault(base: Path) -> str:
    """Return why the sealed files could not be opened, "" if they could."""
    try:
        return str(_read_open_note(base).get("fault", ""))
    except (OSError, ValueError):
        return ""


def give_up(place: SealedPlace) -> None:
    """Remove the sealed files of a project and its plain files in memory. Raises Unavailable while
    it is in use.
    """
    with _sole_user(place):
        files.remove_tree(place.store)
    forget_store(place)


def open_folders() -> list[Path]:
    """List the open plain folders."""
    try:
        base = plain_base()
        return [base / name for name in files.names(base) if (base / name / OPEN).is_file()]
    except (OSError, CortexError):
        return []


def clear_forgotten() -> None:
    """Remove the plain folders of sealed ones without a key, even while in use. Others may belong
    to other keys and settings of this user.
    """
    for base in open_folders():
        with _turn_lock(base), contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if not (Path(_read_open_note(base)["store"]) / KEY).is_file():
                _clear(base)


def remove_unused_folders() -> list[Path]:
    """Remove and return the plain folders without a user: those of killed processes."""
    with contextlib.suppress(OSError, CortexError):
        base = plain_base()
        folders = [base / name for name in files.names(base) if NAME.fullmatch(name)]
        return [folder for folder in folders if _remove_unused(folder)]
    return []


def _remove_unused(base: Path) -> bool:
    turn = try_lock(base / TURN)
    if turn is None:
        return False
    with turn:
        alone = try_lock(base / USED)
        if alone is None:
            return False
        with alone:
            _clear(base)
    return True


def _open(place: SealedPlace) -> None:
    """Make the plain folder from the sealed files, while this process alone may; an empty one if
    they are damaged, with the fault in `OPEN`. Raises Misconfigured, Unavailable, OSError.
    """
    fault = ""
    try:
        mirror = _find_mirror(place)
        check_room(place.base, mirror.listed.bytes)
        mirror.restore()
    except Damaged as error:
        fault = f"{error} The index is built again."
        log.warning("%s", fault)
        files.remove_tree(place.home)
        for name in (LIST, OBJECTS) if place.is_lasting else ("",):
            files.remove_tree(place.store / name)
        key = project_keys(place)[0]
        mirror = Mirror(place.store, place.home, key)
    files.make_private(place.home)
    _remember(place.base, mirror.listed)
    note = {"store": os.fspath(place.store), "key": mirror.key.hex(), "fault": fault}
    files.replace(place.base / OPEN, json.dumps(note).encode())


def _seal(base: Path) -> bool:
    note = _read_open_note(base)
    mirror = Mirror(Path(note["store"]), base / "home", bytes.fromhex(note["key"]))
    mirror.listed = msgspec.msgpack.decode(files.read_ours(base / LISTED, LIST_BYTES_MAX), type=SealedList)
    changed = mirror.seal()
    _remember(base, mirror.listed)
    return changed


def _read_open_note(base: Path) -> dict[str, str]:
    note: dict[str, str] = json.loads(files.read_ours(base / OPEN, OPEN_BYTES_MAX))
    return note


def _remember(base: Path, listed: SealedList) -> None:
    files.replace(base / LISTED, msgspec.msgpack.encode(listed))


def _remove_old(place: SealedPlace) -> None:
    """Remove plain files on the disk from before sealing, unless a watcher still writes them; and
    the vectors of all projects, which do not tell their project.
    """
    if place.old is None or not os.path.lexists(place.old):
        return
    with contextlib.suppress(FileNotFoundError):
        for name in files.names(place.old / "index"):
            if holder_of(place.old / "index" / name / "writer.lock") is not None:
                log.warning("%s is still written by processes that started before it was sealed", place.old)
                return
    files.remove_tree(place.old)
    files.remove_tree(place.old.parent.parent / "embeddings")


def _clear(base: Path) -> None:
    """Remove the content. OPEN goes first: without it all else is ignored. On a disk, files are
    overwritten.
    """
    remove = files.remove_tree if is_in_memory(base) else wipe_tree
    for name in (OPEN, LISTED, "home"):
        remove(base / name)


def _turn_lock(base: Path) -> Lock:
    if not base.is_dir():  # new, or removed meanwhile
        make_base(base)
    return hold(
        base / TURN,
        lambda holder: Unavailable(
            f"Process {holder} has opened or sealed {base} for {TURN_S:g} s; end it, and try again."
        ),
        wait_s=TURN_S,
    )


def _leave(base: Path) -> None:
    if lock := _used.pop(base, None):
        lock.release()


def _leave_all() -> None:
    while _used:
        with contextlib.suppress(OSError, ValueError, CortexError):
            close(*_used.popitem())
