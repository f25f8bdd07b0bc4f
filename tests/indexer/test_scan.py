"""The selection of files: the rules of git, those of Cortex, and odd entries of file systems."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cortex.indexer import scan as scans
from cortex.indexer.scan import Candidate, Scan, Scanner
from cortex.settings.config import Config, Indexing
from cortex.settings.folders.home import find_root
from cortex.system.errors import Misconfigured
from cortex.terms.records import Skipped


@pytest.fixture(autouse=True)
def _no_global_rules(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def walk(root: Path, **indexing: object) -> Scan:
    return Scanner(Config(root=root, indexing=Indexing(**indexing))).walk()  # type: ignore[arg-type]


def test_nested_ignore_files_decide_as_git_does(root):
    write(
        root,
        {
            ".gitignore": "*.log.txt\n/build/\n!keep.log.txt\ndocs/*.py\n",
            "a.py": "", "x.log.txt": "", "keep.log.txt": "", "build/b.py": "", "src/build/c.py": "", "docs/d.py": "",
            "src/.gitignore": "!x.log.txt\nprivate\n",
            "src/x.log.txt": "", "src/private/e.py": "", "src/deep/private": "",
        },
    )  # fmt: skip
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".git" / "info" / "exclude").write_text("excluded.py\n")
    write(root, {"excluded.py": "", "src/excluded.py": ""})
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True
    )
    assert sorted(walk(root).files) == sorted(listed.stdout.split())


def test_rules_above_a_project_inside_a_repository_count(root):
    write(
        root,
        {".gitignore": "/sub/secret.py\n*.gen.py\n", "sub/a.py": "", "sub/secret.py": "", "sub/b.gen.py": ""},
    )
    (root / ".git").mkdir()
    assert list(walk(root / "sub").files) == ["a.py"]


def test_the_users_global_rules_count(root, tmp_path):
    write(tmp_path, {"xdg/git/ignore": "*.tmp.py\n"})
    write(root, {"a.py": "", "b.tmp.py": ""})
    assert list(walk(root).files) == ["a.py"]
    assert list(walk(root, respect_gitignore=False).files) == ["a.py", "b.tmp.py"]


def test_the_file_that_gits_configuration_names_counts(root, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path, {"home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n", "home/mine": "*.tmp.py\n"})
    write(root, {"a.py": "", "b.tmp.py": ""})
    assert list(walk(root).files) == ["a.py"]


def test_a_hundred_megabytes_are_left_out_unread(root):
    write(root, {"a.py": "", "huge.py": ""})
    os.truncate(root / "huge.py", 100 << 20)
    scan = walk(root)
    assert list(scan.files) == ["a.py"]
    assert [skip.reason for skip in scan.skipped] == ["larger than 1024 kB"]


def test_our_own_ignore_file_and_the_configuration_count(root):
    write(
        root, {".cortexignore": "big/\n", "big/a.py": "", "b.py": "", "c.go": "", "gen/d.py": "", "e.md": ""}
    )
    assert list(walk(root).files) == [".cortexignore", "b.py", "c.go", "e.md", "gen/d.py"]
    assert list(walk(root, ignore=("gen/", ".*")).files) == ["b.py", "c.go", "e.md"]
    assert list(walk(root, include=("*.py",)).files) == ["b.py", "gen/d.py"]
    assert list(walk(root, languages=("go", "markdown")).files) == ["c.go", "e.md"]


def test_languages_may_be_called_as_people_do_and_typescript_is_tsx_too(root):
    write(root, {"a.py": "", "b.ts": "", "b2.tsx": "", "c.go": "", "d.js": "", "e.md": "", "f.rs": ""})
    assert list(walk(root, languages=("Golang", "md")).files) == ["c.go", "e.md"]
    wanted = ["a.py", "b.ts", "b2.tsx", "c.go", "d.js"]
    assert list(walk(root, languages=("js", "ts", "py", "go")).files) == wanted
    assert list(walk(root, languages=("tsx",)).files) == ["b2.tsx"]


@pytest.mark.parametrize("line", ["[z-a]", "!", "x" * 100_000, "\0", "[[:odd:]]", "\xff"])
@pytest.mark.parametrize("place", [".gitignore", "sub/.cortexignore", ".git/info/exclude", "GLOBAL"])
def test_a_line_that_is_no_glob_leaves_the_others_in_force_and_is_named(root, place, line):
    path = tmp_global() if place == "GLOBAL" else root / place
    write(root, {".git/HEAD": "", "sub/a.py": "", "sub/b.gen.py": "", "sub/c.5": ""})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(f"*.gen.py\n{line}\r\n*.[[:digit:]]\r\n".encode("latin-1"))
    scan = walk(root)
    assert {"sub/a.py"} == {name for name in scan.files if name.startswith("sub/") and "ignore" not in name}
    ignore_file = str(path) if place.startswith((".git/", "GLOBAL")) else place
    (fault,) = [skip for skip in scan.skipped if skip.reason.startswith("no glob")]
    assert fault.path == ignore_file
    assert fault.reason.startswith(f"no glob in line 2 of {ignore_file}: ")


def test_a_file_of_nothing_but_wrong_lines_is_named_shortly(root):
    write(root, {".gitignore": "[z-a]\n" * 600 + "*.gen.py\n", "a.py": "", "b.gen.py": ""})
    scan = walk(root)
    assert "b.gen.py" not in scan.files
    assert [skip.reason.partition(":")[0] for skip in scan.skipped] == [
        *(f"no glob in line {number} of .gitignore" for number in (1, 2, 3)),
        "no glob in 597 more lines of .gitignore",
    ]


@pytest.mark.parametrize("setting", ["include", "ignore"])
def test_a_setting_that_is_no_glob_is_a_sentence_that_names_it(root, setting):
    with pytest.raises(Misconfigured, match=rf"\[z-a\]' of indexing\.{setting} cannot be read"):
        walk(root, **{setting: ("*.py", "[z-a]")})


def tmp_global() -> Path:
    """Return the user's ignore file, in the test's own folder."""
    return Path(os.environ["XDG_CONFIG_HOME"], "git", "ignore")


def test_what_is_left_out_is_told_with_a_reason(root):
    write(
        root,
        {
            "a.py": "x", "big.py": "x" * 3000, "pic.png": "", "package-lock.json": "{}", "lib.min.js": "", ".env": "K=1",
            "node_modules/m/index.js": "", "venv/pyvenv.cfg": "", "venv/lib/site.py": "",
        },
    )  # fmt: skip
    os.symlink("a.py", root / "link.py")
    os.symlink(root, root / "loop")
    os.mkfifo(root / "pipe.py")
    scan = walk(root, max_file_kb=2)
    assert list(scan.files) == ["a.py"]
    assert {skipped.path: skipped.reason for skipped in scan.skipped} == {
        ".env": "may hold secrets",
        "big.py": "larger than 2 kB",
        "lib.min.js": "generated or data",
        "link.py": "symbolic link",
        "loop": "symbolic link",
        "package-lock.json": "generated or data",
        "pic.png": "binary",
    }
    assert scan.folders == [""]


def test_a_name_that_is_no_text_is_skipped(root):
    with open(os.path.join(os.fsencode(root), b"\xff\xfe.py"), "wb"):
        pass
    assert [skipped.reason for skipped in walk(root).skipped] == ["name is not valid text"]


def test_checking_one_path_agrees_with_a_walk(root):
    write(
        root,
        {
            ".gitignore": "ignored/\n*.gen.py\n", "a/b/c.py": "x", "a/x.gen.py": "", "ignored/d.py": "", "e.png": "",
            "node_modules/f.py": "", "v/pyvenv.cfg": "", "v/g.py": "",
        },
    )  # fmt: skip
    os.symlink("a", root / "link")
    scan = walk(root)
    scanner = Scanner(Config(root=root))
    for path in (
        "a/b/c.py",
        "a/x.gen.py",
        "ignored/d.py",
        "node_modules/f.py",
        "v/g.py",
        "link/b/c.py",
        "a",
        "no.py",
    ):
        assert scanner.check_path(path) == scan.files.get(path), path
    assert scanner.check_path("e.png") == Skipped("e.png", "binary")
    assert isinstance(scanner.check_path("a/b/c.py"), Candidate)


def test_too_many_files_name_the_setting_to_add(root, monkeypatch):
    monkeypatch.setattr(scans, "FILES_MAX", 3)
    write(root, {f"{n}.py": "" for n in range(4)})
    with pytest.raises(Misconfigured, match=r'--project "/.*CORTEX_PROJECT'):
        Scanner(Config(root=root)).walk()
    assert len(Scanner(Config(root=root, explicit_root=True)).walk().files) == 4


def test_a_project_inside_a_project_is_another_one_and_a_submodule_is_both(root, monkeypatch):
    """A clone in a clone, and a submodule, with settings of its own: the outer project reads the
    sources of the submodule, and obeys only its ignore files, as git does. Opened itself, each is a
    separate project.
    """
    inner, module = root / "vendor" / "inner", root / "vendor" / "module"
    theirs = {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".gitignore": "*.tmp.py\n",
        ".cortex/config.yml": "indexing:\n  ignore: ['*']\n",
        ".cortex/chunks/theirs.json": "[]",
        "a.py": "",
        "b.tmp.py": "",
    }
    write(root, {"outer.py": ""})
    write(inner, theirs)
    write(module, theirs)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    entry = f"160000,{'1' * 40},vendor/module"
    subprocess.run(["git", "update-index", "--add", "--cacheinfo", entry], cwd=root, check=True)
    assert sources(walk(root)) == {"outer.py", "vendor/module/a.py"}
    for place in (inner, module):
        assert sources(walk(place)) == {"a.py"}
    for place, expected_root in ((inner, inner), (module, module), (root / "vendor", root)):
        monkeypatch.chdir(place)
        assert find_root() == (expected_root, False)
    assert Config(root=inner).home != Config(root=root).home


def sources(scan: Scan) -> set[str]:
    return {path for path in scan.files if path.endswith(".py")}
