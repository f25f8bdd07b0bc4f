"""The memory worker: the one process that opens the store of a data folder."""

from __future__ import annotations

import contextlib
import logging

from cortex.memory.doctor import warn_of_network_folder
from cortex.memory.serving import MemoryWorker
from cortex.settings.data import DataFolder
from cortex.system.errors import CortexError, Misconfigured
from ipc.service import serve

log = logging.getLogger(__name__)


def run(data: DataFolder, *, replica: int = 0, bind: str = "") -> int:
    if replica:
        raise Misconfigured("There is one memory worker only, for there is one owner of the store.")
    data.make()
    if warning := warn_of_network_folder(data.root):
        log.warning("%s", warning)
    worker = MemoryWorker(data)
    with contextlib.suppress(CortexError):  # the worker reports it in its replies
        worker.ready()  # before it serves: objects made until then are not scanned again (gc.freeze)
    try:
        return serve("memory", worker, data.runtime_dir, bind=bind)
    finally:
        worker.close()
