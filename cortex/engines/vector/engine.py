"""The vector engine: compares the vectors of the rows' segments, and above a bound uses an HNSW
index.

Its token is the file of that index in `vector/`, "" below the bound. The index is built in the
background when enough rows are missing from the last one. Its name says up to which row key it
goes.
"""

import logging
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cortex.engines.chunks.handlers import ANSWERS, chunk_handlers
from cortex.engines.protocol import Change, Engine, Feature, Handlers
from cortex.engines.vector.quantized import QuantizedVectors
from cortex.engines.vector.usearch import (
    Limits,
    build_vectors,
    check_vectors,
    is_ours,
    open_vectors,
    watermark_of,
)
from cortex.generation.current import PRUNE_AFTER_S, Generation, prune_folder
from cortex.generation.read import Published
from cortex.settings.config import Config
from ipc.messages import VectorSearch

log = logging.getLogger(__name__)


class VectorEngine(Engine):
    """See `protocol.Engine`. Lacks nothing."""

    answers = (VectorSearch, *ANSWERS)
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, config: Config, limits: Limits | None = None) -> None:
        self._folder = config.index_dir / "vector"
        self._limits = limits or Limits()
        self._takes_unnamed = config.embedding.provider != "static"
        self._token = ""
        #: of the last opened snapshot
        self._quantized: QuantizedVectors | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._building: Future[str] | None = None
        #: the generation that `upkeep` checked last; it does not change
        self._looked_at = 0

    def resume(self, token: str) -> None:
        self._building, self._token = None, ""
        if is_ours(token):  # else a new index is built
            check_vectors(self._folder / token)
            self._token = token
        self._looked_at = 0

    def files(self, token: str) -> tuple[Path, ...]:
        return (self._folder / token,) if token else ()

    def build(self, change: Change) -> str:  # noqa: ARG002 - new rows are scanned
        return self._token

    def upkeep(self, published: Published) -> str:
        if self._building is None:
            self._begin(published)
        elif self._building.done():
            done, self._building = self._building, None
            try:
                self._token = done.result()
            except Exception:  # the scan still answers; tried again after the next change
                log.exception("building the HNSW index failed")
        return self._token

    @property
    def building(self) -> bool:
        """Whether an HNSW index is being built, or is ready and not yet returned by `upkeep`."""
        return self._building is not None

    def _begin(self, published: Published) -> None:
        """Start a build when one is due."""
        number = published.generation.number
        if number == self._looked_at or published.generation.rows <= self._limits.scan_rows_max:
            return
        self._looked_at = number
        watermark, share = watermark_of(self._token), self._limits.uncovered_share_max
        if published.generation.next_key - 1 - watermark <= share * published.generation.rows:
            return  # too few keys were assigned since, so the rows need not be opened
        rows = published.rows
        uncovered = int((rows.live & (rows.keys > watermark)).sum())
        if uncovered > share * rows.live_count:
            self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="hnsw")
            self._building = self._pool.submit(build_vectors, rows, self._folder)

    def open(self, token: str, published: Published) -> Handlers:
        rows = published.rows
        snapshot = open_vectors(
            rows, self._folder, token, self._limits, takes_unnamed=self._takes_unnamed, reuse=self._quantized
        )
        self._quantized = snapshot.quantized
        return {VectorSearch: snapshot.search, **chunk_handlers(rows)}

    def prune(self, tokens: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:
        return prune_folder(self._folder, tokens, older_than_s)

    def status(self, token: str, generation: Generation) -> dict[str, Any]:
        return {
            "rows": generation.rows,
            "vectors": sum(segment.vectors for segment in generation.segments),
            "model": generation.model,
            "hnsw": token,
        }

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        self._building = None
