"""The lines of the best files that answer a question, rendered within a budget. Pure over Rows.

windows.py chooses the windows, line_scores.py scores lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from cortex.engines.chunks.line_scores import Rarity, weigh_words
from cortex.engines.chunks.source import Lines, Source, read_source
from cortex.engines.chunks.windows import (
    Evidence,
    Selection,
    Window,
    choose_windows,
    drop_repeats,
    rank_units,
)
from cortex.generation.read import Rows
from cortex.system.process import allocator
from cortex.terms.budget import Budget
from cortex.terms.records import covers
from ipc.messages import Hit, Show, Shown

#: files whose units compete for windows
FILES = 8
#: entries of an answer without a limit
ENTRIES = 15
#: best files that always get an entry, however weak
FILES_SURE = 3
#: files with an entry or at least a place: as many as a ranking is measured by
FILES_NAMED = 10
#: letters of the files in the cache, some 20 MB: the next question is often about the same files
SOURCES_CHARS_MAX = 6_000_000
#: lines of a chunk that belongs to no file, or of a requested view chunk
VIEW_LINES = 12
#: marks a gap between two windows of one entry; followed by the number of the next line
GOES_ON = "… line {}"


class ShowHandler:
    """Answers Show for the rows of one generation. Frozen; caches hold derived values only."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._files = {path: at for at, path in enumerate(rows.path_names)}
        self._rarity = Rarity(rows)
        #: least recently used first
        self._sources: dict[str, Source] = {}
        self._chars = 0
        allocator.may_forget(self)

    def forget(self) -> None:
        self._sources.clear()
        self._chars = 0

    def show(self, request: Show) -> Shown:
        """Entries in the order of the files' ranks; entries of one file by line."""
        hits = self._hits(request)
        if request.names:
            answer = _Answer(self._rows, request, hits, Selection((), {}))
            answer.add_remaining(self._source)
            return answer.reply()
        repeats: dict[str, int] = {}
        if not request.chosen:
            paths, repeats = drop_repeats(
                list(dict.fromkeys(ranked.hit.path for ranked in hits)), request.query
            )
            hits = [ranked for ranked in hits if ranked.hit.path in paths]
        views = [ranked for ranked in hits if self._is_view(ranked.hit, is_chosen=request.chosen)]
        paths = list(dict.fromkeys(ranked.hit.path for ranked in hits if ranked not in views))
        question = weigh_words(self._rarity, request.query)
        sources = {path: self._source(path) for path in paths[:FILES]}
        evidence = self._evidence(request, hits)
        compared = rank_units(question, request.query, sources, evidence, request.places)
        sure = paths[: min(FILES_SURE, request.limit or FILES_SURE)]
        selection = choose_windows(question, compared, sure, request)
        answer = _Answer(self._rows, request, hits, selection, omitted=repeats)
        answer.add_windows()
        for ranked in views:
            answer.add_view(ranked)
        answer.add_remaining(self._source)
        return answer.reply()

    def _hits(self, request: Show) -> list[RankedHit]:
        ordinals = self._rows.locate(np.array(request.keys, "<u8"))
        present = np.flatnonzero(ordinals >= 0)
        hits = self._rows.hits(ordinals[present])
        return [
            RankedHit(at, ordinal, hit, request.scores[at])
            for at, ordinal, hit in zip(present.tolist(), ordinals[present].tolist(), hits, strict=True)
        ]

    def _evidence(self, request: Show, hits: Sequence[RankedHit]) -> Evidence:
        hit_spans: dict[str, list[tuple[int, int, float]]] = {}
        for ranked in hits:
            spans = hit_spans.setdefault(ranked.hit.path, [])
            spans.append((ranked.hit.start_line, ranked.hit.end_line, float(len(spans))))
        ordinals = self._rows.locate(np.array(request.found, "<u8"))
        present = np.flatnonzero(ordinals >= 0)
        speaking: dict[str, list[tuple[int, int, float]]] = {}
        for hit, at in zip(self._rows.hits(ordinals[present]), present.tolist(), strict=True):
            spans = speaking.setdefault(hit.path, [])
            spans.append((hit.start_line, hit.end_line, request.speaking[at]))
        return Evidence(hit_spans, speaking)

    def _is_view(self, hit: Hit, *, is_chosen: bool) -> bool:
        """Whether the chunk's text is rendered, in place of the lines of its file."""
        return (
            not hit.path
            or (is_chosen and not covers(hit.chunk_type))
            or not len(self._rows.lines_of(self._files[hit.path]))
        )

    def _source(self, path: str) -> Source:
        source = self._sources.pop(path, None)
        if source is None:
            source = read_source(self._rows, self._files[path])
            self._chars += len(source.lines.text)
        self._sources[path] = source
        while self._chars > SOURCES_CHARS_MAX and len(self._sources) > 1:
            self._chars -= len(self._sources.pop(next(iter(self._sources))).lines.text)
        return source


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with its index among the keys, its row, and its score."""

    at: int
    ordinal: int
    hit: Hit
    score: float


@dataclass
class _Answer:
    """Entries under construction, with the data for their order."""

    rows: Rows
    request: Show
    hits: Sequence[RankedHit]
    selection: Selection
    #: (index of the key, first line, JSON)
    entries: list[tuple[int, int, bytes]] = field(default_factory=list)
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.budget = Budget(self.request.max_bytes)

    omitted: dict[str, int] = field(default_factory=dict)
    #: path of a file without an entry → `path:line` of its best hit
    more: dict[str, str] = field(default_factory=dict)

    def add_windows(self) -> None:
        self.omitted.update(self.selection.omitted)
        for window in self.selection.windows:
            self._add(self._find_hit(window), window)

    def add_view(self, ranked: RankedHit) -> None:
        """Add the first lines of a chunk that is not made of lines of a file."""
        body = orjson.loads(self.rows.chunk(ranked.ordinal))
        lines = str(body.get("text", "")).split("\n")[:VIEW_LINES]
        first = ranked.hit.start_line
        source = Source(ranked.hit.path, Lines.of("\n".join(lines), first))
        window = Window(source, tuple(range(first, first + len(lines))), "", ranked.score)
        self._add(ranked, window, end=ranked.hit.end_line)

    def add_remaining(self, read: object) -> None:
        """Add one line for each hit of a file without an entry: for all hits with a `limit`, else
        until FILES_SURE files have one. Further good files are listed by place.
        """
        assert callable(read)
        windows_by_path = {window.source.path: window for window in self.selection.windows}
        for ranked in self.hits:
            if ranked.hit.path in windows_by_path or any(at == ranked.at for at, _, _ in self.entries):
                continue
            if not self.request.limit and len(windows_by_path) >= FILES_SURE:
                self._note_place(ranked.hit, len(windows_by_path))
                continue
            window = _line_window(read(ranked.hit.path), ranked.hit)
            if self._add(ranked, window):
                windows_by_path[ranked.hit.path] = window

    def _note_place(self, hit: Hit, shown_count: int) -> None:
        """List a hit far below the best by its place, or count it as "weak"."""
        if shown_count + len(self.more) < FILES_NAMED and hit.path:
            self.more.setdefault(hit.path, f"{hit.path}:{hit.start_line}")
        elif hit.path not in self.more:
            self.omitted["weak"] = self.omitted.get("weak", 0) + 1

    def reply(self) -> Shown:
        limit = self.request.limit or ENTRIES
        first: dict[str, int] = {}
        for ranked in self.hits:
            first.setdefault(ranked.hit.path or ranked.hit.id, ranked.at)
        paths = {ranked.at: ranked.hit.path or ranked.hit.id for ranked in self.hits}
        order = sorted(self.entries, key=lambda entry: (first[paths[entry[0]]], entry[1]))[:limit]
        return Shown(
            generation=self.rows.generation,
            truncated=self.budget.full,
            entries=tuple(body for _, _, body in order),
            of=tuple(at for at, _, _ in order),
            omitted=self.omitted,
            more=tuple(self.more.values()),
        )

    def _find_hit(self, window: Window) -> RankedHit:
        """The file's first hit that overlaps the window, else the file's first hit."""
        file_hits = [ranked for ranked in self.hits if ranked.hit.path == window.source.path]
        inside = [
            ranked
            for ranked in file_hits
            if ranked.hit.start_line <= window.lines[-1] and window.lines[0] <= ranked.hit.end_line
        ]
        return (inside or file_hits)[0]

    def _add(self, ranked: RankedHit, window: Window, end: int = 0) -> bool:
        if self.request.limit and len(self.entries) >= self.request.limit:
            return False
        identity = self.rows.ids(np.array([window.source.row_at(window.lines[0], ranked.ordinal)]))[0]
        body = render_entry(window, identity, end)
        if not self.budget.take(len(body), sure=not self.entries):
            return False
        self.entries.append((ranked.at, window.lines[0], body))
        return True


def _line_window(source: Source, hit: Hit) -> Window:
    """The first line of the first definition in a chunk, or its first line that is not blank."""
    inside = [unit for unit in source.units if hit.start_line <= unit.end and unit.start <= hit.end_line]
    unit = next(
        (unit for unit in inside if unit.symbol and unit.head >= hit.start_line),
        inside[0] if inside else None,
    )
    start = unit.head if unit else hit.start_line
    number = next((n for n in range(start, hit.end_line + 1) if source.lines[n].strip()), start)
    return Window(source, (number,), unit.symbol if unit else "", 0.0)


def render_entry(window: Window, identity: str, end: int = 0) -> bytes:
    """The JSON of an entry: id, text and the metadata that clients use."""
    metadata: dict[str, object] = {
        "file_path": window.source.path,
        "start_line": window.lines[0],
        "end_line": end or window.lines[-1],
    }
    if window.symbol:
        metadata["symbol"] = window.symbol
    return orjson.dumps({"id": identity, "text": window_text(window), "metadata": metadata})


def window_text(window: Window) -> str:
    """The window's lines as in the file, without common indentation and blank ends."""
    lines = [window.source.lines[number] for number in window.lines]
    indents = [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()]
    common = min(indents, key=len, default="")
    cut = len(common) if all(indent.startswith(common) for indent in indents) else 0
    out: list[str] = []
    for at, (number, line) in enumerate(zip(window.lines, lines, strict=True)):
        if at and number != window.lines[at - 1] + 1:
            out.append(GOES_ON.format(number))
        out.append(line[cut:].rstrip())
    return "\n".join(out).strip("\n")
