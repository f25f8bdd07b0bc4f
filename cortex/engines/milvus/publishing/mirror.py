"""The watcher's process for an index in Milvus: it polls the current generation there, downloads
its small files, and announces it. Builds nothing.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

import zmq

from cortex import __version__
from cortex.engines.milvus.publishing.publisher import Mirror
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home
from cortex.system.errors import CortexError
from ipc.events import Announcer
from ipc.messages import Message, Reload, Status
from ipc.service import Identity

log = logging.getLogger(__name__)

#: seconds between two reads of the document, one row by its key; and while there is none yet, or
#: Milvus is unreachable
LOOK_S, AGAIN_S = 2.0, 1.0


class MirrorWorker:
    """Downloads in a thread of its own; the serving thread answers GetStatus meanwhile."""

    def __init__(self, config: Config) -> None:
        open_home(config)
        self._config = config
        self._identity = Identity("watcher", __version__, config.hash())
        self._mirror = Mirror(config)
        self._stop = threading.Event()
        self._fault = ""
        self._thread = threading.Thread(target=self._work, name="mirror")
        self.handlers: dict[type, Callable[[Any], Message]] = {}

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._mirror.close()

    def reload(self) -> bool:
        return False

    def status(self) -> Status:
        generation = self._mirror.current
        info = generation.status() | {
            "watching": "milvus",
            "warnings": list(generation.warnings),
            "foreign_files": [],
            "fault": self._fault,
        }
        return self._identity.status(generation.number, info)

    def _work(self) -> None:
        context: zmq.Context[Any] = zmq.Context()
        announcer = Announcer(context, self._config.runtime_dir)
        try:
            while not self._stop.is_set():
                try:
                    if self._mirror.refresh():
                        announcer.announce(Reload(self._mirror.current.number))
                        log.info("generation %d is here", self._mirror.current.number)
                    self._fault = self._mirror.fault
                    self._stop.wait(LOOK_S if self._mirror.current.number else AGAIN_S)
                except (OSError, ValueError, CortexError) as error:
                    if str(error) != self._fault:
                        log.warning("%s", error)
                    self._fault = str(error)
                    self._stop.wait(AGAIN_S)
                except Exception as error:  # else the thread would end, and downloads stop without a report
                    if str(error) != self._fault:
                        log.exception("cannot download the current generation from Milvus")
                    self._fault = str(error) or type(error).__name__
                    self._stop.wait(AGAIN_S)
        finally:
            announcer.close()
            context.term()
