"""Who uses a plain folder: it is opened by the first, and sealed and removed by the last one to
leave. What killed processes left is removed by whoever comes next.

Each process that uses one holds a shared lock on it for life. The key of the project lies beside
the plain files, in memory as they are: who serves needs no way to the master key, in a sandbox
neither.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from cortex.sealing.keys import begin_change, end_change, forget_elsewhere, project_key, project_keys
from cortex.sealing.mirror import LIST, LIST_BYTES_MAX, OBJECTS, Mirror, SealedList
from cortex.sealing.places import NAME, SealedPlace, check_room, is_in_memory, make_base, plain_base, plain_of
from cortex.system import files
from cortex.system.core_dumps import forbid_dumps
from cortex.system.errors import CortexError, Damaged, Unavailable
from cortex.system.wiping import wipe_tree
from ipc.locks import Lock, hold, holder_of, share, try_lock

log = logging.getLogger(__name__)

#: in the folder in memory: who may open, seal and close it, who uses it, how it is sealed, which is
#: there as long as it is open, and what is sealed of it
TURN, USED, OPEN, LISTED = "turn.lock", "used.lock", "open.json", "listed.msgpack"
#: seconds that another process has to open or close it: 2 GB take some five
TURN_S = 120.0
#: bytes of OPEN: a path and a key
OPEN_BYTES_MAX = 65_536

#: plain folders that this process uses
_used: dict[Path, Lock] = {}


def ensure_open(place: SealedPlace) -> None:
    """Have the plain folder be there until this process ends; opened where nobody uses it. What lay
    plain on the disk goes once that is done.

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
            alone.release()  # nobody else comes meanwhile: it is our turn
        if alone is not None or not (place.base / OPEN).is_file():
            _clear(place.base)
            _open(place)
        if not _used:
            atexit.register(_leave_all)
        _used[place.base] = share(place.base / USED)


def hold_open(base: Path) -> Lock:
    """For who keeps a plain folder that others use, and knows nothing else of it."""
    forbid_dumps()
    with _turn_lock(base):
        return share(base / USED)


def close(base: Path) -> bool:
    """Seal and remove the plain folder if nobody else uses it; whether it is gone."""
    if not base.is_dir():
        return True
    with _turn_lock(base):
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
    """Seal what changed in an open folder; whether anything had. Raises Damaged and OSError: what
    was sealed before stays.
    """
    with _turn_lock(base):
        return _seal(base)


def open_key(base: Path) -> bytes:
    """The key of an open folder. Raises OSError and ValueError where it is not open."""
    return bytes.fromhex(_read_open_note(base)["key"])


def give_up_open(place: SealedPlace) -> None:
    """Remove what is sealed, and what is plain in memory, whoever has it open: who does goes on
    elsewhere.
    """
    with _turn_lock(place.base):
        _clear(place.base)
        files.remove_tree(place.store)
    if place.keys:
        forget_elsewhere(place.keys, place.store)


@contextlib.contextmanager
def _sole_user(place: SealedPlace) -> Iterator[None]:
    """With nobody else there, and nothing plain. Raises Unavailable while somebody uses it."""
    make_base(place.base)
    _leave(place.base)
    with _turn_lock(place.base):
        alone = try_lock(place.base / USED)
        if alone is None:
            raise Unavailable(
                f"What is sealed of the project is in use: close the agents' windows that have it open ({place.base})."
            )
        with alone:
            _clear(place.base)
            yield


def seal_anew(place: SealedPlace) -> None:
    """Have all that is sealed of a project be sealed by another key. Broken off anywhere, it opens
    by the key that it has then.

    Raises Misconfigured, Unavailable while somebody uses it, Damaged and OSError.
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
    key = begin_change(place.store, place.key_path)
    anew = Mirror(place.store, place.home, key)
    anew.seal({entry.object for entry in mirror.listed.files.values()})
    end_change(place.store, place.key_path, key)


def _find_mirror(place: SealedPlace) -> Mirror:
    """What is sealed, by the key that opens it: a change of keys may have been broken off."""
    key, following = project_keys(place.store, place.key_path, place.keys)
    mirror = Mirror(place.store, place.home, key)
    try:
        mirror.read()
    except Damaged:
        if not following:
            raise
        mirror = Mirror(place.store, place.home, following)
        mirror.read()
    if following:
        end_change(place.store, place.key_path, mirror.key)
    return mirror


def sealed_fault(base: Path) -> str:
    """Why what was sealed could not be used when the folder was opened, "" where it could."""
    try:
        return str(_read_open_note(base).get("fault", ""))
    except (OSError, ValueError):
        return ""


def give_up(place: SealedPlace) -> None:
    """Remove what is sealed of a project and what is plain in memory. Raises Unavailable while
    somebody uses it.
    """
    with _sole_user(place):
        files.remove_tree(place.store)


def open_folders() -> list[Path]:
    """The plain folders that are open."""
    try:
        base = plain_base()
        return [base / name for name in files.names(base) if (base / name / OPEN).is_file()]
    except (OSError, CortexError):
        return []


def clear_all(spared_stores: Sequence[Path] = ()) -> None:
    """Remove every plain folder, whoever uses it, but those of these sealed ones."""
    spared = {plain_of(store) for store in spared_stores}
    for base in open_folders():
        if base in spared:
            continue
        with _turn_lock(base):
            _clear(base)


def remove_unused_folders() -> list[Path]:
    """Remove the plain folders that nobody uses: of processes that were killed."""
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
    """Make the plain folder of what is sealed, as this process alone may now; of nothing where that
    was damaged, which `OPEN` says then. Raises Misconfigured, Unavailable, OSError.
    """
    fault = ""
    try:
        mirror = _find_mirror(place)
        check_room(place.base, mirror.listed.bytes)
        mirror.restore()
    except Damaged as error:
        fault = f"{error} The index is made anew."
        log.warning("%s", fault)
        files.remove_tree(place.home)
        for name in (LIST, OBJECTS) if place.keys else ("",):
            files.remove_tree(place.store / name)
        key = project_key(place.store, place.key_path, place.keys)
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
    """Remove what lies plain on the disk from before, unless a watcher still writes it; with it the
    vectors of all projects, which do not say whose they are.
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
    """OPEN goes first: without it the rest counts for nothing. On a disk it is written over."""
    remove = files.remove_tree if is_in_memory(base) else wipe_tree
    for name in (OPEN, LISTED, "home"):
        remove(base / name)


def _turn_lock(base: Path) -> Lock:
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
    for base in list(_used):
        _leave(base)
        with contextlib.suppress(OSError, ValueError, CortexError):
            close(base)
