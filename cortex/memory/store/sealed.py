"""Keys of a sealed memory: for its database, and for the events that hooks stored before."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from cortex.memory.store.database import Database
from cortex.memory.store.driver import PLAIN, Driver, sqlcipher
from cortex.memory.store.folder_sealing import unseal_all
from cortex.memory.store.sealed_events import opener
from cortex.memory.transcripts.formats import spool
from cortex.sealing import boxes
from cortex.sealing.plain_folder import give_up_open, open_key
from cortex.settings.data import DataFolder
from cortex.system import files
from cortex.system.errors import Damaged, Unavailable
from cortex.system.folders.wiping import wipe

#: suffix of an event's old file until it is overwritten
BEFORE = ".before"


def driver_of(data: DataFolder) -> Driver:
    """The driver for the database of an existing folder. In a sealed folder, the events that hooks
    stored so far are sealed as well. Raises CortexError and OSError.
    """
    place = data.sealing
    if place is None:
        return PLAIN
    sqlcipher()
    key = open_key(place)
    public = boxes.public_half(key)
    if _read_public_key(place.store / boxes.PUBLIC) != public:
        files.replace(place.store / boxes.PUBLIC, public, sync=True)
    _rewrite_events(data.root, lambda raw: raw if boxes.is_box(raw) else boxes.seal_box(public, raw))
    return Driver(key)


def seal_folder(data: DataFolder) -> None:
    """Seal all of an existing folder that no process uses. Raises CortexError."""
    Database(data.root, driver_of(data)).close()


def unseal_folder(data: DataFolder) -> None:
    """Unseal all of a folder that no process uses; the key is removed last. Raises CortexError;
    files that were not converted yet stay sealed.
    """
    place = data.sealing
    assert place
    key = open_key(place)
    database = Database(data.root, driver_of(data))
    try:
        database.release_file()
        try:
            unseal_all(database.path, database.driver)
        except OSError as error:
            raise Unavailable(f"The memory's folder {data.root} cannot be used: {error}.") from error
        files.remove(place.store / boxes.PUBLIC)
        _rewrite_events(data.root, opener(key))
        give_up_open(place)
    finally:
        database.close()


def _rewrite_events(root: Path, convert: Callable[[bytes], bytes]) -> None:
    """Rewrite the events that `convert` changes, but those that are removed meanwhile."""
    folder = root / spool.FOLDER
    for name in sorted(_names(folder)):
        path = folder / name
        if path.suffix != spool.ENDING:
            continue
        with contextlib.suppress(FileNotFoundError, Damaged):
            raw = files.read_ours(path, spool.BYTES_MAX)
            if (rewritten := convert(raw)) == raw:
                continue
            before = path.with_name(path.name + BEFORE)
            files.link(path, before)
            files.replace(path, rewritten)
            wipe(before)
    for name in _names(folder):
        if name.endswith(BEFORE):
            wipe(folder / name)


def _names(folder: Path) -> list[str]:
    try:
        return files.names(folder)
    except FileNotFoundError:
        return []


def _read_public_key(path: Path) -> bytes:
    try:
        return files.read_ours(path, boxes.PUBLIC_BYTES)
    except OSError:
        return b""
