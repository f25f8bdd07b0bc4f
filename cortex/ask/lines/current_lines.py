"""The lines of spans as their files are now: from the index while a file is unchanged, else found
again in the file.

Only plain files inside the project that the index holds are read, and never through a link. Lines
that cannot be found again are the indexed ones, and marked: their numbers may be wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

from cortex.ask.query_context import Turn
from cortex.settings.encodings import Encodings
from cortex.system import files
from cortex.system.folders import path_names
from ipc.messages import SourceLines, SourceTexts

#: workers with the indexed text, in the order in which they are asked
WORKERS = ("text", "vector")
#: indexed lines on both sides of a span that tell apart equal lines of a changed file
CONTEXT_LINES = 8
#: bytes of a file that is compared; spans of a larger one that changed are stale
FILE_BYTES_MAX = 4 * 1024 * 1024
#: lines that may have been added to a span, and still it is found again
ADDED_LINES_MAX = 60
#: lines of a file that is read whole
LINES_MAX = 1_000_000
#: share of a span's lines that must still be in the file
KEPT_MIN = 0.5


class Span(NamedTuple):
    """The lines `start` to `end` of a file, 1-based and inclusive, as the index numbers them."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CurrentSpan:
    """The lines of a span; none where neither the index nor the file has them.

    `start` and `end` are numbers of the file as it is now. `moved`: they differ from those of the
    index, or the lines do. `stale`: the lines and numbers are those of the index, and the file has
    changed; `gone`: it has been removed.
    """

    file: str
    start: int
    end: int
    lines: tuple[str, ...] = ()
    moved: bool = False
    stale: bool = False
    gone: bool = False

    @property
    def text(self) -> str:
        """The lines, joined by line feeds."""
        return "\n".join(self.lines)


async def read_spans(turn: Turn, spans: Sequence[Span]) -> list[CurrentSpan]:
    """Return the lines of each span, in order; one request to a worker for all of them.

    Raises NotReady, and Unavailable when no worker with rows answers.
    """
    if not spans:
        return []
    around = [(max(1, span.start - CONTEXT_LINES), span.end + CONTEXT_LINES) for span in spans]
    wanted = tuple((span.file, *lines) for span, lines in zip(spans, around, strict=True))
    request = SourceLines(wanted, turn.generation.number)
    reply = await turn.first_of(WORKERS, request, SourceTexts, turn.silent)
    indexed = [
        _Indexed.of(span, first, text)
        for span, (first, _), text in zip(spans, around, reply.texts, strict=True)
    ]
    indexed_files = dict.fromkeys(
        span.file for span, lines in zip(spans, indexed, strict=True) if lines.around
    )
    differing = _find_differing(turn, indexed_files)
    now: dict[str, list[str] | None] = {}
    if differing:
        now = await asyncio.to_thread(_read_files, str(turn.context.config.root), differing)
    return [_find_again(span, lines, now) for span, lines in zip(spans, indexed, strict=True)]


async def read_texts(turn: Turn, paths: Sequence[str]) -> dict[str, str]:
    """Return path → the text of the file: as it is now if it has changed since it was indexed, else
    the indexed lines; none where neither is there. Raises as `read_spans`.
    """
    if not paths:
        return {}
    request = SourceLines(tuple((path, 1, LINES_MAX) for path in paths), turn.generation.number)
    reply = await turn.first_of(WORKERS, request, SourceTexts, turn.silent)
    texts = {path: text.decode("utf-8", "replace") for path, text in zip(paths, reply.texts, strict=True)}
    now = await asyncio.to_thread(_read_files, str(turn.context.config.root), _find_differing(turn, paths))
    texts |= {path: "\n".join(lines) for path, lines in now.items() if lines is not None}
    return {path: text for path, text in texts.items() if text}


async def read_changed(turn: Turn, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return path → all lines of those of `paths` that changed since they were indexed, as they are
    now; none for a file that was removed or is no text. Every path must be one of the index.
    """
    changed = sorted(turn.stale(paths))
    if not changed:
        return {}
    now = await asyncio.to_thread(_read_files, str(turn.context.config.root), changed)
    return {path: lines for path, lines in now.items() if lines}


@dataclass(frozen=True, slots=True)
class _Indexed:
    """Indexed lines around a span; the span's own begin with number `before` and are `count`."""

    around: list[str]
    before: int = 0
    count: int = 0

    @classmethod
    def of(cls, span: Span, first: int, text: bytes) -> _Indexed:
        around = text.decode("utf-8", "replace").split("\n") if text else []
        before = span.start - first
        return cls(around, before, max(0, min(span.end - first + 1, len(around)) - before))

    @property
    def lines(self) -> list[str]:
        return self.around[self.before : self.before + self.count]


def _find_differing(turn: Turn, paths: Sequence[str] | dict[str, None]) -> list[str]:
    """Return those of `paths` whose files must be read: changed, or unknown to the indexer."""
    freshness = turn.context.freshness
    stale, listed = turn.stale(paths), freshness.listed()
    return [path for path in paths if path in stale or (path not in listed and freshness.is_there(path))]


def _read_files(root: str, paths: Sequence[str]) -> dict[str, list[str] | None]:
    """Return path → the file's lines; None for one that is gone; one without text is left out."""
    encodings = Encodings(root)
    return {path: read_file(root, path, encodings) for path in paths}


def read_file(root: str, path: str, encodings: Encodings) -> list[str] | None:
    """Return the lines of a file of the project, read without following a link; None for one that
    is gone, and none for one that cannot be read as text.
    """
    if not path_names.stays_inside(path):
        return []
    try:
        raw = files.read_plain(f"{root}/{path}", FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return []
    read = encodings.read(path, raw) if len(raw) <= FILE_BYTES_MAX else None
    return [] if read is None else read.lines()


def _find_again(span: Span, indexed: _Indexed, now: dict[str, list[str] | None]) -> CurrentSpan:
    lines = tuple(indexed.lines)
    unchanged = CurrentSpan(span.file, span.start, span.start + max(1, len(lines)) - 1, lines)
    if span.file not in now or not lines:
        return unchanged
    current = now[span.file]
    if current is None:
        return replace(unchanged, stale=True, gone=True)
    place = _place_of(indexed, current, span.start - 1)
    if place is None:
        return replace(unchanged, stale=True)
    begin, end = place
    new = tuple(current[begin:end])
    moved = begin + 1 != span.start or [*map(str.rstrip, new)] != [*map(str.rstrip, lines)]
    return replace(unchanged, start=begin + 1, end=end, lines=new, moved=moved)


def _place_of(indexed: _Indexed, current: list[str], expected: int) -> tuple[int, int] | None:
    """Return (index of the first line, index after the last line) of the span in the file as it is
    now; None if it is not there any more. `expected`: index of its first line in the index.
    """
    stripped = [line.rstrip() for line in current]
    old = replace(indexed, around=[line.rstrip() for line in indexed.around])
    exact = [
        (_context_score(old, stripped, at), -abs(at - expected), at)
        for at in _equal_places(old.lines, stripped)
    ]
    if exact:
        score, _, begin = max(exact)
        place = None if len(exact) > 1 and not score else (begin, begin + old.count)
    else:
        place = _changed_place(old, stripped)
    return (place[0], _extend_end(old, stripped, *place)) if place else None


def _equal_places(lines: list[str], current: list[str]) -> Iterator[int]:
    """Yield the indices where all of `lines` follow each other in the file."""
    count, at = len(lines), -1
    with contextlib.suppress(ValueError):  # of index: there are no more
        while True:
            at = current.index(lines[0], at + 1)
            if current[at : at + count] == lines:
                yield at


def _context_score(old: _Indexed, current: Sequence[str], begin: int) -> int:
    """Return how many lines next to the span are those of the index, without blank ones."""
    end = begin + old.count
    above = zip(reversed(old.around[: old.before]), reversed(current[:begin]), strict=False)
    below = zip(old.around[old.before + old.count :], current[end:], strict=False)
    return sum(line == other for line, other in (*above, *below) if line)


def _changed_place(old: _Indexed, current: Sequence[str]) -> tuple[int, int] | None:
    """Return (begin, end) of a span with changed lines; None where too few of them are left."""
    anchor = SequenceMatcher(None, old.around, current).find_longest_match(old.before, old.before + old.count)
    shift, reach = anchor.b - anchor.a, len(old.around) + ADDED_LINES_MAX
    low, high = max(0, shift - ADDED_LINES_MAX), min(len(current), shift + reach)
    #: index of an indexed line → its index in the file
    matched = {-1: -1} if low == 0 else {}
    if not any(old.around[old.before + old.count :]) and high == len(current):
        matched[old.before + old.count] = len(current)
    blocks = SequenceMatcher(None, old.around, current[low:high]).get_matching_blocks()
    for block in blocks:
        matched |= {block.a + at: low + block.b + at for at in range(block.size)}
    first, last = old.before, old.before + old.count - 1
    begin = matched.get(first, matched.get(first - 1, len(current)) + 1)
    end = matched.get(last, matched.get(last + 1, 0) - 1) + 1
    while end > begin and not current[end - 1]:
        end -= 1
    spoken = [at for at in range(first, last + 1) if old.around[at]]
    remaining = sum(at in matched for at in spoken)
    return (begin, end) if begin < end and remaining and remaining >= KEPT_MIN * len(spoken) else None


def _extend_end(old: _Indexed, current: Sequence[str], begin: int, end: int) -> int:
    """Return the end with lines that were added to the end of an indented body."""
    body = [line for line in current[begin:end] if line]
    following = next((line for line in old.around[old.before + old.count :] if line), None)
    if not body or _indent(body[-1]) <= _indent(body[0]):
        return end
    last = end
    for at in range(end, min(len(current), end + ADDED_LINES_MAX)):
        if not current[at]:
            continue
        if current[at] == following or _indent(current[at]) <= _indent(body[0]):
            break
        last = at + 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
