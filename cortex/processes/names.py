"""The one list of processes, by the sets that they are in: what each is called, how it is started,
when it is stopped.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

#: a program's module: started with `python -P -m`, because a script's folder or the user's must not
#: be importable
MODULES = {"cortex-worker": "workers", "cortex": "cortex"}


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a set.

    `program` and `arguments` are its line of the Procfile (a test compares the two).
    """

    name: str
    program: str
    arguments: tuple[str, ...]
    #: stages end one after the other: first who writes (0), then who announces (1), then who
    #: answers (2)
    stage: int
    #: whether it may end because nothing is left to do
    finishes: bool = False
    #: whether what it imports is mostly what the others of its set import: then one process imports
    #: it for all of them (`forking`)
    forked: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of set. `option` names the folder that it belongs to, `folder` is its noun, and
    `command` the one in front of `up`, `down` and `status`.
    """

    name: str
    option: str
    folder: str
    command: str
    #: every process, in the order in which they are started: who is asked most first
    processes: tuple[Process, ...]

    def command_line(self, process: Process, root: str) -> list[str]:
        """The argument list that starts `process` for the folder `root`."""
        module = MODULES[process.program]
        return [sys.executable, "-P", "-m", module, *process.arguments, self.option, root]

    @property
    def workers(self) -> tuple[str, ...]:
        """Those that have a socket and answer messages: modules of the package `workers`."""
        return tuple(process.name for process in self.processes if process.program == "cortex-worker")

    @property
    def stop_order(self) -> tuple[tuple[str, ...], ...]:
        """The names of each stage, in the order in which stages are stopped."""
        return tuple(
            tuple(process.name for process in self.processes if process.stage == stage)
            for stage in sorted({process.stage for process in self.processes})
        )


#: the one that is there where embedding a question is slow, or done elsewhere
EMBED = "embed"
#: the one that is there for server.auto_index only
INDEXER = "indexer"
#: the one that is there where a file of milvus-lite keeps the index only
MILVUS = "milvus"
#: the one that is there where it was asked for only (`cortex up --http`)
HTTP = "http"
#: the one that is there for memory.sessions only
SESSIONS = "sessions"
#: one for each project
PROJECT = Kind(
    "project",
    "--project",
    "the project",
    "cortex",
    (
        Process("text", "cortex-worker", ("text",), stage=2, forked=True),
        Process(EMBED, "cortex-worker", (EMBED,), stage=2),
        Process("vector", "cortex-worker", ("vector",), stage=2, forked=True),
        Process("graph", "cortex-worker", ("graph",), stage=2, forked=True),
        Process(MILVUS, "cortex-worker", (MILVUS,), stage=2),
        Process("watcher", "cortex-worker", ("watcher",), stage=1, forked=True),
        Process(INDEXER, "cortex", ("index", "--watch"), stage=0, finishes=True, forked=True),
        Process(HTTP, "cortex", ("serve",), stage=0),
    ),
)
#: one for each data folder: whoever reads for it stops first (stage 0), then who owns the store
MEMORY = Kind(
    "memory",
    "--data-dir",
    "the memory's folder",
    "cortex memory",
    (
        Process("memory", "cortex-worker", ("memory",), stage=2),
        Process(SESSIONS, "cortex", ("memory", "follow"), stage=0, finishes=True),
    ),
)
KINDS = {kind.name: kind for kind in (PROJECT, MEMORY)}
