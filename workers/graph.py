"""The graph worker: GraphSearch, OutlineSearch and PatternSearch, from the newest generation."""

from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config


def make(config: Config) -> EngineWorker:
    return EngineWorker("graph", config)
