"""The list of all processes, by set: their names, command lines and stop order."""

import sys
from dataclasses import dataclass, replace
from typing import Self

#: program → its module, started with `python -P -m`: neither the folder of a script nor the current
#: folder may be importable
MODULES = {"cortex-worker": "workers", "cortex": "cortex"}


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a set; `program` and `arguments` are its line of the Procfile."""

    name: str
    program: str
    arguments: tuple[str, ...]
    #: stages stop one after the other: processes that write (0), announce changes (1), answer
    #: queries (2)
    stage: int
    #: whether the process may end because nothing is left to do
    finishes: bool = False
    #: whether the process shares most of its imports with others of its set: then `forkserver`
    #: imports the modules once for all of them
    forked: bool = False
    #: name of the lock in the runtime folder that the process holds while it serves, if it is not
    #: that of a worker
    other_lock: str = ""

    @property
    def lock(self) -> str:
        """A pattern of the names of the process's locks: one for each replica."""
        return self.other_lock or f"{self.name}.*.lock"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of set.

    `option`: the option before the set's folder; `folder`: the noun for that folder in messages;
    `command`: the shell command before `up`, `down` and `status`.
    """

    name: str
    option: str
    folder: str
    command: str
    #: every process in the order of start: the processes with the most queries first
    processes: tuple[Process, ...]

    def command_line(self, process: Process, root: str) -> list[str]:
        """Return the argument list that starts `process` for the folder `root`."""
        module = MODULES[process.program]
        return [sys.executable, "-P", "-m", module, *process.arguments, self.option, root]

    def with_worker(self, name: str) -> Self:
        """Return the kind with one more worker, which stops with the others and starts last."""
        row = Process(name, "cortex-worker", (name,), stage=2)
        return replace(
            self, processes=tuple(sorted((*self.processes, row), key=lambda process: -process.stage))
        )

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of processes that answer messages at a socket: modules of `workers`."""
        return tuple(process.name for process in self.processes if process.program == "cortex-worker")

    @property
    def stop_order(self) -> tuple[tuple[str, ...], ...]:
        """The names of each stage, in the order in which stages are stopped."""
        return tuple(
            tuple(process.name for process in self.processes if process.stage == stage)
            for stage in sorted({process.stage for process in self.processes})
        )


#: runs if embedding a query is slow, or done by a server
EMBED = "embed"
#: runs if the project's folder in the cache can be written
WATCHER = "watcher"
#: runs if server.auto_index is on, and where WATCHER does
INDEXER = "indexer"
#: runs on demand (`cortex up --http`)
HTTP = "http"
#: locks of processes without a socket for messages
INDEXER_LOCK, HTTP_LOCK = "indexer-watch.lock", "http.lock"
#: runs if memory.sessions is on
SESSIONS = "sessions"
#: one set for each project
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
        Process(WATCHER, "cortex-worker", (WATCHER,), stage=1, forked=True),
        Process(
            INDEXER,
            "cortex",
            ("index", "--watch"),
            stage=0,
            finishes=True,
            forked=True,
            other_lock=INDEXER_LOCK,
        ),
        Process(HTTP, "cortex", ("serve",), stage=0, other_lock=HTTP_LOCK),
    ),
)
#: one set for each data folder: the reader of sessions stops before the worker with the store
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
