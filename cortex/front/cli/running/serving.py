"""The second half of `cortex index`: waiting until everything indexed is served.

Running workers serve it; where there are none, they are started and stopped again.
"""

import asyncio
import functools
import hashlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from cortex.ask.freshness import Freshness
from cortex.generation.contract import Folder, chunk_folders, folder_of, graph_folders
from cortex.generation.current import FileRef, Generation
from cortex.generation.damage import read_seals
from cortex.generation.manifest import Manifest
from cortex.processes import attach
from cortex.settings.config import Config
from cortex.system import files, hosts
from cortex.system.errors import CortexError, Unavailable
from ipc.client import Client
from ipc.messages import GetStatus, Status


class Tell(Protocol):
    """Gets the number of served files. `waits`: more is to come; after all files, the graph."""

    def __call__(self, done: int, total: int, *, waits: bool) -> None: ...


#: reads the manifest at a path
Load = Callable[[Path], Manifest]

#: seconds without progress after which the wait fails; building a large generation in one step, or
#: merging, takes most of it
STALL_S = 90.0
#: seconds in which workers notice that this front has left
LEAVE_S = 1.0
#: seconds between two checks of the served generation
LOOK_S = 0.1
#: graph files with a remembered digest between two checks
DIGESTS_KEPT = 4096
#: seconds that the watcher has to report; maximum of names in an error
REPORT_S, NAMES_MAX = 2.0, 5

#: (size, time of the last change in nanoseconds) of a file
State = tuple[int, int]


def wait_served(config: Config, load: Load, tell: Tell) -> Generation:
    """Return the generation that holds all files of the manifest, and all chunk and graph files of
    other programs that can be read; the present one when there are none. The manifest is read
    again and again: a file saved meanwhile replaces chunk files that will never be served.

    Raises Misconfigured and Unavailable: no workers can be started or used, or they make no
    progress.
    """
    freshness = Freshness(config)
    generation = freshness.current()
    manifest = load(config.manifest)
    if not _unserved(config, manifest, generation):
        return generation
    return hosts.run(_wait(config, load, freshness, tell))


async def _wait(config: Config, load: Load, freshness: Freshness, tell: Tell) -> Generation:
    ours = not (await asyncio.to_thread(attach.set_status, config))["running"]
    attachment = await attach.attach(config)
    client = Client(config.runtime_dir)
    try:
        return await _follow(config, load, freshness, (attachment, tell, client))
    finally:
        await client.close()
        await attachment.close()
        if ours:
            await asyncio.to_thread(_stop_own_set, config)


async def _follow(
    config: Config, load: Load, freshness: Freshness, how: tuple[attach.Attachment, Tell, Client]
) -> Generation:
    attachment, tell, client = how
    written: object = None
    manifest = Manifest()
    before: object = None
    stalled_at = 0.0
    while True:
        generation = freshness.current()
        if written != (written := read_seals([config.manifest])):
            manifest = load(config.manifest)
        waiting = _unserved(config, manifest, generation)
        unserved = len(waiting)
        if waiting and (generation.number, unserved) == before:
            set_aside = await _set_aside(client)
            waiting = {name: state for name, state in waiting.items() if set_aside.get(name) != state}
        share = freshness.share(generation)
        tell(share.done if waiting else share.total, share.total, waits=bool(waiting))
        if generation.number and not waiting:
            return generation
        now = time.monotonic()
        if (state := (generation.number, unserved)) != before:
            before, stalled_at = state, now + STALL_S
        if attachment.problem or now >= stalled_at:
            why = attachment.problem or (
                f"Nothing more was served for {STALL_S:g} s; {' '.join(generation.warnings)}".rstrip("; ")
                + "; see `cortex status`."
            )
            raise Unavailable(f"Everything is indexed, but {_say_files(waiting)} not served: {why}")
        await asyncio.sleep(LOOK_S)


def _say_files(waiting: Mapping[str, State | None]) -> str:
    names = ", ".join(sorted(waiting)[:NAMES_MAX]) + (", …" if len(waiting) > NAMES_MAX else "")
    return f"{names} is" if len(waiting) == 1 else f"{len(waiting)} files ({names}) are"


async def _set_aside(client: Client) -> dict[str, State]:
    """Return the files that the watcher has read and does not serve, each with its state then:
    their content is not usable, or newer chunks of another file have the same ids.
    """
    try:
        reply = await client.ask("watcher", GetStatus(), REPORT_S)
    except CortexError:
        return {}
    if not isinstance(reply, Status):
        return {}
    return {name: (size, mtime_ns) for name, (size, mtime_ns) in reply.info.get("set_aside", {}).items()}


def _unserved(config: Config, manifest: Manifest, generation: Generation) -> dict[str, State | None]:
    """Return the chunk files and graph files that `generation` lacks or holds in another state,
    each with its state; None for one that it holds though it is gone.
    """
    ours, *others = chunk_folders(config)
    present: dict[str, State] = dict(manifest.chunk_files)
    for folder in others:
        present |= _states(folder)
    if not (present or generation.number):
        return {}  # no file has text: nothing will be served, the graph neither
    graph: dict[str, State] = {}
    for folder in graph_folders(config):
        graph |= _states(folder)
    waiting: dict[str, State | None] = {
        name: state for name, state in present.items() if _stat(generation.files.get(name)) != state
    }
    waiting |= {
        name: None
        for name in generation.files.keys() - present.keys()
        if not folder_of((ours, *others), name).place(name).exists()
    }
    return waiting | {
        name: state
        for name, state in graph.items()
        if not _is_served(
            folder_of(graph_folders(config), name).place(name), state, generation.graph_files.get(name)
        )
    }


def _states(folder: Folder) -> dict[str, State]:
    """Return the state of each file of a folder; none if it cannot be listed."""
    try:
        return {name: (info.st_size, info.st_mtime_ns) for name, info in folder.files().items()}
    except OSError:
        return {}


def _is_served(path: Path, state: State, ref: FileRef | None) -> bool:
    """Whether a graph file is served in its present state. A file that was only touched is: the
    watcher compares contents, too.
    """
    if ref is None or ref.size != state[0]:
        return False
    return ref.mtime_ns == state[1] or ref.sha256 == _digest(path, state[1])


@functools.lru_cache(maxsize=DIGESTS_KEPT)
def _digest(path: Path, written_ns: int) -> str:  # noqa: ARG001 - part of the cache key: a rewritten file is read again
    """Return the digest of a graph file; "" for a missing one."""
    try:
        with files.open_ours(path) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def _stat(ref: FileRef | None) -> State | None:
    return None if ref is None else (ref.size, ref.mtime_ns)


def _stop_own_set(config: Config) -> None:
    """Stop the workers that this command started, unless another front uses them by now."""
    until = time.monotonic() + LEAVE_S
    while (status := attach.set_status(config))["running"]:
        if not status.get("fronts"):
            attach.stop(config)
            return
        if time.monotonic() >= until:
            return
        time.sleep(LOOK_S)  # fronts leave by themselves; the status shows it
