"""`cortex memory encrypt | decrypt`, and the recovery key of an encrypted memory."""

import getpass
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from cortex.front.cli.parsing.parser import DATA_DIR, Parser
from cortex.front.cli.rendering.activity import slow_notice
from cortex.processes import attach
from cortex.sealing.plain_folder import open_key
from cortex.sealing.recovery import has_recovery, make_recovery, recover
from cortex.settings import config as configuration
from cortex.settings.data import SEALED, DataFolder
from cortex.settings.folders.home import keep_notes_of_keys, keys_folder
from cortex.system.errors import EXIT_OK, Misconfigured, Occupied
from cortex.system.terminal import print_text

#: characters of a typed recovery key
TYPED_MAX = 1_000
#: attempts to stop workers that an open window starts again, before a person has to close it
TRIES = 5


def declare(parser: Parser) -> None:
    parser.add_folder("--data-dir", metavar="DIR", help=DATA_DIR)


def declare_recover(parser: Parser) -> None:
    parser.add_argument("--memory", action="store_true", required=True, help="recover the key of memory")
    declare(parser)


def encrypt(options: Namespace) -> int:
    """Seal memory and print a recovery key; the next start completes an interrupted run."""
    from cortex.memory.store.driver import sqlcipher
    from cortex.memory.store.sealed import seal_folder

    sqlcipher()
    data = _load_data(options, seals=True)
    data.make()
    with slow_notice("`cortex memory encrypt`"):
        _run_exclusively(data, seal_folder)
    print_text(f"Memory in {data.root} is sealed.")
    if not has_recovery(data.root / SEALED):
        _show_recovery(data)
    print(
        "The plain files were overwritten. A file system with a journal or snapshots, and a flash disk, may keep older "
        "bytes until their place is used again. Exports are plain files."
    )
    return EXIT_OK


def decrypt(options: Namespace) -> int:
    """Unseal memory. Raises Misconfigured where a setting asks for encryption, and CortexError."""
    from cortex.memory.store.sealed import unseal_folder

    data = _load_data(options)
    if data.is_sealed and data.seals:
        raise Misconfigured(
            "Your settings ask for a sealed memory (security.encrypt_memory, or security.encrypt_index with it): set "
            "security.encrypt_memory to off, then run `cortex memory decrypt` again."
        )
    if data.is_sealed:
        data.make()
        with slow_notice("`cortex memory decrypt`"):
            _run_exclusively(data, unseal_folder)
    print_text(f"Memory in {data.root} is unencrypted.")
    return EXIT_OK


def show_recovery(options: Namespace) -> int:
    """Make a new recovery key; the old one stops working. Raises CortexError."""
    data = _load_data(options)
    if not data.is_sealed:
        raise Misconfigured(f"Memory in {data.root} is not sealed: `cortex memory encrypt` does it.")
    data.make()
    _show_recovery(data)
    return EXIT_OK


def recover_memory(options: Namespace) -> int:
    """Open memory with its recovery key, from the terminal or standard input."""
    data = _load_data(options)
    typed = getpass.getpass("Recovery key: ") if sys.stdin.isatty() else sys.stdin.read(TYPED_MAX)
    path = configuration.load_security().key_path
    keep_notes_of_keys()
    recover(data.root / SEALED, typed, keys_folder(), path)
    print_text(f"Memory in {data.root} opens again, with the present master key.")
    return EXIT_OK


def _show_recovery(data: DataFolder) -> None:
    place = data.sealing
    assert place
    print("Its recovery key is shown once and stored nowhere: keep it away from this machine.")
    print(f"\n    {make_recovery(place.store, open_key(place))}\n")
    print("With it `cortex key recover --memory` opens memory when the master key is lost.")


def _run_exclusively(data: DataFolder, work: Callable[[DataFolder], None]) -> None:
    """Run `work` while no worker has the folder. Raises Occupied where workers keep starting."""
    for left in reversed(range(TRIES)):
        attach.stop(data)
        try:
            work(data)
        except Occupied:
            if not left:
                raise
        else:
            return


def _load_data(options: Namespace, *, seals: bool = False) -> DataFolder:
    flags: dict[str, dict[str, Any]] = {}
    if options.data_dir:
        flags["memory"] = {"data_dir": options.data_dir}
    if seals:
        flags["security"] = {"encrypt_memory": "on"}
    return configuration.load_data(flags)
