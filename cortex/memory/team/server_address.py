"""The server of a team's memory, from the settings of a data folder."""

from cortex.memory.team.postgresql import Server
from cortex.settings.data import DataFolder
from cortex.settings.reference import read_reference
from cortex.system.errors import Misconfigured


def server_of(data: DataFolder) -> Server | None:
    """The server; None where memory is in the folder. Raises Misconfigured for a variable without a
    value, and for a sealed folder: a server cannot seal.
    """
    if not data.settings.database:
        return None
    if data.sealing is not None:
        raise Misconfigured(
            f"memory.database names a server, and the memory in {data.root} is sealed, but a server can read its contents. "
            "To allow that, set security.encrypt_memory to off and run `cortex memory decrypt`."
        )
    return Server(read_reference(data.settings.database, "memory.database"), data.settings.team)
