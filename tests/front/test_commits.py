"""The last commits of the shown code in answers, from a real repository."""

import asyncio
import os
import subprocess
import threading
from concurrent.futures import Executor, Future
from dataclasses import replace

import orjson
import pytest

from cortex.ask.code_notes.blame import NOT_COMMITTED, SUBJECT_CHARS, Commits
from cortex.ask.code_notes.last_changes import SHARE
from cortex.front.tools import TOOLS
from cortex.system import git
from tests.conftest import open_project

#: seconds that git has here: the machine may be busy
WHILE_S = 60.0
STORE = "src/store.py"
TEXT = '''"""Where sums are kept."""


def add_sum(ledger: list[int], amount: int) -> int:
    """Add an amount to the ledger."""
    ledger.append(amount)
    return settle_ledger(ledger)


def settle_ledger(ledger: list[int]) -> int:
    """The balance of the ledger."""
    return sum(ledger)
'''


class AtOnce(Executor):
    """An executor that runs each task at once: git has answered before a query continues."""

    def submit(self, call, /, *arguments, **more):
        done = Future()
        done.set_result(call(*arguments, **more))
        return done


class Repository:
    """An indexed project with its history."""

    def __init__(self, root):
        self.root = root
        self.commits = Commits(root, WHILE_S, AtOnce())
        self.served = None

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.served = None
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, subject, day, *options):
        at = f"2026-01-{day:02}T12:00:00Z"
        self.git("add", "-A")
        self.git("commit", "-qm", subject, *options, GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)
        return self.git("rev-parse", "HEAD").strip()[:8]

    def git(self, *command, **environment):
        names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *names, *command],
            cwd=self.root,
            check=True,
            capture_output=True,
            env=os.environ | environment,
        )
        return done.stdout.decode()

    def ask(self, name, **arguments):
        tool = TOOLS[name]
        self.served = self.served or open_project(self.root)
        context = replace(self.served.context(), commits=self.commits)
        return asyncio.run(tool.call(context, tool.check(arguments)))

    def tell(self, path, lines):
        async def begin():
            self.commits.begin([path])

        asyncio.run(begin())
        return self.commits.tell(path, lines)


@pytest.fixture
def repository(tmp_path):
    project = Repository(tmp_path / "project")
    project.write(STORE, TEXT)
    project.git("init", "-q")
    return project


def changed(answer):
    return {function["symbol"]: function.get("changed") for function in answer["functions"]}


def test_explore_names_the_commit_that_last_changed_each_definition(repository):
    first = repository.commit("Keep sums", 1)
    repository.write(STORE, TEXT.replace("sum(ledger)", "max(0, sum(ledger))"))
    second = repository.commit("Let no balance fall below zero", 2)
    answer = repository.ask("cortex_explore", query="how is an amount added to the ledger and settled")
    assert changed(answer) == {
        "add_sum": f"{first} 2026-01-01 Keep sums",
        "settle_ledger": f"{second} 2026-01-02 Let no balance fall below zero",
    }
    answer = repository.ask("cortex_explore", query="settle_ledger")
    assert changed(answer)["settle_ledger"] == f"{second} 2026-01-02 Let no balance fall below zero"


def test_related_names_the_commit_that_last_changed_the_target(repository):
    repository.commit("Keep sums", 1)
    repository.write(STORE, TEXT.replace("sum(ledger)", "max(0, sum(ledger))"))
    second = repository.commit("Let no balance fall below zero", 2)
    answer = repository.ask("find_related", file=STORE)
    assert answer["target"]["changed"] == f"{second} 2026-01-02 Let no balance fall below zero"


def test_uncommitted_is_reported_for_changed_lines_alone(repository):
    first = repository.commit("Keep sums", 1)
    repository.write(STORE, "import math\n\n" + TEXT.replace("sum(ledger)", "math.fsum(ledger)"))
    answer = repository.ask("cortex_explore", query="how is an amount added to the ledger and settled")
    assert changed(answer) == {
        "add_sum": f"{first} 2026-01-01 Keep sums",  # only moved
        "settle_ledger": NOT_COMMITTED,
    }


def test_another_commit_is_noticed(repository):
    lines = {1: "x = 1"}
    repository.write("a.py", "x = 1\n")
    first = repository.commit("Begin", 1)
    assert repository.tell("a.py", lines) == f"{first} 2026-01-01 Begin"
    repository.write("a.py", "x = 2\n")
    second = repository.commit("Count on", 2)
    assert repository.tell("a.py", lines) == NOT_COMMITTED
    assert repository.tell("a.py", {1: "x = 2"}) == f"{second} 2026-01-02 Count on"


def test_a_query_does_not_wait_for_git(repository, monkeypatch):
    first = repository.commit("Keep sums", 1)
    commits, line = Commits(repository.root, WHILE_S), {4: TEXT.split("\n")[3]}
    released, real = threading.Event(), git.ask

    def ask_when_released(*command):
        assert released.wait(WHILE_S)
        return real(*command)

    async def ask_at_once():
        commits.begin([STORE])
        try:
            return commits.tell(STORE, line)
        finally:
            released.set()

    monkeypatch.setattr(git, "ask", ask_when_released)
    assert asyncio.run(ask_at_once()) == ""
    assert commits.tell(STORE, line) == f"{first} 2026-01-01 Keep sums"  # the end of the loop waits for it


@pytest.mark.parametrize("ending", ["\r\n", "  \n"])
def test_the_ends_of_lines_do_not_matter(repository, ending):
    repository.write("a.py", f"x = 1{ending}y = 2{ending}")
    first = repository.commit("Begin", 1)
    assert repository.tell("a.py", {1: "x = 1", 2: "y = 2\r"}) == f"{first} 2026-01-01 Begin"


def test_there_are_no_commits_without_a_repository_or_a_commit(repository, tmp_path):
    assert repository.tell(STORE, {1: "x"}) == ""
    lonely = Repository(tmp_path / "lonely")
    lonely.write("a.py", "x = 1\n")
    assert lonely.tell("a.py", {1: "x = 1"}) == ""


def test_there_are_no_commits_for_a_file_outside_of_git_or_a_binary_one(repository):
    repository.write("old.py", b"x = '\xe9'\n\0")
    repository.commit("Keep sums", 1)
    repository.write("new.py", "x = 1\n")
    assert repository.tell("new.py", {1: "x = 1"}) == ""
    assert repository.tell("old.py", {1: "x = '\ufffd'"}) == ""


def test_lines_in_another_encoding_have_their_commit(repository):
    repository.write("old.py", "# coding: gbk\n# 计算订单总额\n".encode("gbk"))
    newest = repository.commit("Keep sums", 1)
    assert repository.tell("old.py", {2: "# 计算订单总额"}) == f"{newest} 2026-01-01 Keep sums"


def test_the_first_commit_of_a_shallow_clone_is_not_believed(repository, tmp_path):
    repository.commit("Keep sums", 1)
    repository.write("b.py", "y = 1\n")
    repository.commit("Begin", 2)
    repository.git("clone", "-q", "--depth=1", f"file://{repository.root}", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    clone.write("b.py", "y = 1\nz = 2\n")
    newest = clone.commit("Add", 3)
    assert clone.tell("b.py", {1: "y = 1"}) == ""
    assert clone.tell("b.py", {1: "y = 1", 2: "z = 2"}) == f"{newest} 2026-01-03 Add"


def test_a_folder_of_a_repository_is_asked_by_its_own_paths(repository):
    first = repository.commit("Keep sums", 1)
    below = Repository(repository.root / "src")
    assert below.tell("store.py", {4: TEXT.split("\n")[3]}) == f"{first} 2026-01-01 Keep sums"


def test_a_subject_is_one_short_line_without_control_characters(repository):
    subject = "Say \x1b[31mred\u202e " + "and more " * 20
    repository.write("a.py", "x = 1\n")
    first = repository.commit(subject, 1)
    line = repository.tell("a.py", {1: "x = 1"})
    assert line.startswith(f"{first} 2026-01-01 Say [31mred and more and")
    assert len(line) <= len(f"{first} 2026-01-01 ") + SUBJECT_CHARS


def test_an_answer_keeps_to_its_size(repository):
    repository.commit("A subject of many words that takes what it may take of an answer", 1)
    large = repository.ask("cortex_explore", query="how is an amount added to the ledger", max_tokens=2_500)
    assert None not in changed(large).values()
    small = repository.ask("cortex_explore", query="how is an amount added to the ledger", max_tokens=300)
    changes = [text for text in changed(small).values() if text]
    assert sum(map(len, changes)) <= SHARE * 4 * 300
    assert len(orjson.dumps({**small, "index": {}})) <= 4 * 300


def test_git_is_asked_again_only_once_head_has_moved(repository, monkeypatch):
    repository.commit("Keep sums", 1)
    commands, real = [], git.ask

    def noting(root, command, *more):
        commands.append(command[0])
        return real(root, command, *more)

    monkeypatch.setattr(git, "ask", noting)
    for _ in range(3):
        repository.tell("nowhere.py", {1: "x"})
    assert commands == ["rev-parse", "blame"]
    repository.commit("Keep more", 2, "--allow-empty")
    repository.tell("nowhere.py", {1: "x"})
    assert commands == ["rev-parse", "blame"] * 2
