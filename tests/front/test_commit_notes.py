"""Commits as notes: imported once, in the background, and found by queries for reasons."""

import asyncio
import os
import subprocess

import pytest

from cortex.ask.code_notes.commit_notes import CommitHistory
from cortex.front.link import Link
from cortex.memory.library import finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.settings import config as configuration
from cortex.system.errors import BadRequest

GIT = Source(channel="git", trust="import")


class Repository:
    """A repository with commits, and the memory that imports them."""

    def __init__(self, root, library):
        self.root, self.library, self.operations = root, library.of(project="here"), []
        root.mkdir()
        self.git("init", "-q")

    def git(self, *command, **variables):
        names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        done = subprocess.run(
            ["git", *names, *command],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | variables,
        )
        return done.stdout.strip()

    def commit(self, message, *names, at="2026-01-05T10:00:00Z"):
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(message)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, GIT_COMMITTER_DATE=at)
        return self.git("rev-parse", "HEAD")

    async def _tell(self, operation, arguments, _writes):
        self.operations.append(operation)
        return carry_out(self.library, operation, arguments, project="here", source=Source())

    def bring(self, history=None):
        return asyncio.run((history or CommitHistory(self.root)).import_new(self._tell))

    def notes(self):
        return {note.title: note for note in self.library.memory.store.get(range(1, 1000))}


@pytest.fixture
def repository(library, tmp_path):
    filled = Repository(tmp_path / "project", library)
    filled.commit(
        "Cache the rates for a day\n\nThe bank counts calls and cut us off in June.", "src/rates.py"
    )
    filled.commit("Update the read me", "README.md", "docs/a b.md", at="2026-02-01T10:00:00Z")
    filled.commit("Update the read me", "README.md", at="2026-02-02T10:00:00Z")
    return filled


def test_each_commit_is_a_note_with_its_message_files_and_time(repository):
    assert repository.bring() == 3
    notes = repository.library.memory.store.get(range(1, 10))
    assert sorted(note.title for note in notes) == [
        "Cache the rates for a day",
        "Update the read me",
        "Update the read me",
    ]
    note = repository.notes()["Cache the rates for a day"]
    assert note.body == "The bank counts calls and cut us off in June."
    assert (note.kind, note.files, note.modified) == ("event", ("src/rates.py",), ("src/rates.py",))
    assert (note.source, note.project, note.occurred_at) == (GIT, "here", 1767607200_000)
    assert note.git_commit == repository.git("rev-list", "--max-parents=0", "HEAD")
    assert {path for commit_note in notes for path in commit_note.files} >= {"README.md", "docs/a b.md"}


def test_a_commit_is_taken_in_once_and_a_new_one_with_the_next_look(repository):
    history = CommitHistory(repository.root)
    assert repository.bring(history) == 3
    count = len(repository.operations)
    assert repository.bring(history) == 0
    assert len(repository.operations) == count
    assert repository.bring() == 0
    repository.commit("Ask the bank by night", "src/rates.py")
    assert repository.bring(history) == 1
    assert len(repository.library.memory.store.numbers()) == 4


def test_a_forgotten_commit_stays_forgotten(repository):
    repository.bring()
    notes = repository.notes()
    finish(repository.library.erase([notes["Cache the rates for a day"].id]))
    repository.library.forget(notes["Update the read me"].id)
    assert repository.bring() == 0
    assert len(repository.library.memory.store.numbers()) == 1


def test_why_something_is_so_is_answered_by_a_commit_that_no_briefing_tells(repository):
    repository.bring()
    repository.library.store("Rates are quoted in euros", kind="event")
    [row, *_] = repository.library.recall("why do we cache the rates?")
    assert (row["title"], row["trust"]) == ("Cache the rates for a day", "import")
    briefing = repository.library.briefing()["briefing"]
    assert "quoted in euros" in briefing
    assert "Cache the rates" not in briefing


def test_a_commit_is_not_shown_with_code_and_not_undone(repository):
    mine = repository.library.store("The rates are of the bank", files=["src/rates.py"])
    repository.bring()
    answer = carry_out(repository.library, "beside", {"paths": ["src/rates.py"]}, project="here")
    assert answer["places"]["src/rates.py"]["count"] == 1
    assert [node["id"] for node in repository.library.undo()["nodes"]] == [mine["id"]]


def test_secrets_in_a_message_are_removed(repository):
    key = "ghp_" + "a1B2" * 9
    repository.commit(f"Take the key {key} out\n\nIt was {key}.", "key.txt")
    repository.bring()
    [note] = [note for title, note in repository.notes().items() if "out" in title]
    assert (note.title, note.body) == (
        "Take the key [removed: GitHub token] out",
        "It was [removed: GitHub token].",
    )


def test_a_folder_without_a_repository_has_no_history(library, tmp_path):
    async def tell(*_arguments):
        raise AssertionError("there is nothing to tell")

    assert asyncio.run(CommitHistory(tmp_path).import_new(tell)) == 0


@pytest.mark.parametrize(
    ("users", "projects", "channel", "keeps"),
    [
        (False, "", "mcp", False),
        (False, "true", "mcp", False),
        (True, "", "mcp", True),
        (True, "true", "mcp", True),
        (True, "false", "mcp", False),
        (True, "", "cli", False),
    ],
)
def test_a_user_decides_about_commits_and_a_project_can_only_refuse_its_own(
    tmp_path, users, projects, channel, keeps
):
    if projects:
        (tmp_path / ".cortex").mkdir()
        (tmp_path / ".cortex/config.yml").write_text(f"memory:\n  git: {projects}\n")
    config = configuration.load(tmp_path, {"memory": {"git": users}})

    async def run():
        link = Link(config, channel=channel)
        await link.close()
        return link._history is not None

    assert asyncio.run(run()) is keeps


def test_an_invalid_commit_is_refused(library):
    with pytest.raises(BadRequest, match="has its hash, its message and its time"):
        carry_out(library, "take_commits", {"commits": [{"commit": 1}]})
