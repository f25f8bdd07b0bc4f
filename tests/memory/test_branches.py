"""Notes of a git project carry the branch and the commit on which they were made, and a question
ranks notes of other branches last.
"""

import subprocess

import pytest

from cortex.front import hook
from cortex.memory.serving import open_worker
from cortex.settings.data import DataFolder
from cortex.settings.folders.branches import briefing_file, existing, head_of, main_branches, on_branch
from cortex.settings.folders.identity import identity_of
from cortex.settings.table import Memory
from ipc.messages import MemoryCall


def git(folder, *words):
    settings = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", "-C", str(folder), *settings, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


class Agent:
    """An agent that calls memory from a folder."""

    def __init__(self, worker, folder, project):
        self.worker, self.folder, self.project = worker, folder, project

    def ask(self, operation, number="", *, writes=False, **arguments):
        request = MemoryCall(
            operation, arguments, writes, number, self.project, "agent", "s1", "mcp", str(self.folder)
        )
        return self.worker.call(request).answer

    def store(self, title, number="", **more):
        return self.ask("store", number, writes=True, title=title, **more)["number"]

    def recall(self, query):
        return self.ask("recall", query=query)["results"]


@pytest.fixture
def worker(data):
    with_memory = open_worker(DataFolder(data, Memory()))
    yield with_memory
    with_memory.close()


@pytest.fixture
def agent(worker, shop):
    return Agent(worker, shop, identity_of(shop))


def head(folder):
    hits = head_of(folder)
    return hits.root, hits.branch, hits.commit


def test_the_head_of_a_folder_is_that_of_git(shop, tmp_path):
    commit = git(shop, "rev-parse", "HEAD")
    inner = shop / "src" / "deep"
    inner.mkdir(parents=True)
    assert head(inner) == (str(shop), "main", commit)
    git(shop, "switch", "-q", "-c", "feature/retry")
    git(shop, "pack-refs", "--all")
    assert head(shop) == (str(shop), "feature/retry", commit)
    common = head_of(shop).common
    assert existing(common, ("feature/retry", "feature/re", "../../config")) == ("feature/retry",)
    git(shop, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert head(tmp_path / "other") == (str(tmp_path / "other"), "other", commit)
    assert existing(head_of(tmp_path / "other").common, ("feature/retry",)) == ("feature/retry",)
    git(shop, "switch", "-q", "--detach")
    assert head(shop) == (str(shop), "", commit)
    assert on_branch(head_of(shop), "main").branch == "main"
    assert on_branch(head_of(shop), "HEAD").commit == ""
    assert on_branch(head_of(shop), "") == head_of(shop)
    plain = tmp_path / "plain"
    plain.mkdir()
    assert head(plain) == (str(plain), "", "")
    assert len({head_of(place).key for place in (shop, tmp_path / "other", plain)}) == 3


def test_the_head_of_an_empty_repository_has_no_commit(tmp_path):
    git(tmp_path, "init", "-q", "-b", "trunk")
    assert head(tmp_path) == (str(tmp_path), "trunk", "")


def test_a_pointer_to_a_repository_that_does_not_point_back_has_no_branch(shop, tmp_path):
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / ".git").write_text(f"gitdir: {shop}/.git\n")
    assert head(stranger) == (str(stranger), "", "")


def test_the_main_branch_is_the_one_that_the_origin_names_too(shop, tmp_path):
    git(shop, "switch", "-q", "-c", "develop")
    git(tmp_path, "clone", "-q", str(shop), "clone")
    assert "develop" in main_branches(head_of(tmp_path / "clone").common)
    assert main_branches(head_of(shop).common) == {"main", "master", "trunk"}


def test_every_note_says_on_which_branch_and_commit_it_was_made(agent, shop):
    commit = git(shop, "rev-parse", "HEAD")
    number = agent.store("The port is 8080")
    made_on = {"git_branch": "main", "git_commit": commit}
    assert agent.ask("node", node_id=number)["metadata"] == made_on
    git(shop, "switch", "-q", "--detach")
    number = agent.store("The host is local", metadata={"source": "talk"})
    assert agent.ask("node", node_id=number)["metadata"] == {"source": "talk", "git_commit": commit}


def test_a_note_for_another_project_carries_no_branch_of_ours(agent):
    number = agent.store("Theirs is open", project="elsewhere")
    assert "git_branch" not in agent.ask("node", node_id=number)["metadata"]


def test_a_write_that_is_repeated_after_a_commit_is_still_the_same_write(agent, shop):
    first = agent.store("The port is 8080", "n1")
    git(shop, "commit", "-q", "--allow-empty", "-m", "second")
    assert agent.store("The port is 8080", "n1") == first


def test_notes_of_main_and_of_the_own_branch_come_before_those_of_other_branches(agent, shop, worker):
    on_main = agent.store("The service speaks REST with its clients")
    git(shop, "switch", "-q", "-c", "feature/grpc")
    on_grpc = agent.store("The service speaks gRPC with its clients")
    git(shop, "switch", "-q", "-c", "feature/soap", "main")
    on_soap = agent.store("The service speaks SOAP with its clients")
    question = "what does the service speak with its clients?"
    rows = {row["number"]: row.get("branch") for row in agent.recall(question)}
    assert list(rows)[-1] == on_grpc
    assert rows == {on_soap: None, on_main: None, on_grpc: "feature/grpc"}
    git(shop, "switch", "-q", "feature/grpc")
    assert [row["number"] for row in agent.recall(question)][-1] == on_soap
    git(shop, "switch", "-q", "main")
    assert agent.recall(question)[0]["number"] == on_main
    hits = agent.ask("observation.search", query=question)["results"]
    assert hits[0]["title"].startswith("The service speaks REST")
    # a program without a folder has no branch
    assert len(Agent(worker, "", agent.project).recall(question)) == 3


def test_a_note_of_a_branch_that_is_merged_and_gone_is_mains(agent, shop):
    git(shop, "switch", "-q", "-c", "feature/grpc")
    number = agent.store("The service speaks gRPC with its clients")
    git(shop, "switch", "-q", "main")
    assert agent.recall("what does the service speak?")[0]["branch"] == "feature/grpc"
    git(shop, "branch", "-q", "-d", "feature/grpc")
    (row,) = agent.recall("what does the service speak?")
    assert (row["number"], row.get("branch")) == (number, None)


@pytest.mark.parametrize("later", [{"supersedes": True}, {"topic": "protocol"}])
def test_a_branch_closes_a_note_of_main_for_itself_until_it_is_merged(agent, shop, later):
    old = agent.store("The service speaks REST with its clients", topic="protocol")
    git(shop, "switch", "-q", "-c", "feature/grpc")
    more = {"supersedes": [old]} if "supersedes" in later else later
    new = agent.store("The service speaks gRPC with its clients", **more)
    question = "what does the service speak with its clients?"

    def seen():
        in_briefing = agent.ask("briefing")["briefing"]
        return [row["number"] for row in agent.recall(question)], "REST" in in_briefing, "gRPC" in in_briefing

    assert seen() == ([new], False, True)
    git(shop, "switch", "-q", "main")
    assert seen() == ([old, new], True, False)
    assert agent.recall(question)[0]["newer"] == new
    assert agent.ask("node", node_id=old)["state"] == "superseded"  # as the branch has it
    git(shop, "switch", "-q", "-c", "feature/soap")
    assert seen()[0] == [old, new]
    git(shop, "branch", "-q", "-D", "feature/grpc")
    assert seen() == ([new], False, True)


def test_a_hook_prints_the_briefing_of_the_branch_of_its_folder(agent, shop, worker, data):
    def printed():
        for _ in range(3):  # time without writes
            worker._last_write -= 10
            worker.reload()
        text = hook._briefing(str(data), str(shop))
        return "REST" in text, "gRPC" in text

    old = agent.store("The service speaks REST with its clients", kind="decision")
    git(shop, "switch", "-q", "-c", "feature/grpc")
    agent.store("The service speaks gRPC with its clients", kind="decision", supersedes=[old])
    assert printed() == (False, True)
    git(shop, "switch", "-q", "main")
    assert printed() == (True, False)
    git(shop, "switch", "-q", "-c", "feature/soap")
    assert printed() == (True, False)
    git(shop, "branch", "-q", "-D", "feature/grpc")
    agent.store("The harbour is closed", kind="event")
    assert printed() == (False, True)
    assert not (data / "briefings" / briefing_file(agent.project, "feature/grpc")).exists()


def test_a_note_that_a_branch_superseded_within_itself_is_closed_everywhere(agent, shop):
    git(shop, "switch", "-q", "-c", "feature/grpc")
    old = agent.store("The service speaks REST with its clients")
    new = agent.store("The service speaks gRPC with its clients", supersedes=[old])
    git(shop, "switch", "-q", "main")
    rows = agent.recall("what does the service speak with its clients?")
    assert [row["number"] for row in rows] == [new]
