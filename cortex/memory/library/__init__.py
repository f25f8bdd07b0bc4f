"""All operations of one memory, as methods of one class. Opens the data folder directly and owns it
until it is closed. Nothing leaves the machine.
"""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Self, TypeVar, cast

from cortex.embedders import Embedder
from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.library.queries import Queries
from cortex.memory.library.transfer import Transfer
from cortex.memory.library.writing import Writing
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.team.postgresql import Server
from cortex.memory.transcripts.proposing import proposals

T = TypeVar("T")

#: the default data folder
DATA_DIR = Path("~/.cortex/default")


def finish(steps: Generator[None, None, T]) -> T:
    """Run long work to its end without pause, and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("T", end.value)


def _propose_old_notes(memory: Memory) -> None:
    """Once in the life of a store: make candidates of the notes of rules, in one operation that
    `undo` reverts.
    """
    store = memory.store
    with store.database.read() as connection:
        if proposals.notes_were_moved(connection):
            return
        has_notes = bool(proposals.notes_to_move(connection))
    if has_notes:
        key = store.database.key()
        store.once("", "propose", {}, lambda records: {"moved": proposals.move_notes(records, key)})
        memory.follow()
    else:
        with store.database.write() as connection:
            proposals.mark_moved(connection, memory.now())


class Library(Writing, Transfer, Queries):
    """One person's memory. Use it in one thread. Generators do long work in slices."""

    @classmethod
    def open(
        cls,
        path: str | Path = DATA_DIR,
        *,
        project: str = "",
        embedder: Embedder | None = None,
        home: Path | None = None,
        driver: Driver | Server = PLAIN,
        model: Callable[[], Embedder] | None = None,
    ) -> Self:
        """Open the data folder; it is made if it is missing. `project`: the notes to work on.
        `home`, `driver`, `model`: see `Memory`.

        Raises Misconfigured when another process owns the folder, Unavailable when it cannot be
        used, and Damaged for a database that cannot be read.
        """
        folder = Path(path).expanduser().absolute()
        memory = Memory(folder, embedder or open_static(), home=home, driver=driver, model=model)
        try:
            _propose_old_notes(memory)
            return cls(memory, project=project)
        except BaseException:  # close it even on KeyboardInterrupt, as in `Memory`
            memory.close()
            raise
