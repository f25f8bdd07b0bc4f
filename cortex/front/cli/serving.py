"""The second half of `cortex index`: waiting until everything indexed is served.

Running workers serve it; where there are none, they are started and stopped again.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from cortex.ask.freshness import Freshness
from cortex.generation.contract import PACKED, PLAIN
from cortex.generation.current import FileRef, Generation
from cortex.generation.damage import read_seals
from cortex.generation.manifest import Manifest
from cortex.processes import attach
from cortex.settings.config import Config
from cortex.system import files, hosts
from cortex.system.errors import Unavailable


class Tell(Protocol):
    """Receives the number of served files. `waits`: more is to come; once all files are served, the
    graph.
    """

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


def wait_served(config: Config, load: Load, tell: Tell) -> Generation:
    """Return the generation that holds all files of the manifest and the graph folder; the present
    one when there are none. The manifest is read again and again: a file saved meanwhile replaces
    chunk files that will never be served.

    Raises Misconfigured and Unavailable: no workers can be started or used, or they make no
    progress.
    """
    freshness = Freshness(config)
    generation = freshness.current()
    manifest = load(config.manifest)
    if not (_unserved(config, manifest, generation) if generation.number else manifest.chunk_files):
        return generation
    return hosts.run(_wait(config, load, freshness, tell))


async def _wait(config: Config, load: Load, freshness: Freshness, tell: Tell) -> Generation:
    ours = not (await asyncio.to_thread(attach.set_status, config))["running"]
    attachment = await attach.attach(config)
    try:
        return await _follow(config, load, freshness, (attachment, tell))
    finally:
        await attachment.close()
        if ours:
            await asyncio.to_thread(_stop_own_set, config)


async def _follow(
    config: Config, load: Load, freshness: Freshness, how: tuple[attach.Attachment, Tell]
) -> Generation:
    attachment, tell = how
    written: object = None
    manifest = Manifest()
    before: object = None
    stalled_at = 0.0
    while True:
        generation = freshness.current()
        if written != (written := read_seals([config.manifest])):
            manifest = load(config.manifest)
        waiting = _unserved(config, manifest, generation)
        share = freshness.share(generation)
        tell(share.done if waiting else share.total, share.total, waits=bool(waiting))
        if generation.number and not waiting:
            return generation
        now = time.monotonic()
        if (state := (generation.number, len(waiting))) != before:
            before, stalled_at = state, now + STALL_S
        if attachment.problem or now >= stalled_at:
            why = attachment.problem or (
                f"Nothing more was served for {STALL_S:g} s; {' '.join(generation.warnings)}".rstrip("; ")
                + "; see `cortex status`."
            )
            raise Unavailable(f"Everything is indexed, but {len(waiting)} files of it are not served: {why}")
        await asyncio.sleep(LOOK_S)


def _unserved(config: Config, manifest: Manifest, generation: Generation) -> list[str]:
    """Return the chunk files and graph files that `generation` lacks or holds in another state."""
    chunks = [
        name for name, stat in manifest.chunk_files.items() if _stat(generation.files.get(name)) != stat
    ]
    left = [
        name
        for name in generation.files
        if name not in manifest.chunk_files and not (config.chunks_dir / name).exists()
    ]
    return [*chunks, *left, *_unserved_graph_files(config.graph_dir, generation.graph_files)]


def _unserved_graph_files(folder: Path, served: Mapping[str, FileRef]) -> list[str]:
    """Return the graph files that are not served in their present state. A file that was only
    touched is served: the watcher compares contents, too.
    """
    try:
        present = {
            name: info
            for name, info in files.entries(folder).items()
            if name.endswith((PLAIN, PACKED)) and not name.startswith(".")
        }
    except OSError:
        present = {}
    return [name for name, info in present.items() if not _is_served(folder / name, info, served.get(name))]


def _is_served(path: Path, info: os.stat_result, ref: FileRef | None) -> bool:
    if ref is None or ref.size != info.st_size:
        return False
    return ref.mtime_ns == info.st_mtime_ns or ref.sha256 == _digest(path, info.st_mtime_ns)


@functools.lru_cache(maxsize=DIGESTS_KEPT)
def _digest(path: Path, written_ns: int) -> str:  # noqa: ARG001 - part of the cache key: a rewritten file is read again
    """Return the digest of a graph file; "" for a missing one."""
    try:
        with files.open_ours(path) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def _stat(ref: FileRef | None) -> tuple[int, int] | None:
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
