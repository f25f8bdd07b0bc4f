"""The boxes in which hooks store events of a sealed memory. The process that reads sessions needs
them without the database, whose library takes a third of a second to import.
"""

from collections.abc import Callable

from cortex.sealing import boxes
from cortex.sealing.plain_folder import open_key
from cortex.settings.data import DataFolder


def event_opener(data: DataFolder) -> Callable[[bytes], bytes]:
    """The function that opens the events of hooks. Raises CortexError."""
    return opener(open_key(data.sealing)) if data.sealing else bytes


def opener(key: bytes) -> Callable[[bytes], bytes]:
    """The function that opens an event's bytes; `key`: b"" for a plain memory."""
    return (lambda raw: boxes.open_box(key, raw) if boxes.is_box(raw) else raw) if key else bytes
