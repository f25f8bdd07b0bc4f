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

from cortex.sealing.master_key import (
    ENVIRONMENT,
    KEYCHAIN_S,
    Master,
    keep_masters,
    make_master,
    named_places,
    read_masters,
)
from cortex.sealing.streams import KEY_BYTES, seal_short, unseal_short
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, Misconfigured, Unavailable
from ipc.locks import Lock, hold

#: the wrapped key in a project's folder, and the notes beside the folders: on where the master key
#: is, and which folders elsewhere it wraps the keys of
KEY, PLACE, ELSEWHERE = "KEY", "place.json", "elsewhere.json"
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
    #: the key that all is being sealed by anew, "" otherwise
    following: str = ""


def project_key(store: Path, key_path: str, base: Path | None = None) -> bytes:
    """The key of the project whose sealed folder is `store`, made where there is none. `base`: the
    folder of all sealed folders, where this one is elsewhere.

    Raises Misconfigured and Unavailable where the master key is not to be had, Damaged when what
    lies there was not written by us.
    """
    return project_keys(store, key_path, base)[0]


def project_keys(store: Path, key_path: str, base: Path | None = None) -> tuple[bytes, bytes]:
    """As `project_key`, with the one that all is being sealed by anew, b"" otherwise."""
    with _keys_lock(base or store.parent):
        wrapped = read_wrapped(store)
        if base:
            _check_kept(store, wrapped)
            _note_elsewhere(base, store)
        if wrapped is None:
            key = os.urandom(KEY_BYTES)
            _wrap(store, key, _master_for_new(base or store.parent, key_path))
            return key, b""
        return _unwrap(store, wrapped, _master_of(wrapped, key_path))


def begin_change(store: Path, key_path: str) -> bytes:
    """The key that all of a project is to be sealed by anew: beside the one that it has, until
    `end_change`. Raises as `project_key`.
    """
    with _keys_lock(store.parent):
        wrapped = read_wrapped(store)
        if wrapped is None:
            raise Damaged(f"{store / KEY} is gone.")
        master = _master_of(wrapped, key_path)
        key, following = _unwrap(store, wrapped, master)
        following = following or os.urandom(KEY_BYTES)
        _wrap(store, key, master, following)
        return following


def end_change(store: Path, key_path: str, key: bytes) -> None:
    """From here on the project has this key alone. Raises as `project_key`."""
    with _keys_lock(store.parent):
        wrapped = read_wrapped(store)
        if wrapped is not None:
            _wrap(store, key, _master_of(wrapped, key_path))


def read_wrapped(store: Path) -> Wrapped | None:
    """None where there is none. Raises Damaged."""
    fields = read_note(store / KEY)
    return None if fields is None else Wrapped(**fields)


def master_place(base: Path) -> tuple[str, str]:
    """(where the master key is, its name), as it was written down; "" where nothing was sealed yet.
    `base`: the folder of all sealed folders.
    """
    try:
        note = read_note(base / PLACE)
    except Damaged:  # what wraps the projects' keys says it as well
        wrapped = next(
            (
                candidate
                for store in (*stores(base), *stores_elsewhere(base))
                if (candidate := _read_intact(store))
            ),
            None,
        )
        note = {"place": wrapped.place, "master": wrapped.master} if wrapped else None
    return (note["place"], note["master"]) if note else ("", "")


def wrap_again(store: Path, key: bytes, base: Path, key_path: str) -> None:
    """Have a key that is known otherwise be wrapped by the master key, made where there is none.

    Raises Misconfigured and Unavailable.
    """
    with _keys_lock(base):
        try:
            master = _master_for_new(base, key_path)
        except Misconfigured:  # the one that others were wrapped by is gone
            master = make_master(key_path)
            write_note(base / PLACE, {"place": master.place, "master": master.name})
        _wrap(store, key, master)
        _note_elsewhere(base, store)


def rotate(base: Path, key_path: str) -> tuple[int, list[str]]:
    """Wrap each project's key by a new master key; (how many, the folders whose key is damaged, or
    wrapped by another one). What is sealed stays as it is. Broken off, it goes on with the next
    call.

    Raises Misconfigured and Unavailable.
    """
    with _keys_lock(base):
        place, name = master_place(base)
        if not place:
            raise Misconfigured("Nothing is sealed yet, so that there is no key to be changed.")
        masters = _renew_masters(base, _find_masters(place, name, key_path))
        done = {str(store): _wrap_anew(store, masters) for store in (*stores(base), *_noted_stores(base))}
        # what is not mounted cannot be made anew: it opens by the old key until a rotation meets it
        remaining = masters if _missing_stores(base) else masters[:1]
        keep_masters(masters[0].place, [master.key for master in remaining])
    return sum(done.values()), [store for store, is_done in done.items() if not is_done]


def forget_master(base: Path, key_path: str = "", *, everything: bool = False) -> str:
    """Give up the master key, and with it what is sealed of all projects; the place that is not
    ours to empty, "" for none. What is sealed elsewhere is wrapped by another master key then, but
    for `everything`.

    Raises Misconfigured, as for what is elsewhere and not mounted, and Unavailable; then nothing is
    given up.
    """
    with _keys_lock(base):
        if not everything and (missing := _missing_stores(base)):
            raise Misconfigured(
                f"{missing[0]} is not there, and would open no more without the key: bring it back first, or delete "
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
        # their folders stay: what is in them is not plain for that
        for store in (*stores(base), *(stores_elsewhere(base) if everything else ())):
            for file_name in files.names(store):
                files.remove_tree(store / file_name)
        if not spared:
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


def stores_elsewhere(base: Path) -> list[Path]:
    """The sealed folders that are in other places, as far as they are there."""
    return [store for store in _noted_stores(base) if (store / KEY).is_file()]


def _noted_stores(base: Path) -> list[Path]:
    """As `elsewhere`, with those that are not there: on a disk that is not mounted."""
    try:
        note = read_note(base / ELSEWHERE) or {}
    except Damaged:
        note = {}
    return [Path(store) for store in sorted(note)]


def _missing_stores(base: Path) -> list[Path]:
    return [store for store in _noted_stores(base) if not store.is_dir()]


def forget_elsewhere(base: Path, store: Path) -> None:
    """A folder that was in another place is sealed no more."""
    with _keys_lock(base):
        write_note(
            base / ELSEWHERE, {os.fspath(other): "" for other in _noted_stores(base) if other != store}
        )


def _check_kept(store: Path, wrapped: Wrapped | None) -> None:
    """Raises Misconfigured where there was a key, and is none: another would open nothing."""
    if wrapped is None and store.is_dir() and files.names(store):
        raise Misconfigured(
            f"The key in {store / KEY} is gone: put the file back from a copy, or say `cortex key recover --memory` "
            "with the recovery key; nothing was deleted."
        )


def _note_elsewhere(base: Path, store: Path) -> None:
    noted = _noted_stores(base)
    if store not in noted:
        write_note(base / ELSEWHERE, {os.fspath(other): "" for other in (*noted, store)})


def _renew_masters(base: Path, masters: list[Master]) -> list[Master]:
    """The new master key and the one before it, both in their place until all is wrapped anew."""
    if len(masters) == 1:  # two: it was broken off
        keep_masters(masters[0].place, [os.urandom(KEY_BYTES), masters[0].key])
        masters = read_masters(masters[0].place)
    write_note(base / PLACE, {"place": masters[0].place, "master": masters[0].name})
    return masters


def _check_wrapped(done: dict[Path, bool]) -> None:
    for store, is_done in done.items():
        if not is_done:
            raise Misconfigured(
                f"{store} is wrapped by a key that is not there, and would be lost: recover it first, by `cortex key "
                "recover --memory`."
            )


def _keys_lock(base: Path) -> Lock:
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
    """The keys of the first place that has the one of this name. Raises Misconfigured or
    Unavailable, with every place that was looked at.
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
        f"The key of what is sealed is not there (looked at {'; '.join(faults)}): put the one back that was in {place} "
        "(nothing was deleted), or give up what is sealed by `cortex key forget`; memory opens by its recovery key as "
        "well (`cortex key recover --memory`)."
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
    """Whether the first of the master keys wraps the project's key now; not one that is damaged, or
    wrapped by none of them.
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
    """The key, and the following one."""
    both = [bytes.fromhex(wrapped_key) for wrapped_key in (wrapped.key, wrapped.following)]
    try:
        key, following = (unseal_short(master.key, _purpose(store), raw) if raw else b"" for raw in both)
    except (Damaged, ValueError) as error:
        raise Damaged(f"{store / KEY} was not written for this folder, or changed since.") from error
    return key, following


def write_note(path: Path, content: dict[str, str]) -> None:
    """A note with its checksum, which tells a damaged one from one about another key."""
    body = json.dumps(content).encode()
    files.replace(path, b"%08x\n" % zlib.crc32(body) + body, sync=True)


def read_note(path: Path) -> dict[str, str] | None:
    """What `write_note` was given, None where there is none. Raises Damaged, OSError."""
    try:
        raw = files.read_ours(path, NOTE_BYTES_MAX)
    except FileNotFoundError:
        return None
    head, _, body = raw.partition(b"\n")
    if head != b"%08x" % zlib.crc32(body):
        raise Damaged(f"{path} fails its checksum.")
    content: dict[str, str] = json.loads(body)
    return content
