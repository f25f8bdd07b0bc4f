"""The places of a note: from a person's spelling to files and graph ids, and their fingerprints.

A path in a note is never opened just because a note contains it: it is looked up among the indexed
files of the project, and only those are read.

A fingerprint is `hash of all lines` + `:` + four letters for each line: enough to find the lines
again when they have moved, and to tell which of them are different.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cortex.ask.exploring.functions import Function, resolve
from cortex.ask.query_context import QueryContext, Turn
from cortex.system import files
from cortex.system.errors import CortexError
from cortex.system.folders import path_names
from cortex.terms.ids import strip_overload
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.text.spelling import path_below, read_file_lines

#: lines of a place with a mark each; a longer place has only the hash of all its lines
LINES_MAX = 2_000
#: bytes of the hash of all lines, and letters of a line's mark: one of 65 536 changed lines has the
#: same mark, and the hash of all detects it
WHOLE_BYTES, LINE_LETTERS = 8, 4


@dataclass(frozen=True)
class TextLines:
    """The lines of a file, without line ends and trailing white space."""

    lines: tuple[bytes, ...]

    @classmethod
    def of(cls, raw: bytes) -> TextLines:
        return cls(tuple(line.rstrip() for line in raw.splitlines()))

    @cached_property
    def marks(self) -> str:
        """LINE_LETTERS for each line."""
        return "".join(_digest(line, LINE_LETTERS // 2) for line in self.lines)

    def fingerprint(self, first: int, last: int) -> str:
        """Return the fingerprint of the lines `first` to `last` (1-based, inclusive)."""
        lines = self.lines[first - 1 : last]
        digest = _digest(b"\n".join(lines), WHOLE_BYTES)
        if len(lines) > LINES_MAX:
            return digest
        marks = self.marks[(first - 1) * LINE_LETTERS : last * LINE_LETTERS]
        return f"{digest}:{marks}"

    def full_fingerprint(self) -> str:
        return self.fingerprint(1, len(self.lines))

    def find(self, fingerprint: str) -> tuple[int, int] | None:
        """Return (first, last) of the same lines in this file; None when it lacks them."""
        digest, _, marks = fingerprint.partition(":")
        count, at = len(marks) // LINE_LETTERS, -1
        while marks and (at := self.marks.find(marks, at + 1)) >= 0:
            if at % LINE_LETTERS == 0:
                first = at // LINE_LETTERS + 1
                if self.fingerprint(first, first + count - 1).partition(":")[0] == digest:
                    return first, first + count - 1
        return None

    def changed_span(self, fingerprint: str, first: int, last: int) -> tuple[int, int]:
        """Return the changed span within the lines; of mere removals the line at their place."""
        then = _split_marks(fingerprint.partition(":")[2])
        now = _split_marks(self.marks[(first - 1) * LINE_LETTERS : last * LINE_LETTERS])
        if not then:
            return first, last
        most = min(len(then), len(now))
        head = next((at for at in range(most) if then[at] != now[at]), most)
        left = most - head
        tail = next((at for at in range(left) if then[-1 - at] != now[-1 - at]), left)
        begin, end = first + head, last - tail
        return (begin, end) if begin <= end else (min(begin, last), min(begin, last))


def _split_marks(marks: str) -> list[str]:
    return [marks[at : at + LINE_LETTERS] for at in range(0, len(marks), LINE_LETTERS)]


def _digest(raw: bytes, size: int) -> str:
    return hashlib.blake2b(raw, digest_size=size).hexdigest()


#: places of one note that are looked up; others keep their names
PLACES_MAX = 16
#: seconds that the graph has to resolve a name
RESOLVE_S = 0.5
#: seconds that a note waits for the index after one of its files was saved; between two checks
INDEXED_S, LOOK_S = 2.0, 0.05
#: bytes of a file; a larger one gets no fingerprint
FILE_BYTES_MAX = 2_000_000


@dataclass(slots=True)
class Places:
    """The places of a note. `anchored`: the files of the anchors; `spoken`: path or anchor → its
    fingerprint; `warnings`: names without a certain meaning.
    """

    files: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    anchored: list[str] = field(default_factory=list)
    spoken: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def store_arguments(self, files: Sequence[str] | None, anchors: Sequence[str] | None) -> dict[str, Any]:
        """Return the arguments of memory's `store`; files not given stay as the note has them."""
        arguments: dict[str, Any] = {"anchored": self.anchored or None, "spoken": self.spoken or None}
        arguments |= {"files": self.files} if files is not None else {}
        return arguments | ({"anchors": self.anchors} if anchors is not None or self.anchors else {})


@dataclass(frozen=True, slots=True)
class _ResolvedAnchor:
    """The meaning of an anchor: its definition, or its `spelling` with a remark on the doubt."""

    spelling: str
    definition: Function | None = None
    remark: str = ""


async def find_places(
    context: QueryContext, file_names: Sequence[str], anchor_names: Sequence[str]
) -> Places:
    """Look up places. An unknown one keeps its spelling: the next reader looks it up again."""
    places, targets = Places(), []
    root, listed = str(context.config.root), context.freshness.listed()
    for spelling in file_names:
        place = read_file_lines(path_below(spelling.strip().strip("\"'`"), root))
        if path := _match_listed(place.path, listed):
            places.files.append(path)
            targets += [f"{path}:{place.line}"] if place.line else []
    targets += [spelling.strip().replace(f"{root}/", "") for spelling in anchor_names if spelling.strip()]
    await _wait_indexed(context, places.files)
    anchors = await _resolve_anchors(context, targets[:PLACES_MAX])
    late = [anchor.definition.file for anchor in anchors if anchor.definition]
    if late and await _wait_indexed(context, late):
        anchors = await _resolve_anchors(context, targets[:PLACES_MAX])
    spans = _collect_anchors(places, anchors, targets[PLACES_MAX:])
    places.spoken = await asyncio.to_thread(_fingerprint_places, context, places, spans)
    return places


async def _resolve_anchors(context: QueryContext, targets: Sequence[str]) -> list[_ResolvedAnchor]:
    return list(await asyncio.gather(*(resolve_anchor(context, target) for target in targets)))


async def resolve_anchor(context: QueryContext, target: str, seconds: float = RESOLVE_S) -> _ResolvedAnchor:
    """Return the graph's meaning of a name, within so many seconds."""
    generation = context.freshness.current()
    if not generation.number:
        return _ResolvedAnchor(target)
    until = min(context.until, time.monotonic() + seconds)
    turn = Turn(context, generation, until, final=True)
    try:
        definitions, remark = await resolve(turn, target)
    except CortexError:
        return _ResolvedAnchor(target)
    return _ResolvedAnchor(target, definitions[0] if definitions else None, remark)


def _collect_anchors(
    places: Places, anchors: Sequence[_ResolvedAnchor], others: Sequence[str]
) -> dict[str, Function]:
    """Add the resolved anchors to `places`; return anchor → its definition."""
    spans: dict[str, Function] = {}
    for anchor in anchors:
        if anchor.remark:
            places.warnings.append(anchor.remark)
        if anchor.definition is None:
            places.anchors.append(anchor.spelling)
        elif anchor.definition.kind in WHOLE_KINDS:
            places.anchored.append(anchor.definition.file)
        else:
            name = strip_overload(anchor.definition.id)
            places.anchors.append(name)
            places.anchored.append(anchor.definition.file)
            spans.setdefault(name, anchor.definition)
    places.files = list(dict.fromkeys(places.files))
    places.anchored = list(dict.fromkeys(places.anchored))
    places.anchors = list(dict.fromkeys((*places.anchors, *others)))
    return spans


def _match_listed(path: str, listed: Collection[str]) -> str:
    """Return the indexed file that a path means, as the index spells it; else the path itself."""
    if path in listed or not path:
        return path
    if os.path.isabs(path):  # of another worktree
        ends = [listed_path for listed_path in listed if path.endswith(f"/{listed_path}")]
        return max(ends, key=len, default=path)
    ends = [listed_path for listed_path in listed if listed_path.endswith(f"/{path}")]
    return ends[0] if len(ends) == 1 else path


async def _wait_indexed(context: QueryContext, paths: Sequence[str]) -> bool:
    """Wait while an indexer runs until just saved files are indexed; return whether it waited."""
    freshness, waited = context.freshness, False
    until = min(context.until - 1.0, time.monotonic() + INDEXED_S)
    while time.monotonic() < until and freshness.progress().running:
        listed = freshness.listed()
        new = any(path not in listed and freshness.is_there(path) for path in paths)
        if not new and not freshness.stale(paths, freshness.current()):
            break
        waited = True
        await asyncio.sleep(LOOK_S)
    return waited


def _fingerprint_places(
    context: QueryContext, places: Places, spans: Mapping[str, Function]
) -> dict[str, str]:
    """Return the fingerprints of the definitions, and of whole files without a definition."""
    reader, fingerprints = TextReader(context), dict[str, str]()
    old = context.freshness.stale(
        {definition.file for definition in spans.values()}, context.freshness.current()
    )
    for name, definition in spans.items():
        text = None if definition.file in old else reader.read(definition.file)
        if text is not None:
            fingerprints[name] = text.fingerprint(definition.start, definition.end)
    anchored = {definition.file for definition in spans.values()}
    for path in dict.fromkeys((*places.files, *places.anchored)[:PLACES_MAX]):
        if path not in anchored and (text := reader.read(path)) is not None:
            fingerprints[path] = text.full_fingerprint()
    return fingerprints


class TextReader:
    """A reader of indexed files, for one answer: reads each file once."""

    def __init__(self, context: QueryContext) -> None:
        self._root = str(context.config.root)
        self.listed = context.freshness.listed()
        self._texts: dict[str, TextLines | None] = {}

    def read(self, path: str) -> TextLines | None:
        """Return the lines; None for a file that is not indexed, too large or unreadable."""
        if path not in self._texts:
            self._texts[path] = self._read_file(path) if path in self.listed else None
        return self._texts[path]

    def _read_file(self, path: str) -> TextLines | None:
        if not path_names.stays_inside(path):
            return None
        try:
            raw = files.read_plain(f"{self._root}/{path}", FILE_BYTES_MAX + 1)
        except OSError:
            return None
        return None if len(raw) > FILE_BYTES_MAX else TextLines.of(raw)
