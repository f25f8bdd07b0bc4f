"""TEXT → MATRIX: one file for each embedder, all with the contract of `protocol.Embedder`."""

from __future__ import annotations

from cortex.embedders.protocol import Embedder
from cortex.settings.config import Config
from ipc.errors import Misconfigured

__all__ = ["Embedder", "open_embedder"]


def open_embedder(config: Config) -> Embedder:
    """The embedder that `config.embedding` names.

    Raises Misconfigured for wrong dimensions (naming both numbers), Unavailable when a model server
    does not answer.
    """
    embedder = _open(config)
    if embedder.dimensions != config.embedding.dimensions:
        raise Misconfigured(
            f"The embedder {embedder.identity} makes vectors of {embedder.dimensions} dimensions, but "
            f"embedding.dimensions is {config.embedding.dimensions}; set it to {embedder.dimensions} "
            "(CORTEX_EMBEDDING_DIMENSIONS or .cortex/config.yml)."
        )
    return embedder


def _open(config: Config) -> Embedder:
    if config.embedding.provider == "static":
        from cortex.embedders.static import open_static

        return open_static(dimensions=config.embedding.dimensions)
    from cortex.embedders.http import open_http, open_local

    return open_local(config) if config.embedding.provider == "local" else open_http(config.embedding)
