"""TEXT → MATRIX: one file for each embedder, all with the contract of `protocol.Embedder`."""

from __future__ import annotations

import importlib

from cortex.embedders.protocol import Embedder
from cortex.settings.config import Config
from cortex.settings.table import Provider
from ipc.errors import Misconfigured, Unavailable

__all__ = ["EMBEDDERS", "Embedder", "check_embedder", "open_embedder"]

#: embedding.provider → who makes it from a Config. Imported when it is wanted: nobody loads the
#: libraries of another
EMBEDDERS: dict[Provider, str] = {
    "static": "cortex.embedders.static:open_configured",
    "http": "cortex.embedders.http:open_http",
    "local": "cortex.embedders.local:open_local",
}


def open_embedder(config: Config) -> Embedder:
    """The embedder that `config.embedding` names.

    Raises Misconfigured for wrong dimensions (naming both numbers), Unavailable when a model server
    does not answer.
    """
    return _make(config, EMBEDDERS[config.embedding.provider])


def check_embedder(config: Config) -> None:
    """Raise what `open_embedder` would raise, without starting a server: one that is started on
    demand may be away.
    """
    if config.embedding.provider != "local":
        open_embedder(config)
        return
    try:
        _make(config, EMBEDDERS["http"])
    except Unavailable:
        return


def _make(config: Config, maker: str) -> Embedder:
    module, _, name = maker.partition(":")
    embedder: Embedder = getattr(importlib.import_module(module), name)(config)
    if embedder.dimensions != config.embedding.dimensions:
        raise Misconfigured(
            f"The embedder {embedder.identity} makes vectors of {embedder.dimensions} dimensions, but "
            f"embedding.dimensions is {config.embedding.dimensions}; set it to {embedder.dimensions} "
            "(CORTEX_EMBEDDING_DIMENSIONS or .cortex/config.yml)."
        )
    return embedder
