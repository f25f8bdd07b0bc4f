"""The embed worker: turns questions into vectors.

The indexer embeds passages by itself and never asks here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cortex import __version__
from cortex.embedders import open_embedder
from cortex.settings.config import Config
from ipc.errors import TooLarge
from ipc.messages import Embed, Embedded, Message, Status
from ipc.service import Identity, serve

#: texts in one request; a question is one
TEXTS_MAX = 1024


class EmbedWorker:
    def __init__(self, config: Config) -> None:
        self._identity = Identity("embed", __version__, config.hash())
        self._embedder = open_embedder(config)
        self.handlers: dict[type, Callable[[Any], Message]] = {Embed: self.embed}

    def embed(self, request: Embed) -> Embedded:
        if len(request.texts) > TEXTS_MAX:
            raise TooLarge(f"{len(request.texts)} texts in one request; {TEXTS_MAX} are allowed.")
        return Embedded(
            model=self._embedder.identity, vectors=self._embedder.embed(list(request.texts), request.mode)
        )

    def reload(self) -> bool:
        return False

    def status(self) -> Status:
        info = {"model": self._embedder.identity, "dimensions": self._embedder.dimensions}
        return self._identity.status(0, info)


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    return serve("embed", EmbedWorker(config), config.runtime_dir, replica=replica, bind=bind)
