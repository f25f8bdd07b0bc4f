"""The store of one project's graph files: it decides which files to resolve again after a change,
and in which processes.

One shard holds the nodes and edges of the files whose paths hash to it. An edited file is resolved
again together with the files that its change affects; unchanged shards are not written. Lost facts
are extracted again.
"""

from __future__ import annotations

import gc
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence

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
        self._config = config
        self._limits = limits
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
        project = self._project if self._project is not None else self._load()
        deadly = {path for path, entry in entries.items() if entry.remarks and ended_a_process(entry)}
        changes = self._changes(project, wanted, dict.fromkeys(deadly) | fresh)
        structure = any(is_root(path) for path in fresh)
        if not (loaded or changes or structure):
            return 0
        coming = {path for path, facts in changes.items() if facts is not None}
        gone = changes.keys() - coming
        roots = project.roots
        if loaded or structure or gone or coming - project.packed.keys():
            roots = read_roots(str(self._config.root), (project.packed.keys() | coming) - gone)
        stems = project.shared_stems()
        if roots != project.roots:
            project = self._rebuild_project(project, roots)
            affected = set(project.packed) | project.update(changes)
        else:
            affected = project.update(changes)
        if stems != project.shared_stems():
            project.rename()
            affected = set(project.packed)
        if not self._state.wanted:  # an interrupted run: it is unknown which files it wrote
            affected = set(project.packed)
        self._project = project
        work = self._prepare(
            {path for path in affected if path in project.packed}, changes, _content_hash(wanted)
        )
        if isinstance(work, list):
            del project, changes, affected, coming, gone
            fresh.clear()
            return self._delegate(work)
        return self._build(*work)

    def _is_done(self, wanted: Mapping[str, str]) -> bool:
        """Return whether the graph files match `wanted`, as far as their state and stat show."""
        state = graph_shards.read_state(self._folder)
        stats = graph_shards.stats(self._folder, state.shards)
        self._last_stats = state.shards, stats
        return state.wanted == _content_hash(wanted) and stats == state.files

    def _rebuild_project(self, old: Project, roots: Roots) -> Project:
        project = Project(LANGUAGES, roots)
        project.update(old.packed)
        return project

    def _changes(
        self, project: Project, wanted: Mapping[str, str], fresh: Mapping[str, Packed | None]
    ) -> dict[str, Packed | None]:
        changes: dict[str, Packed | None] = {path: None for path in project.packed if path not in wanted}
        for path, sha256 in wanted.items():
            old_facts, facts = project.packed.get(path), fresh.get(path)
            # The same bytes have other facts in another encoding, and after an upgrade.
            if old_facts is not None and old_facts.sha256 == sha256 and facts in (None, old_facts):
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

    def _load(self) -> Project:
        self._state = state = graph_shards.read_state(self._folder)
        if graph_shards.stats(self._folder, state.shards) != state.files:
            state.wanted = ""  # as after an interrupted run: their content is unknown
        project = Project(LANGUAGES, self._state.roots)
        facts_by_path: dict[str, Packed | None] = {}
        for shards, facts in graph_shards.read_facts(self._folder):
            facts_by_path[facts.path] = facts
            self._state.shards = shards
        project.update(facts_by_path)
        return project

    def _prepare(
        self, affected: set[str], changes: Mapping[str, Packed | None], wanted: str
    ) -> list[list[GraphTask]] | tuple[Tools, Sequence[int], set[str] | None]:
        """Write the facts; return the work left: tasks for processes, or `_build`'s arguments."""
        project = self._project
        assert project is not None
        shards = shard_count(len(project.packed), self._limits.shard_files)
        anew = shards != self._state.shards
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
        if anew:
            touched = set(range(shards))
        graph_shards.drop_state(self._folder)
        graph_shards.drop_resolved(self._folder)  # from an interrupted run
        self._write_facts(shards, touched if anew else {shard_of(path, shards) for path in changes})
        if anew:
            graph_shards.drop_facts(self._folder, shards)
        self._state = State(FACTS_VERSION, shards, wanted, project.roots, structural)
        files = len(project.packed) if anew else len(affected)
        if self._resolve is not None and files >= self._limits.resolve_files:
            run, only = f"{id(self)}.{wanted}", None if anew else affected
            return make_rounds(project, self._state, only, sorted(touched), run=run, folder=str(self._folder))
        return tools, sorted(touched), None if anew else affected

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
        self._finish(state)
        return written

    def _finish(self, state: State) -> None:
        graph_shards.drop_resolved(self._folder)
        graph_shards.drop_graphs(self._folder, state.shards)
        state.files = graph_shards.stats(self._folder, state.shards)
        self._last_stats = state.shards, state.files
        graph_shards.place_state(self._folder, state)

    def _write_facts(self, shards: int, numbers: set[int]) -> None:
        assert self._project is not None
        paths_by_shard = graph_shards.files_by_shard(self._project, shards, numbers)
        for number in numbers:
            facts = [self._project.packed[path] for path in paths_by_shard.get(number, ())]
            graph_shards.place_facts(self._folder, (number, shards), facts)

    def _build(self, tools: Tools, numbers: Sequence[int], affected: set[str] | None) -> int:
        shards, structural = self._state.shards, self._state.structural
        paths_by_shard = graph_shards.files_by_shard(tools.project, shards, numbers)
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
        if not concerned and self._state.wanted:
            return self._state.structural
        if not any(facts.language in languages for facts in self._project.packed.values()):
            return {}
        return structural_edges(self._project, evaluator)


def _content_hash(wanted: Mapping[str, str]) -> str:
    """Return one digest for the content of many files."""
    text = "".join([f"{path}\0{wanted[path]}\n" for path in sorted(wanted)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
