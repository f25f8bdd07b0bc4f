"""Rows of the chunks in a reading, with the vectors that chunk files omit."""

from collections.abc import Sequence

import numpy as np

from cortex.embedders.static import StaticEmbedder, open_configured, open_static
from cortex.generation.write import Row
from cortex.publish.chunk_files import Reading
from cortex.settings.config import Config
from cortex.system.arrays import Array
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
        computed = self._compute(reading)
        return [
            Row(key, chunk.body, chunk.file, chunk.digest, computed.get(at, chunk.vector), chunk.model)
            for at, (key, chunk) in enumerate(zip(keys, reading.added, strict=True))
        ]

    def _compute(self, reading: Reading) -> dict[int, Array]:
        """Return the vectors that the files omit, by their chunks' places in `reading.added`."""
        computed = dict[int, Array]()
        unmade = {name for name, file in reading.loaded.items() if file.from_text}
        if not unmade or self._config.embedding.provider != "static":
            return computed
        embedder = self._embedder = self._embedder or open_configured(self._config)
        wanted = [
            at
            for at, chunk in enumerate(reading.added)
            if chunk.vector is None and chunk.file in unmade and chunk.model == embedder.identity
        ]
        for start in range(0, len(wanted), EMBED_TEXTS):
            some = wanted[start : start + EMBED_TEXTS]
            bodies = [reading.added[at].body for at in some]
            texts = [embed_text(body.get("metadata") or {}, body["text"]) for body in bodies]
            vectors = embedder.embed(texts).astype("<f2").astype(np.float32)
            # The same product as of_unit_length takes of one vector, to be equal in each bit.
            norms = np.sqrt(np.vecdot(vectors, vectors))
            computed |= {
                at: vector / norm for at, vector, norm in zip(some, vectors, norms, strict=True) if norm > 0
            }
        return computed

    def release(self) -> None:
        """Free the model's vocabulary."""
        if self._embedder is not None:
            self._embedder = None
            open_static.cache_clear()
