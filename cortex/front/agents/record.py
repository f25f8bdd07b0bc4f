"""The record of the pieces that `cortex install` inserted into files, for `uninstall`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cortex.settings.folders.home import user_config
from cortex.system import files
from cortex.system.errors import Misconfigured

#: maximum of bytes of the record
BYTES_MAX = 4 << 20


@dataclass(slots=True)
class Entry:
    """One inserted text: `path` of the file, `piece`, its agents, and the `keys` to it, by which it
    is found in a file that the agent has rewritten.
    """

    path: str
    piece: str
    agents: list[str]
    keys: list[str] = field(default_factory=list)
    #: whether the file was created for it
    created: bool = False
    #: folders created for it, the innermost first
    folders: list[str] = field(default_factory=list)
    #: the inserted items of the JSON array `keys`; [] for a member
    items: list[Any] = field(default_factory=list)
    #: "user", "project", or "" in records of older versions
    scope: str = ""


def path_of() -> Path:
    return user_config().with_name("agents.json")


def read() -> list[Entry]:
    """Return the entries in the order of writing. Raises Misconfigured for an unreadable record."""
    path = path_of()
    try:
        return msgspec.json.decode(files.read_plain(path, BYTES_MAX), type=list[Entry])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError) as error:
        raise Misconfigured(
            f"{path}, the record of installed entries, cannot be read ({error}). Repair it or move it away."
        ) from error


def write(entries: list[Entry]) -> None:
    """Write the record, or remove it if it is empty. Raises OSError."""
    path = path_of()
    if not entries:
        if path.exists():
            files.remove(path)
            for folder in (path.parent, path.parent.parent):
                files.remove_empty(folder)
        return
    files.make_folder(path.parent, anywhere=True)
    files.replace(path, msgspec.json.format(msgspec.json.encode(entries)), sync=True)
