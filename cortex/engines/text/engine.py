"""The text engine: a tantivy index of chunks and one of units. Its token is the generation's folder
in `text/` and in `text/units/`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex.engines.chunks.handlers import ANSWERS, chunk_handlers
from cortex.engines.protocol import Change, Feature, Handlers
from cortex.engines.text.index.checksums import IntegrityChecker
from cortex.engines.text.index.unit_index import UNITS, UnitWriter
from cortex.engines.text.index.writer import WRITER, TextWriter, list_committed_files
from cortex.engines.text.snapshot import TextSnapshot, open_text
from cortex.engines.text.units import UnitSnapshot, open_units
from cortex.generation.current import PRUNE_AFTER_S, Generation, prune_folder
from cortex.generation.read import Published
from cortex.ranking import rank, read_question, weigh
from cortex.ranking.floor import gather_evidence
from cortex.ranking.unit_map import MAP_LINES, choose_mapped, make_map
from cortex.ranking.units import chunk_hits, file_places, rank_units
from cortex.settings.config import Config
from cortex.terms import tokens
from cortex.terms.paths import asks_for_tests
from ipc.messages import CountWords, ExactSearch, MapSearch, TextSignals, UnitMap, UnitsAt, UnitSearch

#: chunks and units that are ranked, and hits whose files count, as cortex_search has them
_MAP_CHUNKS, _MAP_UNITS, _MAP_HITS = 100, 80, 25


@dataclass(frozen=True, slots=True)
class Mapper:
    """Answers with the map of a prompt, for a process that has no time for other workers: units of
    one generation, ranked by words.
    """

    chunks: TextSnapshot
    units: UnitSnapshot
    bm25_weight: float

    def search(self, request: MapSearch) -> UnitMap:
        """Answer with the best units, none if nothing fits. Raises BadQuery for an empty query."""
        reading = read_question(request.query)
        signals = self.chunks.signals(TextSignals(reading.query, _MAP_CHUNKS, request.filters))
        hits = self.units.search(UnitSearch(reading.query, _MAP_UNITS, request.filters))
        counts = self.chunks.count_words(CountWords(reading.query))
        if not hits.units or not gather_evidence(reading.query, counts, hits).fits:
            return UnitMap(hits.generation, ())
        weights = weigh(vectors=False, bm25_weight=self.bm25_weight)
        files = file_places(rank(reading.query, signals, None, weights, _MAP_HITS))
        ranked = rank_units(request.query, hits, files, chunk_hits([signals]))
        mapped, _ = choose_mapped(ranked, request.query, with_tests=asks_for_tests(request.query))
        return UnitMap(hits.generation, tuple(make_map(mapped, MAP_LINES, request.max_bytes)))


class TextEngine:
    """See `protocol.Engine`. Lacks nothing."""

    answers = (ExactSearch, TextSignals, CountWords, UnitSearch, UnitsAt, MapSearch, *ANSWERS)
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, config: Config) -> None:
        self._bm25_weight = config.fusion.bm25_weight
        self._folder = config.index_dir / "text"
        self._units_folder = self._folder / UNITS
        self._writers: tuple[TextWriter, UnitWriter] | None = None
        self._checkers = {folder: IntegrityChecker() for folder in (self._folder, self._units_folder)}
        self._token = ""
        self._opened: TextSnapshot | None = None

    def resume(self, token: str) -> None:
        self.close()
        self._writers = TextWriter(self._folder, token), UnitWriter(self._units_folder, token)
        self._token = token

    def files(self, token: str) -> tuple[Path, ...]:
        folders = self._checkers if token else ()
        return tuple(path for folder in folders for path in list_committed_files(folder / token))

    def build(self, change: Change) -> str:
        if change.added or change.deleted:
            assert self._writers is not None, "resume comes first"
            chunks, units = self._writers
            rows = ((row.key, row.chunk) for row in change.added)
            chunks.add_rows(rows, change.deleted)
            units.add_sources(change.sources)  # while tantivy indexes the chunks
            for writer in self._writers:
                self._token = writer.commit(change.number)
        return self._token

    def upkeep(self, published: Published) -> str:
        if self._writers is not None and self._token and any(writer.has_merged() for writer in self._writers):
            for writer in self._writers:
                self._token = writer.commit(published.generation.number + 1)
        return self._token

    def open(self, token: str, published: Published) -> Handlers:
        rows = published.rows
        for folder, checker in self._checkers.items() if token else ():
            checker.check(folder / token)
        snapshot = self._opened = open_text(self._folder / token, rows, reuse=self._opened)
        units = open_units(self._units_folder / token, rows)
        return {
            ExactSearch: snapshot.search,
            TextSignals: snapshot.signals,
            CountWords: snapshot.count_words,
            UnitSearch: units.search,
            UnitsAt: units.at,
            MapSearch: Mapper(snapshot, units, self._bm25_weight).search,
            **chunk_handlers(rows),
        }

    def prune(self, tokens: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:
        removed = prune_folder(self._units_folder, {*tokens, WRITER}, older_than_s)
        return prune_folder(self._folder, {*tokens, WRITER, UNITS}, older_than_s) + removed

    def status(self, token: str, generation: Generation) -> dict[str, Any]:  # noqa: ARG002
        return {"rows": generation.rows}

    def release(self) -> None:
        tokens.forget()
        for writer in self._writers or ():
            writer.release_if_idle()

    def close(self) -> None:
        for writer in self._writers or ():
            writer.close()
        self._writers = None
