"""The ranking lanes of a question: the best chunks of each field. Ranking is elsewhere."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import tantivy
from tantivy import Occur, Query

from cortex.engines.text.counts import Counts
from cortex.engines.text.index import schema as schema_of
from cortex.engines.text.limits import MASK_SHARE
from cortex.engines.text.matches.compile import add_filter
from cortex.generation.candidates import make_signals
from cortex.generation.read import Rows
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.records import covers
from ipc.messages import Filters, Signals

#: names of the lanes, in the order of the values
LANES = ("body", "path", "defs", "comments", "defx")
#: words of a question that are looked up: a longer question is pasted text, and these suffice
WORDS_MAX = 64
#: value of defx for a type, for a function, and factor when only the folded name matches (retrieval
#: figures)
_TYPE, _FUNCTION, _FOLDED = 1.0, 0.5, 0.7

#: fields of every kind of chunk: they replace the lanes when no covering chunk is searched
VIEW_LANES = {"body": "parts", "path": "file_path", "defs": "symbols"}

#: a search: index of the lane, its query, and the rows that may be hits (bool [all rows])
_Wanted = tuple[int, Query, Array]

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->|/)[^\W\d]\w*)*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class Sieve:
    """Filters of a lane search: a `query` inside the search, or (when most rows pass) a `mask` over
    its hits. Made once for each set of filters, because it scans all rows.

    A list of some thousand paths inside a query takes 7 ms for each lane, the mask next to nothing.
    """

    mask: Array
    #: share of the rows that pass
    share: float
    query: Query | None
    #: the passing views that represent their files; None without any
    views: Array | None
    #: whether any passing chunk has lanes
    has_lanes: bool
    #: as Rows.locate
    locate: Callable[[Array], Array]


def make_sieve(
    rows: Rows,
    filters: Filters,
    query: Callable[[], Query | None],
    alone: Array,
    locate: Callable[[Array], Array],
) -> Sieve:
    """Make the sieve of `filters`. `alone`: bool [all rows], the views that represent their
    files.
    """
    mask = rows.mask(filters)
    share = float(mask.mean()) if len(mask) else 1.0
    by_mask = filters == Filters() or share >= MASK_SHARE
    covering = has_lanes(rows, mask)
    views = mask & alone if covering else mask
    return Sieve(mask, share, None if by_mask else query(), views if views.any() else None, covering, locate)


def find_lanes(
    index: tantivy.Index, counts: Counts, question: str, limit: int, sieve: Sieve
) -> list[tuple[int, Array, Array]]:
    """The best `limit` chunks of each lane: (lane, i64 [m] ordinals, float32 [m] scores). `counts`
    supplies the rarity of words.
    """
    schema = index.schema
    wanted: list[_Wanted] = []
    if sieve.has_lanes:
        words = read_lane_words(question)
        queries = {
            lane: _lane_query(schema, name, words, counts) for lane, name in schema_of.LANE_FIELDS.items()
        }
        queries["defx"] = _definition_query(schema, question)
        wanted += [
            (at, query, sieve.mask)
            for at, lane in enumerate(LANES)
            if (query := queries.get(lane)) is not None
        ]
    if sieve.views is not None:
        words = _view_words(question)
        for at, lane in enumerate(LANES):
            name = VIEW_LANES.get(lane)
            if name and (query := _lane_query(schema, name, words, counts)) is not None:
                wanted.append((at, query, sieve.views))
    return _search_lanes(counts.searcher, wanted, limit, sieve)


def make_lane_signals(rows: Rows, lane_hits: Iterable[tuple[int, Array, Array]], chunks: int) -> Signals:
    """The signals of (lane, ordinals, scores) of each search; 0 for a lane without the chunk.
    `chunks`: the number of those that were searched.
    """
    hits = list(lane_hits)
    ordinals = np.unique(np.concatenate([mine for _, mine, _ in hits] or [np.zeros(0, np.int64)]))
    values = np.zeros((len(LANES), len(ordinals)), np.float32)
    for at, mine, scores in hits:
        values[at, np.searchsorted(ordinals, mine)] = scores
    most = values.max(axis=1, initial=0.0).tolist()
    stats = {f"{name}_max": value for name, value in zip(LANES, most, strict=True)}
    stats |= {"files": float(len(rows.path_names)), "chunks": float(chunks)}
    return make_signals(rows, ordinals, LANES, values, stats)


def list_lane_words(question: str) -> list[tuple[str, str]]:
    """The (field, word) pairs that `find_lanes` scores by rarity."""
    lanes = [(name, word) for name in schema_of.LANE_FIELDS.values() for word in read_lane_words(question)]
    return lanes + [(name, word) for name in VIEW_LANES.values() for word in _view_words(question)]


def read_lane_words(question: str) -> list[str]:
    """Return the terms of a question that a ranking lane is searched for."""
    return tokens.lane_words(question)[:WORDS_MAX]


def _view_words(question: str) -> list[str]:
    return tokens.part_words(question)[:WORDS_MAX]


def has_lanes(rows: Rows, mask: Array) -> bool:
    """Whether any covering chunk passes: only those have lanes. A filter may select views alone,
    and chunk files of a foreign program may hold nothing else.
    """
    covering = [at for at, name in enumerate(rows.names["type"]) if covers(name)]
    return bool((np.isin(rows.columns["type"], covering) & mask).any())


def _search_lanes(
    searcher: tantivy.Searcher, wanted: list[_Wanted], limit: int, sieve: Sieve
) -> list[tuple[int, Array, Array]]:
    """(lane, ordinals, scores) of each search: the best `limit` rows that pass. Fetches hits until
    they suffice; one read gets the keys of all.
    """
    fetch = limit if sieve.query is not None else int(limit / max(sieve.share, MASK_SHARE)) + 1
    lane_hits: list[tuple[int, Array, Array]] = []
    while wanted:
        hits = [
            searcher.search(add_filter(query, sieve.query), fetch, count=False).hits for _, query, _ in wanted
        ]
        keys = searcher.fast_field_values("key", [address for some in hits for _, address in some])
        scores = np.array([score for some in hits for score, _ in some], np.float32)
        ordinals = sieve.locate(np.array(keys, np.uint64))
        short: list[_Wanted] = []
        begin = 0
        for request, some in zip(wanted, hits, strict=True):
            hit_span = slice(begin, begin + len(some))
            begin += len(some)
            mine = ordinals[hit_span]
            passes = request[2][mine] & (mine >= 0)
            if len(some) < fetch or passes.sum() >= limit:
                lane_hits.append((request[0], mine[passes][:limit], scores[hit_span][passes][:limit]))
            else:
                short.append(request)
        wanted = short
        fetch *= 4
    return lane_hits


def _lane_query(schema: tantivy.Schema, name: str, words: list[str], counts: Counts) -> Query | None:
    if not words:
        return None
    terms = []
    for word in words:
        term, factor = Query.term_query(schema, name, word, "freq"), counts.factor(name, [word])
        terms.append((Occur.Should, term if factor == 1.0 else Query.boost_query(term, factor)))
    return Query.boolean_query(terms)


def _definition_query(schema: tantivy.Schema, question: str) -> Query | None:
    """Definitions of the last name of a question that is one identifier."""
    ways = defining_terms(question)
    if not ways:
        return None
    return Query.disjunction_max_query(
        [
            Query.const_score_query(Query.term_query(schema, "defx", term, "basic"), value)
            for term, value in ways.items()
        ]
    )


def defining_terms(question: str) -> dict[str, float]:
    """The terms of `defx` for the last name of a question that is one identifier → the value of
    each: types before functions, exact before folded; none for another question.
    """
    if not _IDENTIFIER.fullmatch(question.strip()):
        return {}
    name = tokens.words(question)[-1]
    return {
        schema_of.DEFINED_TYPE + name: _TYPE,
        schema_of.DEFINED_FUNCTION + name: _FUNCTION,
        schema_of.FOLDED_TYPE + schema_of.fold_name(name): _TYPE * _FOLDED,
        schema_of.FOLDED_FUNCTION + schema_of.fold_name(name): _FUNCTION * _FOLDED,
    }
