"""The measurement of a model alone: ranks by the cosine of query and chunk only ("semraw").

    python -m scripts.train.evaluate --repos DIR --queries DIR [--model DIR] [--dimensions N]

The folders are those of scripts/bench/quality.py, and so are the targets and NDCG@10. A chunk is
WINDOW_CHARACTERS of whole lines, embedded with its path; files are ranked by their best chunk, and
a target with lines is met by that chunk only. `ndcg10_chunks` ranks chunks instead, several of a
file included, as semble's harness does.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cortex.embedders.shipped import MODEL_DIR
from cortex.embedders.static import StaticEmbedder, open_static
from scripts.train.sources import LANGUAGE_OF

#: characters of a chunk
WINDOW_CHARACTERS = 1500
#: bytes of the largest file that is read
FILE_BYTES_MAX = 1_000_000
#: results that count
DEPTH = 10


@dataclass(frozen=True)
class Chunk:
    path: str
    start: int
    end: int
    text: str


def windows(path: str, text: str) -> list[Chunk]:
    """Split a text into windows of whole lines, at least WINDOW_CHARACTERS each but for the
    last.
    """
    chunks: list[Chunk] = []
    rows: list[str] = []
    size, first = 0, 1
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        rows.append(line)
        size += len(line) + 1
        if size >= WINDOW_CHARACTERS or number == len(lines):
            chunks.append(Chunk(path, first, number, "\n".join(rows)))
            rows, size, first = [], 0, number + 1
    return chunks


def read_chunks(folder: Path) -> list[Chunk]:
    """Return the chunks of every source file below a folder; paths are relative to it."""
    chunks: list[Chunk] = []
    for path in sorted(folder.rglob("*")):
        is_source = path.suffix[1:].lower() in LANGUAGE_OF and path.is_file() and not path.is_symlink()
        if is_source and path.stat().st_size <= FILE_BYTES_MAX and ".git" not in path.parts:
            chunks += windows(path.relative_to(folder).as_posix(), path.read_text("utf-8", "replace"))
    return chunks


def rank_files(order: np.ndarray, chunks: list[Chunk]) -> list[Chunk]:
    """Return the best chunk of each of the DEPTH best files; `order`: chunk numbers, best first."""
    best: dict[str, Chunk] = {}
    for at in order:
        best.setdefault(chunks[at].path, chunks[at])
        if len(best) == DEPTH:
            break
    return list(best.values())


def gain(query: dict[str, Any], ranked: list[Chunk], root: str) -> float:
    """Return NDCG@10 with binary gains."""
    targets = [*query["relevant"], *query.get("secondary", [])]
    ranks = [
        next((at for at, chunk in enumerate(ranked, 1) if covers(chunk, target, root)), 0)
        for target in targets
    ]
    ideal = sum(1 / math.log2(at + 1) for at in range(1, min(len(targets), DEPTH) + 1))
    return sum(1 / math.log2(at + 1) for at in ranks if at) / ideal


def covers(chunk: Chunk, target: Any, root: str) -> bool:
    path = target if isinstance(target, str) else target["path"]
    if path not in (chunk.path, f"{root}/{chunk.path}" if root else chunk.path):
        return False
    if isinstance(target, str) or "start_line" not in target:
        return True
    return bool(chunk.start <= target["end_line"] and target["start_line"] <= chunk.end)


def evaluate(embedder: StaticEmbedder, repos: Path, queries: Path, dimensions: int = 0) -> dict[str, Any]:
    """Return the means, by category and repository, and the embedder's speed.

    `dimensions`: use only that prefix, 0 for all.
    """
    width = dimensions or embedder.dimensions
    by: dict[str, dict[str, list[float]]] = {"category": defaultdict(list), "repository": defaultdict(list)}
    of_chunks: list[float] = []
    embedded, seconds = 0, 0.0
    for repo in json.loads((queries / "repos.json").read_text()):
        root = repo.get("benchmark_root") or ""
        chunks = read_chunks(repos / repo["name"] / root)
        started = time.perf_counter()
        vectors = embedder.embed([f"{chunk.path}\n{chunk.text}" for chunk in chunks])[:, :width]
        seconds += time.perf_counter() - started
        embedded += len(chunks)
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        for query in json.loads((queries / "annotations" / f"{repo['name']}.json").read_text()):
            order = np.argsort(
                -(vectors @ embedder.embed([query["query"]], "query")[0, :width]), kind="stable"
            )
            value = gain(query, rank_files(order, chunks), root)
            of_chunks.append(gain(query, [chunks[at] for at in order[:DEPTH]], root))
            by["category"][query["category"]].append(value)
            by["repository"][repo["name"]].append(value)
    means = {
        key: {name: statistics.mean(rows) for name, rows in sorted(of.items())} for key, of in by.items()
    }
    every = [value for rows in by["repository"].values() for value in rows]
    return {
        "model": embedder.identity,
        "dimensions": width,
        "queries": len(every),
        "ndcg10": statistics.mean(every),
        "ndcg10_repositories": statistics.mean(means["repository"].values()),
        "ndcg10_chunks": statistics.mean(of_chunks),
        "chunks_a_second": embedded / seconds,
        **means,
    }


def show(result: dict[str, Any]) -> str:
    lines = []
    for key, value in result.items():
        rows = value.items() if isinstance(value, dict) else [(key, value)]
        lines += [
            f"{name:22} {cell:.4f}" if isinstance(cell, float) else f"{name:22} {cell}" for name, cell in rows
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--dimensions", type=int, default=0, help="use only a prefix of the vectors")
    options = parser.parse_args()
    print(show(evaluate(open_static(options.model), options.repos, options.queries, options.dimensions)))


if __name__ == "__main__":
    main()
