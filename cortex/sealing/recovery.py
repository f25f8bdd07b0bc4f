"""Recovery key for irreplaceable sealed data: a second way to its key, which a person stores on
paper. It is shown once, when it is made, and never stored.
"""

import base64
import binascii
import os
from pathlib import Path

from cortex.sealing.keys import read_note, wrap_again, write_note
from cortex.sealing.streams import seal_short, unseal_short
from cortex.system.errors import BadRequest, Damaged, NotFound

#: the note next to the wrapped key, in the sealed folder
RECOVERY = "RECOVERY"
#: random bytes of a recovery key: 32 letters and digits, in groups of four
RECOVERY_BYTES, GROUP = 20, 4
#: purpose of the sealed note
_PURPOSE = b"cortex-recovery-key"


def make_recovery(store: Path, key: bytes) -> str:
    """Make and return a new recovery key; older ones become invalid. Raises OSError."""
    raw = os.urandom(RECOVERY_BYTES)
    write_note(store / RECOVERY, {"key": seal_short(raw, _PURPOSE, key).hex()})
    text = base64.b32encode(raw).decode()
    return "-".join(text[at : at + GROUP] for at in range(0, len(text), GROUP))


def has_recovery(store: Path) -> bool:
    return (store / RECOVERY).is_file()


def recover(store: Path, recovery_key: str, base: Path, key_path: str) -> None:
    """Wrap the folder's key with the present master key, made if there is none. `base` is the
    folder of the notes about keys.

    Raises BadRequest for a wrong recovery key, NotFound if none was made, Damaged, and
    Misconfigured and Unavailable if there is no place for a master key.
    """
    note = read_note(store / RECOVERY)
    if note is None:
        raise NotFound(f"There is no recovery key for {store}: none was made, or what it opens is gone.")
    try:
        raw = base64.b32decode("".join(recovery_key.upper().replace("-", " ").split()))
        key = unseal_short(raw, _PURPOSE, bytes.fromhex(note["key"]))
    except (binascii.Error, ValueError, Damaged) as error:
        raise BadRequest(
            f"That is not the recovery key of {store}: it has 32 letters and digits in groups of four, and the one "
            "that was made last counts."
        ) from error
    wrap_again(store, key, base, key_path)
