"""The text engine: opens a generation's tantivy index and answers keyword queries and ranking
signals from it.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import tantivy

from cortex.engines.chunks.fetch import cut, fit
from cortex.engines.text import signals as text_signals
from cortex.engines.text.checksums import META, documents_in, reading
from cortex.engines.text.compile import Target, compile_query
from cortex.engines.text.counts import Counts, keywords
from cortex.engines.text.filter_queries import Kept
from cortex.engines.text.highlight import (
    Span,
    find_spans,
    fragments,
    leaves_held,
    line_numbers,
    make_needles,
)
from cortex.engines.text.kinds import find_kinds
from cortex.engines.text.limits import LIMITS, Limits
from cortex.engines.text.line_coverage import count_missing
from cortex.engines.text.line_marks import mark_texts
from cortex.engines.text.line_matches import Body, join_texts, marked_lines
from cortex.engines.text.lines import (
    BEST_CHUNKS,
    CHUNKS_MAX,
    group,
    put_in_order,
    without_alike,
    without_crowds,
    without_parts,
)
from cortex.engines.text.matching import Matching
from cortex.engines.text.overlaps import Found, IdOrder, page
from cortex.engines.text.scan import SCAN_S, Scanned, Texts, mark, narrowed
from cortex.engines.text.schema import make_schema, register
from cortex.engines.text.suggest import Asked, nearest, suggest
from cortex.engines.text.top_hits import MATCHES_MAX, Finding
from cortex.engines.text.verify import Expression, compile_expression
from cortex.engines.text.words import Words
from cortex.engines.text.writer import TextWriter, open_index
from cortex.generation.candidates import tell
from cortex.generation.filters import MASKS_MAX
from cortex.generation.read import Rows
from cortex.query.check import check_query
from cortex.query.code import read_query
from cortex.query.parse import Parsed
from cortex.query.tree import Fuzzy, Leaf, Node, Term, Wildcard, leaves, split_expressions
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
#: expressions that are looked for one by one when nothing was found
_REASONS_MAX = 4
#: terms of a query that are marked; with more the page is one mark
_LEAVES_MARKED = 100
#: the tantivy score that becomes 0.5; a rare identifier, found whole, has about 30
_SCORE_HALF = 10.0


#: says why a scan ended early
TRUNCATED = (
    f"The search was ended after {SCAN_S} s: the expression has no three letters in a row that every match must hold; "
    "add some, or a path filter."
)


def open_text(
    folder: Path, rows: Rows, limits: Limits = LIMITS, reuse: TextSnapshot | None = None
) -> TextSnapshot:
    """Open the generation folder that TextWriter.build returned; `reuse`: another generation's
    snapshot, of which what is still true is shared. Raises NotFound or Damaged.

    Without rows (nothing is published yet) the folder need not exist.
    """
    if (folder / META).is_file():
        index = open_index(folder)
    elif len(rows):
        raise NotFound(f"{folder / META} does not exist.")
    else:
        index = tantivy.Index(make_schema())
        register(index)
    with reading(folder):
        index.config_reader("manual")
        index.reload()
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
        """`words`: the table of `rows`, where it is known; `documents`: of the index, with those
        that were deleted and are still there; None: nothing was deleted.
        """
        self._limits = limits
        self._index = index
        self._searcher = index.searcher()
        self._documents = self._searcher.num_docs if documents is None else documents
        self._rows = rows
        self.words: Words = words or Words(rows, reuse.words if reuse else None)
        self._matching = Matching(index.schema, self._searcher, rows, self.words)
        self._kept = Kept(rows, index.schema)
        self._finding = Finding(rows, self._matching, limits.fetch, self._kept.query)
        self.ids: IdOrder = IdOrder(rows, self._matching.places, reuse.ids if reuse else None)
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
        return tell(self._rows, ordinals, text_signals.LANES, values, stats)

    def count_words(self, request: CountWords) -> WordCounts:
        """How many chunks hold each word of a question. Raises BadQuery for an empty one."""
        check_query(request.query)
        if request.keywords:
            words = keywords(request.query, request.match_type, self._index.schema)
        else:
            words = text_signals.sought(request.query)
        return Counts(self._searcher, self._documents).count(self._rows.generation, words)

    def _sieve(self, filters: Filters) -> text_signals.Sieve:
        known = self._sieves.get(filters)
        if known is None:
            if len(self._sieves) >= MASKS_MAX:
                self._sieves.clear()
            known = text_signals.make_sieve(
                self._rows,
                filters,
                lambda: self._kept.query(filters),
                self._finding.folds.alone,
                self._matching.locate,
            )
            self._sieves[filters] = known
        return known

    def search(self, request: ExactSearch) -> ExactHits:
        """Answer a keyword query. Raises BadQuery for one that cannot be read."""
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
        wanted, excluded, rest = split_expressions(parsed.node)
        expressions = [compile_expression(source) for source in wanted]
        expressions += [compile_expression(source, excluded=True) for source in excluded]
        wanted_count = CHUNKS_MAX if request.lines else sum(_page_of(request))
        to = Target(self._index.schema, Counts(self._searcher, self._documents, request.counts).factor)
        try:
            outcome, total = self._answer(expressions, rest, request.filters, wanted_count, to)
        except ValueError as error:  # the automaton of a wildcard or fuzzy term is too large for tantivy
            if not any(isinstance(leaf, Wildcard | Fuzzy) for leaf in leaves(parsed.node)):
                raise
            raise BadQuery(_too_wide(parsed.node, error)) from error
        suggestion = ""
        if outcome.truncated:
            suggestion = TRUNCATED
        elif not total and not request.bare:
            suggestion = self._suggest(parsed, expressions, rest, request.filters)
        found = ExactHits(
            generation=self._rows.generation,
            match_type=parsed.match_type,
            total_found=total,
            truncated=outcome.truncated,
            suggestion=suggestion,
        )
        show = self._show_lines if request.lines else self._show_chunks
        return show(request, parsed, found, expressions, outcome)

    def _answer(
        self, expressions: list[Expression], rest: Node | None, filters: Filters, wanted: int, to: Target
    ) -> tuple[Scanned, int]:
        if expressions:
            outcome = self._scan(expressions, rest, filters, time.monotonic() + SCAN_S, to)
            return outcome, len(outcome.found)
        assert rest is not None
        found, total = self._finding.best(rest, filters, wanted, to)
        return Scanned(found), total

    def _suggest(
        self, parsed: Parsed, expressions: list[Expression], rest: Node | None, filters: Filters
    ) -> str:
        kept = self._kept.query(filters)
        asked = Asked(self._index, self._searcher, kept, self.words, self._as_written)
        if not expressions:
            return suggest(asked, parsed.node)
        deadline = time.monotonic() + SCAN_S
        if filters != Filters() and (found := len(self._scan(expressions, rest, Filters(), deadline).found)):
            return f"The filters leave nothing: without them {found} chunks match."
        for one in expressions[:_REASONS_MAX]:
            if not one.excluded and not len(self._scan([one], None, Filters(), deadline).found):
                return self._no_line(asked, one, deadline)
        if rest is not None and not self._answer([], rest, filters, 1, Target(self._index.schema))[1]:
            return suggest(asked, rest)
        if any(one.excluded for one in expressions):
            return "What the query excludes leaves nothing; remove a NOT or a minus."
        return "Each part of the query matches somewhere, but no chunk holds all of them."

    def _no_line(self, asked: Asked, one: Expression, deadline: float) -> str:
        said = f"No line of code or documentation matches `{one.source.pattern}`"
        if one.source.case:
            any_case = compile_expression(replace(one.source, case=False))
            found = len(self._scan([any_case], None, Filters(), deadline).found)
            if found:
                return f"{said} in this case; in any case {'one chunk does' if found == 1 else f'{found} chunks do'}."
        if near := nearest(asked, one.source.pattern):
            return f"{said} (did you mean `{near}`?)."
        return f"{said}; shorten it, or search for words instead."

    def _as_written(self, word: str) -> str:
        """An indexed word, which is in lower case, as it stands in a text."""
        best, _ = self._matching.best(compile_query(Term("text", word), Target(self._index.schema)), 1)
        for ordinal in best.ordinals.tolist():
            if found := re.search(
                rf"(?<!\w){re.escape(word)}(?!\w)", self._rows.text(ordinal), re.IGNORECASE
            ):
                return found[0]
        return word

    def _scan(
        self,
        expressions: list[Expression],
        rest: Node | None,
        filters: Filters,
        deadline: float,
        to: Target | None = None,
    ) -> Scanned:
        """The rows in which every expression matches and that `rest`, where there is one, finds."""
        texts, mask = self._texts, self._finding.folds.searched & self._rows.mask(filters)
        outcome = None
        if rest is not None:
            query = compile_query(rest, to or Target(self._index.schema))
            found, count = self._matching.best(query, MATCHES_MAX)
            found = found.take(np.argsort(found.ordinals))
            outcome = Scanned(found.take(mask[found.ordinals]), truncated=count > MATCHES_MAX)
            mask = np.zeros(len(mask), bool)
            mask[outcome.found.ordinals] = True
        # The expressions that name the rarest trigrams first: what they leave is all that the
        # others have to look at.
        lines = [
            (texts.candidates(one.analysis.needs, mask), one) for one in expressions if not one.whole_file
        ]
        for candidates, one in sorted(lines, key=lambda pair: (pair[1].excluded, len(pair[0]))):
            scanned = texts.match_lines(one, candidates[mask[candidates]], deadline)
            outcome, mask = narrowed(outcome, mask, one, scanned)
        for one in sorted((one for one in expressions if one.whole_file), key=lambda one: one.excluded):
            outcome, mask = narrowed(outcome, mask, one, texts.match_files(one, mask, deadline))
        assert outcome is not None
        return outcome

    @cached_property
    def _texts(self) -> Texts:
        return Texts(self._rows, self._finding.folds, self.words, self._limits.batch_bytes)

    def _show_chunks(
        self,
        request: ExactSearch,
        parsed: Parsed,
        found: ExactHits,
        expressions: list[Expression],
        outcome: Scanned,
    ) -> ExactHits:
        """`found` with the chunks of one page."""
        best = page(outcome.found, self.ids.ranks, *_page_of(request))
        rows, sought = self._rows, make_needles(leaves(parsed.node)[:_LEAVES_MARKED], self.words.near)
        ordinals, hits = best.ordinals.tolist(), rows.hits(best.ordinals)
        texts = [rows.text(ordinal) for ordinal in ordinals]
        heads = rows.cuts("chunk", best.ordinals) if not request.bare else []
        shown, marks, until = [], [], time.monotonic() + self._limits.mark_s
        for ordinal, hit, text in zip(ordinals, hits, texts, strict=True):
            spans = mark(text, expressions, outcome.marks.get(ordinal, []))
            if time.monotonic() < until:
                spans += find_spans(text, list(sought.values()), alone=not expressions)
            shown.append(fragments(text, spans, line_numbers(text, hit.chunk_type, hit.start_line)))
            marks.append(spans)
        parts = zip(heads, texts, marks, strict=False)  # no heads: nobody reads the chunks
        made = [cut(head, text, request.detail, leaves_held(spans)) for head, text, spans in parts]
        blobs, cut_short = fit(made, request.max_bytes)
        return replace(
            found,
            hits=hits,
            scores=tuple(score / (score + _SCORE_HALF) for score in best.scores.tolist()),
            highlights=tuple(one for one, _ in shown),
            highlight_lines=tuple(one for _, one in shown),
            truncated=found.truncated or cut_short,
            chunks=tuple(blobs),
        )

    def _show_lines(
        self,
        request: ExactSearch,
        parsed: Parsed,
        found: ExactHits,
        expressions: list[Expression],
        outcome: Scanned,
    ) -> ExactHits:
        """`found` with the lines, grouped, as far as they fit; it counts lines."""
        many = found.total_found > CHUNKS_MAX
        best = page(outcome.found, self.ids.ranks, 0, BEST_CHUNKS if many else CHUNKS_MAX)
        body, marks = self._marked(parsed, best, expressions, outcome.marks)
        late = many or len(body.hits) < len(best)
        marked = marked_lines(body, chain.from_iterable(marks.values()))
        kinds = find_kinds(body, marked, self._rows.cuts("chunk", body.ordinals))
        missing = count_missing(body, marked, parsed.node, marks)
        order = put_in_order(body, marked, kinds, missing)
        if request.alike:
            order = without_alike(body, marked, without_parts(order, missing))
        if request.alike and not request.filters.paths:
            order = without_crowds(body, marked, order)
        skipped = max(request.offset, 0)
        shown = group(body, marked, order, slice(skipped, skipped + request.lines), request.max_bytes)
        end = skipped + sum(len(one.lines) for one in shown)
        return replace(
            found,
            hits=tuple(one.hit for one in shown),
            scores=tuple(one.score for one in shown),
            highlights=((),) * len(shown),
            highlight_lines=tuple(tuple(number for number, _ in one.lines) for one in shown),
            total_found=max(len(marked), found.total_found) if many else len(marked),
            truncated=found.truncated or late or end < len(order.places),
            chunks=tuple(one.chunk() for one in shown),
            omitted=order.omitted(slice(skipped, end)),
            classes=tuple(one.place for one in shown),
        )

    def _marked(
        self, parsed: Parsed, best: Found, expressions: list[Expression], known: dict[int, list[Span]]
    ) -> tuple[Body, dict[Leaf, list[Span]]]:
        """The chunks `best`, as many as there was time for, and what each leaf of the query marks
        in their texts.
        """
        sought = make_needles(leaves(parsed.node)[:_LEAVES_MARKED], self.words.near)
        wanted = [one for one in expressions if not one.excluded]
        raws = self._rows.cuts("text", best.ordinals)
        places = {at: known[row] for at, row in enumerate(best.ordinals.tolist()) if row in known}
        until = time.monotonic() + self._limits.mark_s
        texts, found = mark_texts(raws, wanted, list(sought.values()), places, until)
        marks = dict(zip((*(one.source for one in wanted), *sought), found, strict=True))
        done = len(texts)
        shown = best.take(np.arange(done))
        scores = [round(score / (score + _SCORE_HALF), 2) for score in shown.scores.tolist()]
        return Body(join_texts(texts), self._rows.hits(shown.ordinals), scores, shown.ordinals), marks


def _page_of(request: ExactSearch) -> tuple[int, int]:
    """(how many hits come before a page, how many it has at most)"""
    return max(request.offset, 0), min(max(request.limit, 1), LIMIT_MAX)


def _too_wide(node: Node, error: ValueError) -> str:
    places = [leaf.position for leaf in leaves(node) if isinstance(leaf, Wildcard | Fuzzy)]
    return (
        f"The term at position {min(places, default=0) + 1} of the query cannot be looked for ({error}); write more of "
        "it, with fewer wildcards."
    )
