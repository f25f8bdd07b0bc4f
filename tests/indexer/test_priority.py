"""The reading order of a first run: it changes only the time at which a file is served."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cortex.indexer.priority import group_by_priority, most_referred, recently_changed

PATHS = [
    "docs/guide.md", "package.json", "src/deep/er/old.py", "src/main.py", "src/worked_on.py", "src/also.py",
    "tests/test_main.py", "vendor/lib/main.go", "README.md", "examples/main.py",
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, *paths: str) -> None:
    git(folder, "add", "--", *paths)
    git(folder, "commit", "-q", "-m", "a change")


def test_tests_documents_and_what_others_wrote_come_last(tree):
    first, others, late = group_by_priority(tree, PATHS, 2)
    assert first | others == {"src/deep/er/old.py", "src/main.py", "src/worked_on.py", "src/also.py"}
    assert late == set(PATHS) - first - others


def test_entry_points_and_what_git_saw_last_come_first(tree):
    git(tree, "init", "-q")
    commit(tree, ".")
    (tree / "src/worked_on.py").write_text("x = 2\n")
    commit(tree, "src/worked_on.py")
    assert next(iter(recently_changed(tree))) == "src/worked_on.py"
    first, *_ = group_by_priority(tree, PATHS, 2)
    assert first == {"src/main.py", "src/worked_on.py"}


def test_a_project_below_the_repository_is_asked_for_its_own_files(tree):
    git(tree, "init", "-q")
    commit(tree, ".")
    assert set(recently_changed(tree / "src")) == {"deep/er/old.py", "main.py", "worked_on.py", "also.py"}


def test_without_git_the_paths_alone_decide(tree, monkeypatch):
    monkeypatch.setenv("PATH", str(tree / "nothing"))
    assert recently_changed(tree) == {}
    first, *_ = group_by_priority(tree, PATHS, 1)
    assert first == {"src/main.py"}


def test_a_git_that_hangs_is_given_up(tree, monkeypatch):
    git_of_ours = tree.parent / f"{tree.name}-bin" / "git"
    git_of_ours.parent.mkdir()
    git_of_ours.write_text("#!/bin/sh\nexec /bin/sleep 1000\n")
    git_of_ours.chmod(0o755)
    monkeypatch.setenv("PATH", str(git_of_ours.parent))
    monkeypatch.setattr("cortex.indexer.priority.GIT_S", 0.1)
    assert recently_changed(tree) == {}


@pytest.mark.parametrize("first", [1, 3, 100])
def test_every_file_is_in_exactly_one_group(tree, first):
    groups = group_by_priority(tree, PATHS, first)
    assert sorted(path for group in groups for path in group) == sorted(PATHS)
    assert all(groups)


def write(root: Path, files: dict[str, str]) -> list[str]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return list(files)


@pytest.mark.parametrize(
    ("imported", "importing"),
    [
        ("app/core/ledger.py", "from app.core.ledger import Book"),
        ("app/core/ledger.py", "    import app.core.ledger as book"),
        ("src/ledger.h", '#include "src/ledger.h"'),
        ("src/ledger.rs", "use crate::ledger::{Book, Page};"),
        ("src/ledger/mod.rs", "mod ledger;"),
        ("src/ledger/index.js", "import { book } from './ledger'"),
        ("src/ledger.ts", 'export * from "./ledger";'),
        ("src/ledger.js", "const { book } = require('../ledger')"),
        ("lib/ledger.rb", "require_relative 'ledger'"),
        ("com/shop/Ledger.java", "import com.shop.Ledger;"),
        ("src/Ledger.php", "use Shop\\Books\\Ledger;"),
        ("src/Ledger.cs", "using Shop.Ledger;"),
        ("internal/ledger/store.go", 'import (\n\tbook "shop/internal/ledger"\n)'),
        ("lua/ledger.lua", "local ledger = require 'shop.ledger'"),
    ],
)
def test_what_others_import_is_known_in_any_language(tmp_path, imported, importing):
    suffix = imported.rpartition(".")[2]
    users = {f"users/u{number}.{suffix}": f"{importing}\n" for number in range(3)}
    paths = write(tmp_path, {imported: "\n", f"other/alone.{suffix}": "ledger = 1\n", **users})
    assert most_referred(tmp_path, paths) == [imported]


def test_of_the_files_that_are_no_entry_the_most_imported_are_read_first(tmp_path):
    users = {f"src/u{number}.py": "from src.deep.er.ledger import Book\n" for number in range(6)}
    few = {f"src/v{number}.py": "from src.deep.page import Page\n" for number in range(3)}
    paths = write(
        tmp_path, {**users, **few, "src/deep/er/ledger.py": "", "src/deep/page.py": "", "main.py": ""}
    )
    first, *_ = group_by_priority(tmp_path, paths, 3)
    assert first == {"main.py", "src/deep/er/ledger.py", "src/deep/page.py"}


def test_files_that_share_a_name_and_files_that_cannot_be_read_say_little(tmp_path):
    users = {f"src/u{number}.py": "import ledger\n" for number in range(4)}
    paths = write(tmp_path, {**users, **{f"{folder}/ledger.py": "" for folder in "abcd"}})
    assert most_referred(tmp_path, paths) == []
    (tmp_path / "loop.py").symlink_to("loop.py")
    assert most_referred(tmp_path, [*paths, "loop.py", "gone.py", "src"]) == []


def test_a_look_that_takes_too_long_goes_on_with_what_it_has(tmp_path, monkeypatch):
    paths = write(tmp_path, {"ledger.py": "", **{f"u{number}.py": "import ledger\n" for number in range(9)}})
    monkeypatch.setattr("cortex.indexer.priority.LOOK_S", 0.0)
    assert most_referred(tmp_path, paths) == []
