"""The protocol of an engine, without an implementation.

Publishing writes the data that all engines share: the segments of rows and of the graph, with
vectors, texts and counts. An engine may build more files for quick answers, and names them by a
token, which CURRENT records. How an engine stores a generation and finds its answers is private to
it. `cortex.engines.ENGINES` lists the engines; tests/engines/test_contract.py checks each of them
against this protocol.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from cortex.generation.current import PRUNE_AFTER_S, Generation
from cortex.generation.read import Published
from cortex.generation.write import Row
from ipc.messages import Message

#: handlers of an opened snapshot: class of a message → the function that answers it
Handlers = Mapping[type[Any], Callable[[Any], Message]]

#: parts of a keyword query, other than words, fields and booleans, that an engine may lack
Feature = Literal["phrase", "wildcard", "fuzzy", "expression"]


@dataclass(frozen=True, slots=True)
class Change:
    """The difference between two generations. A merge of segments is no change."""

    #: number of the generation that is being built
    number: int
    #: new rows, ascending by key; older rows of the same chunks are in `deleted`
    added: Sequence[Row] = ()
    #: keys of removed rows
    deleted: Sequence[int] = ()
    #: graph file → its segment in `segments/`, already written: all of the new generation
    graph: Mapping[str, str] = field(default_factory=dict)
    #: source file with a covering chunk among `added` or `deleted` → the JSON objects of all its
    #: covering chunks in the new generation, by first line; none if it is gone. Read on demand
    sources: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)


class Engine(Protocol):
    """Builds and opens one kind of index. Made from a Config, by every process that needs it.

    The watcher builds and prunes, in one thread; each worker opens. The constructor touches no
    file.
    """

    @property
    def answers(self) -> tuple[type[Any], ...]:
        """The classes of messages that every opened snapshot answers."""
        ...

    @property
    def lacks(self) -> frozenset[Feature]:
        """Features that the engine does not have. A query that uses one raises BadRequest, with its
        name in the message.
        """
        ...

    def resume(self, token: str) -> None:
        """Continue from the index that `token` names ("" for none); later builds are forgotten.

        Reads all files of the token. Raises Damaged when one is missing or changed; the caller then
        calls `resume("")`, and `build` with all rows, one segment after another under one number.
        """
        ...

    def files(self, token: str) -> Sequence[Path]:  # noqa: ARG002
        """The files of `token`, each written once: a changed one is damaged. None by default."""
        return ()

    def build(self, change: Change) -> str:
        """Index a change; return the token of generation `change.number`, which is the last token
        when the change does not concern this engine.

        The work is in proportion to the change. On return all files of the token are on the disk.
        Errors pass through (OSError for a full disk); the caller then calls `resume`.
        """
        ...

    def upkeep(self, published: Published) -> str:
        """The token that is due without a change, mostly the last one. Returns soon.

        Long work (an index over all rows) starts here and goes on in the background. A later call
        returns its token, which the caller publishes as a new generation.
        """
        ...

    def open(self, token: str, published: Published) -> Handlers:
        """Open a frozen snapshot of the generation. Raises Damaged, and NotFound when its files
        were pruned meanwhile.

        `token` is "" when nothing was built: a generation without rows, or an engine without files.
        """
        ...

    def prune(self, tokens: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:  # noqa: ARG002
        """Remove files older than `older_than_s` that none of `tokens` names; return their names.
        There are none by default.
        """
        return []

    def status(self, token: str, generation: Generation) -> dict[str, Any]:
        """Facts for a person about the index that serves `generation`, JSON-able. Opens nothing."""
        ...

    def release(self) -> None:
        """Free the memory that only `build` needs: no build is due for a while. `build` restores
        it. There is none by default.
        """
        return

    def close(self) -> None:
        """Free everything; safe to call twice, and `resume` may follow. Nothing by default."""
        return
