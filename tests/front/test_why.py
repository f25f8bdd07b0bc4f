"""`cortex why`: indexed, ignored by which rule, too large, or ranked where."""

import os

import pytest

from cortex.front.cli.commands import run
from cortex.indexer.run import index
from cortex.indexer.scan import Scanner
from cortex.settings import config as configuration
from cortex.system.errors import EXIT_NOTHING, EXIT_OK

TREE = {
    "src/a.py": "def first():\n    return 1\n",
    "src/b.log": "x\n",
    "src/c.png": "x\n",
    "src/deep/kept.tmp": "text\n",
    "node_modules/x/index.js": "x\n",
    "build/out.py": "x = 1\n",
    "yarn.lock": "x\n",
    ".env": "KEY=1\n",
    "own/skip.py": "x = 1\n",
    "large.py": "x = 1\n" * 2000,
    ".gitignore": "# ours\n*.tmp\nbuild/\n!kept.tmp\n",
    "src/.gitignore": "*.log\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = tmp_path / "project"
    for path, text in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".cortex").mkdir()
    (root / ".cortex" / "config.yml").write_text("indexing: {ignore: [own/], max_file_kb: 8}\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    return configuration.load(root)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("src/a.py", ""),
        ("src/deep/kept.tmp", ""),
        ("src/b.log", "ignored by src/.gitignore, line 1: *.log"),
        ("build/out.py", "build/ is ignored by .gitignore, line 3: build/"),
        ("node_modules/x/index.js", "node_modules/ is left out"),
        ("src/c.png", "left out: binary"),
        ("yarn.lock", "left out: generated or data"),
        (".env", "left out: may hold secrets"),
        ("own/skip.py", "own/ is ignored by indexing.ignore"),
        ("large.py", "left out: larger than 8 kB"),
        ("gone.py", "there is no such file"),
    ],
)
def test_a_file_that_is_left_out_has_its_rule(project, path, why):
    reason = Scanner(project).exclusion_reason(path)
    assert reason.startswith(why) if why else reason == ""
    assert (path in Scanner(project).walk().files) == (not why)


@pytest.mark.parametrize(
    "words", [["nosuch.py"], ["src/nosuch"], ["build/nosuch.py"], ["nosuch.py", "how it works"]]
)
def test_a_file_that_is_not_there_is_no_question(project, capsys, words):
    index(project)
    assert run(["why", *words]) == EXIT_NOTHING
    assert capsys.readouterr().out.startswith(f"{words[0]} is not indexed: there is no such file.")


def test_a_pipe_is_no_file(project, capsys):
    os.mkfifo(project.root / "src/pipe.py")
    assert run(["why", "src/pipe.py"]) == EXIT_NOTHING
    assert "src/pipe.py is not indexed: left out: a pipe, socket or device." in capsys.readouterr().out


def test_the_nearest_of_a_file_that_is_not_there_is_named(project, capsys):
    index(project)
    assert run(["why", "lib/a.py"]) == EXIT_NOTHING
    assert capsys.readouterr().out == "lib/a.py is not indexed: there is no such file. Nearest: src/a.py.\n"


def test_the_sentence_tells_a_file_by_its_path_and_by_the_id_of_a_chunk(project, monkeypatch, capsys):
    assert run(["why", "src/a.py"]) == EXIT_NOTHING
    assert "was not read yet" in capsys.readouterr().out
    index(project)
    assert run(["why", "src/a.py"]) == EXIT_OK
    assert "src/a.py is indexed: 3 chunks of 26 bytes; nothing is served yet." in capsys.readouterr().out
    monkeypatch.chdir(project.root / "src")
    assert run(["why", "a.py"]) == EXIT_OK
    assert run(["why", "code-definitions-src/a.py#first"]) == EXIT_OK
    assert capsys.readouterr().out.count("src/a.py is indexed") == 2
    assert run(["why", "../build/out.py"]) == EXIT_NOTHING
    assert "build/out.py is not indexed: build/ is ignored by .gitignore, line 3: build/." in (
        capsys.readouterr().out
    )
    (project.root / "src" / "a.py").write_text("def second():\n    return 22\n")
    assert run(["why", "a.py"]) == EXIT_OK
    assert "differs from what is indexed" in capsys.readouterr().out
