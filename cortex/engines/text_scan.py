r"""Substring and regular expression search: candidates from trigrams, verified by RE2 over the chunks' text.

RE2 is linear in the text, whatever the expression. Only code and documentation chunks are searched: they hold every
line of a file once. Expressions work line by line, as in grep, unless they name a line's end (`\n`, `(?s)`): then the
whole file is searched, and a match that spans two chunks belongs to the one that it begins in.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby, islice

import numpy as np
import orjson
import re2
import tantivy
from tantivy import Occur, Query

from cortex.engines.query_tree import Regex
from cortex.engines.query_trigrams import ANYTHING, Analysis, Either, Needs, analyse
from cortex.engines.text_fold import Found
from cortex.rows import Rows
from ipc.errors import BadRequest
from ipc.messages import Array

#: seconds after which a search answers with what it has found
SCAN_S = 1.5
#: bytes of memory for one expression's automata (RE2's own default)
_MEMORY = 8 << 20
#: matches counted in a chunk; they make the score
_COUNT_MAX = 50
#: matches marked in a chunk
_MARKS_MAX = 40

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression. `excluded`: chunks with a match are left out."""

    source: Regex
    compiled: re2._Regexp
    analysis: Analysis
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Scanned:
    """`found`: matching rows with the number of matches as their score; `marks`: spans known already, by ordinal."""

    found: Found
    truncated: bool = False
    marks: dict[int, list[Span]] = field(default_factory=dict)

    def joined(self, other: Scanned) -> Scanned:
        """The rows of both, with the sum of their scores."""
        both, left, right = np.intersect1d(self.found.ordinals, other.found.ordinals, return_indices=True)
        found = Found(both, self.found.scores[left] + other.found.scores[right])
        return Scanned(found, self.truncated or other.truncated, self.marks | other.marks)

    def without(self, other: Scanned) -> Scanned:
        rest = ~np.isin(self.found.ordinals, other.found.ordinals)
        return Scanned(self.found.take(rest), self.truncated or other.truncated, self.marks)


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
    return Expression(source, compiled, analysis, excluded)


def candidates_query(expressions: list[Expression], schema: tantivy.Schema) -> Query | None:
    """What the chunks of single-line matches must hold; None when the trigrams say nothing."""
    queries = [
        query
        for expression in expressions
        if not expression.excluded and not expression.analysis.multiline
        if (query := _needs_query(expression.analysis.needs, schema)) is not None
    ]
    return Query.boolean_query([(Occur.Must, query) for query in queries]) if queries else None


def _needs_query(needs: Needs, schema: tantivy.Schema) -> Query | None:
    if needs == ANYTHING:
        return None
    if isinstance(needs, Either):
        parts = [_needs_query(part, schema) for part in needs.parts]
        kept = [part for part in parts if part is not None]
        return (
            Query.boolean_query([(Occur.Should, part) for part in kept]) if len(kept) == len(parts) else None
        )
    clauses = [Query.term_query(schema, "grams", gram, "basic") for gram in needs.trigrams]
    clauses += [query for part in needs.parts if (query := _needs_query(part, schema)) is not None]
    return Query.boolean_query([(Occur.Must, clause) for clause in clauses]) if clauses else None


def scan_chunks(rows: Rows, ordinals: Array, expressions: list[Expression]) -> Scanned:
    """Verify candidates one by one, in their order, until all are done or the time is over."""
    deadline = time.monotonic() + SCAN_S
    kept: list[int] = []
    counts: list[float] = []
    for done, (ordinal, found) in enumerate(_texts(rows, ordinals)):
        if not done % 64 and time.monotonic() > deadline:
            return Scanned(_found(kept, counts), truncated=True)
        text = found.encode()
        count = 0
        for expression in expressions:
            limit = 1 if expression.excluded else _COUNT_MAX
            matches = sum(1 for _ in islice(expression.compiled.finditer(text), limit))
            if bool(matches) == expression.excluded:
                break
            count += matches
        else:
            kept.append(ordinal)
            counts.append(float(count))
    return Scanned(_found(kept, counts), truncated=False)


def _files_of(
    rows: Rows, index: tantivy.Index, searcher: tantivy.Searcher, needs: Needs, files: Array
) -> Array:
    """Those of `files` (ordinals of paths, ascending) whose chunks together hold what `needs` asks for."""
    if isinstance(needs, Either):
        return reduce(np.union1d, [_files_of(rows, index, searcher, part, files) for part in needs.parts])
    for gram in needs.trigrams:
        query = Query.term_query(index.schema, "grams", gram, "basic")
        hits = searcher.search(query, max(searcher.num_docs, 1), count=False).hits
        keys = searcher.fast_field_values("key", [address for _, address in hits])
        ordinals = rows.locate(np.array(keys, np.uint64))
        files = np.intersect1d(files, rows.columns["path"][ordinals[ordinals >= 0]])
        if not len(files):
            break
    for part in needs.parts:
        files = _files_of(rows, index, searcher, part, files)
    return files


def scan_files(
    rows: Rows, index: tantivy.Index, searcher: tantivy.Searcher, ordinals: Array, expression: Expression
) -> Scanned:
    """Search whole files, put together from the covering chunks `ordinals`; each match belongs to where it begins."""
    deadline = time.monotonic() + SCAN_S
    columns = rows.columns
    paths = columns["path"][ordinals]
    files = _files_of(rows, index, searcher, expression.analysis.needs, np.unique(paths))
    ordinals = ordinals[np.isin(paths, files)]
    order = ordinals[np.lexsort((columns["start_line"][ordinals], columns["path"][ordinals]))]
    counts: dict[int, float] = {}
    marks: dict[int, list[Span]] = {}
    for _, chunks in groupby(_texts(rows, order), key=lambda one: int(columns["path"][one[0]])):
        if time.monotonic() > deadline:
            return Scanned(_found(list(counts), list(counts.values())), truncated=True, marks=marks)
        _scan_file(list(chunks), expression, counts, marks)
    return Scanned(_found(list(counts), list(counts.values())), truncated=False, marks=marks)


def _scan_file(
    chunks: list[tuple[int, str]],
    expression: Expression,
    counts: dict[int, float],
    marks: dict[int, list[Span]],
) -> None:
    texts = [text for _, text in chunks]
    whole = "".join(text if text.endswith("\n") else text + "\n" for text in texts)
    starts = np.cumsum([0, *(len(text) + (not text.endswith("\n")) for text in texts)])
    for match in islice(expression.compiled.finditer(whole), len(chunks) * _COUNT_MAX):
        begin, end = match.span()
        at = min(int(np.searchsorted(starts, begin, side="right")) - 1, len(chunks) - 1)
        ordinal = chunks[at][0]
        counts[ordinal] = counts.get(ordinal, 0.0) + 1
        start = int(starts[at])
        spans = marks.setdefault(ordinal, [])
        if len(spans) < _MARKS_MAX:
            spans.append((begin - start, min(end - start, len(texts[at]))))


def mark(text: str, expressions: list[Expression]) -> list[list[Span]]:
    """For each expression the spans of its matches in a chunk's text."""
    out = []
    for expression in expressions:
        if not expression.excluded:
            found = expression.compiled.finditer(text)
            out.append([span for match in islice(found, _MARKS_MAX) if (span := match.span())[0] < span[1]])
    return out


def _texts(rows: Rows, ordinals: Array) -> Iterator[tuple[int, str]]:
    """(ordinal, text) of rows: as Rows.chunk, but the places of all are looked up at once."""
    at = np.searchsorted(rows.starts, ordinals, side="right") - 1
    begins, ends = np.zeros(len(ordinals), np.int64), np.zeros(len(ordinals), np.int64)
    for number, segment in enumerate(rows.segments):
        here = np.flatnonzero(at == number)
        offsets, row = segment.arrays["chunk_offsets"], ordinals[here] - int(rows.starts[number])
        begins[here], ends[here] = offsets[row], offsets[row + 1]
    data = [segment.bytes_of("chunk_bytes") for segment in rows.segments]
    places = zip(ordinals.tolist(), at.tolist(), begins.tolist(), ends.tolist(), strict=True)
    for ordinal, number, begin, end in places:
        yield ordinal, str(orjson.loads(data[number][begin:end]).get("text") or "")


def _found(ordinals: list[int], counts: list[float]) -> Found:
    return Found(np.array(ordinals, np.int64), np.array(counts, np.float32))
