"""Paths that a question names and the index lacks."""

import pytest

from cortex.ask.freshness import Freshness
from cortex.ask.missing_files import describe_left_out, nearest_paths, say_missing
from cortex.settings import config as configuration

SETTINGS = """indexing:
  ignore: ["*.tmp.py"]
  include: ["*.py", "*.png", "*.lock", "id_rsa", "*.min.js"]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    (root / ".cortex").mkdir(parents=True)
    (root / ".cortex" / "config.yml").write_text(SETTINGS)
    (root / ".gitignore").write_text("built/\nlocal.py\n")
    for path in (
        "a.py",
        "b.go",
        "built/a.py",
        "local.py",
        "x.tmp.py",
        "id_rsa",
        "pic.png",
        "node_modules/m/a.py",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("X = 1\n")
    (root / "big.py").write_text("X = 1\n" * 300_000)
    (root / "link.py").symlink_to("a.py")
    config = configuration.load(str(root))
    return config, Freshness(config)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("big.py", "it is larger than 1024 kB; indexing.max_file_kb takes it in."),
        ("b.go", "indexing.include does not name it."),
        ("x.tmp.py", "it is ignored by indexing.ignore."),
        (
            "local.py",
            "it is ignored by .gitignore, line 2: local.py; a line with ! in .cortexignore takes it in.",
        ),
        (
            "built/a.py",
            "built/ is ignored by .gitignore, line 1: built/; a line with ! in .cortexignore takes it in.",
        ),
        (
            "built",
            "built/ is ignored by .gitignore, line 1: built/; a line with ! in .cortexignore takes it in.",
        ),
        ("link.py", "it is a symbolic link."),
        ("pic.png", "it is binary."),
        ("id_rsa", "it may hold secrets."),
        ("node_modules/m/a.py", "folders called node_modules hold no project's own source."),
    ],
)
def test_a_file_that_is_left_out_brings_the_reason_and_the_setting(project, path, why):
    config, freshness = project
    assert describe_left_out(config, freshness, path) == f"{path} is there, but left out because {why}"


@pytest.mark.parametrize("path", ["nowhere.py", "", "../project/a.py", ".."])
def test_a_path_that_is_not_there_is_not_left_out(project, path):
    assert describe_left_out(*project, path) == ""


def test_a_file_that_was_just_made_is_about_to_be_indexed(project):
    assert describe_left_out(*project, "a.py") == (
        "a.py is there, but was made a moment ago and is not indexed yet."
    )


def test_a_path_that_is_not_there_brings_the_nearest_and_no_answer_for_them(project):
    assert say_missing(*project, "nowhere.py") == "There is no file 'nowhere.py' in the index."
    listed = ["lib/util.py", "lib/util.js", "web/main.ts"]
    assert nearest_paths("models/util.py", listed) == ["lib/util.py", "lib/util.js"]
    assert nearest_paths("models/user.py", listed)[:1] == ["lib/util.py"]
    assert nearest_paths("quite/other.rs", listed) == []
