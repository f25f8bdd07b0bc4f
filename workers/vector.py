"""The vector worker: VectorSearch, Fetch and Locate, from the newest generation; with a quick
embedder MeaningSearch, too.
"""

import contextlib
from typing import Any

from cortex.embedders import open_embedder
from cortex.embedders.shipped import MODEL_DIR
from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config
from cortex.system.errors import CortexError
from ipc.messages import MeaningSearch, Message, VectorSearch


def make(config: Config) -> EngineWorker:
    """Return the worker; with a quick embedder it embeds queries itself."""
    mapped = (MODEL_DIR,) if config.embedding.quick else ()
    worker = EngineWorker("vector", config, mapped=mapped)

    def to_vector_search(request: Any) -> Any:
        if not isinstance(request, MeaningSearch):
            return request
        embedder = open_embedder(config)  # its table is opened once in a process
        (vector,) = embedder.embed([request.query], "query")
        options = (request.limit, request.filters, request.generation, request.alone)
        return VectorSearch(vector, embedder.identity, *options)

    if config.store:
        worker.add_handlers(config.store.joint(config, to_vector_search).handlers)
    if not config.embedding.quick:
        return worker

    def answer(request: MeaningSearch) -> Message:
        return worker.handlers[VectorSearch](to_vector_search(request))

    worker.handlers[MeaningSearch] = answer
    with contextlib.suppress(CortexError):  # the first query reports the fault
        open_embedder(config).embed([], "query")
    return worker
