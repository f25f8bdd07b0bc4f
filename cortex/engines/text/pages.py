"""Pages of hits of a keyword query: chunks with their fragments, or lines."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from msgspec import structs

from cortex.engines.chunks.fetch import cut_chunk, fit_chunks
from cortex.engines.text.matches.every_line import order_every_line, show_every_line
from cortex.engines.text.matches.highlight import (
    FRAGMENTS_MAX,
    MATCHES_MAX,
    Span,
    find_spans,
    leaf_masker,
    line_numbers,
    make_fragments,
    make_needles,
)
from cortex.engines.text.matches.kinds import find_kinds
from cortex.engines.text.matches.line_coverage import count_missing, literal_levels
from cortex.engines.text.matches.line_matches import Body, join_texts, mark_texts, marked_lines
from cortex.engines.text.matches.lines import (
    BEST_CHUNKS,
    CHUNKS_MAX,
    drop_alike,
    drop_crowds,
    drop_partial,
    group_lines,
    put_in_order,
    with_groups,
)
from cortex.engines.text.matches.overlaps import KeyIndex, ScoredRows
from cortex.engines.text.matches.scan import Scanned, mark_matches
from cortex.engines.text.matches.verify import KeywordQuery
from cortex.generation.read import Rows
from cortex.query.tree import Leaf
from cortex.system.arrays import Array
from ipc.messages import ExactHits, ExactSearch

#: hits of one answer
LIMIT_MAX = 100
#: terms of a query that are marked; with more, all of the page would be marked
_LEAVES_MARKED = 100
#: the tantivy score that becomes 0.5; a rare identifier that matches completely has about 30
_SCORE_HALF = 10.0
#: share of new rows up to which each is inserted into the old order of ids
_FEW_NEW = 1 / 256


class IdOrder:
    """Ranks of the rows' chunk ids, computed on first use: 40 ms for 60 000 rows, or from the order
    of another generation, in proportion to the new rows.
    """

    def __init__(self, rows: Rows, key_index: KeyIndex, reuse: IdOrder | None = None) -> None:
        self._rows, self._key_index = rows, key_index
        #: u64: row keys in the order of their ids, of an older generation
        self._before = reuse.keys if reuse is not None else np.zeros(0, np.uint64)

    @cached_property
    def _order(self) -> Array:
        """The live rows in the order of their ids, i64."""
        ordered = self._key_index.locate(self._before)
        ordered, self._before = ordered[ordered >= 0], ordered[:0].astype(np.uint64)
        is_new = self._rows.live.copy()
        is_new[ordered] = False
        new = np.flatnonzero(is_new)
        ids = self._rows.cuts("id", new)
        if len(new) > _FEW_NEW * len(ordered):  # a full sort is faster than one insertion for each
            every = np.concatenate([ordered, new])
            ids = self._rows.cuts("id", ordered) + ids
            return every[sorted(range(len(every)), key=ids.__getitem__)]
        order = sorted(range(len(new)), key=ids.__getitem__)
        at = [
            bisect_left(range(len(ordered)), ids[position], key=lambda place: self._id(ordered[place]))
            for position in order
        ]
        return np.insert(ordered, at, new[order])

    def _id(self, ordinal: Array) -> bytes:
        return self._rows.cuts("id", ordinal[None])[0]

    @property
    def keys(self) -> Array:
        """Row keys in the order of their ids, u64: of these rows if computed, else of older
        ones.
        """
        return self._rows.keys[self._order] if "_order" in self.__dict__ else self._before

    @cached_property
    def ranks(self) -> Array:
        """The rank of each live row's id, i64 [all rows]."""
        ranks = np.zeros(len(self._rows), np.int64)
        ranks[self._order] = np.arange(len(self._order))
        return ranks


def select_page(matches: ScoredRows, ranks: Array, offset: int, limit: int) -> ScoredRows:
    """Hits `offset` … by score descending, then `ranks` (i64 [all rows], by chunk id)."""
    count = min(offset + limit, len(matches))
    if count <= offset:
        return matches.take(np.zeros(0, np.int64))
    # All hits as good as the last of the page, so that ties at the cut are ordered, too.
    cut = np.partition(matches.scores, len(matches) - count)[len(matches) - count]
    best = np.flatnonzero(matches.scores >= cut)
    order = np.lexsort((ranks[matches.ordinals[best]], -matches.scores[best]))
    return matches.take(best[order][offset:count])


class Pages:
    """Shows hits of one generation. Frozen."""

    def __init__(
        self, rows: Rows, ids: IdOrder, near: Callable[[str, int], Iterable[str]], mark_s: float
    ) -> None:
        """`near` as for `make_needles`; `mark_s` as in Limits."""
        self._rows, self._ids, self._near, self._mark_s = rows, ids, near, mark_s

    def show_chunks(
        self, request: ExactSearch, query: KeywordQuery, base: ExactHits, outcome: Scanned
    ) -> ExactHits:
        """`base` with the chunks of one page."""
        best = select_page(outcome.rows, self._ids.ranks, *page_of(request))
        rows, needles = self._rows, make_needles(query.terms[:_LEAVES_MARKED], self._near)
        ordinals, hits = best.ordinals.tolist(), rows.hits(best.ordinals)
        texts = [rows.text(ordinal) for ordinal in ordinals]
        heads = rows.cuts("chunk", best.ordinals) if not request.bare else []
        fragment_lists, marks, until = [], [], time.monotonic() + self._mark_s
        for ordinal, hit, text in zip(ordinals, hits, texts, strict=True):
            spans = mark_matches(text, query.expressions, outcome.marks.get(ordinal, []))
            if time.monotonic() < until:
                alone = len(needles) == 1 and not query.expressions  # no other lines would be shown
                lines = FRAGMENTS_MAX if alone else MATCHES_MAX
                spans += find_spans(text, list(needles.values()), lines)
            fragment_lists.append(
                make_fragments(text, spans, line_numbers(text, hit.chunk_type, hit.start_line))
            )
            marks.append(spans)
        parts = zip(heads, texts, marks, strict=False)  # no heads: the client does not read chunks
        cut_chunks = [
            cut_chunk(head, text, request.detail, leaf_masker(spans)) for head, text, spans in parts
        ]
        blobs, cut_short = fit_chunks(cut_chunks, request.max_bytes)
        return structs.replace(
            base,
            hits=hits,
            scores=tuple(score / (score + _SCORE_HALF) for score in best.scores.tolist()),
            highlights=tuple(lines for lines, _ in fragment_lists),
            highlight_lines=tuple(numbers for _, numbers in fragment_lists),
            truncated=base.truncated or cut_short,
            chunks=tuple(blobs),
        )

    def show_lines(
        self, request: ExactSearch, query: KeywordQuery, base: ExactHits, outcome: Scanned
    ) -> ExactHits:
        """`base` with the lines, grouped, as far as they fit; `total_found` counts lines."""
        many = base.total_found > CHUNKS_MAX
        best = select_page(outcome.rows, self._ids.ranks, 0, BEST_CHUNKS if many else CHUNKS_MAX)
        body, marks = self._mark_chunks(query, best, outcome.marks)
        late = many or len(body.hits) < len(best)
        marked = marked_lines(body, marks.values())
        kinds = find_kinds(body, marked, self._rows.cuts("chunk", body.ordinals))
        missing = count_missing(body, marked, query.node, marks)
        if request.every:
            levels = literal_levels(body, marked, marks, request.query)
            every = order_every_line(
                request, body, marked, kinds=kinds, missing=missing, levels=levels, several=len(marks) > 1
            )
            return show_every_line(
                request, structs.replace(base, truncated=base.truncated or late), body, marked, every
            )
        order = put_in_order(body, marked, kinds, missing)
        if request.alike:
            order = drop_alike(body, marked, drop_partial(order, missing))
        if request.alike and not request.filters.paths:
            order = drop_crowds(body, marked, order)
        skipped = max(request.offset, 0)
        groups = group_lines(body, marked, order, slice(skipped, skipped + request.lines), request.max_bytes)
        end = skipped + sum(len(entry.lines) for entry in groups)
        return structs.replace(
            with_groups(base, groups),
            total_found=max(len(marked), base.total_found) if many else len(marked),
            truncated=base.truncated or late or end < len(order.places),
            omitted=order.omitted(slice(skipped, end)),
        )

    def _mark_chunks(
        self, query: KeywordQuery, best: ScoredRows, known_marks: dict[int, list[Span]]
    ) -> tuple[Body, dict[Leaf, Array]]:
        """Mark the chunks `best`, as many as time allows: (their texts, leaf of the query → its
        spans).
        """
        needles = make_needles(query.terms[:_LEAVES_MARKED], self._near)
        wanted = [expression for expression in query.expressions if not expression.excluded]
        raws = self._rows.cuts("text", best.ordinals)
        places = {at: known_marks[row] for at, row in enumerate(best.ordinals.tolist()) if row in known_marks}
        until = time.monotonic() + self._mark_s
        texts, spans = mark_texts(raws, wanted, list(needles.values()), places, until)
        marks = dict(zip((*(expression.source for expression in wanted), *needles), spans, strict=True))
        done = len(texts)
        marked_rows = best.take(np.arange(done))
        scores = [round(score / (score + _SCORE_HALF), 2) for score in marked_rows.scores.tolist()]
        return Body(
            join_texts(texts), self._rows.hits(marked_rows.ordinals), scores, marked_rows.ordinals
        ), marks


def page_of(request: ExactSearch) -> tuple[int, int]:
    """(number of hits before a page, most hits of a page)"""
    return max(request.offset, 0), min(max(request.limit, 1), LIMIT_MAX)
