"""Questions for functions from repaired faults, and the fit of the weights of units."""

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
LOG = (
    "\x01aaa\x02fix(parser): Keep the last line of a file (#12)\x02`parse_lines` drops it in src/reader.py\n"
    "\n* fix lint\n\nFixes #12\nSigned-off-by: A <a@b.c>\n\x03\n\nM\tsrc/reader.py\nM\ttests/test_reader.py\n"
    "\x01bbb\x02Fix a typo in the docs\x02\x03\n\nM\tsrc/reader.py\n"
    "\x01ccc\x02Fix a crash with empty files\x02\x03\n\nA\tsrc/other.py\n"
    "\x01ddd\x02Add a reader of whole lines\x02\x03\n\nM\tsrc/reader.py\n"
)


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module


def test_a_fix_asks_without_files_tickets_and_trailers(load):
    (fix,) = load("fixes").read_fixes(LOG)
    assert fix.files == ("src/reader.py",)
    assert fix.query == "Keep the last line of a file\n\n`parse_lines` drops it in"


def test_changed_lines_are_those_of_the_tree_before(load):
    diff = "@@ -10,2 +10,3 @@\n-a\n-b\n+c\n@@ -20,0 +22 @@\n+d\n"
    assert load("fixes").old_lines(diff) == [(10, 11), (20, 20)]


def test_the_changed_lines_are_found_again_in_an_older_tree(load, tmp_path, monkeypatch):
    units = load("units")
    before = "import os\n\n\ndef read(path):\n    a = 1\n    b = 2\n\n    return a\n"
    history = units.Repairs(tmp_path, "HEAD")
    diff = "@@ -5 +5 @@\n-    a = 1\n@@ -6 +6 @@\n-    b = 2\n@@ -7,0 +8 @@\n+    c = 3\n"
    monkeypatch.setattr(history, "_git", lambda *_: diff.encode())
    monkeypatch.setattr(history, "file", lambda *_: before.encode())
    fix = load("fixes").Fix("aaa", "Keep the last line", ("a.py",))
    older = ["def read(path):", "    a = 1", "    b = 3", "", "    return a"]
    assert history.hunks(fix, "a.py", "read", older) == [(1, 1), (2, 2)]


def test_hunks_end_at_lines_with_text(load):
    lines = ["def a():", "", "    b", "", ""]
    assert load("units").without_blanks(lines, 1, 4) == (2, 2)
    assert load("units").without_blanks(lines, 3, 4) == (2, 2)


def test_a_type_is_not_wanted_beside_its_method(load):
    functions = [("a.py", "Store"), ("a.py", "Store.save"), ("b.py", "Store")]
    assert load("units").without_owners(functions) == [("a.py", "Store.save"), ("b.py", "Store")]


def test_a_fit_prefers_the_signal_of_the_wanted_units(load):
    weights = load("unit_weights")
    values = np.zeros((len(weights.SIGNALS), 3))
    values[weights.SIGNALS.index("body")] = [1.0, 0.2, 0.1]
    values[weights.SIGNALS.index("name")] = [0.1, 0.9, 0.0]
    row = {
        "kind": "fix",
        "values": values,
        "wanted": np.array([False, True, False]),
        "low": np.zeros(3, bool),
    }
    fitted = weights.fit({"a": [row], "b": [row]})
    assert weights.rank_of(row, fitted) == 1
    assert fitted[weights.SIGNALS.index("name")] > fitted[weights.SIGNALS.index("body")]
