"""docs/REQUIREMENTS.md: each row names a test that exists, a decision, or the work that it waits
for.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "REQUIREMENTS.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith("| requirement")
]
#: names allowed after "waits for:"
LATER = {"speed"}


def test_every_requirement_names_its_proof():
    assert len(ROWS) > 100
    for requirement, *proofs in ROWS:
        assert len(proofs) == 1, requirement
        assert re.search(r"`test_\w+`|waits for: |decision: ", proofs[0]), requirement


def test_every_test_that_proves_a_requirement_exists():
    names = set(re.findall(r"`(test_\w+)`", TEXT))
    written = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert names - written - {"test_requirements"} == set()


def test_a_requirement_waits_for_a_piece_of_work_that_the_page_names():
    for requirement, proof in ROWS:
        for name in re.findall(r"waits for: ([^;(|]+)", proof):
            assert name.strip() in LATER, requirement


def test_every_specification_has_its_part():
    assert re.findall(r"^## (\d{3}):", TEXT, re.MULTILINE) == ["000", "001", "003", "002", "004"]
