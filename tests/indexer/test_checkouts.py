"""Checkouts of git: tracked files, git's own folders, worktrees, clones, submodules."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cortex.indexer import checkouts
from cortex.indexer.scan import Candidate, Scanner
from cortex.settings.config import Config, Indexing
from cortex.system import git


@pytest.fixture(autouse=True)
def _own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    (tmp_path / "home").mkdir()


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "project"
    init(folder)
    return folder


def call(folder: Path, *words: str) -> str:
    command = [
        "git",
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "-c",
        "protocol.file.allow=always",
    ]
    return subprocess.run([*command, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def init(folder: Path) -> None:
    folder.mkdir(parents=True)
    call(folder, "init", "-q")


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def commit(folder: Path, *forced: str) -> None:
    call(folder, "add", "-A")
    if forced:
        call(folder, "add", "-f", *forced)
    call(folder, "commit", "-qm", "x", "--allow-empty")


def scanner(root: Path, **indexing: object) -> Scanner:
    return Scanner(Config(root=root, indexing=Indexing(**indexing)))  # type: ignore[arg-type]


def taken(root: Path, **indexing: object) -> set[str]:
    """Return the files of a scan but git's, and check that looks at single files agree."""
    place = scanner(root, **indexing)
    scan = place.walk()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            assert isinstance(place.check_path(path), Candidate) == (path in scan.files), path
            assert bool(place.exclusion_reason(path)) == (path not in scan.files), path
    return {path for path in scan.files if not os.path.basename(path).startswith(".git")}


def left_out(root: Path) -> dict[str, str]:
    return {skip.path: skip.reason for skip in scanner(root).walk().skipped}


ALLOWED = {"top.py": "", "src/one.py": "", "src/deep/two.py": "", "src/notes.x": "", "Logs/a.py": ""}


@pytest.mark.parametrize(
    "rules",
    [
        "*\n!*/\n!*.py\n!.gitignore\n", "*\n!src/\n!*.py\n", "*\n!**/\n!*.py\n", "**\n!**/*.py\n!*/\n",
        "*\n!src\n!src/*\n!src/**/*\n", "*\n!*/\n!*.py\n/Logs/\n", "/*\n!/src/\n/src/*\n!/src/deep/\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tracked", [False, True])
def test_what_an_allow_list_takes_back_is_taken(root, rules, tracked):
    write(root, {".gitignore": rules, **ALLOWED})
    if tracked:
        commit(root)
    listed = call(root, "ls-files", "-co", "--exclude-standard").split()
    assert taken(root) == {path for path in listed if path != ".gitignore"}


INNER = {
    "src/app/a.py": "", "src/build/a.py": "", "src/secrets/settings.py": "", "packages/build/b.py": "",
    "vendor/lib/bin/x.py": "", "vendor/lib/y.py": "", "vendor/z.py": "", "src/b/c.py": "",
}  # fmt: skip


@pytest.mark.parametrize(
    "rules",
    [
        {".gitignore": "build/\nsecrets/\n!src/\n"}, {".gitignore": "build\n!src\n"},
        {".gitignore": "build\n!/src/\n"}, {".gitignore": "build\n!packages/\n"},
        {".gitignore": "bin/\nvendor/*\n!vendor/lib/\n"}, {".gitignore": "b\n", "src/.gitignore": "!b\n"},
    ],
)  # fmt: skip
def test_a_folder_that_is_taken_back_takes_nothing_back_that_another_line_ignores(root, rules):
    write(root, {**INNER, **rules})
    listed = call(root, "ls-files", "-co", "--exclude-standard").split()
    assert taken(root) == {path for path in listed if ".git" not in path}


@pytest.mark.parametrize("place", [".gitignore", ".git/info/exclude", "GLOBAL"])
def test_tracked_files_are_the_projects_although_a_rule_matches(root, tmp_path, place):
    write(
        root,
        {"gen/api.py": "", "gen/other.py": "", "gen/deep/x.py": "", "CLAUDE.md": "", ".vscode/a.json": "{}"},
    )
    path = tmp_path / "xdg/git/ignore" if place == "GLOBAL" else root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("gen/\nCLAUDE.md\n.vscode/\n*.log.py\n")
    assert taken(root) == set()
    call(root, "add", "-f", "gen/api.py", "CLAUDE.md", ".vscode/a.json")
    assert taken(root) == {"gen/api.py", "CLAUDE.md", ".vscode/a.json"}
    reason = scanner(root).inclusion_reason("gen/api.py")
    assert reason.startswith("git tracks it, although ")
    assert reason.endswith("line 1: gen/ ignores it")
    assert scanner(root).exclusion_reason("gen/other.py").endswith("line 1: gen/")
    call(root, "rm", "-q", "--cached", "gen/api.py")
    assert taken(root) == {"CLAUDE.md", ".vscode/a.json"}


def test_our_own_rules_decide_before_git_does(root):
    write(root, {
        ".gitignore": "gen/\n*.tmp.py\n", ".cortexignore": "gen/b.py\n!kept.tmp.py\n!back/\n", "gen/a.py": "",
        "gen/b.py": "", "gen/c.py": "", "kept.tmp.py": "", "x.tmp.py": "", ".env": "K=1", "node_modules/m.js": "",
    })  # fmt: skip
    commit(root, "gen", ".env", "node_modules")
    assert taken(root) == {".cortexignore", "gen/a.py", "gen/c.py", "kept.tmp.py"}
    assert taken(root, ignore=("c.py",)) == {".cortexignore", "gen/a.py", "kept.tmp.py"}
    assert taken(root, respect_gitignore=False) == {
        ".cortexignore", "gen/a.py", "gen/c.py", "kept.tmp.py", "x.tmp.py",
    }  # fmt: skip
    place = scanner(root, ignore=("c.py",))
    assert place.exclusion_reason("gen/b.py") == "ignored by .cortexignore, line 1: gen/b.py"
    assert place.exclusion_reason("gen/c.py") == "ignored by indexing.ignore"
    assert place.inclusion_reason("kept.tmp.py") == ".cortexignore, line 2: !kept.tmp.py"


def test_deleted_entries_and_those_of_a_sparse_checkout_are_no_files(root):
    write(root, {".gitignore": "gen/\n", "gen/a.py": "", "gen/b.py": "", "gen/c.py": ""})
    commit(root, "gen")
    (root / "gen/a.py").unlink()
    call(root, "update-index", "--skip-worktree", "gen/b.py")
    assert taken(root) == {"gen/c.py"}


def test_a_configuration_cannot_name_another_tree_or_other_rules(root, tmp_path):
    write(root, {".gitignore": "gen/\n", "gen/a.py": "", "b.py": ""})
    commit(root, "gen")
    init(tmp_path / "other")
    write(tmp_path / "other", {"gen/a.py": ""})
    (tmp_path / "rules").write_text("*.py\n")
    call(root, "config", "core.worktree", str(tmp_path / "other"))
    call(root, "config", "core.excludesFile", str(tmp_path / "rules"))
    assert taken(root) == {"gen/a.py", "b.py"}


def test_git_is_asked_once_for_each_change_of_the_index(root, monkeypatch):
    calls: list[Path] = []
    listing = git.list_index

    def list_index(work_tree: Path, folder: Path) -> git.Tracked:
        calls.append(work_tree)
        return listing(work_tree, folder)

    monkeypatch.setattr(git, "list_index", list_index)
    write(root, {".gitignore": "gen/\n", **{f"gen/{at}.py": "" for at in range(20)}})
    commit(root, "gen")
    for _ in range(3):
        assert len(taken(root)) == 20
    assert calls == [root]
    call(root, "rm", "-q", "--cached", "gen/0.py")
    assert len(taken(root)) == 19
    assert calls == [root, root]


@pytest.mark.parametrize("how", ["owner", "timeout", "damage", "no git", "empty"])
def test_a_git_that_does_not_tell_is_named_and_the_rules_decide(root, monkeypatch, tmp_path, how):
    write(root, {".gitignore": "gen/\n", "gen/a.py": "", "b.py": ""})
    if how == "empty":
        assert taken(root) == {"b.py"}
        assert left_out(root) == {}
        return
    commit(root, "gen")
    if how == "owner":
        monkeypatch.setattr(checkouts.git_files, "belongs_to_another", lambda _folder: True)
        why = "belongs to another user"
    elif how == "damage":
        (root / ".git/index").write_bytes(b"DIRC of nothing")
        why = "git ended with 128"
    elif how == "no git":
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        why = "there is no git here"
    else:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/git").write_text("#!/bin/sh\nexec sleep 100\n")
        (tmp_path / "bin/git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
        listing = git.list_index
        monkeypatch.setattr(git, "list_index", lambda tree, folder: listing(tree, folder, 0.2))
        why = "took longer than 0.2 s"
    assert [name for name in Scanner(Config(root=root)).walk().files if name.endswith(".py")] == ["b.py"]
    assert why in left_out(root)[".git"]
    if how == "owner":
        (tmp_path / "home/.gitconfig").write_text(f"[safe]\n\tdirectory = {root}\n")
        os.utime(root / ".git/index")
        assert taken(root) == {"gen/a.py", "b.py"}


def bare(place: Path, source: Path) -> None:
    call(source, "clone", "-q", "--bare", str(source), str(place))


@pytest.mark.parametrize("name", ["shop.git", ".bare", "fixtures/repo"])
@pytest.mark.parametrize("how", ["untracked", "tracked", "damaged"])
def test_nothing_of_a_folder_of_git_is_read(root, tmp_path, name, how):
    write(root, {"a.py": ""})
    commit(root)
    bare(root / name, root)
    (root / name / "hooks").mkdir(exist_ok=True)
    (root / name / "hooks/update.py").write_text("TOKEN = 1\n")
    if how == "damaged":
        shutil.rmtree(root / name / "objects")
        shutil.rmtree(root / name / "refs")
    if how != "untracked":
        names = [str(path.relative_to(root)) for path in (root / name).rglob("*") if path.is_file()]
        blob = call(root, "hash-object", "-w", "a.py").strip()
        for path in names:
            call(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    assert taken(root) == {"a.py"}
    assert left_out(root)[name] == checkouts.GIT_FOLDER


def test_a_source_folder_with_a_file_called_head_is_no_folder_of_git(root):
    write(root, {"pages/HEAD": "<head>", "pages/config": "x = 1", "pages/refs/a.py": ""})
    assert taken(root) == {"pages/HEAD", "pages/config", "pages/refs/a.py"}


def test_another_worktree_of_the_repository_is_not_the_project(root):
    write(root, {"a.py": ""})
    commit(root)
    call(root, "worktree", "add", "-q", ".claude/worktrees/feat", "-b", "feat")
    inner = root / ".claude/worktrees/feat"
    assert taken(root) == {"a.py"}
    assert left_out(root)[".claude/worktrees/feat"].startswith(checkouts.WORKTREE)
    assert taken(inner) == {"a.py"}
    call(root, "add", "-f", ".claude/worktrees/feat")  # as `git add -A` does
    assert taken(root) == {"a.py"}
    shutil.rmtree(root / ".git/worktrees")  # pruned, or made on another machine
    assert taken(root) == {"a.py"}


def test_a_worktree_below_a_worktree_and_the_main_checkout_below_one_are_left_out(root, tmp_path):
    write(root, {"a.py": ""})
    commit(root)
    outer = tmp_path / "outer"
    call(root, "worktree", "add", "-q", str(outer), "-b", "outer")
    call(root, "worktree", "add", "-q", str(outer / "inner"), "-b", "inner")
    assert taken(outer) == {"a.py"}


def test_a_bare_repository_with_worktrees_beside_it_names_them(tmp_path):
    source, root = tmp_path / "source", tmp_path / "shop"
    init(source)
    write(source, {"a.py": ""})
    commit(source)
    root.mkdir()
    bare(root / ".bare", source)
    (root / ".git").write_text("gitdir: ./.bare\n")
    call(root, "worktree", "add", "-q", "feature", "-b", "feature")
    (root / "notes.md").write_text("# Notes\n")
    assert taken(root) == {"notes.md"}
    reasons = left_out(root)
    assert reasons[".bare"] == checkouts.GIT_FOLDER
    assert reasons["feature"] == f"{checkouts.WORKTREE}: open it by itself (--project feature)"
    assert taken(root / "feature") == {"a.py"}
    itself = Scanner(Config(root=root / ".bare")).walk()
    assert not itself.files
    assert str(root / "feature") in itself.skipped[0].reason
    (root / ".git").unlink()  # the same without a pointer
    assert taken(root) == {"notes.md"}


@pytest.mark.parametrize("kind", ["clone", "submodule", "embedded", "old submodule"])
def test_a_clone_below_a_repository_counts_only_as_a_submodule(root, tmp_path, kind):
    library = tmp_path / "library"
    init(library)
    write(library, {"lib.py": "", ".gitignore": "*.gen.py\nbuilt/\n", "x.gen.py": "", "built/b.py": ""})
    commit(library, "built/b.py")
    write(root, {"a.py": "", ".gitignore": "lib.py\n"})
    commit(root)
    if kind == "submodule":
        call(root, "submodule", "--quiet", "add", str(library), "vendor/lib")
    else:
        call(root, "clone", "-q", str(library), "vendor/lib")
        if kind == "embedded":
            call(root, "add", "vendor/lib")
        if kind == "old submodule":  # git does not tell
            (root / ".gitmodules").write_text('[submodule "lib"]\n\tpath = vendor/lib\n\turl = x\n')
            (root / ".git/index").write_bytes(b"damaged")
    write(root / "vendor/lib", {"y.gen.py": "", "built/c.py": ""})
    inside = {"vendor/lib/lib.py", "vendor/lib/built/b.py"}
    assert taken(root) == {"a.py"} | (inside if kind != "clone" else set())
    if kind == "clone":
        assert left_out(root)["vendor/lib"].startswith(checkouts.CLONE)
    assert taken(root / "vendor/lib") == {"lib.py", "built/b.py"}


def test_clones_in_a_folder_without_git_are_its_files(tmp_path):
    folder = tmp_path / "code"
    for name in ("shop", "tools"):
        init(folder / name)
        write(folder / name, {"a.py": "", ".gitignore": "gen/\n", "gen/b.py": "", "gen/c.py": ""})
        commit(folder / name, "gen/b.py")
    bare(folder / "mirror.git", folder / "shop")
    call(folder / "shop", "worktree", "add", "-q", str(folder / "shop-feature"), "-b", "feature")
    assert taken(folder) == {"shop/a.py", "shop/gen/b.py", "tools/a.py", "tools/gen/b.py"}


def test_a_folder_of_a_repository_has_the_tracked_files_of_that_folder(root):
    write(
        root,
        {
            ".gitignore": "gen/\n/sub/x.py\n",
            "sub/gen/a.py": "",
            "sub/gen/b.py": "",
            "sub/x.py": "",
            "sub/y.py": "",
        },
    )
    commit(root, "sub/gen/a.py")
    assert taken(root / "sub") == {"gen/a.py", "y.py"}
