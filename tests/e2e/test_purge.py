"""`cortex purge` with real processes: a list and a question, then nothing is left but the notes."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from cortex.front.cli.setup.purge import CACHED
from cortex.sealing import places
from cortex.system.errors import EXIT_NOTHING, EXIT_UNAVAILABLE, EXIT_USAGE, Misconfigured
from tests import forked_commands
from tests.e2e.conftest import BIN

SOURCES = [path.read_text(encoding="utf-8") for path in (Path(__file__).parents[2] / "cortex").rglob("*.py")]


class Person:
    """A home folder with a project, and runtime folders of its own."""

    def __init__(self, folder):
        self.home, self.project = folder / "home", folder / "home" / "project"
        self.runtime = folder / "run"
        self.project.mkdir(parents=True)
        self.runtime.mkdir(mode=0o700)
        passed = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CORTEX_", "XDG_", "CLAUDE_", "CODEX_"))
        }
        self.environment = passed | {
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        }
        (self.project / ".git").mkdir()
        (self.project / "a.py").write_text("def frobnicate(): pass\n")

    def run(self, *words, code=0):
        done = forked_commands.run([*words], cwd=self.project, env=self.environment, timeout=100)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def left(self):
        """Return the files of Cortex and of agents, without the project's."""
        return sorted(
            str(path.relative_to(folder))
            for folder in (self.home, self.runtime)
            for path in folder.rglob("*")
            if path.is_file() and self.project not in path.parents
        )


@pytest.fixture
def person():
    folder = Path(tempfile.mkdtemp(prefix="cx", dir="/tmp"))  # sockets need a short path
    person = Person(folder)
    yield person
    person.run("down")
    person.run("memory", "down")
    shutil.rmtree(folder)


def test_everything_goes_and_notes_go_only_when_they_are_named(person):
    settings = person.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x"}')
    person.run("index")
    person.run("memory", "store", "--title", "frobnicator is kept", "--body", "why it is here")
    person.run("install", "codex", "claude-code", "--yes")
    person.run("hook", "install", "--yes")
    before = person.left()

    listed = person.run("purge", code=EXIT_NOTHING)
    assert "Nothing is removed" in listed
    assert set(before) <= set(person.left())  # the memory's worker may write its vectors later
    for name in (".cache/cortex/projects", ".config/cortex", ".codex/config.toml", ".claude/settings.json"):
        assert str(person.home / name) in listed
    assert re.search(rf"stays  {person.home}/\.cortex/default", listed)
    rows = json.loads(person.run("purge", "--json"))
    assert {row["path"] for row in rows} == {
        path
        for line in listed.splitlines()
        if not line.lstrip().startswith("stays")
        for path in re.findall(r"  (/\S+)  ", line)
    }

    assert "uninstall cortex-context-engine" in person.run("purge", "--yes")
    assert all(name.startswith((".cortex/default/", ".claude/settings")) for name in person.left())
    assert json.loads(settings.read_text()) == {"model": "x"}
    assert not (person.home / ".cache" / "cortex").exists()
    assert list(person.runtime.iterdir()) == []
    assert "frobnicator is kept" in person.run("memory", "recall", "frobnicator")
    assert "a.py" in person.run("exact", "frobnicate")

    person.run("purge", "--notes", "--yes")
    assert person.left() == [".claude/settings.json"]
    assert not (person.home / ".cortex").exists()
    assert "nothing to remove" in person.run("purge", "--notes")
    assert (person.project / "a.py").is_file()


def test_a_folder_that_holds_more_than_cortex_keeps_the_rest(person):
    shared = person.home / "shared"
    shared.mkdir()
    (shared / "mine.txt").write_text("x")
    person.environment |= {"CORTEX_HOME": str(shared)}
    person.run("index")
    assert f"stays  {shared}/mine.txt" in person.run("purge", "--yes")
    assert [path.name for path in shared.iterdir()] == ["mine.txt"]
    person.environment |= {"CORTEX_MEMORY_DATA_DIR": str(person.project)}
    person.run("purge", "--notes", "--yes", code=EXIT_USAGE)
    assert (person.project / "a.py").is_file()


def test_a_refused_file_of_an_agent_stays_on_record(person):
    person.run("install", "claude-code", "--yes")
    subagent = person.home / ".claude" / "agents" / "cortex.md"
    subagent.write_text("mine")
    person.run("purge", "--yes", code=EXIT_UNAVAILABLE)
    assert subagent.read_text() == "mine"
    assert ".config/cortex/agents.json" in person.left()
    subagent.unlink()
    person.run("purge", "--yes")
    assert person.left() == []


def test_encrypted_indexes_go_and_encrypted_notes_keep_their_key(person):
    key = person.home / "keys" / "master"
    person.environment |= {
        "CORTEX_SECURITY_ENCRYPT_INDEX": "1",
        "CORTEX_SECURITY_KEY_PATH": str(key),
    }
    try:
        places.plain_base()
    except Misconfigured as error:
        pytest.skip(str(error))
    person.run("index")
    person.run("memory", "store", "--title", "frobnicator is kept", "--body", "why it is here")
    person.run("purge", "--yes")
    sealed = person.home / ".cache" / "cortex" / "sealed"
    assert not list(sealed.glob("*/KEY"))
    assert "frobnicator is kept" in person.run("memory", "recall", "frobnicator")
    person.run("purge", "--notes", "--yes")
    assert person.left() == []


def test_every_place_in_the_cache_folder_is_listed():
    named = {name for text in SOURCES for name in re.findall(r'cache_base\(\) / "([\w.]+)"', text)}
    assert named | {"sealed", places.ON_DISK} == set(CACHED)


def test_notes_in_cortex_home_are_named_so_if_memory_is_elsewhere(person):
    home = person.home / "moved"
    person.environment |= {"CORTEX_HOME": str(home)}
    person.environment.pop("CORTEX_MEMORY_DATA_DIR", None)
    person.run("memory", "store", "The till closes at six")
    person.run("memory", "down")
    person.environment |= {"CORTEX_MEMORY_DATA_DIR": str(person.home / "notes")}
    answer = person.run("purge", "--notes", "--yes")
    assert f"stays  {home / 'memory'}  notes of another memory.data_dir" in answer
    assert (home / "memory" / "memory.sqlite3").is_file()
