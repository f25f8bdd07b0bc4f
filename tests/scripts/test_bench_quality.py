"""The quality benchmark's arithmetic, and the peers that need no package."""

import asyncio
import importlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cortex.ask import lanes
from cortex.ranking import weigh

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
REPO = {"name": "r", "language": "python", "benchmark_root": "src"}


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("quality"), importlib.import_module("systems")


def scored(bench, hits, relevant, secondary=(), **more):
    query = {"query": "q", "category": "semantic", "relevant": relevant, "secondary": secondary} | more
    query = bench[0].resolve_paths(query, "", "parents", Path("nowhere"))
    return bench[0].score(query, [bench[1].Hit(*hit) for hit in hits], REPO, 0.5, "cortex")


def test_a_target_counts_at_the_rank_of_the_first_result_that_covers_it(bench):
    hits = [("a.py", 1, 9, 40), ("src/b.py", 1, 9, 80), ("src/b.py", 10, 19, 40)]
    result = scored(bench, hits, ["src/b.py"])
    assert (result.ranks, result.first, result.tokens, result.ms) == ([2], 2, 30, 500.0)
    assert result.ndcg == pytest.approx(0.6309, abs=1e-4)
    lines = scored(bench, hits, [{"path": "src/b.py", "start_line": 12, "end_line": 14}])
    assert lines.ranks == [3]


def test_secondary_targets_count_and_missing_ones_cost_all_that_was_read(bench):
    result = scored(bench, [("a.py", 1, 9, 40), ("c.py", 1, 9, 40)], ["a.py"], ["gone.py"])
    assert result.ranks == [1, 0]
    assert result.ndcg == pytest.approx(1 / (1 + 0.6309), abs=1e-4)
    assert scored(bench, [("c.py", 1, 9, 40)], ["gone.py"]).tokens == 10


def test_means_are_reported_over_queries_and_over_repositories(bench):
    rows = [scored(bench, [("a.py", 1, 9)], ["a.py"]) for _ in range(3)]
    rows.append(bench[0].ScoredQuery("other", "go", "symbol", "q", 0.0, [0], 0, 5, 9.0))
    result = bench[0].summary(rows)
    assert (result["ndcg10"], result["ndcg10_repositories"], result["ndcg10_spread"]) == (0.75, 0.5, 0.5)
    assert (result["recall10"], result["mrr"], result["ndcg10_lowest"]) == (0.75, 0.75, 0.0)
    assert result["category"] == {"semantic": 1.0, "symbol": 0.0}


def test_the_gain_of_a_signal_is_the_loss_without_it(bench, capsys):
    good = bench[0].summary([scored(bench, [("a.py", 1, 9)], ["a.py"])])
    bad = bench[0].summary([scored(bench, [("b.py", 1, 9), ("a.py", 1, 9)], ["a.py"])])
    bench[0].show({"cortex": good, "-path": bad, "rg": bad})
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["cortex", "rg"]
    assert out[-1].split() == ["path", "0.6309", "0.3691", "0.6309", "0.3691"]


def test_a_target_has_the_one_path_that_it_has_in_the_project(bench, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()

    def paths(layout, *targets):
        query = bench[0].resolve_paths({"relevant": targets}, "src", layout, tmp_path)
        return [target["path"] for target in query["relevant"]]

    assert paths("parents", "a.py", "src/a.py") == ["src/a.py", "src/a.py"]
    assert paths("root", "a.py", "src/a.py") == ["a.py", "a.py"]
    hits = [("src/a.py", 1, 9, 40), ("a.py", 1, 9, 40)]
    assert scored(bench, hits, ["a.py"]).ranks == [2]


def test_the_annotated_folder_is_the_project_or_at_its_place(bench, tmp_path):
    (tmp_path / "repo" / "src").mkdir(parents=True)
    (tmp_path / "repo" / "src" / "a.py").touch()
    with bench[1].sparse_copy(tmp_path / "repo", "src") as project:
        assert project.name == "repo"
        assert (project / "src" / "a.py").is_file()
    with bench[1].sparse_copy(tmp_path / "repo", "src", alone=True) as project:
        assert project.name == "src"
        assert (project / "a.py").is_file()


def test_a_complete_copy_is_reused_and_a_partial_copy_is_not(bench, tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").touch()
    (tmp_path / "kept" / "repo.part").mkdir(parents=True)
    for _ in range(2):
        with bench[1].sparse_copy(tmp_path / "repo", "", keep_in=tmp_path / "kept") as project:
            assert sorted(path.name for path in project.iterdir()) == [".cortex", "a.py"]
        (tmp_path / "repo" / "b.py").touch()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["repo"]


def test_a_variant_ranks_without_its_signal(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCH / "peers")
    for name in ("weigh", "rank"):
        monkeypatch.setattr(lanes, name, getattr(lanes, name))  # the variant's are undone
    switch = tmp_path / "switch"
    importlib.import_module("front").drop_signals(switch)
    weights = {}
    for omitted in ("", "path", "model"):
        switch.write_text(omitted)
        weights[omitted] = lanes.weigh(vectors=True, bm25_weight=1.0)
    assert weights[""].path > 0 == weights["path"].path
    assert weights["path"] == replace(weights[""], path=0.0)
    assert weights["model"] == weigh(vectors=False, bm25_weight=1.0)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "a.py").write_text("token token refresh\n")
    (tmp_path / "b.py").write_text("token\nthe the the the the\n")
    (tmp_path / ".cortex").mkdir()
    (tmp_path / ".cortex" / "token").write_text("token " * 99)
    return tmp_path


def ask(system, question):
    async def inside():
        async with system as ask_system:
            return [(hit.file, hit.start, hit.bytes) for hit in await ask_system(question)]

    return asyncio.run(inside())


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_ripgrep_orders_files_by_the_matches_of_the_telling_words(bench, project):
    assert ask(bench[1].ripgrep(project), "how the token is refreshed") == [("a.py", 1, 21), ("b.py", 1, 27)]
