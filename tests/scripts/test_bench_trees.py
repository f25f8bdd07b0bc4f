"""Trees for benchmarks, copied from the sources of several projects."""

import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


@pytest.fixture
def trees(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("trees")


def project(root, *files):
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    return root


def test_a_tree_holds_folders_of_one_name_and_files_of_a_small_folder(trees, tmp_path):
    first = project(tmp_path / "one", "docs/a.py", "src/b.py")
    two = project(tmp_path / "two", "docs/c.py")
    flat = project(tmp_path / "flat", "d.py")
    (flat / ".git").mkdir()
    trees.plant([first, two, flat], tmp_path / "tree", 4)
    assert sorted(path.name for path in (tmp_path / "tree").rglob("*.py")) == ["a.py", "b.py", "c.py", "d.py"]
