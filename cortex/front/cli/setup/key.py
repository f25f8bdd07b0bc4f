"""`cortex key …`, and a report on encryption: the places of sealed data, of its key and of plain
data.
"""

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from cortex.front.cli.parsing.parser import Parser
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.setup.hooks import ask_consent
from cortex.processes import attach
from cortex.processes.stored_projects import root_of
from cortex.sealing import keys, places, plain_folder
from cortex.sealing.recovery import has_recovery
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.data import SEALED, DataFolder
from cortex.settings.folders.home import keep_notes_of_keys, keys_folder
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, EXIT_UNAVAILABLE, CortexError, Misconfigured
from cortex.system.terminal import escape_controls, print_text


def declare_index(parser: Parser) -> None:
    """Declare the encryption options of `cortex index`."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--encrypt",
        action="store_true",
        help="encrypt the index of the project on disk (security.encrypt_index)",
    )
    how.add_argument("--decrypt", action="store_true", help="decrypt the index: build it again, unencrypted")


def declare_forget(parser: Parser) -> None:
    parser.add_flag("--yes", help="do not ask before deleting")
    parser.add_flag("--memory", help="also delete the key of memory, which cannot be rebuilt")


def seal(project: str | Path | None, flags: dict[str, dict[str, Any]]) -> None:
    """Seal the project from now on, for this process and those that it starts. Raises Misconfigured
    and Unavailable, with nothing changed.
    """
    config = configuration.load(project, flags | {"security": {"encrypt_index": True}})
    assert config.sealing is not None
    with slow_notice("sealing the project"):
        attach.stop(config)
        plain_folder.ensure_open(config.sealing)


def unseal(project: str | Path | None) -> None:
    """Delete the sealed data of the project, which is unencrypted from now on. Raises Misconfigured
    where a setting asks for encryption, Unavailable while the data is in use.
    """
    config = configuration.load(project)
    if config.sealing is None:
        return
    if not config.kept_sealed:
        raise Misconfigured(
            f"security.encrypt_index is on for {config.root}: switch it off where it is set (your config.yml, the "
            "project's, CORTEX_SECURITY_ENCRYPT_INDEX), then run --decrypt again."
        )
    with slow_notice("removing the sealed index"):
        attach.stop(config)
        plain_folder.give_up(config.sealing)


def _open_notes() -> Path:
    """Return the folder of the notes about sealed data, after those of earlier versions were moved
    there. Memory's own key is looked at first: it may be in no note.
    """
    keep_notes_of_keys()
    keys.note_memory(keys_folder(), configuration.load_data().root / SEALED)
    return keys_folder()


def show_location(options: Namespace) -> int:
    del options
    base = _open_notes()
    place, name = keys.master_place(base)
    if not place:
        print("Nothing is sealed, and there is no key.")
        return EXIT_OK
    count, others = len(list(keys.stores(base))), keys.stores_elsewhere(base)
    also = f", and of memory in {', '.join(str(store.parent) for store in others)}" if others else ""
    print_text(f"The master key ({name}) is in {place}; it wraps the keys of {count} sealed projects{also}.")
    return EXIT_OK


def declare_rotate(parser: Parser) -> None:
    parser.add_flag("--reseal", help="also encrypt each project again, with a new key of its own")


def rotate(options: Namespace) -> int:
    """Replace the master key; return EXIT_UNAVAILABLE where a project could not be sealed again."""
    path, base = configuration.load_security().key_path, _open_notes()
    count, others = keys.rotate(base, path)
    print(f"The master key is replaced; it wraps the keys of {count} sealed folders.")
    for other in others:
        why = (
            "is damaged, or its master key is missing; it stays as it is."
            if Path(other).is_dir()
            else "is missing; the old key stays for it: mount it and run `cortex key rotate` again, or "
            f"delete {base / keys.ELSEWHERE} if it is gone for good."
        )
        print_text(f"cortex: {other} {why}", file=sys.stderr)
    return _reseal(path) if options.reseal else EXIT_OK


def _reseal(path: str) -> int:
    _stop_open()
    base, code = keys_folder(), EXIT_OK
    for store in list(keys.stores(base)):
        try:
            plain_folder.seal_anew(places.SealedPlace(store, places.plain_of(store), None, path, base))
            print_text(f"{store} is sealed anew.")
        except (CortexError, OSError) as error:
            print_text(f"cortex: {store} stays as it is: {error}", file=sys.stderr)
            code = EXIT_UNAVAILABLE
    for store in keys.stores_elsewhere(base):
        print_text(
            f"Memory in {store.parent} keeps its own key: `cortex memory decrypt` and `cortex memory encrypt` make "
            "another."
        )
    return code


def _stop_open() -> None:
    for base in plain_folder.open_folders():
        root = root_of(Path(base, "home"))
        try:
            if root is not None:
                attach.stop(configuration.load(root))
        except CortexError as error:
            print_text(f"cortex: {error}", file=sys.stderr)


def forget(options: Namespace) -> int:
    """Ask, then delete the master key; return EXIT_NOTHING when a person refuses."""
    base, path = _open_notes(), configuration.load_security().key_path
    stores, others = list(keys.stores(base)), keys.stores_elsewhere(base)
    print_text(
        f"The sealed indexes of {len(stores)} projects become unreadable; the next question builds each again."
    )
    for store in others:
        print_text(_describe_memory_loss(store, is_lost=options.memory))
    print("The sources are not touched.")
    if not (options.yes or ask_consent("Forget the key?")):
        print("Nothing is changed; --yes does it without a question.")
        return EXIT_NOTHING
    _stop_open()
    for store in others if options.memory else ():
        attach.stop(configuration.load_data({"memory": {"data_dir": str(store.parent)}}))
    left = keys.forget_master(base, path, everything=options.memory)
    plain_folder.clear_forgotten()
    print("The key is forgotten." if not left else escape_controls(f"Its sealed data is gone. {left}"))
    return EXIT_OK


def _describe_memory_loss(store: Path, *, is_lost: bool) -> str:
    if is_lost:
        return f"MEMORY in {store.parent} is lost for good, with its back-ups: nothing can rebuild it."
    return f"Memory in {store.parent} stays, under another master key; --memory deletes it as well."


def say_sealed(config: Config) -> tuple[str, bool]:
    """Return (sentences on the places of sealed and plain data, whether one is a warning)."""
    place, (memory, is_odd) = config.sealing, _say_memory(config.data)
    if place is None:
        return f"off: the index of the project is unencrypted in {config.home}; {memory}", is_odd
    where, name = keys.master_place(keys_folder())
    swaps = places.swaps()
    sentences = [
        f"sealed in {place.store} by a key that the master key {name} in {where or 'no place yet'} wraps",
        f"plain while it is served, in {place.base} ({_kind(place)})",
        memory,
    ]
    if swaps:
        sentences.append(
            f"the system may write memory to {', '.join(swaps)}: have that encrypted, or switch it off"
        )
    if fault := plain_folder.sealed_fault(place.base):
        sentences.append(fault)
    return "; ".join(sentences), bool(swaps or fault or is_odd)


def _kind(place: places.SealedPlace) -> str:
    return "in memory" if places.is_in_memory(place.base) else "on the disk: security.plain_runtime"


def _say_memory(data: DataFolder) -> tuple[str, bool]:
    """Return as `say_sealed`, for memory."""
    place = data.sealing
    if place is None:
        return f"memory is unencrypted in {data.root} (`cortex memory encrypt` seals it)", False
    if not data.is_sealed:
        return f"memory in {data.root} will be sealed by its next call", False
    sentence = (
        f"memory is sealed in {data.root}, and plain while it is served, in {place.base} ({_kind(place)})"
    )
    if not has_recovery(place.store):
        return f"{sentence}; there is no recovery key for it: `cortex key recovery` makes one", True
    return sentence, False
