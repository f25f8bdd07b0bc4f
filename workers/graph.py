"""The graph worker: GraphSearch, OutlineSearch and PatternSearch, from the newest generation."""

from __future__ import annotations

from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config
from ipc.service import serve


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    return serve("graph", EngineWorker("graph", config), config.runtime_dir, replica=replica, bind=bind)
