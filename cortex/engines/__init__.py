"""Search engines, a folder each, all with the contract of `protocol.Engine`.

`text/` searches words with tantivy and tables of words, `vector/` neighbours by scan and HNSW,
`graph/` structure, `milvus/` rows of all projects in one collection. `chunks/` fetches and renders
chunks for all of them. A new engine is a folder, a line of ENGINES, and its name in
LOCAL or REMOTE.
"""

from __future__ import annotations

import importlib

from cortex.engines.protocol import Engine
from cortex.settings.config import Config

__all__ = ["ENGINES", "Engine", "open_engine"]

#: engine → import string of its class, which takes a Config; mostly for the worker of that name.
#: Imported on demand: no worker loads the libraries of another
ENGINES = {
    "text": "cortex.engines.text.engine:TextEngine",
    "vector": "cortex.engines.vector.engine:VectorEngine",
    "graph": "cortex.engines.graph.engine:GraphEngine",
    "milvus": "cortex.engines.milvus.engine:MilvusEngine",
}

#: engines that the watcher builds on this machine, each with a worker
LOCAL = ("text", "vector", "graph")
#: engines of an index that Milvus stores
REMOTE = ("milvus", "graph")


def engine_of(worker: str, config: Config) -> str:
    """The name of the engine from which the worker `worker` answers."""
    return "milvus" if config.remote and worker in ("text", "vector") else worker


def open_engine(maker: str, config: Config) -> Engine:
    """Import `maker`, "module:name", and return the engine that it makes from `config`."""
    module, _, name = maker.partition(":")
    engine: Engine = getattr(importlib.import_module(module), name)(config)
    return engine
