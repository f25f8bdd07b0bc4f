"""The key of a project, kept beside what it seals, wrapped by the master key. Where that one is, is
written down once for all projects: what is locked or lost never makes another one.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cortex.sealing.masters import (
    KEYCHAIN_S,
    Master,
    keep_masters,
    make_master,
    named_places,
    read_masters,
)
from cortex.sealing.streams import KEY_BYTES, seal_short, unseal_short
from cortex.system import files
from ipc.errors import CortexError, Damaged, Misconfigured, Unavailable
from ipc.locks import Lock, hold

#: the wrapped key in a project's folder, and the note on where the master key is beside the folders
KEY, PLACE = "KEY", "place.json"
#: bytes of either
NOTE_BYTES_MAX = 16_384
#: seconds that a change of the keys is waited for: a keychain may ask its owner meanwhile
LOCK_S = KEYCHAIN_S + 15.0


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A project's key as it lies on the disk: by which master key it is wrapped, and where that one
    was then.
    """

    master: str
    place: str
    key: str


def project_key(store: Path, key_path: str) -> bytes:
    """The key of the project whose sealed folder is `store`, made where there is none.

    Raises Misconfigured and Unavailable where the master key is not to be had, Damaged when what
    lies there was not written by us.
    """
    with _changing(store.parent):
        wrapped = read_wrapped(store)
        if wrapped is None:
            key = os.urandom(KEY_BYTES)
            _wrap(store, key, _master_for_new(store.parent, key_path))
            return key
        return _unwrap(store, wrapped, _master_of(wrapped, key_path))


def read_wrapped(store: Path) -> Wrapped | None:
    """None where there is none. Raises Damaged."""
    told = _read(store / KEY)
    return None if told is None else Wrapped(**told)


def place_of(base: Path) -> tuple[str, str]:
    """(where the master key is, its name), as it was written down; "" where nothing was sealed yet.
    `base`: the folder of all sealed folders.
    """
    try:
        told = _read(base / PLACE)
    except Damaged:  # what wraps the projects' keys says it as well
        wrapped = next((found for store in stores(base) if (found := _intact(store))), None)
        told = {"place": wrapped.place, "master": wrapped.master} if wrapped else None
    return (told["place"], told["master"]) if told else ("", "")


def rotate(base: Path, key_path: str) -> tuple[int, list[str]]:
    """Wrap each project's key by a new master key; (how many, the folders whose key is damaged, or
    wrapped by another one). What is sealed stays as it is. Broken off, it goes on with the next
    call.

    Raises Misconfigured and Unavailable.
    """
    with _changing(base):
        place, name = place_of(base)
        if not place:
            raise Misconfigured("Nothing is sealed yet, so that there is no key to be changed.")
        masters = _look(place, name, key_path)
        if len(masters) == 1:  # two: it was broken off
            keep_masters(masters[0].place, [os.urandom(KEY_BYTES), masters[0].key])
            masters = read_masters(masters[0].place)
        new = masters[0]
        _write(base / PLACE, {"place": new.place, "master": new.name})
        done = {str(store): _wrap_anew(store, masters) for store in stores(base)}
        keep_masters(new.place, [new.key])
    return sum(done.values()), [store for store, is_done in done.items() if not is_done]


def forget(base: Path) -> str:
    """Give up the master key, and with it all that is sealed; the place that is not ours to empty,
    "" for none. Raises Misconfigured and Unavailable; then nothing is given up.
    """
    with _changing(base):
        place, _ = place_of(base)
        left = ""
        try:
            if place:
                keep_masters(place, [])
        except Misconfigured as error:
            left = str(error)
        for store in list(stores(base)):  # its folder stays: the project is not plain for that
            for name in files.names(store):
                files.remove_tree(store / name)
        files.remove(base / PLACE)
    return left


def stores(base: Path) -> Iterator[Path]:
    """The sealed folders."""
    try:
        names = sorted(files.names(base))
    except FileNotFoundError:
        return
    for name in names:
        if (base / name / KEY).is_file():
            yield base / name


def _changing(base: Path) -> Lock:
    files.make_folder(base, anywhere=True)
    files.make_private(base)
    return hold(
        base / "keys.lock",
        lambda holder: Unavailable(
            f"Process {holder} has looked at or changed the keys for {LOCK_S:g} s; end it, and try again."
        ),
        wait_s=LOCK_S,
    )


def _master_for_new(base: Path, key_path: str) -> Master:
    """The master key for a project that had none: the one that others have, if there are any."""
    place, name = place_of(base)
    if place:
        return next(one for one in _look(place, name, key_path) if one.name == name)
    master = make_master(key_path)
    _write(base / PLACE, {"place": master.place, "master": master.name})
    return master


def _master_of(wrapped: Wrapped, key_path: str) -> Master:
    masters = _look(wrapped.place, wrapped.master, key_path)
    return next(one for one in masters if one.name == wrapped.master)


def _look(place: str, name: str, key_path: str) -> list[Master]:
    """The keys of the first place that has the one of this name. Raises Misconfigured or
    Unavailable, with every place that was looked at.
    """
    seen: list[str] = []
    for one in dict.fromkeys((*named_places(key_path), place)):
        try:
            masters = read_masters(one)
        except CortexError as error:
            if one == place:
                raise
            seen.append(str(error))
            continue
        if any(master.name == name for master in masters):
            return masters
        seen.append(f"{one}: {'another key' if masters else 'none'}")
    raise Misconfigured(
        f"The key of what is sealed is not there (looked at {'; '.join(seen)}): put the one back that was in {place} "
        "(nothing was deleted), or give up what is sealed by `cortex key forget`."
    )


def _intact(store: Path) -> Wrapped | None:
    try:
        return read_wrapped(store)
    except Damaged:
        return None


def _what(store: Path) -> bytes:
    return b"cortex-project-key\0" + store.name.encode()


def _wrap(store: Path, key: bytes, master: Master) -> None:
    files.make_private(store)
    sealed = seal_short(master.key, _what(store), key)
    _write(store / KEY, {"master": master.name, "place": master.place, "key": sealed.hex()})


def _wrap_anew(store: Path, masters: list[Master]) -> bool:
    """Whether the first of the master keys wraps the project's key now; not one that is damaged, or
    wrapped by none of them.
    """
    wrapped = _intact(store)
    old = next((one for one in masters if wrapped and one.name == wrapped.master), None)
    if wrapped is None or old is None:
        return False
    if old.name != masters[0].name:
        try:
            key = _unwrap(store, wrapped, old)
        except Damaged:
            return False
        _wrap(store, key, masters[0])
    return True


def _unwrap(store: Path, wrapped: Wrapped, master: Master) -> bytes:
    try:
        return unseal_short(master.key, _what(store), bytes.fromhex(wrapped.key))
    except (Damaged, ValueError) as error:
        raise Damaged(f"{store / KEY} was not written for this folder, or changed since.") from error


def _write(path: Path, told: dict[str, str]) -> None:
    body = json.dumps(told).encode()
    files.replace(path, b"%08x\n" % zlib.crc32(body) + body, sync=True)


def _read(path: Path) -> dict[str, str] | None:
    """A note with its checksum, which tells a damaged one from one about another key."""
    try:
        raw = files.read_ours(path, NOTE_BYTES_MAX)
    except FileNotFoundError:
        return None
    head, _, body = raw.partition(b"\n")
    if head != b"%08x" % zlib.crc32(body):
        raise Damaged(f"{path} fails its checksum.")
    told: dict[str, str] = json.loads(body)
    return told
