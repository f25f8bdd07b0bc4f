"""The graph's tasks for processes of the pool: resolve files and compare types, then assemble the
shards.

A shard's files come from anywhere in the project. Files in the same place mostly refer to the same
files, so looking those up once is enough: each process resolves files in order of location, in rows
of neighbours, and stores the results; shards are written when all files are resolved.

A file's nodes and edges follow from the facts of the complete project, so any process that reads
those can resolve it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from cortex.graph.facts.facts import FACTS_VERSION
from cortex.graph.facts.tables import Packed
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project, Roots
from cortex.graph.resolution.types.structural_types import structural_edges
from cortex.indexer.store.graph_bodies import Bodies, Tools, order_by_location
from cortex.indexer.store.graph_shards import (
    State,
    files_by_shard,
    map_facts,
    map_resolved,
    place_resolved,
    place_structural,
    read_structural,
    write_shards,
)
from cortex.system.errors import Unavailable
from cortex.system.process import allocator

#: tasks of a round: enough that the last ones to end do not keep the others waiting for long
TASKS_MAX = 16
#: most files of one task: it holds their nodes and edges until its end, packed, some 3 MB
ROW_FILES = 1_000


class _Task(msgspec.Struct):
    """The common fields; `run` differs by the facts' state."""

    run: str
    facts: int
    folder: str
    roots: Roots


class StructuralTask(_Task, tag="structural"):
    """Find the structural edges of all files, and store them."""


class ResolveTask(_Task, tag="resolve"):
    """Resolve neighbouring files, and store the results under `number`."""

    number: int
    paths: list[str]


class ShardTask(_Task, tag="graph"):
    """Write some shards from stored results and structural edges. `affected`: newly resolved files,
    None: all.
    """

    shards: int
    numbers: list[int]
    affected: list[str] | None = None


GraphTask = StructuralTask | ResolveTask | ShardTask


def make_rounds(
    packed: Mapping[str, Packed],
    state: State,
    affected: set[str] | None,
    numbers: Sequence[int],
    *,
    run: str,
    folder: str,
) -> list[list[GraphTask]]:
    """Return rounds of tasks that build shards `numbers` of `state` in the graph's folder, of files
    with the facts `packed`; a round starts after the previous one has ended. `run`, `affected`: as
    in the tasks. If all files are affected, their structural edges are found, too.
    """
    paths_by_shard = files_by_shard(packed, state.shards, numbers)
    paths = [
        path for files in paths_by_shard.values() for path in files if affected is None or path in affected
    ]

    common = run, FACTS_VERSION, folder, state.roots

    def shard_task(shard_numbers: list[int]) -> ShardTask:
        files = [path for number in shard_numbers for path in paths_by_shard[number]]
        anew = None if affected is None else [path for path in files if path in affected]
        return ShardTask(*common, state.shards, shard_numbers, anew)

    structural = [StructuralTask(*common)] if affected is None else []
    rows = enumerate(_rows(order_by_location(packed, paths)))
    count = min(TASKS_MAX, len(numbers))
    return [
        [*structural, *(ResolveTask(*common, number, row) for number, row in rows)],
        [shard_task(list(numbers[start::count])) for start in range(count)],
    ]


def _rows(paths: list[str]) -> Iterator[list[str]]:
    size = max(1, min(ROW_FILES, -(-len(paths) // TASKS_MAX)))
    return (paths[start : start + size] for start in range(0, len(paths), size))


class GraphBuilder:
    """A process of the pool: reads the facts once for each run, then does its tasks."""

    def __init__(self) -> None:
        self._run = ""
        self._tools: Tools | None = None

    def load(self, task: GraphTask) -> Tools:
        """Return the project of a task. Raises OSError."""
        if task.facts != FACTS_VERSION:
            raise Unavailable("Cortex was replaced by another version while it was indexing; index again.")
        tools = self._tools
        if tools is None or self._run != task.run:
            project = Project(LANGUAGES, task.roots)
            project.update({facts.path: facts for facts in map_facts(Path(task.folder))})
            tools = self._tools = Tools(project)
            self._run = task.run
        return tools

    def build(self, task: GraphTask) -> int:
        """How many graph files were written. Raises OSError."""
        folder, tools = Path(task.folder), self.load(task)
        if isinstance(task, StructuralTask):
            place_structural(folder, structural_edges(tools.project, tools.evaluator))
            return 0
        if isinstance(task, ResolveTask):
            bodies = Bodies(tools, None, {})
            bodies.resolve_ahead(task.paths)
            place_resolved(folder, task.number, bodies.ahead)
            return 0
        paths_by_shard = files_by_shard(tools.project.packed, task.shards, task.numbers)
        affected = None if task.affected is None else set(task.affected)
        bodies = Bodies(tools, affected, read_structural(folder), map_resolved(folder))
        written = write_shards(folder, task.shards, paths_by_shard, bodies)
        allocator.trim()
        return written
