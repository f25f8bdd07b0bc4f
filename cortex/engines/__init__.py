"""Search engines, a folder each, all with the contract of `protocol.Engine`.

`text/` searches words with tantivy and tables of words, `vector/` neighbours by scan and HNSW,
`graph/` structure. `chunks/` fetches and renders chunks for all of them. A new engine is a
folder with a `Plug` and an entry point (`cortex.settings.plug`), here as `milvus/` or in any
package; with a line of ENGINES, and a worker of that name, it has questions of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex.settings.plug import LOCAL, late

if TYPE_CHECKING:  # a front that loads a plug needs no engine's libraries
    from cortex.engines.protocol import Engine
    from cortex.settings.config import Config

#: engine → import string of its class, which takes a Config; for the worker of that name. Imported
#: on demand: no worker loads the libraries of another
ENGINES = {
    "text": "cortex.engines.text.engine:TextEngine",
    "vector": "cortex.engines.vector.engine:VectorEngine",
    "graph": "cortex.engines.graph.engine:GraphEngine",
}


def engine_of(worker: str, config: Config) -> str:
    """The name of the engine from which the worker `worker` answers."""
    chosen = {"text": config.engines.text, "vector": config.engines.vector}.get(worker, LOCAL)
    return worker if chosen == LOCAL else chosen


def makers(config: Config) -> dict[str, str]:
    """The engines of a generation of `config`: name → import string of the class."""
    names = dict.fromkeys(engine_of(worker, config) for worker in ENGINES)
    plug = {config.plug.name: config.plug.engine} if config.plug else {}
    return {name: (ENGINES | plug)[name] for name in names}


def open_engine(maker: str, config: Config) -> Engine:
    """Import `maker`, "module:name", and return the engine that it makes from `config`."""
    engine: Engine = late(maker)(config)
    return engine
