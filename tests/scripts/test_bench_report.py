"""The common parts of benchmarks: they start, summarise and write results in one format."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
PROGRAMS = sorted(path.stem for path in BENCH.glob("*.py"))


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("report")


def test_every_benchmark_can_be_imported():
    # One process, because each of them loads the whole product.
    code = f"import sys; sys.path.insert(0, {str(BENCH)!r}); import {', '.join(PROGRAMS)}"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_a_row_has_percentiles_in_milliseconds(report):
    row = report.summarise("one", [at / 1000 for at in range(101)])
    assert row == {"case": "one", "runs": 101, "p50_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0}
    assert report.percentiles([1.0, 2.0], (50,)) == {"p50": 1.5}


def test_a_table_has_straight_columns(report, capsys):
    report.print_table(("case", "p50", "runs"), [("a", 1.234, 5), ("a longer one", None, 10)])
    assert capsys.readouterr().out.splitlines() == [
        "case           p50  runs",
        "a             1.23     5",
        "a longer one          10",
    ]


def test_figures_are_kept_under_day_commit_and_name_with_the_machine(report, tmp_path, capsys):
    path = report.write(report.begin("latency") | {"chunks": 3}, tmp_path / "results")
    figures = orjson.loads(path.read_bytes())
    assert list(figures) == ["benchmark", "date", "commit", "machine", "chunks"]
    assert path.name == f"{figures['date']}-{figures['commit']}-latency.json"
    assert list(figures["machine"]) == [
        "processor",
        "cores",
        "memory_gib",
        "system",
        "python",
        "load",
        "versions",
    ]
    assert str(path) in capsys.readouterr().out


def of_size(files, searchable_s):
    row = {"case": "search", "p50_ms": 1.0 + files / 1000}
    return {"files": files, "chunks": 10 * files, "searchable_s": searchable_s, "questions": [row]}


def test_a_later_run_of_other_sizes_is_kept_beside_the_earlier_of_its_commit(report, tmp_path):
    table = importlib.import_module("speed_table")
    begun = report.begin("speed")
    table.save(begun | {"sizes": [of_size(400, 8.0), of_size(2000, 30.0)]}, tmp_path)
    path = table.save(begun | {"sizes": [of_size(7000, 90.0), of_size(2000, 20.0)]}, tmp_path)
    (figures,) = table.read_results(list(tmp_path.iterdir()))
    assert path.name == f"{begun['date']}-{begun['commit']}-speed.json"
    assert [(size["files"], size["searchable_s"]) for size in figures["sizes"]] == [
        (400, 8.0),
        (2000, 20.0),
        (7000, 90.0),
    ]
    assert figures["exponents"] == table.exponents(figures["sizes"])
    assert {size["commit"] for size in figures["sizes"]} == {begun["commit"]}


def test_a_program_that_a_page_or_the_product_names_is_there():
    pages = [
        path for folder in ("docs", "cortex") for path in (BENCH.parents[1] / folder).rglob("*.[mp][dy]")
    ]
    pages.append(BENCH.parents[1] / "CONTRIBUTING.md")
    named = {
        name for path in pages for name in re.findall(r"scripts/bench/(\w+\.py)", path.read_text("utf-8"))
    }
    assert len(named) > 10
    assert not named - {path.name for path in BENCH.iterdir()}
