"""A build holds its commit, a clone asks git, and without either the version says `unknown`."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from cortex import __version__
from cortex.processes import attach
from cortex.processes.starting import expected_hello
from cortex.settings.config import Config
from cortex.system import loaded_code
from tests.cortex_clone import ROOT, git, make_clone

#: how an archive is unpacked: Python before 3.11.4 has no filters
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
UNKNOWN = f"cortex {__version__}+unknown\n"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone without the models: 42 MB, which git and each build would compress."""
    return make_clone(tmp_path_factory.mktemp("clone") / "cortex", "*.npy", "*.npz")


def build(folder, out, kind="wheel", **variables):
    """Build in `folder` and return the archive."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | variables  # the clone stays clean
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    [archive] = [path for path in out.iterdir() if path.suffix == {"wheel": ".whl", "sdist": ".gz"}[kind]]
    return archive


@pytest.fixture(scope="module")
def unpacked(clone, tmp_path_factory):
    """The folder of a source archive, inside a repository of others."""
    folder = tmp_path_factory.mktemp("archive")
    with tarfile.open(build(clone, folder / "source", "sdist")) as archive:
        archive.extractall(folder / "in", **SAFELY)
    git(folder, "init", "-q", "in")
    [unpacked] = (path for path in (folder / "in").iterdir() if path.name != ".git")
    return unpacked


def version_in(folder):
    """Return the output of `cortex --version` from the packages in `folder`."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "cortex", "--version"]
    return subprocess.check_output(command, cwd="/", env=environment, text=True)


def version_of(wheel, out):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(out)
    return version_in(out)


def printed_at(folder):
    return f"cortex {__version__}+g{git(folder, 'rev-parse', '--short=12', 'HEAD')}\n"


def test_a_wheel_knows_its_commit_and_the_clone_stays_clean(clone, tmp_path):
    wheel = build(clone, tmp_path / "out")
    assert version_of(wheel, tmp_path / "in") == printed_at(clone)
    assert git(clone, "status", "--porcelain") == ""


def test_a_source_archive_hands_the_commit_on_to_its_wheel(clone, unpacked, tmp_path):
    assert version_of(build(unpacked, tmp_path / "out"), tmp_path / "wheel") == printed_at(clone)


def test_a_shallow_clone_and_a_linked_work_tree_know_their_commit(clone, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=1", clone.as_uri(), "shallow")
    git(clone, "worktree", "add", "-q", "--detach", tmp_path / "linked", "HEAD~1")
    for name in ("shallow", "linked"):
        wheel = build(tmp_path / name, tmp_path / f"{name}-out")
        assert version_of(wheel, tmp_path / f"{name}-in") == printed_at(tmp_path / name)
    assert printed_at(tmp_path / "shallow") != printed_at(tmp_path / "linked")


def test_a_build_inside_a_git_hook_asks_its_own_repository(clone, tmp_path):
    git(tmp_path, "init", "-q", "other")
    wheel = build(clone, tmp_path / "out", GIT_DIR=str(tmp_path / "other" / ".git"))
    assert version_of(wheel, tmp_path / "in") == printed_at(clone)


def test_an_unpacked_zip_and_a_machine_without_git_say_unknown(clone, tmp_path):
    git(clone, "archive", "--format=zip", "--prefix=outer/cortex/", "-o", tmp_path / "cortex.zip", "HEAD")
    with zipfile.ZipFile(tmp_path / "cortex.zip") as archive:
        archive.extractall(tmp_path)
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", "outer")  # a repository that is not Cortex's
    git(outer, "commit", "-q", "--allow-empty", "-m", "theirs")
    assert version_of(build(outer / "cortex", tmp_path / "zip"), tmp_path / "zip-in") == UNKNOWN
    without = build(clone, tmp_path / "bare", PATH="/nowhere")
    assert version_of(without, tmp_path / "bare-in") == UNKNOWN


def test_the_images_files_build_without_git_and_answer_in_a_bare_folder(tmp_path):
    """As `docker build`, without Docker: the files that the Dockerfile copies, in a folder of no
    repository, built and started by a system that has no git.
    """
    text = (ROOT / "scripts" / "packaging" / "Dockerfile").read_text()
    for *sources, target in map(str.split, re.findall(r"^COPY (.+)$", text, re.MULTILINE)):
        folder = tmp_path / target.strip("/")
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(
                    ROOT / source, folder, ignore=shutil.ignore_patterns("__pycache__", "_commit.py")
                )
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, folder)
    wheel = build(tmp_path / "src", tmp_path / "out", PATH="/nowhere")
    assert version_of(wheel, tmp_path / "in") == UNKNOWN
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def frobnicate():\n    return 1\n")
    image = {"PYTHONPATH": str(tmp_path / "in"), "PATH": "/nowhere", "CORTEX_HOME": str(tmp_path / "data")}
    image |= {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    command = [sys.executable, "-P", "-m", "cortex", "{}", "--project", str(tmp_path / "project")]

    def run(name, *words):
        line = [name if word == "{}" else word for word in command] + list(words)
        return subprocess.run(line, cwd="/", env=image, check=True, capture_output=True, text=True).stdout

    try:
        assert "a.py" in run("exact", "frobnicate")
    finally:
        run("down")


def test_a_source_archive_builds_without_git_at_the_commit_that_it_names(clone, unpacked, tmp_path):
    wheel = build(unpacked, tmp_path / "out", PATH="/nowhere")
    assert version_of(wheel, tmp_path / "wheel") == printed_at(clone)


def test_a_clone_asks_git_for_the_commit_that_it_is_at(clone, tmp_path):
    git(tmp_path, "clone", "-q", clone.as_uri(), "other")
    assert version_in(tmp_path / "other") == printed_at(tmp_path / "other")
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "three")
    assert version_in(tmp_path / "other") == printed_at(tmp_path / "other") != printed_at(clone)


def test_a_message_of_mismatch_tells_two_commits_apart(tmp_path):
    config = Config(root=tmp_path)
    hello = expected_hello(config) | {"config": "other", "source": "/there"}
    message = attach.mismatch(config, hello | {"commit": "0123456789ab"})
    assert f"Cortex {__version__}+g0123456789ab (" in message
    assert f"this is Cortex {loaded_code.full_version()} (" in message
    assert f"Cortex {__version__} in /there (" in attach.mismatch(config, hello | {"commit": ""})
    assert "commit" not in json.dumps(expected_hello(config))  # two commits of a version attach
