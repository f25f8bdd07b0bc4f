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
from cortex.engines.query_tree import leaves
from cortex.engines.text_fold import Folds, Found, Places, page
from cortex.engines.text_highlight import Needle, find_spans, fragments, line_numbers, make_needles
from cortex.engines.text_schema import make_schema, register
from cortex.engines.text_suggest import count_of, suggest
from cortex.engines.text_writer import META, TextWriter
from cortex.excerpt import cut, fit, query_words
from cortex.rows import Rows
from ipc.errors import BadRequest, Damaged, NotFound
from ipc.messages import Array, ExactHits, ExactSearch, Filters, Signals, TextSignals

__all__ = ["TextSnapshot", "TextWriter", "open_text"]

#: hits of one answer
LIMIT_MAX = 100
#: matches that are folded and ordered exactly, 25 ms for so many; the totals of more count the rest unfolded
MATCHES_MAX = 60_000
#: the tantivy score that becomes 0.5; a rare identifier, found whole, has about 30
_SCORE_HALF = 10.0


def open_text(folder: Path, rows: Rows) -> TextSnapshot:
    """Open the generation folder that TextWriter.build returned. Raises NotFound or Damaged.

    Without rows (nothing is published yet) the folder need not exist.
    """
    if not len(rows) and not (folder / META).is_file():
        index = tantivy.Index(make_schema())
    elif not (folder / META).is_file():
        raise NotFound(f"{folder / META} does not exist.")
    else:
        try:
            index = tantivy.Index.open(str(folder))
        except (ValueError, OSError) as error:
            raise Damaged(f"The text index in {folder} cannot be opened: {error}.") from error
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
            hits=tuple(self._rows.hit(int(ordinal)) for ordinal in ordinals),
            names=text_signals.LANES,
            values=values,
            stats={**stats, "files": float(len(self._paths)), "chunks": float(self._searcher.num_docs)},
        )

    def search(self, request: ExactSearch) -> ExactHits:
        """Answer a keyword query. Raises BadRequest for one that cannot be read."""
        parsed = parse(request.query, request.match_type)
        query = compile_query(parsed.node, self._index.schema)
        found, total = self._find(query, request.filters)
        limit = min(max(request.limit, 1), LIMIT_MAX)
        best = page(found, self._id_ranks(), max(request.offset, 0), limit)
        suggestion = ""
        if not total:
            suggestion = suggest(self._index, self._searcher, parsed.node, self._filters(request.filters))
        return self._answer(request, parsed, best, total, suggestion)

    def _find(self, query: tantivy.Query, filters: Filters) -> tuple[Found, int]:
        """(every folded hit that the filters keep, how many there are)"""
        hits, count = self._match(query)
        if count > len(hits) and filters != Filters():
            hits, count = self._match(filtered(query, self._filters(filters)))
        keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        scores = np.array([score for score, _ in hits], np.float32)
        ordinals = self._places.locate(np.array(keys, np.uint64))
        # The mask is a look-up in an array; a long list of paths inside the query is 7 ms.
        kept = self._rows.mask(filters)[ordinals] & (ordinals >= 0)
        self._folds = self._folds or Folds(self._rows)
        folded = self._folds.fold(Found(ordinals[kept], scores[kept]))
        return folded, len(folded) + max(count - len(hits), 0)

    def _match(self, query: tantivy.Query) -> tuple[list[tuple[float, tantivy.DocAddress]], int]:
        try:
            result = self._searcher.search(query, MATCHES_MAX, count=True)
        except ValueError as error:
            raise BadRequest(
                f"The query matches too many different words: {error}; use longer terms."
            ) from error
        return result.hits, count_of(result)

    def _answer(
        self, request: ExactSearch, parsed: Parsed, best: Found, total: int, suggestion: str
    ) -> ExactHits:
        rows = self._rows
        hits = [rows.hit(int(ordinal)) for ordinal in best.ordinals]
        chunks = [rows.chunk(int(ordinal)) for ordinal in best.ordinals]
        needles = make_needles(leaves(parsed.node))
        marked = [_highlight(chunk, needles) for chunk in chunks]
        words = query_words(request.query) if request.detail == "snippet" else frozenset()
        blobs, truncated = fit([cut(chunk, request.detail, words) for chunk in chunks], request.max_bytes)
        return ExactHits(
            generation=rows.generation,
            match_type=parsed.match_type,
            hits=tuple(hits),
            scores=tuple(round(float(s) / (float(s) + _SCORE_HALF), 4) for s in best.scores),
            highlights=tuple(texts for texts, _ in marked),
            highlight_lines=tuple(lines for _, lines in marked),
            total_found=total,
            truncated=truncated,
            suggestion=suggestion,
            chunks=tuple(blobs),
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


def _highlight(chunk: bytes, needles: list[list[Needle]]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    body = orjson.loads(chunk)
    text, metadata = str(body.get("text") or ""), body.get("metadata") or {}
    lines = line_numbers(text, str(body.get("chunk_type") or ""), _line(metadata.get("start_line")))
    return fragments(text, find_spans(text, needles), lines)


def _line(value: object) -> int:
    return value if isinstance(value, int) else 1
