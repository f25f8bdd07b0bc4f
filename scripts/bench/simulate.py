#!/usr/bin/env python3
"""An estimate of 100 000 repositories with 2 000 000 000 chunks in Milvus. It runs no server: this
is arithmetic over one table of inputs, with repositories drawn by a fixed seed.

    scripts/bench/simulate.py [--set NAME=VALUE ...] [--json]

INPUTS gives the source of each number: measured by a program of ours, published by the engine's
authors, or an *assumption*, which has no source. Prints the spread of rows, the size of indexes by
kind, the query nodes that hold and answer them, the cost of a change and of another model, and how
far the number of nodes moves when one input is at its lowest or highest.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import report

SEED = 22
GB = 1e9
DAY_S = 86_400
#: searches by words for a query: in four fields, and three in the field that replaces them in
#: chunks that cover no lines (cortex/engines/milvus/lanes.py)
LANES = 4 + 3
#: bytes of an entry of a sparse vector in Milvus: a uint32 and a float32
ENTRY_BYTES = 8
#: bytes of a link of HNSW: `M * 8-10 bytes per stored element`, nmslib/hnswlib ALGO_PARAMS.md
LINK_BYTES = 10
#: bytes of a neighbour in a Vamana graph: a uint32
NEIGHBOUR_BYTES = 4
ASSUMED = "assumption"
MEASURED = "results/2026-11-23-deb3825-chunk_sizes.json"
TEXT = "milvus.io/docs"


@dataclass(frozen=True, slots=True)
class Input:
    """A number with its source; `low`, `high`: its range, if it is uncertain."""

    value: float
    unit: str
    source: str
    low: float = 0.0
    high: float = 0.0


INPUTS: dict[str, Input] = {
    "repositories": Input(100_000, "", "the case that is sized"),
    "chunks": Input(2e9, "", "the case that is sized", 1e9, 4e9),
    "spread": Input(1.7, "deviation of log(chunks)", ASSUMED + ": .84 over our 12 repositories", 0.8, 2.4),
    "dimensions": Input(384, "", "cortex-static-384", 256, 1024),
    "chunk_json": Input(2_350, "bytes", MEASURED, 1_500, 3_500),
    "lane_text": Input(941, "bytes", MEASURED, 700, 1_400),
    "lane_entries": Input(65.8, "entries of a chunk in four lanes", MEASURED, 50, 100),
    "view_entries": Input(
        21.2,
        "entries of a chunk in the three lanes of chunks without lines",
        "chunk_sizes.py over click, cobra and xmonad, 2 897 chunks",
        10,
        35,
    ),
    "other_fields": Input(300, "bytes: keys, path, tags, names, hash", ASSUMED, 200, 600),
    "links": Input(18, "M of HNSW", "milvus-io/milvus configs/milvus.yaml, autoIndex.params.build", 12, 30),
    "sparse_kept": Input(1.0, "share of 8 bytes an entry", ASSUMED + ": no compression", 0.35, 1.2),
    "loadable": Input(0.9, "share of memory", f"{TEXT}/limitations.md, Load limits", 0.7, 0.9),
    "replicas": Input(2, "", ASSUMED, 1, 3),
    "partitions": Input(1_024, "of the key `project`", f"{TEXT}/use-partition-key.md: the limit", 64, 1_024),
    "shards": Input(16, "", f"{TEXT}/limitations.md: the limit", 4, 16),
    "units_max": Input(65_536, "shards x partitions", f"{TEXT}/limit_collection_counts.md"),
    "segment": Input(1.024, "GB", f"{TEXT}/configure_datacoord.md, segment.maxSize", 1.024, 4.096),
    "node_memory": Input(128, "GB", ASSUMED, 64, 512),
    "node_disk": Input(3_800, "GB of NVMe", ASSUMED, 1_900, 7_600),
    "node_cores": Input(16, "", ASSUMED, 8, 32),
    "busy": Input(0.5, "share of cores at the peak", ASSUMED, 0.3, 0.7),
    "search": Input(
        1.12,
        "ms of a core, 1 M vectors of 128 dimensions",
        f"{TEXT}/benchmark.md: 8 cores, 7 153 queries/s",
        0.8,
        2.3,
    ),
    "lane_cost": Input(1.0, "times a vector search, for each lane", ASSUMED, 0.3, 3.0),
    "people": Input(20_000, "", ASSUMED, 5_000, 50_000),
    "questions": Input(300, "for each person and day, with those of agents", ASSUMED, 50, 1_000),
    "peak": Input(4, "times the mean", ASSUMED, 2, 8),
    "front": Input(
        11.2, "ms of a core for each question", "results/2026-11-23-dcc7168-load.json, 32 clients", 8, 25
    ),
    "commits": Input(2, "for each repository and day", ASSUMED, 0.2, 10),
    "changed_chunks": Input(15, "for each commit", ASSUMED, 5, 60),
    "embedding": Input(0.141, "ms of a core for each chunk", MEASURED, 0.05, 0.5),
    "graph": Input(0.256, "ms of a core for each vector", MEASURED + ": usearch, 5 000 vectors", 0.2, 3.0),
    "write": Input(10, "MB/s for each shard", ASSUMED, 3, 30),
}

#: kind of vector index → (description, bytes of a row in memory, bytes of a row on the node's disk)
KINDS: dict[str, str] = {
    "HNSW float32": "AUTOINDEX as it comes",
    "HNSW float16": "vectors of two bytes a number",
    "HNSW int8": "HNSW_SQ, SQ8",
    "DiskANN": "PQ codes and a cache of .125 and .1 of the vectors (milvus.yaml), the rest on NVMe",
    "IVF_RABITQ + SQ8": "one bit a number, refined by a byte: 28 % of float32 (Milvus 2.6's announcement)",
}

Values = Mapping[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", dest="other")
    report.add_json(parser)
    options = parser.parse_args()
    values = values_of(dict(pair.split("=", 1) for pair in options.other))
    figures = simulate(values)
    show(values, figures)
    if options.json:
        inputs = {name: {"value": values[name], "source": spec.source} for name, spec in INPUTS.items()}
        report.write(report.begin("simulate") | {"seed": SEED, "inputs": inputs} | figures)


def values_of(other: Mapping[str, Any] | None = None) -> dict[str, float]:
    """Return the inputs as numbers, with some replaced."""
    if unknown := sorted((other or {}).keys() - INPUTS.keys()):
        raise SystemExit(f"There is no input {unknown[0]}; there are: {', '.join(INPUTS)}.")
    return {name: spec.value for name, spec in INPUTS.items()} | {
        name: float(value) for name, value in (other or {}).items()
    }


def simulate(values: Values) -> dict[str, Any]:
    sizes = draw(values)
    kinds = {kind: index_of(kind, values, sizes) for kind in KINDS}
    return {
        "placement": placement(values, sizes),
        "row": row_of(values),
        "indexes": kinds,
        "questions": question_load(values),
        "change": change_load(values),
        "another_model": reembedding_load(values),
        "sensitivity": sensitivity(values),
    }


def draw(values: Values) -> np.ndarray:
    """Return the chunks of each repository, lognormal; they add up to all chunks but for
    rounding.
    """
    drawn = np.random.default_rng(SEED).lognormal(0.0, values["spread"], int(values["repositories"]))
    return np.maximum(1, np.rint(drawn * values["chunks"] / drawn.sum()))


def placement(values: Values, sizes: np.ndarray) -> dict[str, float]:
    """Return how evenly repositories fill the partitions, which a hash of their names selects."""
    partitions, shards = int(values["partitions"]), int(values["shards"])
    where = np.random.default_rng(SEED + 1).integers(0, partitions, len(sizes))
    rows = np.bincount(where, weights=sizes, minlength=partitions)
    return {
        "median_repository": float(np.median(sizes)),
        "p99_repository": round(float(np.percentile(sizes, 99))),
        "largest_repository": float(sizes.max()),
        "share_of_largest_1000": round(float(np.sort(sizes)[-1000:].sum() / sizes.sum()), 3),
        "mean_partition": round(float(rows.mean())),
        "largest_partition": float(rows.max()),
        "largest_by_mean": round(float(rows.max() / rows.mean()), 2),
        "units": partitions * shards,
        "fits_units": partitions * shards <= values["units_max"],
        "segments": segments_of(values, rows),
        "segments_of_mean_partition": round(segments_of(values, rows) / partitions, 1),
    }


def segments_of(values: Values, rows: np.ndarray) -> float:
    """Return the sealed segments: of each partition at least one in each shard with rows of it."""
    data = rows * row_of(values)["stored"] / (values["segment"] * GB) / values["shards"]
    return float((values["shards"] * np.maximum(np.ceil(data), rows > 0)).sum())


def row_of(values: Values) -> dict[str, float]:
    """Return the bytes of a chunk: as stored, and its lanes in memory."""
    sparse = (values["lane_entries"] + values["view_entries"]) * ENTRY_BYTES
    fields = values["chunk_json"] + values["lane_text"] + values["other_fields"]
    return {
        "vector": 4 * values["dimensions"],
        "sparse": sparse,
        "fields": fields,
        "stored": 4 * values["dimensions"] + sparse + fields,
        "lanes_in_memory": sparse * values["sparse_kept"],
    }


def vector_bytes(kind: str, values: Values) -> tuple[float, float]:
    """Return the bytes of a row's vector index: (in memory, on the node's disk)."""
    raw, links = 4 * values["dimensions"], LINK_BYTES * values["links"]
    return {
        "HNSW float32": (raw + links, 0.0),
        "HNSW float16": (raw / 2 + links, 0.0),
        "HNSW int8": (raw / 4 + links, 0.0),
        "DiskANN": (raw * (0.125 + 0.1), raw + 56 * NEIGHBOUR_BYTES),
        "IVF_RABITQ + SQ8": (raw * 0.28, 0.0),
    }[kind]


def index_of(kind: str, values: Values, sizes: np.ndarray) -> dict[str, float]:
    """Return GB in memory and on disks, and nodes, of all replicas.

    Fields are mapped from the nodes' disks, lanes are in memory.
    """
    memory, disk = vector_bytes(kind, values)
    row, copies = row_of(values), sizes.sum() * values["replicas"] / GB
    memory_gb, disk_gb = copies * (memory + row["lanes_in_memory"]), copies * (disk + row["fields"])
    by_memory = memory_gb / (values["node_memory"] * values["loadable"])
    by_disk = disk_gb / values["node_disk"]
    return {
        "memory_bytes_a_row": round(memory + row["lanes_in_memory"]),
        "memory_gb": round(memory_gb),
        "disk_gb": round(disk_gb),
        "nodes": math.ceil(max(by_memory, by_disk, values["replicas"])),
        "bound_by": "disk" if by_disk > by_memory else "memory",
    }


def question_load(values: Values) -> dict[str, float]:
    """Return the cores that queries take at the peak.

    A query about one project searches each segment of its partition, by the vector and each lane; a
    query over all searches all partitions.
    """
    a_second = values["people"] * values["questions"] * values["peak"] / DAY_S
    rows = np.full(int(values["partitions"]), values["chunks"] / values["partitions"])
    segments = segments_of(values, rows) / values["partitions"]
    search_ms = values["search"] * values["dimensions"] / 128 * (1 + LANES * values["lane_cost"])
    cores = a_second * search_ms * segments / 1000 / values["busy"]
    return {
        "a_second": round(a_second, 1),
        "segments": segments,
        "core_ms": round(search_ms * segments, 1),
        "cores": math.ceil(cores),
        "nodes": math.ceil(cores / values["node_cores"]),
        "front_cores": math.ceil(a_second * values["front"] / 1000 / values["busy"]),
        "over_all_core_s": round(search_ms * segments * values["partitions"] / 1000, 1),
    }


def change_load(values: Values) -> dict[str, float]:
    """Return the writes of a day's commits: a changed chunk is a new row, and the old row dies."""
    rows = values["repositories"] * values["commits"] * values["changed_chunks"]
    bytes_ = rows * row_of(values)["stored"]
    return {
        "rows_a_commit": values["changed_chunks"],
        "kb_a_commit": round(values["changed_chunks"] * row_of(values)["stored"] / 1000, 1),
        "rows_a_day": rows,
        "gb_a_day": round(bytes_ / GB, 1),
        "mb_a_second_at_peak": round(bytes_ / 1e6 / DAY_S * values["peak"], 2),
        "share_of_writing": round(
            bytes_ / 1e6 / DAY_S * values["peak"] / values["write"] / values["shards"], 3
        ),
        "embedding_cores": round(rows * values["embedding"] / 1000 / DAY_S * values["peak"], 2),
        "share_of_rows_a_day": round(rows / values["chunks"], 4),
    }


def reembedding_load(values: Values) -> dict[str, float]:
    """Return the cost of another model: embedding and writing each chunk, and building each
    graph.
    """
    rows = values["chunks"]
    return {
        "embedding_core_hours": round(rows * values["embedding"] / 3.6e6, 1),
        "graph_core_hours": round(rows * values["graph"] * values["dimensions"] / 384 / 3.6e6, 1),
        "written_tb": round(rows * row_of(values)["stored"] / 1e12, 2),
        "writing_hours": round(
            rows * row_of(values)["stored"] / 1e6 / values["write"] / values["shards"] / 3600, 1
        ),
    }


def nodes_of(values: Values, kind: str = "HNSW int8") -> int:
    """Return the query nodes that hold all rows and answer all queries."""
    return max(int(index_of(kind, values, draw(values))["nodes"]), int(question_load(values)["nodes"]))


def sensitivity(values: Values) -> dict[str, tuple[int, int]]:
    """Return input → nodes with it at its lowest and at its highest, the largest effect first."""
    nodes_by_input = {
        name: (nodes_of({**values, name: spec.low}), nodes_of({**values, name: spec.high}))
        for name, spec in INPUTS.items()
        if spec.high
    }
    moved = {name: pair for name, pair in nodes_by_input.items() if set(pair) != {nodes_of(values)}}
    return dict(sorted(moved.items(), key=lambda entry: min(entry[1]) - max(entry[1])))


def show(values: Values, figures: Mapping[str, Any]) -> None:
    report.print_table(
        ("input", "value", "lowest", "highest", "unit and source"),
        [
            (name, f"{values[name]:g}", *_bounds(spec), f"{spec.unit}; {spec.source}".removeprefix("; "))
            for name, spec in INPUTS.items()
        ],
    )
    for name in ("placement", "row", "questions", "change", "another_model"):
        print(f"\n{name.replace('_', ' ')}")
        report.print_figures({key: f"{value:,}" for key, value in figures[name].items()})
    print("\nindexes, all replicas")
    heads = ("memory_bytes_a_row", "memory_gb", "disk_gb", "nodes", "bound_by")
    report.print_table(
        ("kind", *heads),
        [
            (kind, *(kind_figures[head] for head in heads))
            for kind, kind_figures in figures["indexes"].items()
        ],
    )
    print(f"\nquery nodes with HNSW int8 ({nodes_of(values)}), one input at its lowest and highest")
    report.print_table(
        ("input", "lowest", "highest"), [(name, *pair) for name, pair in figures["sensitivity"].items()]
    )


def _bounds(spec: Input) -> Sequence[str]:
    return (f"{spec.low:g}", f"{spec.high:g}") if spec.high else ("", "")


if __name__ == "__main__":
    main()
