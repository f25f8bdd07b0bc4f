"""Search engines, a folder each, all with the contract of `protocol.Engine`.

`text/` searches words with tantivy and tables of words, `vector/` neighbours by scan and HNSW,
`graph/` structure, `milvus/` rows of all projects in one collection. `chunks/` fetches and renders
chunks for all of them. A new engine is a folder and a line of ENGINES. An engine of another package
is an entry point (`cortex.settings.plug`).
"""

from __future__ import annotations

import importlib

from cortex.engines.protocol import Engine
from cortex.settings.config import Config
from cortex.settings.plug import LOCAL

__all__ = ["ENGINES", "Engine", "open_engine"]

#: engine → import string of its class, which takes a Config; for the worker of that name. Imported
#: on demand: no worker loads the libraries of another
ENGINES = {
    "text": "cortex.engines.text.engine:TextEngine",
    "vector": "cortex.engines.vector.engine:VectorEngine",
    "graph": "cortex.engines.graph.engine:GraphEngine",
    "milvus": "cortex.engines.milvus.engine:MilvusEngine",
}

#: workers with an engine
WORKERS = ("text", "vector", "graph")


def engine_of(worker: str, config: Config) -> str:
    """The name of the engine from which the worker `worker` answers."""
    chosen = {"text": config.engines.text, "vector": config.engines.vector}.get(worker, LOCAL)
    return worker if chosen == LOCAL else chosen


def makers(config: Config) -> dict[str, str]:
    """The engines of a generation of `config`: name → import string of the class."""
    names = dict.fromkeys(engine_of(worker, config) for worker in WORKERS)
    plug = {config.plug.name: config.plug.engine} if config.plug else {}
    return {name: (ENGINES | plug)[name] for name in names}


def open_engine(maker: str, config: Config) -> Engine:
    """Import `maker`, "module:name", and return the engine that it makes from `config`."""
    module, _, name = maker.partition(":")
    engine: Engine = getattr(importlib.import_module(module), name)(config)
    return engine
