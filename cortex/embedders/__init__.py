"""Embedders, TEXT → MATRIX: one file for each, all with the interface of `protocol.Embedder`.

`static` with `builtin` is the default, a table in the package; `shipped` has its size and name
without loading it. `sentences` with `bert` is the default for notes. `http` calls an embedding
server, `local` starts one, `onnx` runs a model in this process. A new embedder `name` is a module
of that name with `open_name`, and a `Provider`.
"""

import importlib
from typing import get_args

from cortex.embedders.protocol import Embedder
from cortex.settings.config import Config
from cortex.settings.table import Provider
from cortex.system.errors import Misconfigured, Unavailable

__all__ = ["EMBEDDERS", "Embedder", "check_embedder", "copies_max", "open_apart", "open_embedder"]

#: embedding.provider → the function that opens it from a Config, imported on demand: a process
#: loads only the libraries of its own embedder
EMBEDDERS: dict[Provider, str] = {
    name: f"cortex.embedders.{name}:open_{name}" for name in get_args(Provider)
} | {"static": "cortex.embedders.builtin:open_built_in"}


def open_embedder(config: Config) -> Embedder:
    """Return the embedder that `config.embedding` names.

    Raises Misconfigured for wrong dimensions (naming both numbers), Unavailable when a model server
    does not answer.
    """
    return _make(config, EMBEDDERS[config.embedding.provider])


def open_apart(config: Config) -> Embedder:
    """As `open_embedder`, with the dimensions of a model in a folder or of sentences, whatever is
    configured; an ONNX model is in a process of its own, which is started with the first text.
    """
    if config.embedding.provider == "sentences":
        from cortex.embedders.sentences import open_sentences

        return open_sentences(config)
    if config.embedding.provider != "onnx":
        return open_embedder(config)
    from cortex.embedders.child import ChildEmbedder

    return ChildEmbedder(config)


def check_embedder(config: Config) -> None:
    """Raise the errors of `open_embedder`, without starting a server or loading a model. A server
    that is started on demand may be absent.
    """
    if config.embedding.provider == "onnx":  # loading a model takes seconds
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
    """Return how many processes should load the embedder at the same time; 0: any number."""
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
