r"""Substring and regular expression search: candidates from trigrams, verified by RE2 over unpacked
texts.

RE2 is linear in the text for every expression. Searched are the chunks that cover each line of a
file once; views only for files without such chunks. Expressions match line by line, as in grep,
unless they name a line's end (`\n`, `(?s)`): then the file is searched as a whole, and a match that
spans two chunks belongs to the chunk in which it begins. The same holds for a line that is too long
for one chunk.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import islice, pairwise

import numpy as np

from cortex.engines.text.matches.overlaps import Folds, ScoredRows
from cortex.engines.text.matches.verify import (
    INSIDE,
    Expression,
    Plain,
    RowTexts,
    Span,
    best_matches,
    edge_scores,
    first_matches,
)
from cortex.engines.text.words import Words
from cortex.generation.read import Rows
from cortex.generation.segments import packing
from cortex.generation.segments.segment import Segment
from cortex.generation.segments.trigrams import find_rows
from cortex.query.needs import Either, Every, Needs
from cortex.system.arrays import Array

#: seconds after which a search ends and answers with its matches so far
SCAN_S = 1.5
#: approximate bytes of a text; scanning a byte of texts takes as long as one of words
TEXT_BYTES = 1000
#: matches marked in a chunk: for the lines of an excerpt, and for a list of all its lines
MARKS_MAX, LINE_MARKS_MAX = 40, 2000
_PIECE = re.compile(r"-p(\d+)$")


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of a scan. `rows`: matching rows, ascending; `marks`: row → spans (bytes of its
    text) that its text alone does not show.
    """

    rows: ScoredRows
    truncated: bool = False
    marks: dict[int, list[Span]] = field(default_factory=dict)

    def intersect(self, other: Scanned) -> Scanned:
        """The rows of both, with the sum of their scores."""
        both, left, right = np.intersect1d(
            self.rows.ordinals, other.rows.ordinals, assume_unique=True, return_indices=True
        )
        rows = ScoredRows(both, self.rows.scores[left] + other.rows.scores[right])
        return Scanned(rows, self.truncated or other.truncated, self.marks | other.marks)

    def subtract(self, other: Scanned) -> Scanned:
        others = ~np.isin(self.rows.ordinals, other.rows.ordinals)
        return Scanned(self.rows.take(others), self.truncated or other.truncated, self.marks)


class TextScanner:
    """Scans the texts of a generation. Frozen; caches hold derived values only."""

    def __init__(self, rows: Rows, folds: Folds, words: Words, batch_bytes: int) -> None:
        self._batch_bytes, self._rows, self._words = batch_bytes, rows, words
        self._searched, self._alone = folds.searched, folds.alone

    def candidates(self, needs: Needs, mask: Array) -> Array:
        """The rows of `mask` (bool [all rows]) that may satisfy `needs`, ascending."""
        matching = np.zeros(len(mask), bool)
        for start, segment in zip(self._rows.starts.tolist(), self._rows.segments, strict=False):
            rows = find_rows(segment.arrays, needs)
            if rows is None:
                return np.flatnonzero(mask)
            matching[rows + start] = True
        matching[self._split.ordinals] = True  # the trigrams of a split line are in several rows
        matching |= self._alone  # views have none
        return np.flatnonzero(matching & mask)

    def match_lines(self, expression: Expression, ordinals: Array, deadline: float) -> Scanned:
        """The rows of `ordinals` (ascending) with a match in one line, with the score of the first
        match, or of the best one if the word table suffices.
        """
        row_lists, scores = [ordinals[:0]], [np.zeros(0, np.float32)]
        plain = expression.plain
        if plain is not None and plain.in_word and not plain.overlaps:
            by_words = ~self._not_by_words[ordinals]
            matching, values = self._in_words(plain, ordinals[by_words])
            row_lists.append(matching)
            scores.append(values)
            ordinals = ordinals[~by_words]
        marks: dict[int, list[Span]] = {}
        truncated = False
        for body in self._bodies(ordinals):
            matched = first_matches(expression, body, deadline, self._batch_bytes)
            truncated = truncated or matched.late
            rows = body.ordinals[matched.places]
            wanted = np.isin(rows, ordinals) if body is self._split else np.ones(len(rows), bool)
            if body is self._split:
                marks = _marks_of(body, matched.places, matched.spans)
            row_lists.append(rows[wanted])
            scores.append(matched.scores[wanted])
        rows = np.concatenate(row_lists)
        order = np.argsort(rows)
        return Scanned(ScoredRows(rows[order], np.concatenate(scores)[order]), truncated, marks)

    def _in_words(self, plain: Plain, ordinals: Array) -> tuple[Array, Array]:
        """The rows of `ordinals` (ascending), all without `odd` words, that hold `plain`, with the
        score of the best place. Uses the table of all words when the texts are larger than it: its
        scan takes the same time for rare and frequent words.
        """
        if len(ordinals) * TEXT_BYTES > self._words.size:
            edges = self._words.around(plain.text.decode(), begins=plain.begins, ends=plain.ends)
            matching = ordinals[edges[ordinals] >= 0]
            return matching, np.float32(INSIDE) * np.exp2(edges[matching]).astype(np.float32)
        return best_matches(plain, self._body(ordinals), self._batch_bytes)

    def match_files(self, expression: Expression, mask: Array, deadline: float) -> Scanned:
        """The rows of `mask` in which a match begins, in files joined from all their rows."""
        scores: dict[int, float] = {}
        marks: dict[int, list[Span]] = {}
        truncated = False
        for body in self._files(expression.analysis.needs, mask):
            truncated = time.monotonic() > deadline
            if truncated:
                break
            _scan_file(expression, body, mask, scores, marks)
        rows = np.array(sorted(scores), np.int64)
        values = ScoredRows(rows, np.array([scores[row] for row in rows.tolist()], np.float32))
        return Scanned(values, truncated, marks)

    def _bodies(self, ordinals: Array) -> Iterator[RowTexts]:
        """The texts of `ordinals`, and those of split lines."""
        split = self._split
        requested = np.zeros(len(self._rows), bool)
        requested[ordinals] = True
        if requested[split.ordinals].any():  # all: a match may continue in another row
            requested[split.ordinals] = False
            ordinals = np.flatnonzero(requested)
            yield split
        if len(ordinals):
            yield self._body(ordinals)

    def _body(self, ordinals: Array) -> RowTexts:
        """The texts of `ordinals` (ascending), none of them a piece of a line."""
        starts, segments = self._rows.starts, self._rows.segments
        edges = np.searchsorted(ordinals, starts)
        sizes = [
            segment.arrays["text_sizes"][ordinals[begin:end] - start]
            for segment, start, (begin, end) in zip(segments, starts, pairwise(edges), strict=False)
        ]

        def read(first: int, stop: int) -> bytes:
            parts = []
            for at in np.flatnonzero((edges[:-1] < stop) & (edges[1:] > first)).tolist():
                rows = ordinals[max(edges[at], first) : min(edges[at + 1], stop)] - starts[at]
                parts.append(_texts_of(segments[at], rows))
            return b"".join(parts)

        ends = np.cumsum(np.concatenate(sizes) if sizes else ordinals, dtype=np.int64)
        return RowTexts(ordinals, ends, read)

    @cached_property
    def _not_by_words(self) -> Array:
        """Bool [all rows]: rows for which the word table does not suffice."""
        out = self._words.odd.copy()
        out[self._split.ordinals] = True  # a word may continue in the next piece of its line
        return out

    @cached_property
    def _split(self) -> RowTexts:
        """The rows that are pieces of one line, with the pieces of each line joined."""
        return self._join(_pieces(self._rows, np.flatnonzero(self._searched)))

    def _join(self, groups: list[list[int]]) -> RowTexts:
        """The texts of each group joined to one text without line feeds between them."""
        texts = [
            self._rows.raw_text(row)[: None if row == group[-1] else -1] for group in groups for row in group
        ]
        return RowTexts.of(texts, np.array([row for group in groups for row in group], np.int64))

    def _files(self, needs: Needs, mask: Array) -> Iterator[RowTexts]:
        """The complete files with rows in `mask` that may satisfy `needs`."""
        columns = self._rows.columns
        files = self._files_of(needs, np.unique(columns["path"][mask]))
        rows = np.flatnonzero(self._searched)
        rows = rows[np.isin(columns["path"][rows], files)]
        pieces = np.full(len(self._rows), -1, np.int64)
        pieces[self._split.ordinals] = np.arange(len(self._split.ordinals))
        starts, ends, paths = (columns[name].astype(np.int64) for name in ("start_line", "end_line", "path"))
        rows = rows[np.lexsort((pieces[rows], starts[rows], paths[rows]))]
        feeds = (ends - starts)[rows].tolist()
        goes_on = np.zeros(len(rows), bool)
        goes_on[:-1] = (
            (pieces[rows[:-1]] >= 0) & (pieces[rows[1:]] >= 0) & (starts[rows[:-1]] == starts[rows[1:]])
        )
        cuts = np.flatnonzero((np.diff(paths[rows]) != 0) | self._alone[rows[1:]]) + 1
        for first, stop in pairwise([0, *cuts.tolist(), len(rows)] if len(rows) else []):
            texts = []
            for at, row in enumerate(rows[first:stop].tolist(), first):
                raw = self._rows.raw_text(row)
                # A split line continues; chunks of foreign programs may hold their last line feed.
                texts.append(raw[:-1] if goes_on[at] or raw.count(b"\n") > feeds[at] + 1 > 0 else raw)
            yield RowTexts.of(texts, rows[first:stop])

    def _files_of(self, needs: Needs, files: Array) -> Array:
        """The files of `files` (ordinals of paths, ascending) whose chunks together satisfy
        `needs`.
        """
        if isinstance(needs, Either):
            return reduce(np.union1d, [self._files_of(need, files) for need in needs.parts])
        paths = self._rows.columns["path"]
        for gram in needs.trigrams:
            files = np.intersect1d(files, paths[self.candidates(Every((gram,)), self._searched)])
            if not len(files):
                break
        for need in needs.parts:
            files = self._files_of(need, files)
        return files


def _pieces(rows: Rows, covering: Array) -> list[list[int]]:
    """Groups of rows that hold one line in pieces: ids that end in -p1, -p2, … over the same lines
    of a file.
    """
    columns = rows.columns
    place = [columns[name][covering].astype(np.int64) for name in ("path", "start_line", "end_line")]
    order = np.lexsort(place[::-1])
    same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in place])
    same &= place[1][order][1:] > 0
    alike = np.zeros(len(order), bool)
    alike[1:] |= same
    alike[:-1] |= same
    suspects = covering[order[alike]].tolist()
    groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row, name in zip(suspects, rows.ids(np.array(suspects, np.int64)), strict=True):
        if number := _PIECE.search(name):
            stem = f"{columns['path'][row]}:{name[: number.start()]}"
            groups.setdefault((stem, int(columns["start_line"][row])), []).append((int(number[1]), row))
    out = []
    for (_, start), group in groups.items():
        members = [row for _, row in sorted(group)]
        feeds = sum(rows.raw_text(row).count(b"\n") - 1 for row in members)
        if feeds <= int(columns["end_line"][members[0]]) - start and len(members) > 1:
            out.append(members)
    return out


def _texts_of(segment: Segment, rows: Array) -> bytes:
    """The texts of `rows` of a segment, side by side."""
    offsets, sizes = segment.arrays["text_offsets"], segment.arrays["text_sizes"]
    data = segment.bytes_of("text_bytes")
    return packing.join(segment.path, data, offsets[rows], offsets[rows + 1], sizes[rows])


def _marks_of(body: RowTexts, places: Array, spans: Array) -> dict[int, list[Span]]:
    sizes = (body.ends - body.begins)[places]
    rows = zip(body.ordinals[places].tolist(), spans.tolist(), sizes.tolist(), strict=True)
    return {row: [(begin, min(end, size))] for row, (begin, end), size in rows}


def _scan_file(
    expression: Expression,
    body: RowTexts,
    mask: Array,
    scores: dict[int, float],
    marks: dict[int, list[Span]],
) -> None:
    ends, begins, ordinals = body.ends.tolist(), body.begins.tolist(), body.ordinals.tolist()
    spans: list[tuple[int, Span]] = []
    data = body.joined or b""
    for match in islice(expression.compiled.finditer(data), len(ordinals) * LINE_MARKS_MAX):
        place = min(bisect_right(ends, match.start()), len(ordinals) - 1)
        spans.append((place, match.span()))
    values = edge_scores(
        np.frombuffer(data, np.uint8), np.array([span for _, span in spans], np.int64).reshape(-1, 2)
    )
    for (place, (begin, end)), value in zip(spans, values.tolist(), strict=True):
        row = ordinals[place]
        if mask[row]:
            scores.setdefault(row, value)
            if len(marks.setdefault(row, [])) < LINE_MARKS_MAX:
                marks[row].append((begin - begins[place], min(end, ends[place]) - begins[place]))


def mark_matches(
    text: str, expressions: Iterable[Expression], known_spans: list[Span], most: int = MARKS_MAX
) -> list[list[Span]]:
    """For each expression the spans of its first `most` matches in `text`; `known_spans` are spans
    in its bytes.
    """
    out = []
    for expression in expressions:
        if not expression.excluded:
            matches = expression.compiled.finditer(text)
            out.append([span for match in islice(matches, most) if (span := match.span())[0] < span[1]])
    if known_spans:
        raw = text.encode()
        out.append(
            [
                (len(raw[:begin].decode(errors="ignore")), len(raw[:end].decode(errors="ignore")))
                for begin, end in known_spans
            ]
        )
    return out


def narrow(
    before: Scanned | None, mask: Array, expression: Expression, scanned: Scanned
) -> tuple[Scanned, Array]:
    """Apply one more expression to an outcome; return it and its rows as a mask."""
    if expression.excluded:
        rows = np.flatnonzero(mask)
        base = before or Scanned(ScoredRows(rows, np.zeros(len(rows), np.float32)))
        outcome = base.subtract(scanned)
    else:
        outcome = scanned if before is None else before.intersect(scanned)
    mask = np.zeros(len(mask), bool)
    mask[outcome.rows.ordinals] = True
    return outcome, mask
