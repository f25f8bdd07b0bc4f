"""The text engine's snapshot: opens a generation's tantivy index and answers keyword queries and
ranking signals from it.

A keyword query goes one way: read (cortex/query), divided (matches/verify.py), searched
(matches/top_hits.py), shown (pages.py).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import tantivy
from msgspec import structs

from cortex.engines.text import signals as text_signals
from cortex.engines.text.counts import Counts, keywords
from cortex.engines.text.index.checksums import documents_in, raising_damaged
from cortex.engines.text.index.writer import open_to_read
from cortex.engines.text.limits import LIMITS, Limits
from cortex.engines.text.matches.compile import Target
from cortex.engines.text.matches.lines import CHUNKS_MAX
from cortex.engines.text.matches.matching import Matching
from cortex.engines.text.matches.scan import SCAN_S
from cortex.engines.text.matches.top_hits import HitFinder, count_facets
from cortex.engines.text.matches.verify import divide_query
from cortex.engines.text.pages import IdOrder, Pages, page_of
from cortex.engines.text.suggest import SuggestionContext, explain_nothing
from cortex.engines.text.words import Words
from cortex.generation.filters import MASKS_MAX
from cortex.generation.read import Rows
from cortex.query.check import check_query
from cortex.query.parse import Parsed, read_query
from cortex.query.tree import Fuzzy, Node, Wildcard, leaves
from cortex.system.errors import BadQuery
from ipc.messages import CountWords, ExactHits, ExactSearch, Filters, Signals, TextSignals, WordCounts

#: the sentence for a scan that ended early
TRUNCATED = (
    f"The search was ended after {SCAN_S} s: the expression has no three letters in a row that every match must hold; "
    "add some, or a path filter."
)


def open_text(
    folder: Path, rows: Rows, limits: Limits = LIMITS, reuse: TextSnapshot | None = None
) -> TextSnapshot:
    """Open a generation folder of TextWriter. `reuse`: the snapshot of another generation, to share
    caches with. Raises NotFound or Damaged.
    """
    index = open_to_read(folder, may_be_empty=not len(rows))
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
        self._index = index
        self._searcher = index.searcher()
        self._documents = self._searcher.num_docs if documents is None else documents
        self._rows = rows
        self.words: Words = words or Words(rows, reuse.words if reuse else None)
        self._matching = Matching(index.schema, self._searcher, rows, self.words)
        self._finder = HitFinder(rows, index.schema, self._matching, self.words, limits)
        self.ids: IdOrder = IdOrder(rows, self._matching.key_index, reuse.ids if reuse else None)
        self._pages = Pages(rows, self.ids, self.words.near, limits.mark_s)
        self._sieves: dict[Filters, text_signals.Sieve] = {}

    def signals(self, request: TextSignals) -> Signals:
        """The best `limit` chunks of each lane. Raises BadQuery for an empty query."""
        check_query(request.query)
        limit = max(1, request.limit)
        lane_hits = text_signals.find_lanes(
            self._index,
            Counts(self._searcher, self._documents, request.counts),
            request.query,
            limit,
            self._sieve(request.filters),
        )
        return text_signals.make_lane_signals(self._rows, lane_hits, self._searcher.num_docs)

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
                lambda: self._finder.filter_query(filters),
                self._finder.folds.alone,
                self._matching.key_index.locate,
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
                return structs.replace(words, suggestion=" ".join(filter(None, (remark, words.suggestion))))
        suggestion = " ".join(filter(None, (readings.note, hits.suggestion)))
        return structs.replace(hits, suggestion=suggestion)

    def _search(self, request: ExactSearch, parsed: Parsed) -> ExactHits:
        query = divide_query(parsed.node)
        wanted = CHUNKS_MAX if request.lines else sum(page_of(request))
        to = Target(self._index.schema)
        if request.counts.chunks:  # several projects
            to = replace(to, factor=Counts(self._searcher, self._documents, request.counts).factor)
        try:
            outcome, matching = self._finder.find(query, request.filters, wanted, to)
        except ValueError as error:  # the automaton of a wildcard or fuzzy term is too large for tantivy
            if not any(isinstance(leaf, Wildcard | Fuzzy) for leaf in leaves(parsed.node)):
                raise
            raise BadQuery(_explain_too_wide(parsed.node, error)) from error
        total = len(matching)
        suggestion = ""
        if outcome.truncated:
            suggestion = TRUNCATED
        elif not total and not request.bare:
            context = SuggestionContext(self._finder, self._searcher, request.filters)
            suggestion = explain_nothing(context, query)
        base = ExactHits(
            generation=self._rows.generation,
            match_type=parsed.match_type,
            total_found=total,
            truncated=outcome.truncated,
            suggestion=suggestion,
            facets=count_facets(self._rows, matching) if request.facets else {},
        )
        if not total:
            return base
        show = self._pages.show_lines if request.lines else self._pages.show_chunks
        return show(request, query, base, outcome)


def _explain_too_wide(node: Node, error: ValueError) -> str:
    places = [leaf.position for leaf in leaves(node) if isinstance(leaf, Wildcard | Fuzzy)]
    return (
        f"The term at position {min(places, default=0) + 1} of the query cannot be searched ({error}); write more of "
        "it, with fewer wildcards."
    )
