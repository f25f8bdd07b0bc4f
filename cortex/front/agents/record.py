"""What `cortex install` has put into which files, so that `uninstall` takes out exactly that."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from cortex.settings.home import user_config
from cortex.system import files
from cortex.system.errors import Misconfigured

#: bytes of the record
BYTES_MAX = 4 << 20


@dataclass(slots=True)
class Entry:
    """One piece of text in one file, and the agents that it is for. `keys` lead to it in JSON."""

    path: str
    piece: str
    agents: list[str]
    keys: list[str] = field(default_factory=list)
    #: whether the file was not there before
    created: bool = False
    #: folders that were made for it, the innermost first
    folders: list[str] = field(default_factory=list)


def path_of() -> Path:
    return user_config().with_name("agents.json")


def read() -> list[Entry]:
    """In the order in which they were written. Raises Misconfigured for a file that is none."""
    path = path_of()
    try:
        return msgspec.json.decode(files.read_plain(path, BYTES_MAX), type=list[Entry])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError) as error:
        raise Misconfigured(
            f"{path}, which says what was installed, cannot be read ({error}); mend it or move it away."
        ) from error


def write(entries: list[Entry]) -> None:
    """Raises OSError."""
    path = path_of()
    if not entries:
        if path.exists():
            files.remove(path)
            for folder in (path.parent, path.parent.parent):
                files.remove_empty(folder)
        return
    files.make_folder(path.parent, anywhere=True)
    files.replace(path, msgspec.json.format(msgspec.json.encode(entries)), sync=True)
