"""A session's file, read on from where it was read before: whole lines only, and all of it anew
when it is no longer what it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from cortex.memory.transcripts import claude, codex
from cortex.memory.transcripts.exchanges import Gathering
from cortex.system import files
from cortex.terms.secrets import remove_secrets_in

#: bytes of a line: what is longer holds a picture or a file, and is skipped
LINE_BYTES_MAX = 1 << 20
#: bytes that are read for one answer of the store's owner: more than a line has
PORTION_BYTES = LINE_BYTES_MAX + (64 << 10)
#: bytes before the place that was reached, by which a file is known again
TAIL_BYTES = 256
#: bytes in which most files say where their program worked; the others in as many as a portion has
HEAD_BYTES = 256 << 10
#: half a character, as programs write one that cut a text in its middle: no text can hold it; and
#: what only looks like one
_HALVES = re.compile(
    rb"(\\\\)|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
#: what a line may raise that has another shape than its type says
_ODD = (AttributeError, KeyError, TypeError, ValueError)


class Format(Protocol):
    """One module for each program that writes sessions."""

    NAME: str

    def is_sidechain(self, path: Path) -> bool: ...
    def name_of(self, path: Path, gathering: Gathering) -> str: ...
    def paths(self, folder: Path) -> Iterator[Path]: ...
    def folder(self, home: Path, environ: Any) -> Path: ...
    def parse(self, line: Any, gathering: Gathering) -> None: ...


#: every format there is
FORMATS: tuple[Format, ...] = (claude, codex)


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read: bytes, how large it was then, and the hash of what is before."""

    offset: int = 0
    size: int = 0
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Portion:
    """What was read: the parts of exchanges as JSON has them, from the place `start` to `place`;
    `anew`: the file is another than it was, or was cut. `session`: what its lines tell of it.
    """

    start: int
    place: Position
    anew: bool
    parts: list[dict[str, Any]] = field(default_factory=list)
    session: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def more(self) -> bool:
        """Whether there is more to be read at once."""
        return self.place.offset < self.place.size and self.place.offset > self.start


def read_portion(
    path: Path, form: Format, position: Position, committing: set[str] | None = None
) -> Portion | None:
    """What was added to the file since; None for nothing. `committing`: calls of git whose results
    were not read, kept from one portion to the next. Raises OSError.
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
    """Where the session's program worked, as the first lines of its file say; "" when they do not.
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
    """Take whole lines from `start` on; how many bytes they are."""
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
    """The length of a line that is longer than what is read at once; 0 while its end is missing."""
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
    """The hash of what is right before the place `end`; "" for the beginning."""
    if not end:
        return ""
    start = max(0, end - TAIL_BYTES)
    file.seek(start)
    return hashlib.sha256(file.read(end - start)).hexdigest()[:32]
