"""Events that hooks wrote down, put together as exchanges: for programs whose sessions have no file
that we read. Each event is taken once, by the moment in its name.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from cortex.memory.transcripts import spool
from cortex.memory.transcripts.exchanges import Gathering
from cortex.memory.transcripts.reader import Portion, Position
from cortex.memory.transcripts.spool import ENDING
from cortex.system import files
from cortex.system.errors import Damaged
from cortex.terms.secrets import remove_secrets_in

#: what such a session is called when no program is named, and what stands for its file
NAME, FILE = "hook", "spool:"
#: bytes of an event, and of its file, in which it may lie sealed
EVENT_BYTES_MAX = 64 << 10
FILE_BYTES_MAX = EVENT_BYTES_MAX + 1024
#: what makes an event's bytes of those of its file
Unpack = Callable[[bytes], bytes]
#: events that are put together at once
EVENTS_MAX = 500


@dataclass(frozen=True, slots=True)
class Event:
    """What a hook wrote down; see `cortex.front.hook`. `at`: UTC milliseconds."""

    event: str
    at: int
    session: str
    cwd: str
    transcript: str = ""
    agent: str = ""
    text: str = ""
    tool: str = ""
    files: tuple[str, ...] = ()
    modified: bool = False


def forget(folder: Path, sessions: Collection[str], unpack: Unpack = bytes) -> None:
    """Remove what waits of these sessions. Raises OSError."""
    if not sessions:
        return
    for path, _, event in waiting(folder, sys.maxsize, unpack):
        if event is None or event.session in sessions:
            files.remove(path)
            spool.count(str(folder))


def waiting(
    folder: Path, most: int = EVENTS_MAX, unpack: Unpack = bytes
) -> Iterator[tuple[Path, int, Event | None]]:
    """(file, its number, what is in it) in their order; None for a file that holds no event.
    `unpack`: what makes an event's bytes of a file's.
    """
    try:
        listed = files.entries(folder)
    except OSError:
        return
    names = [name for name, info in listed.items() if name.endswith(ENDING) and stat.S_ISREG(info.st_mode)]
    for name in sorted(names)[:most]:
        number = name.partition("-")[0]
        try:
            event = msgspec.json.decode(unpack(files.read_ours(folder / name, FILE_BYTES_MAX)), type=Event)
        except (OSError, msgspec.MsgspecError, ValueError, Damaged):
            event = None
        yield folder / name, int(number) if number.isdecimal() else 0, event if number.isdecimal() else None


def portion_of(events: Sequence[tuple[int, Event]], position: Position) -> Portion:
    """The events of one session, by their numbers, after those that are known."""
    gathering = Gathering()
    for number, event in events:
        if number > position.offset:
            _take(event, gathering)
    last, session = events[-1][0], events[-1][1]
    parts, _ = remove_secrets_in([asdict(piece) for piece in gathering.finish()])
    session_fields = {
        "kind": session.agent or NAME,
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
