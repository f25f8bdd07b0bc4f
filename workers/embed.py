"""The embed worker: vectors of queries.

The indexer embeds passages by itself, without this worker.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from cortex import __version__
from cortex.embedders import Embedder, open_embedder
from cortex.settings.config import Config
from cortex.system.errors import CortexError, TooLarge
from ipc.messages import Embed, Embedded, Message, Status
from ipc.service import CHECK_S, Identity

#: largest number of texts in a request; a query is one
TEXTS_MAX = 1024
#: seconds in which a fault is repeated without a new try: requests that wait behind a hanging one
#: would hang, too
PAUSE_S = 1.0


class EmbedWorker:
    """The worker; it runs on while the embedder cannot be used, to report the reason."""

    def __init__(self, config: Config) -> None:
        self._identity = Identity("embed", __version__, config.hash())
        self._config = config
        self._embedder: Embedder | None = None
        self._fault: CortexError | None = None
        self._retry_at = 0.0
        self.handlers: dict[type, Callable[[Any], Message]] = {Embed: self.embed}
        self.reload()

    def embed(self, request: Embed) -> Embedded:
        if len(request.texts) > TEXTS_MAX:
            raise TooLarge(f"{len(request.texts)} texts in one request; {TEXTS_MAX} are allowed.")
        if self._fault is not None and time.monotonic() < self._retry_at:
            raise self._fault.with_traceback(None)
        with self._record_faults():
            embedder = self._embedder = self._embedder or open_embedder(self._config)
            return Embedded(embedder.identity, embedder.embed(list(request.texts), request.mode))

    def reload(self) -> bool:
        """Retry a failed start of the embedder, so that a request need not meet the fault first."""
        if self._embedder is None and time.monotonic() >= self._retry_at:
            with contextlib.suppress(CortexError), self._record_faults():
                self._embedder = open_embedder(self._config)
        return False

    def patience(self) -> float:
        return PAUSE_S if self._embedder is None else CHECK_S

    @contextlib.contextmanager
    def _record_faults(self) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        except CortexError as error:
            self._embedder = None  # the server may answer with another model next
            now = time.monotonic()
            self._fault, self._retry_at = error, now + max(PAUSE_S, now - began)
            raise
        self._fault = None

    def status(self) -> Status:
        embedder = self._embedder
        info = {"model": embedder.identity, "dimensions": embedder.dimensions} if embedder else {}
        return self._identity.status(0, info | ({"fault": str(self._fault)} if self._fault else {}))


make = EmbedWorker
