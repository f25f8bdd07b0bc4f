"""Messages for the text of files as the index holds it."""

from ipc.messages.control import Blobs, Message, repeatable


@repeatable
class SourceLines(Message, frozen=True):
    """Request to a worker for indexed lines: `spans` of (path, first, last), 1-based, inclusive."""

    spans: tuple[tuple[str, int, int], ...]
    generation: int = 0


class SourceTexts(Message, frozen=True):
    """Reply to SourceLines: the text of each span in UTF-8, its lines joined by line feeds.

    It begins with the line `first`; a line that no chunk holds is blank. Blank lines at the end are
    left out. Empty for a file or lines that the index lacks.
    """

    generation: int
    texts: Blobs
