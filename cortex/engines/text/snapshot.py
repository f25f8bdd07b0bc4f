"""The text engine's snapshot: opens a generation's tantivy index and answers keyword queries and
ranking signals from it.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import tantivy

from cortex.engines.chunks.fetch import cut_chunk, fit_chunks
from cortex.engines.text import signals as text_signals
from cortex.engines.text.counts import Counts, keywords
from cortex.engines.text.index.checksums import META, documents_in, raising_damaged
from cortex.engines.text.index.schema import make_schema, register
from cortex.engines.text.index.writer import TextWriter, open_to_read
from cortex.engines.text.limits import LIMITS, Limits
from cortex.engines.text.matches.compile import Target, compile_query
from cortex.engines.text.matches.every_line import order_every_line, show_every_line
from cortex.engines.text.matches.filter_queries import FilterQueries
from cortex.engines.text.matches.highlight import (
    Needle,
    Span,
    find_spans,
    leaf_masker,
    line_numbers,
    make_fragments,
    make_needles,
)
from cortex.engines.text.matches.kinds import find_kinds
from cortex.engines.text.matches.line_coverage import count_missing
from cortex.engines.text.matches.line_marks import mark_texts
from cortex.engines.text.matches.line_matches import Body, join_texts, marked_lines
from cortex.engines.text.matches.lines import (
    BEST_CHUNKS,
    CHUNKS_MAX,
    drop_alike,
    drop_crowds,
    drop_partial,
    group_lines,
    put_in_order,
)
from cortex.engines.text.matches.matching import Matching
from cortex.engines.text.matches.overlaps import IdOrder, ScoredRows, select_page
from cortex.engines.text.matches.scan import SCAN_S, Scanned, TextScanner, mark_matches, narrow
from cortex.engines.text.matches.top_hits import MATCHES_MAX, HitFinder, count_facets
from cortex.engines.text.matches.verify import Expression, compile_expression
from cortex.engines.text.suggest import SuggestionContext, nearest, suggest
from cortex.engines.text.words import Words
from cortex.generation.candidates import make_signals
from cortex.generation.filters import MASKS_MAX
from cortex.generation.read import Rows
from cortex.query.check import check_query
from cortex.query.code import read_query
from cortex.query.parse import Parsed
from cortex.query.tree import Fuzzy, Leaf, Node, Regex, Term, Wildcard, leaves, split_expressions
from cortex.system.arrays import Array
from cortex.system.errors import BadQuery, NotFound
from ipc.messages import (
    CountWords,
    ExactHits,
    ExactSearch,
    Filters,
    Signals,
    TextSignals,
    WordCounts,
)

__all__ = ["TextSnapshot", "TextWriter", "open_text"]

#: hits of one answer
LIMIT_MAX = 100
#: expressions that are tried one by one when nothing matches
_REASONS_MAX = 4
#: terms of a query that are marked; with more, all of the page would be marked
_LEAVES_MARKED = 100
#: the tantivy score that becomes 0.5; a rare identifier that matches completely has about 30
_SCORE_HALF = 10.0


#: the sentence for a scan that ended early
TRUNCATED = (
    f"The search was ended after {SCAN_S} s: the expression has no three letters in a row that every match must hold; "
    "add some, or a path filter."
)


def open_text(
    folder: Path, rows: Rows, limits: Limits = LIMITS, reuse: TextSnapshot | None = None
) -> TextSnapshot:
    """Open the generation folder that TextWriter.build returned. `reuse`: the snapshot of another
    generation, to share caches with. Raises NotFound or Damaged.

    Without rows (nothing is published yet) the folder need not exist.
    """
    if (folder / META).is_file():
        with raising_damaged(folder):
            index = open_to_read(folder)
    elif len(rows):
        raise NotFound(f"{folder / META} does not exist.")
    else:
        index = tantivy.Index(make_schema())
        register(index)
    with raising_damaged(folder):
        return TextSnapshot(index, rows, limits, reuse, documents=documents_in(folder))


class TextSnapshot:
    """One generation of the text index with its rows. Frozen; caches hold derived values only."""

    def __init__(
        self,
        index: tantivy.Index,
        rows: Rows,
        limits: Limits = LIMITS,
        reuse: TextSnapshot | None = None,
        *,
        words: Words | None = None,
        documents: int | None = None,
    ) -> None:
        """`words`: the table of `rows`, if it exists already; `documents`: number in the index,
        deleted but unmerged ones included; None: nothing was deleted.
        """
        self._limits = limits
        self._index = index
        self._searcher = index.searcher()
        self._documents = self._searcher.num_docs if documents is None else documents
        self._rows = rows
        self.words: Words = words or Words(rows, reuse.words if reuse else None)
        self._matching = Matching(index.schema, self._searcher, rows, self.words)
        self._filter_queries = FilterQueries(rows, index.schema)
        self._finder = HitFinder(rows, self._matching, limits.fetch, self._filter_queries.query)
        self.ids: IdOrder = IdOrder(rows, self._matching.key_index, reuse.ids if reuse else None)
        self._sieves: dict[Filters, text_signals.Sieve] = {}

    def signals(self, request: TextSignals) -> Signals:
        """The best `limit` chunks of each lane. Raises BadQuery for an empty query."""
        check_query(request.query)
        limit = max(1, request.limit)
        ordinals, values = text_signals.find_lanes(
            self._index,
            Counts(self._searcher, self._documents, request.counts),
            request.query,
            limit,
            self._sieve(request.filters),
        )
        most = values.max(axis=1, initial=0.0).tolist()
        stats = {f"{name}_max": value for name, value in zip(text_signals.LANES, most, strict=True)}
        stats |= {"files": float(len(self._rows.path_names)), "chunks": float(self._searcher.num_docs)}
        return make_signals(self._rows, ordinals, text_signals.LANES, values, stats)

    def count_words(self, request: CountWords) -> WordCounts:
        """The number of chunks with each word of a question. Raises BadQuery for an empty
        question.
        """
        check_query(request.query)
        if request.keywords:
            words = keywords(request.query, request.match_type, self._index.schema)
        else:
            words = text_signals.list_lane_words(request.query)
        return Counts(self._searcher, self._documents).count(self._rows.generation, words)

    def _sieve(self, filters: Filters) -> text_signals.Sieve:
        sieve = self._sieves.get(filters)
        if sieve is None:
            if len(self._sieves) >= MASKS_MAX:
                self._sieves.clear()
            sieve = text_signals.make_sieve(
                self._rows,
                filters,
                lambda: self._filter_queries.query(filters),
                self._finder.folds.alone,
                self._matching.locate,
            )
            self._sieves[filters] = sieve
        return sieve

    def search(self, request: ExactSearch) -> ExactHits:
        """Answer a keyword query. Raises BadQuery for an invalid query."""
        readings = read_query(request.query, request.match_type)
        hits = self._search(request, readings.first)
        if not hits.total_found and readings.otherwise is not None:
            words = self._search(request, readings.otherwise)
            if words.total_found:
                remark = f"No line holds the literal text `{request.query.strip()}`; these hold its words."
                return replace(words, suggestion=" ".join(filter(None, (remark, words.suggestion))))
        suggestion = " ".join(filter(None, (readings.note, hits.suggestion)))
        return replace(hits, suggestion=suggestion)

    def _search(self, request: ExactSearch, parsed: Parsed) -> ExactHits:
        wanted, excluded, remainder = split_expressions(parsed.node)
        expressions = [compile_expression(source) for source in wanted]
        expressions += [compile_expression(source, excluded=True) for source in excluded]
        wanted_count = CHUNKS_MAX if request.lines else sum(_page_of(request))
        to = Target(self._index.schema, Counts(self._searcher, self._documents, request.counts).factor)
        try:
            outcome, matching = self._answer(expressions, remainder, request.filters, wanted_count, to)
        except ValueError as error:  # the automaton of a wildcard or fuzzy term is too large for tantivy
            if not any(isinstance(leaf, Wildcard | Fuzzy) for leaf in leaves(parsed.node)):
                raise
            raise BadQuery(_explain_too_wide(parsed.node, error)) from error
        total = len(matching)
        suggestion = ""
        if outcome.truncated:
            suggestion = TRUNCATED
        elif not total and not request.bare:
            suggestion = self._suggest(parsed, expressions, remainder, request.filters)
        base = ExactHits(
            generation=self._rows.generation,
            match_type=parsed.match_type,
            total_found=total,
            truncated=outcome.truncated,
            suggestion=suggestion,
            facets=count_facets(self._rows, matching) if request.facets else {},
        )
        show = self._show_lines if request.lines else self._show_chunks
        return show(request, parsed, base, expressions, outcome)

    def _answer(
        self, expressions: list[Expression], remainder: Node | None, filters: Filters, wanted: int, to: Target
    ) -> tuple[Scanned, Array]:
        """Return the best hits, and the ordinals of all."""
        if expressions:
            outcome = self._scan(expressions, remainder, filters, time.monotonic() + SCAN_S, to)
            return outcome, outcome.rows.ordinals
        assert remainder is not None
        rows, folded = self._finder.best(remainder, filters, wanted, to)
        return Scanned(rows), np.flatnonzero(folded)

    def _suggest(
        self, parsed: Parsed, expressions: list[Expression], remainder: Node | None, filters: Filters
    ) -> str:
        filter_query = self._filter_queries.query(filters)
        context = SuggestionContext(
            self._index, self._searcher, filter_query, self.words, self._spell_as_written
        )
        if not expressions:
            return suggest(context, parsed.node)
        deadline = time.monotonic() + SCAN_S
        if filters != Filters() and (
            count := len(self._scan(expressions, remainder, Filters(), deadline).rows)
        ):
            return f"The filters leave nothing: without them {count} chunks match."
        for expression in expressions[:_REASONS_MAX]:
            if not expression.excluded and not len(self._scan([expression], None, Filters(), deadline).rows):
                return self._explain_no_line(context, expression, deadline)
        if remainder is not None and not len(
            self._answer([], remainder, filters, 1, Target(self._index.schema))[1]
        ):
            return suggest(context, remainder)
        if any(expression.excluded for expression in expressions):
            return "The exclusions remove every match; drop a NOT or a minus."
        return "Each part of the query matches somewhere, but no chunk holds all of them."

    def _explain_no_line(self, context: SuggestionContext, expression: Expression, deadline: float) -> str:
        sentence = f"No line of code or documentation matches `{expression.source.pattern}`"
        if expression.source.case:
            any_case = compile_expression(replace(expression.source, case=False))
            count = len(self._scan([any_case], None, Filters(), deadline).rows)
            if count:
                return f"{sentence} as written; ignoring case, {'one chunk does' if count == 1 else f'{count} chunks do'}."
        if near := nearest(context, expression.source.pattern):
            return f"{sentence} (did you mean `{near}`?)."
        return f"{sentence}; shorten it, or search for words instead."

    def _spell_as_written(self, word: str) -> str:
        """The spelling of an indexed word, which is in lower case, in one of the texts."""
        best, _ = self._matching.best(compile_query(Term("text", word), Target(self._index.schema)), 1)
        for ordinal in best.ordinals.tolist():
            if match := re.search(
                rf"(?<!\w){re.escape(word)}(?!\w)", self._rows.text(ordinal), re.IGNORECASE
            ):
                return match[0]
        return word

    def _scan(
        self,
        expressions: list[Expression],
        remainder: Node | None,
        filters: Filters,
        deadline: float,
        to: Target | None = None,
    ) -> Scanned:
        """The rows that match every expression and, if there is one, `remainder`."""
        texts, mask = self._texts, self._finder.folds.searched & self._rows.mask(filters)
        outcome = None
        if remainder is not None:
            query = compile_query(remainder, to or Target(self._index.schema))
            rows, count = self._matching.best(query, MATCHES_MAX)
            rows = rows.take(np.argsort(rows.ordinals))
            outcome = Scanned(rows.take(mask[rows.ordinals]), truncated=count > MATCHES_MAX)
            mask = np.zeros(len(mask), bool)
            mask[outcome.rows.ordinals] = True
        # Expressions with the rarest trigrams go first: the others scan only the rows that are
        # left.
        lines = [
            (texts.candidates(expression.analysis.needs, mask), expression)
            for expression in expressions
            if not expression.whole_file
        ]
        for candidates, expression in sorted(lines, key=lambda pair: (pair[1].excluded, len(pair[0]))):
            scanned = texts.match_lines(expression, candidates[mask[candidates]], deadline)
            outcome, mask = narrow(outcome, mask, expression, scanned)
        for expression in sorted(
            (expression for expression in expressions if expression.whole_file),
            key=lambda expression: expression.excluded,
        ):
            outcome, mask = narrow(outcome, mask, expression, texts.match_files(expression, mask, deadline))
        assert outcome is not None
        return outcome

    @cached_property
    def _texts(self) -> TextScanner:
        return TextScanner(self._rows, self._finder.folds, self.words, self._limits.batch_bytes)

    def _show_chunks(
        self,
        request: ExactSearch,
        parsed: Parsed,
        base: ExactHits,
        expressions: list[Expression],
        outcome: Scanned,
    ) -> ExactHits:
        """`base` with the chunks of one page."""
        best = select_page(outcome.rows, self.ids.ranks, *_page_of(request))
        rows, needles = self._rows, self._make_needles(parsed.node)
        ordinals, hits = best.ordinals.tolist(), rows.hits(best.ordinals)
        texts = [rows.text(ordinal) for ordinal in ordinals]
        heads = rows.cuts("chunk", best.ordinals) if not request.bare else []
        fragment_lists, marks, until = [], [], time.monotonic() + self._limits.mark_s
        for ordinal, hit, text in zip(ordinals, hits, texts, strict=True):
            spans = mark_matches(text, expressions, outcome.marks.get(ordinal, []))
            if time.monotonic() < until:
                spans += find_spans(text, list(needles.values()), alone=not expressions)
            fragment_lists.append(
                make_fragments(text, spans, line_numbers(text, hit.chunk_type, hit.start_line))
            )
            marks.append(spans)
        parts = zip(heads, texts, marks, strict=False)  # no heads: the client does not read chunks
        cut_chunks = [
            cut_chunk(head, text, request.detail, leaf_masker(spans)) for head, text, spans in parts
        ]
        blobs, cut_short = fit_chunks(cut_chunks, request.max_bytes)
        return replace(
            base,
            hits=hits,
            scores=tuple(score / (score + _SCORE_HALF) for score in best.scores.tolist()),
            highlights=tuple(lines for lines, _ in fragment_lists),
            highlight_lines=tuple(numbers for _, numbers in fragment_lists),
            truncated=base.truncated or cut_short,
            chunks=tuple(blobs),
        )

    def _show_lines(
        self,
        request: ExactSearch,
        parsed: Parsed,
        base: ExactHits,
        expressions: list[Expression],
        outcome: Scanned,
    ) -> ExactHits:
        """`base` with the lines, grouped, as far as they fit; `total_found` counts lines."""
        many = base.total_found > CHUNKS_MAX
        best = select_page(outcome.rows, self.ids.ranks, 0, BEST_CHUNKS if many else CHUNKS_MAX)
        body, marks = self._mark_chunks(parsed, best, expressions, outcome.marks)
        late = many or len(body.hits) < len(best)
        marked = marked_lines(body, marks.values())
        kinds = find_kinds(body, marked, self._rows.cuts("chunk", body.ordinals))
        missing = count_missing(body, marked, parsed.node, marks)
        if request.every:
            every = order_every_line(request, body, marked, kinds=kinds, missing=missing, marks=marks)
            return show_every_line(
                request, replace(base, truncated=base.truncated or late), body, marked, every
            )
        order = put_in_order(body, marked, kinds, missing)
        if request.alike:
            order = drop_alike(body, marked, drop_partial(order, missing))
        if request.alike and not request.filters.paths:
            order = drop_crowds(body, marked, order)
        skipped = max(request.offset, 0)
        groups = group_lines(body, marked, order, slice(skipped, skipped + request.lines), request.max_bytes)
        end = skipped + sum(len(entry.lines) for entry in groups)
        return replace(
            base,
            hits=tuple(entry.hit for entry in groups),
            scores=tuple(entry.score for entry in groups),
            highlights=((),) * len(groups),
            highlight_lines=tuple(tuple(number for number, _ in entry.lines) for entry in groups),
            total_found=max(len(marked), base.total_found) if many else len(marked),
            truncated=base.truncated or late or end < len(order.places),
            chunks=tuple(entry.chunk() for entry in groups),
            omitted=order.omitted(slice(skipped, end)),
            classes=tuple(entry.place for entry in groups),
        )

    def _make_needles(self, node: Node) -> dict[Leaf, list[Needle]]:
        """The needles of the terms, without those that `case:yes` or `word:yes` narrows."""
        expressions = {leaf.position for leaf in leaves(node) if isinstance(leaf, Regex)}
        terms = [leaf for leaf in leaves(node) if leaf.position not in expressions]
        return make_needles(terms[:_LEAVES_MARKED], self.words.near)

    def _mark_chunks(
        self,
        parsed: Parsed,
        best: ScoredRows,
        expressions: list[Expression],
        known_marks: dict[int, list[Span]],
    ) -> tuple[Body, dict[Leaf, Array]]:
        """Mark the chunks `best`, as many as time allows: (their texts, leaf of the query → its
        spans).
        """
        needles = self._make_needles(parsed.node)
        wanted = [expression for expression in expressions if not expression.excluded]
        raws = self._rows.cuts("text", best.ordinals)
        places = {at: known_marks[row] for at, row in enumerate(best.ordinals.tolist()) if row in known_marks}
        until = time.monotonic() + self._limits.mark_s
        texts, spans = mark_texts(raws, wanted, list(needles.values()), places, until)
        marks = dict(zip((*(expression.source for expression in wanted), *needles), spans, strict=True))
        done = len(texts)
        marked_rows = best.take(np.arange(done))
        scores = [round(score / (score + _SCORE_HALF), 2) for score in marked_rows.scores.tolist()]
        return Body(
            join_texts(texts), self._rows.hits(marked_rows.ordinals), scores, marked_rows.ordinals
        ), marks


def _page_of(request: ExactSearch) -> tuple[int, int]:
    """(number of hits before a page, most hits of a page)"""
    return max(request.offset, 0), min(max(request.limit, 1), LIMIT_MAX)


def _explain_too_wide(node: Node, error: ValueError) -> str:
    places = [leaf.position for leaf in leaves(node) if isinstance(leaf, Wildcard | Fuzzy)]
    return (
        f"The term at position {min(places, default=0) + 1} of the query cannot be searched ({error}); write more of "
        "it, with fewer wildcards."
    )
