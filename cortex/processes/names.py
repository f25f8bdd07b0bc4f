"""The one list of the processes of a project's set: what each is called, how it is started, when it
is stopped.
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

    def command_line(self, root: str) -> list[str]:
        """The argument list that starts it for the project in `root`."""
        module = MODULES[self.program]
        return [sys.executable, "-P", "-m", module, *self.arguments, "--project", root]


#: every process, in the order in which they are started
PROCESSES = (
    Process("embed", "cortex-worker", ("embed",), stage=2),
    Process("vector", "cortex-worker", ("vector",), stage=2),
    Process("text", "cortex-worker", ("text",), stage=2),
    Process("graph", "cortex-worker", ("graph",), stage=2),
    Process("watcher", "cortex-worker", ("watcher",), stage=1),
    Process("indexer", "cortex", ("index", "--watch"), stage=0),
)
#: those that have a socket and answer messages: the modules of the package `workers`
WORKERS = tuple(process.name for process in PROCESSES if process.program == "cortex-worker")
#: the one that is there for server.auto_index only, and that may end because nothing is left to do
INDEXER = "indexer"
#: the names of each stage, in the order in which stages are stopped
STOP_ORDER = tuple(
    tuple(process.name for process in PROCESSES if process.stage == stage)
    for stage in sorted({process.stage for process in PROCESSES})
)
