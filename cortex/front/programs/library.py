"""Memory for Python programs: `with Cortex.open(path) as memory: memory.store("…")`.

The program attaches to the memory set as an agent's front does, and starts it when none runs.
Embedded, it serves the store itself, to other processes as well. Nothing leaves the machine.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from cortex.ask.memory import Caller, MemoryContext
from cortex.front.memory_link import MemoryLink
from cortex.front.programs.loop_thread import LoopThread
from cortex.memory.table import is_write
from cortex.settings import config as configuration
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import open_runtime
from cortex.settings.folders.identity import identity_of
from cortex.system.errors import Misconfigured, Unavailable
from ipc.client import Client
from ipc.locks import holder_of
from ipc.service import Serving

#: minimum of seconds that a program waits for an answer: the first call of all creates the store
PATIENCE_S = 30.0


class Cortex:
    """The memory of one user. Methods block until the answer; any thread may call them.

    Every method raises the errors of its operation (BadRequest, NotFound, TooLarge), and
    Unavailable with one sentence. If a write may have been carried out, the error has its
    `operation_id`: repeat the call with it, and it is carried out once.
    """

    def __init__(self, data: DataFolder, caller: Caller, *, embedded: bool) -> None:
        """See `open`."""
        self._data, self._caller = data, caller
        self._serving = _serve(data) if embedded else None
        self._memory_link = MemoryLink(lambda: data)
        self._client: Client | None = None
        self._thread = LoopThread()
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        project: str | Path = "",
        agent: str = "",
        embedded: bool = False,
    ) -> Self:
        """Open the memory in the data folder `path`, by default the configured one; create it when
        it is missing.

        `project`: the project of the notes, as any name or a Path in it; "" for all. Agents and
        programs of this user share the memory. `embedded`: start no other process; this one serves
        the store, to others as well. Raises Misconfigured for an unusable folder, and with
        `embedded` for one that another process serves.
        """
        flags = {"memory": {"data_dir": str(Path(path).expanduser().absolute())}} if path else None
        data = configuration.load_data(flags)
        remotes = data.settings.remotes
        place = str(project.resolve()) if isinstance(project, Path) else ""
        project_name = identity_of(Path(place), remotes) if place else str(project)
        return cls(data, Caller(project_name, agent, str(uuid.uuid4()), "library", place), embedded=embedded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self._thread.end(self._end())
        if self._serving is not None:
            self._serving.close()

    def call(
        self,
        operation: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        writes: bool,
        operation_id: str = "",
    ) -> dict[str, Any]:
        """Call an operation and return its answer. docs/MEMORY.md lists the operations."""
        if self._closed:
            raise Unavailable("This memory was closed; open it again.")
        until = time.monotonic() + max(PATIENCE_S, self._data.deadline_s)
        is_starting = self._memory_link.is_starting
        context = MemoryContext(self._reach, until, lambda: self._caller, is_starting=is_starting)
        request = context.call(operation, arguments, operation_id=operation_id, writes=writes)
        return self._thread.submit(request).result()

    def store(
        self,
        title: str,
        body: str = "",
        *,
        kind: str = "fact",
        tags: Sequence[str] = (),
        importance: float = 0.5,
        scope: str = "project",
        operation_id: str = "",
        **more: Any,
    ) -> dict[str, Any]:
        """Store a note and return {"id", "message"}; it is on the disk when this returns.

        Further keys: "deduplicated" if the note existed, "removed" if secrets were removed,
        "warnings" with advice on how to make it easier to find. `scope` "global": for all projects.
        `more`: facts, files, anchors, metadata, obs_type, occurred_at, supersedes.
        """
        fields = {
            "title": title,
            "body": body,
            "kind": kind,
            "tags": tags,
            "importance": importance,
            "scope": scope,
        }
        return self._ask("store", fields | more, operation_id)

    def edit(self, node_id: str | int, *, operation_id: str = "", **changes: Any) -> dict[str, Any]:
        """Change fields of a note, or its `state`; the history has the former values."""
        return self._ask("store", {"id": node_id} | changes, operation_id)

    def relate(
        self, from_id: str | int, to_id: str | int, relation: str = "relates-to", *, operation_id: str = ""
    ) -> dict[str, Any]:
        """Connect two notes and return {"id", "message"}; an existing edge keeps its id."""
        return self._ask("relate", {"from_id": from_id, "to_id": to_id, "relation": relation}, operation_id)

    def forget(self, node_id: str | int, *, operation_id: str = "") -> dict[str, Any]:
        """Mark a note as deleted: no query finds it any more."""
        return self._ask("forget", {"node_id": node_id}, operation_id)

    def undo(self, undone: str = "", *, operation_id: str = "") -> dict[str, Any]:
        """Revert the operation with the number `undone`, "" for the last one."""
        return self._ask("undo", {"undone": undone}, operation_id)

    def search(self, query: str, *, limit: int = 10, **more: Any) -> list[dict[str, Any]]:
        """Return the notes that match a question, by words and meaning.

        `more`: kind, tags, as_of (a moment: the notes as of then), include.
        """
        return self._results("search", {"query": query, "limit": limit} | more)

    def recall(self, query: str, *, limit: int = 10, alpha: float = 0.7, **more: Any) -> list[dict[str, Any]]:
        """As `search`, with connected notes: `alpha` 1 counts words and meaning alone, 0 the graph.

        `more`: kind, as_of, include, explain (adds the signals of each score).
        """
        return self._results("recall", {"query": query, "limit": limit, "alpha": alpha} | more)

    def timeline(self, anchor: str | int = "", **more: Any) -> dict[str, Any]:
        """Return notes in order of time, before and after `anchor` or between two moments."""
        return self._ask("timeline", {"anchor": anchor} | more)

    def traverse(self, node_id: str | int, *, depth: int = 2, direction: str = "both") -> dict[str, Any]:
        """Return the notes connected to a note, in at most `depth` steps."""
        arguments = {"node_id": node_id, "depth": depth, "direction": direction}
        return self._ask("traverse", arguments)

    def briefing(self, agent_id: str = "default", **more: Any) -> dict[str, Any]:
        """Return {"briefing": Markdown}, a summary for the start of a session.

        `more`: compact, tokens.
        """
        return self._ask("briefing", {"agent_id": agent_id} | more)

    def node(self, node_id: str | int) -> dict[str, Any]:
        """Return a note with its edges, and the notes at their other ends."""
        return self._ask("node", {"node_id": node_id})

    def stats(self) -> dict[str, Any]:
        """Return the counts of notes and edges."""
        return self._ask("stats", {})

    def _ask(self, operation: str, arguments: dict[str, Any], operation_id: str = "") -> dict[str, Any]:
        return self.call(operation, arguments, writes=is_write(operation), operation_id=operation_id)

    def _results(self, operation: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = self._ask(operation, arguments)["results"]
        return results

    async def _reach(self, until: float) -> Client:
        if self._serving is None:
            return await self._memory_link.reach(until)
        self._client = self._client or Client(self._data.runtime_dir)
        return self._client

    async def _end(self) -> None:
        await self._memory_link.close()
        if self._client is not None:
            await self._client.close()


def _serve(data: DataFolder) -> Serving:
    """Serve the store in a thread of this process, to all processes of the user. Raises
    Misconfigured when another process serves it.
    """
    from cortex.memory.serving import open_worker

    open_runtime(data)
    if (holder := holder_of(data.runtime_dir / "memory.0.lock")) is not None:
        raise Misconfigured(
            f"The memory in {data.root} is served by process {holder} already: open it without embedded, which "
            "attaches to that one, or end it with `cortex memory down`."
        )
    return Serving("memory", lambda: open_worker(data), data.runtime_dir)
