"""Incremental reading of a session's file: complete lines only, from the last position, or all
again if the file was replaced.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from cortex.memory.transcripts.formats import claude, codex
from cortex.memory.transcripts.formats.exchanges import Gathering
from cortex.system import files
from cortex.terms.text.secrets import remove_secrets_in

#: longest line in bytes: longer ones hold a picture or a file, and are skipped
LINE_BYTES_MAX = 1 << 20
#: bytes of one portion: more than the longest line
PORTION_BYTES = LINE_BYTES_MAX + (64 << 10)
#: bytes before the position that identify the file
TAIL_BYTES = 256
#: bytes in which most files name the folder of their program; else as many as a portion are read
HEAD_BYTES = 256 << 10
#: half of a surrogate pair, from a program that cut a text inside a character: no text can hold it;
#: and an escaped backslash, which only looks like one
_HALVES = re.compile(
    rb"(\\\\)|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
#: errors from a line with another shape than its type suggests
_ODD = (AttributeError, KeyError, TypeError, ValueError)


class Format(Protocol):
    """A format of sessions: one module for each program."""

    NAME: str

    def is_sidechain(self, path: Path) -> bool: ...
    def name_of(self, path: Path, gathering: Gathering) -> str: ...
    def paths(self, folder: Path) -> Iterator[Path]: ...
    def folder(self, home: Path, environ: Any) -> Path: ...
    def parse(self, line: Any, gathering: Gathering) -> None: ...


#: all formats
FORMATS: tuple[Format, ...] = (claude, codex)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a file: offset in bytes, its size then, and the hash of the bytes before."""

    offset: int = 0
    size: int = 0
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Portion:
    """Lines that were read, as parts of exchanges in JSON form, from the offset `start` to `place`;
    `anew`: the file was replaced or cut. `session`: the context from its lines.
    """

    start: int
    place: Position
    anew: bool
    parts: list[dict[str, Any]] = field(default_factory=list)
    session: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def more(self) -> bool:
        """Whether more can be read at once."""
        return self.place.offset < self.place.size and self.place.offset > self.start


def read_portion(
    path: Path, form: Format, position: Position, committing: set[str] | None = None
) -> Portion | None:
    """Read the next portion of the file; None if nothing was added. `committing`: calls of git
    without a result so far, passed from one portion to the next. Raises OSError.
    """
    with files.open_plain(path) as file:
        size = file.seek(0, 2)
        anew = size < position.offset or _tail(file, position.offset) != position.tail
        start = 0 if anew else position.offset
        gathering = Gathering(sidechain=form.is_sidechain(path), committing=committing)
        end = start + _take_lines(file, start, form, gathering)
        if end == start and not anew:
            return None
        place = Position(end, size, _tail(file, end))
    parts, _ = remove_secrets_in([asdict(piece) for piece in gathering.finish()])
    session, _ = remove_secrets_in({"branch": gathering.branch, "project_path": gathering.cwd})
    session |= {
        "kind": form.NAME,
        "source_id": form.name_of(path, gathering),
        "file": str(path),
        "started_at": gathering.first_at,
        "last_at": gathering.last_at,
    }
    return Portion(start, place, anew, parts, session, dict(gathering.counts))


def folder_of(path: Path, form: Format) -> str:
    """The folder of the session's program, from the first lines of its file; "" if they lack it.
    Raises OSError.
    """
    gathering = Gathering()
    for most in (HEAD_BYTES, PORTION_BYTES):
        raw = files.read_plain(path, most)
        for line in raw.split(b"\n"):
            _take_line(line, form, gathering)
            if gathering.cwd:
                return gathering.cwd
        if len(raw) < most:
            break
    return ""


def _take_lines(file: BinaryIO, start: int, form: Format, gathering: Gathering) -> int:
    """Read complete lines from `start` on; return their length in bytes."""
    file.seek(start)
    data = file.read(PORTION_BYTES)
    end = data.rfind(b"\n") + 1
    if not end:
        return _skip_line(file, len(data), gathering) if len(data) > LINE_BYTES_MAX else 0
    for line in data[:end].split(b"\n"):
        if len(line) > LINE_BYTES_MAX:
            gathering.counts["too_long"] += 1
        elif line.strip():
            _take_line(line, form, gathering)
    return end


def _skip_line(file: BinaryIO, read: int, gathering: Gathering) -> int:
    """The length of a line longer than one portion; 0 while its end is missing."""
    while block := file.read(PORTION_BYTES):
        if (at := block.find(b"\n")) >= 0:
            gathering.counts["too_long"] += 1
            return read + at + 1
        read += len(block)
    return 0


def _take_line(line: bytes, form: Format, gathering: Gathering) -> None:
    try:
        try:
            record = orjson.loads(line)
        except ValueError:
            record = orjson.loads(_HALVES.sub(lambda half: half[1] or rb"\ufffd", line))
        if not isinstance(record, dict):
            raise TypeError(type(record).__name__)
        form.parse(record, gathering)
    except _ODD:
        gathering.counts["unreadable"] += 1


def _tail(file: BinaryIO, end: int) -> str:
    """The hash of the bytes right before `end`; "" at the start."""
    if not end:
        return ""
    start = max(0, end - TAIL_BYTES)
    file.seek(start)
    return hashlib.sha256(file.read(end - start)).hexdigest()[:32]
