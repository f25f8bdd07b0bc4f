"""The graph engine: walks the published segments of the graph, so it builds nothing and its token
is empty.
"""

from typing import Any

from cortex.engines.graph.answers import GraphSnapshot
from cortex.engines.graph.arrays import GraphOpener
from cortex.engines.graph.sources import Sources
from cortex.engines.protocol import Change, Engine, Feature, Handlers
from cortex.generation.current import Generation
from cortex.generation.read import Published
from cortex.settings.config import Config
from ipc.messages import GraphSearch, NameSearch, OutlineSearch, PatternSearch


class GraphEngine(Engine):
    """See `protocol.Engine`. Lacks nothing."""

    answers = (GraphSearch, OutlineSearch, PatternSearch, NameSearch)
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, config: Config) -> None:
        self._opener = GraphOpener(config.index_dir / "segments")
        local = Sources(config.root)
        self._sources = config.store.sources(config, local) if config.store else lambda _published: local

    def resume(self, token: str) -> None:
        """Do nothing: publishing writes all files of the graph."""

    def build(self, change: Change) -> str:  # noqa: ARG002
        return ""

    def upkeep(self, published: Published) -> str:  # noqa: ARG002
        return ""

    def open(self, token: str, published: Published) -> Handlers:  # noqa: ARG002
        generation = published.generation
        graph = self._opener.open(generation.graph)
        snapshot = GraphSnapshot(graph, generation.number, self._sources(published))
        return {
            GraphSearch: snapshot.search,
            OutlineSearch: snapshot.outline,
            PatternSearch: snapshot.pattern,
            NameSearch: snapshot.complete,
        }

    def status(self, token: str, generation: Generation) -> dict[str, Any]:  # noqa: ARG002
        graph = self._opener.graph
        return {
            "nodes": len(graph.nodes),
            "edges": len(graph.edges),
            "graph_files": len(generation.graph_files),
        }
