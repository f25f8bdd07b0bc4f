"""What every engine is: a protocol, no implementation.

Publishing writes what all engines share: the segments of rows and of the graph, with the vectors,
texts and counts in them. An engine builds what it needs beside them to answer quickly, and says by
a token what that is; CURRENT holds the token. The seam is here: how an engine keeps a generation,
and how it finds its answers, is its own affair. `cortex.engines.ENGINES` lists the engines,
tests/engines/test_contract.py holds every one of them to what is said here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from cortex.generation.current import PRUNE_AFTER_S, Generation
from cortex.generation.read import Published
from cortex.generation.write import Row
from ipc.messages import Message

#: an opened snapshot: for each class of message that the engine answers, who does
Handlers = Mapping[type[Any], Callable[[Any], Message]]

#: what a keyword query may ask for beyond words, fields and booleans
Feature = Literal["phrase", "wildcard", "fuzzy", "expression"]


@dataclass(frozen=True, slots=True)
class Change:
    """From the published generation to the next one. Merging changes nothing in this sense."""

    #: of the generation that is being built
    number: int
    #: new rows, ascending by key; those of the same chunk that they replace are in `deleted`
    added: Sequence[Row] = ()
    #: row keys
    deleted: Sequence[int] = ()
    #: graph file → its segment in `segments/`: all that the new generation has, already written
    graph: Mapping[str, str] = field(default_factory=dict)


class Engine(Protocol):
    """Builds and opens one kind of index. Made from a Config, by every process that needs it.

    The watcher builds and prunes, in one thread; each worker opens. Making one touches no file.
    """

    @property
    def answers(self) -> tuple[type[Any], ...]:
        """The messages that every opened snapshot answers."""
        ...

    @property
    def lacks(self) -> frozenset[Feature]:
        """Features that it does not have:
        asked for one it raises BadRequest, in a sentence that names it.
        """
        ...

    def resume(self, token: str) -> None:
        """Begin to build upon what `token` names ("" for nothing); what was built since is
        forgotten.

        Reads all that the token names: raises Damaged when that is not there or not as it was
        written. Then `resume("")` follows, and `build` with all rows, one segment after another
        under one number.
        """
        ...

    def files(self, token: str) -> Sequence[Path]:
        """The files that `token` stands on, each written once: changed, it is damaged."""
        ...

    def build(self, change: Change) -> str:
        """The token of generation `change.number`; the last one when the change is nothing to this
        engine.

        The work is in proportion to the change, and all that the token names is on the disk. An
        error is raised as it is (OSError for a full disk) and `resume` follows.
        """
        ...

    def upkeep(self, published: Published) -> str:
        """The token that is due when nothing has changed, mostly the last one. Returns soon.

        Long work (an index over all rows) is begun here and goes on in the background; a later call
        returns its token, which is then published as a generation of its own.
        """
        ...

    def open(self, token: str, published: Published) -> Handlers:
        """A frozen snapshot of the generation. Raises NotFound for what was pruned meanwhile,
        Damaged.

        `token` is "" where nothing was built: a generation without rows, or an engine that needs
        nothing.
        """
        ...

    def prune(self, tokens: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:
        """Remove what none of `tokens` names and is older than that; returns what was removed."""
        ...

    def status(self, token: str, generation: Generation) -> dict[str, Any]:
        """What a person may want to know of what serves `generation`, JSON-able. Opens nothing."""
        ...

    def release(self) -> None:
        """Let go of what only `build` needs, which makes it again: nothing is built for a while."""
        ...

    def close(self) -> None:
        """Let go of everything; safe to call twice, and `resume` may follow."""
        ...
