"""Exchanges from the events that hooks stored: for programs without session files that we read.
Each event is taken once, by the number in its name.
"""

import stat
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from cortex.memory.transcripts.formats import spool
from cortex.memory.transcripts.formats.exchanges import Gathering
from cortex.memory.transcripts.formats.reader import Portion, Position
from cortex.memory.transcripts.formats.spool import ENDING
from cortex.system import files
from cortex.system.errors import Damaged
from cortex.terms.text.secrets import remove_secrets_in

#: kind of a session without the name of a program, and prefix that stands for its file
NAME, FILE = "hook", "spool:"
#: longest event in bytes, and longest file, which may be sealed
EVENT_BYTES_MAX = 64 << 10
FILE_BYTES_MAX = EVENT_BYTES_MAX + 1024
#: function from the bytes of a file to those of the event
Unpack = Callable[[bytes], bytes]
#: latest moment of an event, in UTC milliseconds: the end of the year 9999
MOMENT_MAX = 253_402_300_799_999
#: highest number of an event, and longest kind of a session, that the store takes
NUMBER_MAX, KIND_CHARS_MAX = (1 << 63) - 1, 20
#: events that are put together at once
EVENTS_MAX = 500


_Name = Annotated[str, Meta(max_length=128)]
_Path = Annotated[str, Meta(max_length=1_024)]


@dataclass(frozen=True, slots=True)
class Event:
    """An event from a hook; see `cortex.front.hook`. `at`: UTC milliseconds."""

    event: _Name
    at: Annotated[int, Meta(ge=0, le=MOMENT_MAX)]
    session: _Name
    cwd: _Path
    transcript: _Path = ""
    agent: _Name = ""
    text: str = ""
    tool: _Name = ""
    files: tuple[_Path, ...] = ()
    modified: bool = False


def forget(folder: Path, sessions: Collection[str], unpack: Unpack = bytes) -> None:
    """Remove the waiting events of these sessions. Raises OSError."""
    if not sessions:
        return
    for path, _, event in waiting(folder, sys.maxsize, unpack):
        if event is None or event.session in sessions:
            files.remove(path)
            spool.count(str(folder))


def waiting(
    folder: Path, most: int = EVENTS_MAX, unpack: Unpack = bytes
) -> Iterator[tuple[Path, int, Event | None]]:
    """(file, its number, its event) in order; None for a file without a valid event. `unpack`: from
    a file's bytes to the event's.
    """
    try:
        listed = files.entries(folder)
    except OSError:
        return
    names = [name for name, info in listed.items() if name.endswith(ENDING) and stat.S_ISREG(info.st_mode)]
    for name in sorted(names)[:most]:
        digits = name.partition("-")[0]
        number = int(digits) if digits.isdecimal() and int(digits) <= NUMBER_MAX else -1
        try:
            event = msgspec.json.decode(unpack(files.read_ours(folder / name, FILE_BYTES_MAX)), type=Event)
        except (OSError, msgspec.MsgspecError, ValueError, Damaged):
            event = None
        yield folder / name, max(0, number), event if number >= 0 else None


def portion_of(events: Sequence[tuple[int, Event]], position: Position) -> Portion:
    """The portion of one session's events with numbers above `position`."""
    gathering = Gathering()
    for number, event in events:
        if number > position.offset:
            _take(event, gathering)
    last, session = events[-1][0], events[-1][1]
    parts, _ = remove_secrets_in([asdict(piece) for piece in gathering.finish()])
    session_fields = {
        "kind": session.agent[:KIND_CHARS_MAX] or NAME,
        "source_id": session.session,
        "project_path": session.cwd,
        "file": FILE + session.session,
        "started_at": gathering.first_at,
        "last_at": gathering.last_at,
    }
    clean: dict[str, Any] = remove_secrets_in(session_fields)[0]
    return Portion(
        position.offset, Position(max(last, position.offset), last), anew=False, parts=parts, session=clean
    )


def _take(event: Event, gathering: Gathering) -> None:
    gathering.note(at=event.at)
    if event.event == "prompt":
        gathering.begin(event.text, event.at)
    elif event.event == "tool-use":
        gathering.use(event.tool)
        for path in event.files:
            gathering.handle(path, modified=event.modified)
    elif event.event == "stop":
        gathering.say(event.text, twice=True)
