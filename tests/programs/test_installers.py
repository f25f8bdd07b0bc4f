"""Extras and upgrades by the commands that Cortex prints, with uv, pipx and pip.

These tests run where TEST_PROGRAMS names a folder with the installers; they fetch packages. With
TEST_UPGRADE_FROM=COMMIT, the upgrade and the way back are between that commit and this one.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cortex import __version__
from tests.cortex_clone import ROOT, commit_change, git, make_clone

PROGRAMS = os.environ.get("TEST_PROGRAMS", "")
#: the commit that is upgraded to this one; without it both have the same code
OLDER = os.environ.get("TEST_UPGRADE_FROM", "")
pytestmark = [
    pytest.mark.skipif(not PROGRAMS, reason="TEST_PROGRAMS names no folder of installers"),
    pytest.mark.timeout(600),
]

#: a small extra that the installation has, and one that is added later
FIRST, SECOND = "sql", "patterns"


class Machine:
    """A home folder with a clone of Cortex that pulls from another repository."""

    def __init__(self, folder: Path, origin: Path) -> None:
        self.folder, self.origin = folder, origin
        git(folder, "clone", "-q", origin.as_uri(), "my clone")
        self.clone = folder / "my clone"
        self.bin = folder / "bin"
        folders = {
            "HOME": str(folder),
            "CORTEX_HOME": str(folder / "data"),
            "UV_TOOL_DIR": str(folder / "uv"),
            "UV_TOOL_BIN_DIR": str(self.bin),
            "PIPX_HOME": str(folder / "pipx"),
            "PIPX_BIN_DIR": str(self.bin),
            "PIPX_DEFAULT_PYTHON": sys.executable,
            "UV_PYTHON": sys.executable,
            "PATH": os.pathsep.join((str(self.bin), PROGRAMS, os.environ["PATH"])),
        }
        passed = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CORTEX"))
        }
        self.environment = passed | folders

    def run(self, line: str, **options) -> str:
        done = subprocess.run(
            line,
            shell=True,
            env=self.environment,
            cwd=options.get("cwd", self.folder),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def follow(self, command: str, pattern: str) -> str:
        """Run the command that Cortex prints; return it."""
        line = re.search(pattern, self.run(command))[1]
        self.run(line)
        return line


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return make_clone(tmp_path_factory.mktemp("origin") / "cortex")


@pytest.fixture
def machine(tmp_path, origin):
    machine = Machine(tmp_path, origin)
    yield machine
    shutil.rmtree(tmp_path, ignore_errors=True)


def version_at(folder, commit="HEAD"):
    return f"cortex {__version__}+g{git(folder, 'rev-parse', '--short=12', commit)}\n"


@pytest.mark.parametrize(
    "line",
    [
        "uv tool install '{clone}[sql]'",
        "uv tool install -e '{clone}[sql]'",
        "uv tool install 'cortex-context-engine[sql] @ git+{url}@{branch}'",
        "pipx install '{clone}[sql]'",
        "pipx install -e '{clone}[sql]'",
        "pipx install 'cortex-context-engine[sql] @ git+{url}'",
        "python3 -m venv '{folder}' && bin/python -m pip install '{clone}[sql]'",
        "python3 -m venv '{folder}' && bin/python -m pip install -e '{clone}[sql]'",
        "python3 -m venv '{folder}' && bin/python -m pip install 'cortex-context-engine[sql] @ git+{url}'",
        "uv venv --allow-existing '{folder}' && uv pip install --python bin/python '{clone}[sql]'",
    ],
)
def test_extras_and_upgrades_by_the_printed_commands(machine, line):
    branch = git(machine.origin, "branch", "--show-current")
    names = {"clone": machine.clone, "url": f"file://localhost{machine.origin}", "folder": machine.folder}
    machine.run(line.format(**names, branch=branch).replace("python3", sys.executable))
    assert machine.run("cortex --version") == version_at(machine.origin)
    machine.run("git init -q project && echo 'def f(): pass' > project/a.py")

    def say_missing():
        """Return (the missing extras, the command that adds them all)."""
        printed = machine.run("cd project && cortex doctor || true")
        names, command = re.search(r"optional, not installed: ([\w, ]+); (.+) adds them", printed).groups()
        return set(names.split(", ")), command

    missing, command = say_missing()
    assert SECOND in missing
    assert FIRST not in missing
    machine.run(re.sub(r"\[([\w,]+)\]", f"[{SECOND},{FIRST}]", command))
    assert not {FIRST, SECOND} & say_missing()[0]

    for number in ("first", "second"):  # uv's cache took the first change and not the second
        commit_change(machine.origin, f"{line} {number}")
        upgrade = machine.follow("cortex upgrade", r"To upgrade: (.+)")
        assert machine.run("cortex --version") == version_at(machine.origin), upgrade
    assert not {FIRST, SECOND} & say_missing()[0]


def test_uv_tool_upgrade_alone_takes_each_commit(machine):
    machine.run(f"uv tool install '{machine.clone}'")
    for number in ("first", "second"):
        commit_change(machine.clone, number)
        machine.run("uv tool upgrade cortex-context-engine")
        assert machine.run("cortex --version") == version_at(machine.clone)


@pytest.mark.parametrize("installer", ["uv tool install --reinstall", "pipx install --force"])
def test_notes_and_index_outlive_an_upgrade_and_the_way_back(machine, installer):
    if OLDER:
        shutil.rmtree(machine.clone)
        git(machine.folder, "clone", "-q", ROOT.as_uri(), machine.clone.name)
    install = f"{installer} '{machine.clone}'"
    project = machine.folder / "project"
    machine.run("git init -q project && echo 'def frobnicate(): pass' > project/a.py")
    git(machine.clone, "checkout", "-q", OLDER or "HEAD~1")
    machine.run(install)
    try:
        machine.run("cortex memory store --title 'frobnicator is kept' --body 'why it is here'", cwd=project)
        machine.run("cortex index", cwd=project)
        for commit in ("-", "-"):
            git(machine.clone, "checkout", "-q", commit)
            machine.run(install)
            assert machine.run("cortex --version") == version_at(machine.clone)
            assert "frobnicator is kept" in machine.run("cortex memory recall frobnicator", cwd=project)
            assert "a.py" in machine.run("cortex exact frobnicate", cwd=project)
    finally:
        machine.run("cortex down && cortex memory down || true", cwd=project)
