"""QUESTION → HITS: one folder for each engine, all with the contract of `protocol.Engine`."""

from __future__ import annotations

import importlib

from cortex.engines.protocol import Engine
from cortex.settings.config import Config

__all__ = ["ENGINES", "Engine", "open_engine"]

#: engine, which is also the name of its worker → who makes it from a Config. Imported when it is
#: wanted: no worker loads the libraries of another
ENGINES = {
    "text": "cortex.engines.text.engine:TextEngine",
    "vector": "cortex.engines.vector.engine:VectorEngine",
    "graph": "cortex.engines.graph.engine:GraphEngine",
}


def open_engine(maker: str, config: Config) -> Engine:
    """The engine that `maker`, "module:name", makes."""
    module, _, name = maker.partition(":")
    engine: Engine = getattr(importlib.import_module(module), name)(config)
    return engine
