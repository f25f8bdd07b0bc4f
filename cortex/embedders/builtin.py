"""The built-in embedder. Its table, its vocabulary and numpy take 12 MB: it opens them with the
first text to embed.
"""

import functools
from collections.abc import Sequence

from cortex.embedders.shipped import MODEL_DIR, Shipped, identify, read_description
from cortex.settings.config import Config
from cortex.system.arrays import Array
from ipc.messages import Mode


class BuiltIn(Shipped):
    """See `protocol.Embedder`."""

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        """See the protocol. Raises Damaged when a file of the model is missing or wrong."""
        from cortex.embedders.static import open_static

        return open_static(dimensions=self.dimensions).embed(texts, mode)


def open_built_in(config: Config) -> BuiltIn:
    """Return the model in the package, with the configured dimensions. Raises Damaged."""
    return _open(config.embedding.dimensions)


@functools.cache
def _open(dimensions: int) -> BuiltIn:
    return BuiltIn(*identify(read_description(MODEL_DIR), dimensions))
