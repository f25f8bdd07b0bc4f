"""docs/REQUIREMENTS.md: each row names a test that exists, a decision, or a budget's figures."""

import re
from pathlib import Path

from tests.written_tests import written_tests

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "REQUIREMENTS.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith("| requirement")
]


def test_every_requirement_names_its_proof():
    assert len(ROWS) > 100
    for requirement, *proofs in ROWS:
        assert len(proofs) == 1, requirement
        assert re.search(r"`test_\w+`|measured\b[^:]*: |decision: ", proofs[0]), requirement


def test_every_test_that_proves_a_requirement_exists():
    names = set(re.findall(r"`(test_\w+)`", TEXT))
    assert names - written_tests() - {"test_requirements"} == set()


def test_a_budget_is_met_or_missed_by_a_figure():
    budgets = [(requirement, proof) for requirement, proof in ROWS if proof.startswith("measured")]
    assert len(budgets) >= 10
    for requirement, proof in budgets:
        assert re.search(r"\b(?:met|missed)\b", proof), requirement
        assert re.search(r"\d", proof), requirement
    assert "waits for" not in TEXT


def test_every_specification_has_its_part():
    assert re.findall(r"^## (\d{3}):", TEXT, re.MULTILINE) == ["000", "001", "003", "002", "004"]
