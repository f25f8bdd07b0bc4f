r"""Substring and regular expression search: candidates from trigrams, verified by RE2 over the texts as they are mapped.

RE2 is linear in the text, whatever the expression. Only code and documentation chunks are searched: they hold every
line of a file once. Expressions work line by line, as in grep, unless they name a line's end (`\n`, `(?s)`): then the
whole file is searched, and a match that spans two chunks belongs to the one that it begins in. So does a match in a
line that is too long for one chunk.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import islice, pairwise

import numpy as np
import re2

from cortex.engines.text.fold import Found
from cortex.engines.text.words import Words
from cortex.generation.read import Rows
from cortex.generation.trigrams import find_rows
from cortex.query.expressions import Analysis, analyse
from cortex.query.needs import Either, Every, Needs
from cortex.query.tree import Regex
from ipc.arrays import Array
from ipc.errors import BadRequest

#: seconds after which a search answers with what it has found
SCAN_S = 1.5
#: bytes of memory for one expression's automata (RE2's own default)
_MEMORY = 8 << 20
#: matches marked in a chunk
_MARKS_MAX = 40
#: bytes searched in one go, between two looks at the clock: they fit the processor's cache, and RE2 reads 30 MB/s where
#: its automaton does not fit the memory
_BATCH_BYTES = 1 << 18
#: matches between two looks at the clock
_CLOCK_MATCHES = 256
#: score of a match inside a word; doubled at each end where a word begins or ends
_INSIDE = 2.5
_UNANCHORED = re2._Anchor.UNANCHORED  # noqa: SLF001 - its own search() makes two more objects for each match
_PART = re.compile(r"-p(\d+)$")
#: byte → does it belong to a word
_IN_WORD = np.array([chr(at).isalnum() or at == ord("_") or at >= 128 for at in range(256)])

#: plain text, as match type substring writes it, with or without \b at its ends
_PLAIN = re.compile(r"(\\b)?((?:[A-Za-z0-9_ !\"#%&',/:;<=>@`~-]|\\[!-/:-@\[-`{-~])+?)(\\b)?")
#: what RE2 takes for a k and an s in any case: KELVIN SIGN, LATIN SMALL LETTER LONG S
_FOLDED = ("\u212a".encode(), "\u017f".encode())
#: byte → does it belong to a word in the sense of RE2
_IS_WORD = np.array([at < 128 and (chr(at).isalnum() or at == ord("_")) for at in range(256)])

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Plain:
    r"""An expression that is plain ASCII text, in lower case unless the case counts, with or without \b at its ends.

    `folds`: it has a letter that matches one beyond ASCII, too. `in_word`: it is a word or a piece of one, in any case.
    """

    text: bytes
    begins: bool
    ends: bool
    folds: bool
    in_word: bool

    @property
    def overlaps(self) -> bool:
        """Whether a match may hide another that counts: one that is no word hides what overlaps it."""
        ends = (self.text[:n] == self.text[-n:] for n in range(1, len(self.text)))
        return (self.begins or self.ends) and any(ends)


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression. `excluded`: chunks with a match are left out."""

    source: Regex
    compiled: re2._Regexp
    analysis: Analysis
    plain: Plain | None
    excluded: bool = False

    @property
    def whole_file(self) -> bool:
        """Whether it is matched against whole files, and not line by line."""
        return self.analysis.multiline


@dataclass(frozen=True, slots=True)
class Scanned:
    """`found`: matching rows, ascending; `marks`: spans (bytes of the text) that the text of a row alone does not show."""

    found: Found
    truncated: bool = False
    marks: dict[int, list[Span]] = field(default_factory=dict)

    def joined(self, other: Scanned) -> Scanned:
        """The rows of both, with the sum of their scores."""
        both, left, right = np.intersect1d(
            self.found.ordinals, other.found.ordinals, assume_unique=True, return_indices=True
        )
        found = Found(both, self.found.scores[left] + other.found.scores[right])
        return Scanned(found, self.truncated or other.truncated, self.marks | other.marks)

    def without(self, other: Scanned) -> Scanned:
        rest = ~np.isin(self.found.ordinals, other.found.ordinals)
        return Scanned(self.found.take(rest), self.truncated or other.truncated, self.marks)


@dataclass(frozen=True, slots=True)
class _Body:
    """Texts one after the other: row `ordinals[i]` is `data[begins[i]:ends[i]]`, its line feed included."""

    data: memoryview | bytes
    ordinals: Array
    begins: Array
    ends: Array


def compile_expression(source: Regex, *, excluded: bool = False) -> Expression:
    """Raises BadRequest, with what RE2 says, for an expression that it does not take."""
    analysis = analyse(source.pattern)
    options = re2.Options()
    options.case_sensitive = source.case
    options.never_nl = not analysis.multiline
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled = re2.compile("(?m)" + source.pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else error
        said = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise BadRequest(
            f"The regular expression at position {source.position + 1} is not valid: {said.replace('(?m)', '', 1)}. The syntax is RE2's (no "
            "look-around, no back-references); use match_type substring for literal text."
        ) from error
    return Expression(source, compiled, analysis, _plain(source), excluded)


def _plain(source: Regex) -> Plain | None:
    """`source` as plain text; None when it is more than that."""
    found = _PLAIN.fullmatch(source.pattern)
    if found is None:
        return None
    text = re.sub(r"\\(.)", r"\1", found[2])
    text = text if source.case else text.lower()
    return Plain(
        text=text.encode(),
        begins=bool(found[1]),
        ends=bool(found[3]),
        folds=not source.case and bool(set(text) & {"k", "s"}),
        in_word=not source.case and text.replace("_", "a").isalnum(),
    )


class Texts:
    """What is searched: the covering rows of a generation. Frozen; caches hold derived values only."""

    def __init__(self, rows: Rows, covering: Array, words: Words) -> None:
        """`covering`: bool [all rows], the live rows that hold each line of a file once."""
        self._rows = rows
        self._words = words
        self._covering = covering

    def candidates(self, needs: Needs, mask: Array) -> Array:
        """The rows of `mask` (bool [all rows]), ascending, that may hold what `needs` asks for."""
        found = np.zeros(len(mask), bool)
        for start, segment in zip(self._rows.starts.tolist(), self._rows.segments, strict=False):
            rows = find_rows(segment.arrays, needs)
            if rows is None:
                return np.flatnonzero(mask)
            found[rows + start] = True
        found[self._split.ordinals] = True  # a line in pieces has its trigrams in several
        return np.flatnonzero(found & mask)

    def match_lines(self, expression: Expression, ordinals: Array, deadline: float) -> Scanned:
        """Those of the rows `ordinals` (ascending) that have a match in one line, with the score of the first, or of the best
        where the word table tells.
        """
        found, scores = [ordinals[:0]], [np.zeros(0, np.float32)]
        plain = expression.plain
        if plain is not None and plain.in_word and not plain.overlaps:
            edges = self._words.around(plain.text.decode(), begins=plain.begins, ends=plain.ends)
            told = ~self._untold[ordinals]
            here = ordinals[told & (edges[ordinals] >= 0)]
            found.append(here)
            scores.append(np.float32(_INSIDE) * np.exp2(edges[here]).astype(np.float32))
            ordinals = ordinals[~told]
        marks: dict[int, list[Span]] = {}
        truncated = False
        for body in self._bodies(ordinals):
            places, spans, values, late = _first_matches(expression, body, deadline)
            truncated = truncated or late
            wanted = np.ones(len(places), bool)
            if body.data is self._split.data:
                marks = _marks_of(body, places, spans)
                wanted = np.isin(body.ordinals[places], ordinals)
            found.append(body.ordinals[places[wanted]])
            scores.append(values[wanted])
        rows = np.concatenate(found)
        order = np.argsort(rows)
        return Scanned(Found(rows[order], np.concatenate(scores)[order]), truncated, marks)

    def match_files(self, expression: Expression, mask: Array, deadline: float) -> Scanned:
        """The rows of `mask` in which a match begins, in files put together from all their rows."""
        scores: dict[int, float] = {}
        marks: dict[int, list[Span]] = {}
        truncated = False
        for body in self._files(expression.analysis.needs, mask):
            truncated = time.monotonic() > deadline
            if truncated:
                break
            _scan_file(expression, body, mask, scores, marks)
        rows = np.array(sorted(scores), np.int64)
        found = Found(rows, np.array([scores[row] for row in rows.tolist()], np.float32))
        return Scanned(found, truncated, marks)

    def _bodies(self, ordinals: Array) -> Iterator[_Body]:
        """The texts of `ordinals`: those in each segment as they are mapped, and those of lines in pieces."""
        split = self._split
        asked = np.zeros(len(self._rows), bool)
        asked[ordinals] = True
        if asked[split.ordinals].any():  # all of them: a match may go on in a row that is not asked for
            asked[split.ordinals] = False
            ordinals = np.flatnonzero(asked)
            yield split
        edges = np.searchsorted(ordinals, self._rows.starts)
        for number, segment in enumerate(self._rows.segments):
            here = ordinals[edges[number] : edges[number + 1]]
            if len(here):
                offsets, row = segment.arrays["text_offsets"], here - int(self._rows.starts[number])
                yield _Body(
                    segment.bytes_of("text_bytes"),
                    here,
                    offsets[row].astype(np.int64),
                    offsets[row + 1].astype(np.int64),
                )

    @cached_property
    def _untold(self) -> Array:
        """Bool [all rows]: those whose words do not tell which plain text they hold."""
        out = self._words.odd.copy()
        out[self._split.ordinals] = True  # a word may go on in the next piece of its line
        return out

    @cached_property
    def _split(self) -> _Body:
        """The rows that are pieces of one line, with the pieces of each line joined."""
        return self._join(_pieces(self._rows, np.flatnonzero(self._covering)))

    def _join(self, groups: list[list[int]]) -> _Body:
        """The texts of each group as one text without line feeds between them."""
        texts = [
            self._rows.raw_text(row)[: None if row == group[-1] else -1] for group in groups for row in group
        ]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        ordinals = np.array([row for group in groups for row in group], np.int64)
        return _Body(b"".join(texts), ordinals, np.concatenate([[0], ends[:-1]]) if len(ends) else ends, ends)

    def _files(self, needs: Needs, mask: Array) -> Iterator[_Body]:
        """The files that have rows in `mask` and may hold what `needs` asks for, each put together."""
        columns = self._rows.columns
        files = self._files_of(needs, np.unique(columns["path"][mask]))
        rows = np.flatnonzero(self._covering)
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
        cuts = np.flatnonzero(np.diff(paths[rows])) + 1
        for first, stop in pairwise([0, *cuts.tolist(), len(rows)] if len(rows) else []):
            texts = []
            for at, row in enumerate(rows[first:stop].tolist(), first):
                raw = self._rows.raw_text(row)
                # A line in pieces goes on; other programs' chunks may hold their last line feed.
                texts.append(raw[:-1] if goes_on[at] or raw.count(b"\n") > feeds[at] + 1 > 0 else raw)
            sizes = np.cumsum([len(text) for text in texts], dtype=np.int64)
            yield _Body(b"".join(texts), rows[first:stop], np.concatenate([[0], sizes[:-1]]), sizes)

    def _files_of(self, needs: Needs, files: Array) -> Array:
        """Those of `files` (ordinals of paths, ascending) whose chunks together hold what `needs` asks for."""
        if isinstance(needs, Either):
            return reduce(np.union1d, [self._files_of(part, files) for part in needs.parts])
        paths = self._rows.columns["path"]
        for gram in needs.trigrams:
            files = np.intersect1d(files, paths[self.candidates(Every((gram,)), self._covering)])
            if not len(files):
                break
        for part in needs.parts:
            files = self._files_of(part, files)
        return files


def _pieces(rows: Rows, covering: Array) -> list[list[int]]:
    """The groups of rows that hold one line in pieces: ids that end in -p1, -p2, … over the same lines of a file."""
    columns = rows.columns
    place = [columns[name][covering].astype(np.int64) for name in ("path", "start_line", "end_line")]
    order = np.lexsort(place[::-1])
    same = np.logical_and.reduce([one[order][1:] == one[order][:-1] for one in place])
    same &= place[1][order][1:] > 0
    alike = np.zeros(len(order), bool)
    alike[1:] |= same
    alike[:-1] |= same
    suspects = covering[order[alike]].tolist()
    groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row, name in zip(suspects, rows.ids(np.array(suspects, np.int64)), strict=True):
        if number := _PART.search(name):
            stem = f"{columns['path'][row]}:{name[: number.start()]}"
            groups.setdefault((stem, int(columns["start_line"][row])), []).append((int(number[1]), row))
    out = []
    for (_, start), group in groups.items():
        members = [row for _, row in sorted(group)]
        feeds = sum(rows.raw_text(row).count(b"\n") - 1 for row in members)
        if feeds <= int(columns["end_line"][members[0]]) - start and len(members) > 1:
            out.append(members)
    return out


def _first_matches(expression: Expression, body: _Body, deadline: float) -> tuple[Array, Array, Array, bool]:
    """(i64: the places in `body` of the rows with a match; i64 [m, 2]: the span of the first one in each, in the row's
    text; their scores; did the time end?)
    """
    scan = _scan_plain if _is_plain(expression, body) else _scan
    places, spans, late = scan(expression, body, _batches(body), deadline)
    scores = _edges(np.frombuffer(body.data, np.uint8), spans + body.begins[places, None])
    return places, spans, scores, late


def _batches(body: _Body) -> list[tuple[int, int]]:
    """(first row, row after the last) of the pieces that are searched in one go."""
    apart = np.diff(np.cumsum(body.ends - body.begins) // _BATCH_BYTES) > 0
    if isinstance(body.data, bytes):  # lines in pieces: a cut inside one would hide a match
        apart = np.frombuffer(body.data, np.uint8)[body.ends[:-1] - 1] == ord("\n")
    cuts = (np.flatnonzero(apart) + 1).tolist()
    return list(pairwise([0, *cuts, len(body.ends)]))


def _is_plain(expression: Expression, body: _Body) -> bool:
    """Whether `_scan_plain` finds the same as `_scan`. Not where lines are in pieces: there a match may span two rows."""
    return expression.plain is not None and not expression.plain.overlaps and not isinstance(body.data, bytes)


def _scan_plain(
    expression: Expression, body: _Body, batches: list[tuple[int, int]], deadline: float
) -> tuple[Array, Array, bool]:
    """As `_scan`. A call of RE2 for each match would be most of the time where matches are many."""
    plain = expression.plain
    assert plain is not None
    size, late = len(plain.text), False
    found = [(np.zeros(0, np.int64), np.zeros((0, 2), np.int64))]
    for first, stop in batches:
        late = late or time.monotonic() > deadline
        if late:
            break
        data, ends = _gathered(body, first, stop)
        if plain.folds and not data.isascii() and any(letter in data for letter in _FOLDED):
            *here, late = _scan(expression, body, [(first, stop)], deadline)
            found.append((here[0], here[1]))
            continue
        data = data if expression.source.case else data.lower()
        between = data.split(plain.text)
        if len(between) == 1:
            continue
        at = np.cumsum(np.fromiter(map(len, between[:-1]), np.int64, len(between) - 1) + size) - size
        if plain.begins or plain.ends:
            raw = np.frombuffer(data, np.uint8)
            at = at[~(plain.begins & _both(raw, at)) & ~(plain.ends & _both(raw, at + size))]
        rows = np.searchsorted(ends, at, side="right")
        new = np.ones(len(rows), bool)
        new[1:] = rows[1:] != rows[:-1]
        rows = rows[new]
        begins = at[new] - np.where(rows > 0, ends[rows - 1], 0)
        found.append((first + rows, np.stack([begins, begins + size], axis=1)))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([spans for _, spans in found]), late


def _both(data: Array, at: Array) -> Array:
    r"""Whether the places `at` are no word boundaries: what stands before and after is of one kind (RE2's \b)."""
    before = _IS_WORD[data[np.maximum(at - 1, 0)]] & (at > 0)
    after = _IS_WORD[data[np.minimum(at, len(data) - 1)]] & (at < len(data))
    same: Array = before == after
    return same


def _scan(
    expression: Expression, body: _Body, batches: list[tuple[int, int]], deadline: float
) -> tuple[Array, Array, bool]:
    """(i64 [m]: places; i64 [m, 2]: spans in their rows' texts; did the time end?)"""
    match = expression.compiled._regexp.Match  # noqa: SLF001 - as _UNANCHORED
    places: list[int] = []
    spans: list[Span] = []
    late = False
    for first, stop in batches:
        late = late or time.monotonic() > deadline
        if late:
            break
        data, edges = _gathered(body, first, stop)
        ends = edges.tolist()
        row = position = start = 0
        size = ends[-1]
        while position < size:
            begin, end = match(_UNANCHORED, data, position, size)[0]
            if begin < 0 or begin >= size:
                break
            row = bisect_right(ends, begin, row)
            start = ends[row - 1] if row else 0
            places.append(first + row)
            spans.append((begin - start, end - start))
            position = max(ends[row], end)
            if not len(places) % _CLOCK_MATCHES and time.monotonic() > deadline:
                late = True
                break
    return np.array(places, np.int64), np.array(spans, np.int64).reshape(-1, 2), late


def _gathered(body: _Body, first: int, stop: int) -> tuple[bytes, Array]:
    """The texts of rows `first` to before `stop`, side by side, and where each ends: one call of RE2 costs as much as
    1 kB of text, and a chunk has hardly more.
    """
    begins, ends = body.begins[first:stop], body.ends[first:stop]
    apart = begins[1:] != ends[:-1]
    starts = begins[np.concatenate([[True], apart])].tolist()
    stops = ends[np.concatenate([apart, [True]])].tolist()
    view = memoryview(body.data)
    data = b"".join([view[begin:end] for begin, end in zip(starts, stops, strict=True)])
    return data, np.cumsum(ends - begins)


def _edges(data: Array, spans: Array) -> Array:
    """float32: the score of each match, by whether it begins and ends where words do."""
    scores = np.full(len(spans), _INSIDE, np.float32)
    for at in (spans[:, 0], spans[:, 1]):
        before = _IN_WORD[data[np.maximum(at - 1, 0)]] & (at > 0)
        after = _IN_WORD[data[np.minimum(at, len(data) - 1)]] & (at < len(data))
        scores[~(before & after)] *= 2
    return scores


def _marks_of(body: _Body, places: Array, spans: Array) -> dict[int, list[Span]]:
    """The span in each row's own text."""
    sizes = (body.ends - body.begins)[places]
    rows = zip(body.ordinals[places].tolist(), spans.tolist(), sizes.tolist(), strict=True)
    return {row: [(begin, min(end, size))] for row, (begin, end), size in rows}


def _scan_file(
    expression: Expression, body: _Body, mask: Array, scores: dict[int, float], marks: dict[int, list[Span]]
) -> None:
    ends, begins, ordinals = body.ends.tolist(), body.begins.tolist(), body.ordinals.tolist()
    spans: list[tuple[int, Span]] = []
    for match in islice(expression.compiled.finditer(body.data), len(ordinals) * _MARKS_MAX):
        place = min(bisect_right(ends, match.start()), len(ordinals) - 1)
        spans.append((place, match.span()))
    values = _edges(
        np.frombuffer(body.data, np.uint8), np.array([span for _, span in spans], np.int64).reshape(-1, 2)
    )
    for (place, (begin, end)), value in zip(spans, values.tolist(), strict=True):
        row = ordinals[place]
        if mask[row]:
            scores.setdefault(row, value)
            if len(marks.setdefault(row, [])) < _MARKS_MAX:
                marks[row].append((begin - begins[place], min(end, ends[place]) - begins[place]))


def mark(text: str, expressions: list[Expression], known: list[Span]) -> list[list[Span]]:
    """For each expression the spans of its matches in a chunk's text; `known` are spans in its bytes."""
    out = []
    for expression in expressions:
        if not expression.excluded:
            found = expression.compiled.finditer(text)
            out.append([span for match in islice(found, _MARKS_MAX) if (span := match.span())[0] < span[1]])
    if known:
        raw = text.encode()
        out.append(
            [
                (len(raw[:begin].decode(errors="ignore")), len(raw[:end].decode(errors="ignore")))
                for begin, end in known
            ]
        )
    return out
