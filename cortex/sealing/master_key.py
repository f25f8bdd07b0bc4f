"""Storage of the master key: the keychain, a file that a person named, or the environment. It wraps
the keys of projects, and seals nothing else.

A storage place holds one key as hexadecimal digits; during a change two, the newer first.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from cortex.sealing.places import FILE_VARIABLE, VARIABLE
from cortex.sealing.streams import KEY_BYTES
from cortex.system import files
from cortex.system.errors import Misconfigured, Unavailable

#: the places that are no files, as notes call them
KEYCHAIN, ENVIRONMENT = "the keychain", VARIABLE
#: service and entry in the keychain
SERVICE, ENTRY = "cortex-context-engine", "master key"
#: largest key file, in bytes
FILE_BYTES_MAX = 4096
#: deadline of the keychain in seconds: it may ask its owner to unlock it
KEYCHAIN_S = 60.0
#: priority that keychains of secure storage report (`keyring.core.recommended`)
PRIORITY_MIN = 1.0

#: the key from the environment
_taken: list[str] = []


@dataclass(frozen=True, slots=True)
class Master:
    key: bytes
    place: str

    @property
    def name(self) -> str:
        """16 hex digits that identify the key without revealing it."""
        return hashlib.blake2b(self.key, digest_size=8, person=b"cortex-master").hexdigest()


def named_places(key_path: str) -> list[str]:
    """Return the places that a person configured; the first one counts if there is no key yet."""
    take_from_environment()
    key_file = os.environ.get(FILE_VARIABLE, "")
    places = [key_file, ENVIRONMENT if _taken else "", os.path.expanduser(key_path)]
    for place in (key_file, os.path.expanduser(key_path)):
        if place and not os.path.isabs(place):
            raise Misconfigured(
                f"The key's file {place!r} must be an absolute path ({FILE_VARIABLE}, security.key_path)."
            )
    return [place for place in places if place]


def take_from_environment() -> None:
    """Move the key out of the environment, so that no child process inherits it."""
    if key := os.environ.pop(VARIABLE, ""):
        _taken[:] = [key]


def read_masters(place: str) -> list[Master]:
    """Return the keys in a place; empty if it holds none. Raises Misconfigured and Unavailable."""
    if place == KEYCHAIN:
        words = _ask_keychain(lambda ring: ring.get_password(SERVICE, ENTRY)) or ""
    elif place == ENVIRONMENT:
        words = _taken[0] if _taken else ""
    else:
        words = _read_file(place)
    return [Master(_parse_key(word, place), place) for word in words.split()]


def keep_masters(place: str, keys: list[bytes]) -> None:
    """Store these keys in a place; with no keys, empty it. Raises Misconfigured and Unavailable."""
    text = "\n".join(key.hex() for key in keys)
    if place == ENVIRONMENT:
        raise Misconfigured(
            f"The key is in the variable {VARIABLE}, which is not ours to change: keep it in a file and name that by "
            f"{FILE_VARIABLE}."
        )
    if place == KEYCHAIN:
        if keys:
            _ask_keychain(lambda ring: ring.set_password(SERVICE, ENTRY, text))
        else:
            _ask_keychain(_clear_keychain)
        return
    path = os.path.realpath(place)
    try:
        if keys:
            files.make_folder(os.path.dirname(path), anywhere=True)
            files.replace(path, text.encode() + b"\n", sync=True)
        else:
            files.remove(path)
    except OSError as error:
        raise Misconfigured(
            f"The key's file {place} cannot be written: {error.strerror or error}; name one in a folder of yours."
        ) from error


def make_master(key_path: str) -> Master:
    """Return the master key to use where there was none: from the configured place, or made there.
    Raises Misconfigured if no place is configured and there is no keychain.
    """
    for place in named_places(key_path):
        if masters := read_masters(place):
            return masters[0]
        if place == os.path.expanduser(key_path):
            keep_masters(place, [os.urandom(KEY_BYTES)])
            return read_masters(place)[0]
        raise Misconfigured(
            f"{FILE_VARIABLE} names {place}, which holds no key: write 64 hexadecimal digits to it."
        )
    if masters := read_masters(KEYCHAIN):
        return masters[0]
    keep_masters(KEYCHAIN, [os.urandom(KEY_BYTES)])
    return read_masters(KEYCHAIN)[0]


def _read_file(place: str) -> str:
    path = os.path.realpath(place)  # it may be reached by a person's links, like a container's secrets
    try:
        with files.open_ours(path) as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise Misconfigured(
                    f"The key's file {place} can be read by others: `chmod 600 {place}`, and if somebody may have read "
                    "it, `cortex key rotate`."
                )
            return file.read(FILE_BYTES_MAX).decode("ascii", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Misconfigured(f"The key's file {place} cannot be read: {error.strerror or error}.") from error


def _parse_key(word: str, place: str) -> bytes:
    try:
        key = bytes.fromhex(word)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise Misconfigured(
            f"The content of {place} is no key: it must be {2 * KEY_BYTES} hexadecimal digits."
        )
    return key


def _ask_keychain(ask: Callable[[ModuleType], Any]) -> Any:
    """Call the keychain in a thread: it may ask a person first, and never return."""
    try:
        import keyring
    except ImportError as error:
        from cortex.system.installation import how_to_add

        raise Misconfigured(
            f"The key of sealed data belongs in the keychain, and the package keyring is not installed: "
            f"{how_to_add('private')}, or name a file for it by security.key_path or {FILE_VARIABLE}."
        ) from error
    answer: list[Any] = []
    fault: list[Exception] = []

    def work() -> None:
        try:
            if keyring.get_keyring().priority >= PRIORITY_MIN:
                answer.append(ask(keyring))
            else:
                fault.append(keyring.errors.NoKeyringError("none is there that keeps secrets"))
        except Exception as error:  # keychains raise errors of any class
            fault.append(error)

    asking = threading.Thread(target=work, name="keychain", daemon=True)
    asking.start()
    asking.join(KEYCHAIN_S)
    if fault and isinstance(fault[0], keyring.errors.NoKeyringError):
        raise Misconfigured(
            f"There is no keychain here ({_first_line(fault[0])}): name a file for the key by security.key_path or "
            f"{FILE_VARIABLE}, on something that is not stolen together with this disk."
        )
    if not answer:
        reason = _first_line(fault[0]) if fault else f"it has not answered in {KEYCHAIN_S:g} s"
        raise Unavailable(
            f"The keychain does not give the key ({reason}): unlock it, and try again; no other key is made."
        )
    return answer[0]


def _clear_keychain(ring: ModuleType) -> None:
    if ring.get_password(SERVICE, ENTRY) is not None:  # a keychain raises if the entry is missing
        ring.delete_password(SERVICE, ENTRY)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
