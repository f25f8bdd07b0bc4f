"""The data of `cortex status`: processes, workers and index. Starts nothing."""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from cortex import __version__
from cortex.ask.freshness import Freshness
from cortex.ask.lines.saved_files import MANIFEST_BYTES_MAX
from cortex.front.http.server_records import served_at
from cortex.generation.contract import chunk_folders, graph_folders
from cortex.generation.current import Generation
from cortex.generation.damage import UNREADABLE
from cortex.generation.manifest import FileRemarks, Listing
from cortex.processes import attach, starting
from cortex.processes.names import MEMORY
from cortex.settings.config import Config
from cortex.settings.data import DataFolder, say_other_store
from cortex.settings.unused import say_unused
from cortex.system import files
from cortex.system.errors import CortexError
from cortex.system.folders.mounts import FOREIGN, file_system
from ipc.client import Client
from ipc.messages import GetStatus, Status

#: seconds that a worker has to report
ANSWER_S = 2.0
#: warning about vectors of another size in a chunk file: its name, and the fault
_SIZE_FAULT = re.compile(
    r"(.+?): (?:chunk .*: )?(its (?:vectors have|embedding has) .* dimensions.*)", re.DOTALL
)


async def collect(config: Config) -> dict[str, Any]:
    """Return the status as a JSON-able dict: "set", "workers", "index", "warnings", and more."""
    set_status = await asyncio.to_thread(attach.set_status, config)
    workers = await _workers_of(config) if set_status["running"] else await _alone(config, set_status)
    freshness = Freshness(config)
    generation = freshness.current()
    watcher = workers.get("watcher", {}).get("info", {})
    vectors = sum(segment.vectors for segment in generation.segments)
    return {
        "project": str(config.root),
        "part": config.subfolder,
        "cache": str(config.home),
        "version": __version__,
        "config": config.hash(),
        "set": set_status,
        "workers": workers,
        "index": freshness.block(generation, [name for name, worker in workers.items() if "error" in worker])
        | {
            "chunks": generation.rows,
            "files": generation.sources,
            "without_vector": max(0, sum(s.rows for s in generation.segments) - vectors),
            "chunk_files": len(generation.files),
            "segments": len(generation.segments),
            "sequence": generation.sequence,
            "model": generation.model,
            "published_at": generation.published_at,
            "indexer": freshness.progress().state,
            "watching": watcher.get("watching", ""),
            **await asyncio.to_thread(skip_and_remark_counts, config.manifest),
            "foreign_files": _foreign_files(config, watcher, generation),
        },
        "http": served_at(config),
        "memory": await _memory_of(config),
        "ignored": list(config.ignored),
        "warnings": _warnings(config, generation, workers),
    }


async def _workers_of(config: Config) -> dict[str, dict[str, Any]]:
    unneeded = starting.unneeded(config)
    workers = starting.kind_of(config).workers
    return await _ask_all(config.runtime_dir, [name for name in workers if name not in unneeded])


async def _alone(config: Config, set_status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the status of the workers that run without a supervisor."""
    names = {process["name"] for process in set_status["processes"]}
    workers = starting.kind_of(config).workers
    return await _ask_all(config.runtime_dir, [name for name in workers if name in names])


async def faults(config: Config) -> list[str]:
    """Return the faults that running workers report."""
    return _faults(await _workers_of(config))


async def _memory_of(config: Config) -> dict[str, Any]:
    """Return the state of the user's memory; a warning where its folder cannot be used."""
    try:
        return await memory_state(config.data)
    except CortexError as error:
        return {"folder": config.memory.data_dir, "set": {"running": False}, "warnings": [str(error)]}


async def memory_state(data: DataFolder) -> dict[str, Any]:
    """Return {"folder", "set", "warnings"} and more of memory; "remark": where the store is that
    CORTEX_HOME left behind. Starts nothing.
    """
    set_status = await asyncio.to_thread(attach.set_status, data)
    worker = (await _ask_all(data.runtime_dir, MEMORY.workers))["memory"] if set_status["processes"] else {}
    info = worker.get("info", {})
    kind = file_system(data.root)
    foreign = f"{data.root} is on a network file system ({kind}), where locks cannot be relied on."
    sentences = (
        set_status["problem"],
        info.get("fault"),
        info.get("embedder", {}).get("fault"),
        worker.get("error"),
        foreign if kind in FOREIGN else "",
    )
    return {
        "folder": str(data.root),
        "remark": "" if data.settings.database else say_other_store(data.root),
        "database": info.get("database", ""),
        "sessions": data.settings.sessions,
        "embedder": info.get("embedder", {}),
        "set": set_status,
        "warnings": [sentence for sentence in sentences if sentence],
    }


def _warnings(config: Config, generation: Generation, workers: dict[str, dict[str, Any]]) -> list[str]:
    """Return each warning once: on settings, agents, the published index and unreadable files."""
    unread = workers.get("watcher", {}).get("info", {}).get("warnings", ())
    return join_size_faults(
        (
            *filter(None, [say_unused(config)]),
            *_sealed(config),
            *_outdated_agents(config),
            *generation.warnings,
            *unread,
            *_faults(workers),
        )
    )


def join_size_faults(warnings: Iterable[str]) -> list[str]:
    """Return warnings once; for vectors of one wrong size the first file and the others' number."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for warning in dict.fromkeys(warnings):
        match = _SIZE_FAULT.fullmatch(warning)
        name, fault = match.groups() if match else ("", warning)
        groups.setdefault(fault, []).append((name, warning))
    return [
        some[0][1] if len(some) == 1 else f"{some[0][0]} and {len(some) - 1} more: {fault}"
        for fault, some in groups.items()
    ]


def _foreign_files(config: Config, watcher: dict[str, Any], generation: Generation) -> list[str]:
    """Return chunk files that the watcher reports, and others' files served in the project."""
    folders = (*chunk_folders(config), *graph_folders(config))
    prefixes = tuple(folder.prefix for folder in folders if folder.others)
    served = (name for name in (*generation.files, *generation.graph_files) if name.startswith(prefixes))
    return sorted({*watcher.get("foreign_files", []), *served})


def skip_and_remark_counts(path: Path) -> dict[str, dict[str, int]]:
    """Return the numbers of left-out files, and of indexed files with a remark, by reason."""
    left_out: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    with contextlib.suppress(OSError, *UNREADABLE):
        manifest = msgspec.json.decode(files.read_ours(path, MANIFEST_BYTES_MAX), type=Listing[FileRemarks])
        left_out.update(manifest.left_out)
        for entry in manifest.files.values():
            if not entry.chunks:
                left_out.update([entry.skipped.partition(":")[0] or "without text"])
            remarks.update(remark.partition(":")[0] for remark in entry.remarks)
    return {"left_out": dict(left_out.most_common()), "remarks": dict(remarks.most_common())}


async def _ask_all(runtime_dir: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return worker → its own status."""
    client = Client(runtime_dir)

    async def ask(worker: str) -> dict[str, Any]:
        try:
            reply = await client.ask(worker, GetStatus(), ANSWER_S)
        except CortexError as error:
            return {"error": str(error)}
        return msgspec.structs.asdict(reply) if isinstance(reply, Status) else {"error": repr(reply)}

    try:
        return dict(zip(names, await asyncio.gather(*map(ask, names)), strict=True))
    finally:
        await client.close()


def _sealed(config: Config) -> list[str]:
    """Return a warning that a sealed index exists while no plain copy is open."""
    if config.sealing is None or config.home.is_dir():
        return []
    return [f"The index of the project is sealed in {config.sealing.store}; the first question opens it."]


def _outdated_agents(config: Config) -> list[str]:
    from cortex.front.agents import connections

    sentence = connections.outdated(config.root)
    return [sentence] if sentence else []


def _faults(workers: dict[str, dict[str, Any]]) -> list[str]:
    faults = [
        str(worker.get("info", {}).get("fault") or worker.get("error") or "") for worker in workers.values()
    ]
    return [fault for fault in dict.fromkeys(faults) if fault]
