"""The vector worker: answers VectorSearch, Fetch and Locate from the newest generation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from cortex import __version__
from cortex.engines.chunks.fetch import fetch
from cortex.engines.chunks.locate import locate
from cortex.engines.vector.usearch import VectorSnapshot, open_vectors
from cortex.generation.snapshots import Snapshots
from cortex.settings.config import Config
from ipc.messages import Chunks, Fetch, Locate, Located, Message, Signals, Status, VectorSearch
from ipc.service import serve


class VectorWorker:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._started = time.monotonic()
        folder = config.index_dir / "vectors"
        self._snapshots: Snapshots[VectorSnapshot] = Snapshots(
            config.index_dir, lambda generation, rows: open_vectors(rows, folder, generation.vectors)
        )
        self.handlers: dict[type, Callable[[Any], Message]] = {
            VectorSearch: self.search,
            Fetch: self.fetch,
            Locate: self.locate,
        }

    def search(self, request: VectorSearch) -> Signals:
        return self._snapshots.get(request.generation)[0].search(request)

    def fetch(self, request: Fetch) -> Chunks:
        return fetch(self._snapshots.get(request.generation)[1], request)

    def locate(self, request: Locate) -> Located:
        return locate(self._snapshots.get(request.generation)[1], request)

    def reload(self) -> bool:
        return self._snapshots.reload()

    def status(self) -> Status:
        generation = self._snapshots.generation
        return Status(
            worker="vector",
            pid=os.getpid(),
            version=__version__,
            config=self._config.hash(),
            generation=generation.number,
            uptime_s=time.monotonic() - self._started,
            info={
                "rows": generation.rows,
                "vectors": sum(segment.vectors for segment in generation.segments),
                "model": generation.model,
                "hnsw": generation.vectors,
                "fault": self._snapshots.fault,
            },
        )


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    return serve("vector", VectorWorker(config), config.runtime_dir, replica=replica, bind=bind)
