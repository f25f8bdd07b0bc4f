"""The preparation of a set, for each kind of owner: its checks, its folders and the description for
its supervisor.
"""

import contextlib
import re
from typing import Any

from cortex import __version__
from cortex.generation.contract import chunk_folders, files_in, folder_of
from cortex.generation.current import CURRENT
from cortex.processes.child import SetSpec
from cortex.processes.fork_client import may_fork
from cortex.processes.names import EMBED, HTTP, INDEXER, MEMORY, PROJECT, SESSIONS, WATCHER, Kind
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import PROJECT_FOLDER, open_home, open_runtime
from cortex.settings.table import Embedding
from cortex.system import files
from cortex.system.errors import Misconfigured, Unavailable
from cortex.system.process.cores import count_cores
from ipc.messages import PROTOCOL

#: the owner of a set: a project, or the data folder of a person's memory
Owner = Config | DataFolder

#: the size of the vectors in a chunk file's metadata, which is the first entry of the file
_DIMENSIONS = re.compile(rb'\s*\{\s*"_metadata"\s*:\s*\{[^{}]*"dimensions"\s*:\s*(\d+)')
#: bytes of a chunk file that are searched for `_metadata`, and the number of such files
METADATA_BYTES, METADATA_FILES_MAX = 4096, 50


def kind_of(owner: Owner) -> Kind:
    """Return the owner's kind of set, with the process that its store needs."""
    if not isinstance(owner, Config):
        return MEMORY
    name, _ = owner.store_worker
    return PROJECT.with_worker(name) if name else PROJECT


def open_folders(owner: Owner) -> None:
    """Make and check the runtime and the log folder. Raises Misconfigured and Unavailable."""
    open_runtime(owner)
    if isinstance(owner, Config):
        open_home(owner)
    else:
        owner.make()
    if owner.sealing:
        from cortex.sealing.plain_folder import remove_unused_folders

        remove_unused_folders()


def _at_once(owner: Owner) -> int | None:
    """Return the number of processes that come up at the same time; None for all.

    With an index, a core stays free for the front, which starts as well. Without one, all
    processes are needed to build it.
    """
    if not isinstance(owner, Config) or not (owner.index_dir / CURRENT).is_file():
        return None
    return max(1, count_cores() - 1)


def unneeded(owner: Owner, *, http: bool = False) -> tuple[str, ...]:
    """Return the processes that the configuration does not need; `http` as in `spec_of`."""
    if isinstance(owner, Config):
        needed = {
            EMBED: not owner.embedding.quick,
            WATCHER: not owner.read_only,
            INDEXER: owner.server.auto_index and not owner.store and not owner.read_only,
            HTTP: http,
        }
    else:
        needed = {SESSIONS: owner.settings.sessions != "off"}
    return tuple(name for name, wanted in needed.items() if not wanted)


def _forked(owner: Owner) -> tuple[str, ...]:
    """Return the processes to fork: none for an index in a store, whose client has threads."""
    if not may_fork() or (isinstance(owner, Config) and owner.store):
        return ()
    return tuple(process.name for process in kind_of(owner).processes if process.forked)


def spec_of(owner: Owner, *, idle_exit: bool, http: bool = False) -> SetSpec:
    """Return the description of the owner's set. `http`: with the HTTP server."""
    idle_exit_s = owner.server.idle_exit_s if isinstance(owner, Config) else owner.idle_exit_s
    return SetSpec(
        kind=kind_of(owner).name,
        root=str(owner.root),
        runtime_dir=str(owner.runtime_dir),
        run_dir=str(owner.log_dir),
        config=owner.hash(),
        protocol=PROTOCOL,
        without=unneeded(owner, http=http),
        idle_exit_s=idle_exit_s if idle_exit else None,
        at_once=_at_once(owner),
        sandbox=owner.sandbox,
        plain=str(owner.sealing.base) if owner.sealing else "",
        forked=_forked(owner),
        settings=owner.relied_settings(),
        store_worker=owner.store_worker[0] if isinstance(owner, Config) else "",
    )


def expected_hello(owner: Owner) -> dict[str, Any]:
    """Return the fields of a greeting from a supervisor that may serve fronts of `owner`.

    Memory's greeting may have any version: its fronts belong to several projects and may differ in
    version.
    """
    expected: dict[str, Any] = {"protocol": PROTOCOL, "config": owner.hash()}
    if owner.sandbox:  # a front that needs no sandbox may use a set in one as well
        expected["sandbox"] = True
    return {"version": __version__} | expected if isinstance(owner, Config) else expected


def check_root(owner: Owner) -> None:
    """Raise Unavailable if the project's folder is gone. A data folder would be created."""
    if isinstance(owner, Config) and not owner.root.is_dir():
        raise Unavailable(
            f"The project {owner.root} was moved or deleted; start Cortex again in the folder where it is now."
        )


def check_start(owner: Owner) -> None:
    """Check the owner's configuration before any start. Raises Misconfigured or Unavailable."""
    if owner.sandbox:
        from cortex.processes import sandbox

        sandbox.check(owner)
    if isinstance(owner, Config):
        check_project(owner)


def check_project(config: Config) -> None:
    """Raise Misconfigured or Unavailable if the chunk files or the embedder cannot be used."""
    ours = config.root / PROJECT_FOLDER / "chunks"  # Cortex creates this folder even if it is configured
    if config.explicit_chunks and config.chunks_dir != ours and not config.chunks_dir.is_dir():
        raise Misconfigured(
            f"The chunks folder {config.chunks_dir} does not exist; make it, or correct server.chunks_dir."
        )
    folders = [folder.path for folder in chunk_folders(config)]
    if not config.server.auto_index and not config.store and not any(path.is_dir() for path in folders):
        raise Misconfigured(
            f"server.auto_index is off and there are no chunk files: make {folders[-1]}, run `cortex index`, or "
            "switch server.auto_index on."
        )
    _check_dimensions(config)
    if config.embedding != Embedding():  # the default cannot fail, and costs an import
        from cortex.embedders import check_embedder

        check_embedder(config)


def _check_dimensions(config: Config) -> None:
    """Raise Misconfigured if others' chunk files have vectors of another size than configured."""
    with contextlib.suppress(OSError):
        folders = chunk_folders(config)
        for name in list(files_in(folders))[:METADATA_FILES_MAX]:
            path = folder_of(folders, name).place(name)
            with files.open_plain(path) as file:
                head = file.read(METADATA_BYTES)
            match = _DIMENSIONS.match(head)
            if match is None or re.search(rb'"generator"\s*:\s*"cortex"', head):
                continue  # the indexer embeds Cortex's own files again
            if int(match[1]) != config.embedding.dimensions:
                raise Misconfigured(
                    f"{path} holds vectors of {int(match[1])} dimensions, but embedding.dimensions is "
                    f"{config.embedding.dimensions}; make the two equal, and name their model (CORTEX_EMBEDDING_MODEL)."
                )
