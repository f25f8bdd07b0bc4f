"""The store of one project's graph files: it decides which files to resolve again after a change,
and in which processes.

One shard holds the nodes and edges of the files whose paths hash to it. An edited file is resolved
again together with the files that its change affects; unchanged shards are not written. Lost facts
are extracted again.
"""

import gc
import hashlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from cortex.generation.manifest import Entry
from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.facts import FACTS_VERSION
from cortex.graph.facts.tables import Packed
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Roots
from cortex.graph.resolution.types.structural_types import structural_edges
from cortex.indexer.store import graph_shards
from cortex.indexer.store.graph_bodies import Bodies, Tools
from cortex.indexer.store.graph_facts import facts_of, may_have_facts
from cortex.indexer.store.graph_roots import is_root, read_roots
from cortex.indexer.store.graph_shards import FACTS, State
from cortex.indexer.store.graph_tasks import GraphTask, make_rounds
from cortex.indexer.store.limits import LIMITS, Limits
from cortex.indexer.store.shards import ended_a_process, shard_count, shard_of
from cortex.indexer.syntax.source import Source, decode, digest
from cortex.settings.config import Config
from cortex.settings.encodings import Encodings
from cortex.system import files
from cortex.system.process import allocator

log = logging.getLogger(__name__)

#: runs the tasks of each round in several processes, and returns the count of written graph files
Resolve = Callable[[Sequence[Sequence[GraphTask]]], int]


class GraphStore:
    """Keeps a project's graph up to date; for one thread, with the writer lock in `update`."""

    def __init__(self, config: Config, resolve: Resolve | None = None, limits: Limits = LIMITS) -> None:
        self._config, self._limits = config, limits
        self._folder = config.graph_dir
        self._resolve = resolve
        self._project: Project | None = None
        self._state = State()
        self._without_facts: dict[str, str] = {}
        #: the last `update`'s count of shards, and their files
        self._last_stats: tuple[int, dict[str, tuple[int, int]]] = (0, {})

    def forget(self) -> None:
        """Free the memory; the next change reads the facts again."""
        self._project = None
        self._state = State()
        self._without_facts.clear()

    def update(self, entries: Mapping[str, Entry], fresh: dict[str, Packed | None]) -> int:
        """Bring the graph files up to date with `entries` (the manifest). `fresh` are facts of
        files that were just parsed; it may be emptied.

        Returns the count of written graph files. Raises OSError.
        """
        if not self.is_intact():
            log.warning("another program changed the graph files; they are read again")
            self.forget()
        return self._update(entries, fresh)

    def is_intact(self) -> bool:
        """Return whether the files are as the last `update` left them."""
        shards, left = self._last_stats
        return graph_shards.stats(self._folder, shards) == left

    def _update(self, entries: Mapping[str, Entry], fresh: dict[str, Packed | None]) -> int:
        if self._folder.is_file():  # in the place of the graph's folder
            files.remove(self._folder)
        files.make_folder(self._folder / FACTS)
        wanted = {path: entry.sha256 for path, entry in entries.items() if not entry.skipped}
        loaded = self._project is None
        if loaded and not fresh and self._is_done(wanted):
            return 0
        packed = self._project.packed if self._project is not None else self._load()
        deadly = {path for path, entry in entries.items() if entry.remarks and ended_a_process(entry)}
        changes = self._changes(packed, wanted, dict.fromkeys(deadly) | fresh)
        structure = any(is_root(path) for path in fresh)
        if not (loaded or changes or structure):
            return 0
        coming = {path for path, facts in changes.items() if facts is not None}
        gone = changes.keys() - coming
        count = len(packed) + len(coming - packed.keys()) - len(gone)
        shards = shard_count(count, self._limits.shard_files)
        # It is unknown which files an interrupted run wrote.
        if not self._state.wanted or shards != self._state.shards:
            present = {path: facts for path, facts in (packed | changes).items() if facts is not None}
            del packed, changes, coming, gone
            fresh.clear()
            return self._resolve_all(present, shards, _content_hash(wanted))
        project = self._project if self._project is not None else self._project_of(packed, self._state.roots)
        roots = project.roots
        if loaded or structure or gone or coming - project.packed.keys():
            roots = read_roots(str(self._config.root), (project.packed.keys() | coming) - gone)
        stems = project.shared_stems()
        if roots != project.roots:
            project = self._project_of(project.packed, roots)
            affected = set(project.packed) | project.update(changes)
        else:
            affected = project.update(changes)
        if stems != project.shared_stems():
            project.rename()
            affected = set(project.packed)
        self._project = project
        work = self._prepare(
            {path for path in affected if path in project.packed}, changes, _content_hash(wanted)
        )
        if isinstance(work, list):
            del project, packed, changes, affected, coming, gone
            fresh.clear()
            return self._delegate(work)
        return self._build(*work)

    def _is_done(self, wanted: Mapping[str, str]) -> bool:
        """Return whether the graph files match `wanted`, as far as their state and stat show."""
        state = graph_shards.read_state(self._folder)
        stats = graph_shards.stats(self._folder, state.shards)
        self._last_stats = state.shards, stats
        return state.wanted == _content_hash(wanted) and stats == state.files

    def _resolve_all(self, packed: dict[str, Packed], shards: int, wanted: str) -> int:
        """Write all graph files anew, of the facts `packed`. If other processes resolve so many, no
        Project is built here: they share one, and here it would take time, and memory beside it.
        """
        roots = read_roots(str(self._config.root), packed)
        self._forget_written()
        self._write_facts(packed, shards, range(shards))
        graph_shards.drop_facts(self._folder, shards)
        self._state = State(FACTS_VERSION, shards, wanted, roots)
        if self._has_to_delegate(len(packed)):
            tasks = self._rounds(packed, None, range(shards))
            packed.clear()
            return self._delegate(tasks)
        self._project = self._project_of(packed, roots)
        tools = Tools(self._project)
        self._state.structural = structural_edges(self._project, tools.evaluator)
        return self._build(tools, range(shards), None)

    def _has_to_delegate(self, files: int) -> bool:
        return self._resolve is not None and files >= self._limits.resolve_files

    def _rounds(
        self, packed: Mapping[str, Packed], affected: set[str] | None, numbers: Sequence[int]
    ) -> list[list[GraphTask]]:
        run = f"{id(self)}.{self._state.wanted}"
        return make_rounds(packed, self._state, affected, numbers, run=run, folder=str(self._folder))

    def _forget_written(self) -> None:
        """Mark the files as half written, before the first of them is."""
        graph_shards.drop_state(self._folder)
        graph_shards.drop_resolved(self._folder)  # from an interrupted run

    def _project_of(self, packed: Mapping[str, Packed], roots: Roots) -> Project:
        project = Project(LANGUAGES, roots)
        project.update(packed)
        return project

    def _changes(
        self, packed: Mapping[str, Packed], wanted: Mapping[str, str], fresh: Mapping[str, Packed | None]
    ) -> dict[str, Packed | None]:
        changes: dict[str, Packed | None] = {path: None for path in packed if path not in wanted}
        for path, sha256 in wanted.items():
            old_facts, facts = packed.get(path), fresh.get(path)
            # The same bytes have other facts in another encoding, and after an upgrade.
            if old_facts is not None and old_facts.sha256 == sha256 and _are_equal(facts, old_facts):
                continue
            if facts is None and path not in fresh and self._without_facts.get(path) != sha256:
                facts = self._extract(path, sha256)
            if facts is not None and facts.sha256 == sha256:
                changes[path] = facts
            elif old_facts is not None:
                changes[path] = None
            if facts is None:
                self._without_facts[path] = sha256
        return changes

    def _extract(self, path: str, sha256: str) -> Packed | None:
        """Return the facts of a file that was indexed without (an older index, a lost folder)."""
        if not may_have_facts(path):
            return None
        try:
            raw = files.read_plain(self._config.root / path, self._config.indexing.max_file_kb * 1024 + 1)
        except OSError:
            return None
        named = Encodings(str(self._config.root)).named
        source = decode(path, raw, named) if digest(raw) == sha256 else ""
        return facts_of(source, sha256) if isinstance(source, Source) else None

    def _load(self) -> dict[str, Packed]:
        """Read the state; return the stored facts by path."""
        self._state = state = graph_shards.read_state(self._folder)
        if graph_shards.stats(self._folder, state.shards) != state.files:
            state.wanted = ""  # as after an interrupted run: their content is unknown
        facts_by_path: dict[str, Packed] = {}
        for shards, facts in graph_shards.read_facts(self._folder):
            facts_by_path[facts.path] = facts
            self._state.shards = shards
        return facts_by_path

    def _prepare(
        self, affected: set[str], changes: Mapping[str, Packed | None], wanted: str
    ) -> list[list[GraphTask]] | tuple[Tools, Sequence[int], set[str]]:
        """Write the facts; return the work left: tasks for processes, or `_build`'s arguments."""
        project = self._project
        assert project is not None
        shards = self._state.shards
        tools = Tools(project)
        structural = self._structural_now(tools.evaluator, changes)
        before = self._state.structural
        affected |= {
            path
            for path in structural.keys() | before.keys()
            if structural.get(path) != before.get(path) and path in project.packed
        }
        touched = {shard_of(path, shards) for path in (*affected, *changes)}
        names = [self._folder / graph_shards.shard_name(number, shards) for number in range(shards)]
        touched |= {number for number, name in enumerate(names) if not name.exists()}
        self._forget_written()
        self._write_facts(project.packed, shards, {shard_of(path, shards) for path in changes})
        self._state = State(FACTS_VERSION, shards, wanted, project.roots, structural)
        if self._has_to_delegate(len(affected)):
            graph_shards.place_structural(self._folder, structural)
            return self._rounds(project.packed, affected, sorted(touched))
        return tools, sorted(touched), affected

    def _delegate(self, tasks: list[list[GraphTask]]) -> int:
        """Have other processes resolve the names. Each reads the facts that it needs: here they
        would only take memory beside them, and the next change reads them again in tenths of a
        second.
        """
        assert self._resolve is not None
        # These objects outlive the facts and were allocated among them: each would hold the
        # allocator's page that it shares with them (1 MB). Encoded meanwhile, they are created
        # again after the facts are freed.
        raw = msgspec.msgpack.encode((tasks, self._state))
        tasks.clear()
        self.forget()
        alternatives.cache_clear()
        gc.collect()  # a project and its files refer to each other
        allocator.trim()
        tasks, state = msgspec.msgpack.decode(raw, type=tuple[list[list[GraphTask]], State])
        written = self._resolve(tasks)
        state.structural = graph_shards.read_structural(self._folder)
        self._finish(state)
        return written

    def _finish(self, state: State) -> None:
        graph_shards.drop_resolved(self._folder)
        graph_shards.drop_graphs(self._folder, state.shards)
        state.files = graph_shards.stats(self._folder, state.shards)
        self._last_stats = state.shards, state.files
        graph_shards.place_state(self._folder, state)

    def _write_facts(self, packed: Mapping[str, Packed], shards: int, numbers: Collection[int]) -> None:
        for number, paths in graph_shards.files_by_shard(packed, shards, numbers).items():
            graph_shards.place_facts(self._folder, (number, shards), [packed[path] for path in paths])

    def _build(self, tools: Tools, numbers: Sequence[int], affected: set[str] | None) -> int:
        shards, structural = self._state.shards, self._state.structural
        paths_by_shard = graph_shards.files_by_shard(tools.project.packed, shards, numbers)
        bodies = Bodies(tools, affected, structural)
        bodies.resolve_ahead(path for paths in paths_by_shard.values() for path in paths)
        written = graph_shards.write_shards(self._folder, shards, paths_by_shard, bodies)
        self._finish(self._state)
        return written

    def _structural_now(
        self, evaluator: Evaluator, changes: Mapping[str, Packed | None]
    ) -> dict[str, list[Edge]]:
        """Return the structural edges; the previous ones when no change can affect them."""
        assert self._project is not None
        languages = {"go", "typescript", "tsx", "javascript"}
        concerned = any(facts is None or facts.language in languages for facts in changes.values())
        if not concerned:
            return self._state.structural
        if not any(facts.language in languages for facts in self._project.packed.values()):
            return {}
        return structural_edges(self._project, evaluator)


def _are_equal(facts: Packed | None, old_facts: Packed) -> bool:
    """Return whether facts, which may be mapped, are the old ones; None: no new ones."""
    return facts is None or msgspec.msgpack.encode(facts) == msgspec.msgpack.encode(old_facts)


def _content_hash(wanted: Mapping[str, str]) -> str:
    """Return one digest for the content of many files."""
    text = "".join([f"{path}\0{wanted[path]}\n" for path in sorted(wanted)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
