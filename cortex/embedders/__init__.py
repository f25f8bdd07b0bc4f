"""TEXT → MATRIX: one file for each embedder, all with the contract of `protocol.Embedder`.

`static` with `builtin` is the default, a table that is part of the package; `shipped` knows its
size and name without loading it. `http` asks a server of embeddings, `local` starts one,
`onnx` runs a model in this process. A new embedder is a module and a line of EMBEDDERS.
"""

from __future__ import annotations

import importlib

from cortex.embedders.protocol import Embedder
from cortex.settings.config import Config
from cortex.settings.table import Provider
from cortex.system.errors import Misconfigured, Unavailable

__all__ = ["EMBEDDERS", "Embedder", "check_embedder", "copies_max", "open_embedder"]

#: embedding.provider → who makes it from a Config. Imported when it is wanted: nobody loads the
#: libraries of another
EMBEDDERS: dict[Provider, str] = {
    "static": "cortex.embedders.builtin:open_built_in",
    "http": "cortex.embedders.http:open_http",
    "local": "cortex.embedders.local:open_local",
    "onnx": "cortex.embedders.onnx:open_onnx",
}


def open_embedder(config: Config) -> Embedder:
    """The embedder that `config.embedding` names.

    Raises Misconfigured for wrong dimensions (naming both numbers), Unavailable when a model server
    does not answer.
    """
    return _make(config, EMBEDDERS[config.embedding.provider])


def check_embedder(config: Config) -> None:
    """Raise what `open_embedder` would raise, without starting a server or loading a model: one
    that is started on demand may be away.
    """
    if config.embedding.provider == "onnx":  # to load a model takes seconds
        from cortex.embedders.onnx import check_onnx

        dimensions = check_onnx(config)
        _check_dimensions(config, config.embedding.model_path, dimensions or config.embedding.dimensions)
        return
    if config.embedding.provider != "local":
        open_embedder(config)
        return
    try:
        _make(config, EMBEDDERS["http"])
    except Unavailable:
        return


def copies_max(config: Config) -> int:
    """How many processes should hold the embedder at the same time; 0: as many as there are."""
    if config.embedding.provider != "onnx":
        return 0
    from cortex.embedders import onnx

    return onnx.copies_max(config)


def _make(config: Config, maker: str) -> Embedder:
    module, _, name = maker.partition(":")
    embedder: Embedder = getattr(importlib.import_module(module), name)(config)
    _check_dimensions(config, embedder.identity, embedder.dimensions)
    return embedder


def _check_dimensions(config: Config, name: str, dimensions: int) -> None:
    if dimensions != config.embedding.dimensions:
        raise Misconfigured(
            f"The embedder {name} makes vectors of {dimensions} dimensions, but embedding.dimensions is "
            f"{config.embedding.dimensions}; set it to {dimensions} (CORTEX_EMBEDDING_DIMENSIONS or .cortex/config.yml)."
        )
