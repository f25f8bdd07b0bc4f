"""A worker around an engine: its answers over the snapshots of the newest generations, and its
status.
"""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cortex import __version__
from cortex.engines import engine_of, makers, open_engine
from cortex.engines.protocol import Engine, Handlers
from cortex.generation.damage import Seal, is_panic, read_seals, write_mark
from cortex.generation.read import Published
from cortex.generation.snapshots import Snapshots
from cortex.settings.config import Config
from cortex.system.errors import NotReady
from cortex.system.process import allocator
from ipc.messages import Message, Status
from ipc.service import CHECK_S, Identity

#: seconds without a request after which caches for repeated requests are dropped
FORGET_S = 60.0
#: least seconds between two checks of the files behind the answers: 60 files take 0.1 ms
CHECKED_S = 0.1


class EngineWorker:
    """See `ipc.service.Worker`. Each request names its generation; 0 is the newest."""

    def __init__(
        self, name: str, config: Config, engine: Engine | None = None, mapped: Sequence[Path] = ()
    ) -> None:
        """`engine` replaces the engine of `config` for `name`. `mapped`: folders outside of
        the index with files that answers map.
        """
        self._name = name
        #: name of the engine in published generations
        self._token_name = name if engine else engine_of(name, config)
        self._engine = engine or open_engine(makers(config)[self._token_name], config)
        self._identity = Identity(name, __version__, config.hash())
        self._run_dir, self._mapped = config.run_dir, (config.index_dir, *mapped)
        #: generation → its files, as they were when it was opened
        self._files: dict[int, dict[Path, Seal | None]] = {}
        #: generations with files that changed since
        self._damaged: set[int] = set()
        self._looked_at = 0.0
        #: a request or a new generation came since the last idle check; memory is in use that an
        #: idle check has to give back
        self._was_asked = self._used = False
        #: time of the last request, to the accuracy of idle checks (monotonic); 0 once caches are
        #: dropped
        self._asked_at = 0.0
        self._snapshots: Snapshots[Handlers] = Snapshots(config.index_dir, self._open, self._mark)
        self.handlers: dict[type, Callable[[Any], Message]] = dict.fromkeys(
            self._engine.answers, self._answer
        )

    def add_handlers(self, handlers: Mapping[type, Callable[[Any], Message]]) -> None:
        """Answer these messages, too; their memory is given back when idle as well."""
        self.handlers |= {
            kind: functools.partial(self._forward, handler) for kind, handler in handlers.items()
        }

    def _forward(self, handle: Callable[[Any], Message], request: Any) -> Message:
        self._was_asked = True
        return handle(request)

    def _open(self, published: Published) -> Handlers:
        tokens = published.generation.tokens
        if published.generation.number and self._token_name not in tokens:
            raise NotReady(
                f"The published index lacks the engine {self._token_name}; it will be rebuilt soon."
            )
        self._was_asked = True
        token = tokens.get(self._token_name, "")
        files = read_seals((*published.files(), *self._engine.files(token)))
        handlers = self._engine.open(token, published)
        self._files = {number: seals for number, seals in self._files.items() if self._snapshots.has(number)}
        self._files[published.generation.number] = files
        self._damaged.discard(published.generation.number)
        return handlers

    def _answer(self, request: Any) -> Message:
        self._was_asked = True
        number, handlers = self._snapshots.get(request.generation)
        try:
            reply = handlers[type(request)](request)
        except BaseException as error:  # tantivy panics over files that were overwritten
            self._check(number, within_s=0.0)
            if is_panic(error):
                raise RuntimeError(f"the engine {self._name} panicked: {error}") from error
            raise
        self._check(number, within_s=CHECKED_S)
        return reply

    def _check(self, number: int, within_s: float) -> None:
        """Raise NotReady when files of a generation changed after it was opened: no answer and no
        error from them can be trusted. Files are checked when the last check is older than
        `within_s` seconds.
        """
        now = time.monotonic()
        if number not in self._damaged and now - self._looked_at >= within_s:
            self._looked_at = now
            files = self._files.get(number, {})
            if read_seals(files) != files:
                self._damaged.add(number)
                self._mark(number, "files were changed under a reader")
        if number in self._damaged:
            raise NotReady("The index was damaged and is being rebuilt; ask again in a second.")

    def _mark(self, generation: int, why: str) -> None:
        write_mark(self._run_dir, self._name, generation, why)

    def reload(self) -> bool:
        self._release_idle()
        return self._snapshots.reload()

    def _release_idle(self) -> None:
        """Give mapped memory back when no request came between two checks; drop caches for repeated
        requests after FORGET_S.
        """
        now = time.monotonic()
        if self._was_asked:
            self._was_asked, self._used, self._asked_at = False, True, now
        elif self._used:
            self._used = False
            for folder in self._mapped:
                allocator.release_mapped_files(folder)
            allocator.trim()
        elif self._asked_at and now - self._asked_at >= FORGET_S:
            self._asked_at = 0.0
            allocator.forget()

    def patience(self) -> float:
        return min(CHECK_S, self._snapshots.patience)

    def status(self) -> Status:
        self.reload()
        generation = self._snapshots.generation
        info = self._engine.status(generation.tokens.get(self._token_name, ""), generation)
        info |= {"fault": self._snapshots.fault}
        if self._engine.lacks:
            info["lacks"] = sorted(self._engine.lacks)
        return self._identity.status(generation.number, info)
