"""The comparison of two checkouts: which figures count, and when one is slower."""

import importlib
from pathlib import Path

import orjson
import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


@pytest.fixture
def against(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("compare_checkouts")


def slower(against, this, other):
    return [row.name for row in against.compare(this, other) if row.slower]


def test_numbers_are_named_by_where_they_are_and_rows_by_their_case(against):
    result = {
        "machine": {"cores": 2},
        "chunks": 9,
        "engine callers ms": {"p50": 0.1},
        "rows": [
            {"case": "a", "debounce_ms": 0, "p50_ms": 1.5},
            {"case": "a", "debounce_ms": 500, "p50_ms": 2.5},
        ],
        "cold_s_runs": [1.0, 2.0],
        "slowest": ["x  8 ms"],
        "fine": True,
    }
    assert list(against.flatten(result)) == [
        (("chunks",), 9),
        (("engine callers ms", "p50"), 0.1),
        (("rows", "a 0", "p50_ms"), 1.5),
        (("rows", "a 500", "p50_ms"), 2.5),
    ]


@pytest.mark.parametrize(
    ("path", "time", "counts"),
    [
        (("tools", "cortex_exact", "p50_ms"), True, True),
        (("tools", "cortex_exact", "p95_ms"), True, False),
        (("tools", "peer: grep -rn", "p50_ms"), True, False),
        (("speed", "regex", "ripgrep", "p50_ms"), True, False),
        (("engine callers ms", "p50"), True, True),
        (("engine callers ms", "p99"), True, False),
        (("rows", "saved 0", "max_ms"), True, False),
        (("ms_p50",), True, True),
        (("tree", "save_to_chunk_files_ms_p50"), True, True),
        (("tree", "cold_s"), True, True),
        (("tree", "cold_phases_s", "read, cut, embed"), True, True),
        (("tree", "semble", "seconds"), True, False),
        (("tree", "cold_files_per_s"), False, False),
        (("indexing", "mb_per_s"), False, False),
        (("pss_mb",), False, False),
        (("tools", "cortex_exact", "found_max"), False, False),
    ],
)
def test_times_count_but_those_of_the_slowest_calls_and_of_peers(against, path, time, counts):
    result = 1.0
    for name in reversed(path):
        result = {name: result}
    (row,) = against.compare([result], [result])
    assert (row.name, row.time, row.counts) == (" / ".join(path), time, counts)


def test_a_median_is_slower_beyond_three_per_cent(against):
    other = [{"x_ms": value} for value in (9.0, 10.0, 30.0)]
    assert slower(against, [{"x_ms": 10.3}], other) == []
    assert slower(against, [{"x_ms": 10.31}], other) == ["x_ms"]
    assert slower(against, [{"x_ms": value} for value in (1.0, 10.4, 50.0)], other) == ["x_ms"]


def test_one_step_of_the_last_digit_is_no_difference(against):
    assert slower(against, [{"x_ms": 0.09}], [{"x_ms": 0.08}]) == []
    assert slower(against, [{"x_ms": 0.11}], [{"x_ms": 0.08}]) == ["x_ms"]
    assert slower(against, [{"x_s": 2.1}], [{"x_s": 2.0}]) == []


def test_figures_that_one_side_or_one_run_lacks_are_left_out(against):
    both = {"x_ms": 1.0}
    assert [row.name for row in against.compare([both | {"y_ms": 1.0}], [both])] == ["x_ms"]
    assert [row.name for row in against.compare([both, both | {"y_ms": 1.0}], [both | {"y_ms": 1.0}])] == [
        "x_ms"
    ]


def test_the_verdict_names_the_slower_figures(against):
    fine = against.compare([{"x_ms": 1.0, "n": 1}], [{"x_ms": 1.0, "n": 2}])
    assert against.verdict(fine) == "no median slower by more than 3 %"
    bad = against.compare([{"x_ms": 1.5, "y_ms": 2.0}], [{"x_ms": 1.0, "y_ms": 2.0}])
    assert against.verdict(bad) == "slower by more than 3 %: x_ms (1.5)"
    assert against.verdict(against.compare([{"n": 1}], [{"n": 1}])).startswith("nothing to compare")


def test_the_spread_is_that_of_the_checkout_that_differed_more(against):
    (row,) = against.compare([{"x_ms": 1.0}] * 3, [{"x_ms": value} for value in (9.0, 10.0, 12.0)])
    assert (row.this, row.other, row.ratio, row.spread) == (1.0, 10.0, 0.1, 0.3)


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a benchmark that writes a file of figures named by its first argument."""
    results = tmp_path / "scripts" / "bench" / "results"
    results.mkdir(parents=True)
    (results / "kept.json").write_text('{"x_ms": 7}')
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/sh")
    (tmp_path / "scripts" / "bench" / "one").write_text(
        'echo "{\\"x_ms\\": 5}" > scripts/bench/results/"$1"\n'
    )
    return tmp_path


@pytest.mark.parametrize("name", ["new.json", "kept.json"])
def test_a_checkout_is_left_as_it_was(against, checkout, name):
    assert against.run(checkout, "one", [name]) == {"x_ms": 5}
    results = checkout / "scripts" / "bench" / "results"
    assert {path.name: orjson.loads(path.read_bytes()) for path in results.iterdir()} == {
        "kept.json": {"x_ms": 7}
    }


def test_a_program_that_writes_no_figures_ends_the_comparison(against, checkout):
    with pytest.raises(SystemExit, match="wrote 0 files"):
        against.run(checkout, "one", ["figures.txt"])
