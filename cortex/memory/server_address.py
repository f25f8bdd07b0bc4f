"""Which server keeps a team's memory, by the settings of a data folder."""

from __future__ import annotations

from cortex.memory.postgresql import Server
from cortex.settings.data import DataFolder
from cortex.settings.reference import read_reference
from cortex.system.errors import Misconfigured


def server_of(data: DataFolder) -> Server | None:
    """None where memory is kept in the folder. Raises Misconfigured for a variable without a value,
    and where what is kept is to be sealed, which a server does not do.
    """
    if not data.settings.database:
        return None
    if data.sealing is not None:
        raise Misconfigured(
            f"memory.database names a server, and the memory in {data.root} is sealed: what a server keeps it can read. "
            "Set security.encrypt_memory to off and say `cortex memory decrypt` first, if that is meant."
        )
    return Server(read_reference(data.settings.database, "memory.database"), data.settings.team)
