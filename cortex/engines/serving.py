"""An engine as a worker: what it answers over the snapshots of the newest generations,
and how it is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex import __version__
from cortex.engines import ENGINES, open_engine
from cortex.engines.protocol import Engine, Handlers
from cortex.generation.damage import Seal, look, mark
from cortex.generation.read import Published
from cortex.generation.snapshots import Snapshots
from cortex.settings.config import Config
from ipc.errors import NotReady
from ipc.messages import Message, Status
from ipc.service import Identity


class EngineWorker:
    """See `ipc.service.Worker`. Each request names its generation; 0 is the newest."""

    def __init__(self, name: str, config: Config, engine: Engine | None = None) -> None:
        """`engine`: another than the one of that name in ENGINES."""
        self._name = name
        self._engine = engine or open_engine(ENGINES[name], config)
        self._identity = Identity(name, __version__, config.hash())
        self._run_dir = config.run_dir
        #: generation → its files as they were when it was opened
        self._files: dict[int, dict[Path, Seal | None]] = {}
        self._snapshots: Snapshots[Handlers] = Snapshots(config.index_dir, self._open, self._mark)
        self.handlers: dict[type, Callable[[Any], Message]] = dict.fromkeys(
            self._engine.answers, self._answer
        )

    def _open(self, published: Published) -> Handlers:
        tokens = published.generation.tokens
        if published.generation.number and self._name not in tokens:
            raise NotReady(f"The index has nothing of the engine {self._name}; it is about to be built anew.")
        token = tokens.get(self._name, "")
        files = look((*published.files(), *self._engine.files(token)))
        handlers = self._engine.open(token, published)
        self._files = {number: seen for number, seen in self._files.items() if self._snapshots.has(number)}
        self._files[published.generation.number] = files
        return handlers

    def _answer(self, request: Any) -> Message:
        handle = self._snapshots.get(request.generation)[type(request)]
        try:
            return handle(request)
        except Exception:
            # Whatever went wrong is no fault of the question when the files are others than those
            # that were opened.
            number = self._snapshots.number_of(request.generation)
            files = self._files.get(number, {})
            if look(files) != files:
                self._mark(number, "files were changed under a reader")
                raise NotReady("The index was damaged and is being made again; ask again.") from None
            raise

    def _mark(self, generation: int, why: str) -> None:
        mark(self._run_dir, self._name, generation, why)

    def reload(self) -> bool:
        return self._snapshots.reload()

    def status(self) -> Status:
        generation = self._snapshots.generation
        info = self._engine.status(generation.tokens.get(self._name, ""), generation)
        info |= {"fault": self._snapshots.fault}
        if self._engine.lacks:
            info["lacks"] = sorted(self._engine.lacks)
        return self._identity.status(generation.number, info)
