"""The model's files and its measurement: the embedder reads the exported files, and the score of an
answer.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cortex.embedders.static import open_static
from scripts.train.evaluate import evaluate, gain, rank_files, windows
from scripts.train.export import export

WORDS = ["handler", "ledger", "open", "route", "shop"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    export(
        np.random.default_rng(1).normal(size=(len(WORDS), 16)).astype(np.float32), WORDS, tmp_path / "model"
    )
    return tmp_path / "model"


def test_an_exported_model_opens_with_a_name_that_tells_its_content(model: Path) -> None:
    first = open_static(model).identity
    assert first.startswith("cortex-static-384@")
    assert export(np.eye(len(WORDS), 16, dtype=np.float32), WORDS, model / "other") not in first


def test_export_keeps_the_directions_of_the_vectors(tmp_path: Path) -> None:
    vectors = np.random.default_rng(3).normal(size=(len(WORDS), 64)).astype(np.float32) * 1e-3
    export(vectors, WORDS, tmp_path / "m")
    got = open_static(tmp_path / "m").embed(WORDS)
    want = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.all(np.sum(got * want, axis=1) > 0.999)


def test_windows_tile_a_file() -> None:
    text = "\n".join(f"line {at} " + "x" * 60 for at in range(100))
    chunks = windows("a.py", text)
    assert "\n".join(chunk.text for chunk in chunks) == text
    assert [chunk.start for chunk in chunks] == [1, *(chunk.end + 1 for chunk in chunks[:-1])]


def test_files_are_ranked_by_their_best_chunk() -> None:
    chunks = [*windows("a.py", "one"), *windows("b.py", "two\n" * 500)]
    assert [chunk.path for chunk in rank_files(np.array([2, 1, 0]), chunks)] == ["b.py", "a.py"]


def test_a_target_at_the_second_rank_gains_less_than_at_the_first() -> None:
    first, two = windows("a.py", "one")[0], windows("b.py", "two")[0]
    query = {"relevant": ["src/b.py"]}
    assert gain(query, [two, first], "src") == 1
    assert gain(query, [first, two], "src") == pytest.approx(0.6309, abs=1e-4)
    assert gain(query, [first], "src") == 0


def test_evaluation_reports_means_over_queries_and_repositories(model: Path, tmp_path: Path) -> None:
    (tmp_path / "repos" / "shop").mkdir(parents=True)
    (tmp_path / "repos" / "shop" / "a.py").write_text("def open_ledger(shop): pass\n")
    (tmp_path / "repos" / "shop" / "b.py").write_text("def route(handler): pass\n")
    (tmp_path / "queries" / "annotations").mkdir(parents=True)
    (tmp_path / "queries" / "repos.json").write_text(json.dumps([{"name": "shop", "language": "python"}]))
    queries = [{"query": "open the ledger of the shop", "category": "semantic", "relevant": ["a.py"]}]
    (tmp_path / "queries" / "annotations" / "shop.json").write_text(json.dumps(queries))
    result = evaluate(open_static(model), tmp_path / "repos", tmp_path / "queries", dimensions=8)
    assert (result["queries"], result["dimensions"]) == (1, 8)
    assert result["ndcg10"] == result["ndcg10_repositories"] == result["category"]["semantic"] == 1
