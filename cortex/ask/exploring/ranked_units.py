"""Units ranked for a question: definitions as wholes, and the pieces between them.

The text worker finds them by words. Hits of chunks add words and meanings; a definition or a line
that the question names is added and stands first. cortex/ranking/units.py weighs them.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap

import numpy as np
import orjson
from msgspec import structs

from cortex.ask.exploring.literal_lines import LiteralLine, find_literals
from cortex.ask.exploring.query_symbols import (
    OPERATOR,
    ROUTE,
    asks_for_users,
    find_cited,
    find_files,
    names_in,
)
from cortex.ask.exploring.spellings import find_parted, spell
from cortex.ask.lanes import Lanes, ask_lanes, notes_of, rank_lanes
from cortex.ask.query_context import Turn, no_answer_error
from cortex.ask.questions import NO_FILTERS, Search
from cortex.ask.reading.meanings import MEANINGS_MAX, Meaning, find_meanings
from cortex.ranking import Reading, read_question
from cortex.ranking.floor import gather_evidence, unknown_words
from cortex.ranking.units import (
    CANDIDATES,
    WHOLE_FILE,
    ChunkHit,
    ScoredUnit,
    chunk_hits,
    file_places,
    has_loose_text,
    rank_units,
)
from cortex.terms.paths import asks_for_documents_alone, asks_for_templates, is_template, is_test
from ipc.messages import (
    CountWords,
    Filters,
    Locate,
    Located,
    Place,
    UnitHits,
    UnitsAt,
    UnitSearch,
    WordCounts,
)

#: hits of chunks that the lanes are asked for; files whose places count
HITS, FILES = 24, 60
#: definitions of one operator that may stand first: many types have `==`
OPERATORS_MAX = 40
#: tests and sections that are ranked beside the units of code; sections of a question for documents
ASIDE, SECTIONS = 10, 20
#: kinds of chunks of documents
DOCUMENTS = ("documentation",)


@dataclass(frozen=True, slots=True)
class RankedUnits:
    """The units of a question, best first, and the definitions that it names. `notes`: sentences on
    omissions. `literals`: lines with a text of the question. `fits`: whether they may answer it;
    `unknown`: its words that the index lacks. `is_path`: the question is the path of their files.
    """

    units: tuple[ScoredUnit, ...]
    meanings: tuple[Meaning, ...] = ()
    notes: tuple[str, ...] = ()
    literals: Mapping[tuple[str, int], LiteralLine] = field(default_factory=dict)
    fits: bool = True
    unknown: tuple[str, ...] = ()
    is_path: bool = False


async def find_units(turn: Turn, question: Search) -> RankedUnits | None:
    """Return the ranked units, None without units. Raises as `answer_with_code`, and NotReady."""
    if turn.context.config.store:  # a store holds no units: no lane is asked in vain
        return None
    question = replace(question.checked(), limit=HITS)
    reading = read_question(question.query)
    number = turn.generation.number
    filters = turn.context.scope_filters(question.filters)
    request = UnitSearch(reading.query, CANDIDATES, filters, number, ASIDE)
    (lanes, files, chunks), reply, counts, meanings, (lines, asked_files), literals = await asyncio.gather(
        _rank_files(turn, question, reading),
        turn.lane("text", request, UnitHits, ours=True),
        turn.lane("text", CountWords(reading.query, number), WordCounts, ours=True),
        _find_named(turn, question.query),
        _find_places(turn, question.query),
        find_literals(turn, question.query, question.filters),
    )
    if lanes.text is None and lanes.vector is None:
        raise no_answer_error(turn.silent_lanes)
    if reply is None:
        return None
    unknown = unknown_words(reading.query, counts) if counts is not None else []
    query = spell(question.query, await find_parted(turn, unknown)) if unknown else question.query
    if query != question.query:
        return await find_units(turn, replace(question, query=query))
    lines += [(meaning.file, meaning.start) for meaning in meanings]
    templates = [(chunk.path, chunk.start) for chunk in chunks if is_template(chunk.path)]
    # few templates have words of a question about them
    templates = templates if asks_for_templates(question.query) else []
    reply = await _with_units_at(
        turn.renewed(), reply, [*lines, *literals, *templates, *_best_place(files, chunks)]
    )
    if asks_for_documents_alone(question.query):  # tests outnumber sections among the others
        request = UnitSearch(reading.query, 0, replace(filters, chunk_types=DOCUMENTS), number, SECTIONS)
        sections = await turn.lane("text", request, UnitHits, ours=True)
        reply = _merge_units(reply, sections) if sections is not None else reply
    if question.filters != NO_FILTERS:
        reply = await _drop_filtered(turn.renewed(), reply, filters)
    shipped = {place: line.share for place, line in literals.items() if not is_test(place[0])}
    units = rank_units(question.query, reply, files, chunks, lines=frozenset(lines), literals=shipped)
    of_files = [scored for scored in units if scored.unit["path"] in asked_files]
    is_built_in = turn.context.config.embedding.quick
    evidence = gather_evidence(
        reading.query, counts or WordCounts(), reply, lanes.vector if is_built_in else None
    )
    return RankedUnits(
        units=tuple(of_files or units),
        meanings=tuple(meanings),
        notes=notes_of(lanes.vector),
        literals=literals,
        fits=bool(reply.units and (evidence.fits or meanings or lines or literals)),
        unknown=tuple(unknown),
        is_path=bool(of_files),
    )


async def _rank_files(
    turn: Turn, question: Search, reading: Reading
) -> tuple[Lanes, dict[str, tuple[float, int]], list[ChunkHit]]:
    """Return the replies of the lanes, the places of their files, and their chunks. Both are
    computed while the text worker still searches for units.
    """
    lanes = await ask_lanes(turn, question, reading)
    if not lanes.replies:
        return lanes, {}, []
    bm25_weight = turn.context.config.fusion.bm25_weight
    ranked = rank_lanes(lanes, replace(question, limit=FILES), reading, bm25_weight)
    return lanes, file_places(ranked), chunk_hits(lanes.replies)


def _best_place(files: Mapping[str, tuple[float, int]], chunks: Sequence[ChunkHit]) -> list[tuple[str, int]]:
    """Return the place of the best chunk of the best file, if it is none of a program: units of
    configuration and styles have few words of a question in their fields.
    """
    best_file = next(iter(files), "")
    if not has_loose_text(best_file):
        return []
    inside = [chunk for chunk in chunks if chunk.path == best_file]
    best = sorted(inside, key=lambda chunk: (-chunk.words - chunk.meaning, chunk.start))
    return [(chunk.path, chunk.start) for chunk in best[:1]]


async def _find_places(turn: Turn, query: str) -> tuple[list[tuple[str, int]], list[str]]:
    """Return (the lines that a query cites, or all of the files of which it is the path; those
    files). Raises NotReady.
    """
    cited, paths = await asyncio.gather(find_cited(turn, query), find_files(turn, query))
    lines = [(path, line) for path, numbers in cited.items() for line in numbers]
    return lines or [(path, WHOLE_FILE) for path in paths], paths


async def _find_named(turn: Turn, query: str) -> list[Meaning]:
    """Return the definitions of the names in a query, those that the graph knows for certain; for a
    question about users one with copies, too: in built files, or in tests.
    """
    most = OPERATORS_MAX if OPERATOR.fullmatch(query) else MEANINGS_MAX
    replies = await asyncio.gather(*(find_meanings(turn, name, most) for name in names_in(query)))
    meanings = [meaning for listed, _ in replies for meaning in listed if meaning.file]
    with_copies = asks_for_users(query)
    meanings = [
        m for m in meanings if not m.remark or (with_copies and not m.is_guess) or ROUTE.fullmatch(m.symbol)
    ]
    return list({meaning.id: meaning for meaning in meanings}.values())


async def _with_units_at(turn: Turn, reply: UnitHits, lines: Sequence[tuple[str, int]]) -> UnitHits:
    """Add the units with the named `lines` that the search has not found."""
    if not lines:
        return reply
    places = tuple(Place(path, line) for path, line in dict.fromkeys(lines))
    named = await turn.lane("text", UnitsAt(places, turn.generation.number), UnitHits, ours=True)
    return _merge_units(reply, named) if named is not None else reply


def _merge_units(reply: UnitHits, more: UnitHits) -> UnitHits:
    """Return the units of both replies, each once; those of a reply without signals have zeros."""
    present = {_place(raw) for raw in reply.units}
    by_place = {_place(raw): at for at, raw in enumerate(more.units)}
    new = [at for place, at in by_place.items() if place not in present]
    values = more.values[:, new] if more.names else np.zeros((len(reply.names), len(new)), np.float32)
    return structs.replace(
        reply,
        units=(*reply.units, *(more.units[at] for at in new)),
        values=np.concatenate([reply.values, values], axis=1),
    )


async def _drop_filtered(turn: Turn, reply: UnitHits, filters: Filters) -> UnitHits:
    """Return the units of which a chunk at the head passes the filters, whichever lane added them:
    the graph knows no filters, and a search of units passes whole files.
    """
    heads = [_place(raw, "head") for raw in reply.units]
    request = Locate(tuple(starmap(Place, heads)), filters, turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    spots = located.spots if located is not None else ()
    passing = sorted({spot.place for spot in spots if spot.hit.path == heads[spot.place][0]})
    units = tuple(reply.units[at] for at in passing)
    return structs.replace(reply, units=units, values=reply.values[:, passing])


def _place(raw: bytes, line: str = "start") -> tuple[str, int]:
    unit = orjson.loads(raw)
    return unit["path"], unit[line]
