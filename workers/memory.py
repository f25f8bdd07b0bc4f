"""The memory worker: the one process that opens the store of a data folder."""

import contextlib
import logging

from cortex.memory.doctor import warn_of_network_folder
from cortex.memory.serving import MemoryWorker
from cortex.settings.data import DataFolder
from cortex.system.errors import CortexError

log = logging.getLogger(__name__)


def make(data: DataFolder) -> MemoryWorker:
    data.make()
    if warning := warn_of_network_folder(data.root):
        log.warning("%s", warning)
    worker = MemoryWorker(data)
    with contextlib.suppress(CortexError):  # the worker reports it in its replies
        worker.ready()  # before it serves: objects made until then are not scanned again (gc.freeze)
    return worker
