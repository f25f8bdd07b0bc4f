"""Vector search: exact and deterministic, with filters inside; HNSW proposes and the scan
decides.
"""

import dataclasses
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from cortex.engines.vector import file_centroids, usearch
from cortex.engines.vector.quantized import QuantizedVectors, quantize_query
from cortex.engines.vector.usearch import Limits, build_vectors, highest, open_vectors, same_model
from cortex.generation.current import Generation, SegmentRef
from cortex.generation.read import open_rows
from cortex.generation.write import Row, write_rows
from cortex.system.dot_products import products
from cortex.system.errors import BadRequest, Damaged, NotReady
from cortex.system.process import allocator
from ipc.messages import Filters, VectorSearch
from tests.drawn_examples import scaled

DIMENSIONS = 16


def publish(folder, vectors, *, cut=None, first=1, model="m@1", paths=()):
    (folder / "segments").mkdir(exist_ok=True)
    rows = [
        Row(
            first + at,
            {
                "id": f"c{at:05d}",
                "chunk_type": "code" if at % 2 else "symbols",
                "text": "",
                "tags": [f"t{at % 50}"],
                "metadata": {"file_path": paths[at], "start_line": at + 1} if paths else {},
            },
            "f.json",
            bytes(16),
            vector,
            model,
        )
        for at, vector in enumerate(vectors)
    ]
    cut = cut or len(rows)
    refs = []
    for name, segment_rows in (("a", rows[:cut]), ("b", rows[cut:])):
        if segment_rows:
            refs.append(
                SegmentRef(
                    name, len(segment_rows), write_rows(folder / "segments" / name, segment_rows, DIMENSIONS)
                )
            )
    return open_rows(Generation(1, tuple(refs), model="m@1", dimensions=DIMENSIONS), folder)


def unit(seed, count):
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@settings(max_examples=scaled(30), deadline=None)
@given(
    seed=st.integers(0, 1000),
    spread=st.sampled_from([0.0, 1e-4, 1e-3, 1e-2, 1.0]),
    limit=st.integers(1, 30),
    chunk_types=st.sampled_from([(), ("code",)]),
)
def test_quantized_candidates_hold_the_exact_results(tmp_path_factory, seed, spread, limit, chunk_types):
    """Also where rows are so near to one another that bytes cannot separate them."""
    vectors = unit(seed, 1) + spread * unit(seed + 1, 300)
    rows = publish(tmp_path_factory.mktemp("v"), vectors, cut=200)
    query, filters = unit(seed + 2, 1)[0], Filters(chunk_types=chunk_types)
    answer = open_vectors(rows, tmp_path_factory.mktemp("h")).search(
        VectorSearch(query, "m@1", limit, filters)
    )
    every = np.flatnonzero(rows.mask(filters))
    cosines = products(query.astype(np.float16), rows.vectors(every))
    best = sorted(zip(-cosines, rows.ids(every), strict=True))[:limit]
    assert [hit.id for hit in answer.hits] == [name for _, name in best]
    assert answer.values[0].tolist() == [-cosine for cosine, _ in best]


@pytest.mark.parametrize("spread", [0.02, 0.1, 1.0])
def test_exact_search_answers_as_the_scan_where_the_nearest_rows_were_deleted(tmp_path, spread):
    """Also the mean and the deviation of the cosines are those of the remaining rows."""
    vectors = unit(1, 1) + spread * unit(2, 900)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = publish(tmp_path, [*vectors, None, None], cut=500)
    for query in unit(3, 20):
        nearest = np.argsort(-np.nan_to_num(rows.vectors(np.arange(len(rows))).astype(np.float32) @ query))
        live = np.ones(len(rows), bool)
        live[nearest[:300]] = False
        snapshot = open_vectors(dataclasses.replace(rows, live=live), tmp_path)
        filtered = snapshot._filter_rows(Filters(), "m@1")
        assert filtered.moments is not None
        request = VectorSearch(query, "m@1", 45)
        answer = snapshot.search(request)
        by_scan = dataclasses.replace(filtered, moments=None)
        snapshot.filter_cache[Filters(), "m@1"] = by_scan
        expected = snapshot.search(request)
        assert [hit.id for hit in answer.hits] == [hit.id for hit in expected.hits]
        assert answer.values.tolist() == expected.values.tolist()
        quantized = quantize_query(query)
        cosines = rows.vectors(filtered.ordinals).astype(np.float32) @ (quantized.numbers * quantized.scale)
        assert answer.stats["cosine_mean"] == pytest.approx(cosines.mean(), abs=1e-4)
        assert answer.stats["cosine_std"] == pytest.approx(cosines.std(), abs=1e-4)
        for name in ("matching", "rows", "left_out"):
            assert answer.stats[name] == expected.stats[name]


def test_a_filter_that_keeps_all_rows_is_answered_by_exact_search_and_others_by_the_scan(
    tmp_path, monkeypatch
):
    rows, calls = publish(tmp_path, unit(1, 300), cut=200), []
    real = QuantizedVectors.propose
    monkeypatch.setattr(QuantizedVectors, "propose", lambda *of: calls.append(of) or real(*of))
    snapshot, query = open_vectors(rows, tmp_path), unit(2, 1)[0]
    for filters, expected in [
        (Filters(), 1),
        (Filters(chunk_types=("code", "symbols")), 2),
        (Filters(chunk_types=("code",)), 2),
    ]:
        snapshot.search(VectorSearch(query, "m@1", 10, filters))
        assert len(calls) == expected


def test_quantized_cosines_stay_within_their_error_bound(tmp_path):
    vectors = unit(1, 400)
    vectors[7] = 0
    rows = publish(tmp_path, vectors, cut=100)
    for query in unit(2, 20):
        estimates, off = QuantizedVectors(rows.segments).estimate_cosines(query, [0, 1])
        exact = rows.vectors(np.arange(len(rows))).astype(np.float32) @ query
        assert np.abs(estimates - exact).max() <= off < 0.1


def test_quantized_vectors_of_a_common_segment_are_shared(tmp_path):
    rows = publish(tmp_path, unit(1, 40), cut=20)
    first = open_vectors(rows, tmp_path).quantized
    assert open_vectors(rows, tmp_path, reuse=first).quantized.tables == first.tables
    assert all(first.tables)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is mapped")
def test_idle_quantized_vectors_take_no_memory_and_answers_stay_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(allocator, "ASIDE_BYTES", 1)
    rows = publish(tmp_path, unit(1, 2000), cut=2000)
    snapshot, request = open_vectors(rows, tmp_path), VectorSearch(unit(2, 1)[0], "m@1", 9)
    first = snapshot.search(request)
    (table,) = snapshot.quantized.tables
    place = f"{table.numbers.ctypes.data:x}-"

    def resident():
        lines = iter(Path("/proc/self/smaps").read_text().splitlines())
        assert any(line.startswith(place) for line in lines)
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Rss:"))

    assert resident() >= table.numbers.nbytes
    allocator.release_mapped_files(rows.segments[0].path.parent)
    assert resident() == 0
    second = snapshot.search(request)
    assert ([hit.id for hit in second.hits], second.values[0].tolist()) == (
        [hit.id for hit in first.hits],
        first.values[0].tolist(),
    )


@settings(max_examples=scaled(30), deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 80), limit=st.integers(1, 30))
def test_the_scan_finds_the_nearest_chunks_of_all_segments(tmp_path_factory, seed, count, limit):
    rows = publish(tmp_path_factory.mktemp("v"), unit(seed, count), cut=max(1, count // 2))
    query = unit(seed + 1, 1)[0]
    answer = open_vectors(rows, tmp_path_factory.mktemp("h")).search(VectorSearch(query, "m@1", limit))
    scores = (rows.vectors(np.arange(len(rows))) @ query)[[int(h.key) - 1 for h in answer.hits]]
    best = np.sort(rows.vectors(np.arange(len(rows))) @ query)[::-1][:limit]
    assert scores == pytest.approx(best, abs=2e-3)
    assert np.all(np.diff(answer.values[0]) <= 0)


def test_vectors_without_a_models_name_are_compared_with_a_servers_model_alone(tmp_path):
    rows = publish(tmp_path, unit(4, 3), model="")
    question = VectorSearch(unit(4, 1)[0], "m@1", 10)
    assert len(open_vectors(rows, tmp_path, takes_unnamed=True).search(question).hits) == 3
    strict = open_vectors(rows, tmp_path, takes_unnamed=False)
    with pytest.raises(NotReady, match=r"a model without a name.*CORTEX_EMBEDDING_MODEL"):
        strict.search(question)
    assert len(strict.search(VectorSearch(unit(4, 1)[0], "", 10)).hits) == 3


def test_equal_scores_are_ordered_by_chunk_id_and_all_ties_at_the_cut_are_seen(tmp_path):
    rows = publish(tmp_path, np.repeat(unit(1, 1), 40, axis=0), cut=7)
    answer = open_vectors(rows, tmp_path).search(VectorSearch(unit(1, 1)[0], "m@1", 5))
    assert [hit.id for hit in answer.hits] == [f"c{at:05d}" for at in range(5)]


@settings(max_examples=scaled(60), deadline=None)
@given(
    seed=st.integers(0, 1000),
    count=st.integers(1, 9000),
    number=st.integers(1, 60),
    levels=st.sampled_from([3, 10**6]),
)
def test_the_highest_values_equal_those_of_a_full_sort(seed, count, number, levels):
    values = np.random.default_rng(seed).integers(0, levels, count).astype(np.float32)
    number = min(number, count)
    assert highest(values, number) == np.sort(values)[::-1][number - 1]


def test_a_filter_leaves_as_many_hits_as_match(tmp_path):
    rows = publish(tmp_path, unit(2, 200))
    snapshot = open_vectors(rows, tmp_path)
    rare = snapshot.search(VectorSearch(unit(3, 1)[0], "m@1", 10, Filters(tags=("t7",))))
    assert {hit.id for hit in rare.hits} == {"c00007", "c00057", "c00107", "c00157"}
    half = snapshot.search(VectorSearch(unit(3, 1)[0], "m@1", 100, Filters(chunk_types=("symbols",))))
    assert len(half.hits) == 100
    assert {hit.chunk_type for hit in half.hits} == {"symbols"}


def test_rows_without_a_vector_or_of_another_model_are_left_out(tmp_path):
    rows = publish(tmp_path, [None, *unit(4, 3)])
    snapshot = open_vectors(rows, tmp_path)
    answer = snapshot.search(VectorSearch(unit(4, 1)[0], "m@1", 10))
    assert len(answer.hits) == 3
    assert answer.stats["left_out"] == 1
    with pytest.raises(NotReady, match=r"m@1.*other@2"):
        snapshot.search(VectorSearch(unit(4, 1)[0], "other@2", 10))


def test_a_query_of_another_size_names_both(tmp_path):
    snapshot = open_vectors(publish(tmp_path, unit(4, 3)), tmp_path)
    with pytest.raises(BadRequest, match=r"3 dimensions.*16"):
        snapshot.search(VectorSearch(np.ones(3, np.float32), "m@1", 10))


def test_an_empty_index_has_no_hits(tmp_path):
    (tmp_path / "segments").mkdir()
    rows = open_rows(Generation(1), tmp_path)
    assert open_vectors(rows, tmp_path).search(VectorSearch(np.ones(3, np.float32), "m@1", 10)).hits == ()


class Counting:
    """The HNSW index with a count of requested neighbours."""

    def __init__(self, index):
        self.index, self.counts = index, []

    def __len__(self):
        return len(self.index)

    def search(self, query, count):
        self.counts.append(count)
        return self.index.search(query, count)


def test_a_filter_of_far_rows_does_not_make_hnsw_visit_all(tmp_path, monkeypatch):
    monkeypatch.setattr(usearch, "WALKED_MAX", 128)
    query = unit(7, 1)[0]
    vectors = unit(5, 2000)
    cosines = vectors @ query
    vectors[1::2] *= -np.sign(cosines[1::2])[:, None]  # code is on the other side, symbols on this
    vectors[::2] *= np.sign(cosines[::2])[:, None]
    rows = publish(tmp_path, vectors)
    name = build_vectors(rows, tmp_path / "vectors")
    snapshot = open_vectors(rows, tmp_path / "vectors", name, Limits(scan_rows_max=100))
    counting = Counting(snapshot.hnsw)
    request = VectorSearch(query, "m@1", 10, Filters(chunk_types=("code",)))
    answer = dataclasses.replace(snapshot, hnsw=counting).search(request)
    assert counting.counts == [64, 128]
    assert answer.hits == open_vectors(rows, tmp_path).search(request).hits
    assert len(answer.hits) == 10


@pytest.mark.parametrize("filters", [Filters(), Filters(chunk_types=("code",)), Filters(tags=("t7",))])
def test_hnsw_with_later_rows_answers_as_the_scan_does(tmp_path, filters):
    vectors = unit(5, 3000)
    old = publish(tmp_path, vectors[:2500])
    name = build_vectors(old, tmp_path / "vectors")
    later = tmp_path / "later"
    later.mkdir()
    rows = publish(later, vectors, cut=2500)
    snapshot = open_vectors(rows, tmp_path / "vectors", name, Limits(scan_rows_max=100))
    assert snapshot.hnsw is not None
    scan = open_vectors(rows, tmp_path)
    same = total = 0
    for query in unit(6, 20):
        request = VectorSearch(query, "m@1", 10, filters)
        walked, scanned = snapshot.search(request), scan.search(request)
        same += len({h.id for h in walked.hits} & {h.id for h in scanned.hits})
        total += len(scanned.hits)
        assert len(walked.hits) == len(scanned.hits)
    assert same / total > 0.97


def mixed(rows, ordinals, query):
    """The cosines of `query` with each row plus its file's centroid, one by one."""
    cosines = []
    for ordinal in ordinals:
        path = rows.columns["path"][ordinal]
        file_rows = [at for at in rows.lines_of(path) if rows.column("has_vector")[at]]
        vector = rows.vectors(np.array([ordinal]))[0].astype(np.float32)
        if rows.path_names[path]:
            middle = rows.vectors(np.array(file_rows)).astype(np.float32).sum(axis=0)
            vector = vector + file_centroids.SHARE * middle / np.linalg.norm(middle)
        cosines.append(vector @ query / np.linalg.norm(vector))
    return cosines


def of_files(count):
    return [f"src/{at % 37}.py" if at % 41 else "" for at in range(count)]


@pytest.mark.parametrize("limits", [Limits(), Limits(scan_rows_max=100)], ids=["scan", "hnsw"])
def test_a_vector_search_alone_ranks_by_file_centroids_too(tmp_path, limits):
    near = unit(11, 1)[0] + unit(12, 1999)
    vectors = [None, *(near / np.linalg.norm(near, axis=1, keepdims=True))]
    rows = publish(tmp_path, vectors, cut=900, paths=of_files(len(vectors)))
    name = build_vectors(rows, tmp_path / "vectors")
    snapshot = open_vectors(rows, tmp_path / "vectors", name, limits)
    for query in unit(13, 10):
        request = VectorSearch(query, "m@1", 30)
        plain = snapshot.search(request)
        alone = snapshot.search(structs.replace(request, alone=True))
        assert {hit.id for hit in alone.hits} == {hit.id for hit in plain.hits}
        assert alone.hits != plain.hits
        expected = mixed(rows, rows.locate(alone.keys), query)
        assert alone.row("cosine") == pytest.approx(expected, abs=1e-3)
        assert np.all(np.diff(alone.row("cosine")) <= 0)
        assert alone.stats == plain.stats


def test_file_centroids_are_cached_up_to_a_bound_and_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(file_centroids, "FILES_MAX", 8)
    rows = publish(tmp_path, unit(14, 400), paths=of_files(400))
    snapshot, unbounded = open_vectors(rows, tmp_path), open_vectors(rows, tmp_path)
    requests = [VectorSearch(query, "m@1", 20, alone=True) for query in unit(15, 8)]
    for request in (*requests, *reversed(requests)):
        answer = snapshot.search(request)
        assert answer.hits == unbounded.search(request).hits
        assert len(snapshot.centroids["m@1"]) <= 20  # the centroids of one question stay together


def test_alone_changes_nothing_for_an_empty_index_or_single_chunk_files(tmp_path):
    (tmp_path / "segments").mkdir()
    nothing = open_vectors(open_rows(Generation(1), tmp_path), tmp_path)
    assert nothing.search(VectorSearch(np.ones(3, np.float32), "m@1", 10, alone=True)).hits == ()
    rows = publish(tmp_path, unit(16, 20), paths=[f"{at}.py" for at in range(20)])
    request = VectorSearch(unit(17, 1)[0], "m@1", 10, Filters(chunk_types=("code",)))
    snapshot = open_vectors(rows, tmp_path)
    plain, alone = snapshot.search(request), snapshot.search(structs.replace(request, alone=True))
    assert alone.hits == plain.hits
    assert alone.row("cosine") == pytest.approx(plain.row("cosine"), abs=1e-3)


@pytest.mark.parametrize("content", [b"junk" * 100, b"", None])
def test_a_damaged_or_missing_hnsw_file_is_refused_and_leaves_every_descriptor(tmp_path, content):
    rows = publish(tmp_path, unit(7, 20))
    if content is not None:
        (tmp_path / "hnsw8-1-20-00000001.usearch").write_bytes(content)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    with pytest.raises(Damaged, match="hnsw8-1-20-00000001"):
        open_vectors(rows, tmp_path, "hnsw8-1-20-00000001.usearch")
    assert len(open_vectors(rows, tmp_path).search(VectorSearch(unit(7, 1)[0], "m@1", 5)).hits) == 5
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert after == lowest


def test_an_hnsw_file_of_an_older_version_is_not_opened(tmp_path):
    rows = publish(tmp_path, unit(7, 20))
    snapshot = open_vectors(rows, tmp_path, "hnsw-1-20-00000001.usearch")
    assert (snapshot.hnsw, snapshot.watermark) == (None, 0)
    assert len(snapshot.search(VectorSearch(unit(7, 1)[0], "m@1", 5)).hits) == 5


def test_models_are_one_space_only_when_name_and_hash_agree():
    assert same_model("a@1", "a@1")
    assert same_model("a", "a@1")
    assert not same_model("a@1", "a@2")
    assert not same_model("a@1", "b@1")
