"""A tree to index, and readers of the indexer's files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson

from cortex.generation.contract import PACKED, PLAIN, unpack
from cortex.indexer.store import manifest as manifests
from cortex.indexer.store.limits import Limits
from cortex.settings.config import Config

FILES = Path(__file__).parents[1] / "golden" / "indexer" / "files"
COUNT = sum(path.is_file() for path in FILES.rglob("*"))
#: languages whose grammars and queries take each process most of its time: 4.5 of 6 s
DEAR = frozenset(
    (".cpp", ".cs", ".ex", ".hs", ".jsx", ".kt", ".php", ".rb", ".scala", ".sql", ".swift", ".vue")
)
QUICK_COUNT = COUNT - sum(path.suffix in DEAR for path in FILES.rglob("*"))
#: two children although there is little work
POOLED = Limits(shard_files=4, pool_files=1, children=2)


def shard_files(config: Config) -> dict[str, dict[str, Any]]:
    """Return the contents of the chunk files, by their names without `.zst`."""
    return {path.name.removesuffix(".zst"): orjson.loads(read(path)) for path in written(config.chunks_dir)}


def written(folder: Path) -> list[Path]:
    """Return the chunk files, or graph files, in a folder."""
    return sorted(path for path in folder.iterdir() if path.name.endswith((PLAIN, PACKED)))


def read(path: Path) -> bytes:
    """Return the content of a chunk file or graph file."""
    return unpack(path.name, path.read_bytes(), 1 << 30)


def chunks(config: Config) -> dict[str, dict[str, Any]]:
    """Return all chunks by id, without times."""
    by_id: dict[str, dict[str, Any]] = {}
    for data in shard_files(config).values():
        for chunk in data["chunks"]:
            assert chunk["id"] not in by_id
            by_id[chunk["id"]] = {key: chunk[key] for key in chunk if key not in ("created_at", "updated_at")}
    return by_id


#: fields that differ between two runs over the same tree
TIMES = re.compile(
    rb'"(?:generated|generated_at|created_at|updated_at)":"[^"]*"|"sequence":\d+|"generated":[\d.]+'
)


def contents(config: Config) -> dict[str, Any]:
    """Return every byte that the indexer wrote, except times and sequence numbers, and the
    manifest's files.
    """
    snapshot: dict[str, Any] = {
        str(path.relative_to(config.home)): TIMES.sub(b"", read(path))
        for folder in (config.chunks_dir, config.graph_dir)
        for path in written(folder)
    }
    manifest = manifests.load(config.manifest)
    snapshot["files"] = {
        path: (e.sha256, e.chunks, e.ids, e.skipped, e.remarks) for path, e in manifest.files.items()
    }
    snapshot["layout"] = (manifest.shards, sorted(manifest.chunk_files), manifest.left_out)
    return snapshot


def stats(config: Config) -> dict[str, tuple[int, int]]:
    return {
        path.name.removesuffix(".zst"): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in written(config.chunks_dir)
    }
