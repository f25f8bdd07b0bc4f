"""The vector worker: VectorSearch, Fetch and Locate, from the newest generation."""

from __future__ import annotations

from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config
from ipc.service import serve


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    return serve("vector", EngineWorker("vector", config), config.runtime_dir, replica=replica, bind=bind)
