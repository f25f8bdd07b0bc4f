"""The graph files, `.cortex/graph/code-graph.NNN.json`, and the facts that they are made from, `.facts/` beside them.

One shard holds the nodes and edges of the files whose paths hash to it. An edited file is resolved again together with
the files that its change concerns; shards whose content stays are left alone. Facts that are lost are extracted again.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import orjson

from cortex.config import Config
from cortex.graph.evaluate import Evaluator
from cortex.graph.facts import FACTS_VERSION
from cortex.graph.grammars import SYNTAX
from cortex.graph.project import Project, Roots
from cortex.graph.render import nodes_of
from cortex.graph.resolve import Edge, edges_of
from cortex.graph.structure import MethodSets, structural_edges
from cortex.graph.tables import Packed
from cortex.indexer.graph_facts import facts_of
from cortex.indexer.graph_roots import NAMES, read_roots
from cortex.indexer.languages import language_of
from cortex.indexer.manifest import Entry
from cortex.indexer.shards import shard_count, shard_of
from cortex.indexer.source import Source, decode, digest

log = logging.getLogger(__name__)

#: `_metadata.version` of the graph files
GRAPH_VERSION = "1.0"
GENERATOR = "cortex"
FACTS = ".facts"
STEM = "code-graph"

_NAME = re.compile(rf"{STEM}(?:\.\d{{3,}})?\.json$")


class _FactsFile(msgspec.Struct):
    version: int
    shards: int
    files: list[Packed]


class GraphStore:
    """Keeps one project's graph. Used by one thread, which holds the writer lock during `update`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._folder = config.graph_dir
        self._project: Project | None = None
        self._structural: dict[str, list[Edge]] = {}
        self._shards = 0
        self._without: dict[str, str] = {}

    def update(self, entries: Mapping[str, Entry], fresh: Mapping[str, Packed | None]) -> int:
        """Bring the graph files up to `entries` (the manifest). `fresh` are facts of files that were just parsed.

        Returns how many graph files were written. Raises OSError.
        """
        (self._folder / FACTS).mkdir(parents=True, exist_ok=True)
        loaded = self._project is None
        project = self._project if self._project is not None else self._load()
        wanted = {path: entry for path, entry in entries.items() if not entry.skipped}
        changes = self._changes(project, wanted, fresh)
        structure = any(path.rpartition("/")[2] in NAMES for path in fresh)
        if not (loaded or changes or structure):
            return 0
        coming = {path for path, facts in changes.items() if facts is not None}
        gone = {path for path, facts in changes.items() if facts is None}
        moved = bool(coming - project.packed.keys()) or bool(gone)
        roots = project.roots
        if loaded or moved or structure:
            roots = read_roots(str(self._config.root), (project.packed.keys() | coming) - gone)
        stems = project.shared_stems()
        if roots != project.roots:
            project = self._again(project, roots)
            affected = set(project.packed) | project.update(changes)
        else:
            affected = project.update(changes)
        if stems != project.shared_stems():
            project.rename()
            affected = set(project.packed)
        self._project = project
        return self._write({path for path in affected if path in project.packed}, changes)

    def _again(self, old: Project, roots: Roots) -> Project:
        project = Project(roots)
        project.update(old.packed)
        return project

    def _changes(
        self, project: Project, wanted: Mapping[str, Entry], fresh: Mapping[str, Packed | None]
    ) -> dict[str, Packed | None]:
        changes: dict[str, Packed | None] = {path: None for path in project.packed if path not in wanted}
        for path, entry in wanted.items():
            known = project.packed.get(path)
            if known is not None and known.sha256 == entry.sha256:
                continue
            facts = fresh.get(path)
            if facts is None and path not in fresh and self._without.get(path) != entry.sha256:
                facts = self._extract(path, entry.sha256)
            if facts is not None and facts.sha256 == entry.sha256:
                changes[path] = facts
            elif known is not None:
                changes[path] = None
            if facts is None:
                self._without[path] = entry.sha256
        return changes

    def _extract(self, path: str, sha256: str) -> Packed | None:
        """The facts of a file that was indexed without them (an older index, a lost folder)."""
        name = language_of(path).name
        if name not in SYNTAX:
            return None
        try:
            descriptor = os.open(self._config.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                raw = file.read(self._config.indexing.max_file_kb * 1024 + 1)
        except OSError:
            return None
        source = decode(path, raw) if digest(raw) == sha256 else ""
        return facts_of(source, sha256) if isinstance(source, Source) else None

    def _load(self) -> Project:
        project = Project()
        found: dict[str, Packed | None] = {}
        for name in sorted(_names(self._folder / FACTS, ".msgpack")):
            with contextlib.suppress(OSError, msgspec.DecodeError):
                stored = msgspec.msgpack.decode((self._folder / FACTS / name).read_bytes(), type=_FactsFile)
                if stored.version == FACTS_VERSION:
                    self._shards = stored.shards
                    found |= {facts.path: facts for facts in stored.files if facts.language in SYNTAX}
        project.update(found)
        return project

    def _write(self, affected: set[str], changes: Mapping[str, Packed | None]) -> int:
        project = self._project
        assert project is not None
        shards = shard_count(len(project.packed))
        evaluator = Evaluator(project)
        anew = shards != self._shards
        homes: dict[int, list[str]] = {}
        for path in project.packed:
            homes.setdefault(shard_of(path, shards), []).append(path)
        old = {number: self._read(number, shards) for number in range(shards)} if anew else {}
        structural = self._structural_now(evaluator, changes)
        affected |= {
            path
            for path in structural.keys() | self._structural.keys()
            if structural.get(path) != self._structural.get(path) and path in project.packed
        }
        self._structural = structural
        touched = {shard_of(path, shards) for path in (*affected, *changes)}
        touched |= {
            number for number in range(shards) if not (self._folder / shard_name(number, shards)).exists()
        }
        sets = MethodSets(project, evaluator)
        written = 0
        for number in range(shards) if anew else sorted(touched):
            before = old.get(number) if anew else self._read(number, shards)
            files = sorted(homes.get(number, ()))
            body = self._shard(files, affected, before or {}, (evaluator, sets))
            written += self._place(number, shards, body, before)
            if anew or any(shard_of(path, shards) == number for path in changes):
                self._place_facts(number, shards, files)
        if anew:
            self._drop(shards)
        self._shards = shards
        return written

    def _structural_now(
        self, evaluator: Evaluator, changes: Mapping[str, Packed | None]
    ) -> dict[str, list[Edge]]:
        """Structural edges; as they were when nothing that could change them has changed."""
        assert self._project is not None
        languages = {"go", "typescript", "tsx", "javascript"}
        concerned = any(facts is None or facts.language in languages for facts in changes.values())
        if not concerned and self._structural:
            return self._structural
        if not any(one.language in languages for one in self._project.packed.values()):
            return {}
        return structural_edges(self._project, evaluator)

    def _shard(
        self,
        files: Iterable[str],
        affected: set[str],
        before: Mapping[str, tuple[list[Any], list[Any]]],
        tools: tuple[Evaluator, MethodSets],
    ) -> dict[str, tuple[list[Any], list[Any]]]:
        project = self._project
        assert project is not None
        evaluator, sets = tools
        body: dict[str, tuple[list[Any], list[Any]]] = {}
        for path in files:
            if path in affected or path not in before:
                edges = [*edges_of(project, evaluator, path), *self._structural.get(path, ())]
                body[path] = (
                    nodes_of(project, sets, path),
                    orjson.loads(msgspec.json.encode(edges)),
                )
            else:
                body[path] = before[path]
        return body

    def _read(self, number: int, shards: int) -> dict[str, tuple[list[Any], list[Any]]]:
        """Path → (nodes, edges) of a shard as it stands; empty when it is missing, damaged or another's."""
        found: dict[str, tuple[list[Any], list[Any]]] = {}
        try:
            data = orjson.loads((self._folder / shard_name(number, shards)).read_bytes())
            metadata = data["_metadata"]
            if (metadata.get("generator"), metadata.get("facts")) != (GENERATOR, FACTS_VERSION):
                return {}
            for node in data["nodes"]:
                found.setdefault(node["file"], ([], []))[0].append(node)
            for edge in data["edges"]:
                found.setdefault(edge["location"]["file"], ([], []))[1].append(edge)
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return found

    def _place(
        self,
        number: int,
        shards: int,
        body: Mapping[str, tuple[list[Any], list[Any]]],
        before: Mapping[str, tuple[list[Any], list[Any]]] | None,
    ) -> int:
        path = self._folder / shard_name(number, shards)
        if body == before and path.exists():
            return 0
        nodes = [node for own, _ in body.values() for node in own]
        edges = [edge for _, own in body.values() for edge in own]
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        metadata = {
            "version": GRAPH_VERSION,
            "generator": GENERATOR,
            "facts": FACTS_VERSION,
            "generated_at": now,
            "node_count": len(nodes),
            "edge_count": len(edges),
        }
        _replace(path, orjson.dumps({"_metadata": metadata, "nodes": nodes, "edges": edges}))
        return 1

    def _place_facts(self, number: int, shards: int, files: Iterable[str]) -> None:
        assert self._project is not None
        stored = _FactsFile(FACTS_VERSION, shards, [self._project.packed[path] for path in files])
        name = f"facts.{number:03d}.msgpack"
        _replace(self._folder / FACTS / name, msgspec.msgpack.encode(stored))

    def _drop(self, shards: int) -> None:
        """Delete our files of another layout."""
        graphs = {shard_name(number, shards) for number in range(shards)}
        facts = {f"facts.{number:03d}.msgpack" for number in range(shards)}
        for name in _names(self._folder, ".json"):
            if _NAME.match(name) and name not in graphs and _is_ours(self._folder / name):
                (self._folder / name).unlink(missing_ok=True)
        for name in _names(self._folder / FACTS, ".msgpack"):
            if name not in facts:
                (self._folder / FACTS / name).unlink(missing_ok=True)


def shard_name(number: int, shards: int) -> str:
    """The shards' names have three digits, as a graph of another program has none: `code-graph.json`."""
    return f"{STEM}.{number:03d}.json" if shards else f"{STEM}.json"


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b'"generator":"cortex"' in file.read(200)
    except OSError:
        return False


def _names(folder: Path, ending: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(ending) and not name.startswith(".")]
    except OSError:
        return []


def _replace(path: Path, raw: bytes) -> None:
    """By one rename, so that a reader sees the old or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(raw)
    os.replace(temporary, path)
