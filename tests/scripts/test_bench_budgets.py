"""The page of budgets in docs/BENCHMARKS.md is made of results, and judges each figure."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def budgets():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts" / "bench"))
        import budgets

        yield budgets
        sys.modules.pop("budgets", None)


def test_the_page_is_the_one_that_the_results_give(budgets):
    text = budgets.PAGE.read_text(encoding="utf-8")
    assert f"{budgets.BEGIN}\n{budgets.page()}\n{budgets.END}" in text


def test_each_budget_is_judged_by_its_bound(budgets):
    lines = [line for line in budgets.page().splitlines() if line[:5].strip("| ").isdigit()]
    assert len(lines) == len(budgets.BUDGETS) > 15
    for budget, line in zip(budgets.BUDGETS, lines, strict=True):
        measured = float(line.split("|")[2].split(",")[0])
        assert ("missed" in line) is (measured < budget.bound if budget.least else measured > budget.bound), (
            line
        )


def test_every_result_that_a_budget_names_is_there(budgets):
    assert {budget.result for budget in budgets.BUDGETS} <= {path.name for path in budgets.RESULTS.iterdir()}
