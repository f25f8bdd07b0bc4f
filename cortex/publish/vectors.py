"""Rows of the chunks in a reading, with the vectors that chunk files omit."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np

from cortex.embedders.static import StaticEmbedder, open_configured, open_static
from cortex.generation.write import Row
from cortex.publish.chunk_file_reader import of_unit_length
from cortex.publish.chunk_files import Reading
from cortex.settings.config import Config
from cortex.terms.passages import embed_text

#: texts to embed at once: bounds the memory of one call
EMBED_TEXTS = 512


class VectorMaker:
    """Computes missing vectors with the built-in model. Used by one thread at a time."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._embedder: StaticEmbedder | None = None

    def rows(self, reading: Reading, keys: Sequence[int]) -> list[Row]:
        """Return the added chunks as rows with these keys. Vectors of another model than the
        configured one are not computed: the indexer creates those chunks anew.
        """
        rows = [
            Row(key, chunk.body, chunk.file, chunk.digest, chunk.vector, chunk.model)
            for key, chunk in zip(keys, reading.added, strict=True)
        ]
        unmade = {name for name, file in reading.loaded.items() if file.from_text}
        if unmade and self._config.embedding.provider == "static":
            self._complete(rows, unmade)
        return rows

    def _complete(self, rows: list[Row], unmade: Collection[str]) -> None:
        embedder = self._embedder = self._embedder or open_configured(self._config)
        wanted = [
            at
            for at, row in enumerate(rows)
            if row.vector is None and row.chunk_file in unmade and row.model == embedder.identity
        ]
        for start in range(0, len(wanted), EMBED_TEXTS):
            some = wanted[start : start + EMBED_TEXTS]
            chunks = [rows[at].chunk for at in some]
            texts = [embed_text(chunk.get("metadata") or {}, chunk["text"]) for chunk in chunks]
            for at, vector in zip(some, embedder.embed(texts).astype("<f2"), strict=True):
                unit = of_unit_length(rows[at].chunk_file, vector.astype(np.float32))
                rows[at] = dataclasses.replace(rows[at], vector=unit)

    def release(self) -> None:
        """Free the model's vocabulary."""
        if self._embedder is not None:
            self._embedder = None
            open_static.cache_clear()
