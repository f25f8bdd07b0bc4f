"""What differs between the kinds of sets before one runs: whose folder it is, what is checked and
made first, and what its supervisor has to know.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from cortex import __version__
from cortex.generation.contract import chunk_folders, files_in, folder_of
from cortex.generation.current import CURRENT
from cortex.processes.child import SetSpec
from cortex.processes.fork_client import may_fork
from cortex.processes.names import EMBED, HTTP, INDEXER, MEMORY, MILVUS, PROJECT, SESSIONS, Kind
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.settings.home import PROJECT_FOLDER, open_home, open_runtime
from cortex.settings.table import FILE_ENDING, Embedding
from cortex.system import files
from cortex.system.cores import count_cores
from cortex.system.errors import Misconfigured, Unavailable
from ipc.messages import PROTOCOL

#: whose set it is: a project's, or that of the folder of what a person remembers
Owner = Config | DataFolder

#: the size of the vectors in a chunk file's own metadata, which are the first in it
_DIMENSIONS = re.compile(rb'\s*\{\s*"_metadata"\s*:\s*\{[^{}]*"dimensions"\s*:\s*(\d+)')
#: bytes of a chunk file in which `_metadata` is looked for, and files that are looked at
METADATA_BYTES, METADATA_FILES_MAX = 4096, 50


def kind_of(owner: Owner) -> Kind:
    return PROJECT if isinstance(owner, Config) else MEMORY


def open_folders(owner: Owner) -> None:
    """The runtime folder and that of the logs, made and checked.

    Raises Misconfigured and Unavailable.
    """
    open_runtime(owner)
    if isinstance(owner, Config):
        open_home(owner)
    else:
        owner.make()
    if owner.sealing:
        from cortex.sealing.plain_folder import remove_unused_folders

        remove_unused_folders()


def _at_once(owner: Owner) -> int | None:
    """How many processes come up at the same time: where there is an index to answer from, a core
    is left to the front, which is started as well; where there is none, all have to do with making
    it.
    """
    if not isinstance(owner, Config) or not (owner.index_dir / CURRENT).is_file():
        return None
    return max(1, count_cores() - 1)


def unneeded(owner: Owner, *, http: bool = False) -> tuple[str, ...]:
    """The processes that a set of this configuration does without; `http` as in `spec_of`."""
    if isinstance(owner, Config):
        needed = {
            EMBED: not owner.embedding.quick,
            MILVUS: owner.remote and owner.milvus.uri.endswith(FILE_ENDING),
            INDEXER: owner.server.auto_index and not owner.remote,
            HTTP: http,
        }
    else:
        needed = {SESSIONS: owner.settings.sessions != "off"}
    return tuple(name for name, wanted in needed.items() if not wanted)


def _forked(owner: Owner) -> tuple[str, ...]:
    """The processes that a fork server forks: where Milvus keeps the index, they import what runs
    threads.
    """
    if not may_fork() or (isinstance(owner, Config) and owner.remote):
        return ()
    return tuple(process.name for process in kind_of(owner).processes if process.forked)


def spec_of(owner: Owner, *, idle_exit: bool, http: bool = False) -> SetSpec:
    """`http`: with the server of HTTP."""
    idle_exit_s = owner.server.idle_exit_s if isinstance(owner, Config) else owner.idle_exit_s
    return SetSpec(
        kind=kind_of(owner).name,
        root=str(owner.root),
        runtime_dir=str(owner.runtime_dir),
        run_dir=str(owner.run_dir),
        config=owner.hash(),
        protocol=PROTOCOL,
        without=unneeded(owner, http=http),
        idle_exit_s=idle_exit_s if idle_exit else None,
        at_once=_at_once(owner),
        sandbox=owner.sandbox,
        plain=str(owner.sealing.base) if owner.sealing else "",
        forked=_forked(owner),
    )


def expected_hello(owner: Owner) -> dict[str, Any]:
    """What a supervisor has to say of itself to serve fronts of `owner`. Memory is of several
    projects, whose fronts may be of several versions.
    """
    expected: dict[str, Any] = {"protocol": PROTOCOL, "config": owner.hash()}
    if owner.sandbox:  # who has not asked for one is served from inside as well
        expected["sandbox"] = True
    return {"version": __version__} | expected if isinstance(owner, Config) else expected


def check_root(owner: Owner) -> None:
    """Raises Unavailable when the project is not where it was any more. A data folder is made."""
    if isinstance(owner, Config) and not owner.root.is_dir():
        raise Unavailable(
            f"The project {owner.root} was moved or deleted; start Cortex again in the folder where it is now."
        )


def check_start(owner: Owner) -> None:
    """Raise what is better said before anything is started: Misconfigured or Unavailable."""
    if owner.sandbox:
        from cortex.processes import sandbox

        sandbox.check(owner)
    if isinstance(owner, Config):
        check_project(owner)


def check_project(config: Config) -> None:
    """Raises Misconfigured and Unavailable for chunk files or an embedder that cannot be used."""
    ours = config.root / PROJECT_FOLDER / "chunks"  # asked for by name, it is made like any of ours
    if config.explicit_chunks and config.chunks_dir != ours and not config.chunks_dir.is_dir():
        raise Misconfigured(
            f"The chunks folder {config.chunks_dir} does not exist; make it, or correct server.chunks_dir."
        )
    folders = [folder.path for folder in chunk_folders(config)]
    if not config.server.auto_index and not config.remote and not any(path.is_dir() for path in folders):
        raise Misconfigured(
            f"server.auto_index is off and there are no chunk files: make {folders[-1]}, run `cortex index`, or "
            "switch server.auto_index on."
        )
    _check_dimensions(config)
    if config.embedding != Embedding():  # the default cannot fail, and costs an import
        from cortex.embedders import check_embedder

        check_embedder(config)


def _check_dimensions(config: Config) -> None:
    """Chunk files of others are served as they are: their vectors must have the configured size."""
    with contextlib.suppress(OSError):
        folders = chunk_folders(config)
        for name in list(files_in(folders))[:METADATA_FILES_MAX]:
            path = folder_of(folders, name).place(name)
            with files.open_plain(path) as file:
                head = file.read(METADATA_BYTES)
            match = _DIMENSIONS.match(head)
            if match is None or re.search(rb'"generator"\s*:\s*"cortex"', head):
                continue  # our own files are embedded anew by the indexer
            if int(match[1]) != config.embedding.dimensions:
                raise Misconfigured(
                    f"{path} holds vectors of {int(match[1])} dimensions, but embedding.dimensions is "
                    f"{config.embedding.dimensions}; make the two equal, and name their model (CORTEX_EMBEDDING_MODEL)."
                )
