"""The text worker: ExactSearch, TextSignals, UnitSearch, Fetch and Locate, from the newest
generation; for an index in a store also over several projects at once, and without UnitSearch.
"""

from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config


def make(config: Config) -> EngineWorker:
    worker = EngineWorker("text", config)
    if config.store:
        worker.add_handlers(config.store.joint(config).handlers)
    return worker
