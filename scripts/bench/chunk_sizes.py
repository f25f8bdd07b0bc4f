#!/usr/bin/env python3
"""The sizes of chunks, and chunks of a repository: the input of `simulate.py`.

    scripts/bench/chunk_sizes.py FOLDER_OF_REPOSITORIES [--json]

Each repository in the folder is copied and indexed as a user's would be. Figures over all chunks:
bytes of JSON without the vector, and of the texts of the ranking lanes; distinct tokens of each
lane, which are the entries of a sparse vector, and of the text that replaces lanes in chunks that
cover no lines; chunks of a file. Sizes of repositories are given by the mean and the deviation of
their logarithms. Last, seconds of processor time to embed a chunk, and to add its vector to
usearch's HNSW graph with the parameters of Milvus.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import product
import report
from usearch.index import Index

from cortex.embedders.static import open_static
from cortex.engines.text.schema import LANE_FIELDS, lanes_of, make_document
from cortex.indexer.run import index
from cortex.publish.chunk_file_reader import read_chunk_file
from cortex.settings.config import Config
from cortex.terms.passages import embed_text

#: chunks that are embedded and added to a graph
EMBEDDED = 5_000
#: of Milvus's AUTOINDEX: configs/milvus.yaml, autoIndex.params.build
M, EF_CONSTRUCTION = 18, 240


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    report.add_json(parser)
    options = parser.parse_args()
    figures, sizes, texts = report.begin("chunk_sizes"), Sizes(), list[str]()
    for repository in sorted(path for path in options.folder.iterdir() if path.is_dir()):
        for text in count_chunks(repository, sizes):
            if len(texts) < EMBEDDED:
                texts.append(text)
    figures |= sizes.figures() | costs(texts)
    report.print_machine(figures)
    report.print_figures({name: value for name, value in figures.items() if name != "machine"})
    if options.json:
        report.write(figures)


class Sizes:
    """Sums over all counted chunks."""

    def __init__(self) -> None:
        self.json = self.lanes = self.files = self.views = 0
        self.entries = dict.fromkeys(LANE_FIELDS, 0)
        #: chunks of each repository
        self.chunks: list[int] = []

    def take(self, chunk: Mapping[str, Any]) -> None:
        self.chunks[-1] += 1
        self.json += len(orjson.dumps(chunk))
        fields = make_document(1, chunk).to_dict()
        for lane, field in LANE_FIELDS.items():
            text = " ".join(fields.get(field, ()))
            self.lanes += len(text.encode())
            self.entries[lane] += len(set(text.split()))
        lanes = lanes_of(chunk)
        if not lanes.covers:
            self.views += sum(len(set(some)) for some in lanes.tokens.values())

    def figures(self) -> report.Figures:
        chunks, logs = sum(self.chunks), [math.log(count) for count in self.chunks]
        return {
            "repositories": len(self.chunks),
            "files": self.files,
            "chunks": chunks,
            "chunks_of_a_file": round(chunks / self.files, 1),
            "chunk_json_bytes": round(self.json / chunks),
            "lane_text_bytes": round(self.lanes / chunks),
            "lane_entries": {lane: round(count / chunks, 1) for lane, count in self.entries.items()},
            "view_entries": round(self.views / chunks, 1),
            "log_chunks_mean": round(statistics.mean(logs), 2),
            "log_chunks_deviation": round(statistics.stdev(logs), 2) if len(logs) > 1 else 0.0,
        }


def count_chunks(repository: Path, sizes: Sizes) -> Iterator[str]:
    """Count the chunks of a repository; yield the text of each that would be embedded."""
    with product.scratch_project() as root:
        shutil.copytree(repository, root, dirs_exist_ok=True, symlinks=True)
        config = Config(root=root.resolve(), explicit_root=True)
        done = index(config)
        sizes.files += done.files
        sizes.chunks.append(0)
        for path in sorted(config.chunks_dir.glob("*.json*")):
            for embedded in read_chunk_file(path, open_static().dimensions).chunks.values():
                sizes.take(embedded.body)
                yield embed_text(embedded.body["metadata"], embedded.body["text"])


def costs(texts: list[str]) -> report.Figures:
    """Return milliseconds of processor time for a chunk, in one thread."""
    embedder = open_static()
    started = time.process_time()
    vectors = np.asarray(embedder.embed(texts, "passage"), np.float32)
    embedding = time.process_time() - started
    graph = Index(
        ndim=vectors.shape[1], metric="cos", dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION
    )
    started = time.process_time()
    graph.add(np.arange(len(vectors)), vectors, threads=1)
    adding = time.process_time() - started
    return {
        "embedded": len(texts),
        "embedding_ms": round(1000 * embedding / len(texts), 3),
        "graph_ms": round(1000 * adding / len(texts), 3),
    }


if __name__ == "__main__":
    main()
