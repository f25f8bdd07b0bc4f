"""`cortex install` and `uninstall` with the agents' own programs: they list our entry, and rewrite
their files.

    cd tests/programs && npm ci
    TEST_PROGRAMS=$PWD/node_modules/.bin python -m pytest test_agents.py
"""

import os
import re
import subprocess
import sys

import pytest

from cortex.front.agents.table import VARIABLES
from tests.e2e.conftest import BIN

PROGRAMS = os.environ.get("TEST_PROGRAMS", "").split(os.pathsep)
#: agent → (its program, its command that adds a server, the variable by which it is moved)
AGENTS = {
    "claude-code": ("claude", "mcp add -s user other -- /bin/true", "CLAUDE_CONFIG_DIR"),
    "codex": ("codex", "mcp add other -- /bin/true", "CODEX_HOME"),
    "opencode": ("opencode", "", "XDG_CONFIG_HOME"),
    "qwen": ("qwen", "mcp add -s user other /bin/true", "QWEN_HOME"),
    "copilot": ("copilot", "mcp add other -- /bin/true", "COPILOT_HOME"),
}
#: the programs that start a server to list it
STARTING = {"claude-code", "opencode", "qwen"}


class Person:
    """A home folder with a project."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        moved = {variable for variable, _ in VARIABLES.values()} | {"XDG_CONFIG_HOME"}
        passed = {name: value for name, value in os.environ.items() if name not in moved}
        self.environment = passed | {
            "HOME": str(self.home),
            "CORTEX_HOME": str(folder / "data"),
            "PATH": os.pathsep.join((str(BIN), *PROGRAMS, os.environ["PATH"])),
        }
        self.run("git", "init", "-q")
        (self.project / "a.py").write_text("def main(): pass\n")

    def run(self, *words):
        done = subprocess.run(
            words,
            env=self.environment,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def cortex(self, *words):
        return self.run(sys.executable, "-P", "-m", "cortex", *words)


@pytest.fixture
def person(tmp_path):
    person = Person(tmp_path)
    yield person
    person.cortex("down")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_moved", [False, True], ids=["at-home", "moved"])
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_lists_our_entry_and_keeps_its_own_after_uninstall(agent, is_moved, person):
    program, add, variable = AGENTS[agent]
    if not any(os.access(os.path.join(folder, program), os.X_OK) for folder in PROGRAMS):
        pytest.skip(f"TEST_PROGRAMS names no folder with {program}")
    if is_moved:
        (person.home / "moved").mkdir()
        person.environment[variable] = str(person.home / "moved")
    person.cortex("install", agent, "--yes")
    listed = person.run(program, "mcp", "list")
    assert re.search(r"\bcortex\b", listed)
    if agent in STARTING:
        assert re.search(r"cortex.*connected", listed, re.IGNORECASE | re.DOTALL), listed
    if add:
        person.run(program, *add.split())
    person.cortex("uninstall", "--yes")
    listed = person.run(program, "mcp", "list")
    assert not re.search(r"\bcortex\b", listed)
    assert not add or re.search(r"\bother\b", listed)
    left = [
        path
        for path in person.home.rglob("*")
        if path.suffix in (".json", ".toml", ".md") and path.is_file() and "/cache/" not in str(path)
        if re.search(r"mcp__cortex__|mcp_servers.cortex|cortex_search", path.read_text(errors="replace"))
    ]
    assert not left
