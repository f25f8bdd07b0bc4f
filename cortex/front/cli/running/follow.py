"""`cortex memory follow`: the process that reads agents' sessions, one for each data folder."""

import asyncio
import logging
import os
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex.ask.memory import Caller, MemoryContext
from cortex.front.feeds.transcript_reader import Follower, follow, session_folders
from cortex.memory.store.sealed_events import event_opener
from cortex.memory.transcripts.formats import spool
from cortex.settings import config as configuration
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import open_runtime, user_home
from cortex.system import hosts
from cortex.system.errors import EXIT_OK, Occupied
from cortex.system.terminal import log_to_stderr
from ipc.client import Client
from ipc.lifeline import watch_life_line
from ipc.locks import hold

log = logging.getLogger(__name__)

#: the name of the process and its lock
NAME = "sessions"
#: seconds that the memory worker has for one batch
ANSWER_S = 60.0
#: its lower priority: no caller waits for it
NICE = 5


def run(options: Namespace) -> int:
    """Run until a stop signal; if nothing may be read, end at once unless `--stay`. Raises Occupied
    while another process reads the same sessions.
    """
    log_to_stderr(f"%(asctime)s {NAME} %(levelname)s %(message)s", logging.INFO)
    data = configuration.load_data({"memory": {"data_dir": options.data_dir}} if options.data_dir else None)
    folders = session_folders(os.environ, Path(user_home()))
    waiting = data.root / spool.FOLDER
    off = data.settings.sessions == "off"
    if off and not data.settings.git:
        log.info("nothing is read: memory.sessions is %s", data.settings.sessions)
        if options.stay:
            hosts.wait_for_stop()
        return EXIT_OK
    open_runtime(data)
    lock = hold(
        data.runtime_dir / f"{NAME}.0.lock",
        lambda holder: Occupied(f"Process {holder} reads the sessions for {data.root} already."),
    )
    hosts.give_way(NICE)
    try:
        return hosts.run(_follow(data, {} if off else folders, None if off else waiting))
    finally:
        lock.release()


async def _follow(data: DataFolder, folders: Mapping[str, Path], spooled: Path | None) -> int:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    hosts.on_stop(loop, lambda _number: stop.set())

    def end() -> None:
        loop.call_soon_threadsafe(stop.set)

    watch_life_line(end)
    client = Client(data.runtime_dir)

    async def reach(_until: float) -> Client:
        return client

    async def call(
        operation: str, arguments: Mapping[str, Any], writes: bool, project: str, number: str
    ) -> dict[str, Any]:
        context = MemoryContext(reach, time.monotonic() + ANSWER_S, lambda: Caller(project, channel=NAME))
        return await context.call(operation, arguments, operation_id=number, writes=writes)

    try:
        follower = Follower(
            call, data.settings, folders, spooled, event_opener(data), memory_folder=data.root
        )
        await follow(follower, stop)
    finally:
        await client.close()
    return EXIT_OK
