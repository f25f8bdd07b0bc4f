"""The arithmetic of a large cluster, by figures that can be checked by hand."""

import importlib
from pathlib import Path

import numpy as np
import orjson
import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


@pytest.fixture
def simulate(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("simulate")


@pytest.fixture
def small(simulate):
    """Ten repositories with a million rows of round numbers."""
    return simulate.values_of(
        {
            "repositories": 10,
            "chunks": 1e6,
            "spread": 0,
            "dimensions": 100,
            "chunk_json": 1000,
            "lane_text": 500,
            "lane_entries": 40,
            "view_entries": 10,
            "other_fields": 100,
            "links": 10,
            "sparse_kept": 1,
            "replicas": 2,
            "partitions": 1,
            "shards": 1,
            "node_memory": 1,
            "loadable": 0.5,
            "node_disk": 2,
        }
    )


def test_a_row_is_its_vector_its_lanes_and_its_fields(simulate, small):
    row = simulate.row_of(small)
    assert (row["vector"], row["sparse"], row["fields"], row["stored"]) == (400, 400, 1600, 2400)


def test_each_kind_of_index_is_as_large_as_a_person_counts(simulate, small):
    bytes_by_kind = {kind: simulate.vector_bytes(kind, small) for kind in simulate.KINDS}
    assert bytes_by_kind["HNSW float32"] == (400 + 100, 0)
    assert bytes_by_kind["HNSW float16"] == (200 + 100, 0)
    assert bytes_by_kind["HNSW int8"] == (100 + 100, 0)
    assert bytes_by_kind["DiskANN"] == (pytest.approx(90), 400 + 224)
    assert bytes_by_kind["IVF_RABITQ + SQ8"] == (pytest.approx(112), 0)


def test_nodes_hold_all_replicas_in_their_memory_and_on_their_disks(simulate, small):
    sizes = simulate.draw(small)
    index = simulate.index_of("HNSW int8", small, sizes)
    assert (index["memory_bytes_a_row"], index["memory_gb"], index["disk_gb"]) == (600, 1, 3)
    assert (index["nodes"], index["bound_by"]) == (3, "memory")  # 1.2 GB in nodes that load half a GB each
    roomy = {**small, "node_memory": 100}
    assert simulate.index_of("HNSW int8", roomy, sizes)["bound_by"] == "disk"
    assert simulate.index_of("HNSW int8", {**roomy, "node_disk": 100}, sizes)["nodes"] == 2  # a replica each


def test_questions_take_as_many_cores_as_segments_and_lanes_say(simulate, small):
    load = simulate.question_load(
        {
            **small,
            "dimensions": 128,
            "search": 1,
            "lane_cost": 0.25,
            "people": 86_400,
            "questions": 10,
            "peak": 1,
            "busy": 0.5,
        }
    )
    # 2.5 GB in segments of 1 GB: 3; a search of 1 ms and seven by words of .25 ms in each
    assert (load["a_second"], load["segments"], load["core_ms"], load["cores"]) == (10, 3, 8.2, 1)


def test_a_change_and_another_model_cost_what_they_write(simulate, small):
    values = {**small, "commits": 2, "changed_chunks": 5, "embedding": 3.6, "graph": 3.6, "write": 1}
    change = simulate.change_load(values)
    assert (change["rows_a_day"], change["kb_a_commit"], change["gb_a_day"]) == (100, 12.0, 0.0)
    assert change["share_of_rows_a_day"] == 0.0001
    anew = simulate.reembedding_load({**values, "dimensions": 384})
    assert (anew["embedding_core_hours"], anew["graph_core_hours"]) == (1.0, 1.0)
    assert anew["writing_hours"] == 1.0  # 3.5 GB at 1 MB/s


def test_drawn_sizes_add_up_and_are_the_same_each_time(simulate):
    values = simulate.values_of()
    sizes = simulate.draw(values)
    assert sizes.sum() == pytest.approx(values["chunks"], rel=1e-4)
    assert np.array_equal(sizes, simulate.draw(values))
    assert len(set(simulate.draw({**values, "spread": 0}).tolist())) == 1
    placement = simulate.placement(values, sizes)
    assert placement["mean_partition"] == pytest.approx(values["chunks"] / values["partitions"], rel=1e-4)
    assert placement["largest_partition"] >= placement["largest_repository"]
    assert placement["fits_units"]


def test_twice_the_rows_are_twice_the_index_and_an_unknown_input_is_refused(simulate, small):
    single = simulate.index_of("HNSW float32", small, simulate.draw(small))
    twice = {**small, "chunks": 2e6}
    assert (
        simulate.index_of("HNSW float32", twice, simulate.draw(twice))["memory_gb"] == 2 * single["memory_gb"]
    )
    with pytest.raises(SystemExit, match="no input nodes"):
        simulate.values_of({"nodes": 3})


def test_every_input_says_where_it_comes_from_and_the_uncertain_ones_how_far_off_they_may_be(simulate):
    for name, spec in simulate.INPUTS.items():
        assert spec.source, name
        assert not spec.high or spec.low <= spec.value <= spec.high, name
        assert not spec.source.startswith(simulate.ASSUMED) or spec.high > spec.low, name


def test_the_figures_in_the_documents_match_the_program(simulate):
    newest = max(BENCH.glob("results/*-simulate.json"))
    saved = orjson.loads(newest.read_bytes())
    values = simulate.values_of()
    assert {name: entry["value"] for name, entry in saved["inputs"].items()} == values
    figures = orjson.loads(orjson.dumps(simulate.simulate(values)))
    assert {name: saved[name] for name in figures} == figures
    scale = (BENCH.parents[1] / "docs" / "SCALE.md").read_text()
    for kind, index in figures["indexes"].items():
        cells = f"| {kind} | {index['memory_bytes_a_row']:,} | {index['memory_gb']:,} | {index['disk_gb']:,} | {index['nodes']} |"
        assert cells.replace(",", " ") in scale
