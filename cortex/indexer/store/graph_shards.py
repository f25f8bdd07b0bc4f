"""The graph's files on disk: shards of nodes and edges, their facts, and temporarily the resolved
files that are in no shard yet.
"""

import contextlib
import datetime as dt
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import orjson

from cortex.generation.contract import GENERATOR, GRAPH_BYTES_MAX, PACKED, PLAIN, is_ours, pack, unpack
from cortex.generation.damage import UNREADABLE
from cortex.graph.facts.facts import FACTS_VERSION
from cortex.graph.facts.tables import Packed
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.project import Roots
from cortex.indexer.store.graph_bodies import Bodies, Body
from cortex.indexer.store.shards import shard_of
from cortex.system import files
from cortex.system.errors import Damaged
from cortex.system.process import allocator

#: `_metadata.version` of the graph files
GRAPH_VERSION = "1.1"
#: folder of the facts, in the folder of the graph files
FACTS = ".facts"
#: the file of State, in that folder
STATE = "state.msgpack"
#: the file of the structural edges, there, while other processes write the shards
STRUCTURAL = "structural.msgpack"
STEM = "code-graph"
#: bytes of fresh facts that are set aside together, at least, and at least this share of those
#: before: each part keeps a file open
PART_BYTES, PART_SHARE = 4 << 20, 1 / 32

_NAME = re.compile(rf"{STEM}(?:\.\d{{3,}})?\.json(?:\.zst)?$")
_FACTS_NAME = re.compile(r"facts\.\d{3,}\.msgpack$")
_RESOLVED_NAME = re.compile(r"resolved\.\d{3,}\.msgpack$")

T = TypeVar("T")


class _FactsFile(msgspec.Struct):
    version: int
    shards: int
    files: list[Packed]


class _MappedFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Packed over the bytes of a mapped file: it is in memory only where it is read, and several
    processes share one copy. Read-only.
    """

    path: str
    language: str
    sha256: str
    package: str
    words: memoryview
    head: memoryview
    inner: memoryview


class _MappedFile(msgspec.Struct):
    version: int
    shards: int
    files: list[_MappedFacts]


class FreshFacts:
    """The facts of the files that a run has read, encoded, until the graph needs them. Those of a
    long run are in files without names, because the processes need the memory.
    """

    def __init__(self, folder: Path) -> None:
        """`folder`: that of the graph files."""
        self._folder = folder / FACTS
        self._parts: list[mmap.mmap | memoryview] = []
        self._recent: list[msgspec.Raw] = []
        self._recent_bytes, self._bytes = 0, 0

    def add(self, encoded: bytes) -> None:
        """Add facts by path, None for a file without facts."""
        self._recent.append(msgspec.Raw(encoded))
        self._recent_bytes += len(encoded)
        if self._recent_bytes >= max(PART_BYTES, PART_SHARE * self._bytes):
            self._end_part()

    def take(self) -> dict[str, Packed | None]:
        """Return the facts by path, mapped, and forget them."""
        self._end_part()
        facts: dict[str, _MappedFacts | None] = {}
        for part in self._parts:
            for some in _FRESH.decode(memoryview(part)):
                facts |= some
        self._parts = []
        return cast("dict[str, Packed | None]", facts)

    def _end_part(self) -> None:
        raw = msgspec.msgpack.encode(self._recent)
        self._recent, self._recent_bytes, self._bytes = [], 0, self._bytes + len(raw)
        with contextlib.suppress(OSError):  # the facts then stay in memory
            files.make_folder(self._folder)
        self._parts.append(allocator.put_aside(self._folder, memoryview(raw)))


_FRESH = msgspec.msgpack.Decoder(list[dict[str, _MappedFacts | None]])


class State(msgspec.Struct):
    """The state of the graph files. `wanted` is a digest of the content of all their source files;
    `structural` are the edges of types that implement an interface without declaring it.
    """

    version: int = 0
    shards: int = 0
    wanted: str = ""
    roots: Roots = msgspec.field(default_factory=Roots)
    structural: dict[str, list[Edge]] = {}
    #: `stats` of the files as they were written
    files: dict[str, tuple[int, int]] = {}


def files_by_shard(paths: Iterable[str], shards: int, numbers: Iterable[int]) -> dict[int, list[str]]:
    """Return shard → its files among `paths`, sorted, for each of the shards `numbers`."""
    paths_by_shard: dict[int, list[str]] = {number: [] for number in numbers}
    for path in paths:
        if (files := paths_by_shard.get(shard_of(path, shards))) is not None:
            files.append(path)
    for files in paths_by_shard.values():
        files.sort()
    return paths_by_shard


def read_shard(folder: Path, number: int, shards: int) -> Body:
    """Return path → its part of a shard; empty if missing, damaged or another program's."""
    body: dict[str, tuple[list[Any], list[Any], list[Any]]] = {}
    try:
        name = shard_name(number, shards)
        raw = files.read_ours(folder / name, GRAPH_BYTES_MAX)
        data = orjson.loads(unpack(name, raw, GRAPH_BYTES_MAX))
        metadata = data["_metadata"]
        if (metadata.get("generator"), metadata.get("facts")) != (GENERATOR, FACTS_VERSION):
            return {}
        for node in data["nodes"]:
            body.setdefault(node["file"], ([], [], []))[0].append(node)
        for edge in data["edges"]:
            body.setdefault(edge["location"]["file"], ([], [], []))[1].append(edge)
        for entry in data["unresolved_uses"]:
            body.setdefault(entry["file"], ([], [], []))[2].append(entry)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return body


def place_shard(folder: Path, place: tuple[int, int], body: Body, before: Body) -> int:
    """Write a changed shard at `place`: (number, count of shards). Returns how many files."""
    path = folder / shard_name(*place)
    if body == before and path.exists():
        return 0
    nodes = [node for file_nodes, _, _ in body.values() for node in file_nodes]
    edges = [edge for _, file_edges, _ in body.values() for edge in file_edges]
    unresolved = [entry for _, _, entries in body.values() for entry in entries]
    now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    metadata = {
        "version": GRAPH_VERSION,
        "generator": GENERATOR,
        "facts": FACTS_VERSION,
        "generated_at": now,
        "node_count": len(nodes),
        "edge_count": len(edges),
    }
    raw = orjson.dumps({"_metadata": metadata, "nodes": nodes, "edges": edges, "unresolved_uses": unresolved})
    files.replace(path, pack(path.name, raw))
    return 1


def write_shards(folder: Path, shards: int, paths_by_shard: Mapping[int, list[str]], bodies: Bodies) -> int:
    """Write the shards of a layout that have changed; return their number."""
    written = 0
    for number, paths in paths_by_shard.items():
        before = read_shard(folder, number, shards)
        written += place_shard(folder, (number, shards), bodies.build_body(paths, before), before)
    return written


def read_facts(folder: Path) -> Iterator[tuple[int, Packed]]:
    """Yield (shards of its layout, facts) of all files, without damaged ones."""
    for path in _facts_files(folder, _FACTS_NAME):
        with contextlib.suppress(OSError, *UNREADABLE):
            stored = msgspec.msgpack.decode(files.read_ours(path, GRAPH_BYTES_MAX), type=_FactsFile)
            if stored.version == FACTS_VERSION:
                yield from ((stored.shards, facts) for facts in stored.files if facts.language in LANGUAGES)


def map_facts(folder: Path) -> Iterator[Packed]:
    """Yield all files' facts, mapped. Raises OSError and Damaged: they were just written."""
    for stored in _map_files(folder, _FACTS_NAME, _MappedFile):
        yield from cast("list[Packed]", stored.files)


def place_resolved(folder: Path, number: int, bodies: Mapping[str, bytes | memoryview]) -> None:
    """Store resolved files for the shards: path → its packed nodes and edges."""
    files.replace(folder / FACTS / f"resolved.{number:03d}.msgpack", msgspec.msgpack.encode(bodies))


def map_resolved(folder: Path) -> dict[str, bytes | memoryview]:
    """Return all stored resolved files, mapped. Raises OSError and Damaged, as `map_facts` does."""
    resolved: dict[str, bytes | memoryview] = {}
    for bodies in _map_files(folder, _RESOLVED_NAME, dict[str, memoryview]):
        resolved |= bodies
    return resolved


def place_structural(folder: Path, structural: Mapping[str, Sequence[Edge]]) -> None:
    """Store the structural edges of files for the shards."""
    files.replace(folder / FACTS / STRUCTURAL, msgspec.msgpack.encode(structural))


def read_structural(folder: Path) -> dict[str, list[Edge]]:
    """Return the stored structural edges. Raises OSError and Damaged: they were just written."""
    try:
        raw = files.read_ours(folder / FACTS / STRUCTURAL, GRAPH_BYTES_MAX)
        return msgspec.msgpack.decode(raw, type=dict[str, list[Edge]])
    except UNREADABLE as error:
        raise Damaged(f"{folder / FACTS / STRUCTURAL} cannot be read: {error}.") from error


def drop_resolved(folder: Path) -> None:
    """Delete what was stored for the shards."""
    for path in _facts_files(folder, _RESOLVED_NAME):
        files.remove(path)
    files.remove(folder / FACTS / STRUCTURAL)


def _map_files(folder: Path, name_of: re.Pattern[str], kind: type[T]) -> Iterator[T]:
    """Yield the decoded content of each file with a matching name in the folder of facts."""
    for path in _facts_files(folder, name_of):
        with files.open_ours(path) as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            yield msgspec.msgpack.decode(memoryview(data), type=kind)
        except UNREADABLE as error:
            raise Damaged(f"{path} cannot be read: {error}.") from error


def place_facts(folder: Path, place: tuple[int, int], facts: Iterable[Packed]) -> None:
    number, shards = place
    stored = _FactsFile(FACTS_VERSION, shards, list(facts))
    files.replace(folder / FACTS / f"facts.{number:03d}.msgpack", msgspec.msgpack.encode(stored))


def read_state(folder: Path) -> State:
    """Return the state, an empty one when it is missing, damaged or of another version."""
    try:
        state = msgspec.msgpack.decode(files.read_ours(folder / FACTS / STATE, GRAPH_BYTES_MAX), type=State)
    except (OSError, *UNREADABLE):
        return State()
    return state if state.version == FACTS_VERSION else State()


def stats(folder: Path, shards: int) -> dict[str, tuple[int, int]]:
    """Return (size, mtime_ns) of graph files and files of facts, in a layout of `shards`."""
    names = [shard_name(number, shards) for number in range(shards)]
    names += [f"{FACTS}/facts.{number:03d}.msgpack" for number in range(shards)]
    file_stats = {}
    for name in names:
        with contextlib.suppress(OSError):
            info = (folder / name).lstat()
            file_stats[name] = (info.st_size, info.st_mtime_ns)
    return file_stats


def place_state(folder: Path, state: State) -> None:
    files.replace(folder / FACTS / STATE, msgspec.msgpack.encode(state))


def drop_state(folder: Path) -> None:
    """Delete the state before anything is written: its absence marks half-written files."""
    files.remove(folder / FACTS / STATE)


def drop_facts(folder: Path, shards: int) -> None:
    """Delete the facts of another layout."""
    wanted = {f"facts.{number:03d}.msgpack" for number in range(shards)}
    for path in _facts_files(folder, _FACTS_NAME):
        if path.name not in wanted:
            files.remove(path)


def drop_graphs(folder: Path, shards: int) -> None:
    """Delete Cortex's graph files of another layout."""
    wanted = {shard_name(number, shards) for number in range(shards)}
    for name in [*_names(folder, PLAIN), *_names(folder, PACKED)]:
        if _NAME.match(name) and name not in wanted and is_ours(folder / name):
            files.remove(folder / name)


def shard_name(number: int, shards: int) -> str:
    """Return a shard's name, with three digits; other programs' (`code-graph.json`) have none."""
    return f"{STEM}.{number:03d}{PACKED}" if shards else f"{STEM}{PACKED}"


def _facts_files(folder: Path, name_of: re.Pattern[str]) -> list[Path]:
    """Return the files of the folder of facts with a matching name, sorted."""
    return [folder / FACTS / name for name in sorted(_names(folder / FACTS, "")) if name_of.match(name)]


def _names(folder: Path, ending: str) -> list[str]:
    try:
        return [name for name in files.names(folder) if name.endswith(ending) and not name.startswith(".")]
    except OSError:
        return []
