"""The two lanes of a search in one project, asked at once and ranked together.

The text worker searches by words. The vector worker searches by meaning; it embeds the question
itself where that is quick, otherwise the embed worker is asked first. An answer needs one of the
two lanes. The ranking itself is in cortex/ranking.
"""

import asyncio
from dataclasses import dataclass, replace

from cortex.ask.query_context import Turn
from cortex.ask.questions import Search
from cortex.ranking import Ranked, Reading, cite, define, prepare, rank, rank_by_cosine, share_names, weigh
from cortex.system.errors import CortexError
from ipc.messages import (
    NO_COUNTS,
    Embed,
    Embedded,
    Locate,
    Located,
    MeaningSearch,
    Signals,
    TextSignals,
    VectorSearch,
    WordCounts,
)

#: candidates of each lane of the text worker, and of the vector worker: at least, and for each hit
#: of the answer. Higher numbers cost time on both sides and rank no better (docs/RANKING.md)
TEXT_CANDIDATES, VECTOR_CANDIDATES = 90, 45
TEXT_CANDIDATES_PER_HIT, VECTOR_CANDIDATES_PER_HIT = 4, 2
#: candidates of the vector worker where it alone is asked: enough for distinct files
ALONE_CANDIDATES, ALONE_CANDIDATES_PER_HIT = 64, 4
#: chunks that the text worker returns for a name in a pasted text: enough to see that too many
#: define it
NAME_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Lanes:
    """The replies of the workers to one question; None for a silent worker. `names` holds the
    signals of each name in the question, `places` the locations of its files and lines.
    """

    text: Signals | None
    vector: Signals | None
    places: Located | None = None
    names: tuple[Signals, ...] = ()

    @property
    def replies(self) -> list[Signals]:
        return [lane for lane in (self.text, self.vector) if lane is not None]

    @property
    def answered(self) -> list[str]:
        """The names of the workers that replied."""
        return [name for name, lane in (("text", self.text), ("vector", self.vector)) if lane is not None]


async def ask_lanes(turn: Turn, question: Search, reading: Reading, counts: WordCounts = NO_COUNTS) -> Lanes:
    """Ask all lanes at once. Raises BadRequest; and NotReady, unless the turn is final."""
    question = replace(question, query=reading.query, filters=turn.context.scope_filters(question.filters))
    if question.mode == "semantic":
        return Lanes(None, await _ask_vectors(turn, question, alone=True))
    text, vector, (places, names), _ = await asyncio.gather(
        _ask_words(turn, question, counts),
        _ask_vectors(turn, question),
        _find_named(turn, question, reading),
        _prepare(reading.query),
    )
    return Lanes(text, vector, places, names)


async def _prepare(question: str) -> None:
    """Prepare the ranking of the question while the workers are busy with it."""
    prepare(question)


def rank_lanes(lanes: Lanes, question: Search, reading: Reading, bm25_weight: float) -> list[Ranked]:
    """Return the ranked hits, one more than `question.limit` if more exist. Pure."""
    limit = question.limit + 1  # the extra hit shows that there are more
    if question.mode == "semantic":
        assert lanes.vector is not None
        return rank_by_cosine(lanes.vector, limit, question.min_score or 0.0)
    vector = lanes.vector if lanes.vector is not None and len(lanes.vector) else None
    weights = weigh(vectors=vector is not None, bm25_weight=bm25_weight)
    cited = cite(reading.places, lanes.places) if lanes.places is not None else None
    extras = [cited, *(define(name_signals, at) for at, name_signals in enumerate(lanes.names))]
    extra_signals = [signals for signals in extras if signals is not None]
    ranked = rank(reading.query, lanes.text, vector, weights, limit, extra_signals=extra_signals)
    floor = question.min_score
    return ranked if floor is None else [ranked_hit for ranked_hit in ranked if ranked_hit.score >= floor]


async def _ask_words(turn: Turn, question: Search, counts: WordCounts) -> Signals | None:
    request = TextSignals(
        question.query, text_candidates(question), question.filters, turn.generation.number, counts
    )
    reply = await turn.lane("text", request, Signals)
    if reply is not None:
        share_names(prepare(question.query), reply.paths)  # while the vector worker still searches
    return reply


def text_candidates(question: Search) -> int:
    return max(TEXT_CANDIDATES, TEXT_CANDIDATES_PER_HIT * question.limit)


def vector_candidates(question: Search) -> int:
    least, for_each = VECTOR_CANDIDATES, VECTOR_CANDIDATES_PER_HIT
    if question.mode == "semantic":
        least, for_each = ALONE_CANDIDATES, ALONE_CANDIDATES_PER_HIT
    return max(least, for_each * (question.limit + 1))


async def _ask_vectors(turn: Turn, question: Search, *, alone: bool = False) -> Signals | None:
    limit, number = vector_candidates(question), turn.generation.number
    if turn.context.config.embedding.quick:
        meaning = MeaningSearch(question.query, limit, question.filters, number, alone)
        return await turn.lane("vector", meaning, Signals)
    embedded = await turn.lane("embed", Embed((question.query,)), Embedded)
    if embedded is None:
        return None
    request = VectorSearch(embedded.vectors[0], embedded.model, limit, question.filters, number, alone)
    return await turn.lane("vector", request, Signals)


async def _find_named(
    turn: Turn, question: Search, reading: Reading
) -> tuple[Located | None, tuple[Signals, ...]]:
    """Return the locations of the files and lines in a question, and the signals of its names.
    Nothing when the text worker is silent: its lane reports that.
    """
    if not (reading.places or reading.names):
        return None, ()
    number, filters = turn.generation.number, question.filters
    try:
        located, name_signals = await asyncio.gather(
            turn.ask("text", Locate(reading.places, filters, number), Located),
            asyncio.gather(
                *(
                    turn.ask("text", TextSignals(name, NAME_CANDIDATES, filters, number), Signals)
                    for name in reading.names
                )
            ),
        )
    except CortexError:
        return None, ()
    return located, tuple(name_signals)


def notes_of(vector: Signals | None) -> tuple[str, ...]:
    left_out = int(vector.stats.get("left_out", 0)) if vector is not None else 0
    if not left_out:
        return ()
    return (f"{left_out} chunks have no vector of the model in use and are found by words only.",)
