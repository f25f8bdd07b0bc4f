"""The map of a prompt, for a process that has no time for other workers: units ranked by words."""

from __future__ import annotations

from dataclasses import dataclass

from cortex.engines.text.snapshot import TextSnapshot
from cortex.engines.text.units import UnitSnapshot
from cortex.ranking import rank, read_question, weigh
from cortex.ranking.floor import gather_evidence
from cortex.ranking.unit_map import MAP_LINES, choose_mapped, make_map
from cortex.ranking.units import chunk_hits, file_places, rank_units
from cortex.terms.paths import asks_for_tests
from ipc.messages import CountWords, MapSearch, TextSignals, UnitMap, UnitSearch

#: chunks and units that are ranked, and hits whose files count, as cortex_search has them
CHUNKS, UNITS, HITS = 100, 80, 25


@dataclass(frozen=True, slots=True)
class Mapper:
    """Answers from one generation: its chunks and its units."""

    chunks: TextSnapshot
    units: UnitSnapshot
    bm25_weight: float

    def search(self, request: MapSearch) -> UnitMap:
        """Answer with the best units, none if nothing fits. Raises BadQuery for an empty query."""
        reading = read_question(request.query)
        signals = self.chunks.signals(TextSignals(reading.query, CHUNKS, request.filters))
        hits = self.units.search(UnitSearch(reading.query, UNITS, request.filters))
        counts = self.chunks.count_words(CountWords(reading.query))
        if not hits.units or not gather_evidence(reading.query, counts, hits).fits:
            return UnitMap(hits.generation, ())
        weights = weigh(vectors=False, bm25_weight=self.bm25_weight)
        files = file_places(rank(reading.query, signals, None, weights, HITS))
        ranked = rank_units(request.query, hits, files, chunk_hits([signals]))
        mapped, _ = choose_mapped(ranked, request.query, with_tests=asks_for_tests(request.query))
        return UnitMap(hits.generation, tuple(make_map(mapped, MAP_LINES, request.max_bytes)))
