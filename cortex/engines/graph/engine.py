"""The graph engine: walks the published segments of the graph, so it builds nothing and its token
is empty.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cortex.engines.graph.answers import GraphSnapshot
from cortex.engines.graph.arrays import GraphOpener
from cortex.engines.graph.sources import SourceReader, Sources
from cortex.engines.protocol import Change, Feature, Handlers
from cortex.generation.current import PRUNE_AFTER_S, Generation
from cortex.generation.read import Published
from cortex.settings.config import Config
from cortex.settings.milvus import milvus_place
from ipc.messages import GraphSearch, NameSearch, OutlineSearch, PatternSearch

if TYPE_CHECKING:
    from cortex.engines.milvus.rows import Fetched


class GraphEngine:
    """See `protocol.Engine`. Opens rows only if sources are in Milvus alone. Lacks nothing."""

    answers = (GraphSearch, OutlineSearch, PatternSearch, NameSearch)
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, config: Config) -> None:
        self._opener = GraphOpener(config.index_dir / "segments")
        self._config, self._sources = config, Sources(config.root)
        self._fetched: Fetched | None = None

    def resume(self, token: str) -> None:
        """Do nothing: publishing writes all files of the graph."""

    def files(self, token: str) -> tuple[Path, ...]:  # noqa: ARG002
        return ()

    def build(self, change: Change) -> str:  # noqa: ARG002
        return ""

    def upkeep(self, published: Published) -> str:  # noqa: ARG002
        return ""

    def open(self, token: str, published: Published) -> Handlers:  # noqa: ARG002
        generation = published.generation
        sources = self._remote_sources(published) if self._config.remote else self._sources
        snapshot = GraphSnapshot(self._opener.open(generation.graph), generation.number, sources)
        return {
            GraphSearch: snapshot.search,
            OutlineSearch: snapshot.outline,
            PatternSearch: snapshot.pattern,
            NameSearch: snapshot.complete,
        }

    def _remote_sources(self, published: Published) -> SourceReader:
        """The sources of an index in Milvus: this machine may have none."""
        from cortex.engines.milvus.collection import Collection
        from cortex.engines.milvus.rows import Fetched
        from cortex.engines.milvus.sources import RemoteSources

        self._fetched = self._fetched or Fetched(Collection(milvus_place(self._config)))
        return RemoteSources(published, self._fetched, self._sources)

    def prune(self, tokens: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:  # noqa: ARG002
        return []

    def status(self, token: str, generation: Generation) -> dict[str, Any]:  # noqa: ARG002
        graph = self._opener.graph
        return {
            "nodes": len(graph.nodes),
            "edges": len(graph.edges),
            "graph_files": len(generation.graph_files),
        }

    def release(self) -> None:
        """Do nothing: there is no build."""

    def close(self) -> None:
        """Do nothing: the mapped files close with the last snapshot."""
