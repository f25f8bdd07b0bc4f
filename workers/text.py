"""The text worker: answers ExactSearch, TextSignals, Fetch and Locate from the newest generation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from cortex import __version__
from cortex.engines.chunks.fetch import fetch
from cortex.engines.chunks.locate import locate
from cortex.engines.text.snapshot import TextSnapshot, open_text
from cortex.generation.snapshots import Snapshots
from cortex.settings.config import Config
from ipc.messages import (
    Chunks,
    ExactHits,
    ExactSearch,
    Fetch,
    Locate,
    Located,
    Message,
    Signals,
    Status,
    TextSignals,
)
from ipc.service import serve


class TextWorker:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._started = time.monotonic()
        folder = config.index_dir / "text"
        self._snapshots: Snapshots[TextSnapshot] = Snapshots(
            config.index_dir, lambda generation, rows: open_text(folder / generation.text, rows)
        )
        self.handlers: dict[type, Callable[[Any], Message]] = {
            ExactSearch: self.search,
            TextSignals: self.signals,
            Fetch: self.fetch,
            Locate: self.locate,
        }

    def search(self, request: ExactSearch) -> ExactHits:
        return self._snapshots.get(request.generation)[0].search(request)

    def signals(self, request: TextSignals) -> Signals:
        return self._snapshots.get(request.generation)[0].signals(request)

    def fetch(self, request: Fetch) -> Chunks:
        return fetch(self._snapshots.get(request.generation)[1], request)

    def locate(self, request: Locate) -> Located:
        return locate(self._snapshots.get(request.generation)[1], request)

    def reload(self) -> bool:
        return self._snapshots.reload()

    def status(self) -> Status:
        generation = self._snapshots.generation
        return Status(
            worker="text",
            pid=os.getpid(),
            version=__version__,
            config=self._config.hash(),
            generation=generation.number,
            uptime_s=time.monotonic() - self._started,
            info={"rows": generation.rows, "fault": self._snapshots.fault},
        )


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    return serve("text", TextWorker(config), config.runtime_dir, replica=replica, bind=bind)
