"""The text engine: opens a generation's tantivy index and answers keyword queries and ranking signals from it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson
import tantivy

from cortex.engines import text_signals
from cortex.engines.query_compile import compile_filters, compile_query, filtered
from cortex.engines.query_parse import Parsed, check, parse
from cortex.engines.query_tree import Regex, leaves, split_expressions
from cortex.engines.text_fold import Folds, Found, Places, page
from cortex.engines.text_highlight import Span, find_spans, fragments, line_numbers, make_needles
from cortex.engines.text_scan import (
    SCAN_S,
    Expression,
    Scanned,
    candidates_query,
    compile_expression,
    mark,
    scan_chunks,
    scan_files,
)
from cortex.engines.text_schema import make_schema, register
from cortex.engines.text_suggest import count_of, suggest
from cortex.engines.text_writer import META, TextWriter, open_index
from cortex.excerpt import cut, fit, query_words
from cortex.references import COUNTS
from cortex.rows import Rows
from ipc.errors import BadRequest, Damaged, NotFound
from ipc.messages import Array, Blobs, ExactHits, ExactSearch, Filters, Hit, Signals, TextSignals

__all__ = ["TextSnapshot", "TextWriter", "open_text"]

#: hits of one answer
LIMIT_MAX = 100
#: matches that are folded and ordered exactly, 25 ms for so many; the totals of more count the rest unfolded
MATCHES_MAX = 60_000
#: the tantivy score that becomes 0.5; a rare identifier, found whole, has about 30
_SCORE_HALF = 10.0


#: says why a scan ended early
TRUNCATED = (
    f"The search was ended after {SCAN_S} s: the expression has no three letters in a row that every match must hold; "
    "add some, or a path filter."
)


def open_text(folder: Path, rows: Rows) -> TextSnapshot:
    """Open the generation folder that TextWriter.build returned. Raises NotFound or Damaged.

    Without rows (nothing is published yet) the folder need not exist.
    """
    if (folder / META).is_file():
        index = open_index(folder)
    elif len(rows):
        raise NotFound(f"{folder / META} does not exist.")
    else:
        index = tantivy.Index(make_schema())
        register(index)
    try:
        index.config_reader("manual")
        index.reload()
        return TextSnapshot(index, rows)
    except ValueError as error:
        raise Damaged(f"The text index in {folder} cannot be read: {error}.") from error


class TextSnapshot:
    """One generation of the text index with its rows. Frozen; caches hold derived values only."""

    def __init__(self, index: tantivy.Index, rows: Rows) -> None:
        self._index = index
        self._searcher = index.searcher()
        self._rows = rows
        self._places = Places(rows)
        self._folds: Folds | None = None
        self._ranks: Array | None = None
        self._paths = frozenset(rows.path_names)
        self._kept: dict[Filters, tantivy.Query | None] = {}

    def close(self) -> None:
        """Nothing to do: the files close with the last reference."""

    def signals(self, request: TextSignals) -> Signals:
        """The best `limit` chunks of each lane. Raises BadRequest for an empty query."""
        check(request.query)
        limit = max(1, request.limit)
        filters = request.filters
        sieve = text_signals.make_sieve(self._rows, filters, lambda: self._filters(filters))
        ordinals, values = text_signals.find_lanes(self._index, self._searcher, request.query, limit, sieve)
        stats = {
            f"{name}_max": float(row.max(initial=0.0))
            for name, row in zip(text_signals.LANES, values, strict=True)
        }
        return Signals(
            generation=self._rows.generation,
            hits=self._rows.hits(ordinals),
            names=(*text_signals.LANES, *COUNTS),
            values=np.vstack((values, self._rows.counts(ordinals))),
            stats={**stats, "files": float(len(self._paths)), "chunks": float(self._searcher.num_docs)},
        )

    def search(self, request: ExactSearch) -> ExactHits:
        """Answer a keyword query. Raises BadRequest for one that cannot be read."""
        parsed = parse(request.query, request.match_type)
        wanted, excluded, rest = split_expressions(parsed.node)
        expressions = [compile_expression(source) for source in wanted]
        expressions += [compile_expression(source, excluded=True) for source in excluded]
        query = None if rest is None else compile_query(rest, self._index.schema)
        if expressions:
            outcome = self._scan(expressions, query, request.filters)
            total = len(outcome.found)
        else:
            assert query is not None
            found, total = self._find(query, request.filters)
            outcome = Scanned(found)
        suggestion = ""
        if outcome.truncated:
            suggestion = TRUNCATED
        elif not total:
            suggestion = self._suggest(parsed, request.filters)
        limit = min(max(request.limit, 1), LIMIT_MAX)
        best = page(outcome.found, self._id_ranks(), max(request.offset, 0), limit)
        hits, fragments, lines, blobs, cut_short = self._show(
            request, parsed, best, expressions, outcome.marks
        )
        return ExactHits(
            generation=self._rows.generation,
            match_type=parsed.match_type,
            hits=hits,
            scores=tuple(round(float(s) / (float(s) + _SCORE_HALF), 4) for s in best.scores),
            highlights=fragments,
            highlight_lines=lines,
            total_found=total,
            truncated=outcome.truncated or cut_short,
            suggestion=suggestion,
            chunks=blobs,
        )

    def _suggest(self, parsed: Parsed, filters: Filters) -> str:
        if any(isinstance(leaf, Regex) for leaf in leaves(parsed.node)):
            if filters != Filters():
                return "No line matches in what the filters leave; drop a filter, or shorten the expression."
            return "No line of code or documentation matches; shorten the expression, or search for words instead."
        return suggest(self._index, self._searcher, parsed.node, self._filters(filters))

    def _scan(self, expressions: list[Expression], query: tantivy.Query | None, filters: Filters) -> Scanned:
        """The rows in which every expression matches and that `query`, where there is one, finds."""
        covering = self._made_folds().covering & self._rows.mask(filters)
        lines = [one for one in expressions if not one.analysis.multiline]
        clauses = [one for one in (candidates_query(lines, self._index.schema), query) if one is not None]
        if clauses:
            found, missed = self._rows_of(clauses[0] if len(clauses) == 1 else filtered(*clauses), covering)
            if query is None:  # trigrams have scores, too, that mean nothing
                found = Found(found.ordinals, np.zeros_like(found.scores))
            outcome = Scanned(found, truncated=missed > 0)
        else:
            ordinals = np.flatnonzero(covering)
            outcome = Scanned(Found(ordinals, np.zeros(len(ordinals), np.float32)))
        if lines:
            outcome = outcome.joined(scan_chunks(self._rows, outcome.found.ordinals, lines))
        for one in expressions:
            if one.analysis.multiline:
                scanned = scan_files(self._rows, self._index, self._searcher, np.flatnonzero(covering), one)
                outcome = outcome.without(scanned) if one.excluded else outcome.joined(scanned)
        return outcome

    def _find(self, query: tantivy.Query, filters: Filters) -> tuple[Found, int]:
        """(every folded hit that the filters keep, how many there are)"""
        # The mask is a look-up in an array; a long list of paths inside the query is 7 ms.
        found, missed = self._rows_of(query, self._rows.mask(filters))
        if missed and filters != Filters():
            found, missed = self._rows_of(filtered(query, self._filters(filters)), self._rows.mask(filters))
        folded = self._made_folds().fold(found)
        return folded, len(folded) + missed

    def _rows_of(self, query: tantivy.Query, mask: Array) -> tuple[Found, int]:
        """(the rows of `mask` that match, best first, at most MATCHES_MAX before the mask; how many were left out)"""
        try:
            result = self._searcher.search(query, MATCHES_MAX, count=True)
        except ValueError as error:
            raise BadRequest(
                f"The query matches too many different words: {error}; use longer terms."
            ) from error
        hits = result.hits
        keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        scores = np.array([score for score, _ in hits], np.float32)
        ordinals = self._places.locate(np.array(keys, np.uint64))
        kept = (ordinals >= 0) & mask[ordinals] if len(mask) else ordinals >= 0
        return Found(ordinals[kept], scores[kept]), max(count_of(result) - len(hits), 0)

    def _made_folds(self) -> Folds:
        if self._folds is None:
            self._folds = Folds(self._rows)
        return self._folds

    def _show(
        self,
        request: ExactSearch,
        parsed: Parsed,
        best: Found,
        expressions: list[Expression],
        marks: dict[int, list[Span]],
    ) -> tuple[tuple[Hit, ...], tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...], Blobs, bool]:
        """(hits, highlights, their lines, chunks, were chunks cut?) of one page."""
        rows, needles = self._rows, make_needles(leaves(parsed.node))
        hits = rows.hits(best.ordinals)
        chunks = [rows.chunk(ordinal) for ordinal in best.ordinals.tolist()]
        shown = []
        for ordinal, hit, chunk in zip(best.ordinals.tolist(), hits, chunks, strict=True):
            text = str(orjson.loads(chunk).get("text") or "")
            spans = [marks[ordinal]] if ordinal in marks else mark(text, expressions)
            spans += find_spans(text, needles)
            shown.append(fragments(text, spans, line_numbers(text, hit.chunk_type, hit.start_line)))
        words = query_words(request.query) if request.detail == "snippet" else frozenset()
        blobs, cut_short = fit([cut(chunk, request.detail, words) for chunk in chunks], request.max_bytes)
        return (
            tuple(hits),
            tuple(one for one, _ in shown),
            tuple(one for _, one in shown),
            tuple(blobs),
            cut_short,
        )

    def _filters(self, filters: Filters) -> tantivy.Query | None:
        if filters not in self._kept:
            if len(self._kept) >= 64:
                self._kept.clear()
            # As in Rows.paths: a tag that equals a file's path is a path.
            tags = [t.lower() for t in filters.tags if not (("/" in t or "." in t) and t in self._paths)]
            paths = self._rows.paths(filters)
            self._kept[filters] = compile_filters(filters, paths, tags, self._index.schema)
        return self._kept[filters]

    def _id_ranks(self) -> Array:
        """i64 [all rows]: the place of each row's chunk id among all ids; made once, 40 ms for 60 000 rows."""
        if self._ranks is None:
            ids: list[bytes] = []
            for segment in self._rows.segments:
                offsets = segment.arrays["id_offsets"].tolist()
                data = segment.arrays["id_bytes"].tobytes()
                ids.extend(data[a:b] for a, b in pairwise(offsets))
            ranks = np.empty(len(ids), np.int64)
            ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
            self._ranks = ranks
        return self._ranks
