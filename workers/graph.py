"""The graph worker: answers GraphSearch, OutlineSearch and PatternSearch from the newest generation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from cortex import __version__
from cortex.engines.graph.answers import GraphSnapshot, open_graph
from cortex.engines.graph.arrays import GraphOpener
from cortex.engines.graph.sources import Sources
from cortex.generation.snapshots import Snapshots
from cortex.settings.config import Config
from ipc.messages import GraphHits, GraphSearch, Message, OutlineSearch, PatternSearch, Status
from ipc.service import serve


class GraphWorker:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._started = time.monotonic()
        opener = GraphOpener(config.index_dir / "graph")
        sources = Sources(config.root)
        self._snapshots: Snapshots[GraphSnapshot] = Snapshots(
            config.index_dir,
            lambda generation, _: open_graph(opener, generation.graph, generation.number, sources),
            of_rows=False,
        )
        self.handlers: dict[type, Callable[[Any], Message]] = {
            GraphSearch: self.search,
            OutlineSearch: self.outline,
            PatternSearch: self.pattern,
        }

    def search(self, request: GraphSearch) -> GraphHits:
        return self._snapshots.get(request.generation)[0].search(request)

    def outline(self, request: OutlineSearch) -> GraphHits:
        return self._snapshots.get(request.generation)[0].outline(request)

    def pattern(self, request: PatternSearch) -> GraphHits:
        return self._snapshots.get(request.generation)[0].pattern(request)

    def reload(self) -> bool:
        return self._snapshots.reload()

    def status(self) -> Status:
        generation = self._snapshots.generation
        graph = self._snapshots.get()[0].graph if generation.number else None
        return Status(
            worker="graph",
            pid=os.getpid(),
            version=__version__,
            config=self._config.hash(),
            generation=generation.number,
            uptime_s=time.monotonic() - self._started,
            info={
                "nodes": len(graph.nodes) if graph is not None else 0,
                "edges": len(graph.edges) if graph is not None else 0,
                "graph_files": len(generation.graph),
                "fault": self._snapshots.fault,
            },
        )


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    return serve("graph", GraphWorker(config), config.runtime_dir, replica=replica, bind=bind)
